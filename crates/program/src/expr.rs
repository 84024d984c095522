//! Integer expressions and conditions over any kind of leaf.
//!
//! Threads compute over registers (`Expr<RegId>`), properties over [`crate::Place`]s and
//! machines over slots; [`Expr::map`] carries one into the other. Conditions are kept in
//! negation normal form: negating a comparison gives the opposite comparison, so there is
//! no `Not` to forget in a traversal. The constructors fold constants and flatten, which
//! makes printing and reading back give the same tree.

use crate::Int;
use num_traits::{Signed, Zero};

/// A binary operation. `Div` and `Rem` truncate towards zero, as in C; the bitwise ones
/// read an integer as two's complement with infinitely many digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Arith {
    /// `a + b`
    Add,
    /// `a - b`
    Sub,
    /// `a * b`
    Mul,
    /// `a / b`
    Div,
    /// `a % b`
    Rem,
    /// `a & b`
    And,
    /// `a | b`
    Or,
    /// `a ^ b`
    Xor,
}

impl Arith {
    /// The result on constants; `None` when dividing by zero.
    pub fn apply(self, a: &Int, b: &Int) -> Option<Int> {
        Some(match self {
            Arith::Add => a + b,
            Arith::Sub => a - b,
            Arith::Mul => a * b,
            Arith::Div | Arith::Rem if b.is_zero() => return None,
            Arith::Div => a / b,
            Arith::Rem => a % b,
            Arith::And => a & b,
            Arith::Or => a | b,
            Arith::Xor => a ^ b,
        })
    }
}

/// A comparison of two integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Relation {
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
}

impl Relation {
    /// The relation that holds exactly when this one does not.
    pub fn negate(self) -> Relation {
        match self {
            Relation::Eq => Relation::Ne,
            Relation::Ne => Relation::Eq,
            Relation::Lt => Relation::Ge,
            Relation::Le => Relation::Gt,
            Relation::Gt => Relation::Le,
            Relation::Ge => Relation::Lt,
        }
    }

    /// The relation that holds between `b` and `a` exactly when this one holds between `a` and `b`.
    pub fn mirrored(self) -> Relation {
        match self {
            Relation::Lt => Relation::Gt,
            Relation::Le => Relation::Ge,
            Relation::Gt => Relation::Lt,
            Relation::Ge => Relation::Le,
            Relation::Eq | Relation::Ne => self,
        }
    }

    /// Whether the relation holds between two values.
    pub fn holds<T: Ord>(self, a: &T, b: &T) -> bool {
        match self {
            Relation::Eq => a == b,
            Relation::Ne => a != b,
            Relation::Lt => a < b,
            Relation::Le => a <= b,
            Relation::Gt => a > b,
            Relation::Ge => a >= b,
        }
    }
}

/// An integer expression.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Expr<L> {
    /// A constant.
    Const(Int),
    /// The value of a leaf.
    Leaf(L),
    /// A binary operation.
    Binary(Arith, Box<Expr<L>>, Box<Expr<L>>),
}

/// A condition, in negation normal form.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Cond<L> {
    /// Always or never.
    Const(bool),
    /// A comparison.
    Compare(Relation, Expr<L>, Expr<L>),
    /// All of them (two or more, none itself an `And`).
    And(Vec<Cond<L>>),
    /// One of them (two or more, none itself an `Or`).
    Or(Vec<Cond<L>>),
}

/// Why an expression has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvalError {
    /// A divisor was zero. Front ends guard divisions, so this means a hand-made program.
    DivisionByZero,
}

impl<L> From<i64> for Expr<L> {
    fn from(value: i64) -> Expr<L> {
        Expr::Const(Int::from(value))
    }
}

impl<L> From<Int> for Expr<L> {
    fn from(value: Int) -> Expr<L> {
        Expr::Const(value)
    }
}

macro_rules! leaf_to_expr {
    ($($leaf:ty),*) => {$(
        impl From<$leaf> for Expr<$leaf> {
            fn from(leaf: $leaf) -> Self {
                Expr::Leaf(leaf)
            }
        }
    )*};
}
leaf_to_expr!(crate::RegId, crate::Place);

impl<L> Expr<L> {
    /// A binary operation, folded when both sides are constants.
    pub fn binary(op: Arith, a: impl Into<Expr<L>>, b: impl Into<Expr<L>>) -> Expr<L> {
        let (a, b) = (a.into(), b.into());
        if let (Expr::Const(x), Expr::Const(y)) = (&a, &b)
            && let Some(value) = op.apply(x, y)
        {
            return Expr::Const(value);
        }
        Expr::Binary(op, Box::new(a), Box::new(b))
    }

    /// `0 - e`, folded for constants.
    pub fn negative(self) -> Expr<L> {
        Expr::binary(Arith::Sub, Int::zero(), self)
    }

    /// The constant this is, if it is one.
    pub fn as_const(&self) -> Option<&Int> {
        match self {
            Expr::Const(value) => Some(value),
            _ => None,
        }
    }

    /// Calls `visit` on every leaf, left to right.
    pub fn for_each_leaf<'a>(&'a self, visit: &mut impl FnMut(&'a L)) {
        match self {
            Expr::Const(_) => {}
            Expr::Leaf(leaf) => visit(leaf),
            Expr::Binary(_, a, b) => {
                a.for_each_leaf(visit);
                b.for_each_leaf(visit);
            }
        }
    }

    /// Whether one of its leaves is wanted.
    pub fn any_leaf(&self, wanted: impl Fn(&L) -> bool) -> bool {
        let mut found = false;
        self.for_each_leaf(&mut |leaf| found |= wanted(leaf));
        found
    }

