//! Final states with broken runs and broken proofs that they are all.

use super::facts::Fact;
use super::random;
use super::subjects::{LARGE, check_bytes, written};
use super::truth::Judge;
use engine::{Engine, FinalStates, Run};
use evidence::{Claim, FinalState, Form, Ignore, MostStates, Outcomes, Reason, Stop, Task, Verdict, check};
use fastrand::Rng;
use machine::{Buffered, Event, MODELS, Model, State, Stepper, TSO, TraceStep};
use program::{Cond, EdgeId, Int, Place, Program, Quantifier, Question, RegId, Span, ThreadId, VarId};
use support::models::models;

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
fn is_final_state(
    judge: &Judge<'_>,
    program: &Program,
    model: reference::ReferenceModel,
    claim: &FinalState,
) -> bool {
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

/// A random run that ends, if this one does.
fn random_run(task: &Task<'_>, question: &Question, rng: &mut Rng) -> Option<FinalState> {
    let machine = Buffered::exact(task.program, task.model);
    let mut stepper = Stepper::new(&machine);
    let initial = stepper.initial().0;
    let mut state = rng.choice(initial.collect::<Vec<_>>())?;
    let open = |v: &VarId| task.program.variable(*v).initial.single().is_none();
    let initial = task.program.variable_ids().filter(open);
    let initial = initial.map(|v| (v, Int::from(state.values[v.index()]))).collect();
    let mut steps = Vec::new();
    while !stepper.is_final(&state) && steps.len() < 60 {
        stepper.prepare(&state);
        let mut ways = Vec::new();
        let mut next = State::default();
        stepper.successors(&state, &mut next, |_| {}, |event, choice, _| ways.push((event, choice)));
        let (event, choice) = rng.choice(ways)?;
        state = stepper.take(&state, event, choice)?;
        steps.push((event, choice));
    }
    let values = question.observed.iter().map(|(_, place)| stepper.place(&state, place)).collect();
    stepper.is_final(&state).then_some(FinalState { values, initial, steps })
}

/// An answer with a single final state, which does not claim that there are no others.
fn only(claim: FinalState) -> Verdict {
    let missing = vec![Reason::Stopped(Stop::Time)];
    Verdict::FinalStates(Outcomes::Some { finals: vec![claim], missing })
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
        for (model, independent) in models() {
            let task = Task::asked(&program, model);
            for _ in 0..4 {
                let Some(mut claim) = random_run(&task, &question, &mut rng) else { continue };
                check(&task, only(claim.clone()), &Ignore).expect("untouched");
                tamper_with_final(&mut claim, &mut rng);
                let right = is_final_state(&judge, &program, independent, &claim);
                let accepted = check(&task, only(claim.clone()), &Ignore).is_ok();
                assert_eq!(accepted, right, "{} {}: {claim:?}", program.name, model.name());
                tried += 1;
                rejected += usize::from(!accepted);
            }
        }
    }
    assert!(rejected > 500, "{rejected} of {tried} rejected");
}

#[test]
fn final_states_that_name_what_does_not_exist_are_rejected() {
    let mut program = random::generate(0);
    let question = question(&program);
    program.question = Some(question.clone());
    let task = Task::asked(&program, TSO);
    let mut rng = Rng::with_seed(1);
    let good = (0..100).find_map(|_| random_run(&task, &question, &mut rng)).expect("a run that ends");
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
        assert!(check(&task, only(claim.clone()), &Ignore).is_err(), "{claim:?}");
    }
}

/// A random program that asks for everything, with all its final states and the proof.
struct Asked {
    program: Program,
    model: Model,
    finals: Vec<Vec<i64>>,
    text: Vec<u8>,
    json: Vec<u8>,
}

/// Programs with finitely many states, not too many.
fn asked() -> impl Iterator<Item = Asked> {
    let programs = (0..150).flat_map(|seed| MODELS.iter().map(move |model| (seed, *model)));
    programs.filter_map(|(seed, model)| {
        let mut program = random::generate(seed);
        let question = question(&program);
        program.question = Some(question);
        let task = Task::asked(&program, model);
        let run = Run { monitor: &MostStates(1_000), max_buffer: Some(2), ..Run::default() };
        let checked = check(&task, FinalStates.verify(&task, &run).verdict, &Ignore).expect("untouched");
        let Verdict::FinalStates(Outcomes::All(_)) = checked.verdict() else { return None };
        let finals = checked.outcomes().expect("final states").finals().to_vec();
        let file = |form| written(&task, checked.verdict(), form);
        let (text, json) = (file(Form::Text), file(Form::Json));
        Some(Asked { finals, text, json, program, model })
    })
}

