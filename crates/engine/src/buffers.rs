//! Abstractions of store buffers for finite data [004, sec. 3.2]: sets, multisets, partial coherence.
//!
//! *set* knows which values are on their way to each variable and the newest one; *k* keeps the k oldest
//! stores of every queue in order before that set ([`machine::Pooled`]): finitely many states, explored
//! forwards. *multiset* also counts, but knows no order at all ([`machine::Backward::multisets`]): decided
//! backwards. Whatever the memory model does is possible in each, so what is not possible there is
//! proved. A run to a violation is tried on the exact machine.
//!
//! *auto* goes from one to the next [Algorithm 3.2]: multisets first; where their run is none of the
//! model, the least k whose machine cannot follow it either, and so on with the runs found there. Runs are
//! shortest ones and every one is followed by no later machine, so where there is a violation one is
//! found: with k beyond the length of a shortest violation, a shortest run forgets nothing.

use crate::complete::{BackwardEnding, go_back, seen};
use crate::search::{Ended, Limits, search};
use crate::stepping::{Stepping, broken_off};
use crate::{Answer, Engine, Run};
use evidence::{Certificate, PoolProof, Progress, Reason, Statistics, Stores, Task, Verdict};
use machine::{Backward, Machine, Pooled, State, Stepper, Trace, replay};

/// What is known of buffers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BufferAbstraction {
    /// The values on their way, and the newest.
    Set,
    /// How many stores of each value are on their way.
    Multiset,
    /// The oldest so many in order, and the values of the others.
    Oldest(usize),
    /// Multisets, then as many in order as needed.
    #[default]
    Auto,
}

/// The engine.
pub struct Buffers;

impl Engine for Buffers {
    fn name(&self) -> &'static str {
        "buffers"
    }

    fn about(&self) -> &'static str {
        "forgets the order of buffered stores: sets, multisets, or the oldest few in order; for finite data"
    }

    fn sees_buffers(&self, _: &Task<'_>) -> bool {
        false
    }

    fn answer(&self, task: &Task<'_>, run: &Run<'_>) -> Answer {
        let mut statistics = Statistics::default();
        let verdict = match run.buffers {
            BufferAbstraction::Set => in_order(task, run, 0, &mut statistics),
            BufferAbstraction::Oldest(k) => in_order(task, run, k, &mut statistics),
            BufferAbstraction::Multiset => decided(multisets(task, run, &mut statistics), None),
            BufferAbstraction::Auto => refined(task, run, &mut statistics),
        };
        Answer { verdict, statistics, engine: self.name() }
    }
}

/// What one abstraction found.
enum Found {
    Verdict(Verdict),
    /// A run of the abstraction that is none of the model.
    Spurious(Option<Trace>),
}

fn unknown(reason: Reason) -> Found {
    Found::Verdict(Verdict::Unknown(vec![reason]))
}

fn decided(found: Found, k: Option<usize>) -> Verdict {
    match found {
        Found::Verdict(verdict) => verdict,
        Found::Spurious(_) => Verdict::Unknown(vec![Reason::OrderMatters(k)]),
    }
}

/// With the k oldest stores in order.
fn in_order(task: &Task<'_>, run: &Run<'_>, k: usize, statistics: &mut Statistics) -> Verdict {
    match seen(run, |go_on| Pooled::new(task.program, task.model, k, go_on)) {
        Ok(machine) => decided(forwards(task, run, k, &machine, statistics), Some(k)),
        Err(reason) => Verdict::Unknown(vec![reason]),
    }
}

/// From multisets to ever longer queues in order.
fn refined(task: &Task<'_>, run: &Run<'_>, statistics: &mut Statistics) -> Verdict {
    let machine = match seen(run, |go_on| Pooled::new(task.program, task.model, 0, go_on)) {
        Ok(machine) => machine,
        Err(reason) => return Verdict::Unknown(vec![reason]),
    };
    let mut found = multisets(task, run, statistics);
    let mut next = 0;
    loop {
        let spurious = match found {
            Found::Verdict(verdict) => return verdict,
            Found::Spurious(spurious) => spurious,
        };
        let k = match spurious {
            Some(trace) => match finer(&machine, run, next, &trace) {
                Ok(k) => k,
                Err(reason) => return Verdict::Unknown(vec![reason]),
            },
            None => next,
        };
        if run.max_buffer.is_some_and(|most| k > most) {
            return Verdict::Unknown(vec![Reason::OrderMatters(k.checked_sub(1))]);
        }
        found = forwards(task, run, k, &machine.keeping(k), statistics);
        next = k + 1;
    }
}

