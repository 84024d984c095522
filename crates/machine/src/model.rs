//! Memory models, each small enough to read on one screen.
//!
//! A model says three things about a thread's stores on their way to memory: where a new
//! one queues, which one may leave next, and whether all of them stay in order. All else
//! (forwarding, full fences, atomic sections) is the same for all models and stands in
//! [`crate::Buffered`].

use program::{Program, Thread, VarId};

/// An entry of a thread's buffer. The first entry is the oldest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Entry {
    /// A store to this variable; its value is in a slot.
    Store(VarId),
    /// A store fence: what stands behind it waits for what stands before it.
    Barrier,
}

impl Entry {
    /// Whether it is a store to this variable.
    pub fn stores_to(self, variable: VarId) -> bool {
        self == Entry::Store(variable)
    }
}

/// A memory model.
pub trait MemoryModel: Sync + std::fmt::Debug {
    /// Its short name, as in `--model`.
    fn name(&self) -> &'static str;

    /// One line for lists and help.
    fn about(&self) -> &'static str;

    /// Where a new store to the variable queues; `None` if it reaches memory at once. The answer is
    /// `None` for all buffers and variables, or for none.
    fn place(&self, buffer: &[Entry], variable: VarId) -> Option<usize>;

    /// Whether the store at this position may drain now.
    fn may_drain(&self, buffer: &[Entry], at: usize) -> bool;

    /// Whether all stores of a thread reach memory in the order they were issued. Otherwise those to
    /// one variable do.
    fn one_queue(&self) -> bool;

    /// Whether stores wait in buffers.
    fn buffers(&self) -> bool {
        self.place(&[], VarId::new(0)).is_some()
    }

    /// Whether it is sequential consistency.
    fn is_sc(&self) -> bool {
        !self.buffers()
    }

    /// Whether a store may overtake an older one of its thread, unless a store fence stands between
    /// them: only then a store fence means anything.
    fn reorders_stores(&self) -> bool {
        self.buffers() && !self.one_queue()
    }

    /// Whether stores of a thread to these variables stay in order.
    fn share_a_queue(&self, a: VarId, b: VarId) -> bool {
        self.one_queue() || a == b
    }

    /// Whether a program can do the same as under TSO, because stores of each thread that are delayed stay in order.
    fn like_tso(&self, program: &Program) -> bool {
        let in_order = |thread: &Thread| {
            let mut delayed = thread.edges().iter().filter_map(|edge| thread.delayed_store(edge));
            let first = delayed.next();
            first.is_none_or(|first| self.one_queue() || delayed.all(|variable| variable == first))
        };
        self.buffers() && program.threads.iter().all(in_order)
    }

    /// How many stores are in the queue that a new store to the variable would join: what a
    /// bound on buffers counts.
    fn queued(&self, buffer: &[Entry], variable: VarId) -> usize {
        let shares = |entry: &&Entry| matches!(entry, Entry::Store(v) if self.share_a_queue(*v, variable));
        buffer.iter().filter(shares).count()
    }
}

impl PartialEq for dyn MemoryModel {
    fn eq(&self, other: &dyn MemoryModel) -> bool {
        self.name() == other.name()
    }
}

impl Eq for dyn MemoryModel {}

/// A memory model, by name.
pub type Model = &'static dyn MemoryModel;

/// Sequential consistency, with which the others are compared.
pub const SC: Model = &crate::sc::Sc;

/// Total store order, the model that robustness is about.
pub const TSO: Model = &crate::tso::Tso;

/// Partial store order: stores to different variables may overtake each other.
pub const PSO: Model = &crate::pso::Pso;

/// All models, each weaker than those before it.
pub const MODELS: &[Model] = &[SC, TSO, PSO];

/// The model of this name.
pub fn model_named(name: &str) -> Option<Model> {
    MODELS.iter().copied().find(|model| model.name() == name)
}
