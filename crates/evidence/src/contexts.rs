//! That nothing is violated within some number of contexts.
//!
//! The evidence is a closed set of the machine that is run for at most so many contexts
//! ([`machine::Contexts`]): of its states, of normal forms of the gap abstraction, or of conjunctions of
//! predicates that its steps preserve. It says nothing about
//! runs of more contexts, so it is never a proof of safety. Checking it takes time, and such a bound is mostly
//! told when the time is out; so it is checked when it is found, and the type says so.

use crate::certificate::same_gaps;
use crate::check::check_closed;
use crate::cubes::check_cubes_on;
use crate::obligations::Looking;
use crate::{ClosedSet, CubeProof, Monitor, Rejected, Task, counted, fingerprint};
use machine::{Contexts, GapStepper, Gaps, Model, Planned, Stepper, Turns};

/// What a program can reach in runs of at most so many contexts, not yet checked.
#[derive(Debug)]
pub struct ContextProof {
    /// How many contexts.
    pub contexts: u8,
    /// What is reached, or more.
    pub reached: ContextStates,
}

/// States of runs of bounded contexts.
#[derive(Debug)]
pub enum ContextStates {
    /// One by one.
    Listed {
        /// Set if they are normal forms.
        gaps: Option<Gaps>,
        /// The states.
        set: ClosedSet<Turns, Planned>,
    },
    /// Those that satisfy one of these.
    Cubes(ContextCubes),
}

/// Conditions on values that steps of runs of bounded contexts preserve. How many contexts is said beside it.
pub type ContextCubes = CubeProof<(), Turns, Planned>;

/// No run of at most so many contexts violates anything. Only [`ContextProof::check`] makes one.
#[derive(Debug)]
pub struct WithinContexts {
    proof: ContextProof,
    model: Model,
    program: String,
}

impl ContextProof {
    /// Checks it: every initial state is in the set, none violates anything, and every successor on the
    /// machine is in it.
    pub fn check(self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<WithinContexts, Rejected> {
        // Guesses when stores leave say what memory sees, not when buffers are empty.
        if task.program.speaks_of_buffers().is_some() {
            return Err(Rejected::CarriesNotOver);
        }
        let machine = Contexts::new(task.program, task.model, self.contexts);
        match &self.reached {
            ContextStates::Listed { gaps: None, set } => {
                check_closed(Stepper::new(&machine), Looking::ForViolations, set, monitor)?;
            }
            ContextStates::Listed { gaps: Some(gaps), set } => {
                let domain = GapStepper::with(&machine, *gaps).ok_or(Rejected::Window)?;
                check_closed(domain, Looking::ForViolations, set, monitor)?;
            }
            ContextStates::Cubes(cubes) => check_cubes_on(task.program, machine, cubes, monitor)?,
        }
        Ok(WithinContexts { proof: self, model: task.model, program: fingerprint(task.program) })
    }

    /// Whether some run has so many contexts; otherwise none has more.
    pub fn reaches(&self, contexts: u8) -> bool {
        let there = |turns: &Turns| turns.context == contexts;
        match &self.reached {
            ContextStates::Listed { set, .. } => set.controls.globals.iter().any(there),
            ContextStates::Cubes(cubes) => cubes.controls.iter().any(|(turns, _)| there(turns)),
        }
    }

    /// How many states there are, kinds of states or conjunctions.
    pub fn len(&self) -> usize {
        match &self.reached {
            ContextStates::Listed { set, .. } => set.states.len(),
            ContextStates::Cubes(cubes) => cubes.cubes.len(),
        }
    }

    /// Whether there are none; then it proves nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes in memory, roughly.
    pub fn bytes(&self) -> usize {
        match &self.reached {
            ContextStates::Listed { set, .. } => set.states.bytes(),
            ContextStates::Cubes(cubes) => cubes.cubes.iter().map(|cube| 64 + 8 * cube.literals.len()).sum(),
        }
    }
}

impl WithinContexts {
    /// How many contexts.
    pub fn contexts(&self) -> usize {
        usize::from(self.proof.contexts)
    }

    /// The proof that was checked.
    pub fn proof(&self) -> &ContextProof {
        &self.proof
    }

    /// Whether it was checked for this program under this model.
    pub(crate) fn is_about(&self, task: &Task<'_>) -> bool {
        self.model == task.model && self.program == fingerprint(task.program)
    }

    /// For which runs it holds, in a few words.
    pub fn how(&self) -> String {
        let any = "for store buffers of any length";
        match &self.proof.reached {
            ContextStates::Listed { gaps: None, set } => {
                format!("{any}: all {}", counted(set.states.len(), "state"))
            }
            ContextStates::Listed { gaps: Some(gaps), set } => {
                let kinds = counted(set.states.len(), "kind");
                let gaps = same_gaps(*gaps);
                format!("{any} and integers of any size: all {kinds} of states (same order{gaps})")
            }
            ContextStates::Cubes(proof) => {
                let cubes = counted(proof.cubes.len(), "conjunction");
                let predicates = counted(proof.predicates.len(), "predicate");
                format!("{any} and integers of any size, by {cubes} of {predicates}")
            }
        }
    }
}
