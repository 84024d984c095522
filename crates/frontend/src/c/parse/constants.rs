//! Constant expressions, and types of expressions where parsing needs them.

use super::{Meaning, Parsed, Parser};
use crate::c::ast::{Binary, Expr, ExprKind, Unary};
use crate::c::constant::{Constant, fold};
use crate::c::types::{Type, TypeKind};

impl Parser<'_> {
    pub(super) fn constant_expression(&mut self) -> Parsed<i128> {
        let start = self.at;
        let expr = self.deeper(Self::conditional)?;
        match fold(&expr) {
            Some(Constant { value, .. }) => Ok(value),
            None => Err(self.error_at(start, "this is no constant")),
        }
    }

    /// The type of an expression.
    pub(super) fn type_of(&self, expr: &Expr) -> Parsed<Type> {
        let unknown = || self.error_at(expr.token as usize, "the type of this expression is not known here");
        Ok(match &expr.kind {
            ExprKind::Int(_, ty) | ExprKind::Cast(ty, _) | ExprKind::Compound(ty, _) => ty.clone(),
            ExprKind::Float => Type::new(TypeKind::Float(8)),
            ExprKind::Text(text) => {
                Type::new(TypeKind::Array(Type::integer(8, true), Some(text.len().saturating_sub(1) as u64)))
            }
            ExprKind::Name(name) => match self.meaning(name) {
                Some(Meaning::Object(ty)) => ty.clone(),
                _ => return Err(unknown()),
            },
            ExprKind::Unary(Unary::Address, inner) => self.type_of(inner)?.pointer(),
            ExprKind::Unary(Unary::Deref, inner) => {
                let pointer = self.type_of(inner)?.decayed();
                pointer.inner().cloned().ok_or_else(unknown)?
            }
            ExprKind::Unary(Unary::Not, _) | ExprKind::Lazy(..) => Type::int(),
            ExprKind::Unary(_, inner) => self.type_of(inner)?.promoted(),
            ExprKind::Binary(op, a, b) => {
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
            ExprKind::Assign(_, a, _) | ExprKind::Step(_, _, a) => self.type_of(a)?.plain(),
            ExprKind::Conditional(cond, yes, no) => {
                let (a, b) =
                    (self.type_of(yes.as_deref().unwrap_or(cond))?.decayed(), self.type_of(no)?.decayed());
                if a.is_integer() && b.is_integer() { Type::common(&a, &b) } else { a }
            }
            ExprKind::Call(function, _) => {
                let ty = self.type_of(function)?;
                let ty = ty.inner().cloned().unwrap_or(ty);
                match &*ty.kind {
                    TypeKind::Function(signature) => signature.result.clone(),
                    _ => return Err(unknown()),
                }
            }
            ExprKind::Index(a, b) => {
                let (a, b) = (self.type_of(a)?.decayed(), self.type_of(b)?.decayed());
                a.inner().or(b.inner()).cloned().ok_or_else(unknown)?
            }
            ExprKind::Member(object, name) => {
                let ty = self.type_of(object)?;
                self.unit.records.member(&ty, name).ok_or_else(unknown)?.1
            }
            ExprKind::Comma(_, b) => self.type_of(b)?,
            ExprKind::Block(_) => return Err(unknown()),
        })
    }
}
