//! Integers of C on mathematical ones.
//!
//! Every operation is computed exactly; then its result must fit into its type. Where its operands'
//! types already show that it does, nothing is added; else a check is put there, which goes if the
//! analysis of all threads shows that it always passes. What remains is an assumption, a property, or
//! wraps around, as the options say. An operation without sign that never fits wraps around in any case:
//! that is what it is there for, and to assume the contrary would leave nothing of the program.
//!
//! A conversion to a narrower type takes the lowest bits. That is no overflow but how texts take numbers apart,
//! so nothing is assumed of it. Engines compute with 64 bits, so conversions between types of that size, which
//! only differ where they need one bit more, are checked like operations.

use super::graph::{CSite, CStep, Fits};
use super::thread::Lowerer;
use super::value::{CValue, Inside, Typed, combine, constant, number};
use super::world::CLowered;
use crate::c::ast::Binary;
use crate::c::constant::wrapped;
use crate::c::types::{Type, TypeKind};
use program::{Arith, Cond, Domain, Expr, FailureKind, Int, Op, RegId, Relation};

impl Lowerer<'_, '_> {
    /// The result of an operation, which must fit into its type.
    fn fitted(&mut self, expr: Expr<RegId>, ty: &Type, bounds: (i128, i128), token: u32) -> Typed {
        self.fitted_at(expr, ty, bounds, (token, false))
    }

    fn fitted_at(&mut self, expr: Expr<RegId>, ty: &Type, bounds: (i128, i128), site: CSite) -> Typed {
        let Some((low, high)) = ty.range() else { return Typed::number(expr, ty.clone()) };
        if let Some(value) = constant(&expr) {
            return Typed::constant(wrapped(value, ty), ty.clone());
        }
        if low <= bounds.0 && bounds.1 <= high {
            return Typed::bounded(expr, ty.clone(), bounds);
        }
        if self.world.facts.unfit.contains(&site) {
            return Typed::bounded(wrap(expr, low, high), ty.clone(), (low, high));
        }
        self.step_raw(CStep::Fits(Fits { value: expr.clone(), low, high, site }));
        Typed::bounded(expr, ty.clone(), (bounds.0.max(low), bounds.1.min(high)))
    }

    /// A value as another type's.
    pub fn convert(&mut self, value: Typed, ty: &Type, token: u32) -> CLowered<Typed> {
        let to = ty.plain();
        match (&*to.kind, &value.value) {
            (TypeKind::Void, _) => Ok(Typed::nothing()),
            (TypeKind::Float(_), _) => Err(self.error(token, "floating-point numbers are not read")),
            (TypeKind::Record(_), CValue::Object(_)) => Ok(Typed { ty: to, ..value }),
            (_, CValue::Object(_)) => Err(self.error(token, "a structure cannot be used as this type")),
            (_, CValue::Nothing) => Err(self.error(token, "this has no value")),
            (TypeKind::Bool, CValue::Address(_) | CValue::Function(_)) => Ok(Typed::constant(1, to)),
            (TypeKind::Bool, CValue::Number(_)) if value.bounds.0 >= 0 && value.bounds.1 <= 1 => {
                Ok(Typed { ty: to, ..value })
            }
            (TypeKind::Bool, CValue::Number(expr)) => {
                let truth = self.truth(Cond::compare(Relation::Ne, expr.clone(), 0))?;
                Ok(Typed::bounded(truth, to, (0, 1)))
            }
            (TypeKind::Pointer(_), CValue::Number(expr)) => {
                // Through integers of another size, pointers and numbers keep their value.
                let expr = match constant(expr) {
                    Some(known) if known < 0 => number(known + (1i128 << 64)),
                    _ => expr.clone(),
                };
                Ok(Typed::bounded(expr, to, value.bounds))
            }
            (_, CValue::Address(_) | CValue::Function(_)) => Ok(Typed { ty: to, ..value }),
            (_, CValue::Number(expr)) => {
                let expr = expr.clone();
                if self.chosen_anew(&value, &to) {
                    return Ok(Typed::number(expr, to));
                }
                let site = (token, to.bits() < 64);
                Ok(self.fitted_at(expr, &to, value.bounds, site))
            }
        }
    }

