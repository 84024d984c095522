//! Proofs that go backwards: what is left out or changed is noticed, unless what remains is a proof.

use engine::{Complete, Engine, Run};
use evidence::{
    BasisFlaw, BasisProof, Certificate, Form, Ignore, Rejected, Stores, Task, Verdict, check, check_file,
    write_evidence,
};
use fastrand::Rng;
use machine::{Backward, MODELS, Model, PSO, TSO, model_named};
use program::{Program, Renaming, Source};
use std::io::{self, BufRead, Cursor};

const SUBJECTS: &[(&str, &str)] = &[
    ("tso", "shared x, y; thread P { loop { x = 1; y = 1; } } thread Q { await y == 1; assert x == 1; }"),
    (
        "pso",
        "shared x, y; thread P { loop { x = 1; fence store; y = 1; } } \
             thread Q { await y == 1; assert x == 1; }",
    ),
    (
        "sc",
        "shared x, y; thread P { x = 1; assume y == 0; cs: skip; } \
            thread Q { y = 1; assume x == 0; cs: skip; } never P@cs && Q@cs;",
    ),
    (
        "tso",
        "shared x, y; thread P { x = 1; fence; assume y == 0; cs: skip; } \
             thread Q { y = 1; fence; assume x == 0; cs: skip; } never P@cs && Q@cs;",
    ),
    (
        "pso",
        "shared x, y; thread P { loop { atomic { x = 1; y = 1; } atomic { x = 0; y = 0; } } } \
             thread Q { let a, b; loop { atomic { a = x; b = y; } assert a == b; } }",
    ),
    (
        "tso",
        "shared l, n; thread P { loop { await cas(l, 0, 1); n = 1; assert n == 1; n = 0; l = 0; } } \
             thread Q { loop { await cas(l, 0, 1); n = 2; assert n == 2; n = 0; l = 0; } }",
    ),
    ("pso", REPLICAS),
    // What is claimed looks at memory and threads at once.
    (
        "tso",
        "shared x; thread P(i in 0..2) { loop { atomic { x = 1; skip; x = 0; } there: skip; } } never P0@there && x == 1;",
    ),
];

/// Threads that differ in their names only.
const REPLICAS: &str = "shared l, n; thread P(i in 0..3) { \
    loop { await cas(l, 0, i + 1); n = i + 1; assert n == i + 1; fence; l = 0; } }";

fn program(text: &str) -> Program {
    let frontend = frontend::choose(Some("fw"), "test.fw", text).expect("a language");
    let parsed = (frontend.read)(Source::new("test.fw", text.to_string()), &Default::default());
    parsed.unwrap_or_else(|errors| panic!("{errors:?}\n{text}")).program
}

fn proof(task: &Task<'_>) -> BasisProof {
    match Complete.verify(task, &Run::default()).verdict {
        Verdict::Safe(Certificate::Basis(proof)) => proof,
        other => panic!("{other:?}\n{}", program::print(task.program)),
    }
}

/// Whether a proof is accepted: from memory and from both forms of a file alike.
fn accepted(task: &Task<'_>, proof: &BasisProof) -> Result<(), Rejected> {
    let verdict = Verdict::Safe(Certificate::Basis(proof.clone()));
    for form in [Form::Text, Form::Json] {
        let mut file = Vec::new();
        write_evidence(task, &verdict, form, &mut file).expect("written");
        let open = || Ok(Box::new(Cursor::new(file.clone())) as Box<dyn BufRead>) as io::Result<_>;
        let found = check_file(task.program, &open, 1 << 28, &Ignore).is_ok();
        let in_memory = Verdict::Safe(Certificate::Basis(proof.clone()));
        assert_eq!(found, check(task, in_memory, &Ignore).is_ok(), "{form:?}");
    }
    check(task, verdict, &Ignore).map(drop)
}

fn subjects() -> Vec<(Program, Model)> {
    SUBJECTS.iter().map(|(model, text)| (program(text), model_named(model).expect("known"))).collect()
}

#[test]
fn a_basis_is_accepted_as_it_was_written() {
    for (program, model) in subjects() {
        let task = Task::safe(&program, model);
        let proof = proof(&task);
        assert_eq!(accepted(&task, &proof), Ok(()), "{}", program::print(&program));
    }
}

#[test]
fn no_element_of_a_basis_can_be_left_out() {
    let mut flaws = Vec::new();
    for (program, model) in subjects() {
        let task = Task::safe(&program, model);
        let whole = proof(&task);
        let mut rng = Rng::with_seed(7);
        for _ in 0..20.min(whole.elements.len()) {
            let mut less = whole.clone();
            less.elements.remove(rng.usize(..less.elements.len()));
            match accepted(&task, &less) {
                Err(Rejected::Basis(flaw)) => flaws.push(flaw),
                // Another element may cover what it covered.
                Ok(()) => {}
                other => panic!("{other:?}"),
            }
        }
        let nothing = BasisProof { stores: Stores::InOrder, renamings: Vec::new(), elements: Vec::new() };
        assert_eq!(accepted(&task, &nothing), Err(Rejected::Basis(BasisFlaw::ViolationMissing)));
    }
    assert!(flaws.contains(&BasisFlaw::ViolationMissing));
    assert!(flaws.iter().filter(|flaw| matches!(flaw, BasisFlaw::PredecessorMissing(_))).count() > 20);
}

