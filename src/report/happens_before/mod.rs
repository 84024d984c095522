//! Happens-before, ready to be told and drawn, for witnesses and for violations alike.
//!
//! Of all nodes those are shown that touch memory, are fences or stand in the cycle; program order
//! leads over the others. A link is highlighted if the cycle takes it; where the cycle follows
//! program order over several nodes, all links on the way are.

mod dot;
mod svg;

pub use dot::dot;
pub use svg::{MARKERS, embedded, svg};

use super::steps::{ShownStep, describe_all};
use evidence::{HappensBefore, Link, Linked, Waiting};
use machine::{Account, Action};
use program::{Program, ThreadId};
use std::collections::{BTreeMap, BTreeSet};

/// The steps of a run with what happens before what.
pub struct Related<'a> {
    /// The program.
    pub program: &'a Program,
    /// The steps.
    pub steps: Vec<ShownStep<'a>>,
    /// A cycle of nodes, without those that only stand between two others in program order.
    pub cycle: Vec<Linked>,
    graph: &'a HappensBefore,
    /// By node, its steps.
    members: Vec<Vec<usize>>,
}

impl<'a> Related<'a> {
    /// Describes a run; these nodes stay in the cycle.
    pub fn new(
        program: &'a Program,
        account: &'a Account,
        graph: &'a HappensBefore,
        whole: &[Linked],
        stay: &[usize],
    ) -> Related<'a> {
        let steps = describe_all(program, account);
        let mut members = vec![Vec::new(); steps.len()];
        (0..steps.len()).for_each(|at| members[graph.node(at)].push(at));
        let is_between = |at: &usize| {
            let before = whole[(at + whole.len() - 1) % whole.len()];
            whole[*at].1 == Link::Program && before.1 == Link::Program && !stay.contains(&whole[*at].0)
        };
        let cycle = (0..whole.len()).filter(|at| !is_between(at)).map(|at| whole[at]).collect();
        Related { program, steps, cycle, graph, members }
    }

    /// What a node does to shared variables, in words.
    pub fn accesses(&self, node: usize) -> Vec<String> {
        let name = |variable: &program::VarId| &self.program.variable(*variable).name;
        let actions = self.members[node].iter().flat_map(|at| self.steps[*at].actions);
        let words = actions.filter_map(|action| match action {
            Action::Load(variable, value, _) => Some(format!("reads {} = {value}", name(variable))),
            Action::Store(variable, value, _) => Some(format!("stores {} = {value}", name(variable))),
            Action::Drain(..) | Action::Assign(..) | Action::Choose(..) => None,
        });
        words.collect()
    }

    /// Whether a node touches memory or is a fence.
    fn is_shown(&self, node: usize) -> bool {
        matches!(self.steps[node].kind, "fence" | "store_fence") || !self.accesses(node).is_empty()
    }

    /// What there is to draw, with the parts that nodes play; where that is more than `most` nodes,
    /// the cycle alone.
    pub fn picture(&self, most: usize, role: &dyn Fn(usize) -> Option<&'static str>) -> Picture {
        let in_cycle = |node: usize| self.cycle.iter().position(|(other, _)| *other == node);
        let is_node = |at: &usize| self.steps[*at].edge.is_some() && self.graph.node(*at) == *at;
        let nodes = (0..self.steps.len()).filter(is_node);
        let mut shown: Vec<usize> =
            nodes.filter(|at| in_cycle(*at).is_some() || self.is_shown(*at)).collect();
        let all = shown.len();
        if all > most {
            shown.retain(|at| in_cycle(*at).is_some());
        }
        let node = |at: &usize| {
            let step = &self.steps[*at];
            let line = step.line.map(|line| format!("{line}: ")).unwrap_or_default();
            PictureNode {
                thread: step.thread,
                title: format!("{line}{}", step.text),
                accesses: self.accesses(*at),
                cycle: in_cycle(*at).map(|place| place + 1),
                role: role(*at),
                steps: self.members[*at].clone(),
            }
        };
        let threads = self.program.thread_ids();
        let threads = threads.filter(|t| shown.iter().any(|at| self.steps[*at].thread == *t));
        Picture {
            threads: threads.map(|t| (t, self.program.thread(t).name.clone())).collect(),
            arrows: self.arrows(&shown),
            nodes: shown.iter().map(node).collect(),
            all,
        }
    }

    fn arrows(&self, shown: &[usize]) -> Vec<Arrow> {
        let number: BTreeMap<usize, usize> = shown.iter().enumerate().map(|(at, node)| (*node, at)).collect();
        let mut last: BTreeMap<ThreadId, usize> = BTreeMap::new();
        let mut follows: Vec<(usize, usize)> = Vec::new();
        for (at, node) in shown.iter().enumerate() {
            if let Some(before) = last.insert(self.steps[*node].thread, at) {
                follows.push((before, at));
            }
        }
        let mut taken: BTreeSet<(usize, usize, Link)> = BTreeSet::new();
        for (at, (from, link)) in self.cycle.iter().enumerate() {
            let to = self.cycle[(at + 1) % self.cycle.len()].0;
            let (Some(from), Some(to)) = (number.get(from).copied(), number.get(&to).copied()) else {
                continue;
            };
            if *link == Link::Program {
                let thread = |node: usize| self.steps[shown[node]].thread;
                let on_the_way =
                    |(a, b): &&(usize, usize)| thread(*a) == thread(from) && *a >= from && *b <= to;
                taken.extend(follows.iter().filter(on_the_way).map(|(a, b)| (*a, *b, Link::Program)));
            } else {
                taken.insert((from, to, *link));
            }
        }
        let program = follows.into_iter().map(|(from, to)| (from, to, Link::Program));
        let others = self.graph.links().filter(|(.., link)| *link != Link::Program);
        let others =
            others.filter_map(|(from, to, link)| Some((*number.get(&from)?, *number.get(&to)?, link)));
        program
            .chain(others)
            .map(|(from, to, link)| Arrow { from, to, link, cycle: taken.contains(&(from, to, link)) })
            .collect()
    }
}

/// The happens-before of a violating run with a cycle, through this step if there is one, and whether
/// an order was chosen for stores that are still buffered at the end.
///
/// If there is a cycle in whatever order these arrive, they stay unordered; else the run is
/// completed by draining one thread after the other.
pub fn completed(
    program: &Program,
    account: &Account,
    through: Option<usize>,
) -> (HappensBefore, Vec<Linked>, bool) {
    let certain = HappensBefore::of(program, account, Waiting::Unordered);
    let cycle = certain.cycle(through);
    if !cycle.is_empty() {
        return (certain, cycle, false);
    }
    let ordered = HappensBefore::of(program, account, Waiting::ThreadByThread);
    let (cycle, chosen) = (ordered.cycle(through), ordered.links().count() > certain.links().count());
    (ordered, cycle, chosen)
}

/// A node: a step, or what happens as one.
pub struct PictureNode {
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
    /// All steps that belong to it.
    pub steps: Vec<usize>,
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
    pub nodes: Vec<PictureNode>,
    /// The links.
    pub arrows: Vec<Arrow>,
    /// How many nodes there are, those that are not drawn included.
    pub all: usize,
}

/// A link of happens-before, as papers abbreviate it.
pub fn abbreviation(link: Link) -> &'static str {
    match link {
        Link::Program => "po",
        Link::ReadsFrom => "rf",
        Link::StoreOrder => "co",
        Link::FromRead => "fr",
    }
}

#[cfg(test)]
mod tests;
