//! Proofs by cubes: small ones, made by hand or by a small prover, are accepted by the checker,
//! from memory and from files, and by other people's solvers; wrong ones are not.

use crate::cube_prover;
use crate::solvers;
use support::random;

use cube_prover::Prover;
use engine::{Cegar, Engine, Explicit, Run};
use evidence::symbolic::{Name, Vocabulary};
use evidence::{
    Certificate, Cube, CubeFlaw, CubeProof, Form, Ignore, MostStates, Rejected, Task, Verdict, check,
    check_file, read_certificate, write_evidence, write_smtlib,
};
use logic::{Atom, Var};
use machine::{Entry, Forgotten, Keep, MODELS, Model, Recall, Slot, model_named};
use program::{Loc, Program, Source, ThreadId, VarId};
use solvers::{CVC5, Z3, answers};
use std::io::{BufRead, Cursor};

fn program(text: &str) -> Program {
    let frontend = frontend::choose(Some("fw"), "test", text).expect("known");
    let read = (frontend.read)(Source::new("test", text.to_string()), &Default::default());
    read.unwrap_or_else(|faults| panic!("{faults:?}")).program
}

fn corpus(name: &str) -> Program {
    let path = support::root().join(format!("corpus/{name}.fw"));
    program(&std::fs::read_to_string(path).expect("part of the corpus"))
}

fn model(name: &str) -> Model {
    model_named(name).expect("known")
}

fn recalls(most: usize) -> impl Iterator<Item = Recall> {
    (0..=most).flat_map(|k| {
        [Keep::Newest, Keep::Oldest].into_iter().flat_map(move |keep| {
            let ways = [Forgotten::Pools, Forgotten::Pairs, Forgotten::Anything];
            ways.map(|forgotten| Recall { k, keep, forgotten })
        })
    })
}

const POOLS: Recall = Recall { k: 0, keep: Keep::Newest, forgotten: Forgotten::Pools };

/// Every slot is at least this.
fn at_least(vocabulary: &mut Vocabulary, slots: &[Slot], number: i64) -> Vec<Atom> {
    slots.iter().map(|slot| Atom::ge(vocabulary.slot(*slot), number)).collect()
}

/// Every two slots compared with each other, and all with 0.
fn orders(vocabulary: &mut Vocabulary, slots: &[Slot]) -> Vec<Atom> {
    let vars: Vec<_> = slots.iter().map(|slot| vocabulary.slot(*slot)).collect();
    let pairs = vars.iter().enumerate().flat_map(|(at, a)| vars[..at].iter().map(move |b| (*a, *b)));
    let mut atoms: Vec<Atom> = pairs.flat_map(|(a, b)| [Atom::le(a, b), Atom::le(b, a)]).collect();
    atoms.extend(vars.iter().flat_map(|var| [Atom::le(*var, 0), Atom::ge(*var, 0)]));
    atoms
}

fn flaw(task: &Task<'_>, proof: &CubeProof) -> Option<CubeFlaw> {
    let verdict = Verdict::Safe(Certificate::Cubes(proof.clone()));
    match check(task, verdict, &Ignore) {
        Ok(_) => None,
        Err(Rejected::Cubes(flaw)) => Some(flaw),
        Err(other) => panic!("{other:?}"),
    }
}

fn open(file: &[u8]) -> impl Fn() -> std::io::Result<Box<dyn BufRead>> {
    let file = file.to_vec();
    move || Ok(Box::new(Cursor::new(file.clone())) as Box<dyn BufRead>)
}

/// Accepted from memory, from both forms of a file, and by the solvers.
fn accepted_by_all(task: &Task<'_>, proof: &CubeProof, what: &str) {
    assert_eq!(flaw(task, proof), None, "{what}");
    let verdict = Verdict::Safe(Certificate::Cubes(proof.clone()));
    let mut scripts = Vec::new();
    for form in [Form::Text, Form::Json] {
        let mut file = Vec::new();
        write_evidence(task, &verdict, form, &mut file).expect("written");
        check_file(task.program, &open(&file), 1 << 30, &Ignore)
            .unwrap_or_else(|error| panic!("{what}: {error}"));
        let (_, read) =
            read_certificate(task.program, &open(&file), &Ignore).expect("read").expect("no trace");
        let mut script = Vec::new();
        let count = write_smtlib(task, &read, &mut script).expect("linear");
        scripts.push((script, count));
    }
    assert_eq!(scripts[0], scripts[1], "{what}");
    for solver in [Z3, CVC5] {
        if let Some(found) = answers(solver, &scripts[0].0) {
            assert_eq!(found, (scripts[0].1, 0), "{what}");
        }
    }
}

