//! Constant expressions, and types of expressions where parsing needs them.

use super::{CMeaning, CParsed, Parser};
use crate::c::ast::{Binary, CExpr, CExprKind, Unary};
use crate::c::constant::{CConstant, fold};
use crate::c::types::{Type, TypeKind};

impl Parser<'_> {
    pub(super) fn constant_expression(&mut self) -> CParsed<i128> {
        let start = self.at;
        let expr = self.deeper(Self::conditional)?;
        match fold(&expr) {
            Some(CConstant { value, .. }) => Ok(value),
            None => Err(self.error_at(start, "this is no constant")),
        }
    }

    /// The type of an expression.
    pub(super) fn type_of(&self, expr: &CExpr) -> CParsed<Type> {
        let unknown = || self.error_at(expr.token as usize, "the type of this expression is not known here");
        Ok(match &expr.kind {
            CExprKind::Int(_, ty) | CExprKind::Cast(ty, _) | CExprKind::Compound(ty, _) => ty.clone(),
            CExprKind::Float => Type::new(TypeKind::Float(8)),
            CExprKind::Text(text) => {
                Type::new(TypeKind::Array(Type::integer(8, true), Some(text.len().saturating_sub(1) as u64)))
            }
            CExprKind::Name(name) => match self.meaning(name) {
                Some(CMeaning::Object(ty)) => ty.clone(),
                _ => return Err(unknown()),
            },
            CExprKind::Unary(Unary::Address, inner) => self.type_of(inner)?.pointer(),
            CExprKind::Unary(Unary::Deref, inner) => {
                let pointer = self.type_of(inner)?.decayed();
                pointer.inner().cloned().ok_or_else(unknown)?
            }
            CExprKind::Unary(Unary::Not, _) | CExprKind::Lazy(..) => Type::int(),
            CExprKind::Unary(_, inner) => self.type_of(inner)?.promoted(),
            CExprKind::Binary(op, a, b) => {
                let (a, b) = (self.type_of(a)?.decayed(), self.type_of(b)?.decayed());
                match op {
                    Binary::Lt | Binary::Gt | Binary::Le | Binary::Ge | Binary::Eq | Binary::Ne => {
                        Type::int()
                    }
                    Binary::Sub if a.is_pointer() && b.is_pointer() => Type::integer(64, true),
                    Binary::Add | Binary::Sub if a.is_pointer() => a,
                    Binary::Add if b.is_pointer() => b,
                    Binary::Shl | Binary::Shr => a.promoted(),
                    _ => Type::common(&a, &b),
                }
            }
            CExprKind::Assign(_, a, _) | CExprKind::Step(_, _, a) => self.type_of(a)?.plain(),
            CExprKind::Conditional(cond, yes, no) => {
                let (a, b) =
                    (self.type_of(yes.as_deref().unwrap_or(cond))?.decayed(), self.type_of(no)?.decayed());
                if a.is_integer() && b.is_integer() { Type::common(&a, &b) } else { a }
            }
            CExprKind::Call(function, _) => {
                let ty = self.type_of(function)?;
                ty.inner().unwrap_or(&ty).result().cloned().ok_or_else(unknown)?
            }
            CExprKind::Index(a, b) => {
                let (a, b) = (self.type_of(a)?.decayed(), self.type_of(b)?.decayed());
                a.inner().or(b.inner()).cloned().ok_or_else(unknown)?
            }
            CExprKind::Member(object, name) => {
                let ty = self.type_of(object)?;
                self.unit.records.member(&ty, name).ok_or_else(unknown)?.ty
            }
            CExprKind::Comma(_, b) => self.type_of(b)?,
            CExprKind::Block(_) => return Err(unknown()),
        })
    }
}
