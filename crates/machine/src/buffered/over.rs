//! Machines that are made of one with store buffers.
//!
//! Such a machine has the same controls and takes the moves of the machine inside in a way of its own. All that it
//! does not change is passed on here.

use super::{Buffered, Local};
use crate::{Machine, MoveOf, Moves, Slot};
use program::{Loc, Program, ThreadId};

/// A machine made of one with store buffers.
pub trait OverBuffered: Sync {
    /// The machine inside.
    fn inside(&self) -> &Buffered<'_>;

    /// As [`Machine::slots`].
    fn slots(&self, thread: ThreadId, local: &Local, out: &mut Vec<Slot>) {
        self.inside().slots(thread, local, out);
    }

    /// As [`Machine::longest_queue`].
    fn longest_queue(&self, local: &Local) -> usize {
        self.inside().longest_queue(local)
    }

    /// As [`Machine::may_have`].
    fn may_have(&self, thread: ThreadId, local: &Local) -> bool {
        self.inside().may_have(thread, local)
    }

    /// As [`Machine::moves`].
    fn moves(
        &self,
        thread: ThreadId,
        holder: Option<ThreadId>,
        local: &Local,
        out: &mut Vec<MoveOf<Buffered<'_>>>,
    ) -> Moves;
}

impl<M: OverBuffered> Machine for M {
    type Global = Option<ThreadId>;
    type Local = Local;

    fn program(&self) -> &Program {
        self.inside().program()
    }

    fn initial(&self) -> (Option<ThreadId>, Vec<Local>) {
        self.inside().initial()
    }

    fn slots(&self, thread: ThreadId, local: &Local, out: &mut Vec<Slot>) {
        OverBuffered::slots(self, thread, local, out);
    }

    fn location(&self, local: &Local) -> Loc {
        self.inside().location(local)
    }

    fn drained(&self, local: &Local) -> bool {
        self.inside().drained(local)
    }

    fn longest_queue(&self, local: &Local) -> usize {
        OverBuffered::longest_queue(self, local)
    }

    fn may_have(&self, thread: ThreadId, local: &Local) -> bool {
        OverBuffered::may_have(self, thread, local)
    }

    fn may_share(&self, holder: &Option<ThreadId>) -> bool {
        self.inside().may_share(holder)
    }

    fn moves(
        &self,
        thread: ThreadId,
        holder: &Option<ThreadId>,
        local: &Local,
        out: &mut Vec<MoveOf<Self>>,
    ) -> Moves {
        OverBuffered::moves(self, thread, *holder, local, out)
    }
}
