//! Better coordinates for an integer problem.
//!
//! Splitting at fractions works well when the feasible region is not much
//! longer in a skew direction than along the axes. Subtracting a multiple of one
//! column of the constraint matrix from another is a change of coordinates that
//! keeps integer points integer: `aᵢ·xᵢ + aⱼ·xⱼ = (aᵢ − q·aⱼ)·xᵢ + aⱼ·(xⱼ + q·xᵢ)`.
//! Doing so as long as a column gets shorter makes the columns short and nearly
//! orthogonal, and the region as round as can be had cheaply.

use std::collections::BTreeSet;

use super::equations::Equations;
use super::ledger::{Ledger, LedgerFact};
use crate::int::Int;
use crate::terms::linear::{Linear, Var};

/// Rounds of pairwise reduction; each shortens some column, so few are needed.
const MAX_ROUNDS: usize = 400;

/// With more variables the reduction costs more than it gains.
const MAX_VARS: usize = 10;

/// One coordinate: its column in the constraints, what it is in terms of the old
/// variables, and how much of it goes into each old variable.
struct Coordinate {
    column: Vec<Int>,
    meaning: Linear,
    share: Vec<Int>,
}

/// Renames variables to coordinates in which the facts have short columns.
pub(crate) fn reduce(ledger: &mut Ledger, equations: &mut Equations, facts: &[LedgerFact]) {
    let vars: BTreeSet<Var> = facts.iter().flat_map(|fact| fact.expr.vars()).collect();
    if vars.len() > MAX_VARS {
        return;
    }
    let weights = weights(facts);
    let mut coordinates: Vec<Coordinate> = vars
        .iter()
        .enumerate()
        .map(|(at, var)| Coordinate {
            column: facts
                .iter()
                .zip(&weights)
                .map(|(fact, weight)| fact.expr.coefficient(*var) * weight)
                .collect(),
            meaning: equations.meaning(*var),
            share: (0..vars.len()).map(|n| Int::from(usize::from(n == at))).collect(),
        })
        .collect();
    let mut rounds = 0;
    while rounds < MAX_ROUNDS && shorten(&mut coordinates) {
        rounds += 1;
    }
    if rounds == 0 {
        return;
    }
    let fresh: Vec<Var> = coordinates
        .iter()
        .map(|coordinate| equations.name(ledger.fresh_var(), coordinate.meaning.clone()))
        .collect();
    for (at, var) in vars.iter().enumerate() {
        let shares = fresh.iter().zip(&coordinates).map(|(name, c)| (*name, c.share[at].clone()));
        equations.rename(*var, Linear::new(shares, 0i64));
    }
}

/// Factors that make all facts count about the same, whatever the size of their coefficients.
fn weights(facts: &[LedgerFact]) -> Vec<Int> {
    let size = |fact: &LedgerFact| fact.expr.terms().iter().map(|term| term.1.abs()).sum::<Int>();
    let sizes: Vec<Int> = facts.iter().map(size).collect();
    let largest = sizes.iter().max().cloned().unwrap_or(Int::ONE);
    let precise = largest * Int::from(1i64 << 20);
    sizes.iter().map(|size| precise.div_floor(size)).collect()
}

/// Shortens one column by another, if that is possible anywhere.
fn shorten(coordinates: &mut [Coordinate]) -> bool {
    let mut changed = false;
    for i in 0..coordinates.len() {
        for j in 0..coordinates.len() {
            if i == j {
                continue;
            }
            let length = dot(&coordinates[j].column, &coordinates[j].column);
            if length.is_zero() {
                continue;
            }
            let quotient = nearest(&dot(&coordinates[i].column, &coordinates[j].column), &length);
            if quotient.is_zero() {
                continue;
            }
            let minus = -&quotient;
            let (column, share) = (coordinates[j].column.clone(), coordinates[j].share.clone());
            add(&mut coordinates[i].column, &minus, &column);
            add(&mut coordinates[i].share, &minus, &share);
            coordinates[j].meaning = coordinates[j].meaning.plus(&quotient, &coordinates[i].meaning);
            changed = true;
        }
    }
    changed
}

fn dot(left: &[Int], right: &[Int]) -> Int {
    left.iter().zip(right).fold(Int::ZERO, |sum, (a, b)| sum.plus_product(a, b))
}

fn add(target: &mut [Int], factor: &Int, other: &[Int]) {
    for (a, b) in target.iter_mut().zip(other) {
        *a = a.plus_product(factor, b);
    }
}

/// The integer nearest to `a / b`, towards zero on a tie so that reduction ends.
fn nearest(a: &Int, b: &Int) -> Int {
    let doubled = a.abs() * Int::from(2) - Int::ONE;
    let size = (doubled + b).div_floor(&(b * &Int::from(2)));
    if a.signum() < 0 { -size } else { size }
}
