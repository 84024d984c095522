//! Values: every mention of a shared variable is one load, in reading order; what remains is an
//! expression over registers. No register of the program changes while an expression is
//! evaluated, so such an expression stays true until it is used.

use super::layout::FwCell;
use super::memory::weight;
use super::thread::{FwLowering, NameMeaning};
use crate::Diagnostic;
use crate::fw::ast::{ExprKind, FwExpr, Ident};
use crate::fw::constants::combine;
use crate::fw::sink::{OrReported, Reported};
use program::{Arith, Cond, Expr, Failure, FailureKind, Op, RegId, Relation, Span};

/// Values of functions with more operands than this go into a register.
const LARGEST_COPIED: usize = 100;

impl<'a> FwLowering<'a, '_> {
    /// The value of an expression, after the steps it takes.
    pub fn value(&mut self, expr: &'a FwExpr<'a>) -> OrReported<Expr<RegId>> {
        self.nested(|l| match &expr.kind {
            ExprKind::Int(value) => Ok(value.clone().into()),
            ExprKind::Bool(value) => Ok(Expr::from(i64::from(*value))),
            ExprKind::Name(name) => l.named_value(Ident { text: name, span: expr.span }),
            ExprKind::Negative(inner) => {
                let value = l.value(inner)?;
                l.combine(Arith::Sub, (Expr::from(0), expr.span), (value, inner.span))
            }
            ExprKind::Binary(op, a, b) => {
                let (x, y) = (l.value(a)?, l.value(b)?);
                l.combine(*op, (x, a.span), (y, b.span))
            }
            ExprKind::Shift(shift, a, b) => {
                let (x, y) = (l.value(a)?, l.value(b)?);
                l.shift(*shift, (x, a.span), (y, b.span))
            }
            ExprKind::Cell(target) => match l.register_cell(target) {
                Some(register) => Ok(Expr::Leaf(register)),
                None => l.stepped_value(expr),
            },
            ExprKind::At(..) => Err(l.property_only(expr.span)),
            ExprKind::Reference(_) => Err(l.no_reference(expr.span)),
            ExprKind::Broken => Err(Reported),
            ExprKind::Call(name, arguments) => match l.as_expression(*name, arguments, Self::value)? {
                // A function that uses another twice would double the value at each level.
                Some(value) if weight(&value) > LARGEST_COPIED => l.in_register(value),
                Some(value) => Ok(value),
                None => l.stepped_value(expr),
            },
            _ => l.stepped_value(expr),
        })
    }

    /// Values that always end up in a register, unless they turn out constant.
    fn stepped_value(&mut self, expr: &'a FwExpr<'a>) -> OrReported<Expr<RegId>> {
        let condition = matches!(
            expr.kind,
            ExprKind::Not(_) | ExprKind::Compare(..) | ExprKind::All(_) | ExprKind::Some(_)
        );
        if condition
            && self.is_pure(expr, false)?
            && let Cond::Const(value) = self.cond(expr)?
        {
            return Ok(Expr::from(i64::from(value)));
        }
        let register = self.temporary()?;
        self.value_into(expr, register)?;
        Ok(Expr::Leaf(register))
    }

    pub fn in_register(&mut self, value: Expr<RegId>) -> OrReported<Expr<RegId>> {
        let register = self.temporary()?;
        self.step(Op::Assign(register, value));
        Ok(Expr::Leaf(register))
    }

    fn named_value(&mut self, name: Ident<'a>) -> OrReported<Expr<RegId>> {
        match self.meaning(name.text) {
            NameMeaning::Constant(value) => Ok(value.into()),
            NameMeaning::Number(FwCell::Local(register)) => Ok(Expr::Leaf(register)),
            _ => {
                let place = self.named(name)?;
                let register = self.temporary()?;
                self.load(register, &place)?;
                Ok(Expr::Leaf(register))
            }
        }
    }

    /// Whether it takes a step to read what a name stands for: it is in memory, or in one of several places.
    pub fn is_stepped(&mut self, name: &'a str) -> bool {
        matches!(self.meaning(name), NameMeaning::Number(FwCell::Shared(_)) | NameMeaning::Stored(_))
    }

    /// Gives a register the value of an expression, with the last step writing it directly
    /// where possible.
    pub fn value_into(&mut self, expr: &'a FwExpr<'a>, register: RegId) -> OrReported<()> {
        match &expr.kind {
            ExprKind::Name(name) if self.is_stepped(name) => {
                let place = self.named(Ident { text: name, span: expr.span })?;
                self.load(register, &place)
            }
            ExprKind::Cell(target) if self.register_cell(target).is_none() => {
                let place = self.located(target)?;
                self.load(register, &place)
            }
            ExprKind::Not(_) | ExprKind::Compare(..) | ExprKind::All(_) | ExprKind::Some(_) => {
                self.nested(|l| l.truth_into(expr, register))
            }
            ExprKind::Conditional(parts) => self.nested(|l| l.conditional_into(parts, register)),
            ExprKind::Call(name, arguments) => {
                let inner = |l: &mut Self, value| l.value_into(value, register);
                match self.as_expression(*name, arguments, inner)? {
                    Some(()) => Ok(()),
                    None => self.nested(|l| l.call(*name, arguments, Some(register), false)),
                }
            }
            ExprKind::Atomic(atomic) => self.nested(|l| l.atomic(atomic, Some(register))),
            _ => {
                let value = self.value(expr)?;
                self.step(Op::Assign(register, value));
                Ok(())
            }
        }
    }

    /// Gives a register one of two values by a condition.
    fn conditional_into(&mut self, parts: &'a [FwExpr<'a>; 3], register: RegId) -> OrReported<()> {
        let [cond, yes_value, no_value] = parts;
        let (yes, no, end) = (self.location(), self.location(), self.location());
        let known = self.with_temporaries(|l| l.branch(cond, Some(yes), Some(no)))?;
        self.at = yes;
        self.only_if(known != Some(false), |l| l.value_into(yes_value, register))?;
        self.join(end);
        self.at = no;
        self.only_if(known != Some(true), |l| l.value_into(no_value, register))?;
        self.join(end);
        Ok(())
    }

    /// An operation on values; a divisor that may be 0 is checked first.
    pub fn combine(
        &mut self,
        op: Arith,
        a: (Expr<RegId>, Span),
        b: (Expr<RegId>, Span),
    ) -> OrReported<Expr<RegId>> {
        let divides = matches!(op, Arith::Div | Arith::Rem);
        if divides && !self.unchecked && b.0.as_const().is_none() {
            self.guard_divisor(&b.0, a.1.to(b.1));
        }
        combine(op, a, b).map_err(|fault| self.wrong(fault))
    }

    fn guard_divisor(&mut self, divisor: &Expr<RegId>, span: Span) {
        let (failed, next) = (self.location(), self.location());
        self.builder.fail(failed, Failure { kind: FailureKind::Division, span });
        self.fork(Cond::compare(Relation::Eq, divisor.clone(), 0), Some(failed), Some(next));
        self.at = next;
    }

    pub fn property_only(&mut self, span: Span) -> Reported {
        let message = "places of threads can only be named in properties";
        self.error(Diagnostic::error(span, message).hint("use it in `never`, `finally` or `predicates`"))
    }
}
