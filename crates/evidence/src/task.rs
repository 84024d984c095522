//! Questions about programs.

use machine::{Buffered, Model};
use program::Program;

/// A question about a program.
#[derive(Clone, Copy)]
pub struct Task<'p> {
    /// The program, with its properties and its question.
    pub program: &'p Program,
    /// The memory model.
    pub model: Model,
    /// What is asked.
    pub goal: Goal,
}

/// What is asked of a program under a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// Does no execution violate anything?
    Safe,
    /// Does every execution look like one under SC?
    Robust,
    /// Which final states are there, and is what the program's question says of them true?
    FinalStates,
}

impl<'p> Task<'p> {
    /// Is the program safe?
    pub fn safe(program: &'p Program, model: Model) -> Task<'p> {
        Task { program, model, goal: Goal::Safe }
    }

    /// Is the program robust?
    pub fn robust(program: &'p Program, model: Model) -> Task<'p> {
        Task { program, model, goal: Goal::Robust }
    }

    /// What the program itself asks: about its final states if it has a question, else whether it
    /// is safe.
    pub fn asked(program: &'p Program, model: Model) -> Task<'p> {
        let goal = if program.question.is_some() { Goal::FinalStates } else { Goal::Safe };
        Task { program, model, goal }
    }

    /// The exact machine of the task, with unbounded buffers: engines and the checker get it from here.
    pub fn machine(&self) -> Buffered<'p> {
        Buffered::exact(self.program, self.model)
    }

    /// Whether a store can be buffered at all.
    pub fn buffers(&self) -> bool {
        self.model.buffers() && !self.program.variables.is_empty()
    }
}
