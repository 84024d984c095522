//! Every engine on random programs that are written in the language: what they answer is right as
//! far as the independent reference can tell, all evidence is accepted, from memory and from a
//! file, and an unknown names places that exist.
//!
//! Numbers and store buffers of these programs have no bound, so the reference explores a part:
//! a violation that it finds forbids *safe*, and where nothing was left out, *unsafe* is forbidden
//! too. `FENCEWRIGHT_SEEDS=n` checks n programs instead of the usual number.

#[path = "every_engine/reference.rs"]
mod known;
#[path = "every_engine/evidence.rs"]
mod proofs;
use support::models::models;
use support::random;
mod reasons;
use crate::unbounded;
use support::texts;

use engine::{ENGINES, Engine, Run};
use evidence::{Form, MostStates, Task, Verdict};
use known::{Known, known};
use machine::TSO;
use program::Program;
use random::seeds;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What an engine may have. Few, for most questions are decided by then, and there are many.
const MOST_STATES: usize = 1_000;
/// Longer buffers are taken to grow without end.
const LONGEST_BUFFER: usize = 4;

/// How many texts are tried: eight engines answer under three models, so half of the usual number.
fn texts_tried() -> u64 {
    seeds() / 2
}

/// Most are programs as people write them; the others were made as automata, and their texts are
/// what `show` prints.
fn text(seed: u64) -> String {
    match seed % 10 {
        0 => program::print(&random::generate(seed)),
        1 => program::print(&unbounded::sketch(seed).build()),
        _ => texts::generate(seed).text(),
    }
}

/// What was found, and how often.
type Tally = BTreeMap<String, usize>;

fn count(tally: &mut Tally, what: impl Into<String>) {
    *tally.entry(what.into()).or_default() += 1;
}

