//! What claims mean at the edges: `never` is judged while nobody is inside an atomic section, a label holds
//! until the access that it names, and claims that nothing comes near are told.

use support::corpus::program;

use engine::{Cegar, ENGINES, Engine, Explicit, GapProofs, Lazy, Run, ask};
use evidence::{Task, VacuousClaim};
use machine::{MODELS, SC, TSO};

/// What every engine that has an answer says, under every model.
fn all_say(text: &str, wanted: &str) {
    let program = program(text);
    for model in MODELS {
        let mut answers = 0;
        for engine in ENGINES {
            let found = ask(&Task::safe(&program, *model), *engine, &Run::default());
            let found = found.unwrap_or_else(|bug| panic!("{bug}"));
            let word = found.checked.verdict().word();
            assert!(word == wanted || word == "unknown", "{} under {}: {word}", engine.name(), model.name());
            answers += usize::from(word == wanted);
        }
        assert!(answers >= 3, "only {answers} under {}", model.name());
    }
}

#[test]
fn nothing_is_judged_inside_atomic_sections() {
    let threads =
        |p: &str, q: &str| format!("shared a, b; thread P {{ {p} }} thread Q {{ {q} }} never a != b;");
    let (set, clear) = ("a = 1; b = 1;", "a = 0; b = 0;");
    let atomic = |body: &str| format!("atomic {{ {body} }}");
    all_say(&threads(&atomic(set), &atomic(clear)), "safe");
    all_say(&threads(set, &atomic(clear)), "unsafe");
    // Behind the section it is judged again.
    all_say(&threads(&atomic("a = 1;"), &atomic(clear)), "unsafe");
    // An assertion is judged where it stands.
    all_say("shared a; thread P { atomic { a = 1; assert a == 0; } }", "unsafe");
    // So are claims about threads and memory.
    let watching =
        "shared a, b; thread P { atomic { a = 1; b = 1; } l: skip; } thread Q { m: a = 0; } never ";
    all_say(&format!("{watching} Q@m && a != b;"), "safe");
    all_say(&format!("{watching} P@l && Q@m && a == 1;"), "unsafe");
}

#[test]
fn a_label_holds_until_its_access() {
    let walk = "shared a[2]; thread P { let i; s: i = any in 0..2; l: a[i] = 1; m: skip; z: } ";
    all_say(&format!("{walk} never !(P@s || P@l || P@m || P@z);"), "safe");
    all_say(&format!("{walk} never P@l;"), "unsafe");
    // Also if the label comes to the place from behind.
    let around = "shared a[2]; thread P { let i; s: i = any in 0..2; loop { a[i] = 1; t: i = 1 - i; l: } } ";
    all_say(&format!("{around} never !(P@s || P@l || P@t || a[0] + a[1] < 1);"), "safe");
}

/// What the engines that see buffers say under TSO.
fn buffers_say(text: &str, wanted: &str) {
    let program = program(text);
    for engine in [&Explicit as &dyn Engine, &Cegar, &GapProofs, ENGINES[0]] {
        let found = ask(&Task::safe(&program, TSO), engine, &Run::default());
        let found = found.unwrap_or_else(|bug| panic!("{bug}"));
        let word = found.checked.verdict().word();
        assert!(
            word == wanted || engine.name() == "gaps" && word == "unknown",
            "{}: {word}\n{text}",
            engine.name()
        );
    }
}

#[test]
fn threads_that_wait_for_ever_are_told() {
    let text = "shared x, y; thread P { x = 1; await y == 1; x = 2; } thread Q { await x == 2; y = 1; } never x > 2;";
    let program = program(text);
    let found = ask(
        &Task::safe(&program, TSO),
        &Explicit,
        &Run { reduction: engine::Reduction::None, ..Run::default() },
    );
    let vacuous = found.unwrap_or_else(|bug| panic!("{bug}")).vacuous;
    let told: Vec<String> = vacuous.iter().map(|claim| program.source.snippet(claim.span())).collect();
    assert_eq!(told, ["await y == 1", "await x == 2"]);
    // A wait that ends is none.
    let text = "shared x; thread P { await x == 1; x = 2; } thread Q { x = 1; } never x > 2;";
    let program = support::corpus::program(text);
    let found = ask(&Task::safe(&program, TSO), &Explicit, &Run::default());
    assert!(found.unwrap_or_else(|bug| panic!("{bug}")).vacuous.is_empty());
}

