//! Formulas with Boolean structure against brute force and other solvers.

use crate::common::{Answer, Shape};
use fastrand::Rng;
use logic::{Formula, FormulaOutcome, Lemma, check_formulas, decide_formulas};

fn decided(formulas: &[Formula]) -> bool {
    match decide_formulas(formulas) {
        FormulaOutcome::Sat(model) => {
            assert!(formulas.iter().all(|formula| model.satisfies_formula(formula)));
            true
        }
        FormulaOutcome::Unsat(proof) => {
            assert_eq!(check_formulas(formulas, &proof), Ok(()), "{formulas:?}");
            false
        }
    }
}

#[test]
fn agrees_with_other_solvers() {
    let mut rng = Rng::with_seed(21);
    let shape = Shape { vars: 3, constant: 4, ..Shape::SMALL };
    let terms = crate::common::terms(shape.vars);
    let problems: Vec<Vec<Formula>> = (0..3000)
        .map(|_| (0..rng.usize(1..5)).map(|_| crate::common::formula(&mut rng, &shape, 3)).collect())
        .collect();
    let ours: Vec<bool> = problems.iter().map(|formulas| decided(formulas)).collect();
    assert!(ours.iter().filter(|sat| !**sat).count() > 300);
    let questions: Vec<Formula> = problems.iter().map(|formulas| Formula::and(formulas.clone())).collect();
    for (solver, theirs) in crate::common::others(&terms, &questions) {
        for ((formulas, ours), theirs) in problems.iter().zip(&ours).zip(theirs) {
            if theirs != Answer::Unknown {
                assert_eq!(*ours, theirs == Answer::Sat, "{solver} on {formulas:?}");
            }
        }
    }
}

#[test]
fn missing_or_broken_lemmas_are_rejected() {
    let mut rng = Rng::with_seed(22);
    let shape = Shape { vars: 2, constant: 3, ..Shape::SMALL };
    let mut broken = 0;
    for _ in 0..400 {
        let formulas: Vec<Formula> = (0..4).map(|_| crate::common::formula(&mut rng, &shape, 2)).collect();
        let FormulaOutcome::Unsat(proof) = decide_formulas(&formulas) else {
            continue;
        };
        if proof.lemmas.is_empty() {
            continue;
        }
        let mut without = proof.clone();
        without.lemmas.clear();
        // Without its lemmas a proof holds only if the formulas clash propositionally.
        if check_formulas(&formulas, &without).is_err() {
            broken += 1;
        }
        let mut lying = proof;
        let Lemma { atoms, .. } = &mut lying.lemmas[0];
        atoms.pop();
        assert!(check_formulas(&formulas, &lying).is_err());
    }
    assert!(broken > 50);
}