    /// Replaces every leaf by an expression over other leaves.
    pub fn map<M>(&self, leaf: &mut impl FnMut(&L) -> Expr<M>) -> Expr<M> {
        match self {
            Expr::Const(value) => Expr::Const(value.clone()),
            Expr::Leaf(l) => leaf(l),
            Expr::Binary(op, a, b) => Expr::binary(*op, a.map(leaf), b.map(leaf)),
        }
    }

    /// The value when leaves have these values.
    pub fn eval(&self, leaf: &impl Fn(&L) -> Int) -> Result<Int, EvalError> {
        match self {
            Expr::Const(value) => Ok(value.clone()),
            Expr::Leaf(l) => Ok(leaf(l)),
            Expr::Binary(op, a, b) => {
                op.apply(&a.eval(leaf)?, &b.eval(leaf)?).ok_or(EvalError::DivisionByZero)
            }
        }
    }

    /// Whether this is a negative constant (it prints with a sign).
    pub(crate) fn is_negative_const(&self) -> bool {
        self.as_const().is_some_and(Signed::is_negative)
    }
}

impl<L> Cond<L> {
    /// Always true.
    pub const TRUE: Cond<L> = Cond::Const(true);
    /// Never true.
    pub const FALSE: Cond<L> = Cond::Const(false);

    /// A comparison, folded when both sides are constants.
    pub fn compare(relation: Relation, a: impl Into<Expr<L>>, b: impl Into<Expr<L>>) -> Cond<L> {
        match (a.into(), b.into()) {
            (Expr::Const(x), Expr::Const(y)) => Cond::Const(relation.holds(&x, &y)),
            (a, b) => Cond::Compare(relation, a, b),
        }
    }

    /// The conjunction, flattened and without trivial parts.
    pub fn and(parts: impl IntoIterator<Item = Cond<L>>) -> Cond<L> {
        Cond::junction(parts, true)
    }

    /// The disjunction, flattened and without trivial parts.
    pub fn or(parts: impl IntoIterator<Item = Cond<L>>) -> Cond<L> {
        Cond::junction(parts, false)
    }

    fn junction(parts: impl IntoIterator<Item = Cond<L>>, conjunction: bool) -> Cond<L> {
        let mut kept = Vec::new();
        for part in parts {
            match part {
                Cond::Const(value) if value == conjunction => {}
                Cond::Const(value) => return Cond::Const(value),
                Cond::And(inner) if conjunction => kept.extend(inner),
                Cond::Or(inner) if !conjunction => kept.extend(inner),
                other => kept.push(other),
            }
        }
        match kept.len() {
            0 => Cond::Const(conjunction),
            1 => kept.swap_remove(0),
            _ if conjunction => Cond::And(kept),
            _ => Cond::Or(kept),
        }
    }

    /// The condition that holds exactly when this one does not.
    pub fn negate(self) -> Cond<L> {
        match self {
            Cond::Const(value) => Cond::Const(!value),
            Cond::Compare(relation, a, b) => Cond::Compare(relation.negate(), a, b),
            Cond::And(parts) => Cond::or(parts.into_iter().map(Cond::negate)),
            Cond::Or(parts) => Cond::and(parts.into_iter().map(Cond::negate)),
        }
    }

    /// Calls `visit` on every leaf, left to right.
    pub fn for_each_leaf<'a>(&'a self, visit: &mut impl FnMut(&'a L)) {
        self.for_each_expr(&mut |expr| expr.for_each_leaf(visit));
    }

    /// Whether one of its leaves is wanted.
    pub fn any_leaf(&self, wanted: impl Fn(&L) -> bool) -> bool {
        let mut found = false;
        self.for_each_leaf(&mut |leaf| found |= wanted(leaf));
        found
    }

    /// Calls `visit` on both sides of every comparison, left to right.
    pub fn for_each_expr<'a>(&'a self, visit: &mut impl FnMut(&'a Expr<L>)) {
        match self {
            Cond::Const(_) => {}
            Cond::Compare(_, a, b) => {
                visit(a);
                visit(b);
            }
            Cond::And(parts) | Cond::Or(parts) => {
                parts.iter().for_each(|part| part.for_each_expr(visit));
            }
        }
    }

    /// Replaces every leaf by an expression over other leaves.
    pub fn map<M>(&self, leaf: &mut impl FnMut(&L) -> Expr<M>) -> Cond<M> {
        match self {
            Cond::Const(value) => Cond::Const(*value),
            Cond::Compare(relation, a, b) => Cond::compare(*relation, a.map(leaf), b.map(leaf)),
            Cond::And(parts) => Cond::and(parts.iter().map(|part| part.map(leaf)).collect::<Vec<_>>()),
            Cond::Or(parts) => Cond::or(parts.iter().map(|part| part.map(leaf)).collect::<Vec<_>>()),
        }
    }

    /// Whether the condition holds when leaves have these values; lazy, left to right.
    pub fn eval(&self, leaf: &impl Fn(&L) -> Int) -> Result<bool, EvalError> {
        match self {
            Cond::Const(value) => Ok(*value),
            Cond::Compare(relation, a, b) => Ok(relation.holds(&a.eval(leaf)?, &b.eval(leaf)?)),
            Cond::And(parts) => parts.iter().try_fold(true, |all, part| Ok(all && part.eval(leaf)?)),
            Cond::Or(parts) => parts.iter().try_fold(false, |any, part| Ok(any || part.eval(leaf)?)),
        }
    }
}
