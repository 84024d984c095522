//! The decision that always ends: it agrees with exploration wherever that ends, decides what no
//! exploration does, and its evidence is accepted from memory and from files.

use support::corpus::{Case, corpus, expected, read};
use support::models::{self, models};
use support::{random, texts};

use engine::{
    Buffers, Complete, Costs, Engine, Explicit, FenceAnswer, FenceOptions, Points, Reduction, Run,
    engine_named, place_fences,
};
use evidence::{BasisProof, Certificate, Ignore, MostStates, Reason, Stores, Task, Verdict, check};
use machine::{Backward, Basis, Element, MODELS, TSO, model_named};
use program::Program;
use std::collections::BTreeMap;

fn seeds() -> u64 {
    random::seeds_or(400)
}

/// What an engine answers, with its evidence checked; the reasons of an unknown.
fn asked(engine: &dyn Engine, task: &Task<'_>, most: usize) -> (&'static str, Vec<Reason>) {
    let answer = engine.verify(task, &Run { monitor: &MostStates(most), ..Run::default() });
    let checked = check(task, answer.verdict, &Ignore)
        .unwrap_or_else(|why| panic!("evidence rejected: {why}\n{}", program::print(task.program)));
    match checked.verdict() {
        Verdict::Unknown(reasons) => ("unknown", reasons.clone()),
        other => (other.word(), Vec::new()),
    }
}

/// Compares one program under all models; what was found.
fn compare(program: &Program, tally: &mut BTreeMap<String, usize>) {
    for (model, _) in models() {
        let task = Task::safe(program, model);
        let (exact, _) = asked(&Explicit, &task, 20_000);
        let (found, reasons) = asked(&Complete, &task, 4_000);
        let told =
            || format!("{}: {found}, explicit says {exact}\n{}", model.name(), program::print(program));
        assert!(found == exact || found == "unknown" || exact == "unknown", "{}", told());
        let allowed = |reason: &Reason| match reason {
            Reason::Stopped(_) | Reason::NotFinite(_) => true,
            Reason::Unsupported(_) => program.speaks_of_buffers().is_some(),
            _ => false,
        };
        assert!(reasons.iter().all(allowed), "{reasons:?}\n{}", told());
        *tally.entry(format!("{} {found}", model.name())).or_default() += 1;
        if exact == "unknown" && found != "unknown" {
            *tally.entry(format!("{} new", model.name())).or_default() += 1;
        }
    }
}

/// Goes backwards in the view that an exploration has made smaller; `None` if that takes too long.
fn safe_when_explored(task: &Task<'_>) -> Option<bool> {
    let view = Backward::explored(task.program, task.model, &mut || true).ok()?;
    let mut basis = Basis::new();
    let mut work: Vec<Element> = view.violations(&mut || true).ok()?.into_iter().map(|(e, _)| e).collect();
    while let Some(element) = work.pop() {
        if basis.covering(&view, &element).is_some() {
            continue;
        }
        if view.may_start(&element) {
            return Some(false);
        }
        if basis.len() > 2_000 {
            return None;
        }
        view.predecessors(&element, &mut |_, before| work.push(before));
        basis.add(&view, element);
    }
    Some(true)
}

#[test]
fn what_an_exploration_leaves_out_loses_no_violation() {
    let mut judged = 0;
    for seed in 0..seeds() / 2 {
        let program = random::generate(seed);
        for (model, _) in models() {
            let task = Task::safe(&program, model);
            let (exact, _) = asked(&Explicit, &task, 20_000);
            if let Some(safe) = safe_when_explored(&task)
                && exact != "unknown"
            {
                let told =
                    || format!("{}: explicit says {exact}\n{}", model.name(), program::print(&program));
                assert_eq!(safe, exact == "safe", "{}", told());
                judged += 1;
            }
        }
    }
    assert!(judged > seeds() / 2, "only {judged} were judged");
}

#[test]
fn random_programs_get_the_answer_of_exploration() {
    let mut tally = BTreeMap::new();
    for seed in 0..seeds() {
        compare(&random::generate(seed), &mut tally);
    }
    println!("{tally:#?}");
    let at_least = |what: &str, percent: u64| {
        let found = tally.get(what).copied().unwrap_or(0) as u64;
        assert!(found * 100 >= seeds() * percent, "{what}: only {found} of {}\n{tally:#?}", seeds());
    };
    for model in models::names() {
        at_least(&format!("{model} safe"), 10);
        at_least(&format!("{model} unsafe"), 10);
    }
    at_least("tso new", 1);
    at_least("pso new", 1);
}

#[test]
fn random_texts_get_the_answer_of_exploration() {
    let mut tally = BTreeMap::new();
    for seed in 0..seeds() / 2 {
        if let Ok(program) = texts::read(&texts::generate(seed).text()) {
            compare(&program, &mut tally);
        }
    }
    println!("{tally:#?}");
}

