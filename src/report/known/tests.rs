//! What certificates are said to know, compared with what is meant and with what happens.

use super::*;
use engine::{Run, engine_named};
use evidence::Verdict;
use machine::{Configuration, Exact, model_named};
use program::{Int, Source};

/// A program, and what its proof knows.
fn read_and_prove(text: &str, engine: &str, model: &str) -> (Program, Known) {
    let frontend = frontend::choose(Some("fw"), "", "").expect("there is such a language");
    let source = Source::new("test.fw", text);
    let parsed = (frontend.read)(source, &frontend::Options::default()).expect("it is a program");
    let task = Task { program: &parsed.program, model: model_named(model).expect("a model") };
    let answer = engine_named(engine).expect("an engine").verify(&task, &Run::default());
    let Verdict::Safe(certificate) = answer.verdict else { panic!("{:?}", answer.verdict) };
    let known = known(&task, &certificate);
    (parsed.program, known)
}

/// The sentences at a label of a thread, and those that hold everywhere.
fn check(text: &str, engine: &str, model: &str, (thread, label): (usize, &str), expected: &[&str]) {
    let (program, known) = read_and_prove(text, engine, model);
    let id = ThreadId::new(thread);
    let loc = program.thread(id).labelled(label)[0];
    let at = known.places.iter().find(|at| at.thread == id && at.loc == loc).expect("it is listed");
    let all: Vec<&String> = known.everywhere.iter().chain(&at.sentences).collect();
    for sentence in expected {
        assert!(all.iter().any(|s| s == sentence), "`{sentence}` is not among {all:#?}");
    }
}

const HANDOVER: &str = "shared x, y;
thread P { let a; x = 1; fence; a = y; here: a = a + 1; }
thread Q { y = 2; there: skip; }
never P.a == 7;";

#[test]
fn values_buffers_and_companions_of_a_location_are_told() {
    check(HANDOVER, "explicit", "tso", (0, "here"), &["x = 1", "a is 0 or 2", "P's buffer is empty"]);
    check(HANDOVER, "explicit", "tso", (1, "there"), &["Q's buffer is empty or holds y=2"]);
    check(HANDOVER, "explicit", "sc", (1, "there"), &["y = 2", "all buffers are empty"]);
}

#[test]
fn who_is_never_together_is_told() {
    let text = "shared turn;
thread P { await turn == 0; cs: skip; turn = 1; }
thread Q { await turn == 1; cs: skip; turn = 0; }
never P@cs && Q@cs;";
    check(text, "explicit", "tso", (0, "cs"), &["turn = 0", "Q is not at cs"]);
    check(text, "explicit", "tso", (1, "cs"), &["turn = 1", "P is not at cs"]);
}

#[test]
fn gap_certificates_tell_the_order_of_values() {
    let text = "shared a, b;
thread P { let r; loop { atomic { r = a; a = r + 1; } atomic { b = b + 1; } here: skip; } }
never b > a;";
    check(text, "gaps", "sc", (0, "here"), &["a = b"]);
    check(text, "gaps", "sc", (0, "here"), &["a ≥ b"]);
}

/// Whether a sentence is true of a configuration; `None` if it speaks of something else.
fn holds(program: &Program, at: &Configuration, thread: ThreadId, sentence: &str) -> Option<bool> {
    let value = |name: &str| -> Option<Int> {
        let variable = program.variable_ids().find(|v| program.variable(*v).name == name);
        let registers = &program.thread(thread).registers;
        let register = registers.iter().position(|r| r == name).map(RegId::new);
        let number = name.parse().ok();
        variable.map(|v| at.memory(v)).or(register.map(|r| at.register(thread, r))).or(number)
    };
    if let Some((name, label)) = sentence.split_once(" is not at ") {
        let other = program.thread_ids().find(|t| program.thread(*t).name == name)?;
        let labels = &program.thread(other).location(at.local(other).loc).labels;
        return Some(!labels.iter().any(|l| l == label));
    }
    if sentence.ends_with("'s buffer is empty") {
        return Some(at.buffer(thread).is_empty());
    }
    if let Some((name, choices)) = sentence.split_once(" is ") {
        let value = value(name)?;
        let choice = |text: &str| match text.split_once(" than ") {
            Some(("more", bound)) => value > bound.parse().expect("a number"),
            Some((_, bound)) => value < bound.parse().expect("a number"),
            None => value == text.parse().expect("a number"),
        };
        return Some(choices.replace(" or ", ", ").split(", ").any(choice));
    }
    let words: Vec<&str> = sentence.split(' ').collect();
    let compare = |a: &str, sign: &str, b: &str| -> Option<bool> {
        let (a, b) = (value(a)?, value(b)?);
        Some(match sign {
            "=" => a == b,
            "≠" => a != b,
            "<" => a < b,
            "≤" => a <= b,
            ">" => a > b,
            "≥" => a >= b,
            _ => return None,
        })
    };
    match words.as_slice() {
        [a, sign, b] => compare(a, sign, b),
        [low, first, name, second, high] => Some(compare(low, first, name)? && compare(name, second, high)?),
        _ => None,
    }
}

/// Walks a program at random and looks whether everything said is true on the way.
fn check_on_walks(text: &str, engine: &str, model: &str, named: &str) {
    let (program, known) = read_and_prove(text, engine, model);
    let machine = Exact::new(&program, model_named(model).expect("a model")).with_dead_registers();
    let mut random = fastrand::Rng::with_seed(7);
    let mut judged = 0;
    for _ in 0..30 {
        let mut at = Configuration::initial(&machine, &[]).expect("it starts with fixed values");
        for _ in 0..400 {
            for thread in program.thread_ids() {
                let loc = at.local(thread).loc;
                let here = known.places.iter().find(|k| k.thread == thread && k.loc == loc).expect("listed");
                assert!(here.reached);
                for sentence in known.everywhere.iter().chain(&here.sentences) {
                    let verdict = holds(&program, &at, thread, sentence);
                    assert_ne!(
                        verdict,
                        Some(false),
                        "{named}: `{sentence}` at {loc:?} of {thread:?}: {at:?}"
                    );
                    judged += usize::from(verdict.is_some());
                }
            }
            let enabled = at.enabled(&machine);
            let Some(step) = random.choice(&enabled) else { break };
            at = at.take(&machine, step.event, None).expect("it is enabled");
        }
    }
    assert!(judged > 10_000, "{named}: only {judged} sentences were judged");
}

#[test]
fn what_is_said_is_true_on_random_walks() {
    let bakery = include_str!("../../../corpus/bakery_fenced.fw");
    check_on_walks(bakery, "gaps", "tso", "bakery");
    check_on_walks(include_str!("../../../corpus/ticket_lock.fw"), "gaps", "sc", "ticket lock");
    check_on_walks(include_str!("../../../corpus/dekker_fenced.fw"), "explicit", "tso", "dekker");
    check_on_walks(include_str!("../../../corpus/burns_fenced.fw"), "explicit", "tso", "burns");
}
