//! Elimination of variables over the integers, the complete but costly method.
//!
//! To eliminate `z` between lower bounds `r ≤ β·z` and upper bounds `α·z ≤ t`, note
//! that an integer `z` surely exists between them if `β·t − α·r ≥ (α − 1)(β − 1)`
//! (the *dark shadow*), which follows when each lower bound leaves the room
//! `s = ⌊β − 1 − β/α⌋ + 1`, that is `r + s ≤ β·z`, for the largest `α`. If `s = 0` for
//! all, the elimination is exact. Otherwise a solution outside of the dark
//! shadow has `β·z = r + i` for some lower bound and some `0 ≤ i < s`, one equation
//! (*splinter*) each, which again removes a variable. As a proof this is a case
//! split on `β·z − r`, and the inequalities of the shadow are combinations.
//!
//! Before that, some cheaper ways are tried ([`dive`](super::dive)), at first in the given
//! coordinates and then in better ones ([`lattice`]).
//!
//! A narrow strip `lo ≤ e ≤ hi` is an alternative: `e` takes one of few values,
//! each an equation. Whichever needs fewer cases is taken. Every such step
//! removes a variable, and splits at fractions are limited in number, hence the
//! procedure terminates.

use std::collections::BTreeSet;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::dive::attempt;
use super::equations::{Assignment, Equations};
use super::lattice;
use super::ledger::{Ledger, LedgerFact, ProofId};
use crate::certificate::Combination;
use crate::int::Int;
use crate::terms::linear::{Linear, Var};

/// Splits at fractions to try in the given coordinates, in better ones, and
/// after each elimination.
const PATIENCE: [usize; 3] = [150, 400, 20];

/// Solves a conjunction of inequalities under equations already solved.
///
/// Values come back for all variables but those the given equations define.
pub(crate) fn solve(
    ledger: &mut Ledger,
    equations: &Equations,
    facts: &[LedgerFact],
) -> Result<Assignment, ProofId> {
    let mut problem = Problem { equations: equations.clone(), facts: facts.to_vec() };
    problem.simplify(ledger)?;
    let mut values = match attempt(ledger, &problem.equations, &problem.facts, PATIENCE[0])? {
        Some(values) => values,
        None => {
            lattice::reduce(ledger, &mut problem.equations, &problem.facts);
            problem.simplify(ledger)?;
            problem.search(ledger, PATIENCE[1])?
        }
    };
    problem.equations.extend(equations.len(), &mut values);
    Ok(values)
}

struct Problem {
    equations: Equations,
    facts: Vec<LedgerFact>,
}

/// A lower bound `r ≤ β·z` with the room `s` it must leave.
struct Lower {
    fact: LedgerFact,
    factor: Int,
    room: Int,
}

impl Problem {
    /// Reduces and tightens all facts, keeps the strongest of parallel ones and
    /// turns opposite ones that meet into equations, until nothing changes.
    fn simplify(&mut self, ledger: &mut Ledger) -> Result<(), ProofId> {
        while let Some(equation) = self.simplify_once(ledger)? {
            self.equations.add(ledger, equation)?;
        }
        Ok(())
    }

    fn simplify_once(&mut self, ledger: &mut Ledger) -> Result<Option<LedgerFact>, ProofId> {
        let mut strongest: HashMap<Linear, usize, FxBuildHasher> = HashMap::default();
        let mut kept: Vec<LedgerFact> = Vec::new();
        for fact in std::mem::take(&mut self.facts) {
            let fact = ledger.tighten(self.equations.reduce(fact));
            if fact.expr.is_constant() {
                if fact.expr.constant().signum() > 0 {
                    return Err(ledger.close(fact.why));
                }
                continue;
            }
            let direction = fact.expr.with_constant(0i64);
            match strongest.get(&direction) {
                Some(at) if kept[*at].expr.constant() < fact.expr.constant() => kept[*at] = fact,
                Some(_) => {}
                None => {
                    strongest.insert(direction, kept.len());
                    kept.push(fact);
                }
            }
        }
        self.facts = kept;
        for fact in &self.facts {
            let Some(opposite) = strongest.get(&-fact.expr.with_constant(0i64)) else {
                continue;
            };
            let opposite = &self.facts[*opposite];
            let gap = fact.expr.constant() + opposite.expr.constant();
            if gap.signum() > 0 {
                return Err(ledger.close(fact.why.plus(&Int::ONE, &opposite.why)));
            }
            if gap.is_zero() {
                return Ok(Some(ledger.squeeze(fact, opposite)));
            }
        }
        Ok(None)
    }

