//! The book in which the solver writes down why facts hold.
//!
//! While solving, every fact carries its reason as a combination of numbered
//! facts. Cuts and squeezed equations get numbers of their own and are written
//! into the ledger; closing a branch copies into the proof just those entries
//! that the contradiction needs. Splits that a branch did not use disappear.

use std::collections::BTreeSet;

use crate::certificate::{Combination, FactId, ProofStep, UnsatProof};
use crate::int::Int;
use crate::terms::linear::{Linear, Var, merge_scaled};

/// `expr ≤ 0` (or `expr = 0`), and why.
#[derive(Clone, Debug)]
pub(crate) struct LedgerFact {
    pub(crate) expr: Linear,
    pub(crate) why: Combination,
}

enum LedgerEntry {
    Cut(Combination),
    Squeeze(Combination, Combination),
    Assumption,
}

/// A finished proof of some branch.
pub(crate) type ProofId = usize;

pub(crate) struct Ledger {
    hypotheses: FactId,
    entries: Vec<LedgerEntry>,
    steps: Vec<ProofStep>,
    /// For each step, the assumptions that it leaves open.
    open: Vec<BTreeSet<FactId>>,
    next_var: u32,
}

impl Combination {
    pub(crate) fn one(id: FactId) -> Combination {
        Combination { scale: Int::ONE, terms: vec![(id, Int::ONE)] }
    }

    pub(crate) fn none() -> Combination {
        Combination { scale: Int::ONE, terms: Vec::new() }
    }

    /// `self + factor * other`.
    pub(crate) fn plus(&self, factor: &Int, other: &Combination) -> Combination {
        let mut terms = Vec::with_capacity(self.terms.len() + other.terms.len());
        if self.scale == other.scale {
            merge_scaled(&self.terms, factor, &other.terms, &mut terms);
            return Combination { scale: self.scale.clone(), terms };
        }
        let scale = self.scale.lcm(&other.scale);
        let own = self.scaled(&scale.exact_div(&self.scale)).terms;
        let factor = factor * &scale.exact_div(&other.scale);
        merge_scaled(&own, &factor, &other.terms, &mut terms);
        Combination { scale, terms }
    }

    /// The terms multiplied, the scale kept.
    pub(crate) fn scaled(&self, factor: &Int) -> Combination {
        let terms = self.terms.iter().map(|(id, a)| (*id, a * factor)).collect();
        Combination { scale: self.scale.clone(), terms }
    }

    pub(crate) fn divided(&self, divisor: &Int) -> Combination {
        Combination { scale: &self.scale * divisor, terms: self.terms.clone() }
    }
}

impl Ledger {
    /// A ledger for so many hypotheses over variables below `vars`.
    pub(crate) fn new(hypotheses: usize, vars: u32) -> Ledger {
        Ledger {
            hypotheses: hypotheses as FactId,
            entries: Vec::new(),
            steps: Vec::new(),
            open: Vec::new(),
            next_var: vars,
        }
    }

    pub(crate) fn fresh_var(&mut self) -> Var {
        self.next_var += 1;
        Var(self.next_var - 1)
    }

    fn enter(&mut self, entry: LedgerEntry) -> FactId {
        self.entries.push(entry);
        self.hypotheses + (self.entries.len() - 1) as FactId
    }

    /// A number for a fact that a split or quotient will introduce.
    pub(crate) fn assumption(&mut self) -> FactId {
        self.enter(LedgerEntry::Assumption)
    }

    /// Divides an inequality by the common divisor of its coefficients, rounding if need be.
    pub(crate) fn tighten(&mut self, fact: LedgerFact) -> LedgerFact {
        let content = fact.expr.content();
        if content.is_zero() || content.is_one() {
            return fact;
        }
        let why = fact.why.divided(&content);
        if fact.expr.constant().is_multiple_of(&content) {
            return LedgerFact { expr: fact.expr.exact_div(&content), why };
        }
        let constant = fact.expr.constant().div_ceil(&content);
        let expr = fact.expr.with_constant(0i64).exact_div(&content).with_constant(constant);
        let id = self.enter(LedgerEntry::Cut(why));
        LedgerFact { expr, why: Combination::one(id) }
    }

    /// The equation `e = 0` from the facts `e ≤ 0` and `−e ≤ 0`.
    pub(crate) fn squeeze(&mut self, upper: &LedgerFact, lower: &LedgerFact) -> LedgerFact {
        let id = self.enter(LedgerEntry::Squeeze(upper.why.clone(), lower.why.clone()));
        LedgerFact {
            expr: upper.expr.clone(),
            why: Combination { scale: upper.why.scale.clone(), terms: vec![(id, Int::ONE)] },
        }
    }

    /// The same equation with a number of its own as its reason.
    pub(crate) fn name_equation(&mut self, equation: LedgerFact) -> LedgerFact {
        let turned = LedgerFact { expr: -equation.expr.clone(), why: equation.why.scaled(&Int::MINUS_ONE) };
        self.squeeze(&equation, &turned)
    }