    /// Any number of a type is any number of another with as many values, so an input that was just chosen, and
    /// that nothing else is made of yet, is chosen from that one.
    fn chosen_anew(&mut self, value: &Typed, to: &Type) -> bool {
        let (CValue::Number(Expr::Leaf(chosen)), Some((low, high))) = (&value.value, to.range()) else {
            return false;
        };
        let Some(from) = value.ty.range().filter(|from| from.1 - from.0 == high - low) else { return false };
        let range = |(low, high): (i128, i128)| Domain::Range(Int::from(low), Int::from(high));
        match self.graph.arrows.last_mut().filter(|arrow| arrow.to == self.at).map(|arrow| &mut arrow.step) {
            Some(CStep::Op(Op::Havoc(register, domain))) if register == chosen && *domain == range(from) => {
                *domain = range((low, high));
                true
            }
            _ => false,
        }
    }

    /// 1 or 0 by a condition.
    pub fn truth(&mut self, cond: Cond<RegId>) -> CLowered<Expr<RegId>> {
        if let Cond::Const(value) = cond {
            return Ok(number(i128::from(value)));
        }
        let (yes, no) = (self.place(), self.place());
        self.fork(cond, yes, no);
        self.truth_at(yes, no)
    }

    /// An operation on two values that are evaluated already.
    pub fn binary(&mut self, op: Binary, a: Typed, b: Typed, token: u32) -> CLowered<Typed> {
        if let Some(relation) = relation(op) {
            let cond = self.comparison(relation, a, b, token)?;
            let truth = self.truth(cond)?;
            return Ok(Typed::truth(truth));
        }
        if a.ty.is_pointer() || b.ty.is_pointer() {
            return self.pointer_arithmetic(op, a, b, token);
        }
        if matches!(op, Binary::Shl | Binary::Shr) {
            return self.shift(op, a, b, token);
        }
        let ty = Type::common(&a.ty, &b.ty);
        let Some(arith) = arith(op).filter(|_| ty.is_integer()) else {
            return Err(self.error(token, "this operation needs integers"));
        };
        let (a, b) = (self.convert(a, &ty, token)?, self.convert(b, &ty, token)?);
        let (x, y) = (self.as_number(&a.value, token)?, self.as_number(&b.value, token)?);
        if matches!(arith, Arith::Div | Arith::Rem) && constant(&y).is_none_or(|y| y == 0) {
            self.claim(Cond::compare(Relation::Ne, y.clone(), 0), FailureKind::Division);
            if constant(&y) == Some(0) {
                return Ok(Typed::constant(0, ty));
            }
        }
        let bounds = result_bounds(arith, a.bounds, b.bounds, &ty);
        let result = upper_bits(arith, &x, &y, &ty).unwrap_or_else(|| combine(arith, x, y));
        Ok(self.fitted(result, &ty, bounds, token))
    }

    /// The condition that a comparison is.
    pub fn comparison(
        &mut self,
        relation: Relation,
        a: Typed,
        b: Typed,
        token: u32,
    ) -> CLowered<Cond<RegId>> {
        let pointers = a.ty.is_pointer() || b.ty.is_pointer();
        if let (true, Some(equal)) = (pointers, same_place(&a.value, &b.value)) {
            match relation {
                _ if equal => return Ok(Cond::Const(relation.holds(&0, &0))),
                Relation::Eq => return Ok(Cond::FALSE),
                Relation::Ne => return Ok(Cond::TRUE),
                _ => {}
            }
        }
        let (a, b) = if pointers {
            (a, b)
        } else {
            let ty = Type::common(&a.ty, &b.ty);
            // Only where a negative number would become a large one does the type matter.
            let negative = a.bounds.0 < 0 || b.bounds.0 < 0;
            match *ty.kind {
                TypeKind::Int { signed: false, .. } if negative => {
                    (self.convert(a, &ty, token)?, self.convert(b, &ty, token)?)
                }
                TypeKind::Int { .. } => (a, b),
                _ => return Err(self.error(token, "only integers and pointers can be compared here")),
            }
        };
        let (x, y) = (self.as_number(&a.value, token)?, self.as_number(&b.value, token)?);
        if a.bounds.1 < b.bounds.0 || b.bounds.1 < a.bounds.0 {
            return Ok(Cond::Const(relation.holds(&a.bounds.0, &b.bounds.0)));
        }
        Ok(Cond::compare(relation, x, y))
    }

