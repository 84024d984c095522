//! Who decides what follows from a cube and the guard of a step.

use logic::{Atom, Context, Truth};

/// Answers questions about a conjunction of what is known and what a step requires.
pub(crate) trait Judge {
    /// Turns to another conjunction, which is empty at first.
    fn clear(&mut self);

    /// Adds what is known before the step.
    fn know(&mut self, atom: &Atom);

    /// Adds what the step itself requires.
    fn require(&mut self, atom: &Atom);

    /// Whether the conjunction may have a solution. *No* is meant, *yes* need not be.
    fn is_consistent(&mut self) -> bool;

    /// Whether the atom or its negation follows. *Open* need not be meant.
    fn truth(&mut self, atom: &Atom) -> Truth;

    /// Begins a level.
    fn push(&mut self);

    /// Retracts what was added since the level began.
    fn pop(&mut self);

    /// Questions put to the solver so far.
    fn questions(&self) -> usize;

    /// What was computed so far, in the unit of [`Context::effort`].
    fn effort(&self) -> u64;

    /// Hears that its last answer decided what this predicate is after a step.
    fn decided(&mut self, _predicate: u32) {}

    /// Hears that a step makes one predicate what another one was.
    fn copied(&mut self, _predicate: u32, _from: u32) {}

    /// About how much memory its answers take.
    fn bytes(&self) -> usize {
        0
    }
}

/// What a question takes, whose answer is seen at once, in the unit of [`Context::effort`].
const QUESTION: u64 = 4;

/// Asks the solver about all of the conjunction.
#[derive(Default)]
pub(crate) struct Solver {
    context: Context,
    questions: usize,
}

impl Judge for Solver {
    fn clear(&mut self) {
        self.context.clear();
    }

    fn know(&mut self, atom: &Atom) {
        self.context.assume(atom);
    }

    fn require(&mut self, atom: &Atom) {
        self.context.assume(atom);
    }

    fn is_consistent(&mut self) -> bool {
        self.questions += 1;
        self.context.is_consistent()
    }

    fn truth(&mut self, atom: &Atom) -> Truth {
        self.questions += 1;
        self.context.truth(atom)
    }

    fn push(&mut self) {
        self.context.push();
    }

    fn pop(&mut self) {
        self.context.pop();
    }

    fn questions(&self) -> usize {
        self.questions
    }

    fn effort(&self) -> u64 {
        QUESTION * self.questions as u64 + self.context.effort()
    }
}
