//! Exact exploration [004, ch. 2.3]: all states of the exact machine, over concrete values.
//!
//! Buffers are unbounded, so states with short buffers are explored first, with bounds of 1, 2,
//! 4, … entries a queue (see [`crate::search`]). A violation is final wherever it is found. If
//! nothing is left to explore, the states found are *all* states: a closed set, and the program
//! is safe. Where only states beyond the largest bound are left, where a value left 64 bits or
//! a choice had too many values, the answer is unknown and says so.
//!
//! A search may be *reduced* ([`Reduction`]): fewer states cover all others, and the proof is
//! a closed set of those. By itself, a search is reduced once it has become large.
//!
//! Breadth first, the violation found is a nearest one if no state had to wait for a larger
//! bound and nothing was left out. Otherwise one more search, without bounds but within that distance, looks for a
//! nearer one; after a search depth first, a small one.

use crate::reduce::LeftOut;
use crate::search::{Ended, Limits, Order, Weight, search};
use crate::stepping::Stepping;
use crate::{Answer, Engine, Reduction, Run};
use evidence::{ClosedSet, Reason, Statistics, Stop, Task, Verdict};
use machine::{Buffered, DataDomain, OnDomain, Stepper, Trace};

/// Beyond this many states a search is large: all of them take a tenth of a second or so.
const LARGE: usize = 1 << 17;

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
        let none = LeftOut::new(task.program, Reduction::None);
        let (round, reducing) = match run.reduction {
            Reduction::Auto => {
                let small = plain(task, run, Some(Reach { depth: None, states: LARGE }));
                // Threads that go ahead fill their buffers sooner than others.
                let reduced = || reduced(task, run).filter(|(round, _)| !round.outgrows_buffers());
                match small.outcome {
                    ExplorationOutcome::Large => reduced().unwrap_or_else(|| (plain(task, run, None), none)),
                    _ => (small, none),
                }
            }
            _ => reduced(task, run).unwrap_or_else(|| (plain(task, run, None), none)),
        };
        let k = task.buffers().then_some(round.bound);
        let method = reducing.method();
        let statistics = Statistics { states: round.states, k, method, ..Default::default() };
        let verdict = match round.outcome {
            ExplorationOutcome::Violated(trace) if round.nearest => Verdict::Unsafe(trace),
            ExplorationOutcome::Violated(trace) => Verdict::Unsafe(shortest(task, run, trace, round.states)),
            ExplorationOutcome::Explored(set) if round.doubts.is_empty() => {
                Verdict::Safe(reducing.certificate(set))
            }
            ExplorationOutcome::Explored(_) => Verdict::Unknown(round.doubts),
            ExplorationOutcome::Stopped(reason) => {
                Verdict::Unknown(std::iter::once(reason).chain(round.doubts).collect())
            }
            ExplorationOutcome::Large => Verdict::Unknown(vec![Reason::Stopped(Stop::States)]),
        };
        Answer { verdict, statistics, engine: self.name() }
    }
}

/// A search that leaves out what it may; `None` where values that are names do not fit into 64 bits.
fn reduced(task: &Task<'_>, run: &Run<'_>) -> Option<(ExplorationRound, LeftOut)> {
    let reducing = LeftOut::new(task.program, run.reduction);
    let exploration = Exploration { run, reach: None, whole: reducing.is_none() };
    let round = reducing.on(&task.machine(), exploration)?;
    Some((round, reducing))
}

/// A search that leaves nothing out.
fn plain(task: &Task<'_>, run: &Run<'_>, reach: Option<Reach>) -> ExplorationRound {
    explored(Stepper::new(&task.machine()), Exploration { run, reach, whole: true })
}

enum ExplorationOutcome {
    Violated(Trace),
    Explored(ClosedSet),
    Stopped(Reason),
    /// There are more states than should be looked at.
    Large,
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

impl ExplorationRound {
    /// Whether only states with longer buffers were left.
    fn outgrows_buffers(&self) -> bool {
        matches!(self.outcome, ExplorationOutcome::Stopped(Reason::BuffersBeyond(_)))
    }
}

/// How far a search may go: steps and states. With a limit on steps it goes breadth first, and bounds on buffers
/// do not matter.
#[derive(Clone, Copy)]
struct Reach {
    depth: Option<usize>,
    states: usize,
}

struct Exploration<'a> {
    run: &'a Run<'a>,
    reach: Option<Reach>,
    /// Whether nothing is left out.
    whole: bool,
}

impl OnDomain for Exploration<'_> {
    type Done = ExplorationRound;

    fn run<'m, 'p: 'm>(self, domain: impl DataDomain<'m, Machine = Buffered<'p>>) -> ExplorationRound {
        explored(domain, self)
    }
}

fn explored<'m, 'p: 'm>(
    domain: impl DataDomain<'m, Machine = Buffered<'p>>,
    Exploration { run, reach, whole }: Exploration<'_>,
) -> ExplorationRound {
    let mut system = Stepping::hunting(domain);
    let depth = reach.and_then(|reach| reach.depth);
    let limits = Limits {
        order: if depth.is_some() { Order::Breadth } else { run.order },
        depth,
        states: reach.map(|reach| reach.states),
        weight: if depth.is_some() { Weight::Ignore } else { Weight::LightFirst(run.max_buffer) },
        monitor: run.monitor,
    };
    let found = search(&mut system, &limits);
    let states = found.states.len();
    let large = reach.is_some_and(|reach| states > reach.states);
    let outcome = match found.ended {
        Ended::Goal(at, violation) => {
            ExplorationOutcome::Violated(system.trace(&found.states, at, violation))
        }
        Ended::Complete | Ended::Deep => ExplorationOutcome::Explored(system.closed_set(found.states)),
        Ended::Heavy => ExplorationOutcome::Stopped(Reason::BuffersBeyond(found.bound)),
        Ended::Stopped(Stop::States) if large => ExplorationOutcome::Large,
        Ended::Stopped(stop) => ExplorationOutcome::Stopped(Reason::Stopped(stop)),
        Ended::Full => ExplorationOutcome::Stopped(Reason::Full),
    };
    let doubts = system.doubts.take().into_iter().map(Reason::Doubt).collect();
    let nearest = whole && limits.order == Order::Breadth && !found.postponed;
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
    let reach = Reach { depth: Some(depth), states };
    match plain(task, run, Some(reach)).outcome {
        ExplorationOutcome::Violated(shorter) => shorter,
        _ => trace,
    }
}
