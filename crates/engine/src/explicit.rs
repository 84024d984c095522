//! Exact exploration [004, ch. 2.3]: all states of the exact machine, over concrete values.
//!
//! Buffers are unbounded, so states with short buffers are explored first, with bounds of 1, 2,
//! 4, … entries a queue (see [`crate::search`]). A violation is final wherever it is found. If
//! nothing is left to explore, the states found are *all* states: a closed set, and the program
//! is safe. Where only states beyond the largest bound are left, where a value left 64 bits or
//! a choice had too many values, the answer is unknown and says so.
//!
//! Breadth first, the violation found is a nearest one if no state had to wait for a larger
//! bound. Otherwise one more search, without bounds but within that distance, looks for a
//! nearer one; after a search depth first, a small one.

use crate::search::{Ended, Limits, Order, Weight, search};
use crate::stepping::Stepping;
use crate::{Answer, Engine, Run};
use evidence::{Certificate, ClosedSet, Listed, Reason, Statistics, Task, Verdict};
use machine::{Stepper, Trace};

/// The engine.
pub struct Explicit;

impl Engine for Explicit {
    fn name(&self) -> &'static str {
        "explicit"
    }

    fn about(&self) -> &'static str {
        "explores every state of the exact machine; decides programs with finitely many"
    }

    fn verify(&self, task: &Task<'_>, run: &Run<'_>) -> Answer {
        let round = explore(task, run, None);
        let k = task.buffers().then_some(round.bound);
        let statistics = Statistics { states: round.states, k, ..Default::default() };
        let verdict = match round.outcome {
            ExplorationOutcome::Violated(trace) if round.nearest => Verdict::Unsafe(trace),
            ExplorationOutcome::Violated(trace) => Verdict::Unsafe(shortest(task, run, trace, round.states)),
            ExplorationOutcome::Explored(set) if round.doubts.is_empty() => {
                Verdict::Safe(Certificate::Listed(Listed { gaps: None, set }))
            }
            ExplorationOutcome::Explored(_) => Verdict::Unknown(round.doubts),
            ExplorationOutcome::Stopped(reason) => {
                Verdict::Unknown(std::iter::once(reason).chain(round.doubts).collect())
            }
        };
        Answer { verdict, statistics, engine: self.name() }
    }
}

enum ExplorationOutcome {
    Violated(Trace),
    Explored(ClosedSet),
    Stopped(Reason),
}

struct ExplorationRound {
    outcome: ExplorationOutcome,
    states: usize,
    bound: usize,
    /// Whether a violation is known to be a nearest one.
    nearest: bool,
    /// What was not explored.
    doubts: Vec<Reason>,
}

/// How far a search without bounds on buffers may go: steps and states.
struct Reach {
    depth: usize,
    states: usize,
}

fn explore(task: &Task<'_>, run: &Run<'_>, reach: Option<Reach>) -> ExplorationRound {
    let machine = task.machine();
    let mut system = Stepping::hunting(Stepper::new(&machine));
    let limits = match &reach {
        None => Limits {
            order: run.order,
            depth: None,
            states: None,
            weight: Weight::LightFirst(run.max_buffer),
            monitor: run.monitor,
        },
        Some(reach) => Limits {
            order: Order::Breadth,
            depth: Some(reach.depth),
            states: Some(reach.states),
            weight: Weight::Ignore,
            monitor: run.monitor,
        },
    };
    let found = search(&mut system, &limits);
    let states = found.states.len();
    let outcome = match found.ended {
        Ended::Goal(at, violation) => {
            ExplorationOutcome::Violated(system.trace(&found.states, at, violation))
        }
        Ended::Complete | Ended::Deep => ExplorationOutcome::Explored(system.closed_set(found.states)),
        Ended::Heavy => ExplorationOutcome::Stopped(Reason::BuffersBeyond(found.bound)),
        Ended::Stopped(stop) => ExplorationOutcome::Stopped(Reason::Stopped(stop)),
        Ended::Full => ExplorationOutcome::Stopped(Reason::Full),
    };
    let doubts = system.doubts.take().into_iter().map(Reason::Doubt).collect();
    let nearest = limits.order == Order::Breadth && !found.postponed;
    ExplorationRound { outcome, states, bound: found.bound, nearest, doubts }
}

/// A violation with fewer steps, if longer buffers allow one.
fn shortest(task: &Task<'_>, run: &Run<'_>, trace: Trace, states: usize) -> Trace {
    let Some(depth) = trace.steps.len().checked_sub(1) else { return trace };
    let states = match run.order {
        Order::Breadth => states.saturating_mul(4).max(100_000),
        // Who searches depth first expects far violations.
        Order::Depth => 20_000,
    };
    let reach = Reach { depth, states };
    match explore(task, run, Some(reach)).outcome {
        ExplorationOutcome::Violated(shorter) => shorter,
        _ => trace,
    }
}
