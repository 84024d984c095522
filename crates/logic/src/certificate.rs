//! Certificates of unsatisfiability, and the small function that checks them.
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
//! [`check`] trusts nothing that the solver computed: it works on big integers,
//! recomputes every sum from the hypotheses, and knows no other arithmetic.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, Zero};

use crate::int::Int;
use crate::terms::atom::{Atom, Relation};
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

/// One node of the proof tree. Children are positions in [`Certificate::steps`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
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
pub struct Certificate {
    /// The tree; the last step is its root and children stand before their parents.
    pub steps: Vec<Step>,
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

impl Certificate {
    /// The hypotheses the proof uses, in order.
    pub fn core(&self, hypotheses: usize) -> Vec<usize> {
        let mut used = BTreeSet::new();
        for step in &self.steps {
            match step {
                Step::Contradiction(from) | Step::Cut { from, .. } => from.collect(&mut used),
                Step::Squeeze { upper, lower, .. } => {
                    upper.collect(&mut used);
                    lower.collect(&mut used);
                }
                Step::Split { .. } => {}
                Step::Disequality { hypothesis, .. } | Step::Quotient { hypothesis, .. } => {
                    used.insert(*hypothesis as usize);
                }
            }
        }
        used.into_iter().filter(|fact| *fact < hypotheses).collect()
    }
}

impl Combination {
    fn collect(&self, used: &mut BTreeSet<usize>) {
        used.extend(self.terms.iter().map(|term| term.0 as usize));
    }
}

/// `terms + constant ≤ 0`, or `= 0`.
#[derive(Clone)]
struct Fact {
    terms: BTreeMap<Var, BigInt>,
    constant: BigInt,
    equation: bool,
}

enum Task {
    Visit(usize),
    Bind(FactId, Fact),
    Unbind(FactId),
}

/// Checks that a certificate proves the conjunction of the hypotheses unsatisfiable.
///
/// ```
/// use logic::{check, decide, Atom, Linear, Outcome, Terms};
/// let mut terms = Terms::new();
/// let (x, y) = (Linear::from(terms.var("x")), Linear::from(terms.var("y")));
/// let hypotheses = [Atom::le(x.clone() * 2, y.clone()), Atom::lt(y, x.clone() * 2)];
/// match decide(&hypotheses) {
///     Outcome::Unsat(certificate) => assert_eq!(check(&hypotheses, &certificate), Ok(())),
///     Outcome::Sat(_) => unreachable!(),
/// }
/// ```
pub fn check(hypotheses: &[Atom], certificate: &Certificate) -> Result<(), Flaw> {
    let mut facts: BTreeMap<FactId, Fact> = BTreeMap::new();
    for (position, atom) in hypotheses.iter().enumerate() {
        if matches!(atom.relation(), Relation::Le | Relation::Eq) {
            let equation = *atom.relation() == Relation::Eq;
            facts.insert(position as FactId, Fact::new(atom.expr(), equation));
        }
    }
    let steps = &certificate.steps;
    let mut visited = vec![false; steps.len()];
    let mut known: BTreeSet<Var> = hypotheses.iter().flat_map(Atom::vars).collect();
    let Some(root) = steps.len().checked_sub(1) else {
        return Err(Flaw { step: 0, reason: "the certificate is empty" });
    };
    let mut tasks = vec![Task::Visit(root)];
    while let Some(task) = tasks.pop() {
        let step = match task {
            Task::Bind(id, fact) => {
                facts.insert(id, fact);
                continue;
            }
            Task::Unbind(id) => {
                facts.remove(&id);
                continue;
            }
            Task::Visit(step) => step,
        };
        let flaw = |reason| Err(Flaw { step, reason });
        if std::mem::replace(&mut visited[step], true) {
            return flaw("a step is used twice");
        }
        let fresh = |id: FactId| (id as usize) >= hypotheses.len() && !facts.contains_key(&id);
        let branches: Vec<(usize, Vec<(FactId, Fact)>)> = match &steps[step] {
            Step::Contradiction(from) => match combine(from, &facts) {
                Some(sum) if sum.is_absurd() => continue,
                Some(_) => return flaw("the combination is no contradiction"),
                None => return flaw("a fact is unknown or has a factor it may not have"),
            },
            Step::Cut { id, from, then } => match combine(from, &facts).and_then(|s| s.rounded(&from.scale)) {
                Some(cut) if fresh(*id) => vec![(*then, vec![(*id, cut)])],
                _ => return flaw("the cut does not follow"),
            },
            Step::Squeeze { id, upper, lower, then } => {
                match (combine(upper, &facts), combine(lower, &facts)) {
                    (Some(e), Some(f)) if fresh(*id) && e.opposite(&f, &upper.scale, &lower.scale) => {
                        vec![(*then, vec![(*id, Fact { equation: true, ..e })])]
                    }
                    _ => return flaw("the two inequalities are not opposite"),
                }
            }
            Step::Split { id, expr, low, high } if fresh(*id) => {
                known.extend(expr.vars());
                let e = Fact::new(expr, false);
                vec![(*low, vec![(*id, e.shifted(0))]), (*high, vec![(*id, e.negated(1))])]
            }
            Step::Disequality { hypothesis, id, low, high } if fresh(*id) => match hypotheses.get(*hypothesis as usize) {
                Some(atom) if *atom.relation() == Relation::Ne => {
                    let e = Fact::new(atom.expr(), false);
                    vec![(*low, vec![(*id, e.shifted(1))]), (*high, vec![(*id, e.negated(1))])]
                }
                _ => return flaw("the hypothesis is no disequality"),
            },
            Step::Quotient { hypothesis, quotient, id, then } if fresh(*id) && fresh(id.saturating_add(1)) => {
                let (divisor, lo, hi) = match hypotheses.get(*hypothesis as usize).map(Atom::relation) {
                    Some(Relation::Divides(d)) => (d.to_big(), BigInt::zero(), BigInt::zero()),
                    Some(Relation::NotDivides(d)) => (d.to_big(), BigInt::one(), d.to_big() - 1),
                    _ => return flaw("the hypothesis is no divisibility"),
                };
                if !known.insert(*quotient) {
                    return flaw("the quotient is not fresh");
                }
                let mut e = Fact::new(hypotheses[*hypothesis as usize].expr(), false);
                e.terms.insert(*quotient, -divisor);
                let (mut upper, mut lower) = (e.shifted(0), e.negated(0));
                upper.constant -= hi;
                lower.constant += lo;
                vec![(*then, vec![(*id, upper), (id + 1, lower)])]
            }
            _ => return flaw("a new fact has a number in use"),
        };
        for (child, new) in branches {
            if child >= step {
                return flaw("a step does not stand before its parent");
            }
            tasks.extend(new.iter().map(|(id, _)| Task::Unbind(*id)));
            tasks.push(Task::Visit(child));
            tasks.extend(new.into_iter().map(|(id, fact)| Task::Bind(id, fact)));
        }
    }
    Ok(())
}

/// The sum of facts before division by the scale, if every factor is allowed.
fn combine(from: &Combination, facts: &BTreeMap<FactId, Fact>) -> Option<Fact> {
    let mut sum = Fact { terms: BTreeMap::new(), constant: BigInt::zero(), equation: true };
    if from.scale.signum() <= 0 {
        return None;
    }
    for (id, factor) in &from.terms {
        let fact = facts.get(id)?;
        let factor = factor.to_big();
        if !fact.equation && factor.is_negative() {
            return None;
        }
        sum.equation &= fact.equation;
        sum.constant += &factor * &fact.constant;
        for (var, coefficient) in &fact.terms {
            *sum.terms.entry(*var).or_default() += &factor * coefficient;
        }
    }
    sum.terms.retain(|_, coefficient| !coefficient.is_zero());
    Some(sum)
}

impl Fact {
    fn new(expr: &Linear, equation: bool) -> Fact {
        let terms = expr.terms().iter().map(|(var, a)| (*var, a.to_big())).collect();
        Fact { terms, constant: expr.constant().to_big(), equation }
    }

