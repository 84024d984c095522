//! What certificates know, place by place: exact sentences for programs where one can see them, and
//! random walks that never leave what is claimed.

use engine::{Engine, Explicit, GapProofs, Run};
use evidence::{Certificate, Known, Task, Verdict, check, known};
use machine::{Configuration, Exact, model_named};
use program::{Loc, Program, Source, ThreadId};

fn read(text: &str) -> Program {
    let frontend = frontend::choose(Some("fw"), "", "").expect("there is such a language");
    (frontend.read)(Source::new("test.fw", text), &frontend::Options::default()).expect("it reads").program
}

fn proved(program: &Program, model: &str, engine: &dyn Engine) -> Known {
    let task = Task { program, model: model_named(model).expect("there is such a model") };
    let answer = engine.verify(&task, &Run::default());
    let checked = check(&task, answer.verdict, &evidence::Ignore).expect("the evidence holds");
    let Verdict::Safe(certificate) = checked.verdict() else { panic!("{:?}", checked.verdict()) };
    assert_eq!(matches!(certificate, Certificate::Gaps(..)), engine.name() == "gaps");
    known(&task, certificate)
}

fn corpus(name: &str) -> Program {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name);
    read(&std::fs::read_to_string(path).expect("the corpus has it"))
}

/// The sentences where the first thread stands at a label.
fn at_label(program: &Program, known: &Known, label: &str) -> Vec<String> {
    let loc = program.threads[0].labelled(label)[0];
    known.at(ThreadId::new(0), loc).expect("it is reached").to_vec()
}

#[test]
fn a_closed_set_knows_values_buffers_and_who_is_elsewhere() {
    let program = corpus("peterson_fenced.fw");
    let known = proved(&program, "tso", &Explicit);
    assert_eq!(
        at_label(&program, &known, "cs"),
        ["flag[0] is 1", "flag[1] and turn are 0 or 1", "its buffer is empty", "P1 is never at cs"]
    );
}

#[test]
fn what_nobody_reaches_is_not_known() {
    let program = read("shared x; thread P { x = 1; await x == 2; here: x = 3; } never x == 3;");
    let known = proved(&program, "sc", &Explicit);
    let here = program.threads[0].labelled("here")[0];
    assert_eq!(known.at(ThreadId::new(0), here), None);
    assert_eq!(known.at(ThreadId::new(7), here), None);
    assert_eq!(known.at(ThreadId::new(0), Loc::new(99)), None);
    assert_eq!(known.at(ThreadId::new(0), Loc::new(0)), Some(&["x is 0".to_string()][..]));
}

#[test]
fn a_gap_certificate_knows_bounds_and_order() {
    let text = "shared next, serving;
        thread T(i in 0..2) { let mine; loop {
            mine = fetch_add(next, 1); await serving == mine; cs: skip; serving = mine + 1; } }
        never T0@cs && T1@cs;";
    let program = read(text);
    let known = proved(&program, "tso", &GapProofs);
    let sentences = at_label(&program, &known, "cs");
    assert_eq!(
        sentences,
        [
            "next is at least 1",
            "serving is at least 0",
            "mine is at least 0",
            "serving < next",
            "mine < next",
            "serving == mine",
            "its buffer is empty",
            "T1 is never at cs"
        ]
    );
}

/// Walks concretely and checks every sentence but those about what a buffer holds.
#[test]
fn no_walk_leaves_what_is_known() {
    let ticket = "shared next, serving;
        thread T(i in 0..2) { let mine; loop {
            mine = fetch_add(next, 1); await serving == mine; cs: skip; serving = mine + 1; } }
        never T0@cs && T1@cs;";
    let cases: [(Program, &str, &dyn Engine); 6] = [
        (corpus("peterson_fenced.fw"), "tso", &Explicit),
        (corpus("sb_fenced.fw"), "tso", &Explicit),
        (corpus("sb_fenced.fw"), "pso", &Explicit),
        (read(ticket), "tso", &GapProofs),
        (read(ticket), "pso", &GapProofs),
        (corpus("bakery_fenced.fw"), "tso", &GapProofs),
    ];
    for (program, model, engine) in &cases {
        let known = proved(program, model, *engine);
        let mut compared = 0;
        for seed in 0..20 {
            compared += walk(program, model, &known, seed);
        }
        assert!(compared > 1000, "{}: only {compared} comparisons", program.name);
    }
}

