//! Expressions over 64-bit values, with every overflow noticed.
//!
//! The trees of `program::Expr` hold big integers; exploring evaluates the same few
//! expressions millions of times. Here constants are machine words, and an operation whose
//! result does not fit has no value (`None`): the caller then knows less, never something wrong.

use num_traits::ToPrimitive;
use program::{Arith, Cond, Expr, Relation};

/// A compiled expression.
#[derive(Clone, Debug)]
pub(crate) enum Code<L> {
    Const(i64),
    /// A constant beyond 64 bits.
    Huge,
    Leaf(L),
    Binary(Arith, Box<(Code<L>, Code<L>)>),
}

/// A compiled condition.
#[derive(Clone, Debug)]
pub(crate) enum Test<L> {
    Const(bool),
    Compare(Relation, Code<L>, Code<L>),
    And(Box<[Test<L>]>),
    Or(Box<[Test<L>]>),
}

impl<L> Code<L> {
    pub(crate) fn compile<K>(expr: &Expr<K>, leaf: &impl Fn(&K) -> L) -> Code<L> {
        match expr {
            Expr::Const(value) => value.to_i64().map_or(Code::Huge, Code::Const),
            Expr::Leaf(k) => Code::Leaf(leaf(k)),
            Expr::Binary(op, a, b) => {
                Code::Binary(*op, Box::new((Code::compile(a, leaf), Code::compile(b, leaf))))
            }
        }
    }

    #[inline]
    pub(crate) fn eval(&self, leaf: &impl Fn(&L) -> i64) -> Option<i64> {
        match self {
            Code::Const(value) => Some(*value),
            Code::Leaf(l) => Some(leaf(l)),
            deep => deep.eval_deep(leaf),
        }
    }

    /// Apart, so that the usual cases are inlined where code is run.
    fn eval_deep(&self, leaf: &impl Fn(&L) -> i64) -> Option<i64> {
        match self {
            Code::Binary(op, sides) => apply(*op, sides.0.eval(leaf)?, sides.1.eval(leaf)?),
            Code::Huge => None,
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

impl<L> Test<L> {
    pub(crate) fn compile<K>(cond: &Cond<K>, leaf: &impl Fn(&K) -> L) -> Test<L> {
        let all = |parts: &[Cond<K>]| parts.iter().map(|part| Test::compile(part, leaf)).collect();
        match cond {
            Cond::Const(value) => Test::Const(*value),
            Cond::Compare(relation, a, b) => {
                Test::Compare(*relation, Code::compile(a, leaf), Code::compile(b, leaf))
            }
            Cond::And(parts) => Test::And(all(parts)),
            Cond::Or(parts) => Test::Or(all(parts)),
        }
    }

    #[inline]
    pub(crate) fn eval(&self, leaf: &impl Fn(&L) -> i64) -> Option<bool> {
        match self {
            Test::Const(value) => Some(*value),
            Test::Compare(relation, a, b) => Some(relation.holds(&a.eval(leaf)?, &b.eval(leaf)?)),
            several => several.eval_deep(leaf),
        }
    }

    /// Apart, so that the usual cases are inlined where code is run.
    fn eval_deep(&self, leaf: &impl Fn(&L) -> i64) -> Option<bool> {
        match self {
            plain @ (Test::Const(_) | Test::Compare(..)) => plain.eval(leaf),
            Test::And(parts) => parts.iter().try_fold(true, |all, part| Some(all && part.eval(leaf)?)),
            Test::Or(parts) => parts.iter().try_fold(false, |any, part| Some(any || part.eval(leaf)?)),
        }
    }
}
