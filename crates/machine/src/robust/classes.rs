//! Attacks that differ in the names of threads only: to search one of them is enough.
//!
//! A renaming that preserves the program takes runs to runs, under every memory model, and happens-before to
//! happens-before. So it takes a witness of an attack to one of the renamed attack, and if no run is a witness of
//! the one, none is of the other. Claims play no part in this: the program is looked at without them. Which
//! renamings there are is guessed ([`program::thread_swaps`]); that they preserve the program is tested here.

use super::attacks::Attack;
use super::reaching::EdgeSet;
use program::{EdgeId, Program, Renaming, ThreadId, thread_swaps};
use std::collections::VecDeque;
use std::sync::Arc;

/// In programs with more edges names are not looked at: to compare long texts takes longer than it can save.
const MOST_EDGES: usize = 1 << 12;

/// An attack, and those that need no search of their own.
pub struct AttackClass {
    /// The first of them.
    pub attack: Attack,
    /// What takes it to each of the others.
    pub others: Vec<AttackNames>,
}

/// New names for the edges of the attacking thread.
#[derive(Clone)]
pub struct AttackNames {
    /// The thread that attacks instead.
    pub thread: ThreadId,
    /// By edge, the edge of that thread.
    pub edges: Arc<Vec<EdgeId>>,
}

/// All attacks, in classes; the first of every class in their order.
pub fn attack_classes(program: &Program, attacks: Vec<Attack>) -> Vec<AttackClass> {
    let swaps = if attacks.len() > 1 { swaps(program) } else { Vec::new() };
    let mut class: Vec<Option<usize>> = vec![None; attacks.len()];
    let mut classes = Vec::new();
    for first in 0..attacks.len() {
        if class[first].is_some() {
            continue;
        }
        let at = classes.len();
        class[first] = Some(at);
        let own = (0..program.thread(attacks[first].thread).edges().len()).map(EdgeId::new).collect();
        let mut others = Vec::new();
        let own = AttackNames { thread: attacks[first].thread, edges: Arc::new(own) };
        // Which stores are delayed besides is told by threads and variables; to rename those, too, is not worth it.
        let mut work = VecDeque::from_iter(attacks[first].is_alone().then_some(own));
        while let Some(names) = work.pop_front() {
            for (thread, edges) in swaps.iter().map(|swap| &swap[names.thread.index()]) {
                let edges = names.edges.iter().map(|edge| edges[edge.index()]).collect();
                let names = AttackNames { thread: *thread, edges: Arc::new(edges) };
                let image = renamed(&attacks[first], &names);
                let known = attacks.iter().position(|other| other.is_alone() && same(other, &image));
                if let Some(other) = known.filter(|other| class[*other].is_none()) {
                    class[other] = Some(at);
                    others.push(names.clone());
                    work.push_back(names);
                }
            }
        }
        classes.push(AttackClass { attack: attacks[first].clone(), others });
    }
    classes
}

/// By thread: its new name, and those of its edges.
type Swap = Vec<(ThreadId, Vec<EdgeId>)>;

fn swaps(program: &Program) -> Vec<Swap> {
    if program.threads.iter().map(|thread| thread.edges().len()).sum::<usize>() > MOST_EDGES {
        return Vec::new();
    }
    let silent = Program { properties: Vec::new(), question: None, hints: Vec::new(), ..program.clone() };
    let preserving = thread_swaps(&silent).into_iter().filter(|swap| swap.preserves(&silent));
    let named = |swap: Renaming| {
        let thread = |thread: ThreadId| Some((swap.thread(thread), swap.edges(&silent, thread)?));
        silent.thread_ids().map(thread).collect::<Option<Swap>>()
    };
    preserving.filter_map(named).collect()
}

fn renamed(attack: &Attack, names: &AttackNames) -> (ThreadId, EdgeId, EdgeSet) {
    let overtakers = (0..names.edges.len()).map(EdgeId::new).filter(|edge| attack.overtakers.contains(*edge));
    let overtakers = overtakers.map(|edge| names.edges[edge.index()]).collect();
    (names.thread, names.edges[attack.store.index()], overtakers)
}

fn same(attack: &Attack, (thread, store, overtakers): &(ThreadId, EdgeId, EdgeSet)) -> bool {
    attack.thread == *thread && attack.store == *store && *attack.overtakers == *overtakers
}