#[test]
fn corpus_programs_get_the_verdict_that_is_right() {
    let (mut decided, mut cases, mut open) = (0, 0, Vec::new());
    for path in corpus() {
        let wanted = |case: &&Case| case.engine == "explicit";
        for case in expected(&path).case.iter().filter(wanted) {
            let program = read(&path, &case.define);
            let task = Task::safe(&program, model_named(&case.model).expect("known"));
            let (found, reasons) = asked(&Complete, &task, 3_000);
            cases += 1;
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            if found == "unknown" {
                open.push(format!("{name} {} {:?}: {reasons:?}", case.model, case.define));
                continue;
            }
            decided += 1;
            assert_eq!(found, case.truth(), "{name} {} {:?}", case.model, case.define);
        }
    }
    println!("{decided} of {cases} were decided; open:\n{}", open.join("\n"));
    assert!(decided * 2 > cases, "{decided} of {cases} were decided; open:\n{}", open.join("\n"));
}

/// The same with and without regard to names; the basis up to names if it is one.
fn up_to_names(task: &Task<'_>, engine: &dyn Engine) -> Option<(BasisProof, usize)> {
    let ask = |reduction| {
        let run = Run { monitor: &MostStates(2_000), reduction, ..Run::default() };
        engine.verify(task, &run).verdict
    };
    let (all, few) = (ask(Reduction::None), ask(Reduction::Symmetry));
    let told = || format!("{} {}\n{}", engine.name(), task.model.name(), program::print(task.program));
    let open = [&all, &few].map(|verdict| matches!(verdict, Verdict::Unknown(_)));
    assert!(
        all.word() == few.word() || open.contains(&true),
        "{} and {}, {}",
        all.word(),
        few.word(),
        told()
    );
    let checked = check(task, few, &Ignore).unwrap_or_else(|why| panic!("{why}: {}", told()));
    match (all, checked.verdict()) {
        (Verdict::Safe(Certificate::Basis(all)), Verdict::Safe(Certificate::Basis(few))) => {
            (!few.renamings.is_empty()).then(|| (few.clone(), all.elements.len()))
        }
        _ => None,
    }
}

/// All that renamings make of a basis, as a proof that knows nothing of names.
fn under_all_names(task: &Task<'_>, proof: &BasisProof) -> BasisProof {
    let go_on = &mut || true;
    let view = match proof.stores {
        Stores::InOrder => Backward::new(task.program, task.model, go_on),
        Stores::Explored => Backward::explored(task.program, task.model, go_on),
        Stores::Counted => Backward::multisets(task.program, task.model, go_on),
    };
    let mut view = view.expect("finite");
    assert!(view.up_to(&proof.renamings));
    let elements = proof.elements.iter().flat_map(|element| view.images(element)).collect();
    BasisProof { stores: proof.stores, renamings: Vec::new(), elements }
}

#[test]
fn names_of_threads_do_not_matter() {
    let (mut proofs, mut fewer) = (0, 0);
    for seed in 0..seeds() / 2 {
        let program = random::replicas(seed).build();
        let task = Task::safe(&program, MODELS[seed as usize % MODELS.len()]);
        for engine in [&Complete as &dyn Engine, &Buffers] {
            let Some((proof, all)) = up_to_names(&task, engine) else { continue };
            proofs += 1;
            fewer += u64::from(proof.elements.len() < all);
            let verdict = Verdict::Safe(Certificate::Basis(under_all_names(&task, &proof)));
            let found = check(&task, verdict, &Ignore);
            assert!(found.is_ok(), "{:?}\n{}", found.err(), program::print(&program));
        }
    }
    assert!(
        proofs * 16 > seeds() && fewer * 5 > proofs,
        "{proofs} proofs, {fewer} of them with fewer elements"
    );
}

/// Programs whose buffers grow without end, so that no exploration ends.
const ENDLESS: &[(&str, &str, &str)] = &[
    (
        "tso",
        "safe",
        "shared x, y; thread P { loop { x = 1; y = 1; x = 0; y = 0; } } \
      thread Q { let a; loop { a = y; a = x; } } never Q.a > 1;",
    ),
    // Stores of a thread stay in order under TSO, however many there are.
    (
        "tso",
        "safe",
        "shared x, y; thread P { loop { x = 1; y = 1; x = 2; y = 2; x = 0; y = 0; } } \
      thread Q { let a, b; await y == 1; a = x; assert a == 1 || a == 2 || a == 0; await y == 2; b = x; assert b != 3; }",
    ),
    (
        "pso",
        "unsafe",
        "shared x, y; thread P { loop { x = 1; y = 1; } } \
      thread Q { await y == 1; assert x == 1; }",
    ),
    (
        "tso",
        "safe",
        "shared x, y; thread P { loop { x = 1; y = 1; } } \
      thread Q { await y == 1; assert x == 1; }",
    ),
    (
        "pso",
        "safe",
        "shared x, y; thread P { loop { x = 1; fence store; y = 1; } } \
      thread Q { await y == 1; assert x == 1; }",
    ),
    // Peterson's flags without fences, the loser storing on and on.
    (
        "tso",
        "unsafe",
        "shared x, y; thread P { x = 1; assume y == 0; cs: skip; } \
      thread Q { y = 1; assume x == 0; cs: loop { y = 1; } } never P@cs && Q@cs;",
    ),
];

