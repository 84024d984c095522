//! Sequence interpolants: every style on random and typical paths, checked by us and by others.

use crate::common::{Answer, Shape};
use fastrand::Rng;
use logic::{
    Atom, Formula, Linear, NoInterpolants, Style, Terms, Var, check_interpolants, interpolate, interpolate_as,
};

fn v(n: usize) -> Linear {
    Linear::from(Var::at(n))
}

/// Moves the variables of a formula into the window of a step.
fn shifted(formula: &Formula, by: usize) -> Formula {
    formula.substitute_all(&mut |var| Some(v(var.index() + by)))
}

/// A sequence in which each step shares some variables with the next.
fn sequence(rng: &mut Rng, shape: &Shape, steps: usize, depth: usize) -> Vec<Formula> {
    let step = |at: usize, rng: &mut Rng| {
        let formula = match depth {
            0 => Formula::conjunction(&crate::common::conjunction(rng, shape)),
            _ => Formula::and((0..2).map(|_| crate::common::formula(rng, shape, depth))),
        };
        shifted(&formula, at)
    };
    (0..steps).map(|at| step(at, rng)).collect()
}

/// The formulas that must be unsatisfiable for the interpolants to be right.
fn obligations(steps: &[Formula], interpolants: &[Formula]) -> Vec<Formula> {
    let step = |at: usize| {
        Formula::and([interpolants[at].clone(), steps[at].clone(), interpolants[at + 1].negate()])
    };
    (0..steps.len()).map(step).collect()
}

fn random_sequences(shape: Shape, depth: usize, rounds: usize, seed: u64) -> usize {
    let mut rng = Rng::with_seed(seed);
    let terms = crate::common::terms(20);
    let mut questions = Vec::new();
    let mut counts = [0; 5];
    for _ in 0..rounds {
        let length = rng.usize(2..6);
        let steps = sequence(&mut rng, &shape, length, depth);
        for (number, style) in Style::ALL.into_iter().enumerate() {
            match interpolate_as(&steps, style) {
                Ok(interpolants) => {
                    assert_eq!(check_interpolants(&steps, &interpolants), Ok(()));
                    questions.extend(obligations(&steps, &interpolants));
                    counts[number] += 1;
                }
                Err(NoInterpolants::Rejected(cut)) => panic!("{style:?} is wrong at {cut} for {steps:?}"),
                Err(NoInterpolants::TooHard) => {}
                Err(NoInterpolants::Satisfiable(model)) => {
                    assert!(steps.iter().all(|step| model.satisfies_formula(step)));
                    break;
                }
            }
        }
    }
    for (solver, answers) in crate::common::others(&terms, &questions) {
        for (question, answer) in questions.iter().zip(answers) {
            assert_ne!(answer, Answer::Sat, "{solver} rejects {question:?}");
        }
    }
    eprintln!("interpolated by style: {counts:?}");
    assert!(counts[3] * 10 >= counts[0] * 8 && counts[0] * 10 >= counts[2] * 9);
    counts[0]
}

#[test]
fn random_conjunctions() {
    let shape = Shape { vars: 3, atoms: 3, ..Shape::SMALL };
    assert!(random_sequences(shape, 0, 750, 31) > 150);
    let cuts = Shape { vars: 3, atoms: 3, coefficient: 5, differences: 10, equations: 40, ..shape };
    assert!(random_sequences(cuts, 0, 400, 32) > 100);
}

#[test]
fn random_formulas() {
    let shape = Shape { vars: 2, atoms: 3, constant: 3, ..Shape::SMALL };
    assert!(random_sequences(shape, 2, 500, 33) > 100);
}

/// A counter that runs `length` times and then is claimed to be negative.
fn counting_path(terms: &mut Terms, length: usize) -> Vec<Formula> {
    let mut var = |name: &str, at: usize| Linear::from(terms.var(&format!("{name}{at}")));
    let mut path = vec![Formula::conjunction(&[Atom::eq(var("x", 0), 0), Atom::ge(var("y", 0), 3)])];
    for at in 0..length {
        path.push(Formula::conjunction(&[
            Atom::eq(var("x", at + 1), var("x", at) + 1),
            Atom::eq(var("y", at + 1), var("y", at) + var("x", at)),
            Atom::ne(var("x", at), -1),
        ]));
    }
    path.push(Formula::from(Atom::lt(var("x", length), 0)));
    path
}

#[test]
fn long_paths() {
    let mut terms = Terms::new();
    let path = counting_path(&mut terms, 300);
    let interpolants = interpolate(&path).expect("the path is infeasible");
    assert_eq!(check_interpolants(&path, &interpolants), Ok(()));
    assert!(interpolants.iter().all(|interpolant| interpolant.size() <= 1));
}

#[test]
fn alternatives_in_every_step() {
    // Each step adds one or two: exponentially many paths, but few interpolants.
    let length = 40;
    let mut steps = vec![Formula::from(Atom::eq(v(0), 0))];
    for at in 0..length {
        let plus = |n: i64| Formula::from(Atom::eq(v(at + 1), v(at) + n));
        steps.push(Formula::or([plus(1), plus(2)]));
    }
    steps.push(Formula::from(Atom::lt(v(length), length as i64)));
    let interpolants = interpolate(&steps).expect("the sum is too large");
    assert_eq!(check_interpolants(&steps, &interpolants), Ok(()));
    assert!(interpolants.iter().all(|interpolant| interpolant.size() <= 2));
}

#[test]
fn all_styles_of_a_path_are_offered() {
    let mut terms = Terms::new();
    let path = counting_path(&mut terms, 5);
    for style in Style::ALL {
        let interpolants = interpolate_as(&path, style).expect("the path is infeasible");
        assert_eq!(check_interpolants(&path, &interpolants), Ok(()));
    }
}

#[test]
fn parity_needs_divisibility() {
    // y = 2x on one side, y = 2z + 1 on the other.
    let steps = [Formula::from(Atom::eq(v(1), v(0) * 2)), Formula::from(Atom::eq(v(1), v(2) * 2 + 1))];
    for style in Style::ALL {
        let interpolants = interpolate_as(&steps, style).expect("no number is even and odd");
        assert_eq!(check_interpolants(&steps, &interpolants), Ok(()));
    }
}

#[test]
fn wrong_interpolants_are_rejected() {
    let mut terms = Terms::new();
    let path = counting_path(&mut terms, 4);
    let good = interpolate(&path).expect("the path is infeasible");
    for at in 0..good.len() {
        let mut bad = good.clone();
        bad[at] = bad[at].negate();
        assert!(check_interpolants(&path, &bad).is_err());
        bad[at] = Formula::from(Atom::ge(v(99), 0));
        assert!(check_interpolants(&path, &bad).is_err());
    }
    assert!(check_interpolants(&path, &good[1..]).is_err());
    assert!(matches!(interpolate(&path[1..]), Err(NoInterpolants::Satisfiable(_))));
}

#[test]
fn quotients_of_lemmas_keep_out_of_the_way() {
    // The lemma about x0 and x1 has a quotient whose number belongs to a later variable.
    let steps = [
        Formula::from(Atom::divides(3, v(0))),
        Formula::or([Formula::from(Atom::eq(v(0) + 1, v(1) * 3)), Formula::from(Atom::ge(v(2), v(0) + 5))]),
        Formula::and([Formula::from(Atom::lt(v(2), v(3))), Formula::from(Atom::lt(v(3), v(0)))]),
    ];
    for style in Style::ALL {
        let interpolants = interpolate_as(&steps, style).expect("the steps contradict each other");
        assert_eq!(check_interpolants(&steps, &interpolants), Ok(()));
    }
}
