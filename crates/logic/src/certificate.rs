//! Certificates of unsatisfiability.
//!
//! Facts are inequalities `e ≤ 0` and equations `e = 0` over the integers, known
//! by number: the hypotheses have the numbers `0, 1, …`, later facts get numbers
//! of their own. From facts a certificate derives others by *combination*, a
//! sum with non-negative factors (any factor for an equation). If all
//! coefficients of `(Σ λᵢ·eᵢ)/s` are integers, its constant may be rounded up:
//! that is the cut by which integer reasoning goes beyond rational reasoning.
//! Together with case splits on integer expressions and fresh quotients for
//! divisibility this is complete for conjunctions of linear integer atoms.
//!
//! The obligation of each step is written at its variant; [`check`](crate::check)
//! verifies them.

use std::collections::BTreeSet;
use std::fmt;

use crate::int::Int;
use crate::terms::linear::{Linear, Var};

/// The number of a fact; hypotheses come first.
pub type FactId = u32;

/// The sum `(Σ factor·fact) / scale`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Combination {
    /// A positive divisor of the whole sum.
    pub scale: Int,
    /// The facts and their factors, sorted by fact.
    pub terms: Vec<(FactId, Int)>,
}

/// One node of the proof tree. Children are positions in [`UnsatProof::steps`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ProofStep {
    /// The combination has no variables and a positive constant: `k ≤ 0` with `k > 0`,
    /// or, combining equations only, any constant but zero.
    Contradiction(Combination),
    /// The combination has integer coefficients; it becomes the fact `id` with its
    /// constant rounded up.
    Cut {
        /// The new fact.
        id: FactId,
        /// What it follows from.
        from: Combination,
        /// The rest of the proof.
        then: usize,
    },
    /// The two combinations are opposite, `e ≤ 0` and `−e ≤ 0`; `id` is the equation `e = 0`.
    Squeeze {
        /// The new fact.
        id: FactId,
        /// `e ≤ 0`.
        upper: Combination,
        /// `−e ≤ 0`.
        lower: Combination,
        /// The rest of the proof.
        then: usize,
    },
    /// Either `e ≤ 0` (the fact `id` in `low`) or `e ≥ 1` (the fact `id` in `high`).
    Split {
        /// The new fact in both branches.
        id: FactId,
        /// The expression split on.
        expr: Linear,
        /// The proof with `e ≤ 0`.
        low: usize,
        /// The proof with `1 − e ≤ 0`.
        high: usize,
    },
    /// A hypothesis `e ≠ 0`: either `e + 1 ≤ 0` or `1 − e ≤ 0`.
    Disequality {
        /// The hypothesis.
        hypothesis: FactId,
        /// The new fact in both branches.
        id: FactId,
        /// The proof with `e + 1 ≤ 0`.
        low: usize,
        /// The proof with `1 − e ≤ 0`.
        high: usize,
    },
    /// A hypothesis `d | e` or `d ∤ e` with a fresh quotient `q`: the facts `id`,
    /// `e − d·q ≤ hi`, and `id + 1`, `lo ≤ e − d·q`, where `lo = hi = 0` for
    /// divisibility and `lo = 1`, `hi = d − 1` for its negation.
    Quotient {
        /// The hypothesis.
        hypothesis: FactId,
        /// A variable that occurs nowhere else.
        quotient: Var,
        /// The first of the two new facts.
        id: FactId,
        /// The rest of the proof.
        then: usize,
    },
}

/// A proof that a conjunction of atoms has no integer solution.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnsatProof {
    /// The tree; the last step is its root and children stand before their parents.
    pub steps: Vec<ProofStep>,
}

/// Why a certificate was rejected.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Flaw {
    /// The step at fault.
    pub step: usize,
    /// What is wrong with it.
    pub reason: &'static str,
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "step {} of the certificate: {}", self.step, self.reason)
    }
}

impl std::error::Error for Flaw {}

impl UnsatProof {
    /// The hypotheses the proof uses, in order.
    pub(crate) fn core(mut self, hypotheses: usize) -> Vec<usize> {
        let mut used = BTreeSet::new();
        let mut visit = |id: &mut FactId| used.extend(Some(*id as usize).filter(|fact| *fact < hypotheses));
        self.steps.iter_mut().for_each(|step| step.each_fact(&mut visit));
        used.into_iter().collect()
    }

    /// The same proof where hypothesis `i` has become hypothesis `places[i]` of `count`. Places increase, so facts keep
    /// their order.
    pub(crate) fn relocated(mut self, places: &[usize], count: usize) -> UnsatProof {
        let mut moved = |id: &mut FactId| {
            *id = match places.get(*id as usize) {
                Some(place) => *place as FactId,
                None => *id - places.len() as FactId + count as FactId,
            };
        };
        self.steps.iter_mut().for_each(|step| step.each_fact(&mut moved));
        self
    }
}

impl ProofStep {
    /// Visits the numbers of all facts in it: hypotheses, new ones and those that it combines.
    fn each_fact(&mut self, visit: &mut impl FnMut(&mut FactId)) {
        match self {
            ProofStep::Contradiction(from) => from.each_fact(visit),
            ProofStep::Cut { id, from, .. } => {
                visit(id);
                from.each_fact(visit);
            }
            ProofStep::Squeeze { id, upper, lower, .. } => {
                visit(id);
                upper.each_fact(visit);
                lower.each_fact(visit);
            }
            ProofStep::Split { id, .. } => visit(id),
            ProofStep::Disequality { hypothesis, id, .. } | ProofStep::Quotient { hypothesis, id, .. } => {
                visit(hypothesis);
                visit(id);
            }
        }
    }
}

impl Combination {
    fn each_fact(&mut self, visit: &mut impl FnMut(&mut FactId)) {
        self.terms.iter_mut().for_each(|term| visit(&mut term.0));
    }
}
