//! Where a divisor may be zero.

use crate::{Arith, Cond, Expr, Op};

/// Whether a divisor in it is not a constant other than 0. Front ends put a check before such a
/// step, so reading one back must not add another.
pub(crate) fn may_divide_by_zero(op: &Op) -> bool {
    match op {
        Op::Assign(_, value) | Op::Store(_, value) => divides(value),
        Op::Assume(cond) => cond_divides(cond),
        _ => false,
    }
}

fn divides<L>(value: &Expr<L>) -> bool {
    match value {
        Expr::Binary(op, a, b) => {
            let division = matches!(op, Arith::Div | Arith::Rem);
            division && b.as_const().is_none_or(|b| *b == 0.into()) || divides(a) || divides(b)
        }
        _ => false,
    }
}

pub(crate) fn cond_divides<L>(cond: &Cond<L>) -> bool {
    match cond {
        Cond::Const(_) => false,
        Cond::Compare(_, a, b) => divides(a) || divides(b),
        Cond::And(parts) | Cond::Or(parts) => parts.iter().any(cond_divides),
    }
}
