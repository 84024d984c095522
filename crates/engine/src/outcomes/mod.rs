//! All final states of a program, as litmus tests ask for them.
//!
//! One search, over states: where a few agents are enough to see every end, only their steps are
//! taken ([`machine::Persistent`]), so that threads which touch different variables do not
//! multiply, and orders that lead to the same state are followed once. A search that ends leaves
//! the set of its states, which proves that nothing is missing; one that is cut short leaves the
//! final states found so far, each with an execution that leads there.

mod reducing;

use crate::search::{Limits, TransitionSystem, Weight, path, search};
use crate::stepping::{broken_off, chosen_initially};
use crate::{Answer, Engine, Run};
use evidence::{FinalState, Outcomes, Reason, ReducedSet, Statistics, Task, Verdict};
use machine::{State, StateRef, StateSet, WithBuffers};
use program::Question;
use reducing::Reducing;
use std::collections::BTreeMap;

/// Finds all final states over what the program's question observes, with a proof that those are all.
pub struct FinalStates;

impl Engine for FinalStates {
    fn name(&self) -> &'static str {
        "outcomes"
    }

    fn about(&self) -> &'static str {
        "lists the final states of a litmus test, and nothing else"
    }

    fn answer(&self, task: &Task<'_>, run: &Run<'_>) -> Answer {
        let answer = |verdict, statistics| Answer { verdict, statistics, engine: self.name() };
        let Some(question) = &task.program.question else {
            return answer(Verdict::Unknown(Vec::new()), Statistics::default());
        };
        let (outcomes, statistics) = outcomes(task, question, run);
        answer(Verdict::FinalStates(outcomes), statistics)
    }
}

fn outcomes(task: &Task<'_>, question: &Question, run: &Run<'_>) -> (Outcomes, Statistics) {
    let machine = task.machine();
    let mut system = Reducing::new(&machine, task.model);
    let (weight, method) = match system.reduces() {
        true => (Weight::Ignore, "reduction"),
        false => (Weight::LightFirst(run.max_buffer), "exploration"),
    };
    let found = search(&mut system, &Limits { weight, ..Limits::none(run.monitor) });
    let statistics = Statistics { states: found.states.len(), method: Some(method), ..Default::default() };
    let missing: Vec<Reason> = broken_off(&found).into_iter().chain(system.stepping.take_reasons()).collect();
    let outcomes = if missing.is_empty() {
        let set = system.stepping.closed_set(found.states);
        Outcomes::All(ReducedSet { set, first: system.sets() })
    } else {
        Outcomes::Some { finals: finals_among(task, question, &mut system, &found.states), missing }
    };
    (outcomes, statistics)
}

/// The final states of a set of states, with paths to them.
fn finals_among<M: WithBuffers>(
    task: &Task<'_>,
    question: &Question,
    system: &mut Reducing<'_, M>,
    states: &StateSet,
) -> Vec<FinalState> {
    let observed = question.places();
    let mut places: BTreeMap<Vec<i64>, StateRef> = BTreeMap::new();
    let mut state = State::default();
    for at in states.refs() {
        system.unpack(states.get(at), &mut state);
        let stepper = &system.stepping.domain;
        if stepper.is_final(&state) {
            let values = observed.iter().map(|place| stepper.place(&state, place)).collect();
            places.entry(values).or_insert(at);
        }
    }
    let mut with_path = |(mut values, at): (Vec<i64>, StateRef)| {
        let (first, steps) = path(system, states, at);
        values.truncate(question.observed.len());
        FinalState { values, initial: chosen_initially(task.program, &first), steps }
    };
    places.into_iter().map(&mut with_path).collect()
}
