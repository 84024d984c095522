//! Final states with broken runs.

use crate::facts::Fact;
use crate::random;
use crate::truth::Judge;
use engine::{Run, outcomes};
use evidence::{FinalState, MostStates, Outcomes, Task, check_outcomes};
use fastrand::Rng;
use machine::{Event, MODELS, TraceStep, reference};
use program::{Cond, EdgeId, Int, Place, Program, Quantifier, Question, RegId, Span, ThreadId, VarId};

/// Asks for all final values of all registers and variables.
fn question(program: &Program) -> Question {
    let mut places: Vec<Place> = program.variable_ids().map(Place::Memory).collect();
    for t in program.thread_ids() {
        places.extend((0..program.thread(t).registers.len()).map(|r| Place::Register(t, RegId::new(r))));
    }
    Question {
        quantifier: Quantifier::Exists,
        cond: Cond::TRUE,
        filter: Cond::TRUE,
        observed: places.into_iter().map(|place| (String::new(), place)).collect(),
        span: Span::NONE,
    }
}

/// Whether a run ends everything with the values claimed, by the reference interpreter.
fn is_final_state(judge: &Judge<'_>, program: &Program, model: reference::Model, claim: &FinalState) -> bool {
    let initial = claim.initial.iter();
    let initial = initial.map(|(v, value)| Fact::Initial { variable: v.index(), value: value.clone() });
    let step = |(event, choice): &(Event, Option<i64>)| {
        let step = TraceStep::of(program, *event, *choice);
        match *event {
            Event::Step { thread, edge } => {
                Fact::Step { thread: thread.index(), edge: edge.index(), choice: step.choice }
            }
            Event::Drain { thread, variable } => {
                Fact::Drain { thread: thread.index(), variable: variable.index() }
            }
        }
    };
    let run: Vec<Fact> = initial.chain(claim.steps.iter().map(step)).collect();
    let Some(config) = judge.follow(model, &run) else { return false };
    let observed = question(program).observed;
    let values = observed.iter().map(|(_, place)| config.place(place));
    config.is_final(program) && values.eq(claim.values.iter().map(|value| Int::from(*value)))
}

fn tamper_with_final(claim: &mut FinalState, rng: &mut Rng) {
    match rng.usize(..5) {
        0 if !claim.values.is_empty() => {
            let at = rng.usize(..claim.values.len());
            claim.values[at] += rng.i64(1..3);
        }
        1 => drop(claim.values.pop()),
        2 if claim.steps.len() > 1 => {
            let at = rng.usize(1..claim.steps.len());
            claim.steps.swap(at - 1, at);
        }
        3 => drop(claim.steps.pop()),
        _ if !claim.steps.is_empty() => {
            let at = rng.usize(..claim.steps.len());
            claim.steps.remove(at);
        }
        _ => claim.values.push(0),
    }
}

#[test]
fn final_states_need_runs_that_end_there() {
    let mut rng = Rng::with_seed(4);
    let (mut tried, mut rejected) = (0, 0);
    for seed in 0..300 {
        let mut program = random::generate(seed);
        let question = question(&program);
        program.question = Some(question.clone());
        let judge = Judge::new(&program);
        for (model, independent) in MODELS.iter().zip(reference::Model::ALL) {
            let task = Task { program: &program, model: *model };
            let run = Run { monitor: &MostStates(2000), max_buffer: Some(2), ..Run::default() };
            let found = outcomes(&task, &question, &run).0;
            check_outcomes(&task, &question, &found).expect("untouched");
            for claim in found.finals.iter().take(4) {
                let mut claim = claim.clone();
                tamper_with_final(&mut claim, &mut rng);
                let right = is_final_state(&judge, &program, independent, &claim);
                let changed = Outcomes { finals: vec![claim], missing: Vec::new() };
                let accepted = check_outcomes(&task, &question, &changed).is_ok();
                assert_eq!(accepted, right, "{} {}: {:?}", program.name, model.name(), changed.finals);
                tried += 1;
                rejected += usize::from(!accepted);
            }
        }
    }
    assert!(rejected > 500, "{rejected} of {tried} rejected");
}

#[test]
fn final_states_that_name_what_does_not_exist_are_rejected() {
    let program = &random::generate(0);
    let task = Task { program, model: MODELS[1] };
    let question = question(program);
    let good = outcomes(&task, &question, &Run { max_buffer: Some(2), ..Run::default() }).0.finals.remove(0);
    let (far_thread, far_variable) = (ThreadId::new(1000), VarId::new(1000));
    let step = |event| FinalState { steps: vec![(event, None)], ..good.clone() };
    let claims = [
        FinalState { initial: vec![(far_variable, Int::ZERO)], ..good.clone() },
        step(Event::Step { thread: far_thread, edge: EdgeId::new(0) }),
        step(Event::Step { thread: ThreadId::new(0), edge: EdgeId::new(1000) }),
        step(Event::Drain { thread: far_thread, variable: VarId::new(0) }),
        step(Event::Drain { thread: ThreadId::new(0), variable: far_variable }),
    ];
    for claim in claims {
        let changed = Outcomes { finals: vec![claim], missing: Vec::new() };
        assert!(check_outcomes(&task, &question, &changed).is_err(), "{:?}", changed.finals);
    }
}
