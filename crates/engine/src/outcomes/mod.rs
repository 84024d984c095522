//! All final states of a program, as litmus tests ask for them.
//!
//! Two searches race, each with a growing budget, until one has seen everything: a
//! partial-order reduction that runs one execution of each class ([`dpor`]; quick where
//! threads touch many different variables) and the exploration of all states (quick where
//! many orders lead to the same few states). Every final state comes with an execution that
//! leads there, so that it can be checked.

mod bits;
mod dpor;
mod happening;

use crate::Run;
use crate::concrete::{Concrete, chosen_initially};
use crate::search::{Ended, Limits, Order, TransitionSystem, Weight, path, search};
use dpor::{Reduced, reduced};
use evidence::{FinalState, Outcomes, Reason, Statistics, Stop, Task};
use machine::{Doubt, Exact, State, StateRef, StateSet, Stepper};
use program::Question;
use std::collections::{BTreeMap, BTreeSet};

/// The first budget, in steps or states; each round has eight times the one before.
const FIRST_BUDGET: usize = 10_000;

/// All final states over what the question observes, and whether those are all.
pub fn outcomes(task: &Task<'_>, question: &Question, run: &Run<'_>) -> (Outcomes, Statistics) {
    let mut budget = FIRST_BUDGET;
    let mut suited = true;
    loop {
        if suited {
            match by_reduction(task, question, run, budget) {
                Attempt::Done(answer) => return answer,
                Attempt::TooMany => {}
                Attempt::Unsuited => suited = false,
            }
        }
        let budget_now = suited.then_some(budget);
        if let Attempt::Done(answer) = by_exploration(task, question, run, budget_now) {
            return answer;
        }
        budget = budget.saturating_mul(8);
    }
}

enum Attempt {
    Done((Outcomes, Statistics)),
    TooMany,
    Unsuited,
}

/// Final states by the values of what the question depends on, each with the execution that was
/// found first.
type Finals = BTreeMap<Vec<i64>, FinalState>;

/// What a final state is known by.
fn key(stepper: &Stepper<'_, Exact<'_>>, question: &Question, state: &State) -> Vec<i64> {
    question.places().iter().map(|place| stepper.place(state, place)).collect()
}

/// The observed values are the first of a key.
fn observed(question: &Question, key: &[i64]) -> Vec<i64> {
    key[..question.observed.len()].to_vec()
}

fn by_reduction(task: &Task<'_>, question: &Question, run: &Run<'_>, budget: usize) -> Attempt {
    let machine = Exact::new(task.program, task.model);
    let mut stepper = Stepper::new(&machine);
    let (mut finals, mut doubts) = (Finals::new(), BTreeSet::new());
    let ended =
        reduced(&mut stepper, budget, run.monitor, &mut doubts, &mut |stepper, first, last, steps| {
            finals.entry(key(stepper, question, last)).or_insert_with_key(|key| FinalState {
                values: observed(question, key),
                initial: chosen_initially(task.program, first),
                steps: steps.collect(),
            });
        });
    match ended {
        Reduced::Complete { steps } => Attempt::Done(answer(finals, doubts, None, steps, "reduction")),
        Reduced::Stopped(stop) => {
            Attempt::Done(answer(finals, doubts, Some(Reason::Stopped(stop)), 0, "reduction"))
        }
        Reduced::TooMany => Attempt::TooMany,
        Reduced::Unsuited => Attempt::Unsuited,
    }
}

fn by_exploration(task: &Task<'_>, question: &Question, run: &Run<'_>, budget: Option<usize>) -> Attempt {
    let machine = Exact::new(task.program, task.model);
    let mut system = Concrete::wandering(&machine);
    let limits = Limits {
        order: Order::Breadth,
        depth: None,
        states: budget,
        weight: Weight::LightFirst(run.max_buffer),
        monitor: run.monitor,
    };
    let found = search(&mut system, &limits);
    let stopped = match found.ended {
        Ended::Stopped(Stop::States) if budget.is_some() => return Attempt::TooMany,
        Ended::Stopped(stop) => Some(Reason::Stopped(stop)),
        Ended::Full => Some(Reason::Full),
        Ended::Heavy => Some(Reason::BuffersBeyond(found.bound)),
        _ => None,
    };
    let doubts = system.doubts.take();
    let states = found.states.len();
    let finals = finals_among(task, question, &mut system, &found.states);
    Attempt::Done(answer(finals, doubts, stopped, states, "exploration"))
}

/// The final states of a set of states, with paths to them.
fn finals_among(
    task: &Task<'_>,
    question: &Question,
    system: &mut Concrete<'_, '_>,
    states: &StateSet,
) -> Finals {
    let mut places: BTreeMap<Vec<i64>, StateRef> = BTreeMap::new();
    let mut state = State::default();
    for at in states.refs() {
        system.unpack(states.get(at), &mut state);
        if system.stepper.is_final(&state) {
            places.entry(key(&system.stepper, question, &state)).or_insert(at);
        }
    }
    let mut with_path = |(key, at): (Vec<i64>, StateRef)| {
        let (first, steps) = path(system, states, at);
        let initial = chosen_initially(task.program, &first);
        let values = observed(question, &key);
        (key, FinalState { values, initial, steps })
    };
    places.into_iter().map(&mut with_path).collect()
}

fn answer(
    finals: Finals,
    doubts: BTreeSet<Doubt>,
    stopped: Option<Reason>,
    states: usize,
    method: &'static str,
) -> (Outcomes, Statistics) {
    let missing = stopped.into_iter().chain(doubts.into_iter().map(Reason::Doubt)).collect();
    let outcomes = Outcomes { finals: finals.into_values().collect(), missing };
    (outcomes, Statistics { states, method: Some(method), ..Default::default() })
}