    /// `e + by ≤ 0`.
    fn shifted(&self, by: i32) -> Fact {
        Fact { terms: self.terms.clone(), constant: &self.constant + by, equation: false }
    }

    /// `by − e ≤ 0`.
    fn negated(&self, by: i32) -> Fact {
        let terms = self.terms.iter().map(|(var, a)| (*var, -a)).collect();
        Fact { terms, constant: by - &self.constant, equation: false }
    }

    fn is_absurd(&self) -> bool {
        self.terms.is_empty()
            && (self.constant.is_positive() || (self.equation && !self.constant.is_zero()))
    }

    /// The fact divided by the scale, as an inequality with rounded constant.
    fn rounded(mut self, scale: &Int) -> Option<Fact> {
        let scale = scale.to_big();
        for coefficient in self.terms.values_mut() {
            let (quotient, rest) = coefficient.div_rem(&scale);
            if !rest.is_zero() {
                return None;
            }
            *coefficient = quotient;
        }
        self.constant = Integer::div_ceil(&self.constant, &scale);
        self.equation = false;
        Some(self)
    }

    /// Whether `self / mine = −other / theirs`.
    fn opposite(&self, other: &Fact, mine: &Int, theirs: &Int) -> bool {
        let (mine, theirs) = (mine.to_big(), theirs.to_big());
        let matches = |(a, b): (&BigInt, &BigInt)| a * &theirs + b * &mine == BigInt::zero();
        self.terms.keys().eq(other.terms.keys())
            && self.terms.values().zip(other.terms.values()).all(matches)
            && matches((&self.constant, &other.constant))
    }
}
