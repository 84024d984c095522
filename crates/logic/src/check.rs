//! The checker of certificates, which trusts nothing that a solver computed.
//!
//! It works on big integers, recomputes every sum from the hypotheses, and shares
//! no arithmetic with the solver. The proof tree is walked without recursion; facts
//! are known by number only within the branch that introduced them.

use std::collections::{BTreeMap, BTreeSet};

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, Zero};

use crate::certificate::{Combination, FactId, Flaw, ProofStep, UnsatProof};
use crate::int::Int;
use crate::terms::atom::{Atom, Relation};
use crate::terms::linear::{Linear, Var};

/// Checks that a certificate proves the conjunction of the hypotheses unsatisfiable.
///
/// ```
/// use logic::{check, decide, Atom, Linear, Decided, Terms};
/// let mut terms = Terms::new();
/// let (x, y) = (Linear::from(terms.var("x")), Linear::from(terms.var("y")));
/// let hypotheses = [Atom::le(x.clone() * 2, y.clone()), Atom::lt(y, x.clone() * 2)];
/// match decide(&hypotheses) {
///     Decided::Unsat(certificate) => assert_eq!(check(&hypotheses, &certificate), Ok(())),
///     Decided::Sat(_) => unreachable!(),
/// }
/// ```
pub fn check(hypotheses: &[Atom], certificate: &UnsatProof) -> Result<(), Flaw> {
    let steps = &certificate.steps;
    let mut checker = ProofChecker::new(hypotheses);
    let mut visited = vec![false; steps.len()];
    let Some(root) = steps.len().checked_sub(1) else {
        return Err(Flaw { step: 0, reason: "the certificate is empty" });
    };
    let mut tasks = vec![CheckTask::Visit(root)];
    while let Some(task) = tasks.pop() {
        let step = match task {
            CheckTask::Bind(id, fact) => {
                checker.facts.insert(id, fact);
                continue;
            }
            CheckTask::Unbind(id) => {
                checker.facts.remove(&id);
                continue;
            }
            CheckTask::Visit(step) => step,
        };
        let flaw = |reason| Flaw { step, reason };
        if std::mem::replace(&mut visited[step], true) {
            return Err(flaw("a step is used twice"));
        }
        for (child, new) in checker.verify(&steps[step]).map_err(flaw)? {
            if child >= step {
                return Err(flaw("a step does not stand before its parent"));
            }
            tasks.extend(new.iter().map(|(id, _)| CheckTask::Unbind(*id)));
            tasks.push(CheckTask::Visit(child));
            tasks.extend(new.into_iter().map(|(id, fact)| CheckTask::Bind(id, fact)));
        }
    }
    Ok(())
}

enum CheckTask {
    Visit(usize),
    Bind(FactId, CheckedFact),
    Unbind(FactId),
}

/// `terms + constant ≤ 0`, or `= 0`.
#[derive(Clone)]
struct CheckedFact {
    terms: BTreeMap<Var, BigInt>,
    constant: BigInt,
    equation: bool,
}

/// The steps that remain to be checked, each with the facts it may use in addition.
type Branches = Vec<(usize, Vec<(FactId, CheckedFact)>)>;

struct ProofChecker<'a> {
    hypotheses: &'a [Atom],
    facts: BTreeMap<FactId, CheckedFact>,
    /// Variables that may not serve as fresh quotients.
    known: BTreeSet<Var>,
}

