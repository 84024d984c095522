//! Arithmetic on what is known while reading: constants of any size, up to a limit.

use super::ast::{ExprKind, FwExpr, Shift};
use super::limits;
use crate::Diagnostic;
use num_traits::{One, Signed, ToPrimitive, Zero};
use program::{Arith, Int, Span};

/// What is wrong with a constant.
pub(super) enum ConstantFault {
    /// A name means nothing.
    Missing(Box<Diagnostic>),
    /// Anything else.
    Wrong(Box<Diagnostic>),
    /// It was reported already.
    Reported,
}

/// What a name stands for where a constant is wanted.
pub(super) enum ConstantLookup {
    Constant(Int),
    /// Something else, called this in messages.
    Other(&'static str),
    Unknown,
    /// Its declaration is wrong and was reported.
    Broken,
}

/// The value of an expression over constants.
pub(super) fn evaluate(
    expr: &FwExpr<'_>,
    known: &dyn Fn(&str) -> ConstantLookup,
) -> Result<Int, ConstantFault> {
    match &expr.kind {
        ExprKind::Broken => Err(ConstantFault::Reported),
        ExprKind::Int(value) => Ok(value.clone()),
        ExprKind::Bool(value) => Ok(Int::from(u8::from(*value))),
        ExprKind::Name(name) => match known(name) {
            ConstantLookup::Constant(value) => Ok(value),
            ConstantLookup::Broken => Err(ConstantFault::Reported),
            ConstantLookup::Other(what) => {
                let message = format!("`{name}` is {what}; a constant is needed here");
                Err(ConstantFault::Wrong(not_constant(expr.span, message)))
            }
            ConstantLookup::Unknown => {
                Err(ConstantFault::Missing(not_constant(expr.span, format!("there is no constant `{name}`"))))
            }
        },
        ExprKind::Negative(inner) => Ok(-evaluate(inner, known)?),
        ExprKind::Not(inner) => Ok(truth(evaluate(inner, known)?.is_zero())),
        ExprKind::Binary(op, a, b) => {
            apply(*op, &evaluate(a, known)?, &evaluate(b, known)?, expr.span, b.span)
        }
        ExprKind::Shift(shift, a, b) => {
            let (value, places) = (evaluate(a, known)?, evaluate(b, known)?);
            let shifted = shifted::<()>(*shift, value.into(), power_of_two(&places, b.span)?);
            shifted.as_const().cloned().ok_or(ConstantFault::Reported).and_then(|v| bounded(v, expr.span))
        }
        ExprKind::Conditional(parts) => {
            let chosen = if evaluate(&parts[0], known)?.is_zero() { &parts[2] } else { &parts[1] };
            evaluate(chosen, known)
        }
        ExprKind::Compare(relation, a, b) => {
            Ok(truth(relation.holds(&evaluate(a, known)?, &evaluate(b, known)?)))
        }
        // Lazy, left to right.
        ExprKind::All(parts) => {
            let mut parts = parts.iter();
            parts.try_fold(true, |all, part| Ok(all && !evaluate(part, known)?.is_zero())).map(truth)
        }
        ExprKind::Some(parts) => {
            let mut parts = parts.iter();
            parts.try_fold(false, |any, part| Ok(any || !evaluate(part, known)?.is_zero())).map(truth)
        }
        _ => Err(ConstantFault::Wrong(not_constant(expr.span, "a constant is needed here".to_string()))),
    }
}

fn truth(value: bool) -> Int {
    Int::from(u8::from(value))
}

fn not_constant(span: Span, message: String) -> Box<Diagnostic> {
    let hint = "constants are numbers, `const` names declared before, and counters of `for` and of threads";
    Box::new(Diagnostic::error(span, message).hint(hint))
}

/// An operation on constants.
pub(super) fn apply(op: Arith, a: &Int, b: &Int, span: Span, divisor: Span) -> Result<Int, ConstantFault> {
    if op == Arith::Mul && a.bits() + b.bits() > limits::BITS + 1 {
        return Err(too_long(span));
    }
    let Some(value) = op.apply(a, b) else {
        let error = Diagnostic::error(divisor, "this divides by zero").label("is 0");
        return Err(ConstantFault::Wrong(Box::new(error.hint("divide by something that is not 0"))));
    };
    bounded(value, span)
}

fn bounded(value: Int, span: Span) -> Result<Int, ConstantFault> {
    if value.bits() <= limits::BITS { Ok(value) } else { Err(too_long(span)) }
}

fn too_long(span: Span) -> ConstantFault {
    let message = format!("this constant has more than {} digits", limits::DIGITS);
    ConstantFault::Wrong(Box::new(Diagnostic::error(span, message).hint("use smaller numbers")))
}

/// The power of two that a shift by a constant multiplies with or divides by.
pub(super) fn power_of_two(places: &Int, span: Span) -> Result<Int, ConstantFault> {
    if places.is_negative() {
        let error = Diagnostic::error(span, format!("a shift by {places} places has no meaning"));
        let hint = "`<<` multiplies by a power of two, `>>` divides by one";
        return Err(ConstantFault::Wrong(Box::new(error.hint(hint))));
    }
    match places.to_u64() {
        Some(places) if places < limits::BITS => Ok(Int::one() << places),
        _ => Err(too_long(span)),
    }
}

/// A value times a power of two, or divided by it and rounded down.
pub(super) fn shifted<L: Clone>(shift: Shift, value: program::Expr<L>, power: Int) -> program::Expr<L> {
    use program::Expr;
    match shift {
        Shift::Left => Expr::binary(Arith::Mul, value, power),
        Shift::Right if power.is_one() => value,
        // Division truncates; without the bits that go, there is nothing to round.
        Shift::Right => {
            let rest = Expr::binary(Arith::And, value.clone(), &power - 1u8);
            Expr::binary(Arith::Div, Expr::binary(Arith::Sub, value, rest), power)
        }
    }
}

/// An operation on expressions, folded on constants; a division by the constant 0 is an error.
pub(super) fn combine<L>(
    op: Arith,
    (a, a_span): (program::Expr<L>, Span),
    (b, b_span): (program::Expr<L>, Span),
) -> Result<program::Expr<L>, ConstantFault> {
    let zero = Int::zero();
    match (a.as_const(), b.as_const()) {
        (Some(x), Some(y)) => Ok(apply(op, x, y, a_span.to(b_span), b_span)?.into()),
        (None, Some(y)) if matches!(op, Arith::Div | Arith::Rem) && y.is_zero() => {
            apply(op, &zero, y, a_span.to(b_span), b_span).map(Into::into)
        }
        _ => Ok(program::Expr::binary(op, a, b)),
    }
}