/// The solvers find out that something is not shown.
fn rejected_by_solvers(task: &Task<'_>, proof: CubeProof) {
    let mut script = Vec::new();
    let count = write_smtlib(task, &Certificate::Cubes(proof), &mut script).expect("linear");
    for solver in [Z3, CVC5] {
        if let Some((unsat, sat)) = answers(solver, &script) {
            assert!(sat > 0 && unsat + sat == count);
        }
    }
}

/// That a property speaks of the first thread keeps it from waiting for its stores.
const FOREVER: &str =
    "shared x; thread A { loop { l: x = 1; x = 2; } } thread B { let r; r = x; assert r >= 0; }
     finally A@l;";

/// The pool is needed to know anything of what reaches memory.
#[test]
fn nothing_negative_is_ever_stored() {
    let program = program(FOREVER);
    for model in MODELS {
        let task = Task::safe(&program, *model);
        for recall in recalls(2) {
            let mut prover = Prover::new(task, recall);
            prover.claim_everywhere(&|v, slots| at_least(v, slots, 0));
            let right = recall.forgotten != Forgotten::Anything || model.is_sc();
            let what = format!("{} {recall:?}", model.name());
            match flaw(&task, &prover.proof) {
                None => assert!(right, "{what}"),
                Some(CubeFlaw::Uncovered(..)) => assert!(!right, "{what}"),
                Some(other) => panic!("{what}: {other}"),
            }
            if right {
                accepted_by_all(&task, &prover.proof, &what);
            }
        }
    }
}

#[test]
fn claims_that_are_too_strong_or_too_weak_are_rejected() {
    let program = program(FOREVER);
    let task = Task::safe(&program, model("tso"));
    for recall in recalls(1) {
        let claim = |number: i64, at_most: bool| {
            let mut prover = Prover::new(task, recall);
            prover.claim_everywhere(&|v, slots| {
                let memory: Vec<Slot> =
                    slots.iter().copied().filter(|slot| !matches!(slot, Slot::Register(..))).collect();
                let all = at_least(v, &memory, number);
                if at_most { all.iter().map(Atom::negate).collect() } else { all }
            });
            flaw(&task, &prover.proof)
        };
        assert_eq!(claim(1, false), Some(CubeFlaw::Initial), "{recall:?}");
        assert!(matches!(claim(2, true), Some(CubeFlaw::Uncovered(..))), "x is never 2, {recall:?}");
        assert!(matches!(claim(-7, false), Some(CubeFlaw::Violated(..) | CubeFlaw::Uncovered(..))));
    }
}

/// Cubes for the slots of a control: which are at most 0, and which are not.
type Cubes<'a> = &'a dyn Fn(&[Slot]) -> Vec<Vec<(Slot, bool)>>;

/// The same kind of cubes for every control.
fn with_cubes(task: Task<'_>, recall: Recall, cubes: Cubes<'_>) -> CubeProof {
    let mut prover = Prover::new(task, recall);
    prover.claim_everywhere(&|_, _| Vec::new());
    prover.proof.cubes.clear();
    for control in 0..prover.proof.controls.len() {
        let slots = prover.slots(&prover.proof.controls[control].1);
        for cube in cubes(&slots) {
            let mut literals = Vec::new();
            for (slot, positive) in cube {
                let atom = Atom::le(prover.proof.vocabulary.slot(slot), 0);
                let known = prover.proof.predicates.iter().position(|p| *p == atom);
                let at = known.unwrap_or_else(|| {
                    prover.proof.predicates.push(atom);
                    prover.proof.predicates.len() - 1
                });
                literals.push((at as u32, positive));
            }
            literals.sort_unstable();
            prover.proof.cubes.push(Cube { control: control as u32, literals });
        }
    }
    prover.proof
}

