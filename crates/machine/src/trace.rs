//! Traces: what happened, step by step, and replaying it.
//!
//! A trace names events and chosen values only; everything else follows. Replaying runs it
//! on the exact machine with unbounded buffers and integers and all registers, demands
//! that every step can be taken and that the claimed violation holds at the end, and gives
//! an [`Account`] of what happened.

use crate::{Account, Buffered, Configuration, Event, GoOn, Model, Violation};
use program::{Int, Op, Program, VarId};
use std::fmt;

/// One step of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceStep {
    /// What happens.
    pub event: Event,
    /// The value chosen, if the step chooses one.
    pub choice: Option<Int>,
}

impl TraceStep {
    /// A step as a search knows it. A search forgets registers that nothing reads and so the
    /// values chosen for them; any value will do there.
    pub fn of(program: &Program, event: Event, choice: Option<i64>) -> TraceStep {
        let mut choice = choice.map(Int::from);
        if let Event::Step { thread, edge } = event
            && let Op::Havoc(_, domain) = &program.thread(thread).edge(edge).op
        {
            choice.get_or_insert_with(|| domain.example());
        }
        TraceStep { event, choice }
    }

    /// [`Event::drain`] as a step.
    pub fn drain_behind(program: &Program, event: Event) -> Option<TraceStep> {
        event.drain(program).map(|event| TraceStep { event, choice: None })
    }

    /// A run under SC as one under a model with buffers: every store drains at once.
    pub fn drained_at_once(program: &Program, steps: impl IntoIterator<Item = TraceStep>) -> Vec<TraceStep> {
        let steps = steps.into_iter().flat_map(|step| {
            let drain = TraceStep::drain_behind(program, step.event);
            std::iter::once(step).chain(drain)
        });
        steps.collect()
    }
}

/// A run that ends in a violation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// What variables without a fixed initial value start with.
    pub initial: Vec<(VarId, Int)>,
    /// The steps.
    pub steps: Vec<TraceStep>,
    /// What is violated at the end.
    pub violation: Violation,
}

impl Trace {
    /// A violation under SC as one under a model.
    pub fn under(self, program: &Program, model: Model) -> Trace {
        if !model.buffers() {
            return self;
        }
        Trace { steps: TraceStep::drained_at_once(program, self.steps), ..self }
    }
}

/// Why a trace is no evidence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TraceRejected {
    /// An initial value is missing or not allowed.
    Initial,
    /// The step of this number (from 0) cannot be taken.
    Step(usize),
    /// All steps can be taken, but the end violates nothing of what was claimed.
    NotViolated,
    /// Somebody asked to stop.
    Stopped,
}

impl fmt::Display for TraceRejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TraceRejected::Initial => write!(f, "an initial value is missing or not allowed"),
            TraceRejected::Step(at) => write!(f, "step {} cannot be taken", at + 1),
            TraceRejected::Stopped => write!(f, "replaying it was stopped"),
            TraceRejected::NotViolated => write!(f, "the last state does not violate what the trace claims"),
        }
    }
}

impl std::error::Error for TraceRejected {}

/// Runs a trace and returns the account of it.
pub fn replay(program: &Program, model: Model, trace: &Trace) -> Result<Account, TraceRejected> {
    replay_while(program, model, trace, &mut || true)
}

/// As [`replay`], asking now and then whether to go on.
pub fn replay_while(
    program: &Program,
    model: Model,
    trace: &Trace,
    go_on: &mut GoOn<'_>,
) -> Result<Account, TraceRejected> {
    let account = replay_steps(program, model, &trace.initial, &trace.steps, go_on)?;
    let end = account.passed().last();
    let violated = end.is_some_and(|end| end.violates(program, trace.violation));
    if violated { Ok(account) } else { Err(TraceRejected::NotViolated) }
}

/// Runs steps, whatever they lead to, asking now and then whether to go on.
pub fn replay_steps(
    program: &Program,
    model: Model,
    initial: &[(VarId, Int)],
    steps: &[TraceStep],
    go_on: &mut GoOn<'_>,
) -> Result<Account, TraceRejected> {
    let machine = Buffered::exact(program, model).with_dead_registers();
    let first = Configuration::initial(&machine, initial).ok_or(TraceRejected::Initial)?;
    let mut passed = vec![first];
    for (at, step) in steps.iter().enumerate() {
        if at % 64 == 0 && !go_on() {
            return Err(TraceRejected::Stopped);
        }
        let next = passed[at].take(&machine, step.event, step.choice.as_ref());
        passed.push(next.ok_or(TraceRejected::Step(at))?);
    }
    Ok(Account::of(program, steps, passed))
}
