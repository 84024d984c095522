//! The happens-before of a run, as a graph over its steps.
//!
//! Links are program order, *reads from* (a store and a load that sees it), *store order* (stores
//! to one variable as they reach memory) and *from read* (a load and the store that overwrites
//! what it saw) [004, sec. 2.3.3]. What happens as one indivisible step (a block, an atomic
//! section) is one node, named by its first step; a drain belongs to the node of its store. Under
//! SC all links go forward in time, so a cycle shows that no run under SC looks like this one. Two
//! steps may be linked in several ways; all are kept, because pictures show them.
//!
//! A store that is still buffered at the end will reach memory after all that has, in every
//! continuation: it gets its links as if it did. Stores of different threads that wait for the
//! same variable may arrive in any order ([`Waiting`]).

use machine::{Account, Action, ReadFrom};
use program::{Program, VarId};
use std::collections::{BTreeMap, HashSet, VecDeque};

/// In runs up to this size the shortest of all cycles is found; in longer ones the shortest
/// through one node.
const SMALL: usize = 300;

/// Why one step happens before another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Link {
    /// They follow each other in one thread.
    Program,
    /// Stores to one variable, in the order they reach memory.
    StoreOrder,
    /// A store, and a load that reads it.
    ReadsFrom,
    /// A load, and a store that overwrites what it read.
    FromRead,
}

/// How stores of different threads that are still buffered at the end are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// Not at all: the links hold in every continuation.
    Unordered,
    /// They are drained, one thread's after the other's.
    ThreadByThread,
}

/// A graph over steps; indivisible groups of steps are named by their first.
#[derive(Clone, Debug)]
pub struct HappensBefore {
    node: Vec<usize>,
    links: Vec<Vec<(usize, Link)>>,
}

/// A step, and how it is linked to the next; the last of a cycle is linked to its first.
pub type Linked = (usize, Link);

/// What is in memory or in a buffer: the node that wrote it, and those that have read it.
#[derive(Clone, Default)]
struct LastWrite {
    node: Option<usize>,
    readers: Vec<usize>,
}

struct HappensBeforeBuilder<'a> {
    account: &'a Account,
    graph: HappensBefore,
    known: HashSet<(usize, usize, Link)>,
    memory: Vec<LastWrite>,
    /// The stores that are still buffered, by the step that issued them.
    buffered: BTreeMap<usize, (VarId, LastWrite)>,
    last: Vec<Option<usize>>,
}

impl HappensBefore {
    /// The happens-before of a run.
    pub fn of(program: &Program, account: &Account, waiting: Waiting) -> HappensBefore {
        let count = account.steps().len();
        let mut builder = HappensBeforeBuilder {
            account,
            graph: HappensBefore { node: (0..count).collect(), links: vec![Vec::new(); count] },
            known: HashSet::new(),
            memory: vec![LastWrite::default(); program.variables.len()],
            buffered: BTreeMap::new(),
            last: vec![None; program.threads.len()],
        };
        (0..count).for_each(|at| builder.step(at));
        builder.order_buffered(program, waiting);
        builder.graph
    }

    /// The node that a step belongs to: itself, the first step of its atomic section, or the
    /// store that drains.
    pub fn node(&self, step: usize) -> usize {
        self.node[step]
    }

