//! Final states of litmus tests, and checking them.
//!
//! That a list of final states is complete is proved by a set of states that is closed under the
//! steps that final states need: of everybody, or, in some controls, of a few agents. Which agents
//! are enough is said in [`machine::Persistent`]; the checker asks it about every control that the
//! proof names. Then it walks, from the initial states, by the steps that are left, and may not
//! leave the set. What is final on its way can be observed, and nothing else can.
//!
//! A search that was cut short proves nothing about what it did not see. Its final states carry an
//! execution each, which the checker runs on the exact machine with unbounded buffers.

use crate::obligations::packed_into;
use crate::{ClosedSet, Controls, Monitor, Progress, Reason, Rejected, Task};
use machine::{Agents, Event, Full, Local, Persistent, State, StateSet, Stepper, WithBuffers};
use program::{Int, Place, Quantifier, Question, VarId};
use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};

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

/// The states that runs to a final state need pass.
#[derive(Debug)]
pub struct ReducedSet {
    /// The states.
    pub set: ClosedSet,
    /// Whose steps are enough where threads are in these controls, by number; elsewhere
    /// everybody's count.
    pub first: Vec<(Vec<u32>, Agents)>,
}

/// The final states of a program.
#[derive(Debug)]
pub enum Outcomes {
    /// All of them: those of this set.
    All(ReducedSet),
    /// Some.
    Some {
        /// The final states, sorted by value.
        finals: Vec<FinalState>,
        /// Why there may be more.
        missing: Vec<Reason>,
    },
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

/// Final states that were checked, and the answer to the question. Only [`crate::check`] makes one.
#[derive(Debug)]
pub struct CheckedOutcomes {
    finals: Vec<Vec<i64>>,
    positive: usize,
    missing: Vec<Reason>,
    quantifier: Quantifier,
    states: usize,
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

    /// How many states prove that these are all.
    pub fn states(&self) -> usize {
        self.states
    }

    /// Why there may be more; empty if these are all, which was checked.
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

/// Checks final states, and that there are no others if that is claimed, and answers the program's
/// question. Stopped while checking, nothing is known.
pub(crate) fn check_outcomes(
    task: &Task<'_>,
    outcomes: &Outcomes,
    monitor: &dyn Monitor,
) -> Result<CheckedOutcomes, Rejected> {
    let question = task.program.question.as_ref().ok_or(Rejected::FinalStates)?;
    let mut found = FoundFinals { question, finals: BTreeMap::new() };
    let mut states = 0;
    let missing = match outcomes {
        Outcomes::Some { finals, missing } => {
            found.run_all(task, finals)?;
            missing.clone()
        }
        Outcomes::All(proof) => match found.walk(task, proof, monitor) {
            Ok(reached) => {
                states = reached;
                Vec::new()
            }
            Err(Rejected::Stopped(stop)) => {
                found.finals.clear();
                vec![Reason::Stopped(stop)]
            }
            Err(why) => return Err(why),
        },
    };
    let finals = found.finals;
    Ok(CheckedOutcomes {
        positive: finals.values().filter(|positive| **positive).count(),
        finals: finals.into_keys().collect(),
        missing,
        quantifier: question.quantifier,
        states,
    })
}

/// The values of the observed places in every final state of a set that passes the filter, sorted:
/// what a file claims.
pub(crate) fn finals_of(task: &Task<'_>, set: &ClosedSet) -> Result<Vec<Vec<i64>>, Rejected> {
    let question = task.program.question.as_ref().ok_or(Rejected::FinalStates)?;
    let machine = task.machine();
    let mut stepper = Stepper::new(&machine);
    set.controls.number(&mut stepper)?;
    let mut found = FoundFinals { question, finals: BTreeMap::new() };
    let mut state = State::default();
    for (at, packed) in set.states.iter().enumerate() {
        state.unpack(stepper.thread_count(), packed).ok_or(Rejected::Malformed(at))?;
        if stepper.is_final(&state) {
            found.note(&stepper, &state);
        }
    }
    Ok(found.finals.into_keys().collect())
}

/// Final states that pass the filter, with whether the proposition is true there.
struct FoundFinals<'q> {
    question: &'q Question,
    finals: BTreeMap<Vec<i64>, bool>,
}

impl FoundFinals<'_> {
    /// Takes note of a final state.
    fn note<M: WithBuffers>(&mut self, stepper: &Stepper<'_, M>, state: &State) {
        let value = |place: &Place| Int::from(stepper.place(state, place));
        if self.question.filter.eval(&value) == Ok(true) {
            let observed = self.question.observed.iter();
            let values = observed.map(|(_, place)| stepper.place(state, place)).collect();
            *self.finals.entry(values).or_default() |= self.question.cond.eval(&value) == Ok(true);
        }
    }

    /// Walks through a set that claims to hold all that final states need; how many states it has.
    fn walk(
        &mut self,
        task: &Task<'_>,
        proof: &ReducedSet,
        monitor: &dyn Monitor,
    ) -> Result<usize, Rejected> {
        let machine = task.machine();
        let mut walk = OutcomeWalk::begin(&machine, task, proof)?;
        let (mut state, mut next) = (State::default(), State::default());
        let (mut at, mut count) = (walk.reached.first(), 0);
        while let Some(current) = at {
            if count % 4096 == 0 {
                let bytes = walk.reached.bytes() + proof.set.states.bytes() + walk.stepper.bytes();
                let progress = Progress { phase: "checking", states: count, bytes, ..Default::default() };
                monitor.observe(&progress).map_err(Rejected::Stopped)?;
            }
            let threads = walk.stepper.thread_count();
            state.unpack(threads, walk.reached.get(current)).ok_or(Rejected::Malformed(count))?;
            walk.stepper.prepare(&state);
            if walk.stepper.is_final(&state) {
                self.note(&walk.stepper, &state);
            }
            walk.go_on(count, &state, &mut next)?;
            count += 1;
            at = walk.reached.next(current);
        }
        walk.met_all(count).map(|()| count)
    }

