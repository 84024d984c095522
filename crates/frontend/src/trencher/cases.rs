//! Expressions in which truth values and numbers mix, as cases without such mixing.
//!
//! `== tmp old` as a value is 1 or 0: two cases, each under a condition. An expression with
//! several comparisons inside gives the product of their cases. Divisors are collected on
//! the way, so that dividing by zero can be led to a failure.

use super::parser::{Expression, TrencherOperator};
use num_traits::Zero;
use program::{Arith, Cond, Expr, RegId, Relation};

/// More cases, or larger conditions, than this are refused.
const MAX_CASES: usize = 64;
const MAX_SIZE: usize = 4000;

/// A value and when the expression has it.
pub(super) type ValueCase = (Cond<RegId>, Expr<RegId>);

/// Turns expressions of one transition into cases.
pub(super) struct Cases<'a> {
    /// The program register of each register of the text.
    pub(super) registers: &'a [Option<RegId>],
    /// Divisors that might be zero.
    pub(super) divisors: Vec<ValueCase>,
}

impl Cases<'_> {
    /// The cases of a value; `None` if there are too many.
    pub(super) fn value(&mut self, expression: &Expression) -> Option<Vec<ValueCase>> {
        match expression {
            Expression::Number(value) => Some(vec![(Cond::TRUE, Expr::Const(value.clone()))]),
            Expression::Register(register) => {
                let register = self.registers.get(*register).copied().flatten();
                register.map(|register| vec![(Cond::TRUE, register.into())])
            }
            Expression::Apply(TrencherOperator::Compute(arith), a, b) => {
                let (a, b) = (self.value(a)?, self.value(b)?);
                if matches!(arith, Arith::Div | Arith::Rem) {
                    let unsafe_divisor = |(_, d): &&ValueCase| d.as_const().is_none_or(Zero::is_zero);
                    self.divisors.extend(b.iter().filter(unsafe_divisor).cloned());
                }
                let apply = |(cond, a, b): Pair<'_>| (cond, Expr::binary(*arith, a.clone(), b.clone()));
                let cases: Vec<ValueCase> = pairs(&a, &b)?.into_iter().map(apply).collect();
                let total: usize = cases.iter().map(|(cond, _)| size(cond)).sum();
                (total <= MAX_SIZE).then_some(cases)
            }
            _ => {
                let cond = self.truth(expression)?;
                let cases = [(cond.clone(), 1), (cond.negate(), 0)];
                let possible = cases.into_iter().filter(|(cond, _)| *cond != Cond::FALSE);
                Some(possible.map(|(cond, value)| (cond, Expr::from(value))).collect())
            }
        }
    }

    /// When an expression is not zero; `None` if saying so takes too much.
    pub(super) fn truth(&mut self, expression: &Expression) -> Option<Cond<RegId>> {
        let cond = match expression {
            Expression::Not(inner) => self.truth(inner)?.negate(),
            Expression::Apply(TrencherOperator::And, a, b) => Cond::and([self.truth(a)?, self.truth(b)?]),
            Expression::Apply(TrencherOperator::Or, a, b) => Cond::or([self.truth(a)?, self.truth(b)?]),
            Expression::Apply(TrencherOperator::Compare(relation), a, b) => {
                let (a, b) = (self.value(a)?, self.value(b)?);
                let holds = |a: &Expr<RegId>, b: &Expr<RegId>| Cond::compare(*relation, a.clone(), b.clone());
                Cond::or(pairs(&a, &b)?.into_iter().map(|(cond, a, b)| Cond::and([cond, holds(a, b)])))
            }
            _ => {
                let cases = self.value(expression)?;
                let holds = |value| Cond::compare(Relation::Ne, value, 0);
                Cond::or(cases.into_iter().map(|(cond, value)| Cond::and([cond, holds(value)])))
            }
        };
        (size(&cond) <= MAX_SIZE).then_some(cond)
    }
}

type Pair<'a> = (Cond<RegId>, &'a Expr<RegId>, &'a Expr<RegId>);

fn pairs<'a>(a: &'a [ValueCase], b: &'a [ValueCase]) -> Option<Vec<Pair<'a>>> {
    if a.len() * b.len() > MAX_CASES {
        return None;
    }
    let pair = |(ca, a): &'a ValueCase, (cb, b): &'a ValueCase| (Cond::and([ca.clone(), cb.clone()]), a, b);
    Some(a.iter().flat_map(|a| b.iter().map(move |b| pair(a, b))).collect())
}

/// How many comparisons a condition has.
fn size(cond: &Cond<RegId>) -> usize {
    match cond {
        Cond::Const(_) | Cond::Compare(..) => 1,
        Cond::And(parts) | Cond::Or(parts) => parts.iter().map(size).sum(),
    }
}