#[test]
fn what_no_exploration_ends_on_is_decided() {
    for (model, expected, text) in ENDLESS {
        let program = texts::read(text).expect("a program");
        let task = Task::safe(&program, model_named(model).expect("known"));
        let (found, reasons) = asked(&Complete, &task, 1_000_000);
        assert_eq!(found, *expected, "{model}: {reasons:?}\n{text}");
    }
    let path = corpus().into_iter().find(|path| path.ends_with("thesis_3_3.fw")).expect("in the corpus");
    let program = read(&path, &BTreeMap::new());
    for model in models::names() {
        let task = Task::safe(&program, model_named(model).expect("known"));
        assert_eq!(asked(&Complete, &task, 1_000_000).0, "safe", "{model}");
    }
}

#[test]
fn data_without_end_are_no_question_for_it() {
    let program = texts::read("shared x; thread P { loop { x = x + 1; } } never x == 7;").expect("a program");
    let task = Task::safe(&program, TSO);
    let (found, reasons) = asked(engine_named("complete").expect("an engine"), &task, 1_000_000);
    assert_eq!(found, "unknown");
    assert!(matches!(reasons[..], [Reason::NotFinite(_)]), "{reasons:?}");
    assert!(reasons[0].text(&program).contains("x + 1"), "{}", reasons[0].text(&program));
}

/// How many fences make a program safe, asked through an engine.
fn fences_needed(program: &Program, model: &str, engine: &dyn Engine) -> usize {
    let task = Task::safe(program, model_named(model).expect("known"));
    let costs = Costs { full: 3, store: 1, exchange: None, in_loop: 1 };
    let options = FenceOptions { costs, points: Points::Stores, all: false, prices: &[] };
    let found = place_fences(&task, engine, &options, &Run::default()).expect("no bug");
    match found.answer {
        FenceAnswer::Placed(placed) => placed.fences.len(),
        other => panic!("{} under {model} through {}: {other:?}", program.name, engine.name()),
    }
}

#[test]
fn fences_are_placed_through_it_as_through_exploration() {
    let engines: [&dyn Engine; 2] = [&Complete, &Buffers];
    for (name, model) in
        [("dekker_simple", "tso"), ("peterson", "tso"), ("mp", "pso"), ("r", "tso"), ("s", "pso")]
    {
        let path = corpus().into_iter().find(|path| path.ends_with(format!("{name}.fw"))).expect("there");
        let program = read(&path, &BTreeMap::new());
        let expected = fences_needed(&program, model, &Explicit);
        for engine in engines {
            assert_eq!(fences_needed(&program, model, engine), expected, "{name} {model} {}", engine.name());
        }
    }
    // Here no exploration ends.
    let endless =
        "shared x, y; thread P { loop { x = 1; y = 1; } } thread Q { await y == 1; assert x == 1; }";
    let program = texts::read(endless).expect("a program");
    for engine in engines {
        assert_eq!(fences_needed(&program, "pso", engine), 1, "{}", engine.name());
    }
}

#[test]
fn what_is_put_back_in_time_has_finitely_many_values() {
    // The counter is raised by everybody and put back by the last: a value is any known one plus one, but
    // none is larger than the number of threads.
    let barrier = |claim: &str| {
        format!(
            "shared count, sense; thread P(i in 0..2) {{ let mine; loop {{ mine = 1 - mine; \
             if (fetch_add(count, 1) == 1) {{ count = 0; fence; sense = mine; }} \
             else {{ await sense == mine; }} }} }} never {claim};"
        )
    };
    for (claim, expected) in [("count > 2", "safe"), ("count > 1", "unsafe")] {
        let program = texts::read(&barrier(claim)).expect("a program");
        for (model, _) in models() {
            let task = Task::safe(&program, model);
            for engine in [&Complete as &dyn Engine, &Buffers] {
                let (found, reasons) = asked(engine, &task, 1_000_000);
                assert_eq!(found, expected, "{} {claim} {}: {reasons:?}", model.name(), engine.name());
            }
        }
    }
}
