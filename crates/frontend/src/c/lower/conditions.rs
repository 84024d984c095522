//! Conditions: where they lead, and what they are as values. Lazy operators are branches.

use super::graph::At;
use super::numbers::relation;
use super::thread::{Lowerer, agree};
use super::value::{CValue, constant, number};
use super::world::CLowered;
use crate::c::ast::{CExpr, CExprKind, Unary};
use crate::c::types::TypeKind;
use program::{Cond, Expr as Over, RegId, Relation};

impl Lowerer<'_, '_> {
    /// 1 or 0.
    pub fn truth_of(&mut self, expr: &CExpr) -> CLowered<Over<RegId>> {
        let (yes, no) = (self.place(), self.place());
        if let Some(value) = self.branch(expr, yes, no)? {
            self.at = if value { yes } else { no };
            return Ok(number(i128::from(value)));
        }
        self.truth_at(yes, no)
    }

    /// 1 on one way, 0 on the other.
    pub fn truth_at(&mut self, yes: At, no: At) -> CLowered<Over<RegId>> {
        let (register, end) = (self.temporary()?, self.place());
        self.meet([(yes, number(1)), (no, number(0))], register, end);
        Ok(Over::Leaf(register))
    }

    /// Evaluates a condition and goes one of two ways; which, if that is clear. What is known
    /// afterwards holds on both.
    pub fn branch(&mut self, expr: &CExpr, yes: At, no: At) -> CLowered<Option<bool>> {
        self.nested(expr.token, |l| l.branch_inside(expr, yes, no))
    }

    fn branch_inside(&mut self, expr: &CExpr, yes: At, no: At) -> CLowered<Option<bool>> {
        match &expr.kind {
            CExprKind::Unary(Unary::Not, inner) => Ok(self.branch(inner, no, yes)?.map(|value| !value)),
            CExprKind::Lazy(and, a, b) => {
                let next = self.place();
                let (first_yes, first_no) = if *and { (next, no) } else { (yes, next) };
                match self.branch(a, first_yes, first_no)? {
                    Some(value) if value != *and => Ok(Some(value)),
                    decided => {
                        self.at = next;
                        let before = self.known.clone();
                        let second = self.branch(b, yes, no)?;
                        self.known = agree(&before, &self.known);
                        Ok(decided.and(second))
                    }
                }
            }
            CExprKind::Binary(op, a, b) if let Some(relation) = relation(*op) => {
                let (a, b) = self.operands(a, b)?;
                let cond = self.comparison(relation, a, b, expr.token)?;
                Ok(self.fork(cond, yes, no))
            }
            CExprKind::Cast(ty, inner) if ty.is_integer() && *ty.kind != TypeKind::Bool => {
                match &inner.kind {
                    CExprKind::Call(..) | CExprKind::Cast(..) => self.branch(inner, yes, no),
                    _ => self.branch_on_value(expr, yes, no),
                }
            }
            CExprKind::Call(function, arguments) => {
                if let CExprKind::Name(name) = &function.kind
                    && let Some(done) = self.call_branch(name, arguments, expr.token, yes, no)?
                {
                    return Ok(done);
                }
                self.branch_on_value(expr, yes, no)
            }
            _ => self.branch_on_value(expr, yes, no),
        }
    }

    fn branch_on_value(&mut self, expr: &CExpr, yes: At, no: At) -> CLowered<Option<bool>> {
        let value = self.value(expr)?;
        let cond = match &value.value {
            CValue::Address(_) | CValue::Function(_) => Cond::TRUE,
            CValue::Number(over) => match constant(over) {
                Some(known) => Cond::Const(known != 0),
                None => Cond::compare(Relation::Ne, over.clone(), 0),
            },
            _ => return Err(self.error(expr.token, "this is no condition")),
        };
        Ok(self.fork(cond, yes, no))
    }
}
