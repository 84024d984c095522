//! The happens-before of a witness, ready to be drawn.
//!
//! Nodes that neither touch memory nor stand in the cycle are left out; program order leads
//! over them. A link is highlighted if the cycle takes it; where the cycle follows program order
//! over several nodes, all links on the way are.

use super::Told;
use evidence::Link;
use program::ThreadId;
use std::collections::{BTreeMap, BTreeSet};

/// A node: a step, or what happens as one.
pub struct Node {
    /// Who took it.
    pub thread: ThreadId,
    /// The statement, with its line.
    pub title: String,
    /// What it does to memory.
    pub accesses: Vec<String>,
    /// Its number in the cycle, from 1.
    pub cycle: Option<usize>,
    /// What part it plays.
    pub role: Option<&'static str>,
}

/// A link between nodes, by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Arrow {
    /// From.
    pub from: usize,
    /// To.
    pub to: usize,
    /// Why.
    pub link: Link,
    /// Whether the cycle takes it.
    pub cycle: bool,
}

/// The graph.
pub struct Picture {
    /// The threads that have nodes, with their names.
    pub threads: Vec<(ThreadId, String)>,
    /// The nodes in the order of time.
    pub nodes: Vec<Node>,
    /// The links.
    pub arrows: Vec<Arrow>,
}

impl Picture {
    /// The graph of a witness.
    pub fn of(told: &Told<'_>) -> Picture {
        let cycle = told.cycle();
        let position = |node: usize| cycle.iter().position(|(other, _)| *other == node);
        let steps = told.steps.iter().enumerate();
        let shown: Vec<usize> = steps
            .filter(|(at, step)| step.edge.is_some() && told.checked.graph().node(*at) == *at)
            .map(|(at, _)| at)
            .filter(|at| position(*at).is_some() || !told.accesses(*at).is_empty())
            .collect();
        let nodes = shown.iter().map(|at| node(told, *at, position(*at))).collect();
        let acts = |thread: &ThreadId| shown.iter().any(|at| told.steps[*at].thread == *thread);
        let named = |thread: ThreadId| (thread, told.thread(thread).to_string());
        let threads = told.program.thread_ids().filter(acts).map(named).collect();
        Picture { threads, nodes, arrows: arrows(told, &shown, &cycle) }
    }
}

fn node(told: &Told<'_>, at: usize, position: Option<usize>) -> Node {
    let step = &told.steps[at];
    let line = step.line.map(|line| format!("{line}: ")).unwrap_or_default();
    let witness = told.checked.witness();
    let role = match at {
        _ if at == witness.store => Some("delayed store"),
        _ if at == told.checked.graph().node(witness.load) => Some("load it is delayed past"),
        _ => None,
    };
    Node {
        thread: step.thread,
        title: format!("{line}{}", step.text),
        accesses: told.accesses(at),
        cycle: position.map(|at| at + 1),
        role,
    }
}

fn arrows(told: &Told<'_>, shown: &[usize], cycle: &[(usize, Link)]) -> Vec<Arrow> {
    let number: BTreeMap<usize, usize> = shown.iter().enumerate().map(|(at, node)| (*node, at)).collect();
    let mut taken: BTreeSet<(usize, usize, Link)> = BTreeSet::new();
    let mut last: BTreeMap<ThreadId, usize> = BTreeMap::new();
    let mut follows: Vec<(usize, usize)> = Vec::new();
    for (at, node) in shown.iter().enumerate() {
        if let Some(before) = last.insert(told.steps[*node].thread, at) {
            follows.push((before, at));
        }
    }
    for (at, (from, link)) in cycle.iter().enumerate() {
        let to = cycle[(at + 1) % cycle.len()].0;
        let (Some(from), Some(to)) = (number.get(from).copied(), number.get(&to).copied()) else { continue };
        if *link == Link::Program {
            let thread = |node: usize| told.steps[shown[node]].thread;
            let on_the_way = |(a, b): &&(usize, usize)| thread(*a) == thread(from) && *a >= from && *b <= to;
            taken.extend(follows.iter().filter(on_the_way).map(|(a, b)| (*a, *b, Link::Program)));
        } else {
            taken.insert((from, to, *link));
        }
    }
    let program = follows.into_iter().map(|(from, to)| (from, to, Link::Program));
    let others = told.checked.graph().links().filter(|(.., link)| *link != Link::Program);
    let others = others.filter_map(|(from, to, link)| Some((*number.get(&from)?, *number.get(&to)?, link)));
    program
        .chain(others)
        .map(|(from, to, link)| Arrow { from, to, link, cycle: taken.contains(&(from, to, link)) })
        .collect()
}
