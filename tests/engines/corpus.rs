//! Every corpus program gets the verdict that the `.toml` beside it expects, for every model
//! and parameter listed there, and under SC the exact number of reachable states.
//!
//! A missing or wrong number of states is reported with the right one, so that a new program's
//! data can be filled in after its verdict has been thought through.

use support::{corpus as data, models};

use data::{Case, corpus, expected, read};
use engine::{Engine, GapProofs, Lazy, Run, engine_named};
use evidence::{Ignore, MostStates, Statistics, Task, Verdict, check};
use machine::{Buffered, MODELS, Model, PSO, SC, State, StateSet, Stepper, TSO, model_named};
use program::Program;
use std::path::Path;

/// How many states can be reached, violations or not; `None` if not all can be listed.
fn count_states(program: &Program, model: Model) -> Option<usize> {
    let machine = Buffered::exact(program, model);
    let mut stepper = Stepper::new(&machine);
    let mut set = StateSet::new();
    let (initial, doubts) = stepper.initial();
    let mut stack: Vec<_> = initial.collect();
    let mut exact = doubts.is_empty();
    let (mut packed, mut next) = (Vec::new(), State::default());
    while let Some(state) = stack.pop() {
        packed.clear();
        state.pack(&mut packed);
        if set.insert(&packed, None).expect("room").1 {
            stepper.prepare(&state);
            stepper.successors(&state, &mut next, |_| exact = false, |_, _, next| stack.push(next.clone()));
        }
    }
    exact.then_some(set.len())
}

fn check_case(path: &Path, case: &Case) -> Result<(), String> {
    let program = read(path, &case.define);
    let model = model_named(&case.model).ok_or("unknown model")?;
    let task = Task::safe(&program, model);
    let endless = case.verdict == "unknown";
    let monitor = MostStates(if endless { 50_000 } else { 5_000_000 });
    let engine = engine_named(&case.engine).ok_or("unknown engine")?;
    let answer = engine.verify(&task, &Run { monitor: &monitor, ..Run::default() });
    let Statistics { states: explored, method, .. } = answer.statistics;
    let checked = check(&task, answer.verdict, &Ignore).map_err(|why| format!("evidence rejected: {why}"))?;
    let (verdict, violation) = match checked.verdict() {
        Verdict::Unsafe(trace) => ("unsafe", Some(trace.violation.text(&program))),
        other => (other.word(), None),
    };
    if verdict != case.verdict {
        return Err(format!("{verdict}, expected {}", case.verdict));
    }
    if case.violation.is_some() && case.violation != violation {
        return Err(format!("violates {violation:?}, expected {:?}", case.violation));
    }
    if case.model == "sc" && !endless && case.engine == "explicit" {
        // A search that left nothing out and found no violation has seen them all.
        let all = verdict == "safe" && method.is_none();
        let states = if all { Some(explored) } else { count_states(&program, model) };
        if case.states != states {
            return Err(format!("states = {states:?}, the data say {:?}", case.states));
        }
    }
    Ok(())
}

#[test]
fn every_program_gets_its_verdict_under_sc() {
    every_program_gets_its_verdict(SC);
}

#[test]
fn every_program_gets_its_verdict_under_tso() {
    every_program_gets_its_verdict(TSO);
}

#[test]
fn every_program_gets_its_verdict_under_pso() {
    every_program_gets_its_verdict(PSO);
}

fn every_program_gets_its_verdict(model: Model) {
    let mut wrong = Vec::new();
    let mut cases = 0;
    for path in corpus() {
        for case in expected(&path).case.iter().filter(|case| case.model == model.name()) {
            cases += 1;
            if let Err(why) = check_case(&path, case) {
                let name = path.file_stem().unwrap_or_default().to_string_lossy();
                wrong.push(format!("{name} {} {:?}: {why}", case.model, case.define));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {cases} cases:\n{}", wrong.len(), wrong.join("\n"));
    assert!(cases > 80, "only {cases} cases were found");
}

#[test]
fn gap_proofs_never_contradict_the_data() {
    let (decided, cases) = agrees_with_the_data(&GapProofs, 20_000, |_| true);
    assert!(decided * 4 > cases * 3, "{decided} of {cases} were decided");
}

/// With twice as many states it decides as many.
#[test]
fn lazy_never_contradicts_the_data() {
    let (decided, cases) = agrees_with_the_data(&Lazy, 10_000, |case| case.model == "tso");
    assert!(decided * 2 > cases, "{decided} of {cases} were decided");
}

/// How many cases an engine decides with so many states at most, of how many.
fn agrees_with_the_data(engine: &dyn Engine, most: usize, wanted: impl Fn(&Case) -> bool) -> (usize, usize) {
    let (mut decided, mut cases) = (0, 0);
    for path in corpus() {
        let wanted = |case: &&Case| case.engine == "explicit" && wanted(case);
        for case in expected(&path).case.iter().filter(wanted) {
            let program = read(&path, &case.define);
            let task = Task::safe(&program, model_named(&case.model).expect("known"));
            let answer = engine.verify(&task, &Run { monitor: &MostStates(most), ..Run::default() });
            let checked = check(&task, answer.verdict, &Ignore).expect("evidence holds");
            let verdict = checked.verdict().word();
            let truth = case.truth.as_ref().unwrap_or(&case.verdict);
            cases += 1;
            decided += usize::from(verdict != "unknown");
            assert!(verdict == "unknown" || verdict == truth, "{} {}: {verdict}", path.display(), case.model);
        }
    }
    println!("{}: {decided} of {cases} were decided", engine.name());
    (decided, cases)
}

#[test]
fn the_data_are_consistent() {
    for path in corpus() {
        let cases = expected(&path).case;
        for model in models::names() {
            assert!(cases.iter().any(|case| case.model == model), "{}: {model}", path.display());
        }
        for case in &cases {
            let verdict = case.truth.as_ref().unwrap_or(&case.verdict);
            assert!(["safe", "unsafe", "unknown"].contains(&verdict.as_str()), "{}", path.display());
            assert!(case.truth.is_none() || case.verdict == "unknown", "{}", path.display());
        }
        // A weaker model can only add behaviour.
        let truth = |model: &str| {
            let default = |case: &&Case| case.model == model && case.define.is_empty();
            cases.iter().find(default).map(|case| case.truth.clone().unwrap_or(case.verdict.clone()))
        };
        for pair in MODELS.windows(2) {
            if truth(pair[0].name()).as_deref() == Some("unsafe") {
                assert_eq!(truth(pair[1].name()).as_deref(), Some("unsafe"), "{}", path.display());
            }
        }
    }
}