    fn search(&self, ledger: &mut Ledger, patience: usize) -> Result<Assignment, ProofId> {
        if let Some(values) = attempt(ledger, &self.equations, &self.facts, patience)? {
            return Ok(values);
        }
        let Some((cases, var)) = self.cheapest() else { return Ok(Assignment::default()) };
        let strip = if cases.is_zero() { None } else { self.narrowest() };
        match strip.filter(|(width, ..)| *width <= cases) {
            Some((_, upper, lower)) => self.strip(ledger, upper, lower),
            None => self.eliminate(ledger, var),
        }
    }

    /// As [`solve`] with little patience, for the many problems that elimination creates. `solved` equations were there
    /// before.
    fn solve_quickly(mut self, ledger: &mut Ledger, solved: usize) -> Result<Assignment, ProofId> {
        self.simplify(ledger)?;
        let mut values = self.search(ledger, PATIENCE[2])?;
        self.equations.extend(solved, &mut values);
        Ok(values)
    }

    /// The variable whose elimination costs least, with the number of cases besides the shadow.
    fn cheapest(&self) -> Option<(Int, Var)> {
        let vars: BTreeSet<Var> = self.facts.iter().flat_map(|fact| fact.expr.vars()).collect();
        let priced = vars.iter().map(|var| (self.price(*var), *var));
        priced.min().map(|((cases, _), var)| (cases, var))
    }

    /// The number of splinters, and how many facts elimination adds.
    fn price(&self, var: Var) -> (Int, i64) {
        let (lowers, uppers, _) = self.sides(var);
        let (lower, upper) = (lowers.len() as i64, uppers.len() as i64);
        (lowers.iter().map(|lower| lower.room.clone()).sum(), lower * upper - lower - upper)
    }

    /// The strip with the fewest values, which lies between an upper and a lower fact, and how many it has.
    fn narrowest(&self) -> Option<(Int, usize, usize)> {
        let facts = || self.facts.iter().enumerate();
        let strips = facts().flat_map(|(upper, fact)| {
            let turned = -fact.expr.with_constant(0i64);
            let opposite =
                facts().skip(upper + 1).filter(move |(_, other)| other.expr.terms() == turned.terms());
            opposite.map(move |(lower, other)| {
                (Int::ONE - fact.expr.constant() - other.expr.constant(), upper, lower)
            })
        });
        strips.min()
    }

    /// Lower bounds (with their rooms), upper bounds and the facts without the variable.
    fn sides(&self, var: Var) -> (Vec<Lower>, Vec<LedgerFact>, Vec<LedgerFact>) {
        let (mut lowers, mut uppers, mut rest) = (Vec::new(), Vec::new(), Vec::new());
        let mut steepest = Int::ZERO;
        for fact in &self.facts {
            let a = fact.expr.coefficient(var);
            match a.signum() {
                0 => rest.push(fact.clone()),
                1 => {
                    steepest = steepest.max(a);
                    uppers.push(fact.clone());
                }
                _ => lowers.push(Lower { fact: fact.clone(), factor: -a, room: Int::ZERO }),
            }
        }
        if steepest.signum() > 0 {
            for lower in &mut lowers {
                lower.room = room(&steepest, &lower.factor);
            }
        }
        (lowers, uppers, rest)
    }

    fn eliminate(&self, ledger: &mut Ledger, var: Var) -> Result<Assignment, ProofId> {
        let (mut lowers, uppers, mut shadow) = self.sides(var);
        let originals: Vec<LedgerFact> = lowers.iter().map(|lower| lower.fact.clone()).collect();
        let mut assumed = Vec::new();
        for lower in lowers.iter_mut().filter(|lower| lower.room.signum() > 0) {
            let id = ledger.assumption();
            let expr = lower.fact.expr.clone() + lower.room.clone();
            let original = std::mem::replace(&mut lower.fact, LedgerFact { expr, why: Combination::one(id) });
            assumed.push((id, original, lower.room.clone()));
        }
        for lower in &lowers {
            for upper in &uppers {
                shadow.push(lower.joined_with(upper, &upper.expr.coefficient(var)));
            }
        }
        let shadow = Problem { equations: self.equations.clone(), facts: shadow };
        let mut proof = match shadow.solve_quickly(ledger, self.equations.len()) {
            Ok(mut values) => {
                let value = between(var, &originals, &uppers, &values);
                values.insert(var, value);
                return Ok(values);
            }
            Err(proof) => proof,
        };
        for (id, lower, room) in assumed {
            if ledger.uses(proof, id) {
                match self.cases(ledger, &lower, &room, id) {
                    Ok(values) => return Ok(values),
                    Err(cases) => proof = join_cases(ledger, cases, proof),
                }
            }
        }
        Err(proof)
    }

