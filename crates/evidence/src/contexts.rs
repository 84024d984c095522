//! That nothing is violated within some number of contexts.
//!
//! The evidence is a closed set of the machine that is run for at most so many contexts
//! ([`machine::Contexts`]): of its states, or of normal forms of the gap abstraction. It says nothing about
//! runs of more contexts, so it is never a proof of safety. Checking it takes time, and such a bound is mostly
//! told when the time is out; so it is checked when it is found, and the type says so.

use crate::check::check_closed;
use crate::obligations::Looking;
use crate::{ClosedSet, Monitor, Rejected, Task, fingerprint};
use machine::{Contexts, GapStepper, Gaps, Model, Planned, Stepper, Turns};

/// All reachable states of a program in runs of at most so many contexts, not yet checked.
#[derive(Debug)]
pub struct ContextProof {
    /// How many contexts.
    pub contexts: u8,
    /// Set if the states are normal forms.
    pub gaps: Option<Gaps>,
    /// The states.
    pub set: ClosedSet<Turns, Planned>,
}

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
        let machine = Contexts::new(task.program, task.model, self.contexts);
        match self.gaps {
            None => check_closed(Stepper::new(&machine), Looking::ForViolations, &self.set, monitor)?,
            Some(gaps) => {
                let domain = GapStepper::with(&machine, gaps).ok_or(Rejected::Window)?;
                check_closed(domain, Looking::ForViolations, &self.set, monitor)?;
            }
        }
        Ok(WithinContexts { proof: self, model: task.model, program: fingerprint(task.program) })
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
        let states = self.proof.set.states.len();
        match self.proof.gaps {
            None => format!("for store buffers of any length: all {}", crate::counted(states, "state")),
            Some(gaps) => {
                let kinds = crate::counted(states, "kind");
                let known = match gaps.precision {
                    0 => "same order".to_string(),
                    precision => format!("same order, same gaps up to {precision}"),
                };
                format!(
                    "for store buffers of any length and integers of any size: all {kinds} of states ({known})"
                )
            }
        }
    }
}
