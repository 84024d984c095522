//! Certificates: what proves a program safe.

use machine::{Gaps, Local, StateSet};
use program::ThreadId;

/// A proof that no execution violates anything.
#[derive(Debug)]
pub enum Certificate {
    /// All reachable states, listed. The checker's obligations: every initial state is in the
    /// set; no state in it violates anything; every successor of a state in it, on the exact
    /// machine with unbounded buffers, is in it; no step overflows or chooses freely.
    Closed(ClosedSet),
    /// All reachable normal forms of the gap abstraction with this window and precision. The
    /// obligations are the same, on normal forms; besides, window and precision must be large
    /// enough for the program, so that steps and properties mean the same for all states that a
    /// normal form stands for.
    Gaps(Gaps, ClosedSet),
}

/// A set of packed states with the dictionary of their control.
pub struct ClosedSet {
    /// What the numbers of shared controls mean: who is inside an atomic section.
    pub globals: Vec<Option<ThreadId>>,
    /// What the numbers of each thread's controls mean.
    pub locals: Vec<Vec<Local>>,
    /// The states.
    pub states: StateSet,
}

impl std::fmt::Debug for ClosedSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ClosedSet({} states)", self.states.len())
    }
}
