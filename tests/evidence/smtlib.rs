//! Certificates as SMT-LIB, judged by other people's solvers: every obligation is `unsat` for
//! a certificate of ours, and one of them is not once a state (or a cube) is taken away. Needs z3 or cvc5;
//! without them the tests say so, or fail if `FENCEWRIGHT_REQUIRE_SOLVERS` is set.

use crate::solvers;
use support::corpus as data;

use data::{corpus, expected};
use engine::{BufferAbstraction, Reduction, Run, engine_named};
use evidence::{Certificate, Listed, MostStates, PoolProof, Task, Verdict, write_smtlib};
use machine::{SC, StateSet, model_named};
use program::{Program, Source};
use solvers::{CVC5, Z3, answers};
use std::collections::BTreeSet;
use std::io::{Error, ErrorKind, Write};
use std::sync::Mutex;

fn read(name: &str) -> Program {
    let path = support::root().join(format!("corpus/{name}.fw"));
    let text = std::fs::read_to_string(path).expect("part of the corpus");
    let frontend = frontend::choose(Some("fw"), name, &text).expect("known");
    (frontend.read)(Source::new(name, text), &Default::default()).expect("valid").program
}

fn certificate(task: &Task<'_>, engine: &str, run: &Run<'_>) -> Certificate {
    let engine = engine_named(engine).expect("known");
    match engine.verify(task, run).verdict {
        Verdict::Safe(certificate) => certificate,
        other => panic!("{other:?}"),
    }
}

/// The same certificate without the state of this number, or without the cubes of its control.
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
        Certificate::Listed(Listed { gaps, set }) => {
            Certificate::Listed(Listed { gaps, set: drop_state(set) })
        }
        Certificate::Pools(PoolProof { k, set }) => Certificate::Pools(PoolProof { k, set: drop_state(set) }),
        Certificate::Via(_)
        | Certificate::Basis(_)
        | Certificate::Reduced(_)
        | Certificate::Shared(_)
        | Certificate::Spilled(_) => {
            panic!("no form in SMT-LIB")
        }
        Certificate::Cubes(mut proof) => {
            // Another cube may do for a single one, but not for all of a control.
            let control = proof.cubes[gone].control;
            proof.cubes.retain(|cube| cube.control != control);
            Certificate::Cubes(proof)
        }
    }
}

fn check(name: &str, model: &str, engine: &str, solvers: &[&[&str]]) {
    check_by(name, model, (engine, &Run::default()), solvers);
}

