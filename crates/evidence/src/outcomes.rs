//! Final states of litmus tests, and checking them.
//!
//! Every final state carries an execution that ends there. The checker runs each on the exact
//! machine with unbounded buffers and compares what it observes; so a state that is listed
//! *can* be observed. That no state is missing rests on the search (its reductions are
//! compared with the plain exploration of all states in tests).

use crate::{Reason, Rejected, Task};
use machine::{Event, Exact, State, Stepper};
use program::{Int, Place, Quantifier, Question, VarId};
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// A final state over what a question observes, with an execution that leads there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FinalState {
    /// The values of the observed places, in the question's order.
    pub values: Vec<i64>,
    /// What variables without a fixed initial value started with.
    pub initial: Vec<(VarId, Int)>,
    /// The steps, with the values chosen.
    pub steps: Vec<(Event, Option<i64>)>,
}

/// All final states that were found.
#[derive(Clone, Debug)]
pub struct Outcomes {
    /// The final states, sorted by value.
    pub finals: Vec<FinalState>,
    /// Why there may be more; empty if these are all.
    pub missing: Vec<Reason>,
}

/// Whether a proposition is true in the final states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observation {
    /// In none.
    Never,
    /// In some.
    Sometimes,
    /// In all (and there is one).
    Always,
}

/// Final states whose executions were checked, and the answer to the question.
#[derive(Debug)]
pub struct CheckedOutcomes {
    finals: Vec<Vec<i64>>,
    positive: usize,
    missing: Vec<Reason>,
    quantifier: Quantifier,
}

impl CheckedOutcomes {
    /// The values of the observed places in every final state that passes the filter, sorted.
    pub fn finals(&self) -> &[Vec<i64>] {
        &self.finals
    }

    /// In how many of them the proposition is true.
    pub fn positive(&self) -> usize {
        self.positive
    }

    /// Why there may be more; empty if these are all.
    pub fn missing(&self) -> &[Reason] {
        &self.missing
    }

    /// Whether the proposition is observed never, sometimes or always.
    pub fn observation(&self) -> Observation {
        match (self.positive, self.positive.cmp(&self.finals.len())) {
            (0, _) => Observation::Never,
            (_, Ordering::Less) => Observation::Sometimes,
            _ => Observation::Always,
        }
    }

    /// Whether the quantified condition holds; `None` if states that were not found could decide.
    pub fn holds(&self) -> Option<bool> {
        let complete = self.missing.is_empty();
        let negative = self.positive < self.finals.len();
        match self.quantifier {
            Quantifier::Exists if self.positive > 0 => Some(true),
            Quantifier::NotExists if self.positive > 0 => Some(false),
            Quantifier::ForAll if negative => Some(false),
            Quantifier::Exists => complete.then_some(false),
            Quantifier::NotExists | Quantifier::ForAll => complete.then_some(true),
        }
    }
}

/// Runs the execution of every final state and evaluates the question there.
pub fn check_outcomes(
    task: &Task<'_>,
    question: &Question,
    outcomes: &Outcomes,
) -> Result<CheckedOutcomes, Rejected> {
    let machine = Exact::new(task.program, task.model);
    let mut stepper = Stepper::new(&machine);
    let (initial, _) = stepper.initial();
    let mut finals: BTreeMap<Vec<i64>, bool> = BTreeMap::new();
    for (at, claim) in outcomes.finals.iter().enumerate() {
        let wrong = |step: usize| Rejected::Trace(machine::Rejected::Step(step));
        let memory = task.program.variables.len();
        let starts = |state: &State| {
            let begins = |(v, value): &(VarId, Int)| {
                v.index() < memory && Int::from(state.values[v.index()]) == *value
            };
            claim.initial.iter().all(begins)
        };
        let mut state = initial.clone().find(starts).ok_or(Rejected::InitialMissing)?;
        for (number, (event, choice)) in claim.steps.iter().enumerate() {
            stepper.prepare(&state);
            state = stepper.take(&state, *event, *choice).ok_or(wrong(number))?;
        }
        let place = |place: &Place| stepper.place(&state, place);
        if !stepper.is_final(&state)
            || !question.observed.iter().map(|(_, p)| place(p)).eq(claim.values.iter().copied())
        {
            return Err(Rejected::Malformed(at));
        }
        let value = |place: &Place| Int::from(stepper.place(&state, place));
        if question.filter.eval(&value) == Ok(true) {
            *finals.entry(claim.values.clone()).or_default() |= question.cond.eval(&value) == Ok(true);
        }
    }
    Ok(CheckedOutcomes {
        positive: finals.values().filter(|positive| **positive).count(),
        finals: finals.into_keys().collect(),
        missing: outcomes.missing.clone(),
        quantifier: question.quantifier,
    })
}
