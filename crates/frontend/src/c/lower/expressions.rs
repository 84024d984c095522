//! Expressions: their steps, and what remains as a value over registers.

use super::graph::At;
use super::places::COrder;
use super::thread::{CLocal, Lowerer, agree};
use super::value::{CPlace, CSpot, CValue, Inside, Typed};
use super::world::{CCell, CLowered};
use crate::c::ast::{Binary, CExpr, CExprKind, CStmt, CStmtKind, Unary};
use crate::c::types::{CMember, Type, TypeKind};
use program::{Cond, Expr as Over, Op, RegId, Relation};
use std::rc::Rc;

impl Lowerer<'_, '_> {
    /// The value of an expression.
    pub fn value(&mut self, expr: &CExpr) -> CLowered<Typed> {
        self.nested(expr.token, |l| l.value_inside(expr))
    }

    /// As [`Lowerer::value`], for something of a type: allocated memory then knows what it is for.
    pub fn value_for(&mut self, expr: &CExpr, ty: &Type) -> CLowered<Typed> {
        let inner = ty.inner().filter(|_| ty.is_pointer()).filter(|inner| !inner.is_void()).cloned();
        let before = self.wanted.clone();
        self.wanted = inner.or(before.clone());
        let value = self.value(expr);
        self.wanted = before;
        value
    }

    /// The value of an expression as a number.
    pub fn number_of(&mut self, expr: &CExpr, token: u32) -> CLowered<Over<RegId>> {
        let value = self.value(expr)?;
        self.as_number(&value.value, token)
    }

    fn value_inside(&mut self, expr: &CExpr) -> CLowered<Typed> {
        let token = expr.token;
        match &expr.kind {
            CExprKind::Int(value, ty) => {
                Ok(Typed::constant(crate::c::constant::wrapped(*value, ty), ty.clone()))
            }
            CExprKind::Float => Err(self.error(token, "floating-point numbers are not read")),
            CExprKind::Text(text) => self.text(text, token),
            CExprKind::Name(name) if self.function_named(name) => {
                let ty = self.world.unit.declared[name].decayed();
                Ok(Typed::pointer(CValue::Function(Rc::clone(name)), ty))
            }
            CExprKind::Name(name) => match self.local(name) {
                Some(CLocal::Same(value)) => Ok(value),
                _ => self.load_from(expr),
            },
            CExprKind::Index(..) | CExprKind::Member(..) | CExprKind::Compound(..) => self.load_from(expr),
            CExprKind::Unary(op, inner) => self.unary(*op, inner, expr),
            CExprKind::Binary(op, a, b) => {
                let (a, b) = self.operands(a, b)?;
                self.binary(*op, a, b, token)
            }
            CExprKind::Lazy(..) => {
                let truth = self.truth_of(expr)?;
                Ok(Typed::truth(truth))
            }
            CExprKind::Assign(op, target, value) => self.assign(*op, target, value, token),
            CExprKind::Step(by, before, target) => self.increment(*by, *before, target, token),
            CExprKind::Conditional(cond, yes, no) => self.conditional(cond, yes.as_deref(), no, token),
            CExprKind::Call(function, arguments) => self.call(function, arguments, token),
            CExprKind::Cast(ty, inner) => {
                let value = self.value_for(inner, ty)?;
                if ty.is_void() { Ok(Typed::nothing()) } else { self.convert(value, ty, token) }
            }
            CExprKind::Comma(a, b) => {
                self.value(a)?;
                self.value(b)
            }
            CExprKind::Block(statements) => self.block_value(statements),
        }
    }

    pub fn function_named(&self, name: &Rc<str>) -> bool {
        self.local(name).is_none()
            && !self.world.globals.contains_key(name)
            && self.world.unit.declared.contains_key(name)
    }