fn walk(program: &Program, model: &str, known: &Known, seed: u64) -> usize {
    let machine = Exact::new(program, model_named(model).expect("a model"));
    let mut chance = fastrand::Rng::with_seed(seed);
    let start: Vec<_> = program.variable_ids().map(|v| (v, program.variable(v).initial.example())).collect();
    let mut at = Configuration::initial(&machine, &start).expect("allowed");
    let mut compared = 0;
    for _ in 0..200 {
        for thread in program.thread_ids() {
            let loc = at.local(thread).loc;
            let sentences = known.at(thread, loc).expect("a walk comes here");
            compared += sentences.iter().filter(|s| holds(program, &at, thread, s)).count();
        }
        let steps = at.enabled(&machine);
        let Some(step) = chance.choice(&steps) else { break };
        let value = step.choice.as_ref().map(|domain| domain.example());
        at = at.take(&machine, step.event, value.as_ref()).expect("it was enabled");
    }
    compared
}

/// Whether the sentence was understood; fails if it was and does not hold.
fn holds(program: &Program, at: &Configuration, thread: ThreadId, sentence: &str) -> bool {
    let value = |name: &str| -> Option<i64> {
        let variable = program.variable_ids().find(|v| program.variable(*v).name == name);
        let registers = &program.thread(thread).registers;
        let register = registers.iter().position(|r| r == name).map(program::RegId::new);
        let value = variable.map(|v| at.memory(v)).or(register.map(|r| at.register(thread, r)))?;
        i64::try_from(value).ok()
    };
    let words: Vec<&str> = sentence.split(' ').collect();
    let numbers = || words.iter().filter_map(|w| w.trim_end_matches(',').parse::<i64>().ok());
    let verb = words.iter().position(|w| ["is", "are", "lies", "lie"].contains(w));
    let truth = match (verb, &words[..]) {
        (None, [a, relation, b]) => match (value(a), value(b)) {
            (Some(a), Some(b)) => match *relation {
                "<" => a < b,
                "<=" => a <= b,
                "==" => a == b,
                "!=" => a != b,
                _ => return false,
            },
            _ => return false,
        },
        (None, [b, "==", a, sign, c]) => {
            let c: i64 = c.parse().expect("a number");
            value(b) == value(a).map(|a| if *sign == "-" { a - c } else { a + c })
        }
        (Some(_), [other, "is", "never", "at", labels @ ..]) => {
            let other = program.thread_ids().find(|t| program.thread(*t).name == *other).expect("a thread");
            let here = &program.thread(other).location(at.local(other).loc).labels;
            !labels.iter().any(|label| here.iter().any(|h| h == label.trim_end_matches(',')))
        }
        (Some(verb), _) if !sentence.contains("buffer") && !sentence.contains("never") => {
            let names = words[..verb].iter().map(|w| w.trim_end_matches(',')).filter(|w| *w != "and");
            names.map(|name| value(name).unwrap_or_else(|| panic!("{name}: {sentence}"))).all(|value| {
                match words[verb + 1] {
                    "at" if words[verb + 2] == "least" => numbers().all(|least| least <= value),
                    "at" => numbers().all(|most| value <= most),
                    "between" => {
                        numbers().min().is_some_and(|n| n <= value)
                            && numbers().max().is_some_and(|n| value <= n)
                    }
                    _ => numbers().any(|one| one == value),
                }
            })
        }
        _ if sentence == "its buffer is empty" => at.buffer(thread).is_empty(),
        _ => return false,
    };
    assert!(truth, "`{sentence}` does not hold in {at:?}");
    true
}
