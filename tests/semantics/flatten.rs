//! A flattened machine does under SC what the machine does: the same verdicts on random programs, runs
//! that replay on the original, and a text that reads back.
//!
//! `FENCEWRIGHT_SEEDS=n` checks n programs instead of the usual number.

use engine::{Engine, Explicit, Reduction, Run};
use evidence::{
    Certificate, Claim, Form, Ignore, Listed, MostStates, Pass, Reason, Task, Verdict, Via, check,
    check_file, read_certificate, write_evidence,
};
use frontend::Options;
use machine::{Flattened, MODELS, Model, SC, TSO, Trace, TraceRejected, replay};
use program::{Program, Source, print, same};
use std::collections::BTreeMap;
use std::io::BufRead;
use support::random::{generate, seeds};

fn read(name: &str, text: &str) -> Program {
    let frontend = frontend::choose(Some("fw"), "", "").expect("there is such a language");
    let parsed = (frontend.read)(Source::new(name, text), &Options::default());
    parsed.unwrap_or_else(|why| panic!("{why:?}\n{text}")).program
}

fn corpus(name: &str) -> Program {
    let path = support::root().join("corpus").join(name);
    read(name, &std::fs::read_to_string(path).expect("readable"))
}

fn flat(program: &Program, model: Model, bound: usize) -> Flattened {
    Flattened::bounded(program, model, bound).expect("small enough")
}

/// What exploration says of a program within a bound on buffers.
fn explore(program: &Program, model: Model, bound: Option<usize>) -> Verdict {
    let run =
        Run { monitor: &MostStates(20_000), max_buffer: bound, reduction: Reduction::None, ..Run::default() };
    Explicit.verify(&Task::safe(program, model), &run).verdict
}

/// Compares a program and its flattened form; says in a word what was compared.
fn compare(program: &Program, model: Model, bound: usize) -> &'static str {
    let flat = flat(program, model, bound);
    assert!(flat.program.validate().is_ok(), "{}", print(&flat.program));
    let text = print(&flat.program);
    assert!(same(&read("flat.fw", &text), &flat.program), "{text}");
    let back = |trace: &Trace| -> Option<Result<(), TraceRejected>> {
        flat.backward(trace).map(|trace| replay(program, model, &trace).map(|_| ()))
    };
    match (explore(program, model, Some(bound)), explore(&flat.program, SC, None)) {
        (Verdict::Safe(_), Verdict::Safe(_)) => "safe",
        (Verdict::Unsafe(_), Verdict::Unsafe(trace)) => match back(&trace) {
            Some(replayed) => {
                assert_eq!(replayed, Ok(()), "{}\n{text}", print(program));
                "unsafe"
            }
            None => "overflow comes first",
        },
        (Verdict::Unknown(reasons), Verdict::Unsafe(trace)) if reasons == [Reason::BuffersBeyond(bound)] => {
            assert_eq!(back(&trace), None, "exploration finds no violation\n{}\n{text}", print(program));
            "overflow"
        }
        (Verdict::Unknown(_), _) | (_, Verdict::Unknown(_)) => "not decided",
        (ours, flat) => panic!("{ours:?}, but flattened {flat:?}\n{}\n{text}", print(program)),
    }
}

#[test]
fn verdicts_agree_and_runs_come_back() {
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for seed in 0..seeds() {
        let program = generate(seed);
        for model in MODELS {
            for bound in [1, 2] {
                *counts.entry((model.name(), compare(&program, *model, bound))).or_default() += 1;
            }
        }
    }
    for model in MODELS {
        let many = |what| counts.get(&(model.name(), what)).copied().unwrap_or(0) as u64 > seeds() / 20;
        assert!(many("safe") && many("unsafe"), "{counts:?}");
        assert!(!many("not decided"), "{counts:?}");
    }
    assert!(
        counts.contains_key(&("tso", "overflow")) && counts.contains_key(&("pso", "overflow")),
        "{counts:?}"
    );
}

#[test]
fn bounds_that_suffice_give_verdicts_and_others_overflow() {
    assert_eq!(compare(&corpus("sb.fw"), TSO, 1), "unsafe");
    assert_eq!(compare(&corpus("peterson_fenced.fw"), TSO, 3), "safe");
    assert_eq!(compare(&corpus("peterson_fenced.fw"), TSO, 2), "overflow");
}

#[test]
fn a_proof_about_the_flattened_program_proves_the_program() {
    let program = corpus("peterson_fenced.fw");
    let via = |program: &Program, bound: usize, asked: usize| {
        let other = flat(program, TSO, asked).program;
        let Verdict::Safe(Certificate::Listed(Listed { gaps, set })) = explore(&other, SC, None) else {
            panic!("safe")
        };
        Verdict::Safe(Certificate::Via(Via { pass: Pass::Flatten { buffer: bound }, gaps, set }))
    };
    let task = Task::safe(&program, TSO);
    let checked = check(&task, via(&program, 3, 3), &Ignore).expect("it holds");
    for form in [Form::Text, Form::Json] {
        let mut file = Vec::new();
        write_evidence(&task, checked.verdict(), form, &mut file).expect("memory takes everything");
        let open = || Ok(Box::new(std::io::Cursor::new(file.clone())) as Box<dyn BufRead>);
        let claim = check_file(&program, &open, 1 << 24, &Ignore).expect("the file holds");
        assert!(matches!(claim, Claim::Safe(model, _) if model == TSO));
        let (_, read) = read_certificate(&program, &open, &Ignore).expect("readable").expect("a certificate");
        check(&task, Verdict::Safe(read), &Ignore).expect("what was read holds");
        // The same states prove nothing with a bound that is reached.
        let text = String::from_utf8(file.clone()).expect("text");
        let smaller = text.replace("flatten 3", "flatten 2").replace(r#""buffer":3"#, r#""buffer":2"#);
        assert_ne!(smaller, text);
        let open = || Ok(Box::new(std::io::Cursor::new(smaller.clone())) as Box<dyn BufRead>);
        assert!(check_file(&program, &open, 1 << 24, &Ignore).is_err());
    }
    // Nor do they prove anything of a program that needs the fences.
    let unsafe_one = corpus("peterson.fw");
    assert!(check(&Task::safe(&unsafe_one, TSO), via(&program, 3, 3), &Ignore).is_err());
}
