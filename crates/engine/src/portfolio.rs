//! One engine after the other, each as far as it is worth.
//!
//! A quick exact exploration answers most questions: small programs, and violations that are
//! near. Then, under TSO, comes the question whether weak memory matters at all: a robust program
//! that is safe under SC is safe. What is still open goes to the proof engine for unbounded
//! numbers; what that cannot decide gets an exploration with all that is left of the limits.
//! Budgets count states, not seconds, so the answer does not depend on the machine.

use crate::lazy::without_delays;
use crate::{Answer, Engine, Explicit, GapProofs, Run};
use evidence::{Monitor, MostStates, Reason, Stop, Task, Verdict};

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
        "explores a while, then asks whether weak memory matters, tries a proof, explores on"
    }

    fn verify(&self, task: &Task<'_>, run: &Run<'_>) -> Answer {
        let quick = within(&Explicit, task, run, QUICK);
        if !is_open(&quick) {
            return quick;
        }
        if let Some(answer) = robust(task, run, QUICK) {
            return answer;
        }
        let proof = within(&GapProofs, task, run, PROOF);
        if !is_open(&proof) || is_final(&proof) {
            return proof;
        }
        if let Some(answer) = robust(task, run, PROOF) {
            return answer;
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

/// The answer where robustness gives one within so many states.
fn robust(task: &Task<'_>, run: &Run<'_>, states: usize) -> Option<Answer> {
    let limit = MostStates(states);
    let monitor: (&dyn Monitor, &dyn Monitor) = (run.monitor, &limit);
    let buffers = task.model.name() == "tso";
    let answer = buffers.then(|| without_delays(task, &Run { monitor: &monitor, ..*run }))?;
    (!is_open(&answer)).then_some(answer)
}

/// Runs an engine with a limit on states besides the run's own limits.
fn within(engine: &dyn Engine, task: &Task<'_>, run: &Run<'_>, states: usize) -> Answer {
    let limit = MostStates(states);
    let monitor: (&dyn Monitor, &dyn Monitor) = (run.monitor, &limit);
    engine.verify(task, &Run { monitor: &monitor, ..*run })
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
