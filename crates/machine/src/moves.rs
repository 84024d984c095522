//! The vocabulary of machines: slots, sources, moves and events.
//!
//! A configuration is split in two. Its *control* is finite knowledge: where every thread
//! stands, the shape of its buffer, who holds the atomic section. Its *data* is one integer
//! per [`Slot`]. A [`Move`] is a symbolic step: which event it is, when it may happen (a guard
//! over slots), what every changed slot becomes (all at once, over the slots before the
//! move) and the control afterwards. What is *known* about slots (a value, a predicate, an
//! order) is a domain's business, not a machine's.
//!
//! Control is kept per thread ([`Machine::Local`]) beside one shared part
//! ([`Machine::Global`]), and the moves of a thread depend on those two only. The number of
//! locals is tiny compared with the number of controls, so moves are computed once per local.

use program::{Cond, Domain, EdgeId, Expr, Loc, Program, RegId, ThreadId, VarId};
use std::fmt::Debug;
use std::hash::Hash;

/// A place that holds one integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Slot {
    /// A shared variable's value in memory.
    Memory(VarId),
    /// A register.
    Register(ThreadId, RegId),
    /// The value of a thread's n-th kept store to a variable, the oldest being 0: buffered stores
    /// are named by what they store, so that the same name means the same kind of value.
    Queued(ThreadId, VarId, u32),
    /// The newest of a thread's stores to a variable that an abstraction forgot.
    Last(ThreadId, VarId),
    /// Any of the older ones: what is known of it holds for all of them.
    Pool(ThreadId, VarId),
    /// Any forgotten store to the variable that is newer than the one that the pool's slot stands for, the
    /// newest of all included: what is known of both holds for every two of them in order.
    Newer(ThreadId, VarId),
}

impl Slot {
    /// The thread it belongs to; memory belongs to nobody.
    pub fn thread(self) -> Option<ThreadId> {
        match self {
            Slot::Memory(_) => None,
            Slot::Register(thread, _)
            | Slot::Queued(thread, ..)
            | Slot::Last(thread, _)
            | Slot::Pool(thread, _)
            | Slot::Newer(thread, _) => Some(thread),
        }
    }

    /// Whether it stands for any of several stores, so that what is known of it holds for all of them.
    pub fn is_any(self) -> bool {
        matches!(self, Slot::Pool(..) | Slot::Newer(..))
    }

    /// The variable of the store on its way to memory that it stands for.
    pub fn buffered(self) -> Option<VarId> {
        match self {
            Slot::Memory(_) | Slot::Register(..) => None,
            Slot::Queued(_, variable, _)
            | Slot::Last(_, variable)
            | Slot::Pool(_, variable)
            | Slot::Newer(_, variable) => Some(variable),
        }
    }
}

impl From<Slot> for Expr<Slot> {
    fn from(slot: Slot) -> Expr<Slot> {
        Expr::Leaf(slot)
    }
}

/// What a slot becomes. The last four speak of pools, of which an exact machine has none; who wants one
/// value for every slot cannot take such a step, and says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueSource {
    /// The value of an expression over the slots before the move.
    Is(Expr<Slot>),
    /// Any value of a domain.
    Any(Domain),
    /// A member of this pool.
    OneOf(Slot),
    /// The oldest member of this pool; there are others, which stay.
    OldestOf(Slot),
    /// The only member of this pool.
    OnlyOf(Slot),
    /// For a slot that stands for any of several: any of those, or this value.
    Joins(Expr<Slot>),
}

/// What happened in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Event {
    /// A thread took an edge.
    Step {
        /// The thread.
        thread: ThreadId,
        /// The edge.
        edge: EdgeId,
    },
    /// A buffered store of a thread reached memory.
    Drain {
        /// The thread.
        thread: ThreadId,
        /// The variable it wrote.
        variable: VarId,
    },
}

impl Event {
    /// The drain that brings what this step stores to memory, if the store is delayed under a model
    /// that buffers. Put behind every step, it makes a run under SC one under the model.
    pub fn drain(self, program: &Program) -> Option<Event> {
        let Event::Step { thread, edge } = self else { return None };
        let automaton = program.thread(thread);
        let variable = automaton.delayed_store(automaton.edge(edge))?;
        Some(Event::Drain { thread, variable })
    }

    /// The thread it belongs to.
    pub fn thread(self) -> ThreadId {
        match self {
            Event::Step { thread, .. } | Event::Drain { thread, .. } => thread,
        }
    }
}

/// A symbolic step of one thread.
#[derive(Clone, Debug)]
pub struct Move<G, L> {
    /// What happens. In one control of an exact machine, no two moves have the same event.
    pub event: Event,
    /// When it may happen.
    pub guard: Cond<Slot>,
    /// What changes, all at once; slots that still exist afterwards and are not named stay.
    pub set: Vec<(Slot, ValueSource)>,
    /// The shared part of the control afterwards.
    pub global: G,
    /// The thread's part of the control afterwards.
    pub local: L,
}

/// The moves of a machine.
pub type MoveOf<M> = Move<<M as Machine>::Global, <M as Machine>::Local>;

/// A memory model, or an abstraction of one, as a generator of moves.
pub trait Machine: Sync {
    /// The part of the control that threads share.
    type Global: Clone + Eq + Hash + Debug + Send + Sync;
    /// One thread's part of the control.
    type Local: Clone + Eq + Hash + Debug + Send + Sync;

    /// The program it runs.
    fn program(&self) -> &Program;

    /// The control at the start. Data starts at what [`initial_value`] says.
    fn initial(&self) -> (Self::Global, Vec<Self::Local>);

    /// The slots that belong to a thread in this control, in a fixed order. Memory belongs to
    /// nobody and always exists.
    fn slots(&self, thread: ThreadId, local: &Self::Local, out: &mut Vec<Slot>);

    /// Where a thread stands.
    fn location(&self, local: &Self::Local) -> Loc;

    /// Whether nothing of a thread is on its way to memory.
    fn drained(&self, local: &Self::Local) -> bool;

    /// Where threads stand, each with whether nothing of it is on its way to memory.
    fn standing(&self, locals: &[Self::Local]) -> Vec<(Loc, bool)> {
        locals.iter().map(|local| (self.location(local), self.drained(local))).collect()
    }

    /// The length of a thread's longest queue of stores on their way to memory.
    fn longest_queue(&self, local: &Self::Local) -> usize;

    /// Whether a thread may have this control, as far as a glance tells: evidence can name anything,
    /// and the other methods are asked only about controls that pass this one.
    fn may_have(&self, thread: ThreadId, local: &Self::Local) -> bool;

    /// Whether threads may share this control, as far as a glance tells; for the same reason.
    fn may_share(&self, global: &Self::Global) -> bool;

    /// Appends the moves of a thread. Says [`Moves::Withheld`] if one was left out because a
    /// bound of the machine was reached; a machine without bounds never does.
    fn moves(
        &self,
        thread: ThreadId,
        global: &Self::Global,
        local: &Self::Local,
        out: &mut Vec<MoveOf<Self>>,
    ) -> Moves;
}

/// Whether all moves were listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moves {
    /// All of them.
    All,
    /// A bound was reached, and what lies beyond it is not listed.
    Withheld,
}

/// The values a slot may start with. Not all that variables may start with can go together: see
/// [`Program::may_start`].
pub fn initial_value(program: &Program, slot: Slot) -> Domain {
    match slot {
        Slot::Memory(variable) => program.variable(variable).initial.clone(),
        _ => Domain::only(0),
    }
}