/// Decides with multisets, backwards.
fn multisets(task: &Task<'_>, run: &Run<'_>, statistics: &mut Statistics) -> Found {
    // Where nothing is buffered there is nothing to forget.
    let stores = if task.model.buffers() { Stores::Counted } else { Stores::InOrder };
    let view = seen(run, |go_on| match stores {
        Stores::Counted => Backward::multisets(task.program, task.model, go_on),
        _ => Backward::new(task.program, task.model, go_on),
    });
    let view = match view {
        Ok(view) => view,
        Err(reason) => return unknown(reason),
    };
    statistics.method = Some("multiset");
    let (ending, elements) = go_back(view, stores, usize::MAX, run);
    statistics.states = elements;
    match ending {
        BackwardEnding::Proved(certificate) => Found::Verdict(Verdict::Safe(certificate)),
        BackwardEnding::Reached(trace) => match trace {
            Some(trace) if replay(task.program, task.model, &trace).is_ok() => {
                Found::Verdict(Verdict::Unsafe(trace))
            }
            trace => Found::Spurious(trace),
        },
        BackwardEnding::Open(reason) => unknown(reason),
        BackwardEnding::Large => unknown(Reason::Full),
    }
}

/// Explores the machine that keeps the k oldest stores in order.
fn forwards(
    task: &Task<'_>,
    run: &Run<'_>,
    k: usize,
    machine: &Pooled<'_>,
    statistics: &mut Statistics,
) -> Found {
    let mut system = Stepping::hunting(Stepper::new(machine));
    let found = search(&mut system, &Limits::none(run.monitor));
    *statistics = Statistics {
        states: found.states.len(),
        k: Some(k),
        method: Some(if k == 0 { "set" } else { "oldest in order" }),
        ..Statistics::default()
    };
    if let Some(reason) = broken_off(&found) {
        return unknown(reason);
    }
    let doubts = system.take_reasons();
    match found.ended {
        Ended::Goal(at, violation) => {
            let trace = system.trace(&found.states, at, violation);
            match replay(task.program, task.model, &trace) {
                Ok(_) => Found::Verdict(Verdict::Unsafe(trace)),
                Err(_) if !doubts.is_empty() => Found::Verdict(Verdict::Unknown(doubts)),
                Err(_) => Found::Spurious(Some(trace)),
            }
        }
        _ if doubts.is_empty() => {
            let set = system.closed_set(found.states);
            Found::Verdict(Verdict::Safe(Certificate::Pools(PoolProof { k, set })))
        }
        _ => Found::Verdict(Verdict::Unknown(doubts)),
    }
}

/// The least k from `from` on whose machine cannot follow a run.
fn finer(machine: &Pooled<'_>, run: &Run<'_>, from: usize, trace: &Trace) -> Result<usize, Reason> {
    let stores = trace.steps.iter().filter(|step| step.event.drain(machine.program()).is_some()).count();
    for k in from..=stores {
        let progress = Progress { phase: "refining", bound: Some(k), ..Progress::default() };
        run.monitor.observe(&progress).map_err(Reason::Stopped)?;
        if !follows(&machine.keeping(k), trace) {
            return Ok(k);
        }
    }
    // With room for all stores of the run, following it is taking it.
    Ok(stores.max(from))
}

/// Whether a machine can take the steps of a run. Steps may lead to several states.
fn follows(machine: &Pooled<'_>, trace: &Trace) -> bool {
    let mut stepper = Stepper::new(machine);
    let (initial, _) = stepper.initial();
    let mut states: Vec<State> = initial.collect();
    let mut next = State::default();
    for step in &trace.steps {
        let choice = step.choice.as_ref().and_then(|value| i64::try_from(value).ok());
        let mut after: Vec<State> = Vec::new();
        for state in &states {
            stepper.prepare(state);
            stepper.successors_of(
                step.event.thread(),
                state,
                &mut next,
                |_| {},
                |event, chosen, state| {
                    let same = event == step.event && (chosen.is_none() || chosen == choice);
                    if same && !after.contains(state) {
                        after.push(state.clone());
                    }
                },
            );
        }
        states = after;
    }
    !states.is_empty()
}
