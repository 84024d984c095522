//! Proofs for unbounded integers by order and small gaps.
//!
//! Explores the normal forms of the gap abstraction ([`machine::Gaps`]): finitely many for each
//! shape of control, however large the numbers grow. Tickets, sequence numbers and positions
//! are compared, copied and counted up, and what matters is their order and how far neighbours
//! are apart. If no normal form violates anything, the set of those reached is a proof. If one
//! does, the run to it is tried on the exact machine: either it is a violation, or the
//! precision was too small, and the next one is tried: 1, 2, 4, …. Where there are many normal forms and threads
//! are interchangeable, one of all that differ in the names of threads is explored.

use crate::reduce::renamings;
use crate::search::{Ended, Limits, Weight, search};
use crate::stepping::Stepping;
use crate::{Answer, Engine, Reduction, Run};
use evidence::{Certificate, Listed, Reason, ReducedProof, Statistics, Stop, Task, Verdict};
use machine::{Buffered, DataDomain, GapStepper, Gaps, Rules, Symmetric, Unsupported, replay};
use program::Renaming;

/// Precisions beyond this are not tried.
const MOST_PRECISE: i64 = 32;

/// Beyond this many normal forms a search is large.
const LARGE: usize = 1 << 15;

/// The engine.
pub struct GapProofs;

impl Engine for GapProofs {
    fn name(&self) -> &'static str {
        "gaps"
    }

    fn about(&self) -> &'static str {
        "proves programs over unbounded integers by the order of values and small gaps between them"
    }

    fn answer(&self, task: &Task<'_>, run: &Run<'_>) -> Answer {
        let renamings = renamings(task.program, run.reduction);
        let mut precision = 1;
        let mut states = 0;
        loop {
            let (step, statistics) = round(task, run, precision, &renamings);
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

fn round(task: &Task<'_>, run: &Run<'_>, precision: i64, renamings: &[Renaming]) -> (Attempt, Statistics) {
    let machine = task.machine();
    let steps = match GapStepper::new(&machine, precision) {
        Ok(steps) => steps,
        Err(Unsupported { span }) => {
            let unknown = Verdict::Unknown(vec![Reason::Unsupported(span)]);
            return (Attempt::Done(unknown), Statistics::default());
        }
    };
    let gaps = steps.gaps();
    let plain = Forms { task, run, gaps, renamings: &[], most: None };
    let first = match (renamings.is_empty(), run.reduction) {
        (true, _) => explored(steps, &plain),
        (false, Reduction::Auto) => explored(steps, &Forms { most: Some(LARGE), ..plain }),
        (false, _) => None,
    };
    let reduced = || {
        let symmetric = Symmetric::new(GapStepper::with(&machine, gaps)?, renamings)?;
        explored(symmetric, &Forms { renamings, ..plain })
    };
    let plainly = || explored(GapStepper::with(&machine, gaps)?, &plain);
    // Without a limit, the last of them always ends with something.
    first.or_else(reduced).or_else(plainly).unwrap_or((Attempt::Spurious, Statistics::default()))
}

/// Which normal forms to explore.
#[derive(Clone, Copy)]
struct Forms<'a> {
    task: &'a Task<'a>,
    run: &'a Run<'a>,
    gaps: Gaps,
    /// Of those that differ in these names, one is explored.
    renamings: &'a [Renaming],
    /// No more than this.
    most: Option<usize>,
}

/// Explores normal forms; `None` if there are more than there should be.
fn explored<'m, 'p: 'm>(
    domain: impl DataDomain<'m, Machine = Buffered<'p>>,
    forms: &Forms<'_>,
) -> Option<(Attempt, Statistics)> {
    let Forms { task, run, gaps, renamings, most } = *forms;
    let mut system = Stepping::hunting(domain);
    let limits = Limits {
        order: run.order,
        depth: None,
        states: most,
        weight: Weight::LightFirst(run.max_buffer),
        monitor: run.monitor,
    };
    let found = search(&mut system, &limits);
    let method = (!renamings.is_empty()).then(|| Reduction::Symmetry.name());
    let statistics =
        Statistics { states: found.states.len(), k: Some(found.bound), method, ..Default::default() };
    let unknown = |reason| Attempt::Done(Verdict::Unknown(vec![reason]));
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
        Ended::Stopped(Stop::States) if most.is_some_and(|most| found.states.len() > most) => return None,
        Ended::Stopped(stop) => unknown(Reason::Stopped(stop)),
        Ended::Full => unknown(Reason::Full),
        Ended::Heavy => unknown(Reason::BuffersBeyond(found.bound)),
        Ended::Complete | Ended::Deep if doubts.is_empty() => {
            let set = system.closed_set(found.states);
            let certificate = match renamings {
                [] => Certificate::Listed(Listed { gaps: Some(gaps), set }),
                names => Certificate::Reduced(ReducedProof {
                    gaps: Some(gaps),
                    rules: Rules::default(),
                    renamings: names.to_vec(),
                    set,
                }),
            };
            Attempt::Done(Verdict::Safe(certificate))
        }
        Ended::Complete | Ended::Deep => {
            Attempt::Done(Verdict::Unknown(doubts.into_iter().map(Reason::Doubt).collect()))
        }
    };
    Some((step, statistics))
}
