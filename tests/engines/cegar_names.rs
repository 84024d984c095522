//! Proofs by cubes up to the names of threads: against those about all names and against exploration, on random programs whose
//! threads are alike; what the checker accepts is true, whatever is done to renamings, cubes and claims.
//!
//! `FENCEWRIGHT_SEEDS=n` checks n programs instead of the usual number.

use support::random;

use engine::{Cegar, Engine, Explicit, Reduction, Run};
use evidence::{
    Certificate, CubeProof, Form, Ignore, MostStates, Rejected, Task, Verdict, check, check_file,
    read_certificate, write_evidence, write_smtlib,
};
use fastrand::Rng;
use machine::{MODELS, Model, TSO};
use program::{Cond, Domain, Expr, Op, Place, Program, Source, ThreadId, VarId, thread_swaps};
use random::{Atom, Claim, Sketch, linear, seeds};
use std::io::{self, BufRead, Cursor};

const MOST: usize = 3_000;

/// A random program of two or three threads that do the same, each with a cell of its own in the place of the first variable.
fn alike(seed: u64) -> Sketch {
    let sketch = random::sketch(seed).map_values(&linear);
    let (count, variables) = (2 + seed as usize % 2, sketch.variables.len());
    let cell =
        |v: VarId, at: usize| if v.index() == 0 && at > 0 { VarId::new(variables + at - 1) } else { v };
    let thread = |at: usize| {
        let first = Sketch { threads: sketch.threads[..1].to_vec(), ..sketch.clone() };
        first.map_ops(&|op| with_cell(op, &|v| cell(v, at))).threads.remove(0)
    };
    let about = |at: usize| {
        let claims = sketch.claims.iter().filter_map(move |claim| {
            let atoms = claim.atoms.iter().map(|atom| renamed(atom, at, &|v| cell(v, at)));
            Some(Claim { atoms: atoms.collect::<Option<Vec<Atom>>>()?, ..claim.clone() })
        });
        claims.collect::<Vec<Claim>>()
    };
    let mut all = sketch.variables.clone();
    all.extend((1..count).map(|_| sketch.variables[0].clone()));
    for (at, variable) in all.iter_mut().enumerate() {
        variable.name = format!("v{at}");
    }
    // Where runs start need not be the same under all names.
    if seed.is_multiple_of(5) && count > 2 {
        all[variables].initial = Domain::only(1);
    }
    Sketch {
        name: format!("alike, seed {seed}"),
        variables: all,
        starts: Vec::new(),
        threads: (0..count).map(thread).collect(),
        claims: (0..count).flat_map(about).collect(),
    }
}

fn with_cell(op: &Op, cell: &dyn Fn(VarId) -> VarId) -> Op {
    match op {
        Op::Load(register, variable) => Op::Load(*register, cell(*variable)),
        Op::Store(variable, value) => Op::Store(cell(*variable), value.clone()),
        Op::Block { locked, parts } => {
            Op::Block { locked: *locked, parts: parts.iter().map(|part| with_cell(part, cell)).collect() }
        }
        other => other.clone(),
    }
}

/// What is claimed of the first thread, of another one; `None` if it is about others.
fn renamed(atom: &Atom, at: usize, cell: &dyn Fn(VarId) -> VarId) -> Option<Atom> {
    match atom {
        Atom::At(0, label, stands) => Some(Atom::At(at, *label, *stands)),
        Atom::At(..) => None,
        Atom::Holds(cond) => {
            let mut first = true;
            cond.for_each_leaf(&mut |place| {
                first &= !matches!(place, Place::Register(t, _) if t.index() > 0)
            });
            let place = |place: &Place| match *place {
                Place::Memory(variable) => Place::Memory(cell(variable)),
                Place::Register(_, register) => Place::Register(ThreadId::new(at), register),
                other => other,
            };
            first.then(|| Atom::Holds(cond.map(&mut |leaf| Expr::Leaf(place(leaf)))))
        }
    }
}

fn prove(program: &Program, model: Model, reduction: Reduction) -> Verdict {
    let run = Run { monitor: &MostStates(MOST), reduction, ..Run::default() };
    Cegar.verify(&Task::safe(program, model), &run).verdict
}

fn explore(program: &Program, model: Model) -> &'static str {
    let run = Run { monitor: &MostStates(20_000), max_buffer: Some(3), ..Run::default() };
    Explicit.verify(&Task::safe(program, model), &run).verdict.word()
}

fn by_cubes(verdict: Verdict) -> Option<CubeProof> {
    match verdict {
        Verdict::Safe(Certificate::Cubes(proof)) => Some(proof),
        _ => None,
    }
}