    /// Goes through the values of a strip between two parallel facts.
    fn strip(&self, ledger: &mut Ledger, upper: usize, lower: usize) -> Result<Assignment, ProofId> {
        let (upper, lower) = (&self.facts[upper], &self.facts[lower]);
        let steps = -(upper.expr.constant() + lower.expr.constant());
        let id = ledger.assumption();
        let cases = match self.cases(ledger, lower, &steps, id) {
            Ok(values) => return Ok(values),
            Err(cases) => cases,
        };
        let floor = LedgerFact { expr: lower.expr.clone() + steps, why: Combination::one(id) };
        let equation = ledger.squeeze(upper, &floor);
        match self.with_equation(ledger, equation) {
            Ok(values) => Ok(values),
            Err(last) => Err(join_cases(ledger, cases, last)),
        }
    }

    /// Tries `e = 0, 1, …, count − 1` for the fact `−e ≤ 0`; what remains,
    /// `e ≥ count`, is the assumption `id`.
    fn cases(
        &self,
        ledger: &mut Ledger,
        fact: &LedgerFact,
        count: &Int,
        id: u32,
    ) -> Result<Assignment, Vec<RefutedCase>> {
        let mut cases = Vec::new();
        let mut floor = fact.clone();
        let mut value = Int::ZERO;
        while value < *count {
            let next = &value + &Int::ONE;
            let split = if next == *count { id } else { ledger.assumption() };
            let expr = -fact.expr.clone() - value;
            let ceiling = LedgerFact { expr: expr.clone(), why: Combination::one(split) };
            let equation = ledger.squeeze(&ceiling, &floor);
            let proof = match self.with_equation(ledger, equation) {
                Ok(values) => return Ok(values),
                Err(proof) => proof,
            };
            cases.push(RefutedCase { id: split, expr: self.equations.meaning_of(&expr), proof });
            if !ledger.uses(proof, split) {
                break;
            }
            floor = LedgerFact { expr: fact.expr.clone() + next.clone(), why: Combination::one(split) };
            value = next;
        }
        Err(cases)
    }

    fn with_equation(&self, ledger: &mut Ledger, equation: LedgerFact) -> Result<Assignment, ProofId> {
        let mut child = Problem { equations: self.equations.clone(), facts: self.facts.clone() };
        child.equations.add(ledger, equation)?;
        child.solve_quickly(ledger, self.equations.len())
    }
}

/// The room that a lower bound with this factor must leave, where `steepest` is the largest factor of an upper one.
pub(crate) fn room(steepest: &Int, factor: &Int) -> Int {
    let spare = steepest * factor - steepest - factor;
    (spare.div_floor(steepest) + Int::ONE).max(Int::ZERO)
}

/// A refuted case `expr ≤ 0` of a split.
struct RefutedCase {
    id: u32,
    expr: Linear,
    proof: ProofId,
}

fn join_cases(ledger: &mut Ledger, cases: Vec<RefutedCase>, last: ProofId) -> ProofId {
    cases.into_iter().rev().fold(last, |rest, case| ledger.split(case.id, case.expr, case.proof, rest))
}

impl Lower {
    /// The combination with an upper bound in which the variable cancels.
    fn joined_with(&self, upper: &LedgerFact, coefficient: &Int) -> LedgerFact {
        let gcd = self.factor.gcd(coefficient);
        let (mine, theirs) = (coefficient.exact_div(&gcd), self.factor.exact_div(&gcd));
        LedgerFact {
            expr: self.fact.expr.times(&mine).plus(&theirs, &upper.expr),
            why: self.fact.why.scaled(&mine).plus(&theirs, &upper.why),
        }
    }
}

/// A value for the variable between its bounds, the others being given.
fn between(var: Var, lowers: &[LedgerFact], uppers: &[LedgerFact], values: &Assignment) -> Int {
    let bound = |fact: &LedgerFact| {
        let rest = fact.expr.substitute(var, &Linear::default());
        let rest = rest.evaluate(|v| values.get(&v).unwrap_or(&Int::ZERO));
        (rest, fact.expr.coefficient(var).abs())
    };
    let floor = lowers.iter().map(bound).map(|(rest, a)| rest.div_ceil(&a)).max();
    let ceiling = || uppers.iter().map(bound).map(|(rest, a)| (-rest).div_floor(&a)).min();
    floor.or_else(ceiling).unwrap_or_default()
}
