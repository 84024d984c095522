//! Proofs by cubes: small ones made by hand or by a small prover are accepted, broken ones are not.

#[path = "support/cube_prover.rs"]
mod cube_prover;

use cube_prover::Prover;
use evidence::symbolic::Vocabulary;
use evidence::{Certificate, Cube, CubeFlaw, CubeProof, Ignore, Rejected, Task, Verdict, check};
use logic::{Atom, Linear};
use machine::{Forgotten, Keep, MODELS, Model, Recall, Shape, Slot, model_named};
use program::{Program, Source};

fn program(text: &str) -> Program {
    let frontend = frontend::choose(Some("fw"), "test", text).expect("known");
    let read = (frontend.read)(Source::new("test", text.to_string()), &Default::default());
    read.unwrap_or_else(|faults| panic!("{faults:?}")).program
}

fn model(name: &str) -> Model {
    model_named(name).expect("known")
}

fn recalls(most: usize) -> impl Iterator<Item = Recall> {
    (0..=most).flat_map(|k| {
        [Keep::Newest, Keep::Oldest].into_iter().flat_map(move |keep| {
            [Forgotten::Pools, Forgotten::Anything].map(|forgotten| Recall { k, keep, forgotten })
        })
    })
}

/// Every slot compared with these numbers.
fn signs(vocabulary: &mut Vocabulary, slots: &[Slot], numbers: &[i64]) -> Vec<Atom> {
    let vars: Vec<_> = slots.iter().map(|slot| vocabulary.slot(*slot)).collect();
    vars.iter().flat_map(|var| numbers.iter().map(|n| Atom::le(*var, *n))).collect()
}

/// Every two slots compared with each other, and all with 0.
fn orders(vocabulary: &mut Vocabulary, slots: &[Slot]) -> Vec<Atom> {
    let vars: Vec<_> = slots.iter().map(|slot| vocabulary.slot(*slot)).collect();
    let pairs = vars.iter().enumerate().flat_map(|(at, a)| vars[..at].iter().map(move |b| (*a, *b)));
    let mut atoms: Vec<Atom> = pairs.flat_map(|(a, b)| [Atom::le(a, b), Atom::le(b, a)]).collect();
    atoms.extend(vars.iter().flat_map(|var| [Atom::le(*var, 0), Atom::ge(*var, 0)]));
    atoms
}

fn verdict(task: &Task<'_>, proof: CubeProof) -> Result<(), Rejected> {
    check(task, Verdict::Safe(Certificate::Cubes(proof)), &Ignore).map(drop)
}

fn flaw(task: &Task<'_>, proof: CubeProof) -> Option<CubeFlaw> {
    match verdict(task, proof) {
        Ok(()) => None,
        Err(Rejected::Cubes(flaw)) => Some(flaw),
        Err(other) => panic!("{other:?}"),
    }
}

const FOREVER: &str =
    "shared x; thread A { loop { x = 1; x = 2; } } thread B { let r; r = x; assert r >= 0; }";

#[test]
fn a_loop_that_stores_for_ever_needs_pools() {
    let program = program(FOREVER);
    for model in MODELS {
        let task = Task { program: &program, model: *model };
        for recall in recalls(2) {
            let mut prover = Prover::new(task, recall);
            assert!(prover.explore(&|v, slots| signs(v, slots, &[-1]), 5_000), "{recall:?}");
            let provable = prover.is_safe();
            assert_eq!(provable, recall.forgotten == Forgotten::Pools || model.name() == "sc", "{recall:?}");
            assert_eq!(flaw(&task, prover.proof).is_none(), provable, "{recall:?}");
        }
    }
}