#[test]
fn an_unsafe_program_has_no_basis() {
    // What proves the fenced program says nothing of the one without fences.
    let text = SUBJECTS[3].1;
    let (fenced, plain) = (program(text), program(&text.replace("fence;", "skip;")));
    let model = TSO;
    let (task, other) = (Task::safe(&fenced, model), Task::safe(&plain, model));
    let borrowed = proof(&task);
    assert!(check(&other, Verdict::Safe(Certificate::Basis(borrowed)), &Ignore).is_err());
    // Everything that leads to a violation, closed under steps: a run starts in it.
    let view = Backward::new(&plain, model, &mut || true).expect("finite");
    let mut elements: Vec<_> =
        view.violations(&mut || true).expect("few").into_iter().map(|(element, _)| element).collect();
    let mut at = 0;
    while at < elements.len() {
        let mut found = Vec::new();
        view.predecessors(&elements[at], &mut |_, before| found.push(before));
        for before in found {
            if !elements.iter().any(|element| view.covers(element, &before)) {
                elements.push(before);
            }
        }
        at += 1;
    }
    let all = BasisProof { stores: Stores::InOrder, renamings: Vec::new(), elements };
    assert!(matches!(accepted(&other, &all), Err(Rejected::Basis(BasisFlaw::Starts(_)))));
    let mut without = all;
    without.elements.retain(|element| !view.may_start(element));
    assert!(matches!(accepted(&other, &without), Err(Rejected::Basis(BasisFlaw::PredecessorMissing(_)))));
}

#[test]
fn elements_of_another_program_are_refused() {
    let subjects = subjects();
    for (at, (program, model)) in subjects.iter().enumerate() {
        let task = Task::safe(program, *model);
        for (other, (owner, its_model)) in subjects.iter().enumerate().filter(|(other, _)| *other != at) {
            let foreign = proof(&Task::safe(owner, *its_model));
            let verdict = Verdict::Safe(Certificate::Basis(foreign));
            let found = check(&task, verdict, &Ignore);
            let refused = matches!(found, Err(Rejected::Basis(_) | Rejected::Renaming));
            assert!(refused, "{other} for {at}: {found:?}");
        }
    }
}

/// What holds up to names holds of a program that the names do not matter to, and up to these names only.
#[test]
fn renamings_must_preserve_the_program() {
    let (program, model) = (program(REPLICAS), PSO);
    let task = Task::safe(&program, model);
    let whole = proof(&task);
    assert_eq!((whole.renamings.len(), accepted(&task, &whole)), (2, Ok(())));
    for at in 0..whole.renamings.len() {
        let mut less = whole.clone();
        less.renamings.remove(at);
        assert!(matches!(accepted(&task, &less), Err(Rejected::Basis(_))), "names of {at} do matter");
    }
    let refused = |change: &dyn Fn(&mut Renaming)| {
        let mut changed = whole.clone();
        change(&mut changed.renamings[0]);
        let verdict = Verdict::Safe(Certificate::Basis(changed));
        assert_eq!(check(&task, verdict, &Ignore).map(drop), Err(Rejected::Renaming));
    };
    refused(&|renaming| renaming.threads.swap(0, 1));
    refused(&|renaming| renaming.threads[2].1.swap(0, 1));
    refused(&|renaming| renaming.variables.swap(0, 1));
    refused(&|renaming| renaming.in_memory.iter_mut().for_each(|names| names.clear()));
    refused(&|renaming| drop(renaming.in_memory[0].insert(1.into(), 7.into())));
    refused(&|renaming| drop(renaming.threads.pop()));
    refused(&|renaming| renaming.in_registers.clear());
}

/// One thread that does without the lock: the others are not proved by what is known of the first.
#[test]
fn a_thread_of_its_own_is_not_covered_by_the_others() {
    let alike = program(REPLICAS);
    let other = program(&REPLICAS.replace("await cas(l, 0, i + 1)", "await i == 2 || cas(l, 0, i + 1)"));
    for model in MODELS.iter().copied() {
        let borrowed = proof(&Task::safe(&alike, model));
        let task = Task::safe(&other, model);
        let verdict = Verdict::Safe(Certificate::Basis(borrowed));
        assert_eq!(check(&task, verdict, &Ignore).map(drop), Err(Rejected::Renaming));
        assert_eq!(Complete.verify(&task, &Run::default()).verdict.word(), "unsafe");
    }
}

#[test]
fn lines_that_demand_nonsense_are_refused() {
    let (program, model) = (program(SUBJECTS[0].1), TSO);
    let task = Task::safe(&program, model);
    let verdict = Verdict::Safe(Certificate::Basis(proof(&task)));
    let mut file = Vec::new();
    write_evidence(&task, &verdict, Form::Text, &mut file).expect("written");
    let text = String::from_utf8(file).expect("text");
    let head = text.lines().next().expect("a head");
    for line in [
        "demand",
        "demand - - -",
        "demand 99 -",
        "demand 0:5 -",
        "demand - - m7=0",
        "demand - - m0=77",
        "demand - - h1",
        "demand - - q0.0=1",
        "demand - - v9=g0=1",
        "demand - - v0=o0=1+1=1",
        "demand - - v0=g0=9",
        "state 0 0 0",
    ] {
        let file = format!("{head}\n{line}\nend 2\n").into_bytes();
        let open = || Ok(Box::new(Cursor::new(file.clone())) as Box<dyn BufRead>) as io::Result<_>;
        assert!(check_file(&program, &open, 1 << 28, &Ignore).is_err(), "{line}");
    }
}