    pub fn local(&self, name: &str) -> Option<CLocal> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name)).cloned()
    }

    fn load_from(&mut self, expr: &CExpr) -> CLowered<Typed> {
        let place = self.place_of(expr)?;
        self.load(&place)
    }

    fn text(&mut self, text: &str, token: u32) -> CLowered<Typed> {
        let object = self.world.text(text, self.span, token)?;
        let ty = Type::integer(8, true).pointer();
        Ok(Typed::pointer(CValue::Address(Inside::at(object, 0)), ty))
    }

    /// Both operands; the left one is kept if the right one may change what it was made of.
    pub fn operands(&mut self, a: &CExpr, b: &CExpr) -> CLowered<(Typed, Typed)> {
        let mut left = self.value(a)?;
        if has_effects(b)
            && let CValue::Number(expr) = &left.value
        {
            left.value = CValue::Number(self.kept(expr.clone())?);
        }
        let right = self.value(b)?;
        Ok((left, right))
    }

    fn unary(&mut self, op: Unary, inner: &CExpr, expr: &CExpr) -> CLowered<Typed> {
        let token = expr.token;
        match op {
            Unary::Address => {
                if let CExprKind::Name(name) = &inner.kind
                    && self.function_named(name)
                {
                    return self.value(inner);
                }
                let place = self.place_of(inner)?;
                Ok(self.address_of(place))
            }
            Unary::Deref => {
                let pointer = self.value(inner)?;
                if let CValue::Function(_) = pointer.value {
                    return Ok(pointer);
                }
                let place = self.pointee(pointer, token)?;
                self.load(&place)
            }
            Unary::Not => {
                let truth = self.truth_of(expr)?;
                Ok(Typed::truth(truth))
            }
            Unary::Plus => {
                let value = self.value(inner)?;
                let ty = value.ty.promoted();
                self.convert(value, &ty, token)
            }
            Unary::Negative | Unary::Complement => {
                let value = self.value(inner)?;
                self.negated(value, op == Unary::Complement, token)
            }
        }
    }

    pub fn address_of(&mut self, place: CPlace) -> Typed {
        let ty = place.ty.pointer();
        let value = match place.spot {
            CSpot::Inside(inside) => {
                self.world.objects[inside.object].pointed = true;
                CValue::Address(inside)
            }
            CSpot::At(address) => CValue::Number(address),
        };
        Typed { value, bounds: (0, (1i128 << 64) - 1), ty }
    }

    /// The place that a pointer points to.
    pub fn pointee(&mut self, pointer: Typed, token: u32) -> CLowered<CPlace> {
        let Some(ty) = pointer.ty.inner().cloned() else {
            return Err(self.error(token, "this is no pointer"));
        };
        let spot = match pointer.value {
            CValue::Address(inside) => {
                self.refine(&inside, &ty, token)?;
                CSpot::Inside(inside)
            }
            CValue::Number(address) => CSpot::At(address),
            _ => return Err(self.error(token, "this is no pointer to an object")),
        };
        Ok(CPlace { spot, ty, token })
    }

    /// Whether two scalars take as many bytes.
    pub fn same_size(&self, a: &Type, b: &Type) -> bool {
        let records = &self.world.unit.records;
        records.size(a).map(|(size, _)| size) == records.size(b).map(|(size, _)| size)
    }

    /// The place that an expression names.
    pub fn place_of(&mut self, expr: &CExpr) -> CLowered<CPlace> {
        self.nested(expr.token, |l| l.place_inside(expr))
    }

    fn place_inside(&mut self, expr: &CExpr) -> CLowered<CPlace> {
        let token = expr.token;
        match &expr.kind {
            CExprKind::Name(name) => self.named_place(name, token),
            CExprKind::Unary(Unary::Deref, inner) => {
                let pointer = self.value(inner)?;
                self.pointee(pointer, token)
            }
            CExprKind::Index(a, b) => {
                let (a, b) = self.operands(a, b)?;
                let (base, index) = if a.ty.inner().is_some() { (a, b) } else { (b, a) };
                self.element(&base, &index, token)
            }
            CExprKind::Member(object, name) => {
                let place = match &object.kind {
                    CExprKind::Call(..) | CExprKind::Assign(..) | CExprKind::Conditional(..) => {
                        match self.value(object)?.value {
                            CValue::Object(place) => *place,
                            _ => return Err(self.error(token, "this is no structure")),
                        }
                    }
                    _ => self.place_of(object)?,
                };
                self.member(place, name, token)
            }
            CExprKind::Compound(ty, init) => {
                let object = self.local_object("literal", ty, token)?;
                self.initialise(object, ty, init, token)?;
                Ok(CPlace::whole(object, ty.clone(), token))
            }
            CExprKind::Cast(ty, inner) => {
                let place = self.place_of(inner)?;
                Ok(CPlace { ty: ty.clone(), ..place })
            }
            CExprKind::Comma(a, b) => {
                self.value(a)?;
                self.place_of(b)
            }
            _ => Err(self.error(token, "this is no place that holds a value")),
        }
    }

    fn named_place(&mut self, name: &Rc<str>, token: u32) -> CLowered<CPlace> {
        match self.local(name) {
            Some(CLocal::Object(object, ty)) => return Ok(CPlace::whole(object, ty, token)),
            Some(CLocal::Same(value)) => {
                // Its address is not taken and nothing is assigned to it, so it is only read.
                let object = self.local_object(name, &value.ty, token)?;
                let place = CPlace::whole(object, value.ty.clone(), token);
                let expr = self.as_number(&value.value, token)?;
                self.store(&place, &expr, COrder::Plain)?;
                return Ok(place);
            }
            None => {}
        }
        let Some(object) = self.world.globals.get(name).copied() else {
            return Err(self.error(token, format!("`{name}` is not declared")));
        };
        let (object, ty) = self.global_place(object, name)?;
        Ok(CPlace::whole(object, ty, token))
    }

    fn member(&mut self, place: CPlace, name: &Rc<str>, token: u32) -> CLowered<CPlace> {
        let Some(CMember { cell, byte, ty, .. }) = self.world.unit.records.member(&place.ty, name) else {
            return Err(self.error(token, format!("there is no member `{name}`")));
        };
        if let CSpot::At(_) = place.spot {
            self.check_union(&place.ty, name, token)?;
        }
        let ty = Type { volatile: ty.volatile || place.ty.volatile, ..ty };
        self.part(&CPlace { token, ..place }, cell as usize, byte, ty)
    }

    /// What a union that is not known looks like is not known either, so it may only be used by one member.
    fn check_union(&mut self, ty: &Type, name: &Rc<str>, token: u32) -> CLowered<()> {
        let TypeKind::Record(id) = *ty.kind else { return Ok(()) };
        if !self.world.unit.records.is_union(ty) {
            return Ok(());
        }
        let first = self.world.union_members.entry(id).or_insert_with(|| Rc::clone(name));
        if first == name {
            return Ok(());
        }
        let message = format!("a union that is used as `{first}` and as `{name}` is not read");
        Err(self.error(token, message))
    }

    fn assign(&mut self, op: Option<Binary>, target: &CExpr, value: &CExpr, token: u32) -> CLowered<Typed> {
        let place = self.place_of(target)?;
        let Some(op) = op else {
            let value = self.value_for(value, &place.ty)?;
            return self.assign_value(&place, value, token);
        };
        if place.ty.atomic && self.is_memory(&place) {
            let by = self.value(value)?;
            return self.atomic_update(&place, op, by, false, token);
        }
        let old = self.load(&place)?;
        let old = if has_effects(value) { self.keep_typed(old)? } else { old };
        let by = self.value(value)?;
        let result = self.binary(op, old, by, token)?;
        self.assign_value(&place, result, token)
    }

    pub fn keep_typed(&mut self, value: Typed) -> CLowered<Typed> {
        match &value.value {
            CValue::Number(expr) => {
                let kept = self.kept(expr.clone())?;
                Ok(Typed { value: CValue::Number(kept), ..value })
            }
            _ => Ok(value),
        }
    }

    /// Assigns a value and gives it back as the place's type.
    pub fn assign_value(&mut self, place: &CPlace, value: Typed, token: u32) -> CLowered<Typed> {
        if let CValue::Object(from) = &value.value {
            let alike = matches!((&*from.ty.kind, &*place.ty.kind), (TypeKind::Record(a), TypeKind::Record(b)) if a == b);
            return match alike {
                true => self.copy(place, &from.clone(), token),
                false => Err(self.error(token, "a structure cannot be used as this type")),
            };
        }
        let value = self.convert(value, &place.ty, token)?;
        let order = if place.ty.atomic { COrder::SeqCst } else { COrder::Plain };
        let number = self.as_number(&value.value, token)?;
        let target = self.target(place)?;
        self.note_plain(&target, &place.ty);
        self.store_to(&target, &number, order, token)?;
        // What was stored may be made of the register that has just changed.
        match (target.only(), &value.value) {
            (Some(CCell::Register(register)), CValue::Number(_)) => {
                Ok(Typed { value: CValue::Number(self.read_register(register)), ..value })
            }
            _ => Ok(value),
        }
    }

    /// Copies a structure, cell by cell.
    fn copy(&mut self, to: &CPlace, from: &CPlace, token: u32) -> CLowered<Typed> {
        if from.ty.atomic || to.ty.atomic {
            let error = self.error(token, "an atomic structure as a whole is not read");
            return Err(Box::new(error.hint("a number of the same size, or a lock, can be used instead")));
        }
        let parts = self.scalar_parts(from, &from.ty)?.into_iter().zip(self.scalar_parts(to, &from.ty)?);
        for (from, to) in parts {
            let ty = from.ty.clone();
            let value = self.load(&from)?;
            let value = self.as_number(&value.value, token)?;
            let target = self.target(&to)?;
            self.note_plain(&target, &ty);
            self.store_to(&target, &value, COrder::Plain, token)?;
        }
        Ok(Typed { value: CValue::Object(Box::new(to.clone())), ty: to.ty.plain(), bounds: (0, 0) })
    }

    pub fn is_memory(&self, place: &CPlace) -> bool {
        match &place.spot {
            CSpot::Inside(inside) => self.world.objects[inside.object].base.is_some(),
            CSpot::At(_) => true,
        }
    }

    fn increment(&mut self, by: i8, before: bool, target: &CExpr, token: u32) -> CLowered<Typed> {
        let place = self.place_of(target)?;
        let one = Typed::constant(1, Type::int());
        let op = if by > 0 { Binary::Add } else { Binary::Sub };
        if place.ty.atomic && self.is_memory(&place) {
            return self.atomic_update(&place, op, one, !before, token);
        }
        let old = self.load(&place)?;
        // The variable's register changes now.
        let old = if before || self.is_memory(&place) { old } else { self.keep_typed(old)? };
        let new = self.binary(op, old.clone(), one, token)?;
        let new = self.assign_value(&place, new, token)?;
        Ok(if before { new } else { old })
    }

    fn conditional(&mut self, cond: &CExpr, yes: Option<&CExpr>, no: &CExpr, token: u32) -> CLowered<Typed> {
        let Some(yes) = yes else {
            let value = self.value(cond)?;
            let value = self.keep_typed(value)?;
            let number = self.as_number(&value.value, token)?;
            let (then, otherwise) = (self.place(), self.place());
            let decided = self.fork(Cond::compare(Relation::Ne, number, 0), then, otherwise);
            return self.choose(decided, then, otherwise, |_| Ok(value), |l| l.value(no), token);
        };
        let (then, otherwise) = (self.place(), self.place());
        let decided = self.branch(cond, then, otherwise)?;
        self.choose(decided, then, otherwise, |l| l.value(yes), |l| l.value(no), token)
    }

    fn choose(
        &mut self,
        decided: Option<bool>,
        then: At,
        otherwise: At,
        yes: impl FnOnce(&mut Self) -> CLowered<Typed>,
        no: impl FnOnce(&mut Self) -> CLowered<Typed>,
        token: u32,
    ) -> CLowered<Typed> {
        if let Some(decided) = decided {
            self.at = if decided { then } else { otherwise };
            return if decided { yes(self) } else { no(self) };
        }
        let result = self.temporary()?;
        let known = self.known.clone();
        self.at = then;
        let a = yes(self)?;
        let (a_end, a_known) = (self.at, std::mem::replace(&mut self.known, known));
        self.at = otherwise;
        let b = no(self)?;
        if a.ty.is_void() || b.ty.is_void() {
            self.graph.merge(a_end, self.at, self.span);
            self.known = agree(&a_known, &self.known);
            return Ok(Typed::nothing());
        }
        if let (CValue::Object(_), _) | (_, CValue::Object(_)) = (&a.value, &b.value) {
            return Err(self.error(token, "a structure chosen by a condition is not read"));
        }
        let ty = match (a.ty.is_integer(), b.ty.is_integer()) {
            (true, true) => Type::common(&a.ty, &b.ty),
            (false, _) => a.ty.clone(),
            (_, false) => b.ty.clone(),
        };
        let b = self.convert(b, &ty, token)?;
        let number_b = self.as_number(&b.value, token)?;
        self.step(Op::Assign(result, number_b));
        let (b_end, b_known) = (self.at, std::mem::replace(&mut self.known, a_known));
        self.at = a_end;
        let a = self.convert(a, &ty, token)?;
        let number_a = self.as_number(&a.value, token)?;
        self.step(Op::Assign(result, number_a));
        self.graph.merge(self.at, b_end, self.span);
        self.known = agree(&self.known, &b_known);
        let bounds = (a.bounds.0.min(b.bounds.0), a.bounds.1.max(b.bounds.1));
        Ok(Typed::bounded(Over::Leaf(result), ty, bounds))
    }

    /// `({ … })`: the value of the last statement.
    fn block_value(&mut self, statements: &[CStmt]) -> CLowered<Typed> {
        self.scopes.push(Default::default());
        let span = self.span;
        let mut result = Typed::nothing();
        for (at, statement) in statements.iter().enumerate() {
            match &statement.kind {
                CStmtKind::Expr(expr) if at + 1 == statements.len() => {
                    self.span = expr.span;
                    result = self.value(expr)?;
                    result = self.keep_typed(result)?;
                }
                _ => self.statement(statement)?,
            }
        }
        self.span = span;
        self.leave_scope();
        Ok(result)
    }
}

/// Whether evaluating an expression may change something.
pub(super) fn has_effects(expr: &CExpr) -> bool {
    let (mut found, mut stack) = (false, vec![expr]);
    while let Some(expr) = stack.pop() {
        found |= matches!(
            expr.kind,
            CExprKind::Assign(..) | CExprKind::Step(..) | CExprKind::Call(..) | CExprKind::Block(_)
        );
        expr.for_each_part(&mut |part| stack.push(part), &mut |_| {});
    }
    found
}
