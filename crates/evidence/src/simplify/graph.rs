//! What in a run must come before what, for the run to stay what it is.
//!
//! Steps of one thread keep their order. A drain comes behind its store, behind what the model
//! makes it wait for, and before the fences that waited for it. Accesses to one variable's memory
//! keep their order if one of them writes; a load that took its value from its own buffer only has
//! to come before what overwrites that store in memory. The steps of an atomic section are one
//! piece. Own loads and drains of one variable need no order: a load finds the same value in the
//! buffer as behind it.

use crate::Task;
use machine::{Action, Configuration, Entry, Event, ReadFrom, ReplayedStep};
use program::{Fence, Op, ThreadId, VarId};

/// The order that must be kept, as links between steps.
pub(super) struct OrderGraph<'r> {
    /// What happened in every step.
    pub(super) steps: &'r [ReplayedStep],
    /// What comes behind every step.
    pub(super) after: Vec<Vec<usize>>,
    /// The first step of the atomic section that a step lies in; itself if in none.
    pub(super) section: Vec<usize>,
}

/// Memory of one variable as the run goes on.
#[derive(Clone, Default)]
struct VariableHistory {
    written: Option<usize>,
    /// What read it since, and what its own thread read before.
    readers: Vec<usize>,
}

struct OrderGraphBuilder<'a, 'r> {
    task: &'a Task<'a>,
    graph: OrderGraph<'r>,
    memory: Vec<VariableHistory>,
    /// For every thread its last step, and the drains so far.
    last: Vec<Option<usize>>,
    drains: Vec<Vec<usize>>,
    /// How many store fences a thread has passed, and had when a store was issued.
    barriers: Vec<usize>,
    epoch: Vec<usize>,
    /// Loads that took their value from a store in the buffer.
    forwarded: Vec<Vec<usize>>,
    /// Steps that touch memory.
    touching: Vec<usize>,
}

impl<'r> OrderGraph<'r> {
    /// The order within a run that was replayed, with the configuration that it ends in.
    pub(super) fn of(task: &Task<'_>, steps: &'r [ReplayedStep], end: &Configuration) -> OrderGraph<'r> {
        let (count, threads) = (steps.len(), task.program.threads.len());
        let section = steps.iter().enumerate().map(|(at, step)| step.section.unwrap_or(at)).collect();
        let mut builder = OrderGraphBuilder {
            task,
            graph: OrderGraph { steps, after: vec![Vec::new(); count], section },
            memory: vec![VariableHistory::default(); task.program.variables.len()],
            last: vec![None; threads],
            drains: vec![Vec::new(); threads],
            barriers: vec![0; threads],
            epoch: vec![0; count],
            forwarded: vec![Vec::new(); count],
            touching: Vec::new(),
        };
        for (at, step) in steps.iter().enumerate() {
            match step.event {
                Event::Drain { variable, .. } => builder.drain(at, variable),
                Event::Step { thread, edge } => {
                    builder.step(at, &task.program.thread(thread).edge(edge).op);
                }
            }
        }
        if let Some(holder) = end.holder() {
            builder.open_section(holder);
        }
        builder.graph
    }

    /// The thread of a step.
    pub(super) fn thread(&self, at: usize) -> ThreadId {
        self.steps[at].thread()
    }
}

impl OrderGraphBuilder<'_, '_> {
    fn step(&mut self, at: usize, op: &Op) {
        let step = &self.graph.steps[at];
        let thread = step.thread().index();
        if let Some(before) = self.last[thread].replace(at) {
            self.link(before, at);
        }
        self.epoch[at] = self.barriers[thread];
        if step.waited {
            for drain in self.drains[thread].clone() {
                self.link(drain, at);
            }
        }
        if matches!(op, Op::Fence(Fence::Store)) {
            self.barriers[thread] += 1;
        }
        let mut touches = step.section.is_some();
        for action in &step.actions {
            match action {
                Action::Load(variable, _, from) => {
                    touches = true;
                    self.load(at, *variable, *from);
                }
                Action::Store(variable, _, false) => {
                    touches = true;
                    self.write(at, *variable);
                }
                _ => {}
            }
        }
        if touches {
            self.touching.push(at);
        }
    }

    /// A section that does not end comes behind all that others do in memory.
    fn open_section(&mut self, holder: ThreadId) {
        let Some(last) = self.last[holder.index()] else { return };
        let first = self.graph.section[last];
        for node in std::mem::take(&mut self.touching) {
            if self.graph.thread(node) != holder {
                self.link(node, first);
            }
        }
    }

    fn load(&mut self, at: usize, variable: VarId, from: ReadFrom) {
        if let ReadFrom::OwnBuffer(store) = from {
            self.forwarded[store].push(at);
            return;
        }
        let memory = &mut self.memory[variable.index()];
        memory.readers.push(at);
        if let Some(written) = memory.written.filter(|w| self.graph.thread(*w) != self.graph.thread(at)) {
            self.link(written, at);
        }
    }

    fn drain(&mut self, at: usize, variable: VarId) {
        let thread = self.graph.thread(at).index();
        if let Some(store) = self.graph.steps[at].drained() {
            self.link(store, at);
            for earlier in self.drains[thread].clone().into_iter().rev() {
                if self.waits(store, earlier) {
                    self.link(earlier, at);
                }
            }
            self.write(at, variable);
            let forwarded = std::mem::take(&mut self.forwarded[store]);
            self.memory[variable.index()].readers.extend(forwarded);
        }
        self.drains[thread].push(at);
        self.touching.push(at);
    }

    /// Whether a store has to wait for an earlier drain of its thread.
    fn waits(&self, store: usize, earlier: usize) -> bool {
        let steps = self.graph.steps;
        let Some(older) = steps[earlier].drained().filter(|older| *older < store) else { return false };
        let (Some(first), Some(second)) = (steps[older].buffered(), steps[store].buffered()) else {
            return false;
        };
        let model = self.task.model;
        let mut buffer = vec![Entry::Store(first)];
        if model.reorders_stores() && self.epoch[older] < self.epoch[store] {
            buffer.push(Entry::Barrier);
        }
        let place = model.place(&buffer, second).unwrap_or(0);
        buffer.insert(place, Entry::Store(second));
        !model.may_drain(&buffer, place)
    }

    fn write(&mut self, at: usize, variable: VarId) {
        let thread = self.graph.thread(at);
        let memory = &mut self.memory[variable.index()];
        let (own, others) = memory.readers.iter().partition(|node| self.graph.thread(**node) == thread);
        memory.readers = own;
        let others: Vec<usize> = others;
        let before = memory.written.replace(at);
        before.into_iter().chain(others).for_each(|node| self.link(node, at));
    }

    fn link(&mut self, before: usize, after: usize) {
        if before != after && self.graph.after[before].last() != Some(&after) {
            self.graph.after[before].push(after);
        }
    }
}
