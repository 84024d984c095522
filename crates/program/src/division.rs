//! Where a divisor may be zero: it is not a constant other than 0.

use crate::{Arith, Cond, Expr, Op};

impl Op {
    /// Whether a divisor in it may be zero; not of the parts of a block. Front ends put a check before such a
    /// step, so reading one back must not add another.
    pub fn may_divide_by_zero(&self) -> bool {
        match self {
            Op::Assign(_, value) | Op::Store(_, value) => value.may_divide_by_zero(),
            Op::Assume(cond) => cond.may_divide_by_zero(),
            _ => false,
        }
    }
}

impl<L> Expr<L> {
    /// Whether a divisor in it may be zero.
    pub fn may_divide_by_zero(&self) -> bool {
        match self {
            Expr::Binary(op, a, b) => {
                let division = matches!(op, Arith::Div | Arith::Rem);
                division && b.as_const().is_none_or(|b| *b == 0.into())
                    || a.may_divide_by_zero()
                    || b.may_divide_by_zero()
            }
            _ => false,
        }
    }
}

impl<L> Cond<L> {
    /// Whether a divisor in it may be zero.
    pub fn may_divide_by_zero(&self) -> bool {
        match self {
            Cond::Const(_) => false,
            Cond::Compare(_, a, b) => a.may_divide_by_zero() || b.may_divide_by_zero(),
            Cond::And(parts) | Cond::Or(parts) => parts.iter().any(Cond::may_divide_by_zero),
        }
    }
}
