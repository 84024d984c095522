//! Interpolants for all cuts of a sequence at once, read off a proof.
//!
//! Every fact of the proof belongs to a step: hypotheses to their own, the two
//! sides of a split to a step in which, or around which, all its variables occur.
//! At a cut a fact is on the left if its step is. Then
//!
//! * a linear contradiction gives the sum of its facts on the left;
//! * a split on the left gives the disjunction of its branches' interpolants,
//!   one on the right their conjunction;
//! * rounding a sum to the cut `f` is a split on `f`, whose other branch is
//!   contradictory by the same sum;
//! * a false conjunct of a formula, given some atoms, gives the conjunction of
//!   the atoms on the left if it is on the right itself, else the disjunction of
//!   the negations of those on the right.
//!
//! Since a fact moves from right to left once, step by step the interpolants
//! follow from each other. If the variables of a split live in steps too far
//! apart, it has no place ([`Misplaced`]) and interpolants come from projection.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::spread::Spread;
use crate::certificate::{Combination, FactId, ProofStep, UnsatProof};
use crate::formulas::Lemma;
use crate::formulas::cases::{CaseNode, CaseTree};
use crate::int::Int;
use crate::terms::atom::{Atom, Relation};
use crate::terms::formula::Formula;
use crate::terms::linear::{Linear, Var};

/// A split whose variables do not meet in any step.
#[derive(Debug)]
pub(super) struct Misplaced;

/// The first and last step in which each variable occurs.
pub(super) type Ranges = HashMap<Var, (usize, usize), FxBuildHasher>;

/// What the interpolation of one sequence knows.
pub(super) struct Sequence {
    pub(super) steps: usize,
    pub(super) ranges: Ranges,
    /// Prefer what contradicts the second half just so over what the first half just implies.
    pub(super) weak: bool,
}

/// A fact in scope.
#[derive(Clone)]
enum SpreadFact {
    /// `≤ 0`.
    Inequality(Spread),
    /// `= 0`, by the two inequalities.
    Equation(Spread, Spread),
}

enum ProofTask {
    Enter(usize),
    Bind(FactId, SpreadFact),
    /// Joins the two topmost results as branches of a split at this step.
    Join(usize),
    /// Puts a finished result on the stack.
    Give(Vec<Formula>),
}

impl Sequence {
    fn join(&self, step: usize, low: Vec<Formula>, high: Vec<Formula>) -> Vec<Formula> {
        let both = low.into_iter().zip(high).enumerate();
        both.map(|(cut, (low, high))| match step < cut {
            true => Formula::or([low, high]),
            false => Formula::and([low, high]),
        })
        .collect()
    }

    /// Interpolants from a certificate whose hypotheses belong to the given steps.
    pub(super) fn by_certificate(
        &self,
        hypotheses: &[(Atom, usize)],
        certificate: &UnsatProof,
    ) -> Result<Vec<Formula>, Misplaced> {
        let mut walk = ProofWalk {
            known: initial(hypotheses),
            hypotheses,
            sequence: self,
            quotients: HashMap::default(),
        };
        walk.run(&certificate.steps)
    }

    /// Interpolants from a tree of cases.
    pub(super) fn by_cases(&self, tree: &CaseTree, lemmas: &[Lemma]) -> Result<Vec<Formula>, Misplaced> {
        let mut homes: HashMap<Atom, usize, FxBuildHasher> = HashMap::default();
        for part in tree.parts.iter().rev() {
            part.formula.visit_atoms(&mut |atom| {
                homes.insert(atom.clone(), part.step);
                homes.insert(atom.negate(), part.step);
            });
        }
        homes.extend(tree.facts.iter().map(|(atom, step)| (atom.clone(), *step)));
        let home = |atom: &Atom| homes.get(atom).copied().unwrap_or(0);
        let mut results: BTreeMap<usize, Vec<Formula>> = BTreeMap::new();
        for (number, node) in tree.nodes.iter().enumerate() {
            let result = match node {
                CaseNode::Part { part, given } => self.false_part(tree.parts[*part].step, given, &home),
                CaseNode::Lemma(lemma) => {
                    let Lemma { atoms, certificate } = &lemmas[*lemma];
                    let placed: Vec<(Atom, usize)> =
                        atoms.iter().map(|atom| (atom.clone(), home(atom))).collect();
                    self.by_certificate(&placed, certificate)?
                }
                CaseNode::Split { atom, yes, no } => {
                    let (yes, no) = (results.remove(yes), results.remove(no));
                    self.join(home(atom), yes.unwrap_or_default(), no.unwrap_or_default())
                }
            };
            results.insert(number, result);
        }
        Ok(results.pop_last().map(|(_, result)| result).unwrap_or_default())
    }