#[test]
fn buffers_can_be_spoken_of() {
    let text = "shared x, y; thread P { x = 1; l: y = 1; fence; m: skip; z: } thread Q { y = 2; } ";
    for (claim, wanted) in [
        ("never P@m && !empty(P);", "safe"),
        ("never P@l && empty(P) && x == 0;", "safe"),
        ("never P@l && !empty(P);", "unsafe"),
        ("never P@l && empty(P);", "unsafe"),
        ("never empty(P, Q) && P@z && x != 1;", "safe"),
        ("never !empty(Q) && y == 2;", "safe"),
    ] {
        buffers_say(&format!("{text}{claim}"), wanted);
    }
}

#[test]
fn deadlocks_are_found_and_ruled_out() {
    let locks = |first: &str, second: &str| {
        format!(
            "shared a, b; fn take(&l) {{ while (!cas(l, 0, 1)) {{ }} }}
             thread P {{ take(&a); take(&b); b = 0; a = 0; }}
             thread Q {{ take(&{first}); take(&{second}); {second} = 0; {first} = 0; }} never deadlock;"
        )
    };
    buffers_say(&locks("a", "b"), "safe");
    buffers_say(&locks("b", "a"), "unsafe");
    // A store that is still on its way will let the other go on.
    buffers_say("shared x; thread P { await x == 1; } thread Q { x = 1; } never deadlock;", "safe");
    buffers_say("shared x; thread P { await x == 2; } thread Q { x = 1; } never deadlock;", "unsafe");
    // Waiting in every form; who stores or counts does not wait.
    buffers_say("shared x; thread P { let r = x; assume r == 2; } never deadlock;", "unsafe");
    buffers_say("shared x; thread P { arw(x, 1, 2); } never deadlock;", "unsafe");
    buffers_say("shared x; thread P { atomic { assume x == 2; } } never deadlock;", "unsafe");
    buffers_say("shared x; thread P { loop { x = 1; fence; } } never deadlock;", "safe");
    // Who has ended does not wait.
    buffers_say("shared x; thread P { x = 1; } never deadlock;", "safe");
}

/// What is vacuous in a program that is safe, as one engine proves it.
fn vacuous(text: &str, engine: &dyn Engine) -> Vec<String> {
    let program = program(text);
    let model = if engine.name() == "lazy" { TSO } else { SC };
    let found = ask(&Task::safe(&program, model), engine, &Run::default());
    let found = found.unwrap_or_else(|bug| panic!("{bug}"));
    assert_eq!(found.checked.verdict().word(), "safe", "{}", engine.name());
    let told = found.vacuous.iter().map(|claim| match claim {
        VacuousClaim::Label { thread, label, .. } => format!("{thread}@{label}"),
        VacuousClaim::Unended { thread, .. } => format!("end of {thread}"),
        VacuousClaim::Assertion { span } => program.source.snippet(*span),
        VacuousClaim::Blocked { thread, .. } => format!("{thread} waits"),
        VacuousClaim::NoStart { .. } => "nothing starts".to_string(),
    });
    told.collect()
}

#[test]
fn what_nothing_comes_near_is_told() {
    let stuck = "shared x; thread P { let r = x; if (r == 2) { assert r != 2; } await (x == 3); cs: skip; } \
                 thread Q { x = 1; cs: skip; } never P@cs && Q@cs; finally x == 1;";
    for engine in [&Explicit as &dyn Engine, &GapProofs, &Cegar, &Lazy] {
        assert_eq!(
            vacuous(stuck, engine),
            ["assert r != 2", "P waits", "P@cs", "end of P"],
            "{}",
            engine.name()
        );
    }
    // Nothing is said of single claims where nothing starts.
    let nothing = "shared x = any in 0..4, y = any in 0..3; assume x > y && x + 1 < 2 * y; assume x + y == 2; \
                   thread P { await (x == 3); l: assert x == 2; } never P@l && x == 7;";
    for engine in [&Explicit as &dyn Engine, &GapProofs, &Cegar, &Lazy] {
        assert_eq!(vacuous(nothing, engine), ["nothing starts"], "{}", engine.name());
    }
    // That a place is never reached may be all that is claimed, and what is not there may be meant to be away.
    let unreached = "shared x; thread P { await (x == 3); l: skip; } thread Q { m: x = 1; } \
                     never P@l; never P@l || x == 7; never !P@l && x == 7;";
    for engine in [&Explicit as &dyn Engine, &Cegar] {
        let told = vacuous(unreached, engine);
        assert_eq!(told, ["P waits"], "{}", engine.name());
    }
}