fn accepted(program: &Program, model: Model, proof: &CubeProof) -> bool {
    check(&Task::safe(program, model), Verdict::Safe(Certificate::Cubes(proof.clone())), &Ignore).is_ok()
}

#[test]
fn names_change_no_answer() {
    let (mut proofs, mut violations, mut fewer) = (0, 0, 0);
    for seed in 0..2 * seeds() {
        let program = alike(seed).build();
        let model = MODELS[seed as usize % MODELS.len()];
        let task = Task::safe(&program, model);
        let verdict = prove(&program, model, Reduction::Symmetry);
        let why = |what: &str| format!("seed {seed} {}: {what}\n{}", model.name(), program::print(&program));
        let word = verdict.word();
        let exact = explore(&program, model);
        assert!(!matches!((word, exact), ("safe", "unsafe") | ("unsafe", "safe")), "{}", why("contradicts"));
        violations += usize::from(word == "unsafe");
        let Some(proof) = by_cubes(verdict) else { continue };
        assert!(accepted(&program, model, &proof), "{}", why("rejected"));
        if proof.renamings.is_empty() {
            continue;
        }
        proofs += 1;
        assert!(write_smtlib(&task, &Certificate::Cubes(proof.clone()), &mut Vec::new()).is_err());
        if let Some(plain) = by_cubes(prove(&program, model, Reduction::None)) {
            assert!(plain.renamings.is_empty());
            fewer += usize::from(proof.cubes.len() < plain.cubes.len());
        }
    }
    assert!(proofs > 30 && violations > 30 && 2 * fewer > proofs, "{proofs} {violations} {fewer}");
}

#[test]
fn files_say_up_to_which_names() {
    let mut read = 0;
    for seed in 0..seeds() / 2 {
        let program = alike(seed).build();
        let model = MODELS[seed as usize % MODELS.len()];
        let task = Task::safe(&program, model);
        let verdict = prove(&program, model, Reduction::Symmetry);
        let Some(proof) = by_cubes(verdict).filter(|proof| !proof.renamings.is_empty()) else { continue };
        for form in [Form::Text, Form::Json] {
            let mut file = Vec::new();
            let verdict = Verdict::Safe(Certificate::Cubes(proof.clone()));
            write_evidence(&task, &verdict, form, &mut file).expect("writable");
            let open = || -> io::Result<Box<dyn BufRead>> { Ok(Box::new(Cursor::new(file.clone()))) };
            assert!(check_file(&program, &open, 1 << 26, &Ignore).is_ok(), "seed {seed}");
            assert!(check_file(&program, &open, 64, &Ignore).is_err(), "memory has an end");
            let again = read_certificate(&program, &open, &Ignore).expect("readable").expect("a proof").1;
            assert_eq!(by_cubes(Verdict::Safe(again)).expect("cubes").renamings, proof.renamings);
            read += 1;
        }
    }
    assert!(read > 20, "{read}");
}

/// Whatever is changed: if the proof is accepted, the program is safe; and most changes are noticed.
#[test]
fn what_is_accepted_is_true() {
    let (mut refused, mut tried) = ([0; 5], [0; 5]);
    for seed in 0..2 * seeds() {
        let mut rng = Rng::with_seed(seed);
        let sketch = alike(seed);
        let model = MODELS[seed as usize % MODELS.len()];
        // What is claimed comes later: then the proof may be about something else.
        let program = sketch.build();
        let verdict = prove(&program, model, Reduction::Symmetry);
        let Some(mut proof) = by_cubes(verdict).filter(|proof| !proof.renamings.is_empty()) else { continue };
        let kind = seed as usize / MODELS.len() % 5;
        let mut other = program.clone();
        match kind {
            // A cube is missing.
            0 => drop(proof.cubes.remove(rng.usize(..proof.cubes.len()))),
            // A thread does something else.
            1 => {
                let mut spoilt = sketch.clone();
                let last = spoilt.threads.len() - 1;
                let store = Op::Store(VarId::new(rng.usize(..spoilt.variables.len())), Expr::from(2));
                spoilt.threads[last].body.push(random::Stmt::Do(store));
                other = spoilt.build();
            }
            // Two variables have each other's name, or two places.
            2 => {
                let renaming = &mut proof.renamings[0];
                match rng.bool() {
                    true => renaming.variables.rotate_left(1),
                    false => renaming.threads[0].1.rotate_left(1),
                }
            }
            // Runs start elsewhere.
            3 => other.variables[rng.usize(..program.variables.len())].initial = Domain::only(3),
            // The threads do not change places.
            _ => {
                let identity = program::Renaming::identity(&program);
                proof.renamings.iter_mut().for_each(|renaming| *renaming = identity.clone());
            }
        }
        tried[kind] += 1;
        if !accepted(&other, model, &proof) {
            refused[kind] += 1;
        } else {
            assert_ne!(explore(&other, model), "unsafe", "seed {seed}: {}", program::print(&other));
        }
    }
    // Where a run starts is often of no matter.
    let often = [2, 2, 2, 20, 2];
    let most = (0..5).all(|kind| tried[kind] > 3 && often[kind] * refused[kind] > tried[kind]);
    assert!(most, "{refused:?} of {tried:?}");
}

