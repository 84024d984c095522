//! When operations may happen: the part of the semantics that asks only whether a thread's
//! buffer is empty, not what is in it.

use program::{Op, ThreadId};

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
        let (free, locked) = (self.holder.is_none(), self.holder == Some(self.thread));
        let (enabled, after) = match op {
            Op::Skip | Op::Assign(..) | Op::Assume(_) | Op::Havoc(..) | Op::Fence(_) => (true, self.holder),
            Op::Load(..) | Op::Block { .. } => (locked || free, self.holder),
            Op::Store(..) => (self.buffers || locked || free, self.holder),
            Op::Lock => (free, Some(self.thread)),
            Op::Unlock => (locked, None),
        };
        (enabled && (self.drained || !op.waits())).then_some(after)
    }
}
