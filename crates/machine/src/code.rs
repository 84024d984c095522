//! Expressions over 64-bit values, with every overflow noticed.
//!
//! The trees of `program::Expr` hold big integers; exploring evaluates the same few
//! expressions millions of times. Here constants are machine words, and an operation whose
//! result does not fit has no value (`None`): the caller then knows less, never something wrong.

use num_traits::ToPrimitive;
use program::{Arith, Cond, Expr, Relation};

/// A compiled expression.
#[derive(Clone, Debug)]
pub(crate) enum CompiledExpr<L> {
    Const(i64),
    /// A constant beyond 64 bits.
    Huge,
    Leaf(L),
    Binary(Arith, Box<(CompiledExpr<L>, CompiledExpr<L>)>),
}

/// A compiled condition.
#[derive(Clone, Debug)]
pub(crate) enum CompiledCond<L> {
    Const(bool),
    Compare(Relation, CompiledExpr<L>, CompiledExpr<L>),
    And(Box<[CompiledCond<L>]>),
    Or(Box<[CompiledCond<L>]>),
}

impl<L> CompiledExpr<L> {
    pub(crate) fn compile<K>(expr: &Expr<K>, leaf: &impl Fn(&K) -> L) -> CompiledExpr<L> {
        match expr {
            Expr::Const(value) => value.to_i64().map_or(CompiledExpr::Huge, CompiledExpr::Const),
            Expr::Leaf(k) => CompiledExpr::Leaf(leaf(k)),
            Expr::Binary(op, a, b) => CompiledExpr::Binary(
                *op,
                Box::new((CompiledExpr::compile(a, leaf), CompiledExpr::compile(b, leaf))),
            ),
        }
    }

    #[inline]
    pub(crate) fn eval(&self, leaf: &impl Fn(&L) -> i64) -> Option<i64> {
        match self {
            CompiledExpr::Const(value) => Some(*value),
            CompiledExpr::Leaf(l) => Some(leaf(l)),
            deep => deep.eval_deep(leaf),
        }
    }

    /// Apart, so that the usual cases are inlined where code is run.
    fn eval_deep(&self, leaf: &impl Fn(&L) -> i64) -> Option<i64> {
        match self {
            CompiledExpr::Binary(op, sides) => apply(*op, sides.0.eval(leaf)?, sides.1.eval(leaf)?),
            CompiledExpr::Huge => None,
            plain => plain.eval(leaf),
        }
    }
}

fn apply(op: Arith, a: i64, b: i64) -> Option<i64> {
    match op {
        Arith::Add => a.checked_add(b),
        Arith::Sub => a.checked_sub(b),
        Arith::Mul => a.checked_mul(b),
        Arith::Div => a.checked_div(b),
        Arith::Rem => a.checked_rem(b),
        Arith::And => Some(a & b),
        Arith::Or => Some(a | b),
        Arith::Xor => Some(a ^ b),
    }
}

impl<L> CompiledCond<L> {
    pub(crate) fn compile<K>(cond: &Cond<K>, leaf: &impl Fn(&K) -> L) -> CompiledCond<L> {
        let all = |parts: &[Cond<K>]| parts.iter().map(|part| CompiledCond::compile(part, leaf)).collect();
        match cond {
            Cond::Const(value) => CompiledCond::Const(*value),
            Cond::Compare(relation, a, b) => CompiledCond::Compare(
                *relation,
                CompiledExpr::compile(a, leaf),
                CompiledExpr::compile(b, leaf),
            ),
            Cond::And(parts) => CompiledCond::And(all(parts)),
            Cond::Or(parts) => CompiledCond::Or(all(parts)),
        }
    }

    #[inline]
    pub(crate) fn eval(&self, leaf: &impl Fn(&L) -> i64) -> Option<bool> {
        match self {
            CompiledCond::Const(value) => Some(*value),
            CompiledCond::Compare(relation, a, b) => Some(relation.holds(&a.eval(leaf)?, &b.eval(leaf)?)),
            several => several.eval_deep(leaf),
        }
    }

    /// Apart, so that the usual cases are inlined where code is run.
    fn eval_deep(&self, leaf: &impl Fn(&L) -> i64) -> Option<bool> {
        match self {
            plain @ (CompiledCond::Const(_) | CompiledCond::Compare(..)) => plain.eval(leaf),
            CompiledCond::And(parts) => {
                parts.iter().try_fold(true, |all, part| Some(all && part.eval(leaf)?))
            }
            CompiledCond::Or(parts) => {
                parts.iter().try_fold(false, |any, part| Some(any || part.eval(leaf)?))
            }
        }
    }
}