/// Asks one engine. An error says what is wrong with its answer.
fn ask(engine: &dyn Engine, task: &Task<'_>, form: Form) -> Result<&'static str, String> {
    let monitor = MostStates(MOST_STATES);
    let run = Run { monitor: &monitor, max_buffer: Some(LONGEST_BUFFER), ..Run::default() };
    let answer = engine.verify(task, &run).verdict;
    let found = answer.word();
    match &answer {
        Verdict::Unknown(reasons) => reasons::check(task.program, reasons)?,
        Verdict::Within(_, reasons) => {
            reasons::check(task.program, reasons)?;
            proofs::check_bound(task, &answer, form)?;
        }
        decided => proofs::check_files(task, decided, form)?,
    }
    proofs::check_in_memory(task, answer)?;
    Ok(found)
}

/// As [`ask`], where a panic is an error like others.
fn ask_safely(engine: &dyn Engine, task: &Task<'_>, form: Form) -> Result<&'static str, String> {
    let asked = catch_unwind(AssertUnwindSafe(|| ask(engine, task, form)));
    asked.unwrap_or_else(|panic| {
        let message = panic.downcast_ref::<String>().cloned();
        let message = message.or(panic.downcast_ref::<&str>().map(|text| (*text).to_string()));
        Err(format!("panics: {}", message.unwrap_or_default()))
    })
}

/// Everything that is wrong with what engines say of a program, each with who says it.
fn complaints(program: &Program, form: Form, tally: &mut Tally) -> Vec<String> {
    let mut wrong = Vec::new();
    for (model, independent) in models() {
        let known = known(program, independent);
        count(tally, format!("{known:?}"));
        let task = Task::safe(program, model);
        for engine in ENGINES {
            let who = format!("{} under {}", engine.name(), model.name());
            let complaint = match (ask_safely(*engine, &task, form), known) {
                (Ok("safe"), Known::Violated) | (Ok("unsafe"), Known::Safe) => {
                    format!("contradicts the reference: {known:?}")
                }
                (Ok(found), _) => {
                    count(tally, format!("{} {found}", engine.name()));
                    continue;
                }
                (Err(why), _) => why,
            };
            wrong.push(format!("{who}: {complaint}"));
        }
        if model == TSO
            && let Err(why) = proofs::check_robustness(program, MOST_STATES, form, tally)
        {
            wrong.push(format!("robust: {why}"));
        }
    }
    wrong
}

/// Complaints that differ only in who made them and in numbers are of one kind.
fn kind(complaint: &str) -> String {
    let what = complaint.split_once(": ").map_or(complaint, |(_, what)| what);
    what.chars().filter(|sign| !sign.is_ascii_digit()).collect()
}

/// The shortest text with a complaint of this kind, and the complaint.
fn shortest(text: &str, wanted: &str, form: Form) -> String {
    let of_this_kind = |text: &str| {
        let program = texts::read(text).ok()?;
        let all = complaints(&program, form, &mut Tally::new());
        all.into_iter().find(|complaint| kind(complaint) == wanted)
    };
    let short = texts::shrink(text, &mut |text| of_this_kind(text).is_some());
    format!("{}\n{short}", of_this_kind(&short).unwrap_or_default())
}

/// Programs that were once answered wrongly.
const FOUND: &[&str] = &[
    // A reason named an edge of the program with delays written into it.
    "shared x, y; thread P { let m, t; x = 1; m = any; t = y; if (m * m + t < 0) { assert false; } skip; skip; } \
     thread Q { let t; y = 1; t = x; }",
    // The checker of cubes took steps that its engine had ruled out.
    "shared x; thread P0 { loop { x = 1; if (x <= 0) { break; } } } thread P1 { x = any in 0..2; } \
     finally !(x == 1);",
    "shared y, z; thread P0 { let r; r = z; while (z == 0) { y = 2; } y = 2 - r; } \
     thread P1 { z = any in 0..2; } finally !(P0.r == 0 && y == 0);",
    // There is nothing to choose here, and a variable follows that starts like others.
    "shared x = 18446744073709551616, y; thread P { y = 1; }",
];

#[test]
fn what_was_once_wrong_is_right() {
    let mut wrong = Vec::new();
    for text in FOUND {
        let program = texts::read(text).expect("a program");
        let of_this = complaints(&program, Form::Text, &mut Tally::new());
        wrong.extend(of_this.iter().map(|complaint| format!("{complaint}\n{text}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn answers_are_right_and_evidence_is_accepted_and_unknowns_name_places() {
    let (mut tally, mut failures) = (Tally::new(), BTreeMap::new());
    // Panics are caught, counted and shown with the program that makes them.
    std::panic::set_hook(Box::new(|_| {}));
    for seed in 0..texts_tried() {
        let (text, form) = (text(seed), if seed % 2 == 0 { Form::Text } else { Form::Json });
        let program = match texts::read(&text) {
            Ok(program) => program,
            Err(errors) => {
                assert!(texts::is_refused_for_constants(&errors), "seed {seed}\n{text}\n{errors:?}");
                count(&mut tally, "refused");
                continue;
            }
        };
        for complaint in complaints(&program, form, &mut tally) {
            let (_, _, _, times) = failures.entry(kind(&complaint)).or_insert((seed, text.clone(), form, 0));
            *times += 1;
        }
    }
    println!("{tally:#?}");
    let show = |(kind, (seed, text, form, times)): (&String, &(u64, String, Form, usize))| {
        format!("{times} times, first by seed {seed}: {}", shortest(text, kind, *form))
    };
    let shown: Vec<String> = failures.iter().map(show).collect();
    drop(std::panic::take_hook());
    assert!(shown.is_empty(), "{} kinds of failure\n\n{}", shown.len(), shown.join("\n"));
    assert_worth(&tally);
}

/// The programs must stay worth their time: engines decide many, both ways, and so does the
/// reference.
fn assert_worth(tally: &Tally) {
    let asked = 3 * texts_tried() as usize;
    let at_least = |what: &str, percent: usize| {
        let found = tally.get(what).copied().unwrap_or(0);
        assert!(found * 100 >= asked * percent, "{what}: only {found} of {asked}\n{tally:#?}");
    };
    for engine in ENGINES {
        // One engine answers for TSO only.
        let share = if engine.name() == "lazy" { 3 } else { 10 };
        let safe = format!("{} safe", engine.name());
        match engine.proves() {
            true => at_least(&safe, share),
            false => assert!(!tally.contains_key(&safe), "{tally:#?}"),
        }
        at_least(&format!("{} unsafe", engine.name()), share);
    }
    at_least("Violated", 20);
    at_least("Safe", 10);
    at_least("Open", 10);
    let refused = tally.get("refused").copied().unwrap_or(0);
    assert!(refused * 10 < texts_tried() as usize, "{refused} texts were refused");
}