    /// Runs the execution of every final state.
    fn run_all(&mut self, task: &Task<'_>, finals: &[FinalState]) -> Result<(), Rejected> {
        let machine = task.machine();
        let mut stepper = Stepper::new(&machine);
        let (initial, _) = stepper.initial();
        for (at, claim) in finals.iter().enumerate() {
            let wrong = |step: usize| Rejected::Trace(machine::TraceRejected::Step(step));
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
            let observed = self.question.observed.iter().map(|(_, place)| stepper.place(&state, place));
            if !stepper.is_final(&state) || !observed.eq(claim.values.iter().copied()) {
                return Err(Rejected::Malformed(at));
            }
            self.note(&stepper, &state);
        }
        Ok(())
    }
}

/// A walk through the states of a proof.
struct OutcomeWalk<'a, 'm, M: WithBuffers> {
    proof: &'a ReducedSet,
    stepper: Stepper<'m, M>,
    first: HashMap<&'a [u32], Agents>,
    reached: StateSet,
    packed: Vec<u8>,
}

impl<'a, 'm, M: WithBuffers> OutcomeWalk<'a, 'm, M> {
    /// At the initial states.
    fn begin(machine: &'m M, task: &Task<'_>, proof: &'a ReducedSet) -> Result<Self, Rejected> {
        let mut stepper = Stepper::new(machine);
        proof.set.controls.number(&mut stepper)?;
        let (initial, doubts) = stepper.initial();
        if let Some(doubt) = doubts.first() {
            return Err(Rejected::Doubt(0, *doubt));
        }
        let first = enough(task, proof)?;
        let mut reached = StateSet::new();
        let mut packed = Vec::new();
        for state in initial {
            reach(&mut reached, proof, &state, &mut packed, Rejected::InitialMissing)?;
        }
        Ok(OutcomeWalk { proof, stepper, first, reached, packed })
    }

    /// Takes all steps that count from a prepared state, the one with this number.
    fn go_on(&mut self, at: usize, state: &State, next: &mut State) -> Result<(), Rejected> {
        let agents = self.first.get(&state.locals[..]).copied().unwrap_or(Agents::ALL);
        let (mut doubted, mut inside) = (Ok(()), Ok(()));
        let (reached, packed) = (&mut self.reached, &mut self.packed);
        let doubt = |doubt| doubted = Err(Rejected::Doubt(at, doubt));
        agents.successors(&self.stepper, state, next, doubt, |_, _, next| {
            let found = reach(reached, self.proof, next, packed, Rejected::SuccessorMissing(at));
            if found.is_err() {
                inside = found;
            }
        });
        doubted.and(inside)
    }

    /// Whether the dictionary names all that was met, and all states, so many, were reached.
    fn met_all(&self, count: usize) -> Result<(), Rejected> {
        let ClosedSet { controls: Controls { globals, locals }, states } = &self.proof.set;
        let threads = self.stepper.machine().program().thread_ids();
        let met = threads.map(|thread| self.stepper.locals(thread).len());
        if self.stepper.globals().len() > globals.len() || !met.eq(locals.iter().map(Vec::len)) {
            return Err(Rejected::Dictionary);
        }
        if count == states.len() { Ok(()) } else { Err(Rejected::Unreached) }
    }
}

/// Takes note of a state, which must be one of the proof's. `packed` is working memory.
fn reach(
    reached: &mut StateSet,
    proof: &ReducedSet,
    state: &State,
    packed: &mut Vec<u8>,
    otherwise: Rejected,
) -> Result<(), Rejected> {
    let packed = packed_into(packed, state);
    match reached.insert(packed, None) {
        Ok((_, true)) if !proof.set.states.contains(packed) => Err(otherwise),
        Ok(_) => Ok(()),
        Err(Full) => Err(Rejected::TooLarge),
    }
}

/// The agents that a proof names, by control, if they are enough.
fn enough<'a>(task: &Task<'_>, proof: &'a ReducedSet) -> Result<HashMap<&'a [u32], Agents>, Rejected> {
    let persistent = Persistent::new(task.program, task.model);
    let mut first = HashMap::new();
    for (at, (controls, agents)) in proof.first.iter().enumerate() {
        let numbered = controls.iter().zip(&proof.set.controls.locals);
        let locals: Option<Vec<&Local>> = numbered.map(|(id, all)| all.get(*id as usize)).collect();
        let named = locals.filter(|locals| locals.len() == proof.set.controls.locals.len());
        let allowed = named.zip(persistent.as_ref()).is_some_and(|(locals, persistent)| {
            controls.len() == locals.len() && persistent.allows(locals, *agents)
        });
        if !allowed || first.insert(&controls[..], *agents).is_some() {
            return Err(Rejected::Agents(at));
        }
    }
    Ok(first)
}
