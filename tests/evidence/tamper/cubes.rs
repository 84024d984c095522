//! Proofs by cubes under the same law: accepted exactly if they are proofs. The judge is the small
//! prover's own idea of induction. Unsafe programs have no proof, whatever is done to their cubes.

use crate::cube_prover;

use cube_prover::Prover;
use engine::{Run, engine_named};
use evidence::symbolic::{Name, Vocabulary};
use evidence::{
    Certificate, Cube, CubeProof, Form, Ignore, Task, Verdict, check, check_file, read_certificate,
    write_evidence,
};
use fastrand::Rng;
use logic::{Atom, Linear};
use machine::{Forgotten, Keep, MODELS, Model, Recall, Slot, model_named};
use program::{Program, Source};
use std::collections::BTreeMap;
use std::io::{self, BufRead, Cursor};

/// That a property speaks of the first thread keeps it from waiting for its stores.
const FOREVER: &str =
    "shared x; thread A { loop { l: x = 1; x = 2; } } thread B { let r; r = x; assert r >= 0; }
     finally A@l;";
const FENCED: &str =
    "shared x, y; thread A { let a; x = 1; fence; a = y; } thread B { let b; y = 1; fence; b = x; }
    finally !(A.a == 0 && B.b == 0);";
const MESSAGE: &str = "shared x, y; thread A { x = 1; y = 1; } thread B { let a, b; a = y; b = x; }
    finally !(B.a == 1 && B.b == 0);";
const TICKETS: &str = "shared next, owner; thread P(i in 0..2) { let t; loop { t = fetch_add(next, 1);
    await owner == t; cs: skip; owner = owner + 1; } } never P[0]@cs && P[1]@cs;";

/// What is read never decreases, which takes pairs of forgotten stores to show; the writer looks at what others write.
const COUNTING: &str = "shared v, stop; thread W { let k; while (stop == 0) { k = k + 1; v = k; } }
    thread R { let a, b; a = v; b = v; assert a <= b; stop = 1; }";

struct Subject {
    name: String,
    program: Program,
    model: Model,
    proof: CubeProof,
}

fn program(text: &str) -> Program {
    let frontend = frontend::choose(Some("fw"), "test", text).expect("known");
    (frontend.read)(Source::new("test", text.to_string()), &Default::default()).expect("valid").program
}

fn at_most(vocabulary: &mut Vocabulary, slots: &[Slot], number: i64) -> Vec<Atom> {
    slots.iter().map(|slot| Atom::le(vocabulary.slot(*slot), number)).collect()
}

fn orders(vocabulary: &mut Vocabulary, slots: &[Slot]) -> Vec<Atom> {
    let vars: Vec<_> = slots.iter().map(|slot| vocabulary.slot(*slot)).collect();
    let pairs = vars.iter().enumerate().flat_map(|(at, a)| vars[..at].iter().map(move |b| (*a, *b)));
    pairs.flat_map(|(a, b)| [Atom::le(a, b), Atom::le(b, a)]).collect()
}

/// What the small prover reaches, proof or not.
fn reached(text: &str, model: &str, recall: Recall) -> Subject {
    let (program, model) = (program(text), model_named(model).expect("known"));
    let task = Task::safe(&program, model);
    let mut prover = Prover::new(task, recall);
    let explored = match text {
        TICKETS | COUNTING => prover.explore(&orders, 10_000),
        FOREVER => prover.explore(&|v, slots| at_most(v, slots, -1), 10_000),
        _ => prover.explore(&|v, slots| at_most(v, slots, 0), 10_000),
    };
    assert!(explored);
    let proof = prover.proof;
    Subject { name: format!("{} {recall:?}", model.name()), program, model, proof }
}

fn recall(k: usize, keep: Keep, forgotten: Forgotten) -> Recall {
    Recall { k, keep, forgotten }
}

