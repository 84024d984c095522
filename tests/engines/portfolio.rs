//! The portfolio: a plan that fits the program, and a race that always has the same winner.

use engine::{Answer, Engine, Explicit, Portfolio, Run, ask, plan};
use evidence::{Ignore, Monitor, MostStates, Progress, Stop, Task, Verdict, check};
use machine::{MODELS, TSO, Trace, Violation, model_named};
use program::{Program, Source};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

fn read(name: &str, text: &str) -> Program {
    let frontend = frontend::choose(Some("fw"), "", "").expect("there is such a language");
    let parsed = (frontend.read)(Source::new(name, text), &frontend::Options::default());
    parsed.expect("it is a program").program
}

fn corpus(name: &str) -> Program {
    let path = support::root().join("corpus").join(name);
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
        other => format!("{}: {other:?}", answer.engine),
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
            let task = Task::safe(&program, *model);
            let alone = answer(&task, 1, &MostStates(300_000));
            let expected = said(&alone);
            engines.insert(alone.engine);
            check(&task, alone.verdict, &Ignore).expect("the evidence holds");
            for threads in [0, 2, 3, 8] {
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
    let task = Task::safe(&program, TSO);
    let expected = said(&answer(&task, 1, &MostStates(30_000)));
    for threads in [0, 2, 4] {
        assert_eq!(said(&answer(&task, threads, &MostStates(30_000))), expected, "{threads} threads");
    }
}

/// Memory is short once all together have taken this much.
struct Narrow {
    most: usize,
    taken: Mutex<BTreeMap<&'static str, usize>>,
    refused: AtomicUsize,
}

impl Monitor for Narrow {
    fn observe(&self, progress: &Progress) -> Result<(), Stop> {
        let mut taken = self.taken.lock().expect("nobody panics");
        taken.insert(progress.engine, progress.bytes);
        if taken.values().sum::<usize>() > self.most {
            self.refused.fetch_add(1, Ordering::SeqCst);
            return Err(Stop::Memory);
        }
        if progress.states > 300_000 { Err(Stop::States) } else { Ok(()) }
    }

    fn leave(&self, engine: &'static str) {
        self.taken.lock().expect("nobody panics").remove(engine);
    }
}

/// Exploration would take all memory for ever; the proof needs little.
#[test]
fn whoever_has_taken_most_leaves_when_memory_is_short() {
    let program = corpus("alternating_bit.fw");
    let task = Task::safe(&program, TSO);
    for threads in [0, 1, 2, 3] {
        let narrow = Narrow { most: 60_000, taken: Mutex::default(), refused: AtomicUsize::new(0) };
        let answer = answer(&task, threads, &narrow);
        assert!(matches!(answer.verdict, Verdict::Safe(_)), "{}", said(&answer));
        assert!(narrow.refused.load(Ordering::SeqCst) > 0, "memory was short");
    }
}

/// Everybody gets their turn: when somebody has done much, nobody is far behind.
#[test]
fn work_is_shared() {
    #[derive(Default)]
    struct Clerk(Mutex<BTreeMap<&'static str, usize>>);
    impl Monitor for Clerk {
        fn observe(&self, progress: &Progress) -> Result<(), Stop> {
            let mut done = self.0.lock().expect("nobody panics");
            *done.entry(progress.engine).or_default() += progress.work;
            if done.values().sum::<usize>() > 1_000_000 { Err(Stop::Time) } else { Ok(()) }
        }
    }
    // With four threads, no engine has an answer for a long time.
    let path = support::root().join("corpus/bakery_fenced.fw");
    let text = std::fs::read_to_string(path).expect("readable").replace("const N = 2;", "const N = 4;");
    let program = read("bakery_fenced.fw", &text);
    let task = Task::safe(&program, TSO);
    let plan = plan(&task);
    for threads in [1, 2] {
        let clerk = Clerk::default();
        let answer = answer(&task, threads, &clerk);
        assert_eq!(answer.verdict.word(), "unknown", "{}", said(&answer));
        let done = clerk.0.into_inner().expect("nobody panics");
        assert_eq!(done.len(), plan.entries.len(), "{done:?}");
        for entry in &plan.entries {
            let name = entry.engine.name();
            let early = if entry.head_start.is_some() { 600_000 } else { 150_000 };
            let fair = early.max(1_000_000 * entry.share / 100);
            assert!(done[name] < 2 * fair, "{name} did {} of {done:?}", done[name]);
        }
    }
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
    let task = Task::safe(&program, TSO);
    for threads in [1, 2, 3] {
        let answer = answer(&task, threads, &Interrupted);
        let (Verdict::Unknown(reasons) | Verdict::Within(_, reasons)) = answer.verdict else {
            panic!("interrupted")
        };
        assert_eq!(reasons.first(), Some(&evidence::Reason::Stopped(Stop::Interrupt)));
    }
}

fn engines(text: &str) -> (Vec<&'static str>, Vec<&'static str>, bool) {
    let program = read("test.fw", text);
    let task = Task::safe(&program, TSO);
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
        (
            vec!["explicit", "lazy", "cegar", "gaps"],
            vec!["complete", "extrapolate", "context", "turns"],
            true
        )
    );
    let multiplies = "shared x; thread P { let a; a = any; x = a; } never x * x == 2;";
    assert_eq!(
        engines(multiplies),
        (
            vec!["explicit", "lazy", "cegar"],
            vec!["gaps", "complete", "extrapolate", "context", "turns"],
            true
        )
    );
    let two = format!("{counts} thread Q {{ x = 0; }}");
    assert_eq!(engines(&two).0, ["explicit", "lazy", "cegar", "gaps", "context"]);
    // A sum outside of loops, and one modulo a constant inside.
    let finite = "shared x; thread P { x = x + 1; loop { x = (x + 1) % 3; } } never x == 5;";
    assert!(!engines(finite).2);
    assert_eq!(engines(finite).0, ["explicit", "lazy", "cegar", "complete"]);
    // Values under SC are many where some are drawn; with a fence, buffers stay short.
    let drawn = |fence| format!("shared x; thread P {{ let a; loop {{ a = any; x = a; {fence} }} }}");
    assert_eq!(engines(&drawn("")).0, ["explicit", "lazy", "cegar", "gaps", "extrapolate"]);
    assert_eq!(engines(&drawn("fence;")).0, ["explicit", "lazy", "cegar", "gaps"]);
}

#[test]
fn a_head_start_is_for_violations_that_are_near() {
    let ahead = |body: &str| {
        let text = format!("shared x; thread P {{ let a; loop {{ {body} }} }} thread Q {{ x = 2; }}");
        let program = read("test.fw", &text);
        let plan = plan(&Task::safe(&program, TSO));
        let ahead = plan.entries.iter().filter(|entry| entry.head_start.is_some());
        ahead.map(|entry| entry.engine.name()).collect::<Vec<_>>()
    };
    assert_eq!(ahead("x = 1;"), ["context"]);
    assert!(ahead("x = 1; fence;").is_empty(), "buffers stay short");
    assert!(ahead("a = any; x = a;").is_empty(), "runs with two contexts are many");
}

#[test]
fn buffers_that_may_grow_are_seen() {
    let piles_up = |text: &str, model: &str| {
        let program = read("test.fw", text);
        plan(&Task::safe(&program, model_named(model).expect("known"))).facts.piling_up.is_some()
    };
    let stores = "shared x; thread P { loop { x = 1; } }";
    assert!(!piles_up(stores, "sc") && piles_up(stores, "tso") && piles_up(stores, "pso"));
    assert!(!piles_up("shared x; thread P { loop { x = 1; fence; } }", "tso"));
    assert!(!piles_up("shared x; thread P { x = 1; x = 2; }", "tso"));
    assert!(!piles_up("shared x; thread P { loop { atomic { x = 1; } } }", "tso"));
    // The fence is on one way round only.
    assert!(piles_up("shared x; thread P { let r; loop { x = 1; r = x; if (r == 1) { fence; } } }", "tso"));
}

/// Asks somebody whose evidence is wrong, and somebody else if it may not.
struct WithLiar;

impl Engine for WithLiar {
    fn name(&self) -> &'static str {
        "with liar"
    }

    fn about(&self) -> &'static str {
        "for tests"
    }

    fn answer(&self, task: &Task<'_>, run: &Run<'_>) -> Answer {
        let truth = Explicit.verify(task, run);
        match run.without.contains(&"liar") {
            true => truth,
            false => {
                let trace =
                    Trace { initial: Vec::new(), steps: Vec::new(), violation: Violation::Property(0) };
                Answer { verdict: Verdict::Unsafe(trace), engine: "liar", ..truth }
            }
        }
    }
}

#[test]
fn whose_evidence_is_rejected_is_named_and_others_answer() {
    let program = read("test.fw", "shared x; thread P { x = 1; } never x == 2;");
    let task = Task::safe(&program, TSO);
    let found = ask(&task, &WithLiar, &Run::default()).expect("others answer");
    assert_eq!((found.checked.holds(), found.engine), (Some(true), "explicit"));
    assert_eq!(found.bugs.iter().map(|bug| bug.engine).collect::<Vec<_>>(), ["liar"]);
    assert!(found.bugs[0].to_string().contains("please report it"));
}

#[test]
fn the_portfolio_leaves_out_whom_it_is_told_to() {
    let program = read("test.fw", "shared x; thread P { x = 1; } never x == 2;");
    let task = Task::safe(&program, TSO);
    let answer = |without| Portfolio.verify(&task, &Run { without, ..Run::default() });
    assert_eq!(answer(&[]).engine, "explicit");
    assert_eq!(answer(&["explicit"]).engine, "lazy");
}