/// The final states that a file proves to be all.
fn proved(program: &Program, file: &[u8]) -> Option<Vec<Vec<i64>>> {
    match check_bytes(program, file, LARGE) {
        Ok(Claim::Outcomes(_, found)) => Some(found.finals().to_vec()),
        _ => None,
    }
}

/// Lines with the right end.
fn file_of(lines: &[String]) -> Vec<u8> {
    format!("{}\nend {}\n", lines.join("\n"), lines.len()).into_bytes()
}

fn lines_of(file: &[u8]) -> Vec<String> {
    let text = std::str::from_utf8(file).expect("text");
    let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
    lines.pop();
    lines
}

#[test]
fn all_final_states_are_proved_in_both_forms() {
    let mut count = 0;
    for asked in asked() {
        let what = format!("{} {}", asked.program.name, asked.model.name());
        assert_eq!(proved(&asked.program, &asked.text).as_ref(), Some(&asked.finals), "{what}");
        assert_eq!(proved(&asked.program, &asked.json).as_ref(), Some(&asked.finals), "{what}");
        count += 1;
    }
    assert!(count > 200, "only {count}");
}

/// Every line that claims or proves something is needed: without any one of them, the file is
/// rejected, or (a set of agents more than enough) proves the same.
#[test]
fn no_final_state_no_state_and_no_control_can_be_left_out() {
    let (mut finals, mut states, mut sets) = (0, 0, 0);
    for asked in asked().filter(|asked| asked.text.len() < 6000) {
        let lines = lines_of(&asked.text);
        for at in 0..lines.len() {
            let mut fewer = lines.clone();
            let line = fewer.remove(at);
            let found = proved(&asked.program, &file_of(&fewer));
            let what = format!("{} {} without `{line}`", asked.program.name, asked.model.name());
            match line.split(' ').next().expect("a word") {
                // More states are needed where everybody acts, unless nothing was left out.
                "first" => {
                    assert!(found.is_none_or(|found| found == asked.finals), "{what}");
                    sets += 1;
                }
                word => {
                    assert_eq!(found, None, "{what}");
                    finals += usize::from(word == "final");
                    states += usize::from(word == "state");
                }
            }
        }
    }
    assert!(finals > 100 && states > 500 && sets > 100, "{finals} {states} {sets}");
}

/// Whose steps are said to be enough is changed at random. What is accepted then is proved still.
#[test]
fn sets_of_agents_that_are_too_small_are_rejected() {
    let mut rng = Rng::with_seed(9);
    let (mut rejected, mut accepted) = (0, 0);
    for asked in asked() {
        let lines = lines_of(&asked.text);
        let sets: Vec<usize> = (0..lines.len()).filter(|at| lines[*at].starts_with("first ")).collect();
        for _ in 0..20 {
            let Some(at) = rng.choice(sets.clone()) else { break };
            let mut lists: Vec<Vec<usize>> = lines[at]["first ".len()..]
                .split(':')
                .map(|list| list.split_ascii_whitespace().map(|n| n.parse().expect("a number")).collect())
                .collect();
            let which = rng.usize(1..3);
            let thread = rng.usize(..asked.program.threads.len());
            match lists[which].iter().position(|member| *member == thread) {
                Some(member) => drop(lists[which].remove(member)),
                None => lists[which].push(thread),
            }
            let words = |list: &Vec<usize>| list.iter().map(|n| format!("{n} ")).collect::<String>();
            let mut changed = lines.clone();
            changed[at] = format!("first {}", lists.iter().map(words).collect::<Vec<_>>().join(": "));
            match proved(&asked.program, &file_of(&changed)) {
                None => rejected += 1,
                Some(found) => {
                    assert_eq!(found, asked.finals, "{} with {}", lines[at], changed[at]);
                    accepted += 1;
                }
            }
        }
    }
    assert!(rejected > 1000 && rejected > accepted, "{rejected} rejected, {accepted} accepted");
}

/// Bytes are changed at random: nothing panics, and what is accepted says the same.
#[test]
fn flipped_bytes_in_a_file_of_final_states_are_rejected_or_harmless() {
    let mut rng = Rng::with_seed(11);
    let mut rejected = 0;
    for asked in asked().step_by(4) {
        for file in [&asked.text, &asked.json] {
            for _ in 0..30 {
                let mut changed = file.clone();
                let at = rng.usize(..changed.len());
                changed[at] = if rng.bool() { rng.u8(b'0'..=b'9') } else { rng.u8(..) };
                match proved(&asked.program, &changed) {
                    None => rejected += 1,
                    Some(found) => assert_eq!(found, asked.finals, "{}", String::from_utf8_lossy(&changed)),
                }
            }
        }
    }
    assert!(rejected > 1000, "only {rejected} rejected");
}
