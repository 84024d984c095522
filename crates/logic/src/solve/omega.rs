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

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::dive::{DiveEnd, attempt};
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
    let first = equations.len();
    problem.simplify(ledger)?;
    let mut values = match attempt(ledger, &problem.equations, &problem.facts, PATIENCE[0]) {
        Ok(values) => values,
        Err(DiveEnd::Refuted(proof)) => return Err(proof),
        Err(DiveEnd::Exhausted) => {
            lattice::reduce(ledger, &mut problem.equations, &problem.facts);
            problem.simplify(ledger)?;
            problem.search(ledger, PATIENCE[1])?
        }
    };
    problem.equations.extend(first, &mut values);
    Ok(values)
}

/// The same with little patience, for the many problems that elimination creates.
fn solve_shadow(
    ledger: &mut Ledger,
    equations: &Equations,
    facts: &[LedgerFact],
) -> Result<Assignment, ProofId> {
    let mut problem = Problem { equations: equations.clone(), facts: facts.to_vec() };
    problem.simplify(ledger)?;
    let mut values = problem.search(ledger, PATIENCE[2])?;
    problem.equations.extend(equations.len(), &mut values);
    Ok(values)
}

struct Problem {
    equations: Equations,
    facts: Vec<LedgerFact>,
}

/// How to go on with a variable or a strip.
enum Elimination {
    Eliminate { var: Var },
    Strip { upper: usize, lower: usize, cases: Int },
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
        match attempt(ledger, &self.equations, &self.facts, patience) {
            Ok(values) => return Ok(values),
            Err(DiveEnd::Refuted(proof)) => return Err(proof),
            Err(DiveEnd::Exhausted) => {}
        }
        match self.plan() {
            Some(Elimination::Eliminate { var }) => self.eliminate(ledger, var),
            Some(Elimination::Strip { upper, lower, .. }) => self.strip(ledger, upper, lower),
            None => Ok(Assignment::default()),
        }
    }

    fn plan(&self) -> Option<Elimination> {
        let mut vars: Vec<Var> = self.facts.iter().flat_map(|fact| fact.expr.vars()).collect();
        vars.sort_unstable();
        vars.dedup();
        let priced = vars.iter().map(|var| (self.price(*var), *var));
        let ((cases, _), var) = priced.min()?;
        let cheapest = Elimination::Eliminate { var };
        if cases.is_zero() {
            return Some(cheapest);
        }
        match self.narrowest() {
            Some(Elimination::Strip { upper, lower, cases: width }) if width <= cases => {
                Some(Elimination::Strip { upper, lower, cases: width })
            }
            _ => Some(cheapest),
        }
    }

    /// The number of splinters, and how many facts elimination adds.
    fn price(&self, var: Var) -> (Int, i64) {
        let (lowers, uppers, _) = self.sides(var);
        let (lower, upper) = (lowers.len() as i64, uppers.len() as i64);
        (lowers.iter().map(|lower| lower.room.clone()).sum(), lower * upper - lower - upper)
    }

    fn narrowest(&self) -> Option<Elimination> {
        let mut best: Option<(Int, usize, usize)> = None;
        for (upper, fact) in self.facts.iter().enumerate() {
            let turned = -fact.expr.with_constant(0i64);
            for (lower, other) in self.facts.iter().enumerate().skip(upper + 1) {
                if other.expr.terms() != turned.terms() {
                    continue;
                }
                let cases = Int::ONE - fact.expr.constant() - other.expr.constant();
                if best.as_ref().is_none_or(|found| cases < found.0) {
                    best = Some((cases, upper, lower));
                }
            }
        }
        best.map(|(cases, upper, lower)| Elimination::Strip { upper, lower, cases })
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
                let spare = &steepest * &lower.factor - &steepest - &lower.factor;
                lower.room = (spare.div_floor(&steepest) + Int::ONE).max(Int::ZERO);
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
        let mut proof = match solve_shadow(ledger, &self.equations, &shadow) {
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
        child.simplify(ledger)?;
        let mut values = child.search(ledger, PATIENCE[2])?;
        child.equations.extend(self.equations.len(), &mut values);
        Ok(values)
    }
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