#[test]
fn two_cubes_may_share_the_cases_of_one_value() {
    let program =
        program("shared x = any; thread A { loop { x = 3; x = 0; } } thread B { let r; r = x; x = r; }");
    for model in MODELS {
        let task = Task::safe(&program, *model);
        for recall in recalls(1) {
            let memory = |slots: &[Slot]| {
                let slot = slots[0];
                vec![vec![(slot, true)], vec![(slot, false)]]
            };
            let proof = with_cubes(task, recall, &memory);
            accepted_by_all(&task, &proof, &format!("{} {recall:?}", model.name()));
            // A case left out: the initial control has one cube for each.
            for gone in (0..proof.cubes.len()).filter(|at| proof.cubes[*at].control == 0) {
                let mut broken = proof.clone();
                broken.cubes.remove(gone);
                assert_eq!(flaw(&task, &broken), Some(CubeFlaw::Initial));
            }
        }
    }
}

/// Some members are 0 and some are 1: neither all at most 0 nor all above, though each is one
/// or the other.
#[test]
fn cubes_about_pools_may_not_share_the_cases() {
    let program = program("shared x; thread A { loop { l: choose { x = 0; } or { x = 1; } } } finally A@l;");
    let task = Task::safe(&program, model("tso"));
    let pool = |slots: &[Slot]| slots.iter().copied().find(|slot| matches!(slot, Slot::Pool(..)));
    let split = |slots: &[Slot]| match pool(slots) {
        Some(pool) => vec![vec![(pool, true)], vec![(pool, false)]],
        None => vec![Vec::new()],
    };
    let proof = with_cubes(task, POOLS, &split);
    assert!(proof.controls.iter().any(|(_, shapes)| !shapes[0].forgotten.is_empty()));
    assert!(matches!(flaw(&task, &proof), Some(CubeFlaw::Uncovered(..))), "{:?}", flaw(&task, &proof));
    rejected_by_solvers(&task, proof);
    accepted_by_all(&task, &with_cubes(task, POOLS, &|_| vec![Vec::new()]), "nothing is claimed");
}

const PAIRS: Recall = Recall { forgotten: Forgotten::Pairs, ..POOLS };

/// What is wrong with the cubes that the small prover reaches, each slot compared with some numbers, if they also claim
/// this of an older store and a newer one.
fn flaw_of_pairs(text: &str, numbers: &[i64], claim: &dyn Fn(Var, Var) -> Atom) -> Option<CubeFlaw> {
    let program = program(text);
    let task = Task::safe(&program, model("tso"));
    let mut prover = Prover::new(task, PAIRS);
    let compared = |v: &mut Vocabulary, slots: &[Slot]| -> Vec<Atom> {
        let with = |number: &i64| [at_least(v, slots, *number), at_least(v, slots, number + 1)].concat();
        numbers.iter().flat_map(with).collect()
    };
    assert!(prover.explore(&compared, 1_000));
    let mut proof = prover.proof;
    assert_eq!(flaw(&task, &proof), None, "{text}");
    let (thread, variable) = (ThreadId::new(0), VarId::new(0));
    let [older, newer] = [Slot::Pool(thread, variable), Slot::Newer(thread, variable)];
    let [older, newer] = [older, newer].map(|slot| proof.vocabulary.slot(slot));
    proof.predicates.push(claim(older, newer));
    let number = proof.predicates.len() as u32 - 1;
    let mut claimed = 0;
    for cube in &mut proof.cubes {
        if proof.controls[cube.control as usize].1[0].forgotten.iter().any(|(_, several)| *several) {
            cube.literals.push((number, true));
            claimed += 1;
        }
    }
    assert!(claimed > 0, "{text}: no pools");
    flaw(&task, &proof)
}

/// A claim about two forgotten stores is checked for all that a store makes when it is forgotten: with the one before
/// it, and with every older one.
#[test]
fn a_claim_about_pairs_holds_for_every_two() {
    let uncovered = |flaw: Option<CubeFlaw>| matches!(flaw, Some(CubeFlaw::Uncovered(..)));
    let less = |older, newer| Atom::lt(older, newer);
    let differ = |older: Var, newer: Var| Atom::eq(older, newer).negate();
    assert_eq!(flaw_of_pairs("shared x; thread A { x = 1; x = 2; x = 3; }", &[1, 2, 3], &less), None);
    // Neighbours differ, others do not.
    let alternating = "shared x; thread A { x = 1; x = 2; x = 1; }";
    assert!(uncovered(flaw_of_pairs(alternating, &[1, 2], &differ)));
    let forever = "shared x; thread A { loop { l: x = 1; x = 2; } } finally A@l;";
    assert!(uncovered(flaw_of_pairs(forever, &[1, 2], &differ)));
    // The oldest is less than both, which decrease.
    assert!(uncovered(flaw_of_pairs("shared x; thread A { x = 0; x = 5; x = 3; }", &[0, 3, 5], &less)));
    // The first two are wrong already.
    assert!(uncovered(flaw_of_pairs("shared x; thread A { x = 2; x = 1; x = 3; }", &[1, 2, 3], &less)));
}