    /// All links, by the node they leave.
    pub fn links(&self) -> impl Iterator<Item = (usize, usize, Link)> + '_ {
        let leaving = self.links.iter().enumerate();
        leaving.flat_map(|(from, links)| links.iter().map(move |(to, link)| (from, *to, *link)))
    }

    /// For every node, how it was first reached from this one: the node before and the link.
    pub(crate) fn reached_from(&self, start: usize) -> Vec<Option<Linked>> {
        let mut from = vec![None; self.links.len()];
        let mut queue = VecDeque::from([start]);
        while let Some(node) = queue.pop_front() {
            for (next, link) in &self.links[node] {
                if from[*next].is_none() {
                    from[*next] = Some((node, *link));
                    queue.push_back(*next);
                }
            }
        }
        from
    }

    /// A shortest cycle: through this step if there is one, else through any. Empty if there is none.
    pub fn cycle(&self, through: Option<usize>) -> Vec<Linked> {
        let preferred = through.map(|step| self.cycle_through(self.node[step])).unwrap_or_default();
        if !preferred.is_empty() {
            return preferred;
        }
        let Some(node) = self.node_on_a_cycle() else { return Vec::new() };
        if self.links.len() > SMALL {
            return self.cycle_through(node);
        }
        let cycles = (0..self.links.len()).map(|node| self.cycle_through(node));
        cycles.filter(|cycle| !cycle.is_empty()).min_by_key(Vec::len).unwrap_or_default()
    }

    /// A shortest way from a node back to itself; empty if there is none.
    fn cycle_through(&self, start: usize) -> Vec<Linked> {
        let reached = self.reached_from(start);
        let mut cycle = Vec::new();
        let mut node = start;
        while let Some((before, link)) = reached[node] {
            cycle.push((before, link));
            node = before;
            if node == start {
                break;
            }
        }
        cycle.reverse();
        cycle
    }

    /// Takes away nodes that nothing leads to, until there are none; in what is left, going
    /// backwards leads round a cycle.
    fn node_on_a_cycle(&self) -> Option<usize> {
        let mut before = vec![Vec::new(); self.links.len()];
        self.links().for_each(|(from, to, _)| before[to].push(from));
        let mut arriving: Vec<usize> = before.iter().map(Vec::len).collect();
        let mut free: Vec<usize> = (0..arriving.len()).filter(|node| arriving[*node] == 0).collect();
        while let Some(node) = free.pop() {
            for (next, _) in &self.links[node] {
                arriving[*next] -= 1;
                if arriving[*next] == 0 {
                    free.push(*next);
                }
            }
        }
        let mut node = (0..arriving.len()).find(|node| arriving[*node] > 0)?;
        for _ in 0..arriving.len() {
            node = *before[node].iter().find(|earlier| arriving[**earlier] > 0)?;
        }
        Some(node)
    }
}

impl HappensBeforeBuilder<'_> {
    fn step(&mut self, at: usize) {
        let account = self.account;
        let step = &account.steps()[at];
        let node = step.drained().map_or(step.section.unwrap_or(at), |store| self.graph.node[store]);
        self.graph.node[at] = node;
        if step.drained().is_none()
            && let Some(before) = self.last[step.thread().index()].replace(node)
        {
            self.link(before, node, Link::Program);
        }
        for action in &step.actions {
            match action {
                Action::Load(variable, _, from) => self.load(node, *variable, *from),
                Action::Store(variable, _, buffered) => {
                    let written = LastWrite { node: Some(node), readers: Vec::new() };
                    match buffered {
                        true => drop(self.buffered.insert(at, (*variable, written))),
                        false => self.write(*variable, written),
                    }
                }
                Action::Drain(.., store) => {
                    if let Some((variable, written)) = self.buffered.remove(store) {
                        self.write(variable, written);
                    }
                }
                Action::Assign(..) | Action::Choose(..) => {}
            }
        }
    }

    fn load(&mut self, node: usize, variable: VarId, from: ReadFrom) {
        let memory = &mut self.memory[variable.index()];
        let written = match from {
            ReadFrom::OwnBuffer(store) => {
                self.buffered.get_mut(&store).map_or(memory, |(_, written)| written)
            }
            ReadFrom::Memory(_) | ReadFrom::Initial => memory,
        };
        written.readers.push(node);
        if let Some(store) = written.node {
            self.link(store, node, Link::ReadsFrom);
        }
    }

    fn write(&mut self, variable: VarId, written: LastWrite) {
        let by = written.node;
        let over = std::mem::replace(&mut self.memory[variable.index()], written);
        let Some(node) = by else { return };
        if let Some(store) = over.node {
            self.link(store, node, Link::StoreOrder);
        }
        over.readers.iter().for_each(|reader| self.link(*reader, node, Link::FromRead));
    }

    /// What is still buffered comes after all that is in memory.
    fn order_buffered(&mut self, program: &Program, waiting: Waiting) {
        let (account, buffered) = (self.account, std::mem::take(&mut self.buffered));
        if buffered.is_empty() {
            return;
        }
        let arrived = self.memory.clone();
        for thread in program.thread_ids() {
            if waiting == Waiting::Unordered {
                self.memory.clone_from(&arrived);
            }
            let own = buffered.iter().filter(|(issued, _)| account.steps()[**issued].thread() == thread);
            own.for_each(|(_, (variable, written))| self.write(*variable, written.clone()));
        }
    }

    fn link(&mut self, from: usize, to: usize, link: Link) {
        if from != to && self.known.insert((from, to, link)) {
            self.graph.links[from].push((to, link));
        }
    }
}