fn proofs() -> Vec<Subject> {
    let (newest, oldest, pools) = (Keep::Newest, Keep::Oldest, Forgotten::Pools);
    let mut subjects = vec![
        reached(FOREVER, "sc", recall(0, newest, pools)),
        reached(FOREVER, "tso", recall(0, newest, pools)),
        reached(FOREVER, "tso", recall(1, oldest, pools)),
        reached(FOREVER, "pso", recall(1, newest, pools)),
        reached(FENCED, "tso", recall(0, newest, Forgotten::Anything)),
        reached(FENCED, "pso", recall(1, oldest, pools)),
        reached(MESSAGE, "tso", recall(1, newest, pools)),
        reached(MESSAGE, "tso", recall(2, oldest, Forgotten::Anything)),
        reached(TICKETS, "tso", recall(1, newest, pools)),
        reached(COUNTING, "tso", recall(0, newest, Forgotten::Pairs)),
        reached(COUNTING, "pso", recall(1, oldest, Forgotten::Pairs)),
    ];
    if let Some(engine) = engine_named("cegar") {
        for (text, model) in
            [(FOREVER, "tso"), (FENCED, "pso"), (MESSAGE, "tso"), (TICKETS, "sc"), (COUNTING, "tso")]
        {
            let (program, model) = (program(text), model_named(model).expect("known"));
            let verdict = engine.verify(&Task::safe(&program, model), &Run::default()).verdict;
            let Verdict::Safe(Certificate::Cubes(proof)) = verdict else { panic!("{verdict:?}") };
            subjects.push(Subject { name: format!("cegar {}", model.name()), program, model, proof });
        }
    }
    subjects
}

fn no_proofs() -> Vec<Subject> {
    let unfenced = FENCED.replace("fence;", "");
    let backwards = COUNTING.replace("k + 1", "k - 1");
    let mut subjects = Vec::new();
    for k in [0, 1] {
        for keep in [Keep::Newest, Keep::Oldest] {
            subjects.push(reached(&unfenced, "tso", recall(k, keep, Forgotten::Pools)));
            subjects.push(reached(MESSAGE, "pso", recall(k, keep, Forgotten::Pools)));
            subjects.push(reached(&backwards, "tso", recall(k, keep, Forgotten::Pairs)));
        }
    }
    subjects
}

fn opener(file: &[u8]) -> impl Fn() -> io::Result<Box<dyn BufRead>> {
    let file = file.to_vec();
    move || Ok(Box::new(Cursor::new(file.clone())) as Box<dyn BufRead>)
}

fn file(task: &Task<'_>, proof: &CubeProof, form: Form) -> Vec<u8> {
    let mut file = Vec::new();
    let verdict = Verdict::Safe(Certificate::Cubes(proof.clone()));
    write_evidence(task, &verdict, form, &mut file).expect("written");
    file
}

/// Whether a proof is accepted: from memory and from both forms of a file alike.
fn accepts(task: &Task<'_>, proof: &CubeProof, what: &str) -> bool {
    let accepted = check(task, Verdict::Safe(Certificate::Cubes(proof.clone())), &Ignore).is_ok();
    for form in [Form::Text, Form::Json] {
        let found = check_file(task.program, &opener(&file(task, proof, form)), 1 << 28, &Ignore);
        assert_eq!(found.is_ok(), accepted, "{what}, {form:?}: {found:?}");
    }
    accepted
}

