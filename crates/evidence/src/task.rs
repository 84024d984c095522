//! What a task runs on: the one place where the checker and engines get the exact machine from.

use crate::Task;
use machine::Buffered;

impl<'p> Task<'p> {
    /// The exact machine of the task, with unbounded buffers.
    pub fn machine(&self) -> Buffered<'p> {
        Buffered::exact(self.program, self.model)
    }

    /// Whether a store can be buffered at all.
    pub fn buffers(&self) -> bool {
        self.model.buffers() && !self.program.variables.is_empty()
    }
}
