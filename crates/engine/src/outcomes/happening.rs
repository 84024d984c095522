//! What happens in one step, seen by a partial-order reduction: who acts, and on what.
//!
//! An *agent* is something that acts in one order: the program of a thread, or one of its
//! store queues (one a thread under TSO, one a thread and variable under PSO). Two happenings
//! are related if swapping them, next to each other, could change anything:
//!
//! * acts of one agent are ordered;
//! * a store is issued before it drains; what a fence or a locked step waits for drains before
//!   it; under PSO, drains from before a store fence precede those from after it. These
//!   orders are *forced*: the other way round is impossible;
//! * accesses to memory of one variable, one of them a write, by different threads, *race*;
//! * a load that took its value from the thread's own buffered store races with the draining
//!   of that store (afterwards it would read memory, which others may have changed), and a
//!   load from memory with the own drains of that variable before it.

use machine::{Event, Local, Model};
use program::{Fence, Op, Program, ThreadId, VarId};

/// How two happenings are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    /// Swapping them changes nothing.
    None,
    /// They cannot happen the other way round.
    Forced,
    /// They can, with another outcome.
    Race,
}

/// One step of an execution.
#[derive(Clone, Copy, Debug)]
pub(super) struct Happening {
    pub(super) agent: usize,
    thread: u32,
    /// Variables read from memory.
    reads: u64,
    /// Variables written in memory.
    writes: u64,
    /// Variables read from the thread's own buffer.
    forwards: u64,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Nothing but its accesses.
    Plain,
    /// Issues a buffered store: the number of stores the thread issued before it.
    Issue { number: u32 },
    /// A store reaches memory: its number, and how many store fences came before it.
    Drain { number: u32, epoch: u32 },
    /// Waits for the thread's buffers to be empty.
    Waits,
}

/// Only programs with at most this many variables are described.
pub(super) const MAX_VARIABLES: usize = 64;

/// How agents are numbered.
#[derive(Clone, Copy)]
pub(super) struct Agents {
    threads: usize,
    variables: usize,
    /// Whether stores of a thread to different variables drain in any order.
    by_variable: bool,
}

impl Agents {
    pub(super) fn new(program: &Program, model: Model) -> Agents {
        Agents {
            threads: program.threads.len(),
            variables: program.variables.len(),
            by_variable: model.needs_barriers(),
        }
    }

    pub(super) fn count(&self) -> usize {
        self.threads * if self.by_variable { 1 + self.variables } else { 2 }
    }

    fn queue(&self, thread: ThreadId, variable: VarId) -> usize {
        let row = if self.by_variable {
            thread.index() * self.variables + variable.index()
        } else {
            thread.index()
        };
        self.threads + row
    }
}

/// What a thread has issued so far, to number its stores and tell epochs apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Issued {
    stores: u32,
    fences: u32,
    /// Buffered stores, oldest first: variable, number, epoch.
    pending: Vec<(VarId, u32, u32)>,
}

/// Describes the step a thread is about to take.
pub(super) fn describe(
    program: &Program,
    model: Model,
    agents: &Agents,
    event: Event,
    local: &Local,
    issued: &Issued,
) -> Happening {
    let thread = event.thread();
    let mut happening = Happening {
        agent: thread.index(),
        thread: thread.index() as u32,
        reads: 0,
        writes: 0,
        forwards: 0,
        kind: Kind::Plain,
    };
    let bit = |variable: VarId| 1u64 << variable.index();
    match event {
        Event::Drain { variable, .. } => {
            happening.agent = agents.queue(thread, variable);
            happening.writes = bit(variable);
            let oldest = issued.pending.iter().find(|(v, ..)| *v == variable);
            let (number, epoch) = oldest.map_or((0, 0), |(_, number, epoch)| (*number, *epoch));
            happening.kind = Kind::Drain { number, epoch };
        }
        Event::Step { edge, .. } => {
            let op = &program.thread(thread).edge(edge).op;
            let direct = matches!(op, Op::Block { .. });
            if matches!(op, Op::Block { locked: true, .. } | Op::Fence(Fence::Full)) {
                happening.kind = Kind::Waits;
            }
            op.for_each_part(&mut |part| match part {
                Op::Load(_, v) if local.stores().any(|stored| stored == *v) => happening.forwards |= bit(*v),
                Op::Load(_, v) => happening.reads |= bit(*v),
                Op::Store(v, _) if direct || model.place(&local.buffer, *v).is_none() => {
                    happening.writes |= bit(*v);
                }
                Op::Store(..) => happening.kind = Kind::Issue { number: issued.stores },
                _ => {}
            });
        }
    }
    happening
}

impl Issued {
    /// Records that a step was taken.
    pub(super) fn record(&mut self, program: &Program, event: Event, happening: &Happening) {
        match (event, happening.kind) {
            (Event::Drain { variable, .. }, _) => {
                if let Some(at) = self.pending.iter().position(|(v, ..)| *v == variable) {
                    self.pending.remove(at);
                }
            }
            (Event::Step { thread, edge }, kind) => match (&program.thread(thread).edge(edge).op, kind) {
                (Op::Store(variable, _), Kind::Issue { number }) => {
                    self.pending.push((*variable, number, self.fences));
                    self.stores += 1;
                }
                (Op::Fence(Fence::Store), _) => self.fences += 1,
                _ => {}
            },
        }
    }
}

impl Happening {
    /// How this happening and a later one are ordered.
    pub(super) fn before(&self, later: &Happening) -> Relation {
        if self.agent == later.agent {
            return Relation::Forced;
        }
        if self.thread != later.thread {
            let clash = self.writes & (later.reads | later.writes) | self.reads & later.writes;
            return if clash != 0 { Relation::Race } else { Relation::None };
        }
        match (self.kind, later.kind) {
            (Kind::Issue { number }, Kind::Drain { number: drained, .. }) if number == drained => {
                Relation::Forced
            }
            (Kind::Drain { .. }, Kind::Waits) => Relation::Forced,
            (Kind::Drain { epoch, .. }, Kind::Drain { epoch: later, .. }) if epoch < later => {
                Relation::Forced
            }
            (_, Kind::Drain { .. }) if self.forwards & later.writes != 0 => Relation::Race,
            (Kind::Drain { .. }, _) if self.writes & later.reads != 0 => Relation::Race,
            _ => Relation::None,
        }
    }

    /// Whether two steps that could both be taken now can be swapped.
    pub(super) fn independent(&self, other: &Happening) -> bool {
        self.before(other) == Relation::None && other.before(self) == Relation::None
    }
}