/// Changes a proof of a program; the model as well, if need be.
type Mutation = fn(&Prover<'_>, &mut CubeProof, &mut Model, &mut Rng);

/// The ways to break a proof, and whether what comes out is always well formed.
const MUTATIONS: &[(&str, bool, Mutation)] = &[
    ("dropped cube", true, |_, p, _, rng| drop(p.cubes.swap_remove(rng.usize(..p.cubes.len())))),
    ("dropped literal", true, |_, p, _, rng| {
        let cube = cube(p, rng);
        drop_one(&mut cube.literals, rng);
    }),
    ("flipped literal", true, |_, p, _, rng| {
        let literals = &mut cube(p, rng).literals;
        if let Some(literal) = rng.choice(literals.iter_mut()) {
            literal.1 = !literal.1;
        }
    }),
    ("added literal", true, |prover, p, _, rng| {
        let at = rng.usize(..p.cubes.len());
        let slots = prover.slots(&p.controls[p.cubes[at].control as usize].1);
        let known = |var| matches!(p.vocabulary.name(var), Some(Name::Slot(slot)) if slots.contains(&slot));
        let literals = &mut p.cubes[at].literals;
        let new = (0..p.predicates.len() as u32).filter(|n| {
            p.predicates[*n as usize].vars().all(known) && literals.iter().all(|literal| literal.0 != *n)
        });
        if let Some(new) = rng.choice(new.collect::<Vec<_>>()) {
            literals.push((new, rng.bool()));
            literals.sort_unstable();
        }
    }),
    ("emptied control", true, |_, p, _, rng| {
        let control = cube(p, rng).control;
        p.cubes.retain(|cube| cube.control != control);
    }),
    ("shifted predicate", false, |_, p, _, rng| {
        let at = rng.usize(..p.predicates.len());
        let atom = &p.predicates[at];
        p.predicates[at] = Atom::new(atom.relation().clone(), atom.expr().clone() + 1);
    }),
    ("turned predicate", false, |_, p, _, rng| {
        let at = rng.usize(..p.predicates.len());
        p.predicates[at] = p.predicates[at].negate();
    }),
    ("swapped predicates", false, |_, p, _, rng| {
        let (a, b) = (rng.usize(..p.predicates.len()), rng.usize(..p.predicates.len()));
        p.predicates.swap(a, b);
    }),
    ("empty predicate", false, |_, p, _, rng| {
        let at = rng.usize(..p.predicates.len());
        p.predicates[at] = Atom::le(Linear::default(), 0);
    }),
    ("more remembered", false, |_, p, _, _| p.recall.k += 1),
    ("less remembered", false, |_, p, _, _| p.recall.k = p.recall.k.saturating_sub(1)),
    ("other end kept", false, |_, p, _, _| {
        p.recall.keep = if p.recall.keep == Keep::Newest { Keep::Oldest } else { Keep::Newest };
    }),
    ("other summary", false, |_, p, _, _| {
        p.recall.forgotten = match p.recall.forgotten {
            Forgotten::Pools => Forgotten::Anything,
            Forgotten::Anything => Forgotten::Pairs,
            Forgotten::Pairs => Forgotten::Pools,
        };
    }),
    ("other model", false, |_, _, model, rng| *model = MODELS[rng.usize(..MODELS.len())]),
    ("doubled control", false, |_, p, _, rng| {
        let control = p.controls[rng.usize(..p.controls.len())].clone();
        p.controls.push(control);
    }),
    ("swapped controls", false, |_, p, _, rng| {
        let (a, b) = (rng.usize(..p.controls.len()), rng.usize(..p.controls.len()));
        p.controls.swap(a, b);
    }),
    ("moved cube", false, |_, p, _, rng| {
        let control = rng.u32(..p.controls.len() as u32);
        cube(p, rng).control = control;
    }),
    ("other shape", false, |_, p, _, rng| {
        let (a, b) = (rng.usize(..p.controls.len()), rng.usize(..p.controls.len()));
        let thread = rng.usize(..p.controls[a].1.len());
        p.controls[a].1[thread] = p.controls[b].1[thread].clone();
    }),
];

fn cube<'a>(proof: &'a mut CubeProof, rng: &mut Rng) -> &'a mut Cube {
    let at = rng.usize(..proof.cubes.len());
    &mut proof.cubes[at]
}

fn drop_one<T>(list: &mut Vec<T>, rng: &mut Rng) {
    if !list.is_empty() {
        list.remove(rng.usize(..list.len()));
    }
}

#[test]
fn tampered_cubes_are_accepted_only_if_they_are_a_proof_still() {
    let mut rng = Rng::with_seed(5);
    let mut rejected: BTreeMap<&str, usize> = BTreeMap::new();
    for subject in proofs() {
        let task = Task::safe(&subject.program, subject.model);
        assert!(accepts(&task, &subject.proof, &subject.name), "{}", subject.name);
        let prover = Prover::new(task, subject.proof.recall);
        for (name, well_formed, mutate) in MUTATIONS {
            for _ in 0..4 {
                let (mut proof, mut model) = (subject.proof.clone(), subject.model);
                mutate(&prover, &mut proof, &mut model, &mut rng);
                let what = format!("{}, {name}", subject.name);
                let task = Task { model, ..task };
                let accepted = accepts(&task, &proof, &what);
                *rejected.entry(name).or_default() += usize::from(!accepted);
                if accepted || *well_formed {
                    let right = Prover::with(task, proof.clone()).is_inductive();
                    assert_eq!(accepted, right, "{what}: {proof:?}");
                }
            }
        }
    }
    for (name, ..) in MUTATIONS {
        assert!(rejected[name] > 0, "{name} never bit: {rejected:?}");
    }
}

#[test]
fn nothing_done_to_the_cubes_of_an_unsafe_program_makes_a_proof() {
    let mut rng = Rng::with_seed(6);
    for subject in no_proofs() {
        let task = Task::safe(&subject.program, subject.model);
        let prover = Prover::new(task, subject.proof.recall);
        let plain = MUTATIONS.iter().filter(|(name, ..)| *name != "other model");
        for (name, _, mutate) in plain {
            let (mut proof, mut model) = (subject.proof.clone(), subject.model);
            for _ in 0..5 {
                mutate(&prover, &mut proof, &mut model, &mut rng);
                let what = format!("{}, {name}", subject.name);
                assert!(!accepts(&task, &proof, &what), "{what}");
            }
        }
    }
}