    fn pointer_arithmetic(&mut self, op: Binary, a: Typed, b: Typed, token: u32) -> CLowered<Typed> {
        match (op, a.ty.is_pointer(), b.ty.is_pointer()) {
            (Binary::Add, false, true) => self.pointer_arithmetic(op, b, a, token),
            (Binary::Add | Binary::Sub, true, false) => {
                let mut by = b;
                if op == Binary::Sub {
                    let expr = self.as_number(&by.value, token)?.negative();
                    by = Typed::number(expr, Type::integer(64, true));
                }
                self.moved(&a, &by, token)
            }
            (Binary::Sub, true, true) => {
                let known = self.pointed_cell(&b.value).or_else(|| self.pointed_cell(&a.value));
                let size = a.ty.inner().map_or(Ok(1), |ty| self.stride(known, ty, token))?;
                let (x, y) = (self.as_number(&a.value, token)?, self.as_number(&b.value, token)?);
                let cells = combine(Arith::Sub, x, y);
                let count = combine(Arith::Div, cells, number(size.max(1) as i128));
                Ok(Typed::number(count, Type::integer(64, true)))
            }
            (Binary::And | Binary::Or | Binary::Xor, ..) => {
                Err(self.error(token, "bits of pointers are not read"))
            }
            _ => Err(self.error(token, "this operation on pointers is not read")),
        }
    }

    /// A pointer some elements further; inside a known object if that is where it certainly stays.
    fn moved(&mut self, pointer: &Typed, by: &Typed, token: u32) -> CLowered<Typed> {
        let ty = pointer.ty.clone();
        let known = self.pointed_cell(&pointer.value);
        let stride = ty.inner().map_or(Ok(1), |inner| self.stride(known, inner, token))?;
        let by = self.as_number(&by.value, token)?;
        let count = constant(&by);
        if let Some(moved) = self.bytes_further(pointer, known, &by, token)? {
            return Ok(Typed { value: moved, ..pointer.clone() });
        }
        if let (Some((object, start)), Some(inner)) = (known, ty.inner()) {
            let steps = count.unwrap_or(1);
            let to = start as i128 + steps * stride as i128;
            if let Ok(to) = usize::try_from(to) {
                self.world.check_stride(object, inner, (start, to), steps, token)?;
            }
        }
        if let (CValue::Address(inside), Some(count)) = (&pointer.value, count)
            && let Some(start) = inside.only()
        {
            let object = &self.world.objects[inside.object];
            let high = inside.within.1.min(object.cells.len());
            let to = start as i128 + count * stride as i128;
            if let Some(to) = usize::try_from(to).ok().filter(|to| inside.within.0 <= *to && *to < high) {
                let table = vec![(0, to)];
                let moved = Inside { table, key: number(0), ..inside.clone() };
                return Ok(Typed { value: CValue::Address(moved), ..pointer.clone() });
            }
        }
        let address = self.as_number(&pointer.value, token)?;
        let offset = combine(Arith::Mul, by, number(stride as i128));
        Ok(Typed::number(combine(Arith::Add, address, offset), ty))
    }

