//! Values of expressions while a thread is lowered.

use super::world::World;
use crate::c::types::Type;
use num_traits::ToPrimitive;
use program::{Arith, Expr, Int, RegId};
use std::rc::Rc;

/// A place inside an object: which of its cells is chosen by a key.
#[derive(Clone, Debug)]
pub(super) struct Inside {
    pub object: usize,
    pub key: Expr<RegId>,
    /// The cell for each value of the key; just one if the key is constant.
    pub table: Vec<(i128, usize)>,
    /// The cells of the array it is in, from the first to one behind the last.
    pub within: (usize, usize),
}

impl Inside {
    pub fn at(object: usize, cell: usize) -> Inside {
        Inside { object, key: Expr::from(0), table: vec![(0, cell)], within: (0, usize::MAX) }
    }

    /// The cell, if there is no choice.
    pub fn only(&self) -> Option<usize> {
        match self.table.as_slice() {
            [(_, cell)] => Some(*cell),
            _ => None,
        }
    }

    /// The place some cells further.
    pub fn plus(&self, cells: usize) -> Inside {
        let table = self.table.iter().map(|(key, cell)| (*key, cell + cells)).collect();
        Inside { table, within: (0, usize::MAX), ..self.clone() }
    }
}

/// A value.
#[derive(Clone, Debug)]
pub(super) enum CValue {
    /// A number, or an address that is one.
    Number(Expr<RegId>),
    /// The address of a place inside an object that is known.
    Address(Inside),
    Function(Rc<str>),
    /// A structure, by where it is.
    Object(Box<CPlace>),
    Nothing,
}

impl CValue {
    /// Whether it stays the same whatever happens to registers.
    pub fn is_fixed(&self) -> bool {
        match self {
            CValue::Number(expr) => constant(expr).is_some(),
            CValue::Address(inside) => inside.only().is_some(),
            CValue::Function(_) => true,
            CValue::Object(_) | CValue::Nothing => false,
        }
    }
}

/// A value with its type and the least and greatest number it can be.
#[derive(Clone, Debug)]
pub(super) struct Typed {
    pub value: CValue,
    pub ty: Type,
    pub bounds: (i128, i128),
}

/// What can be assigned to: a place inside a known object, or what an address points to.
#[derive(Clone, Debug)]
pub(super) enum CSpot {
    Inside(Inside),
    At(Expr<RegId>),
}

/// Something that can be loaded or stored, with its type.
#[derive(Clone, Debug)]
pub(super) struct CPlace {
    pub spot: CSpot,
    pub ty: Type,
    /// For messages, and to remember what pointers point to.
    pub token: u32,
}

impl CPlace {
    /// An object, from its first cell on, as something of a type.
    pub fn whole(object: usize, ty: Type, token: u32) -> CPlace {
        CPlace { spot: CSpot::Inside(Inside::at(object, 0)), ty, token }
    }
}

/// The constant that an expression is.
pub(super) fn constant(expr: &Expr<RegId>) -> Option<i128> {
    expr.as_const().and_then(Int::to_i128)
}

pub(super) fn number(value: i128) -> Expr<RegId> {
    Expr::Const(Int::from(value))
}

impl Typed {
    pub fn constant(value: i128, ty: Type) -> Typed {
        Typed { value: CValue::Number(number(value)), ty, bounds: (value, value) }
    }

    pub fn number(expr: Expr<RegId>, ty: Type) -> Typed {
        let all = ty.range().unwrap_or((i128::MIN, i128::MAX));
        let bounds = constant(&expr).map_or(all, |value| (value, value));
        Typed { value: CValue::Number(expr), ty, bounds }
    }

    pub fn bounded(expr: Expr<RegId>, ty: Type, bounds: (i128, i128)) -> Typed {
        let bounds = constant(&expr).map_or(bounds, |value| (value, value));
        Typed { value: CValue::Number(expr), ty, bounds }
    }

    /// A truth value.
    pub fn truth(expr: Expr<RegId>) -> Typed {
        Typed::bounded(expr, Type::int(), (0, 1))
    }

    pub fn nothing() -> Typed {
        Typed { value: CValue::Nothing, ty: Type::void(), bounds: (0, 0) }
    }

    /// A pointer to something, so not 0.
    pub fn pointer(value: CValue, ty: Type) -> Typed {
        Typed { value, ty, bounds: (1, i128::MAX) }
    }

    /// The number it is, if it is a constant one.
    pub fn as_constant(&self) -> Option<i128> {
        match &self.value {
            CValue::Number(expr) => constant(expr),
            _ => None,
        }
    }
}

/// `a op b` with the trivial cases folded.
pub(super) fn combine(op: Arith, a: Expr<RegId>, b: Expr<RegId>) -> Expr<RegId> {
    let zero = |expr: &Expr<RegId>| constant(expr) == Some(0);
    let one = |expr: &Expr<RegId>| constant(expr) == Some(1);
    match op {
        Arith::Add if zero(&a) => b,
        Arith::Add | Arith::Sub if zero(&b) => a,
        Arith::Mul if one(&a) => b,
        Arith::Mul | Arith::Div if one(&b) => a,
        _ => Expr::binary(op, a, b),
    }
}

impl World<'_> {
    /// Whether a value is a constant that every thread understands.
    pub fn is_shareable(&self, value: &CValue) -> bool {
        let own = matches!(value, CValue::Address(inside) if self.objects[inside.object].base.is_none());
        value.is_fixed() && !own
    }
}