    /// Closes a branch with an inequality `k ≤ 0`, `k > 0`, or an equation `k = 0`, `k ≠ 0`.
    pub(crate) fn close(&mut self, why: Combination) -> ProofId {
        let mut needed = BTreeSet::new();
        let mut open = BTreeSet::new();
        let mut queue: Vec<FactId> = why.terms.iter().map(|term| term.0).collect();
        while let Some(id) = queue.pop() {
            let Some(entry) = id.checked_sub(self.hypotheses) else {
                continue;
            };
            match &self.entries[entry as usize] {
                LedgerEntry::Assumption => {
                    open.insert(id);
                }
                LedgerEntry::Cut(from) if needed.insert(id) => queue.extend(from.terms.iter().map(|t| t.0)),
                LedgerEntry::Squeeze(upper, lower) if needed.insert(id) => {
                    queue.extend(upper.terms.iter().chain(&lower.terms).map(|t| t.0));
                }
                _ => {}
            }
        }
        let mut then = self.push(ProofStep::Contradiction(why), open.clone());
        // Entries only refer to older ones, so the newest stands innermost.
        for id in needed.into_iter().rev() {
            let step = match &self.entries[(id - self.hypotheses) as usize] {
                LedgerEntry::Cut(from) => ProofStep::Cut { id, from: from.clone(), then },
                LedgerEntry::Squeeze(upper, lower) => {
                    ProofStep::Squeeze { id, upper: upper.clone(), lower: lower.clone(), then }
                }
                LedgerEntry::Assumption => continue,
            };
            then = self.push(step, open.clone());
        }
        then
    }

    /// Closes a branch in which an equation has no integer solution by its common divisor.
    pub(crate) fn close_indivisible(&mut self, equation: &LedgerFact) -> ProofId {
        let content = equation.expr.content();
        let why = equation.why.divided(&content);
        let upper = self.enter(LedgerEntry::Cut(why.clone()));
        let lower = self.enter(LedgerEntry::Cut(why.scaled(&Int::MINUS_ONE)));
        self.close(Combination { scale: Int::ONE, terms: vec![(upper, Int::ONE), (lower, Int::ONE)] })
    }

    /// Whether a branch's proof uses the assumption.
    pub(crate) fn uses(&self, proof: ProofId, assumption: FactId) -> bool {
        self.open[proof].contains(&assumption)
    }

    /// Joins the proofs of both branches of a split made by `step`.
    pub(crate) fn join(&mut self, id: FactId, low: ProofId, high: ProofId, step: ProofStep) -> ProofId {
        for branch in [low, high] {
            if !self.uses(branch, id) {
                return branch;
            }
        }
        let mut open: BTreeSet<FactId> = self.open[low].union(&self.open[high]).copied().collect();
        open.remove(&id);
        self.push(step, open)
    }

    pub(crate) fn split(&mut self, id: FactId, expr: Linear, low: ProofId, high: ProofId) -> ProofId {
        self.join(id, low, high, ProofStep::Split { id, expr, low, high })
    }

    /// Puts the quotient step of a divisibility hypothesis around a proof that needs it.
    pub(crate) fn quotient(
        &mut self,
        hypothesis: FactId,
        quotient: Var,
        id: FactId,
        then: ProofId,
    ) -> ProofId {
        if !self.uses(then, id) && !self.uses(then, id + 1) {
            return then;
        }
        let mut open = self.open[then].clone();
        open.remove(&id);
        open.remove(&(id + 1));
        self.push(ProofStep::Quotient { hypothesis, quotient, id, then }, open)
    }

    fn push(&mut self, step: ProofStep, open: BTreeSet<FactId>) -> ProofId {
        self.steps.push(step);
        self.open.push(open);
        self.steps.len() - 1
    }

    /// The certificate rooted at a proof, without abandoned branches.
    pub(crate) fn finish(mut self, root: ProofId) -> UnsatProof {
        let mut wanted = vec![false; self.steps.len()];
        wanted[root] = true;
        let mut place = vec![0; self.steps.len()];
        for at in (0..=root).rev() {
            if wanted[at] {
                self.steps[at].children().for_each(|child| wanted[*child] = true);
            }
        }
        let mut steps = Vec::new();
        for (at, mut step) in self.steps.into_iter().enumerate() {
            if wanted[at] {
                step.children().for_each(|child| *child = place[*child]);
                place[at] = steps.len();
                steps.push(step);
            }
        }
        UnsatProof { steps }
    }
}

impl ProofStep {
    fn children(&mut self) -> impl Iterator<Item = &mut usize> {
        let children = match self {
            ProofStep::Contradiction(_) => [None, None],
            ProofStep::Cut { then, .. }
            | ProofStep::Squeeze { then, .. }
            | ProofStep::Quotient { then, .. } => [Some(then), None],
            ProofStep::Split { low, high, .. } | ProofStep::Disequality { low, high, .. } => {
                [Some(low), Some(high)]
            }
        };
        children.into_iter().flatten()
    }
}