    fn false_part(&self, step: usize, given: &[Atom], home: &impl Fn(&Atom) -> usize) -> Vec<Formula> {
        let at = |cut: usize| match step < cut {
            false => Formula::and(given.iter().filter(|atom| home(atom) < cut).map(Formula::from)),
            true => {
                let right = given.iter().filter(|atom| home(atom) >= cut);
                Formula::or(right.map(|atom| Formula::from(atom.negate())))
            }
        };
        (0..=self.steps).map(at).collect()
    }
}

fn initial(hypotheses: &[(Atom, usize)]) -> HashMap<FactId, SpreadFact, FxBuildHasher> {
    let mut known = HashMap::default();
    for (number, (atom, step)) in hypotheses.iter().enumerate() {
        let upper = Spread::at(*step, atom.expr().clone());
        let fact = match atom.relation() {
            Relation::Le => SpreadFact::Inequality(upper),
            Relation::Eq => SpreadFact::Equation(upper, Spread::at(*step, -atom.expr().clone())),
            _ => continue,
        };
        known.insert(number as FactId, fact);
    }
    known
}

struct ProofWalk<'a> {
    known: HashMap<FactId, SpreadFact, FxBuildHasher>,
    hypotheses: &'a [(Atom, usize)],
    sequence: &'a Sequence,
    /// The steps of quotients, which are fresh for this proof but perhaps not elsewhere.
    quotients: HashMap<Var, usize, FxBuildHasher>,
}