impl ProofChecker<'_> {
    fn new(hypotheses: &[Atom]) -> ProofChecker<'_> {
        let mut facts = BTreeMap::new();
        for (position, atom) in hypotheses.iter().enumerate() {
            let equation = match atom.relation() {
                Relation::Le => false,
                Relation::Eq => true,
                _ => continue,
            };
            facts.insert(position as FactId, CheckedFact { equation, ..CheckedFact::new(atom.expr()) });
        }
        ProofChecker { hypotheses, facts, known: hypotheses.iter().flat_map(Atom::vars).collect() }
    }

    /// Whether a step keeps its obligation, and what is left to do.
    fn verify(&mut self, step: &ProofStep) -> Result<Branches, &'static str> {
        match step {
            ProofStep::Contradiction(from) => match self.combine(from)?.is_absurd() {
                true => Ok(Vec::new()),
                false => Err("the combination is no contradiction"),
            },
            ProofStep::Cut { id, from, then } => {
                let cut = self.combine(from)?.rounded(&from.scale);
                let cut = cut.ok_or("a coefficient of the cut is no integer")?;
                Ok(vec![(*then, vec![(self.fresh(*id)?, cut)])])
            }
            ProofStep::Squeeze { id, upper, lower, then } => {
                let (e, f) = (self.combine(upper)?, self.combine(lower)?);
                if !e.is_opposite(&f, &upper.scale, &lower.scale) {
                    return Err("the two inequalities are not opposite");
                }
                Ok(vec![(*then, vec![(self.fresh(*id)?, CheckedFact { equation: true, ..e })])])
            }
            ProofStep::Split { id, expr, low, high } => {
                self.known.extend(expr.vars());
                let e = CheckedFact::new(expr);
                self.fork(*id, [(*low, e.shifted(0)), (*high, e.negated(1))])
            }
            ProofStep::Disequality { hypothesis, id, low, high } => {
                let atom = self.hypothesis(*hypothesis)?;
                if *atom.relation() != Relation::Ne {
                    return Err("the hypothesis is no disequality");
                }
                let e = CheckedFact::new(atom.expr());
                self.fork(*id, [(*low, e.shifted(1)), (*high, e.negated(1))])
            }
            ProofStep::Quotient { hypothesis, quotient, id, then } => {
                let [upper, lower] = self.quotient(*hypothesis, *quotient)?;
                let (id, next) = (self.fresh(*id)?, self.fresh(id.saturating_add(1))?);
                if id == next {
                    return Err("a new fact has a number in use");
                }
                Ok(vec![(*then, vec![(id, upper), (next, lower)])])
            }
        }
    }

    /// Two branches, each with its own fact of the same number.
    fn fork(&self, id: FactId, sides: [(usize, CheckedFact); 2]) -> Result<Branches, &'static str> {
        let id = self.fresh(id)?;
        Ok(sides.into_iter().map(|(child, fact)| (child, vec![(id, fact)])).collect())
    }

    fn hypothesis(&self, number: FactId) -> Result<&Atom, &'static str> {
        self.hypotheses.get(number as usize).ok_or("there is no such hypothesis")
    }

    fn fresh(&self, id: FactId) -> Result<FactId, &'static str> {
        let used = (id as usize) < self.hypotheses.len() || self.facts.contains_key(&id);
        if used { Err("a new fact has a number in use") } else { Ok(id) }
    }

    /// `e − d·q ≤ hi` and `lo − (e − d·q) ≤ 0` for a divisibility hypothesis.
    fn quotient(&mut self, number: FactId, quotient: Var) -> Result<[CheckedFact; 2], &'static str> {
        let atom = self.hypothesis(number)?;
        let (divisor, lo, hi) = match atom.relation() {
            Relation::Divides(d) => (d.to_big(), BigInt::zero(), BigInt::zero()),
            Relation::NotDivides(d) => (d.to_big(), BigInt::one(), d.to_big() - 1),
            _ => return Err("the hypothesis is no divisibility"),
        };
        let mut e = CheckedFact::new(atom.expr());
        if !self.known.insert(quotient) {
            return Err("the quotient is not fresh");
        }
        e.terms.insert(quotient, -divisor);
        let (mut upper, mut lower) = (e.shifted(0), e.negated(0));
        upper.constant -= hi;
        lower.constant += lo;
        Ok([upper, lower])
    }

    /// The sum of facts before division by the scale, if every factor is allowed.
    fn combine(&self, from: &Combination) -> Result<CheckedFact, &'static str> {
        let mut sum = CheckedFact { equation: true, ..CheckedFact::new(&Linear::default()) };
        if from.scale.signum() <= 0 {
            return Err("the scale is not positive");
        }
        for (id, factor) in &from.terms {
            let fact = self.facts.get(id).ok_or("a fact is unknown")?;
            let factor = factor.to_big();
            if !fact.equation && factor.is_negative() {
                return Err("an inequality has a negative factor");
            }
            sum.equation &= fact.equation;
            sum.constant += &factor * &fact.constant;
            for (var, coefficient) in &fact.terms {
                *sum.terms.entry(*var).or_default() += &factor * coefficient;
            }
        }
        sum.terms.retain(|_, coefficient| !coefficient.is_zero());
        Ok(sum)
    }
}

impl CheckedFact {
    /// `e ≤ 0`.
    fn new(expr: &Linear) -> CheckedFact {
        let terms = expr.terms().iter().map(|(var, a)| (*var, a.to_big())).collect();
        CheckedFact { terms, constant: expr.constant().to_big(), equation: false }
    }

    /// `e + by ≤ 0`.
    fn shifted(&self, by: i32) -> CheckedFact {
        CheckedFact { terms: self.terms.clone(), constant: &self.constant + by, equation: false }
    }

    /// `by − e ≤ 0`.
    fn negated(&self, by: i32) -> CheckedFact {
        let terms = self.terms.iter().map(|(var, a)| (*var, -a)).collect();
        CheckedFact { terms, constant: by - &self.constant, equation: false }
    }

    fn is_absurd(&self) -> bool {
        let wrong = self.constant.is_positive() || (self.equation && !self.constant.is_zero());
        self.terms.is_empty() && wrong
    }

    /// The fact divided by the scale, as an inequality with rounded constant.
    fn rounded(mut self, scale: &Int) -> Option<CheckedFact> {
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
    fn is_opposite(&self, other: &CheckedFact, mine: &Int, theirs: &Int) -> bool {
        let (mine, theirs) = (mine.to_big(), theirs.to_big());
        let matches = |(a, b): (&BigInt, &BigInt)| a * &theirs == -(b * &mine);
        self.terms.keys().eq(other.terms.keys())
            && self.terms.values().zip(other.terms.values()).all(matches)
            && matches((&self.constant, &other.constant))
    }
}