/// Where the only member of a pool is taken, nothing in the pool is newer.
#[test]
fn the_only_member_is_not_older_than_itself() {
    let program = program("shared x; thread A { x = 1; x = 2; }");
    let task = Task::safe(&program, model("tso"));
    let mut prover = Prover::new(task, PAIRS);
    let values = |v: &mut Vocabulary, slots: &[Slot]| {
        [orders(v, slots), at_least(v, slots, 1), at_least(v, slots, 2)].concat()
    };
    assert!(prover.explore(&values, 1_000));
    let proof = prover.proof;
    accepted_by_all(&task, &proof, "both drain");
    let one_left = |shape: &machine::Local| shape.forgotten.as_slice() == [(VarId::new(0), false)];
    let ends = |control: u32| one_left(&proof.controls[control as usize].1[0]);
    let mut broken = proof.clone();
    broken
        .cubes
        .retain(|cube| !ends(cube.control) || proof.controls[cube.control as usize].1[0].loc.index() < 2);
    assert!(broken.cubes.len() < proof.cubes.len());
    assert!(matches!(flaw(&task, &broken), Some(CubeFlaw::Uncovered(..))));
}

/// Some pairs go up and some go down: neither all of them do the one nor all the other.
#[test]
fn cubes_about_pairs_may_not_share_the_cases() {
    let program = program("shared x; thread A { loop { l: choose { x = 0; } or { x = 1; } } } finally A@l;");
    let task = Task::safe(&program, model("tso"));
    let mut proof = with_cubes(task, PAIRS, &|_| vec![Vec::new()]);
    let slots = [Slot::Pool(ThreadId::new(0), VarId::new(0)), Slot::Newer(ThreadId::new(0), VarId::new(0))];
    let [older, newer] = slots.map(|slot| proof.vocabulary.slot(slot));
    proof.predicates.push(Atom::le(older, newer));
    let several =
        |proof: &CubeProof, control: usize| proof.controls[control].1[0].forgotten.iter().any(|(_, s)| *s);
    for control in (0..proof.controls.len()).filter(|control| several(&proof, *control)).collect::<Vec<_>>() {
        proof.cubes.retain(|cube| cube.control != control as u32);
        let case = |sign| Cube { control: control as u32, literals: vec![(0, sign)] };
        proof.cubes.extend([true, false].map(case));
    }
    assert!(matches!(flaw(&task, &proof), Some(CubeFlaw::Uncovered(..))), "{:?}", flaw(&task, &proof));
    rejected_by_solvers(&task, proof);
}

/// Proofs with pairs that `cegar` finds, for all who check.
#[test]
fn proofs_about_pairs_are_accepted_by_all() {
    let program = program(
        "shared v, stop; thread W { let k; while (stop == 0) { k = k + 1; v = k; } }
         thread R { let a, b; a = v; b = v; assert a <= b; stop = 1; }",
    );
    for model in [model("tso"), model("pso")] {
        let task = Task::safe(&program, model);
        let answer = Cegar.verify(&task, &Run::default());
        let Verdict::Safe(Certificate::Cubes(proof)) = answer.verdict else { panic!("{:?}", answer.verdict) };
        assert_eq!(proof.recall.forgotten, Forgotten::Pairs);
        accepted_by_all(&task, &proof, model.name());
    }
}

/// What is known of a pool may depend on a single value: where that is at most 0, so are all
/// members; where it is above, they are above. Then two cubes are needed that say different
/// things of the pool, and each of them holds in its case.
#[test]
fn cubes_may_differ_in_what_they_say_of_a_pool() {
    for text in [
        "shared x; thread P0 { loop { x = 1; if (x <= 0) { break; } } } thread P1 { x = any in 0..2; }
         finally !(x == 1);",
        "shared y, z; thread P0 { let r; r = z; while (z == 0) { y = 2; } y = 2 - r; }
         thread P1 { z = any in 0..2; } finally !(P0.r == 0 && y == 0);",
    ] {
        let program = program(text);
        for model in [model("tso"), model("pso")] {
            let task = Task::safe(&program, model);
            let answer = Cegar.verify(&task, &Run::default());
            let Verdict::Safe(Certificate::Cubes(proof)) = answer.verdict else {
                panic!("{text}: {:?}", answer.verdict)
            };
            accepted_by_all(&task, &proof, text);
        }
    }
}

