//! Proofs for unbounded integers by order and small gaps.
//!
//! Explores the normal forms of the gap abstraction ([`machine::Gaps`]): finitely many for each
//! shape of control, however large the numbers grow. Tickets, sequence numbers and positions
//! are compared, copied and counted up, and what matters is their order and how far neighbours
//! are apart. If no normal form violates anything, the set of those reached is a proof. If one
//! does, the run to it is tried on the exact machine: either it is a violation, or the
//! precision was too small, and the next one is tried: 1, 2, 4, ….

use crate::concrete::{chosen_initially, closed_set};
use crate::search::{Ended, Limits, TransitionSystem, Weight, path, search};
use crate::{Answer, Engine, Run};
use evidence::{Certificate, Reason, Statistics, Task, Verdict};
use machine::{
    Doubt, Event, Exact, GapStepper, State, StateRef, StateSet, Trace, TraceStep, Violation, replay,
};
use std::cell::RefCell;
use std::collections::BTreeSet;

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
                Step::Done(verdict) => return Answer { verdict, statistics, engine: self.name() },
                Step::Spurious if precision >= MOST_PRECISE => {
                    let verdict = Verdict::Unknown(vec![Reason::Imprecise(precision)]);
                    return Answer { verdict, statistics, engine: self.name() };
                }
                Step::Spurious => precision *= 2,
            }
        }
    }
}

enum Step {
    Done(Verdict),
    /// A violation of the abstraction that is none of the program.
    Spurious,
}

fn round(task: &Task<'_>, run: &Run<'_>, precision: i64) -> (Step, Statistics) {
    let machine = Exact::new(task.program, task.model);
    let unknown = |reason| Step::Done(Verdict::Unknown(vec![reason]));
    let steps = match GapStepper::new(&machine, precision) {
        Ok(steps) => steps,
        Err(unsupported) => return (unknown(Reason::Unsupported(unsupported.span)), Statistics::default()),
    };
    let mut system = Normal { steps, initial: Vec::new(), doubts: RefCell::default() };
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
        Ended::Goal(at, violation) => match realise(task, &mut system, &found.states, at, violation) {
            Some(trace) => Step::Done(Verdict::Unsafe(trace)),
            None if doubts.is_empty() => Step::Spurious,
            None => Step::Done(Verdict::Unknown(doubts.into_iter().map(Reason::Doubt).collect())),
        },
        Ended::Stopped(stop) => unknown(Reason::Stopped(stop)),
        Ended::Full => unknown(Reason::Full),
        Ended::Heavy => unknown(Reason::BuffersBeyond(found.bound)),
        Ended::Complete | Ended::Deep if doubts.is_empty() => {
            let set = closed_set(&system.steps.stepper, found.states);
            Step::Done(Verdict::Safe(Certificate::Gaps(system.steps.gaps(), set)))
        }
        Ended::Complete | Ended::Deep => {
            Step::Done(Verdict::Unknown(doubts.into_iter().map(Reason::Doubt).collect()))
        }
    };
    (step, statistics)
}

/// The run to a violating normal form, if the exact machine can take it.
fn realise(
    task: &Task<'_>,
    system: &mut Normal<'_, '_>,
    states: &StateSet,
    goal: StateRef,
    violation: Violation,
) -> Option<Trace> {
    let (first, labels) = path(system, states, goal);
    let step = |(event, choice): (Event, Option<i64>)| TraceStep::of(task.program, event, choice);
    let trace = Trace {
        initial: chosen_initially(task.program, &first),
        steps: labels.into_iter().map(step).collect(),
        violation,
    };
    replay(task.program, task.model, &trace).ok()?;
    Some(trace)
}

/// Normal forms, as something to walk.
struct Normal<'m, 'p> {
    steps: GapStepper<'m, 'p>,
    initial: Vec<State>,
    doubts: RefCell<BTreeSet<Doubt>>,
}

impl TransitionSystem for Normal<'_, '_> {
    type State = State;
    type Label = (Event, Option<i64>);
    type Goal = Violation;

    /// Normal forms are worked out anew after every step.
    const WORK: usize = 6;

    fn begin(&mut self) {
        let (states, doubts) = self.steps.initial();
        self.doubts.borrow_mut().extend(doubts);
        self.initial = states;
    }

    fn initial(&self) -> Box<dyn Iterator<Item = State> + '_> {
        Box::new(self.initial.iter().cloned())
    }

    fn prepare(&mut self, state: &State) {
        self.steps.prepare(state);
    }

    fn successors(&self, state: &State, _: &mut State, mut visit: impl FnMut(Self::Label, &State)) {
        let doubt = |doubt| {
            self.doubts.borrow_mut().insert(doubt);
        };
        self.steps.successors(state, doubt, |event, choice, next| visit((event, choice), next));
    }

    fn weight(&self, state: &State) -> usize {
        self.steps.stepper.longest_queue(state)
    }

    fn goal(&self, state: &State) -> Option<Violation> {
        self.steps.violation(state).unwrap_or_else(|doubt| {
            self.doubts.borrow_mut().insert(doubt);
            None
        })
    }

    fn bytes(&self) -> usize {
        self.steps.stepper.bytes()
    }

    fn pack(&self, state: &State, out: &mut Vec<u8>) {
        state.pack(out);
    }

    fn unpack(&self, bytes: &[u8], state: &mut State) {
        let read = state.unpack(self.steps.stepper.thread_count(), bytes);
        debug_assert!(read.is_some(), "the set holds what pack wrote");
    }
}
