//! When operations may happen: the part of the semantics that asks only whether a thread's
//! buffer is empty, not what is in it. The exact machines and their abstractions share it.

use crate::{Entry, Model};
use program::{Fence, Op, ThreadId};
use smallvec::{Array, SmallVec};

/// A thread about to do something.
pub(crate) struct Rule {
    pub(crate) thread: ThreadId,
    /// Who is inside an atomic section.
    pub(crate) holder: Option<ThreadId>,
    /// Whether nothing of the thread is on its way to memory.
    pub(crate) drained: bool,
    /// Whether a store would join the buffer; otherwise it goes straight to memory.
    pub(crate) buffers: bool,
}

impl Rule {
    /// Who is inside an atomic section after the operation; `None` if it has to wait.
    pub(crate) fn holder_after(&self, op: &Op) -> Option<Option<ThreadId>> {
        let locked = self.holder == Some(self.thread);
        let free = self.holder.is_none() && self.drained;
        let (enabled, after) = match op {
            Op::Skip | Op::Assign(..) | Op::Assume(_) | Op::Havoc(..) | Op::Fence(Fence::Store) => {
                (true, self.holder)
            }
            Op::Fence(Fence::Full) => (self.drained, self.holder),
            Op::Load(..) | Op::Block { locked: false, .. } => (locked || self.holder.is_none(), self.holder),
            Op::Store(..) => (self.buffers || locked || self.holder.is_none(), self.holder),
            Op::Block { locked: true, .. } => (locked || free, self.holder),
            Op::Lock => (free, Some(self.thread)),
            Op::Unlock => (locked, None),
        };
        enabled.then_some(after)
    }
}

/// Remembers a store fence behind the newest store, if that means anything.
pub(crate) fn push_barrier<A: Array<Item = Entry>>(model: Model, buffer: &mut SmallVec<A>) {
    if model.needs_barriers() && buffer.last().is_some_and(|last| *last != Entry::Barrier) {
        buffer.push(Entry::Barrier);
    }
}