    fn shift(&mut self, op: Binary, a: Typed, b: Typed, token: u32) -> CLowered<Typed> {
        let ty = a.ty.promoted();
        let bits = match *ty.kind {
            TypeKind::Int { bits, .. } => i128::from(bits),
            _ => return Err(self.error(token, "only integers can be shifted")),
        };
        let a = self.convert(a, &ty, token)?;
        let (x, y) = (self.as_number(&a.value, token)?, self.as_number(&b.value, token)?);
        if let Some(by) = constant(&y) {
            if !(0..bits).contains(&by) {
                self.fail(FailureKind::Error(format!("a shift by {by} places has no meaning")));
                return Ok(Typed::constant(0, ty));
            }
            return Ok(self.shifted_by(op, x, a.bounds, by, &ty, token));
        }
        let (next, register) = (self.place(), self.temporary()?);
        let (x, y) = (self.kept(x)?, self.kept(y)?);
        let from = self.at;
        for by in 0..bits {
            self.way_if(from, &y, by);
            let result = self.shifted_by(op, x.clone(), a.bounds, by, &ty, token);
            let result = self.as_number(&result.value, token)?;
            self.arrow(CStep::Op(Op::Assign(register, result)), next);
        }
        self.at = from;
        let bad = self.mistake("a shift by this many places has no meaning");
        let outside = Cond::or([
            Cond::compare(Relation::Lt, y.clone(), 0),
            Cond::compare(Relation::Ge, y, number(bits)),
        ]);
        self.arrow(CStep::Op(Op::Assume(outside)), bad);
        self.at = next;
        Ok(Typed::number(Expr::Leaf(register), ty))
    }

    fn shifted_by(
        &mut self,
        op: Binary,
        x: Expr<RegId>,
        bounds: (i128, i128),
        by: i128,
        ty: &Type,
        token: u32,
    ) -> Typed {
        let power = 1i128 << by;
        if op == Binary::Shl {
            let product = combine(Arith::Mul, x, number(power));
            let bounds = (bounds.0.saturating_mul(power), bounds.1.saturating_mul(power));
            return self.fitted(product, ty, bounds, token);
        }
        // Division truncates; a shift goes down, also for negative numbers.
        let low = if bounds.0 < 0 {
            let rest = Expr::binary(Arith::And, x.clone(), number(power - 1));
            combine(Arith::Sub, x, rest)
        } else {
            x
        };
        Typed::bounded(combine(Arith::Div, low, number(power)), ty.clone(), (bounds.0 >> by, bounds.1 >> by))
    }

    /// `-a` and `~a`.
    pub fn negated(&mut self, a: Typed, complement: bool, token: u32) -> CLowered<Typed> {
        let ty = a.ty.promoted();
        let a = self.convert(a, &ty, token)?;
        let x = self.as_number(&a.value, token)?;
        let (low, high) = a.bounds;
        match (&*ty.kind, complement) {
            (TypeKind::Int { .. }, true) => {
                let all = all_bits(&ty);
                Ok(Typed::bounded(combine(Arith::Sub, number(all), x), ty, (all - high, all - low)))
            }
            (TypeKind::Int { .. }, false) => {
                let bounds = (high.saturating_neg(), low.saturating_neg());
                Ok(self.fitted(combine(Arith::Sub, number(0), x), &ty, bounds, token))
            }
            _ => Err(self.error(token, "this operation needs an integer")),
        }
    }
}

/// `x & mask` of 64-bit numbers without a sign, where the mask is beyond what others compute with
/// quickly: what is left when the other bits are taken away.
fn upper_bits(op: Arith, a: &Expr<RegId>, b: &Expr<RegId>, ty: &Type) -> Option<Expr<RegId>> {
    let (_, most) = ty.range().filter(|(low, _)| op == Arith::And && *low == 0)?;
    let (value, mask) = match (constant(a), constant(b)) {
        (None, Some(mask)) => (a, mask),
        (Some(mask), None) => (b, mask),
        _ => return None,
    };
    let others = Expr::binary(Arith::And, value.clone(), number(most - mask));
    (mask > i128::from(i64::MAX)).then(|| combine(Arith::Sub, value.clone(), others))
}

