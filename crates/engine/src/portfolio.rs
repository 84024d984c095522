//! One engine after the other, each as far as it is worth.
//!
//! A quick exact exploration answers most questions: small programs, and violations that are
//! near. What is still open then goes to the proof engine for unbounded numbers; what that
//! cannot decide gets an exploration with all that is left of the limits. Budgets count states,
//! not seconds, so the answer does not depend on the machine.

use crate::{Answer, Engine, Explicit, GapProofs, Run};
use evidence::{Monitor, MostStates, Named, Reason, Stop, Task, Verdict};

/// States for the first exploration.
const QUICK: usize = 200_000;
/// States for the attempt at a proof.
const PROOF: usize = 4_000_000;

/// The engine that chooses among the others.
pub struct Portfolio;

impl Engine for Portfolio {
    fn name(&self) -> &'static str {
        "portfolio"
    }

    fn about(&self) -> &'static str {
        "explores a while, then tries a proof, then explores on"
    }

    fn verify(&self, task: &Task<'_>, run: &Run<'_>) -> Answer {
        let quick = within(&Explicit, task, run, QUICK);
        if !is_open(&quick) {
            return quick;
        }
        let proof = within(&GapProofs, task, run, PROOF);
        if !is_open(&proof) || is_final(&proof) {
            return proof;
        }
        let full = Explicit.verify(task, run);
        let both = |answer: Answer| match answer.verdict {
            Verdict::Unknown(reasons) => {
                let more = reasons_of(&proof).iter().filter(|r| !is_budget(r)).copied();
                let mut all = reasons.clone();
                all.extend(more.filter(|reason| !reasons.contains(reason)));
                Answer { verdict: Verdict::Unknown(all), ..answer }
            }
            _ => answer,
        };
        both(full)
    }
}

/// Runs an engine with a limit on states besides the run's own limits.
fn within(engine: &dyn Engine, task: &Task<'_>, run: &Run<'_>, states: usize) -> Answer {
    let limit = MostStates(states);
    let monitor: (&dyn Monitor, &dyn Monitor) = (run.monitor, &limit);
    let named = Named::new(engine.name(), &monitor);
    engine.verify(task, &Run { monitor: &named, ..*run })
}

fn reasons_of(answer: &Answer) -> &[Reason] {
    match &answer.verdict {
        Verdict::Unknown(reasons) => reasons,
        _ => &[],
    }
}

/// Whether another engine should have a try: no answer, and nobody asked to stop.
fn is_open(answer: &Answer) -> bool {
    matches!(answer.verdict, Verdict::Unknown(_)) && !is_final(answer)
}

fn is_final(answer: &Answer) -> bool {
    let stops =
        |reason: &Reason| matches!(reason, Reason::Stopped(Stop::Time | Stop::Memory | Stop::Interrupt));
    reasons_of(answer).iter().any(stops)
}

fn is_budget(reason: &Reason) -> bool {
    matches!(reason, Reason::Stopped(_))
}
