//! Certificates as SMT-LIB, judged by other people's solvers: every obligation is `unsat` for
//! a certificate of ours, and one of them is not once a state is taken away. Needs z3 or cvc5;
//! without them the tests say so, or fail if `FENCEWRIGHT_REQUIRE_SOLVERS` is set.

use engine::{Run, engine_named};
use evidence::{Certificate, Task, Verdict, write_smtlib};
use machine::{StateSet, model_named};
use program::{Program, Source};
use std::io::Write;
use std::process::{Command, Stdio};

/// Runs a solver on a script and counts its answers.
fn answers(solver: &[&str], script: &[u8]) -> Option<(usize, usize)> {
    let mut command = Command::new(solver[0]);
    let child = command.args(&solver[1..]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(_) if std::env::var_os("FENCEWRIGHT_REQUIRE_SOLVERS").is_some() => {
            panic!("{} is missing", solver[0])
        }
        Err(_) => {
            eprintln!("{} is not installed: nothing compared", solver[0]);
            return None;
        }
    };
    let mut input = child.stdin.take().expect("piped");
    let script = script.to_vec();
    let writer = std::thread::spawn(move || input.write_all(&script));
    let output = child.wait_with_output().expect("it ran");
    let _ = writer.join();
    let text = String::from_utf8_lossy(&output.stdout);
    let count = |word: &str| text.lines().filter(|line| *line == word).count();
    assert_eq!(count("unsat") + count("sat"), text.lines().count(), "{text}");
    Some((count("unsat"), count("sat")))
}

const Z3: &[&str] = &["z3", "-in"];
const CVC5: &[&str] = &["cvc5", "--incremental", "--lang", "smt2"];

fn read(name: &str) -> Program {
    let path = format!("{}/corpus/{name}.fw", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("part of the corpus");
    let frontend = frontend::choose(Some("fw"), name, &text).expect("known");
    (frontend.read)(Source::new(name, text), &Default::default()).expect("valid").program
}

fn certificate(task: &Task<'_>, engine: &str) -> Certificate {
    let engine = engine_named(engine).expect("known");
    match engine.verify(task, &Run::default()).verdict {
        Verdict::Safe(certificate) => certificate,
        other => panic!("{other:?}"),
    }
}

/// The same certificate without the state of this number.
fn without(certificate: Certificate, gone: usize) -> Certificate {
    let drop_state = |mut set: evidence::ClosedSet| {
        let mut states = StateSet::new();
        for (at, state) in set.states.iter().enumerate() {
            if at != gone {
                states.insert(state, None).expect("room");
            }
        }
        set.states = states;
        set
    };
    match certificate {
        Certificate::Closed(set) => Certificate::Closed(drop_state(set)),
        Certificate::Gaps(gaps, set) => Certificate::Gaps(gaps, drop_state(set)),
        Certificate::Robust { delays, gaps, set } => {
            Certificate::Robust { delays, gaps, set: drop_state(set) }
        }
    }
}

fn check(name: &str, model: &str, engine: &str, solvers: &[&[&str]]) {
    let program = read(name);
    let task = Task { program: &program, model: model_named(model).expect("known") };
    let mut script = Vec::new();
    let whole = certificate(&task, engine);
    let count = write_smtlib(&task, &whole, &mut script).expect("linear");
    let mut broken = Vec::new();
    let states = whole.set().states.len();
    write_smtlib(&task, &without(whole, states / 2), &mut broken).expect("linear");
    for solver in solvers {
        if let Some(found) = answers(solver, &script) {
            assert_eq!(found, (count, 0), "{name} {model} by {solver:?}");
        }
        if let Some((_, sat)) = answers(solver, &broken) {
            assert!(sat > 0, "{name} {model}: a missing state went unnoticed by {solver:?}");
        }
    }
}

#[test]
fn unbounded_tickets_are_proved_for_other_solvers_too() {
    check("ticket_lock", "tso", "gaps", &[Z3, CVC5]);
    check("ticket_lock", "pso", "gaps", &[Z3, CVC5]);
    check("bakery", "sc", "gaps", &[Z3]);
    check("bakery_fenced", "tso", "gaps", &[Z3]);
}

#[test]
fn counters_queues_and_remainders_are_proved_for_other_solvers_too() {
    check("alternating_bit", "tso", "gaps", &[Z3, CVC5]);
    check("ticket_andrews", "pso", "gaps", &[Z3]);
    check("array_queue", "tso", "gaps", &[Z3]);
    check("nonblocking_write", "sc", "gaps", &[Z3]);
}

#[test]
fn finite_programs_are_proved_for_other_solvers_too() {
    check("peterson_fenced", "tso", "explicit", &[Z3, CVC5]);
    check("peterson_pso", "pso", "explicit", &[Z3, CVC5]);
    check("mp", "tso", "explicit", &[Z3, CVC5]);
}