/// The number of a type that has all its bits set: what a number and its complement add up to.
pub(super) fn all_bits(ty: &Type) -> i128 {
    match *ty.kind {
        TypeKind::Int { bits, signed: false } => (1i128 << bits) - 1,
        _ => -1,
    }
}

/// A number brought into a range modulo its size.
pub(super) fn wrap(value: Expr<RegId>, low: i128, high: i128) -> Expr<RegId> {
    let shifted = combine(Arith::Sub, value, number(low));
    let rest = Expr::binary(Arith::And, shifted, number(high - low));
    combine(Arith::Add, rest, number(low))
}

/// What an operator computes, if it is neither a shift nor a comparison.
pub(super) fn arith(op: Binary) -> Option<Arith> {
    Some(match op {
        Binary::Add => Arith::Add,
        Binary::Sub => Arith::Sub,
        Binary::Mul => Arith::Mul,
        Binary::Div => Arith::Div,
        Binary::Rem => Arith::Rem,
        Binary::And => Arith::And,
        Binary::Or => Arith::Or,
        Binary::Xor => Arith::Xor,
        _ => return None,
    })
}

/// The relation that an operator is.
pub(super) fn relation(op: Binary) -> Option<Relation> {
    Some(match op {
        Binary::Lt => Relation::Lt,
        Binary::Gt => Relation::Gt,
        Binary::Le => Relation::Le,
        Binary::Ge => Relation::Ge,
        Binary::Eq => Relation::Eq,
        Binary::Ne => Relation::Ne,
        _ => return None,
    })
}

/// Whether two pointers are equal, if that is clear.
fn same_place(a: &CValue, b: &CValue) -> Option<bool> {
    match (a, b) {
        (CValue::Address(a), CValue::Address(b)) => match (a.only(), b.only()) {
            (Some(x), Some(y)) => Some(a.object == b.object && x == y),
            _ if a.object != b.object => Some(false),
            _ => None,
        },
        (CValue::Function(a), CValue::Function(b)) => Some(a == b),
        (CValue::Address(_) | CValue::Function(_), CValue::Number(expr))
        | (CValue::Number(expr), CValue::Address(_) | CValue::Function(_)) => {
            (constant(expr) == Some(0)).then_some(false)
        }
        _ => None,
    }
}

/// Bounds of a result, from those of the operands.
fn result_bounds(op: Arith, a: (i128, i128), b: (i128, i128), ty: &Type) -> (i128, i128) {
    let corners = |f: fn(i128, i128) -> i128| {
        let all = [f(a.0, b.0), f(a.0, b.1), f(a.1, b.0), f(a.1, b.1)];
        (all.into_iter().min().unwrap_or(0), all.into_iter().max().unwrap_or(0))
    };
    match op {
        Arith::Add => (a.0.saturating_add(b.0), a.1.saturating_add(b.1)),
        Arith::Sub => (a.0.saturating_sub(b.1), a.1.saturating_sub(b.0)),
        Arith::Mul => corners(i128::saturating_mul),
        Arith::Div => {
            let most = a.0.saturating_abs().max(a.1.saturating_abs());
            // Only the least number divided by -1 leaves the type.
            let least = if b.0 <= -1 && b.1 >= -1 { most } else { most.min(a.1.max(a.0.saturating_neg())) };
            if a.0 >= 0 && b.0 >= 0 { (0, a.1) } else { (-most, least) }
        }
        Arith::Rem if b.0 > 0 => (if a.0 < 0 { 1 - b.1 } else { 0 }, (b.1 - 1).min(a.1.max(0))),
        Arith::And if b.0 >= 0 => (0, if a.0 >= 0 { a.1.min(b.1) } else { b.1 }),
        Arith::And if a.0 >= 0 => (0, a.1),
        // Bits of numbers in a type are a number in that type.
        _ => ty.range().unwrap_or((i128::MIN, i128::MAX)),
    }
}