impl ProofWalk<'_> {
    /// The step for a split on an expression, as near to the wish as possible.
    fn place(&self, expr: &Linear, wish: usize) -> Result<usize, Misplaced> {
        let (mut first, mut last) = (0, self.sequence.steps.saturating_sub(1));
        for var in expr.vars() {
            let home = self.quotients.get(&var).map(|home| (*home, *home));
            if let Some((low, high)) = home.or_else(|| self.sequence.ranges.get(&var).copied()) {
                (first, last) = (first.max(low), last.min(high));
            }
        }
        if first > last { Err(Misplaced) } else { Ok(wish.clamp(first, last)) }
    }

    fn run(&mut self, steps: &[ProofStep]) -> Result<Vec<Formula>, Misplaced> {
        let mut results: Vec<Vec<Formula>> = Vec::new();
        let mut tasks = vec![ProofTask::Enter(steps.len().saturating_sub(1))];
        while let Some(task) = tasks.pop() {
            match task {
                ProofTask::Bind(id, fact) => drop(self.known.insert(id, fact)),
                ProofTask::Give(result) => results.push(result),
                ProofTask::Join(step) => {
                    let (high, low) = (results.pop(), results.pop());
                    results.push(self.sequence.join(step, low.unwrap_or_default(), high.unwrap_or_default()));
                }
                ProofTask::Enter(at) => self.enter(&steps[at], &mut tasks)?,
            }
        }
        Ok(results.pop().unwrap_or_default())
    }

    /// Pushes what is to be done for a step; the last task pushed is done first.
    fn enter(&mut self, step: &ProofStep, tasks: &mut Vec<ProofTask>) -> Result<(), Misplaced> {
        match step {
            ProofStep::Contradiction(from) => {
                tasks.push(ProofTask::Give(self.contradiction(&self.sum(from))))
            }
            ProofStep::Cut { id, from, then } => self.enter_cut(*id, from, *then, tasks)?,
            ProofStep::Squeeze { id, upper, lower, then } => {
                // The equation is the undivided upper sum; the lower one is brought to the same size.
                let up = self.sum(upper);
                let up = Spread { scale: up.scale.exact_div(&upper.scale), ..up };
                let mut down = Spread::zero();
                down.add(&upper.scale, &self.sum(lower));
                tasks.push(ProofTask::Enter(*then));
                tasks.push(ProofTask::Bind(*id, SpreadFact::Equation(up, down)));
            }
            ProofStep::Split { id, expr, low, high } => {
                let place = self.place(expr, self.wish())?;
                let sides = [expr.clone(), -expr.clone() + 1];
                branch(tasks, *id, place, sides, [*low, *high]);
            }
            ProofStep::Disequality { hypothesis, id, low, high } => {
                let (atom, place) = &self.hypotheses[*hypothesis as usize];
                let sides = [atom.expr().clone() + 1, -atom.expr().clone() + 1];
                branch(tasks, *id, *place, sides, [*low, *high]);
            }
            ProofStep::Quotient { hypothesis, quotient, id, then } => {
                tasks.push(ProofTask::Enter(*then));
                self.enter_quotient(*hypothesis, *quotient, *id, tasks)?;
            }
        }
        Ok(())
    }

    /// Brings the two facts about a quotient into scope.
    fn enter_quotient(
        &mut self,
        hypothesis: FactId,
        quotient: Var,
        id: FactId,
        tasks: &mut Vec<ProofTask>,
    ) -> Result<(), Misplaced> {
        let (atom, place) = &self.hypotheses[hypothesis as usize];
        let (divisor, lo, hi) = match atom.relation() {
            Relation::Divides(d) => (d, Int::ZERO, Int::ZERO),
            Relation::NotDivides(d) => (d, Int::ONE, d - &Int::ONE),
            _ => return Err(Misplaced),
        };
        self.quotients.insert(quotient, *place);
        let rest = atom.expr().plus(&-divisor, &Linear::from(quotient));
        let upper = Spread::at(*place, rest.clone() - hi);
        let lower = Spread::at(*place, -rest + lo);
        tasks.push(ProofTask::Bind(id, SpreadFact::Inequality(upper)));
        tasks.push(ProofTask::Bind(id + 1, SpreadFact::Inequality(lower)));
        Ok(())
    }

    fn enter_cut(
        &mut self,
        id: FactId,
        from: &Combination,
        then: usize,
        tasks: &mut Vec<ProofTask>,
    ) -> Result<(), Misplaced> {
        let sum = self.sum(from);
        let total = sum.total();
        if total.constant().is_multiple_of(&sum.scale) {
            tasks.push(ProofTask::Enter(then));
            tasks.push(ProofTask::Bind(id, SpreadFact::Inequality(sum)));
            return Ok(());
        }
        let constant = total.constant().div_ceil(&sum.scale);
        let cut = total.with_constant(0i64).exact_div(&sum.scale).with_constant(constant);
        // Where the last of its reasons lives, the cut is a plain consequence.
        let last = sum.parts.keys().next_back().copied().unwrap_or(0);
        let first = sum.parts.keys().next().copied().unwrap_or(0);
        let place = self.place(&cut, if self.sequence.weak { first } else { last })?;
        let mut otherwise = sum;
        otherwise.add(&Int::ONE, &Spread::at(place, -cut.clone() + 1));
        tasks.push(ProofTask::Join(place));
        tasks.push(ProofTask::Give(self.contradiction(&otherwise)));
        tasks.push(ProofTask::Enter(then));
        tasks.push(ProofTask::Bind(id, SpreadFact::Inequality(Spread::at(place, cut))));
        Ok(())
    }

    fn wish(&self) -> usize {
        if self.sequence.weak { 0 } else { self.sequence.steps }
    }

    fn contradiction(&self, sum: &Spread) -> Vec<Formula> {
        sum.interpolants(self.sequence.steps, self.sequence.weak)
    }

    fn sum(&self, from: &Combination) -> Spread {
        let mut sum = Spread::zero();
        for (id, factor) in &from.terms {
            match self.known.get(id) {
                Some(SpreadFact::Inequality(fact)) => sum.add(factor, fact),
                Some(SpreadFact::Equation(upper, _)) if factor.signum() >= 0 => sum.add(factor, upper),
                Some(SpreadFact::Equation(_, lower)) => sum.add(&factor.abs(), lower),
                None => {}
            }
        }
        sum.divided(&from.scale)
    }
}

/// Both sides of a split, to be joined afterwards.
fn branch(tasks: &mut Vec<ProofTask>, id: FactId, place: usize, [low, high]: [Linear; 2], then: [usize; 2]) {
    tasks.push(ProofTask::Join(place));
    tasks.push(ProofTask::Enter(then[1]));
    tasks.push(ProofTask::Bind(id, SpreadFact::Inequality(Spread::at(place, high))));
    tasks.push(ProofTask::Enter(then[0]));
    tasks.push(ProofTask::Bind(id, SpreadFact::Inequality(Spread::at(place, low))));
}
