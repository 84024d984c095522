//! Random conjunctions against brute force over a box and against other solvers.

use crate::common::{Answer, Shape};
use fastrand::Rng;
use logic::{Atom, Context, Decided, Formula, Int, Linear, Var, check, decide, minimal_core};

/// Decides and has the answer checked; true means satisfiable.
fn decided(atoms: &[Atom]) -> bool {
    match decide(atoms) {
        Decided::Sat(model) => {
            assert!(atoms.iter().all(|atom| model.satisfies(atom)));
            true
        }
        Decided::Unsat(certificate) => {
            assert_eq!(check(atoms, &certificate), Ok(()), "{atoms:?}\n{certificate:?}");
            false
        }
    }
}

/// Where shapes with huge numbers begin.
const HUGE: usize = 5;

/// Shapes of problems and how many to make of each.
fn shapes() -> Vec<(Shape, usize)> {
    let small = Shape::SMALL;
    let large = Shape { differences: 20, disequalities: 5, ..small };
    vec![
        (small, 2000),
        (Shape { vars: 2, atoms: 6, coefficient: 12, constant: 30, differences: 0, ..small }, 1500),
        (Shape { vars: 4, atoms: 8, divisibilities: 15, ..small }, 1500),
        (Shape { vars: 6, atoms: 14, differences: 80, constant: 4, ..small }, 1500),
        (Shape { vars: 8, atoms: 20, differences: 95, constant: 3, equations: 10, ..small }, 1500),
        (Shape { vars: 4, atoms: 5, coefficient: 1 << 40, constant: 1 << 45, ..large }, 150),
        (Shape { vars: 3, atoms: 4, coefficient: 1 << 62, constant: i64::MAX - 1, ..large }, 150),
    ]
}

#[test]
fn agrees_with_brute_force_over_a_box() {
    let mut rng = Rng::with_seed(7);
    let side = 4i64;
    for round in 0..6000 {
        let shape = Shape { vars: 1 + round % 3, ..Shape::SMALL };
        let mut atoms = crate::common::conjunction(&mut rng, &shape);
        for n in 0..shape.vars {
            let var = Linear::from(Var::at(n));
            atoms.extend([Atom::ge(var.clone(), -side), Atom::le(var, side)]);
        }
        assert_eq!(decided(&atoms), brute_force(&atoms, shape.vars, side), "{atoms:?}");
    }
}

fn brute_force(atoms: &[Atom], vars: usize, side: i64) -> bool {
    let width = 2 * side + 1;
    (0..width.pow(vars as u32)).any(|code| {
        let point: Vec<Int> =
            (0..vars).map(|n| Int::from(code / width.pow(n as u32) % width - side)).collect();
        atoms.iter().all(|atom| atom.holds(|var| &point[var.index()]))
    })
}

#[test]
fn agrees_with_other_solvers() {
    compare(&shapes()[..HUGE], 11);
}

#[test]
fn agrees_with_other_solvers_on_huge_numbers() {
    compare(&shapes()[HUGE..], 12);
}

fn compare(shapes: &[(Shape, usize)], seed: u64) {
    let mut rng = Rng::with_seed(seed);
    for (number, (shape, count)) in shapes.iter().enumerate() {
        let terms = crate::common::terms(shape.vars);
        let problems: Vec<Vec<Atom>> =
            (0..*count).map(|_| crate::common::conjunction(&mut rng, shape)).collect();
        let ours: Vec<bool> = problems.iter().map(|atoms| decided(atoms)).collect();
        let questions: Vec<Formula> = problems.iter().map(Formula::conjunction).collect();
        for (solver, theirs) in crate::common::others(&terms, &questions) {
            let mut unknown = 0;
            for ((atoms, ours), theirs) in problems.iter().zip(&ours).zip(&theirs) {
                match theirs {
                    Answer::Unknown => unknown += 1,
                    answer => assert_eq!(*ours, *answer == Answer::Sat, "{solver} on {atoms:?}"),
                }
            }
            let sat = ours.iter().filter(|sat| **sat).count();
            eprintln!("shape {number}: {solver} agrees, {sat} of {count} satisfiable, {unknown} left open");
        }
    }
}

/// Contexts answer; others decide the context with the negated goal.
#[test]
fn entailments_agree_with_other_solvers() {
    let mut rng = Rng::with_seed(13);
    let shape = Shape { vars: 8, atoms: 12, differences: 80, constant: 5, ..Shape::SMALL };
    let terms = crate::common::terms(shape.vars);
    let (mut questions, mut ours) = (Vec::new(), Vec::new());
    for _ in 0..300 {
        let mut context = Context::new();
        let atoms = crate::common::conjunction(&mut rng, &shape);
        atoms.iter().for_each(|atom| context.assume(atom));
        for _ in 0..8 {
            let goal = crate::common::atom(&mut rng, &shape);
            let negated = Formula::from(goal.negate());
            questions.push(Formula::and([Formula::conjunction(&atoms), negated]));
            ours.push(context.entails(&goal));
        }
    }
    for (solver, theirs) in crate::common::others(&terms, &questions) {
        for ((question, ours), theirs) in questions.iter().zip(&ours).zip(theirs) {
            let agrees = theirs == Answer::Unknown || *ours == (theirs == Answer::Unsat);
            assert!(agrees, "{solver} on {question:?}");
        }
    }
}

/// Cores are contradictory, and satisfiable without any of their atoms, others confirm.
#[test]
fn cores_are_confirmed_by_other_solvers() {
    let mut rng = Rng::with_seed(17);
    let shape = Shape { vars: 4, atoms: 12, ..Shape::SMALL };
    let terms = crate::common::terms(shape.vars);
    let (mut questions, mut expected) = (Vec::new(), Vec::new());
    for _ in 0..500 {
        let atoms = crate::common::conjunction(&mut rng, &shape);
        let Some(core) = minimal_core(&atoms) else {
            continue;
        };
        let chosen: Vec<Atom> = core.iter().map(|at| atoms[*at].clone()).collect();
        questions.push(Formula::conjunction(&chosen));
        expected.push(Answer::Unsat);
        for skip in 0..chosen.len() {
            let others = chosen.iter().enumerate().filter(|(at, _)| *at != skip);
            questions.push(Formula::conjunction(others.map(|(_, atom)| atom)));
            expected.push(Answer::Sat);
        }
    }
    assert!(questions.len() > 500);
    for (solver, theirs) in crate::common::others(&terms, &questions) {
        for ((question, expected), theirs) in questions.iter().zip(&expected).zip(theirs) {
            let agrees = theirs == Answer::Unknown || theirs == *expected;
            assert!(agrees, "{solver} on {question:?}");
        }
    }
}
