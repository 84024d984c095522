//! Interpolants by projection: the strongest and the weakest there are.
//!
//! What a prefix says about the variables it shares with the rest is its
//! projection; step by step that is the strongest sequence. Read from the end and
//! negated it is the weakest. Both are exact and may be large, hence limits.

use std::collections::BTreeSet;

use super::NoInterpolants;
use super::merge::merged;
use crate::project::project;
use crate::terms::atom::Atom;
use crate::terms::formula::{Formula, FormulaNode};
use crate::terms::linear::Var;

/// Cases to try in one projection, and to keep in one interpolant.
const LIMIT: usize = 2000;
const MAX_CASES: usize = 64;

/// The weakest or the strongest interpolants, one for each cut `0..=steps.len()`.
pub(super) fn interpolants(steps: &[Formula], weak: bool) -> Result<Vec<Formula>, NoInterpolants> {
    if !weak {
        return strongest(steps);
    }
    let backwards: Vec<Formula> = steps.iter().rev().cloned().collect();
    let reversed = strongest(&backwards)?;
    Ok(reversed.iter().rev().map(Formula::negate).collect())
}

fn strongest(steps: &[Formula]) -> Result<Vec<Formula>, NoInterpolants> {
    let later = suffix_vars(steps);
    let mut cases: Vec<Vec<Atom>> = vec![Vec::new()];
    let mut result = vec![Formula::truth(true)];
    for (step, later) in steps.iter().zip(&later[1..]) {
        cases = advance(&cases, step, later)?;
        result.push(Formula::or(cases.iter().map(Formula::conjunction)));
    }
    Ok(result)
}

/// The variables of the steps from each cut on.
fn suffix_vars(steps: &[Formula]) -> Vec<BTreeSet<Var>> {
    let mut result = vec![BTreeSet::new()];
    for step in steps.iter().rev() {
        let mut vars = result.last().cloned().unwrap_or_default();
        vars.extend(step.vars());
        result.push(vars);
    }
    result.reverse();
    result
}

/// The projection of the cases and one more step onto the variables of later steps.
fn advance(
    cases: &[Vec<Atom>],
    step: &Formula,
    later: &BTreeSet<Var>,
) -> Result<Vec<Vec<Atom>>, NoInterpolants> {
    let mut found: BTreeSet<Vec<Atom>> = BTreeSet::new();
    let branches = disjuncts(step, true)?;
    for case in cases {
        for branch in &branches {
            let all: Vec<Atom> = case.iter().chain(branch).cloned().collect();
            let projection = project(&all, |var| later.contains(&var), LIMIT);
            found.extend(projection.map_err(|_| NoInterpolants::TooHard)?.cases);
        }
    }
    // A case with fewer atoms makes those that contain all of them superfluous.
    let covered = |case: &Vec<Atom>| {
        found.iter().any(|other| other.len() < case.len() && other.iter().all(|atom| case.contains(atom)))
    };
    let result = merged(found.iter().filter(|case| !covered(case)).cloned());
    if result.len() > MAX_CASES { Err(NoInterpolants::TooHard) } else { Ok(result) }
}

/// The disjunctive normal form of a formula (or its negation).
fn disjuncts(formula: &Formula, positive: bool) -> Result<Vec<Vec<Atom>>, NoInterpolants> {
    match (formula.node(), positive) {
        (FormulaNode::Atom(atom), true) => Ok(vec![vec![atom.clone()]]),
        (FormulaNode::Atom(atom), false) => Ok(vec![vec![atom.negate()]]),
        (FormulaNode::Not(inner), _) => disjuncts(inner, !positive),
        (FormulaNode::Or(parts), true) | (FormulaNode::And(parts), false) => {
            let branches = parts.iter().map(|part| disjuncts(part, positive));
            Ok(branches.collect::<Result<Vec<_>, _>>()?.concat())
        }
        (FormulaNode::And(parts), true) | (FormulaNode::Or(parts), false) => {
            let mut product: Vec<Vec<Atom>> = vec![Vec::new()];
            for part in parts {
                let branches = disjuncts(part, positive)?;
                if product.len() * branches.len() > MAX_CASES {
                    return Err(NoInterpolants::TooHard);
                }
                let pairs = product.iter().flat_map(|left| branches.iter().map(move |right| (left, right)));
                product = pairs.map(|(left, right)| left.iter().chain(right).cloned().collect()).collect();
            }
            Ok(product)
        }
    }
}
