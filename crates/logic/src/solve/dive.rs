//! Cheap ways to an integer solution or a refutation, tried before elimination.
//!
//! The rational relaxation may be contradictory, or its solution integral. If every
//! inequality still has a rational solution after moving inwards by half the sum
//! of its coefficients' sizes, a unit cube fits in, and rounding its centre gives an
//! integer point. Otherwise the problem is split at a fractional variable, the
//! nearer side first, on one tableau, for a limited number of times.

use super::equations::{Assignment, Equations};
use super::ledger::{Ledger, LedgerFact, ProofId};
use super::simplex::Simplex;
use crate::certificate::Combination;
use crate::int::Int;
use crate::terms::linear::Linear;

/// The cheap ways: relaxation, cube, and a limited number of splits. `None` if these are not enough.
pub(crate) fn attempt(
    ledger: &mut Ledger,
    equations: &Equations,
    facts: &[LedgerFact],
    patience: usize,
) -> Result<Option<Assignment>, ProofId> {
    let mut simplex = Simplex::default();
    relax(ledger, facts, &mut simplex)?;
    if simplex.fractional().is_some()
        && let Some(values) = cube(facts)
    {
        return Ok(Some(values));
    }
    let facts = facts.to_vec();
    Dive { equations, facts, simplex, patience }.branch(ledger)
}

/// Solves the rational relaxation.
fn relax(ledger: &mut Ledger, facts: &[LedgerFact], simplex: &mut Simplex) -> Result<(), ProofId> {
    for (at, fact) in facts.iter().enumerate() {
        let step = simplex.assert_le(&fact.expr, at as u32);
        step.map_err(|farkas| ledger.close(combination(&farkas, facts)))?;
    }
    simplex.check().map_err(|farkas| ledger.close(combination(&farkas, facts)))
}

/// An integer point from the centre of a unit cube that fits in, if one does.
fn cube(facts: &[LedgerFact]) -> Option<Assignment> {
    let mut simplex = Simplex::default();
    for fact in facts {
        let size: Int = fact.expr.terms().iter().map(|term| term.1.abs()).sum();
        let inwards = fact.expr.clone() + size.div_ceil(&Int::from(2));
        simplex.assert_le(&inwards, 0).ok()?;
    }
    simplex.check().ok()?;
    Some(simplex.rounded().collect())
}

/// Splits at fractions on one tableau.
struct Dive<'a> {
    equations: &'a Equations,
    facts: Vec<LedgerFact>,
    simplex: Simplex,
    patience: usize,
}

impl Dive<'_> {
    /// Splits at a fraction of the relaxation's solution, as long as patience lasts.
    fn branch(&mut self, ledger: &mut Ledger) -> Result<Option<Assignment>, ProofId> {
        let Some((var, value)) = self.simplex.fractional() else {
            return Ok(Some(self.simplex.rounded().collect()));
        };
        let Some(patience) = self.patience.checked_sub(1) else { return Ok(None) };
        self.patience = patience;
        let (floor, nearest) = (value.floor(), value.round());
        let id = ledger.assumption();
        let low = Linear::from(var) - floor.clone();
        let high = -low.clone() + 1;
        let near_first = if nearest == floor { [&low, &high] } else { [&high, &low] };
        let mut proofs = Vec::new();
        for side in near_first {
            match self.below(ledger, LedgerFact { expr: side.clone(), why: Combination::one(id) }) {
                Err(proof) if ledger.uses(proof, id) => proofs.push(proof),
                settled => return settled,
            }
        }
        if nearest != floor {
            proofs.reverse();
        }
        let expr = self.equations.meaning_of(&low);
        Err(ledger.split(id, expr, proofs[0], proofs[1]))
    }

    /// One side of a split.
    fn below(&mut self, ledger: &mut Ledger, fact: LedgerFact) -> Result<Option<Assignment>, ProofId> {
        let (mark, count) = (self.simplex.mark(), self.facts.len());
        self.facts.push(fact);
        let asserted = self.simplex.assert_le(&self.facts[count].expr, count as u32);
        let result = match asserted.and_then(|()| self.simplex.check()) {
            Err(farkas) => Err(ledger.close(combination(&farkas, &self.facts))),
            Ok(()) => self.branch(ledger),
        };
        self.simplex.retract(mark);
        self.facts.truncate(count);
        result
    }
}

/// The reason of a contradiction found by simplex.
pub(crate) fn combination(farkas: &[(u32, Int)], facts: &[LedgerFact]) -> Combination {
    farkas
        .iter()
        .fold(Combination::none(), |sum, (fact, factor)| sum.plus(factor, &facts[*fact as usize].why))
}
