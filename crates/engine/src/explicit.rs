//! Exact exploration [004, ch. 2.3]: all states of the exact machine, over concrete values.
//!
//! Buffers are unbounded, so the machine is explored with a cap of 1, 2, 4, … entries a queue.
//! A violation is final at any cap. If everything was explored and the cap never stopped a
//! store, the states found are *all* states: a closed set, and the program is safe. Where the
//! cap was reached, the next one is tried; where a value left 64 bits or a choice had too
//! many values, the answer is unknown and says so.
//!
//! Breadth first, the violation found is a nearest one *within the cap*. A nearer one may need
//! longer buffers; one more search without a cap but within that distance looks for it.

use crate::concrete::{Concrete, chosen_initially};
use crate::search::{Ended, Limits, Order, path, search};
use crate::{Answer, Engine, Run};
use evidence::{Certificate, ClosedSet, Reason, Statistics, Task, Verdict};
use machine::{Doubt, Event, Exact, StateRef, StateSet, Trace, TraceStep, Violation};
use program::Program;
use std::collections::BTreeSet;

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
        let mut cap = 1;
        loop {
            let cap_now = if buffers(task) { Some(cap) } else { None };
            let round = explore(task, run, cap_now, None);
            let statistics = Statistics { states: round.states, k: cap_now, method: None };
            let next = cap.saturating_mul(2);
            match round.outcome {
                Outcome::Violated(trace) => {
                    let trace = shortest(task, run, trace, round.capped, round.states);
                    return Answer { verdict: Verdict::Unsafe(trace), statistics };
                }
                Outcome::Explored(set) if !round.capped && round.doubts.is_empty() => {
                    return Answer { verdict: Verdict::Safe(Certificate::Closed(set)), statistics };
                }
                Outcome::Explored(_) if round.capped && run.max_buffer.is_none_or(|most| next <= most) => {
                    cap = next;
                }
                outcome => {
                    return Answer {
                        verdict: Verdict::Unknown(reasons(outcome, &round.doubts, cap)),
                        statistics,
                    };
                }
            }
        }
    }
}

/// Whether stores are buffered at all under the model.
pub(crate) fn buffers(task: &Task<'_>) -> bool {
    task.program.variable_ids().any(|variable| task.model.place(&[], variable).is_some())
}

fn reasons(outcome: Outcome, doubts: &BTreeSet<Doubt>, cap: usize) -> Vec<Reason> {
    let mut reasons = Vec::new();
    match outcome {
        Outcome::Stopped(reason) => reasons.push(reason),
        _ if doubts.is_empty() => reasons.push(Reason::BuffersBeyond(cap)),
        _ => {}
    }
    reasons.extend(doubts.iter().copied().map(Reason::Doubt));
    reasons
}

enum Outcome {
    Violated(Trace),
    Explored(ClosedSet),
    Stopped(Reason),
}

struct Round {
    outcome: Outcome,
    states: usize,
    /// Whether the cap kept a store from happening.
    capped: bool,
    /// What else was not explored.
    doubts: BTreeSet<Doubt>,
}

/// How far a search without a cap may go: steps and states.
struct Reach {
    depth: usize,
    states: usize,
}

fn explore(task: &Task<'_>, run: &Run<'_>, cap: Option<usize>, reach: Option<Reach>) -> Round {
    let exact = Exact::new(task.program, task.model);
    let machine = match cap {
        Some(cap) => exact.capped(cap),
        None => exact,
    };
    let mut system = Concrete::hunting(&machine);
    let limits = Limits {
        order: if reach.is_some() { Order::Breadth } else { run.order },
        depth: reach.as_ref().map(|reach| reach.depth),
        states: reach.as_ref().map(|reach| reach.states),
        monitor: run.monitor,
        phase: "exploring",
        bound: cap,
    };
    let found = search(&mut system, &limits);
    let states = found.states.len();
    let outcome = match found.ended {
        Ended::Goal(at, violation) => {
            Outcome::Violated(trace(task.program, &mut system, &found.states, at, violation))
        }
        Ended::Complete | Ended::Deep => Outcome::Explored(system.closed(found.states)),
        Ended::Stopped(stop) => Outcome::Stopped(Reason::Stopped(stop)),
        Ended::Full => Outcome::Stopped(Reason::Full),
    };
    let mut doubts = system.doubts.take();
    let capped = doubts.remove(&Doubt::Bound);
    Round { outcome, states, capped, doubts }
}

/// A violation with fewer steps, if longer buffers allow one.
fn shortest(task: &Task<'_>, run: &Run<'_>, trace: Trace, capped: bool, states: usize) -> Trace {
    if !capped || run.order == Order::Depth || trace.steps.is_empty() {
        return trace;
    }
    let reach = Reach { depth: trace.steps.len() - 1, states: states.saturating_mul(4).max(100_000) };
    match explore(task, run, None, Some(reach)).outcome {
        Outcome::Violated(shorter) => shorter,
        _ => trace,
    }
}

fn trace(
    program: &Program,
    system: &mut Concrete<'_, '_>,
    states: &StateSet,
    goal: StateRef,
    violation: Violation,
) -> Trace {
    let (first, labels) = path(system, states, goal);
    let step = |(event, choice): (Event, Option<i64>)| TraceStep::of(program, event, choice);
    Trace {
        initial: chosen_initially(program, &first),
        steps: labels.into_iter().map(step).collect(),
        violation,
    }
}