#[test]
fn classic_programs_are_proved() {
    let cases = [
        ("ticket_lock", "tso", 1),
        ("ticket_lock", "pso", 1),
        ("bakery", "sc", 0),
        ("peterson_fenced", "tso", 1),
        ("dekker_simple_fenced", "tso", 0),
        ("peterson_pso", "pso", 1),
    ];
    for (name, model_name, k) in cases {
        let program = corpus(name);
        let task = Task::safe(&program, model(model_name));
        let mut prover = Prover::new(task, Recall { k, ..POOLS });
        assert!(prover.explore(&orders, 20_000), "{name}");
        assert!(prover.is_safe(), "{name} {model_name}");
        accepted_by_all(&task, &prover.proof, &format!("{name} {model_name}"));
    }
}

/// A proof to break: one kept store, the rest in a pool.
fn example(program: &Program) -> (Task<'_>, CubeProof) {
    let task = Task::safe(program, model("tso"));
    let mut prover = Prover::new(task, Recall { k: 1, ..POOLS });
    prover.claim_everywhere(&|v, slots| at_least(v, slots, 0));
    (task, prover.proof)
}

#[test]
fn what_does_not_exist_is_rejected() {
    let program = program(FOREVER);
    let (task, proof) = example(&program);
    let broken = |change: &dyn Fn(&mut CubeProof)| {
        let mut broken = proof.clone();
        change(&mut broken);
        flaw(&task, &broken)
    };
    let last = proof.controls.len() - 1;
    let control = Some(CubeFlaw::Control(last));
    let shape = |change: &dyn Fn(&mut machine::Local)| broken(&|p| change(&mut p.controls[last].1[0]));
    assert_eq!(broken(&|p| p.controls[last] = p.controls[0].clone()), control);
    assert_eq!(broken(&|p| p.controls[last].0 = Some(ThreadId::new(2))), control);
    assert_eq!(broken(&|p| drop(p.controls[last].1.pop())), control);
    assert_eq!(shape(&|s| s.loc = Loc::new(99)), control);
    assert_eq!(shape(&|s| s.kept.push(Entry::Store(VarId::new(1)))), control);
    assert_eq!(shape(&|s| s.kept = [Entry::Store(VarId::new(0)); 2].into_iter().collect()), control);
    assert_eq!(shape(&|s| s.kept.push(Entry::Barrier)), control);
    assert_eq!(shape(&|s| s.forgotten = [(VarId::new(1), false)].into_iter().collect()), control);
    assert_eq!(shape(&|s| s.forgotten = [(VarId::new(0), false); 2].into_iter().collect()), control);
    let predicates = proof.predicates.len();
    let predicate = Some(CubeFlaw::Predicate(predicates));
    assert_eq!(broken(&|p| p.predicates.push(Atom::truth(true))), predicate);
    let chosen = |p: &mut CubeProof| Atom::le(p.vocabulary.var(Name::Chosen), 0);
    assert_eq!(
        broken(&|p| {
            let atom = chosen(p);
            p.predicates.push(atom)
        }),
        predicate
    );
    assert_eq!(broken(&|p| p.predicates.push(Atom::le(logic::Var::at(999), 0))), predicate);
    let cube = Some(CubeFlaw::Cube(0));
    assert_eq!(broken(&|p| p.cubes[0].control = 999), cube);
    assert_eq!(broken(&|p| p.cubes[0].literals.push((predicates as u32, true))), cube);
    assert_eq!(broken(&|p| p.cubes[0].literals.push((u32::MAX, true))), cube);
    assert_eq!(broken(&|p| p.cubes[0].literals.insert(0, (0, true))), cube);
    let pool = proof.predicates.iter().position(|atom| {
        atom.vars().any(|var| matches!(proof.vocabulary.name(var), Some(Name::Slot(Slot::Pool(..)))))
    });
    let pool = pool.expect("a predicate about the pool") as u32;
    assert_eq!(broken(&|p| p.cubes[0].literals = vec![(pool, true)]), cube, "no pool at the start");
}

