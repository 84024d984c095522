//! Linear expressions: a constant plus integer multiples of distinct leaves.

use crate::{Arith, Expr, Int};
use num_traits::Zero;
use std::collections::BTreeMap;

/// `constant + Σ coefficient · leaf`, with no zero coefficient.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LinearExpr<L> {
    /// Coefficients by leaf.
    pub terms: BTreeMap<L, Int>,
    /// The constant part.
    pub constant: Int,
}

impl<L: Ord + Clone> LinearExpr<L> {
    /// A constant.
    pub fn constant(value: Int) -> LinearExpr<L> {
        LinearExpr { terms: BTreeMap::new(), constant: value }
    }

    /// One leaf.
    pub fn leaf(leaf: L) -> LinearExpr<L> {
        LinearExpr { terms: BTreeMap::from([(leaf, Int::from(1))]), constant: Int::zero() }
    }

    /// Adds a multiple of another linear expression.
    pub fn add_scaled(&mut self, other: &LinearExpr<L>, factor: &Int) {
        self.constant += &other.constant * factor;
        for (leaf, coefficient) in &other.terms {
            *self.terms.entry(leaf.clone()).or_default() += coefficient * factor;
        }
        self.terms.retain(|_, coefficient| !coefficient.is_zero());
    }
}

impl<L: Ord + Clone> Expr<L> {
    /// This expression as a linear one; `None` if it multiplies or divides what is not constant.
    pub fn linear(&self) -> Option<LinearExpr<L>> {
        match self {
            Expr::Const(value) => Some(LinearExpr::constant(value.clone())),
            Expr::Leaf(leaf) => Some(LinearExpr::leaf(leaf.clone())),
            Expr::Binary(op, a, b) => combine(*op, a.linear()?, b.linear()?),
        }
    }
}

fn combine<L: Ord + Clone>(op: Arith, mut a: LinearExpr<L>, mut b: LinearExpr<L>) -> Option<LinearExpr<L>> {
    match op {
        Arith::Add => a.add_scaled(&b, &Int::from(1)),
        Arith::Sub => a.add_scaled(&b, &Int::from(-1)),
        Arith::Mul => {
            if !a.terms.is_empty() {
                std::mem::swap(&mut a, &mut b);
            }
            if !a.terms.is_empty() {
                return None;
            }
            let factor = std::mem::take(&mut a.constant);
            a.add_scaled(&b, &factor);
        }
        _ if a.terms.is_empty() && b.terms.is_empty() => {
            a.constant = op.apply(&a.constant, &b.constant)?;
        }
        _ => return None,
    }
    Some(a)
}