fn check_by(name: &str, model: &str, (engine, run): (&str, &Run<'_>), solvers: &[&[&str]]) {
    let program = read(name);
    let task = Task::safe(&program, model_named(model).expect("known"));
    let mut script = Vec::new();
    let whole = certificate(&task, engine, run);
    let count = write_smtlib(&task, &whole, &mut script).expect("linear");
    let mut broken = Vec::new();
    let states = match &whole {
        Certificate::Listed(Listed { set, .. }) | Certificate::Pools(PoolProof { set, .. }) => {
            set.states.len()
        }
        Certificate::Via(_)
        | Certificate::Basis(_)
        | Certificate::Reduced(_)
        | Certificate::Shared(_)
        | Certificate::Spilled(_) => {
            panic!("no form in SMT-LIB")
        }
        Certificate::Cubes(proof) => proof.cubes.len(),
    };
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

/// Whoever reads a certificate from a file has not checked it yet.
#[test]
fn a_certificate_that_does_not_fit_the_program_has_no_form() {
    let (mine, other) = (read("peterson_fenced"), read("ticket_lock"));
    let model = SC;
    for engine in ["explicit", "gaps", "cegar"] {
        let proof = certificate(&Task::safe(&mine, model), engine, &Run::default());
        let refused = write_smtlib(&Task::safe(&other, model), &proof, &mut std::io::sink());
        assert_eq!(refused.map_err(|error| error.kind()), Err(ErrorKind::InvalidInput), "{engine}");
    }
}

#[test]
fn proofs_by_cubes_are_proved_for_other_solvers_too() {
    if engine_named("cegar").is_none() {
        return;
    }
    check("ticket_lock", "tso", "cegar", &[Z3, CVC5]);
    check("peterson_fenced", "tso", "cegar", &[Z3, CVC5]);
    check("peterson_pso", "pso", "cegar", &[Z3]);
    check("bakery", "sc", "cegar", &[Z3]);
    check("alternating_bit", "pso", "cegar", &[Z3]);
}

#[test]
fn sets_of_buffered_values_are_proved_for_other_solvers_too() {
    let keeping = |k| match k {
        0 => Run { buffers: BufferAbstraction::Set, ..Run::default() },
        k => Run { buffers: BufferAbstraction::Oldest(k), ..Run::default() },
    };
    check_by("thesis_3_3", "tso", ("buffers", &keeping(0)), &[Z3, CVC5]);
    check_by("thesis_3_3", "pso", ("buffers", &keeping(0)), &[Z3]);
    check_by("mp", "tso", ("buffers", &keeping(2)), &[Z3, CVC5]);
}

#[test]
fn finite_programs_are_proved_for_other_solvers_too() {
    check("peterson_fenced", "tso", "explicit", &[Z3, CVC5]);
    check("peterson_pso", "pso", "explicit", &[Z3, CVC5]);
    check("mp", "tso", "explicit", &[Z3, CVC5]);
}

/// Scripts of more bytes are not for this test: the solvers need a second for a million, and larger ones
/// say the same of more states.
const LARGEST: usize = 250_000;
/// Proofs of more states or cubes make larger scripts.
const MOST_STATES: usize = 5_000;

/// A script that does not grow beyond the largest.
#[derive(Default)]
struct Script(Vec<u8>);

impl Write for Script {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, Error> {
        if self.0.len() + bytes.len() > LARGEST {
            return Err(Error::other("too large"));
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<(), Error> {
        Ok(())
    }
}

/// What became of the certificates.
#[derive(Debug, Default)]
struct Judged {
    accepted: usize,
    obligations: usize,
    too_large: usize,
    /// By robustness or backwards, which has no form in SMT-LIB.
    no_form: usize,
    no_proof: usize,
}

/// Lets the solvers judge an engine's certificate.
fn judge(name: &str, task: &Task<'_>, engine: &str, judged: &Mutex<Judged>) {
    // Reduced proofs have no form.
    let run = Run { monitor: &MostStates(MOST_STATES), reduction: Reduction::None, ..Run::default() };
    let found = engine_named(engine).expect("known").verify(task, &run).verdict;
    let count = |change: &dyn Fn(&mut Judged)| change(&mut judged.lock().expect("nobody panicked"));
    let Verdict::Safe(certificate) = found else {
        assert!(matches!(found, Verdict::Unknown(_) | Verdict::Within(..)), "{name} is safe: {found:?}");
        return count(&|j| j.no_proof += 1);
    };
    let mut script = Script::default();
    match write_smtlib(task, &certificate, &mut script) {
        Err(error) if error.kind() == ErrorKind::InvalidInput => {
            let formless = matches!(certificate, Certificate::Via(_) | Certificate::Basis(_));
            assert!(formless, "{name} by {engine}: {error}");
            count(&|j| j.no_form += 1);
        }
        Err(error) => {
            assert_eq!(error.to_string(), "too large", "{name} by {engine}");
            count(&|j| j.too_large += 1);
        }
        Ok(obligations) => {
            // One of them is enough for each; all tests below use both.
            let solver = if (name.len() + engine.len()).is_multiple_of(2) { Z3 } else { CVC5 };
            if let Some(found) = answers(solver, &script.0) {
                assert_eq!(found, (obligations, 0), "{name} by {engine}, judged by {solver:?}");
            }
            count(&|j| {
                j.accepted += 1;
                j.obligations += obligations;
            });
        }
    }
}

#[test]
fn every_safe_program_of_the_corpus_is_proved_for_other_solvers_too() {
    let mut cases = BTreeSet::new();
    for path in corpus() {
        for case in expected(&path).case.into_iter().filter(|case| case.truth() == "safe") {
            cases.insert((path.clone(), case.model, case.define));
        }
    }
    let (waiting, judged) = (Mutex::new(cases.iter()), Mutex::new(Judged::default()));
    let work = || {
        let next = || waiting.lock().expect("nobody panicked").next();
        while let Some((path, model, define)) = next() {
            let program = data::read(path, define);
            let task = Task::safe(&program, model_named(model).expect("known"));
            let name = format!("{} {define:?} {model}", program.name);
            ["portfolio", "cegar"].iter().for_each(|engine| judge(&name, &task, engine, &judged));
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        scope.spawn(work);
    });
    let judged = judged.into_inner().expect("nobody panicked");
    println!("{} safe cases: {judged:?}", cases.len());
    assert!(judged.accepted > 180 && judged.obligations > 40_000, "{judged:?}");
}