#[test]
fn a_cut_file_of_cubes_is_rejected_wherever_it_was_cut() {
    let subject = reached(FOREVER, "tso", recall(0, Keep::Newest, Forgotten::Pools));
    let task = Task::safe(&subject.program, subject.model);
    for form in [Form::Text, Form::Json] {
        let file = file(&task, &subject.proof, form);
        for length in 0..file.len() - 1 {
            let cut = check_file(task.program, &opener(&file[..length]), 1 << 28, &Ignore);
            assert!(cut.is_err(), "cut to {length} bytes");
        }
    }
}

#[test]
fn a_file_of_cubes_needs_memory_for_them() {
    let subject = reached(TICKETS, "tso", recall(1, Keep::Newest, Forgotten::Pools));
    let task = Task::safe(&subject.program, subject.model);
    let file = file(&task, &subject.proof, Form::Text);
    assert!(check_file(task.program, &opener(&file), 1 << 28, &Ignore).is_ok());
    for budget in [0, 1 << 10, 1 << 15] {
        assert!(check_file(task.program, &opener(&file), budget, &Ignore).is_err(), "{budget} bytes");
    }
}

#[test]
fn strange_words_in_a_file_of_cubes_are_rejected_or_harmless() {
    let digits = "9".repeat(5000);
    let strange = [
        "-1",
        "0",
        "1",
        "2",
        "!0",
        "!",
        "+",
        "1+",
        ":",
        "-",
        "",
        "4294967295",
        "4294967296",
        "18446744073709551615",
        "18446744073709551616",
        "m0",
        "m1",
        "m99",
        "r0.0",
        "r9.0",
        "b0.4294967295",
        "p0.0",
        "n0.0",
        "l0.0",
        "p0.0.0",
        "é1",
        "le",
        "eq",
        "divides:0",
        "divides:2",
        "not-divides:-3",
        "newest",
        "oldest",
        "anything",
        "pairs",
        "NaN",
        &digits,
    ];
    let mut rng = Rng::with_seed(7);
    let mut accepted = 0;
    for subject in proofs().iter().take(4) {
        let task = Task::safe(&subject.program, subject.model);
        let file = String::from_utf8(file(&task, &subject.proof, Form::Text)).expect("text");
        let lines: Vec<&str> = file.lines().map(|line| line.split("  #").next().unwrap_or("")).collect();
        for _ in 0..400 {
            let (at, word) = (rng.usize(..lines.len()), strange[rng.usize(..strange.len())]);
            let mut words: Vec<&str> = lines[at].split(' ').collect();
            let which = rng.usize(..words.len());
            words[which] = word;
            let changed = words.join(" ");
            let mut all = lines.clone();
            all[at] = &changed;
            let bytes = all.join("\n").into_bytes();
            if check_file(task.program, &opener(&bytes), 1 << 28, &Ignore).is_err() {
                continue;
            }
            accepted += 1;
            let (model, read) =
                read_certificate(task.program, &opener(&bytes), &Ignore).expect("read").expect("no trace");
            let Certificate::Cubes(proof) = read else { panic!("cubes") };
            let right = Prover::with(Task { model, ..task }, proof).is_inductive();
            assert!(right, "{}: {changed} for {}", subject.name, lines[at]);
        }
    }
    assert!(accepted < 400, "{accepted} accepted");
}

#[test]
fn flipped_bytes_in_a_file_of_cubes_are_rejected_or_harmless() {
    let mut rng = Rng::with_seed(8);
    let subject = reached(FOREVER, "tso", recall(1, Keep::Newest, Forgotten::Pools));
    let task = Task::safe(&subject.program, subject.model);
    for form in [Form::Text, Form::Json] {
        let whole = file(&task, &subject.proof, form);
        let mut rejected = 0;
        for _ in 0..2_000 {
            let mut bytes = whole.clone();
            let at = rng.usize(..bytes.len());
            bytes[at] = if rng.bool() { bytes[at] ^ (1 << rng.u8(..8)) } else { rng.u8(..) };
            if check_file(task.program, &opener(&bytes), 1 << 28, &Ignore).is_err() {
                rejected += 1;
                continue;
            }
            let (model, read) =
                read_certificate(task.program, &opener(&bytes), &Ignore).expect("read").expect("no trace");
            let Certificate::Cubes(proof) = read else { panic!("cubes") };
            assert!(Prover::with(Task { model, ..task }, proof).is_inductive(), "{form:?}, byte {at}");
        }
        assert!(rejected > 500, "{rejected} rejected");
    }
}
