//! A thread's control: where it stands, and what is on its way to memory.

use crate::{Entry, Machine, Slot};
use program::{Loc, ThreadId, VarId};
use smallvec::SmallVec;

/// A thread's control in a machine with store buffers.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Local {
    /// Where it stands.
    pub loc: Loc,
    /// The stores and fences of its buffer that are kept in order, oldest first.
    pub kept: SmallVec<[Entry; 4]>,
    /// The variables of forgotten stores, in increasing order; whether there may be several.
    pub forgotten: SmallVec<[(VarId, bool); 2]>,
}

impl Local {
    /// A thread standing at a location, with nothing buffered.
    pub fn at(loc: Loc) -> Local {
        Local { loc, kept: SmallVec::new(), forgotten: SmallVec::new() }
    }

    /// Whether nothing of the thread is on its way to memory.
    pub fn drained(&self) -> bool {
        self.kept.is_empty() && self.forgotten.is_empty()
    }

    /// The variables of the kept stores, oldest first.
    pub fn stores(&self) -> impl Iterator<Item = VarId> + '_ {
        self.kept.iter().filter_map(|entry| match entry {
            Entry::Store(variable) => Some(*variable),
            Entry::Barrier => None,
        })
    }

    /// The slots of the kept stores, oldest first.
    pub(crate) fn queued(&self, thread: ThreadId) -> Vec<Slot> {
        let mut counts: SmallVec<[(VarId, u32); 8]> = SmallVec::new();
        let slot = |variable| {
            let known = counts.iter().position(|(counted, _)| *counted == variable);
            let at = known.unwrap_or_else(|| {
                counts.push((variable, 0));
                counts.len() - 1
            });
            counts[at].1 += 1;
            Slot::Queued(thread, variable, counts[at].1 - 1)
        };
        self.stores().map(slot).collect()
    }

    /// How many stores stand before this position.
    pub(super) fn stores_before(&self, at: usize) -> usize {
        self.kept[..at].iter().filter(|entry| **entry != Entry::Barrier).count()
    }

    /// A barrier with nothing before it orders nothing.
    pub(super) fn strip_barriers(&mut self) {
        let leading = self.kept.iter().take_while(|entry| **entry == Entry::Barrier).count();
        self.kept.drain(..leading);
    }
}

/// A machine whose controls are those of threads with store buffers: the form in which certificates
/// write them down.
pub trait WithBuffers: Machine<Global = Option<ThreadId>, Local = Local> {}

impl<M: Machine<Global = Option<ThreadId>, Local = Local>> WithBuffers for M {}
