//! The portfolio: a plan that fits the program, and a race that always has the same winner.

use engine::{Answer, Engine, Portfolio, Run, plan};
use evidence::{Ignore, Monitor, MostStates, Progress, Stop, Task, Verdict, check};
use machine::{MODELS, model_named};
use program::{Program, Source};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

fn read(name: &str, text: &str) -> Program {
    let frontend = frontend::choose(Some("fw"), "", "").expect("there is such a language");
    let parsed = (frontend.read)(Source::new(name, text), &frontend::Options::default());
    parsed.expect("it is a program").program
}

fn corpus(name: &str) -> Program {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name);
    read(name, &std::fs::read_to_string(path).expect("readable"))
}

/// Counts for ever and proves nothing: every engine ends at its budget.
const HARD: &str = "shared x, y;
thread P { loop { x = x + y; y = x * x + 1; } }
thread Q { loop { y = y + x; } }
never x == 0 - 1;";

/// What an answer says, without what may differ.
fn said(answer: &Answer) -> String {
    match &answer.verdict {
        Verdict::Safe(_) => format!("{}: safe, {} states", answer.engine, answer.statistics.states),
        Verdict::Unsafe(trace) => format!("{}: {:?}", answer.engine, trace.steps),
        Verdict::Unknown(reasons) => format!("{}: {reasons:?}", answer.engine),
    }
}

fn answer(task: &Task<'_>, threads: usize, monitor: &dyn Monitor) -> Answer {
    Portfolio.verify(task, &Run { threads, monitor, ..Run::default() })
}

#[test]
fn the_answer_does_not_depend_on_the_number_of_threads() {
    let names = ["peterson.fw", "bakery.fw", "bakery_fenced.fw", "ring_buffer.fw", "array_queue.fw", "mp.fw"];
    let mut engines = std::collections::BTreeSet::new();
    for program in names.map(corpus) {
        for model in MODELS {
            let task = Task { program: &program, model: *model };
            let alone = answer(&task, 1, &MostStates(300_000));
            let expected = said(&alone);
            engines.insert(alone.engine);
            check(&task, alone.verdict, &Ignore).expect("the evidence holds");
            for threads in [2, 3, 8] {
                assert_eq!(
                    said(&answer(&task, threads, &MostStates(300_000))),
                    expected,
                    "{threads} threads"
                );
            }
        }
    }
    assert!(engines.len() > 1, "more than one engine wins: {engines:?}");
}

#[test]
fn an_unknown_names_the_same_reasons_with_any_number_of_threads() {
    let program = read("hard.fw", HARD);
    let task = Task { program: &program, model: model_named("tso").expect("known") };
    let expected = said(&answer(&task, 1, &MostStates(30_000)));
    for threads in [2, 4] {
        assert_eq!(said(&answer(&task, threads, &MostStates(30_000))), expected);
    }
}

/// Who reported, and how many have left; memory is short while more than one is at work.
#[derive(Default)]
struct Crowd {
    seen: Mutex<Vec<&'static str>>,
    refused: AtomicUsize,
    narrow: bool,
}

impl Monitor for Crowd {
    fn observe(&self, progress: &Progress) -> Result<(), Stop> {
        let mut seen = self.seen.lock().expect("nobody panics");
        if !seen.contains(&progress.engine) {
            seen.push(progress.engine);
        }
        let crowded = seen.len() > 1;
        drop(seen);
        if self.narrow && crowded {
            self.refused.fetch_add(1, Ordering::SeqCst);
            return Err(Stop::Memory);
        }
        if progress.states > 60_000 { Err(Stop::States) } else { Ok(()) }
    }

    fn leave(&self, engine: &'static str) {
        self.seen.lock().expect("nobody panics").retain(|name| *name != engine);
    }
}

#[test]
fn whoever_runs_ahead_makes_room_when_memory_is_short() {
    let program = corpus("bakery_fenced.fw");
    let task = Task { program: &program, model: model_named("tso").expect("known") };
    let expected = said(&answer(&task, 1, &Crowd::default()));
    let narrow = Crowd { narrow: true, ..Crowd::default() };
    assert_eq!(said(&answer(&task, 2, &narrow)), expected);
    assert!(narrow.refused.load(Ordering::SeqCst) > 0, "two were at work at once");
}

#[test]
fn an_interruption_ends_everybody() {
    struct Interrupted;
    impl Monitor for Interrupted {
        fn observe(&self, progress: &Progress) -> Result<(), Stop> {
            if progress.states > 20_000 { Err(Stop::Interrupt) } else { Ok(()) }
        }
    }
    let program = read("hard.fw", HARD);
    let task = Task { program: &program, model: model_named("tso").expect("known") };
    for threads in [1, 2, 3] {
        let Verdict::Unknown(reasons) = answer(&task, threads, &Interrupted).verdict else {
            panic!("interrupted")
        };
        assert_eq!(reasons.first(), Some(&evidence::Reason::Stopped(Stop::Interrupt)));
    }
}

fn engines(text: &str) -> (Vec<&'static str>, Vec<&'static str>, bool) {
    let program = read("test.fw", text);
    let task = Task { program: &program, model: model_named("tso").expect("known") };
    let plan = plan(&task);
    let asked = plan.entries.iter().map(|entry| entry.engine.name()).collect();
    let left_out = plan.left_out.iter().map(|(engine, _)| *engine).collect();
    (asked, left_out, plan.facts.growing.is_some())
}

#[test]
fn plans_fit_the_program() {
    let counts = "shared x; thread P { loop { x = x + 1; } } never x == 0 - 1;";
    assert_eq!(
        engines(counts),
        (vec!["explicit", "cegar", "lazy", "gaps", "cegar", "explicit"], vec!["explicit"], true)
    );
    let multiplies = "shared x; thread P { let a; a = any; x = a; } never x * x == 2;";
    assert_eq!(
        engines(multiplies),
        (vec!["explicit", "cegar", "lazy", "cegar", "explicit"], vec!["explicit", "gaps"], true)
    );
    // A sum outside of loops, and one modulo a constant inside.
    let finite = "shared x; thread P { x = x + 1; loop { x = (x + 1) % 3; } } never x == 5;";
    assert!(!engines(finite).2);
}