#[test]
fn another_machine_or_model_is_noticed() {
    let program = program(FOREVER);
    let (task, proof) = example(&program);
    let with = |recall: Recall| flaw(&task, &CubeProof { recall, ..proof.clone() });
    let recall = proof.recall;
    assert!(matches!(with(Recall { k: 0, ..recall }), Some(CubeFlaw::Control(_))));
    assert!(with(Recall { k: 2, ..recall }).is_some());
    assert!(with(Recall { keep: Keep::Oldest, ..recall }).is_some());
    assert!(with(Recall { forgotten: Forgotten::Anything, ..recall }).is_some());
    assert!(with(Recall { forgotten: Forgotten::Pairs, ..recall }).is_none(), "it says nothing of pairs");
    assert!(with(Recall::ALL).is_some(), "nothing is forgotten, and buffers grow for ever");
    assert!(flaw(&Task { model: model("sc"), ..task }, &proof).is_some());
    // With one variable, TSO and PSO are the same.
    assert!(flaw(&Task { model: model("pso"), ..task }, &proof).is_none());
    let other = corpus("sb");
    assert!(flaw(&Task { program: &other, ..task }, &proof).is_some());
}

#[test]
fn violations_are_never_proved_away() {
    for (text, name) in [
        ("shared x; thread A { x = 1; } thread B { let r; r = x; assert r <= 0; }", "sc"),
        (
            "shared x, y; thread A { let a; x = 1; a = y; } thread B { let b; y = 1; b = x; }
          finally !(A.a == 0 && B.b == 0);",
            "tso",
        ),
        (
            "shared x, y; thread A { x = 1; y = 1; } thread B { let a, b; a = y; b = x; }
          finally !(B.a == 1 && B.b == 0);",
            "pso",
        ),
    ] {
        let program = program(text);
        let task = Task::safe(&program, model(name));
        for recall in recalls(2) {
            let mut prover = Prover::new(task, recall);
            assert!(prover.explore(&orders, 20_000));
            assert!(!prover.is_safe());
            assert!(matches!(flaw(&task, &prover.proof), Some(CubeFlaw::Violated(..))), "{name} {recall:?}");
        }
    }
}

/// What is not linear is said to be so.
#[test]
fn products_are_refused() {
    let program = program("shared x; thread A { let r; r = x; r = r * r; x = r; }");
    let task = Task::safe(&program, model("sc"));
    let proof = CubeProof {
        recall: POOLS,
        renamings: Box::default(),
        vocabulary: Vocabulary::default(),
        predicates: Vec::new(),
        controls: program.threads[0].locs().map(|loc| (None, vec![machine::Local::at(loc)])).collect(),
        cubes: (0..program.threads[0].locs().count() as u32)
            .map(|control| Cube { control, literals: Vec::new() })
            .collect(),
    };
    assert!(matches!(flaw(&task, &proof), Some(CubeFlaw::NotLinear(_))));
    assert!(write_smtlib(&task, &Certificate::Cubes(proof), &mut Vec::new()).is_err());
}

/// What the checker accepts is true: exact search finds no violation in it. Buffered machines,
/// their symbolic steps and the reduction are tested by this as well.
#[test]
fn no_program_with_a_violation_is_proved_safe() {
    let (mut proved, mut refuted) = (0, 0);
    for seed in 0..250 {
        let program = random::generate(seed);
        let recalls: Vec<Recall> = recalls(1).collect();
        for model in MODELS {
            let task = Task::safe(&program, *model);
            let mut prover = Prover::new(task, recalls[seed as usize % recalls.len()]);
            let instances = |v: &mut Vocabulary, slots: &[Slot]| {
                (-1..3).flat_map(|number| at_least(v, slots, number)).collect()
            };
            if !prover.explore(&instances, 300) {
                continue;
            }
            let accepted = match flaw(&task, &prover.proof) {
                None => true,
                Some(CubeFlaw::Violated(..)) => false,
                Some(other) => panic!("seed {seed} {}: {other}", model.name()),
            };
            let run = Run { monitor: &MostStates(20_000), ..Run::default() };
            if let Verdict::Unsafe(trace) = Explicit.verify(&task, &run).verdict {
                refuted += 1;
                assert!(!accepted, "seed {seed} {}: {trace:?}\n{}", model.name(), program::print(&program));
            }
            proved += usize::from(accepted);
        }
    }
    assert!(proved > 30 && refuted > 30, "{proved} proved, {refuted} refuted");
}
