//! Proofs for unbounded integers by order and small gaps.
//!
//! Explores the normal forms of the gap abstraction ([`machine::Gaps`]): finitely many for each
//! shape of control, however large the numbers grow. Tickets, sequence numbers and positions
//! are compared, copied and counted up, and what matters is their order and how far neighbours
//! are apart. If no normal form violates anything, the set of those reached is a proof. If one
//! does, the run to it is tried on the exact machine: either it is a violation, or the
//! precision was too small, and the next one is tried: 1, 2, 4, ….

use crate::search::{Ended, Limits, Weight, search};
use crate::stepping::Stepping;
use crate::{Answer, Engine, Run};
use evidence::{Certificate, Listed, Reason, Statistics, Task, Verdict};
use machine::{GapStepper, replay};

/// Precisions beyond this are not tried.
const MOST_PRECISE: i64 = 32;

/// The engine.
pub struct GapProofs;

impl Engine for GapProofs {
    fn name(&self) -> &'static str {
        "gaps"
    }

    fn about(&self) -> &'static str {
        "proves programs over unbounded integers by the order of values and small gaps between them"
    }

    fn verify(&self, task: &Task<'_>, run: &Run<'_>) -> Answer {
        let mut precision = 1;
        let mut states = 0;
        loop {
            let (step, statistics) = round(task, run, precision);
            states += statistics.states;
            let statistics = Statistics { states, ..statistics };
            match step {
                Attempt::Done(verdict) => return Answer { verdict, statistics, engine: self.name() },
                Attempt::Spurious if precision >= MOST_PRECISE => {
                    let verdict = Verdict::Unknown(vec![Reason::Imprecise(precision)]);
                    return Answer { verdict, statistics, engine: self.name() };
                }
                Attempt::Spurious => precision *= 2,
            }
        }
    }
}

enum Attempt {
    Done(Verdict),
    /// A violation of the abstraction that is none of the program.
    Spurious,
}

fn round(task: &Task<'_>, run: &Run<'_>, precision: i64) -> (Attempt, Statistics) {
    let machine = task.machine();
    let unknown = |reason| Attempt::Done(Verdict::Unknown(vec![reason]));
    let steps = match GapStepper::new(&machine, precision) {
        Ok(steps) => steps,
        Err(unsupported) => return (unknown(Reason::Unsupported(unsupported.span)), Statistics::default()),
    };
    let mut system = Stepping::hunting(steps);
    let limits = Limits {
        order: run.order,
        depth: None,
        states: None,
        weight: Weight::LightFirst(run.max_buffer),
        monitor: run.monitor,
    };
    let found = search(&mut system, &limits);
    let statistics = Statistics { states: found.states.len(), k: Some(found.bound), ..Default::default() };
    let doubts = system.doubts.take();
    let step = match found.ended {
        Ended::Goal(at, violation) => {
            // Perhaps the exact machine can take the run to the violating normal form.
            let trace = system.trace(&found.states, at, violation);
            match replay(task.program, task.model, &trace) {
                Ok(_) => Attempt::Done(Verdict::Unsafe(trace)),
                Err(_) if doubts.is_empty() => Attempt::Spurious,
                Err(_) => Attempt::Done(Verdict::Unknown(doubts.into_iter().map(Reason::Doubt).collect())),
            }
        }
        Ended::Stopped(stop) => unknown(Reason::Stopped(stop)),
        Ended::Full => unknown(Reason::Full),
        Ended::Heavy => unknown(Reason::BuffersBeyond(found.bound)),
        Ended::Complete | Ended::Deep if doubts.is_empty() => {
            let set = system.closed_set(found.states);
            Attempt::Done(Verdict::Safe(Certificate::Listed(Listed {
                gaps: Some(system.domain.gaps()),
                set,
            })))
        }
        Ended::Complete | Ended::Deep => {
            Attempt::Done(Verdict::Unknown(doubts.into_iter().map(Reason::Doubt).collect()))
        }
    };
    (step, statistics)
}
