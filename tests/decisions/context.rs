//! Contexts, cores and projection against the plain decision procedure and brute force.

use crate::common::Shape;
use fastrand::Rng;
use logic::{Atom, Context, Decided, Formula, Int, Linear, Truth, Var, check, decide, minimal_core, project};

fn follows(atoms: &[Atom], goal: &Atom) -> bool {
    let all: Vec<Atom> = atoms.iter().cloned().chain([goal.negate()]).collect();
    !decide(&all).is_sat()
}

/// Random assumptions, pushes and pops; every answer is compared.
fn session(rng: &mut Rng, shape: &Shape, steps: usize) {
    let mut context = Context::new();
    let mut atoms: Vec<Atom> = Vec::new();
    let mut levels: Vec<usize> = Vec::new();
    for _ in 0..steps {
        match rng.u8(0..10) {
            0 => {
                context.push();
                levels.push(atoms.len());
            }
            1 => {
                context.pop();
                atoms.truncate(levels.pop().unwrap_or(0));
            }
            2..=4 => {
                let atom = crate::common::atom(rng, shape);
                context.assume(&atom);
                atoms.push(atom);
            }
            5 => assert_eq!(context.is_consistent(), decide(&atoms).is_sat(), "{atoms:?}"),
            _ => {
                let goal = crate::common::atom(rng, shape);
                let (yes, no) = (follows(&atoms, &goal), follows(&atoms, &goal.negate()));
                assert_eq!(context.entails(&goal), yes, "{atoms:?} entails {goal:?}");
                assert_eq!(context.excludes(&goal), no, "{atoms:?} excludes {goal:?}");
                let truth = if yes {
                    Truth::Yes
                } else if no {
                    Truth::No
                } else {
                    Truth::Open
                };
                assert_eq!(context.truth(&goal), truth);
                let refuted: Vec<Atom> = context.atoms().iter().cloned().chain([goal.negate()]).collect();
                match decide(&refuted) {
                    Decided::Unsat(proof) => assert!(yes && check(&refuted, &proof).is_ok()),
                    Decided::Sat(_) => assert!(!yes),
                }
            }
        }
        assert_eq!(context.atoms(), atoms);
    }
    let model = context.model();
    assert_eq!(model.is_some(), decide(&atoms).is_sat());
    assert!(model.is_none_or(|model| atoms.iter().all(|atom| model.satisfies(atom))));
}

#[test]
fn contexts_agree_with_single_decisions() {
    let mut rng = Rng::with_seed(3);
    let small = Shape { vars: 4, ..Shape::SMALL };
    let pure = Shape { differences: 100, disequalities: 0, divisibilities: 0, vars: 7, ..small };
    let mixed = Shape { differences: 80, vars: 20, ..small };
    let huge = Shape { differences: 100, constant: i64::MAX - 1, divisibilities: 0, ..small };
    for round in 0..6000 {
        let shape = [small, pure, mixed, huge][round % 4];
        session(&mut rng, &shape, 40);
    }
}

#[test]
fn a_context_holds_more_variables_than_its_matrix() {
    let v = |n: usize| Linear::from(Var::at(n));
    let mut context = Context::new();
    let length = 400;
    (0..length).for_each(|n| context.assume(&Atom::lt(v(n), v(n + 1))));
    assert!(context.entails(&Atom::ge(v(length), v(0) + (length as i64))));
    assert!(!context.entails(&Atom::gt(v(length), v(0) + (length as i64))));
}

#[test]
fn cores_are_contradictory_and_minimal() {
    let mut rng = Rng::with_seed(5);
    let shape = Shape { atoms: 12, vars: 4, ..Shape::SMALL };
    let mut found = 0;
    for _ in 0..800 {
        let atoms = crate::common::conjunction(&mut rng, &shape);
        let Some(core) = minimal_core(&atoms) else {
            assert!(decide(&atoms).is_sat());
            continue;
        };
        found += 1;
        let chosen: Vec<Atom> = core.iter().map(|at| atoms[*at].clone()).collect();
        assert!(!decide(&chosen).is_sat());
        for skip in 0..chosen.len() {
            let mut fewer = chosen.clone();
            fewer.remove(skip);
            assert!(decide(&fewer).is_sat(), "{chosen:?} is not minimal");
        }
    }
    assert!(found > 200);
}

#[test]
fn projections_are_exact() {
    let mut rng = Rng::with_seed(9);
    let shape = Shape { vars: 3, atoms: 4, coefficient: 4, ..Shape::SMALL };
    let mut answered = 0;
    for _ in 0..600 {
        let atoms = crate::common::conjunction(&mut rng, &shape);
        let keep = Var::at(0);
        let Ok(projection) = project(&atoms, |var| var == keep, 3000) else {
            continue;
        };
        answered += 1;
        let formula = projection.formula();
        assert!(formula.vars().iter().all(|var| *var == keep));
        for value in -12i64..=12 {
            let point = Int::from(value);
            let fixed: Vec<Atom> =
                atoms.iter().cloned().chain([Atom::eq(keep, Linear::from(value))]).collect();
            let expected = decide(&fixed).is_sat();
            assert_eq!(
                formula.holds(&mut |_| &point),
                expected,
                "x0 = {value} in {atoms:?} gave {formula:?}"
            );
        }
    }
    assert!(answered > 500, "only {answered} projections within the limit");
}

#[test]
fn projection_of_contradictions_is_false() {
    let x = Linear::from(Var::at(0));
    let projection = project(&[Atom::eq(x.clone() * 2, Linear::from(Var::at(1)) * 2 + 1)], |_| false, 10);
    assert_eq!(projection.map(|p| p.formula()), Ok(Formula::truth(false)));
    assert!(matches!(decide(&[Atom::ge(x, 0)]), Decided::Sat(_)));
}
