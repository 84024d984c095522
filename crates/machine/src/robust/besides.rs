//! Which stores may have to be delayed besides that of an attack.
//!
//! In a smallest run that looks like none under SC, stores are drained at once or stay to the very end, and the
//! last step before the end, `x`, touches the variable of every store that stays by its own choice: for each of
//! them `x` is the first step to close a cycle (docs/robust.md has the proof). The thread of `x` delays nothing. If
//! `x` is a single access that is possible whatever it finds in memory, that leaves no room for a second store: another could be
//! drained right before `x`, where its delay has closed no cycle yet, and then need not have been delayed. But an atomic section
//! may touch several variables, and it may wait for the value that is still in memory, or take
//! another way when it finds a new one. So together with a store, others may have to stay whose variables are touched by the
//! same indivisible step of a third thread. Of those other threads' stores only such matter as a later store of
//! their thread can overtake: if just loads do, nobody has seen the thread since, and it may stop before the store.
//!
//! Where stores stay in order they are never overtaken by stores, and only the attacker delays [004, Thm. 10].

use super::attacks::{Accesses, GoOn, delayable_stores};
use super::reaching::{Barriers, EdgeSet, accesses_behind};
use crate::Model;
use program::{EdgeId, Loc, Op, Program, Thread, ThreadId, VarId};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What is known of such stores.
pub(super) struct Besides<'a> {
    program: &'a Program,
    /// The variables that one indivisible step of a thread touches, if it is more than an access.
    touched_together: Vec<(ThreadId, BTreeSet<VarId>)>,
    /// By thread, the stores that a later store can overtake.
    overtaken: Option<Vec<EdgeSet>>,
    known: BTreeMap<(ThreadId, VarId), Arc<Vec<EdgeSet>>>,
}

impl<'a> Besides<'a> {
    pub(super) fn of(program: &'a Program, model: Model, accesses: &Accesses) -> Besides<'a> {
        let mut touched_together = Vec::new();
        if model.reorders_stores() {
            for thread in program.thread_ids() {
                let steps = indivisible(program.thread(thread), thread, accesses);
                touched_together.extend(steps.into_iter().map(|variables| (thread, variables)));
            }
        }
        Besides { program, touched_together, overtaken: None, known: BTreeMap::new() }
    }

    /// The stores, by thread, that may be delayed besides one of this thread to this variable; `None` if it was
    /// stopped.
    pub(super) fn of_attack(
        &mut self,
        thread: ThreadId,
        variable: VarId,
        go_on: &mut GoOn<'_>,
    ) -> Option<Arc<Vec<EdgeSet>>> {
        if let Some(known) = self.known.get(&(thread, variable)) {
            return Some(known.clone());
        }
        let overtaken = match self.overtaken.take() {
            Some(overtaken) => overtaken,
            None => overtaken_by_stores(self.program, go_on)?,
        };
        let by_thread = |other: ThreadId| -> EdgeSet {
            let together = self.together(thread, other, variable);
            let stores = delayable_stores(self.program.thread(other)).into_iter();
            let matters = |(store, stored): &(EdgeId, VarId)| {
                together.contains(stored) && (other == thread || overtaken[other.index()].contains(*store))
            };
            stores.filter(matters).map(|(store, _)| store).collect()
        };
        let found = Arc::new(self.program.thread_ids().map(by_thread).collect::<Vec<EdgeSet>>());
        self.overtaken = Some(overtaken);
        self.known.insert((thread, variable), found.clone());
        Some(found)
    }

    /// The variables that a step of some third thread touches together with this one.
    fn together(&self, attacker: ThreadId, other: ThreadId, variable: VarId) -> BTreeSet<VarId> {
        let third = |thread: ThreadId| thread != attacker && thread != other;
        let steps = self.touched_together.iter();
        let such = steps.filter(|(thread, variables)| third(*thread) && variables.contains(&variable));
        such.flat_map(|(_, variables)| variables.iter().copied()).collect()
    }
}

/// By thread, the stores that a later one to another variable can overtake.
fn overtaken_by_stores(program: &Program, go_on: &mut GoOn<'_>) -> Option<Vec<EdgeSet>> {
    let of_thread = |thread: &Thread| {
        let stores = delayable_stores(thread);
        let mut others: BTreeMap<VarId, EdgeSet> = BTreeMap::new();
        for (_, variable) in &stores {
            let elsewhere = stores.iter().filter(|(_, stored)| stored != variable).map(|(store, _)| *store);
            others.entry(*variable).or_insert_with(|| elsewhere.collect());
        }
        let of = |variable: VarId| &others[&variable];
        let counts = accesses_behind(thread, &stores, of, Barriers::FullAndStore, go_on)?;
        let hit = stores.into_iter().zip(counts).filter(|(_, count)| *count > 0);
        Some(hit.map(|((store, _), _)| store).collect())
    };
    program.threads.iter().map(of_thread).collect()
}

/// The variables of each indivisible step of a thread, unless it is a single access or accesses to one variable that
/// never wait for a value.
fn indivisible(thread: &Thread, id: ThreadId, accesses: &Accesses) -> Vec<BTreeSet<VarId>> {
    let variables = |edge: EdgeId| accesses.at(id, edge).iter().map(|access| access.variable);
    let mut found = Vec::new();
    for (index, edge) in thread.edges().iter().enumerate().filter(|(_, edge)| !thread.in_atomic(edge.from)) {
        let touched: BTreeSet<VarId> = match &edge.op {
            Op::Lock => section(thread, edge.to).into_iter().flat_map(variables).collect(),
            Op::Block { parts, .. } => {
                let touched: BTreeSet<VarId> = variables(EdgeId::new(index)).collect();
                let waits =
                    parts.iter().any(|part| matches!(part, Op::Assume(_)) || part.may_divide_by_zero());
                if touched.len() == 1 && !waits { BTreeSet::new() } else { touched }
            }
            _ => BTreeSet::new(),
        };
        if !touched.is_empty() {
            found.push(touched);
        }
    }
    found
}

/// The edges inside the atomic section that begins at a location.
fn section(thread: &Thread, begin: Loc) -> Vec<EdgeId> {
    let (mut seen, mut work, mut edges) = (BTreeSet::from([begin]), vec![begin], Vec::new());
    while let Some(loc) = work.pop() {
        for (id, edge) in thread.outgoing(loc).filter(|(_, edge)| thread.in_atomic(edge.from)) {
            edges.push(id);
            if seen.insert(edge.to) {
                work.push(edge.to);
            }
        }
    }
    edges
}