fn read(text: &str) -> Program {
    let source = Source::new("names.fw", text.to_string());
    let read = frontend::choose(None, "names.fw", "").expect("a language").read;
    read(source, &frontend::Options::default()).expect("right").program
}

/// A renaming of values has no linear constraints, whatever else it is good for.
#[test]
fn values_that_are_names_are_refused() {
    let program = read(
        "const N = 2; shared turn = any in 0..N, count;
         thread P(i in 0..N) { loop { await turn == i; count = count + 1; cs: skip; turn = 1 - i; } }
         never P[0]@cs && P[1]@cs;",
    );
    let swaps = thread_swaps(&program);
    assert!(!swaps.is_empty() && !swaps[0].keeps_values());
    let mut proof = by_cubes(prove(&program, TSO, Reduction::Symmetry)).expect("a proof");
    assert!(proof.renamings.is_empty() && accepted(&program, TSO, &proof));
    proof.renamings = swaps.into();
    let verdict = Verdict::Safe(Certificate::Cubes(proof));
    assert_eq!(check(&Task::safe(&program, TSO), verdict, &Ignore).map(drop), Err(Rejected::Renaming));
}

/// Threads that start with other values may be interchangeable all the same: the start is covered as it is.
#[test]
fn starts_need_not_be_the_same_under_all_names() {
    let path = support::root().join("corpus/aravind.fw");
    let program = read(&std::fs::read_to_string(path).expect("the corpus has it"));
    assert!(thread_swaps(&program).is_empty());
    assert_eq!(program::thread_swaps_but_for_starts(&program).len(), 1);
    let sc = machine::SC;
    let proof = by_cubes(prove(&program, sc, Reduction::Symmetry)).expect("a proof");
    let plain = by_cubes(prove(&program, sc, Reduction::None)).expect("a proof");
    assert!(accepted(&program, sc, &proof) && proof.cubes.len() < plain.cubes.len());
    let mut elsewhere = program.clone();
    elsewhere.variables.iter_mut().for_each(|variable| variable.initial = Domain::All);
    assert!(!accepted(&elsewhere, sc, &proof));
}

/// Of two threads that differ in one number, the one that goes second is never looked at if they are taken for the same.
#[test]
fn threads_that_differ_in_a_number_are_told_apart() {
    let text = |number: i64| {
        format!(
            "shared x; thread P {{ let r; r = x; x = 1; assert r <= {number}; }}
             thread Q {{ let r; r = x; x = 1; assert r <= 1; }}"
        )
    };
    let (same, other) = (read(&text(1)), read(&text(0)));
    let proof = by_cubes(prove(&same, TSO, Reduction::Symmetry)).expect("a proof");
    assert!(!proof.renamings.is_empty() && accepted(&same, TSO, &proof));
    assert_eq!(explore(&other, TSO), "unsafe");
    let verdict = Verdict::Safe(Certificate::Cubes(proof));
    assert_eq!(check(&Task::safe(&other, TSO), verdict, &Ignore).map(drop), Err(Rejected::Renaming));
}

/// A claim about one thread is none about the others.
#[test]
fn claims_must_be_the_same_under_all_names() {
    let text = "const N = 2; shared next, owner;
         thread P(i in 0..N) { let t; loop { t = fetch_add(next, 1); await owner == t; cs: skip; owner = owner + 1; } }
         never P[0]@cs && P[1]@cs;";
    let program = read(text);
    let proof = by_cubes(prove(&program, TSO, Reduction::Symmetry)).expect("a proof");
    assert!(!proof.renamings.is_empty() && accepted(&program, TSO, &proof));
    let mut other = program.clone();
    other.properties[0].cond =
        Cond::compare(program::Relation::Eq, Place::Register(ThreadId::new(1), program::RegId::new(0)), 99);
    assert!(!accepted(&other, TSO, &proof));
}
