//! Constant expressions over integers, computed as C computes them.

use super::ast::{Binary, CExpr, CExprKind, Unary};
use super::types::{Type, TypeKind};

/// A value and its type.
#[derive(Clone, Debug)]
pub(super) struct CConstant {
    pub value: i128,
    pub ty: Type,
}

impl CConstant {
    /// Another value of the same type, modulo its size.
    pub fn with(&self, value: i128) -> CConstant {
        CConstant { value: wrapped(value, &self.ty), ty: self.ty.clone() }
    }

    /// The same as another type's.
    pub fn converted(&self, ty: &Type) -> CConstant {
        CConstant { value: wrapped(self.value, ty), ty: ty.clone() }
    }
}

/// A value brought into the range of a type, modulo its size.
pub(super) fn wrapped(value: i128, ty: &Type) -> i128 {
    match *ty.kind {
        TypeKind::Bool => i128::from(value != 0),
        TypeKind::Int { bits, signed } => {
            let size = 1i128 << bits;
            let rest = value.rem_euclid(size);
            if signed && rest >= size / 2 { rest - size } else { rest }
        }
        _ => value,
    }
}

/// The value of an expression that is constant.
pub(super) fn fold(expr: &CExpr) -> Option<CConstant> {
    let constant = |value: i128, ty: Type| Some(CConstant { value: wrapped(value, &ty), ty });
    match &expr.kind {
        CExprKind::Int(value, ty) => constant(*value, ty.clone()),
        CExprKind::Cast(ty, inner) if ty.is_integer() => constant(fold(inner)?.value, ty.plain()),
        CExprKind::Unary(op, inner) => {
            let inner = fold(inner)?;
            let ty = inner.ty.promoted();
            match op {
                Unary::Negative => constant(inner.value.checked_neg()?, ty),
                Unary::Plus => constant(inner.value, ty),
                Unary::Complement => constant(!inner.value, ty),
                Unary::Not => constant(i128::from(inner.value == 0), Type::int()),
                Unary::Address | Unary::Deref => None,
            }
        }
        CExprKind::Binary(op, a, b) => binary(*op, &fold(a)?, &fold(b)?),
        CExprKind::Lazy(and, a, b) => {
            let left = fold(a)?.value != 0;
            let value = if left == *and { fold(b)?.value != 0 } else { left };
            constant(i128::from(value), Type::int())
        }
        CExprKind::Conditional(cond, yes, no) => {
            let cond = fold(cond)?;
            let (yes, no) = (yes.as_deref().map_or_else(|| Some(cond.clone()), fold), fold(no));
            let ty = match (&yes, &no) {
                (Some(a), Some(b)) => Type::common(&a.ty, &b.ty),
                _ => Type::int(),
            };
            let chosen = if cond.value != 0 { yes? } else { no? };
            constant(chosen.value, ty)
        }
        _ => None,
    }
}

/// An operation on two constants; `None` where it has no value.
pub(super) fn binary(op: Binary, a: &CConstant, b: &CConstant) -> Option<CConstant> {
    let common = Type::common(&a.ty, &b.ty);
    let (x, y) = (wrapped(a.value, &common), wrapped(b.value, &common));
    let (value, ty) = match op {
        Binary::Add => (x.checked_add(y)?, common),
        Binary::Sub => (x.checked_sub(y)?, common),
        Binary::Mul => (x.checked_mul(y)?, common),
        Binary::Div | Binary::Rem if y == 0 => return None,
        Binary::Div => (x / y, common),
        Binary::Rem => (x % y, common),
        Binary::And => (x & y, common),
        Binary::Or => (x | y, common),
        Binary::Xor => (x ^ y, common),
        Binary::Shl | Binary::Shr => {
            let ty = a.ty.promoted();
            let by = u32::try_from(b.value).ok().filter(|by| *by < 64)?;
            let value = if op == Binary::Shl { a.value.checked_shl(by)? } else { a.value >> by };
            (value, ty)
        }
        Binary::Lt => (i128::from(x < y), Type::int()),
        Binary::Gt => (i128::from(x > y), Type::int()),
        Binary::Le => (i128::from(x <= y), Type::int()),
        Binary::Ge => (i128::from(x >= y), Type::int()),
        Binary::Eq => (i128::from(x == y), Type::int()),
        Binary::Ne => (i128::from(x != y), Type::int()),
    };
    Some(CConstant { value: wrapped(value, &ty), ty })
}
