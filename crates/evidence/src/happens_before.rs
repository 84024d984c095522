//! The happens-before of a run under TSO, as a graph over its steps.
//!
//! Built while reading the run once: for every variable the store that is in memory and the
//! loads that have read it; for every thread what is in its buffer, with the loads that have
//! read it there. A drain belongs to the node of its store. Two steps may be linked in several
//! ways; all are kept, because pictures show them.

use machine::{Configuration, Event, TraceStep};
use program::{Op, Program, ThreadId, VarId};
use std::collections::{HashSet, VecDeque};

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

/// A graph over steps; indivisible groups of steps are named by their first.
#[derive(Clone, Debug)]
pub struct HappensBefore {
    /// The node of every step.
    pub(crate) node: Vec<usize>,
    /// What every step read from memory.
    pub(crate) memory_reads: Vec<Vec<VarId>>,
    /// Whether a step put a store into the buffer.
    pub(crate) buffered: Vec<bool>,
    links: Vec<Vec<(usize, Link)>>,
}

/// A store that was issued and what has read it so far.
#[derive(Clone, Default)]
struct Written {
    node: Option<usize>,
    readers: Vec<usize>,
}

struct Builder {
    graph: HappensBefore,
    known: HashSet<(usize, usize, Link)>,
    memory: Vec<Written>,
    buffers: Vec<VecDeque<(VarId, Written)>>,
    last: Vec<Option<usize>>,
}

impl HappensBefore {
    /// Reads a run that was replayed; `run[i]` is the configuration before step `i`.
    pub(crate) fn of(program: &Program, steps: &[TraceStep], run: &[Configuration]) -> HappensBefore {
        let graph = HappensBefore {
            node: (0..steps.len()).collect(),
            memory_reads: vec![Vec::new(); steps.len()],
            buffered: vec![false; steps.len()],
            links: vec![Vec::new(); steps.len()],
        };
        let mut builder = Builder {
            graph,
            known: HashSet::new(),
            memory: vec![Written::default(); program.variables.len()],
            buffers: vec![VecDeque::new(); program.threads.len()],
            last: vec![None; program.threads.len()],
        };
        for (at, step) in steps.iter().enumerate() {
            match step.event {
                Event::Drain { thread, .. } => builder.drain(at, thread),
                Event::Step { thread, edge } => {
                    let inside = run[at].holder() == Some(thread);
                    builder.step(at, thread, &program.thread(thread).edge(edge).op, inside);
                }
            }
        }
        builder.graph
    }

    /// The node that a step belongs to: itself, the first step of its atomic section, or the
    /// store that drains.
    pub fn node(&self, step: usize) -> usize {
        self.node[step]
    }

    /// All links, by the node they leave.
    pub fn links(&self) -> impl Iterator<Item = (usize, usize, Link)> + '_ {
        let each = |(from, links): (usize, &Vec<(usize, Link)>)| {
            links.iter().map(move |(to, link)| (from, *to, *link)).collect::<Vec<_>>()
        };
        self.links.iter().enumerate().flat_map(each)
    }

    /// For every node, how it was first reached from this one: the node before and the link.
    pub(crate) fn reached_from(&self, start: usize) -> Vec<Option<(usize, Link)>> {
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
}

impl Builder {
    fn step(&mut self, at: usize, thread: ThreadId, op: &Op, inside: bool) {
        let before = self.last[thread.index()];
        let node = match before {
            Some(section) if inside => section,
            _ => at,
        };
        self.graph.node[at] = node;
        if let Some(before) = before {
            self.link(before, node, Link::Program);
        }
        self.last[thread.index()] = Some(node);
        let direct = inside || matches!(op, Op::Block { .. });
        op.for_each_part(&mut |part| match part {
            Op::Load(_, variable) => self.load(at, thread, *variable),
            Op::Store(variable, _) if direct => {
                self.write(*variable, Written { node: Some(node), readers: Vec::new() });
            }
            Op::Store(variable, _) => {
                self.graph.buffered[at] = true;
                let written = Written { node: Some(node), readers: Vec::new() };
                self.buffers[thread.index()].push_back((*variable, written));
            }
            _ => {}
        });
    }

    fn load(&mut self, at: usize, thread: ThreadId, variable: VarId) {
        let node = self.graph.node[at];
        let own = self.buffers[thread.index()].iter_mut().rev().find(|(v, _)| *v == variable);
        let written = match own {
            Some((_, written)) => written,
            None => {
                self.graph.memory_reads[at].push(variable);
                &mut self.memory[variable.index()]
            }
        };
        written.readers.push(node);
        let store = written.node;
        if let Some(store) = store {
            self.link(store, node, Link::ReadsFrom);
        }
    }

    fn drain(&mut self, at: usize, thread: ThreadId) {
        if let Some((variable, written)) = self.buffers[thread.index()].pop_front() {
            self.graph.node[at] = written.node.unwrap_or(at);
            self.write(variable, written);
        }
    }

    fn write(&mut self, variable: VarId, written: Written) {
        let over = std::mem::replace(&mut self.memory[variable.index()], written.clone());
        let Some(node) = written.node else { return };
        if let Some(store) = over.node {
            self.link(store, node, Link::StoreOrder);
        }
        for reader in over.readers {
            self.link(reader, node, Link::FromRead);
        }
    }

    fn link(&mut self, from: usize, to: usize, link: Link) {
        if from != to && self.known.insert((from, to, link)) {
            self.graph.links[from].push((to, link));
        }
    }
}
