//! Initial values: lists in braces as values of cells, and what globals start with.

use super::value::{CValue, Inside, Typed, constant};
use super::world::{CCell, CLowered, World};
use crate::c::ast::{Binary, CExpr, CExprKind, CInit, Designator, Unary};
use crate::c::constant::{fold, wrapped};
use crate::c::literals;
use crate::c::types::{Type, TypeKind};
use program::Span;

/// A scalar of an object, or a structure in it, and the value that it is given.
pub(super) struct CGiven<'t> {
    pub part: CPart,
    pub value: CGivenValue<'t>,
}

pub(super) enum CGivenValue<'t> {
    Expr(&'t CExpr),
    Number(i128),
}

/// A part of an object: its first cell, its first byte if that is known, and its type.
#[derive(Clone)]
pub(super) struct CPart {
    pub cell: usize,
    pub byte: Option<u64>,
    pub ty: Type,
}

impl CPart {
    pub fn whole(ty: &Type) -> CPart {
        CPart { cell: 0, byte: Some(0), ty: ty.clone() }
    }

    fn within(&self, cells: u64, bytes: Option<u64>, ty: Type) -> CPart {
        let byte = self.byte.zip(bytes).map(|(start, by)| start + by);
        CPart { cell: self.cell + cells as usize, byte, ty }
    }
}

/// The scalars that an initial value gives something, later ones win.
pub(super) fn flatten<'t>(
    world: &World<'_>,
    part: &CPart,
    init: &'t CInit,
    token: u32,
    out: &mut Vec<CGiven<'t>>,
) -> CLowered<()> {
    match init {
        CInit::Value(CExpr { kind: CExprKind::Text(text), .. })
            if matches!(*part.ty.kind, TypeKind::Array(..)) =>
        {
            let characters = literals::string(text).unwrap_or_default();
            for (part, c) in parts(world, part).into_iter().zip(characters) {
                out.push(CGiven { part, value: CGivenValue::Number(i128::from(c as u8 as i8)) });
            }
            Ok(())
        }
        CInit::Whole(_, CExpr { kind: CExprKind::Compound(_, init), .. }) => {
            flatten(world, part, init, token, out)
        }
        CInit::Value(expr) | CInit::Whole(_, expr) => {
            out.push(CGiven { part: part.clone(), value: CGivenValue::Expr(expr) });
            Ok(())
        }
        CInit::List(list) => {
            if part.ty.is_scalar() {
                return match list.first() {
                    Some((_, inner)) => flatten(world, part, inner, token, out),
                    None => Ok(()),
                };
            }
            let mut cursor = 0;
            fill(world, part, (list, true), &mut cursor, token, out)
        }
    }
}

const NO_PART: &str = "this names no part of the object";

/// Gives the parts of an array or structure what a list has for them; braces may be left out. Names in a list
/// are about what the list is for: its `own` parts.
fn fill<'t>(
    world: &World<'_>,
    whole: &CPart,
    (list, own): (&'t [(Vec<Designator>, CInit)], bool),
    cursor: &mut usize,
    token: u32,
    out: &mut Vec<CGiven<'t>>,
) -> CLowered<()> {
    let parts = parts(world, whole);
    // Only the first member of a union can be left without a name.
    let unnamed = if world.unit.records.is_union(&whole.ty) { 1 } else { parts.len() };
    let mut at = 0;
    while let Some((designators, init)) = list.get(*cursor) {
        if let Some(first) = designators.first() {
            if !own {
                return Ok(());
            }
            let range = designated(&parts, world, &whole.ty, first);
            let (_, high) = range.ok_or_else(|| world.error(token, NO_PART))?;
            designate(world, whole, designators, init, token, out)?;
            at = high + 1;
            *cursor += 1;
            continue;
        }
        let Some(inner) = parts.get(at).filter(|_| at < unnamed) else { return Ok(()) };
        let braced = matches!(init, CInit::List(_));
        let text = matches!(init, CInit::Value(value) if matches!(value.kind, CExprKind::Text(_)));
        let whole = matches!((init, &*inner.ty.kind), (CInit::Whole(a, _), TypeKind::Record(b)) if a == b);
        if braced || whole || inner.ty.is_scalar() || text && matches!(*inner.ty.kind, TypeKind::Array(..)) {
            flatten(world, inner, init, token, out)?;
            *cursor += 1;
        } else {
            let before = *cursor;
            fill(world, inner, (list, false), cursor, token, out)?;
            if *cursor == before {
                return Err(world.error(token, "this list of initial values is not read"));
            }
        }
        at += 1;
    }
    Ok(())
}

/// Gives a part, or a part of a part, that is named a value.
fn designate<'t>(
    world: &World<'_>,
    whole: &CPart,
    designators: &[Designator],
    init: &'t CInit,
    token: u32,
    out: &mut Vec<CGiven<'t>>,
) -> CLowered<()> {
    let Some((first, rest)) = designators.split_first() else {
        return flatten(world, whole, init, token, out);
    };
    let parts = parts(world, whole);
    let no_part = || world.error(token, NO_PART);
    let (low, high) = designated(&parts, world, &whole.ty, first).ok_or_else(no_part)?;
    for part in parts.get(low..=high).ok_or_else(no_part)? {
        designate(world, part, rest, init, token, out)?;
    }
    Ok(())
}

fn parts(world: &World<'_>, whole: &CPart) -> Vec<CPart> {
    let records = &world.unit.records;
    match &*whole.ty.kind {
        TypeKind::Array(inner, length) => {
            let cells = records.cells(inner).unwrap_or(1);
            let size = records.size(inner).map(|(size, _)| size);
            let element = |at| whole.within(at * cells, size.map(|size| at * size), inner.clone());
            (0..length.unwrap_or(0)).map(element).collect()
        }
        TypeKind::Record(_) => {
            let members = records.members(&whole.ty).into_iter();
            members.map(|member| whole.within(member.cell, member.byte, member.ty)).collect()
        }
        _ => vec![whole.clone()],
    }
}

fn designated(
    parts: &[CPart],
    world: &World<'_>,
    ty: &Type,
    designator: &Designator,
) -> Option<(usize, usize)> {
    match designator {
        Designator::Index(low, high) => {
            let high = usize::try_from(*high).ok().filter(|high| *high < parts.len())?;
            Some((usize::try_from(*low).ok()?, high))
        }
        Designator::Member(name) => {
            let fields = world.unit.records.fields(ty)?;
            let at = fields.iter().position(|field| field.name.as_ref() == Some(name))?;
            Some((at, at))
        }
    }
}

impl World<'_> {
    /// What an object of static lifetime starts with.
    pub fn initial_memory(
        &mut self,
        object: usize,
        ty: &Type,
        init: Option<&CInit>,
        token: u32,
    ) -> CLowered<()> {
        let Some(init) = init else { return Ok(()) };
        let mut given = Vec::new();
        flatten(self, &CPart::whole(ty), init, token, &mut given)?;
        for CGiven { part, value } in given {
            let cells = self.scalar_at(object, &part, token)?;
            let value = match value {
                CGivenValue::Number(value) => value,
                CGivenValue::Expr(expr) => self.static_value(expr)?,
            };
            let mut shift = 0;
            for (_, cell, ty) in cells {
                if let CCell::Memory(variable) = cell {
                    self.variables[variable.index()].initial = wrapped(value >> shift, &ty);
                }
                shift += ty.bits();
            }
        }
        Ok(())
    }

    /// The cells that a scalar of an object consists of, the least significant first.
    pub fn scalar_at(&self, object: usize, part: &CPart, token: u32) -> CLowered<Vec<(usize, CCell, Type)>> {
        let start = Inside::at(object, 0);
        let moved = self.objects[object].behind(&start, part.byte, part.cell);
        let Some(at) = moved.and_then(|inside| inside.only()) else {
            return Err(self.only_a_part(object, token));
        };
        if at >= self.objects[object].cells.len() {
            return Err(self.error(token, "there are more initial values than cells"));
        }
        let cells = self.cells_at(object, at, &part.ty).ok_or_else(|| self.only_a_part(object, token))?;
        Ok(cells.into_iter().enumerate().map(|(piece, (cell, ty))| (at + piece, cell, ty)).collect())
    }

    /// The cells that a part of an object consists of.
    pub fn cells_of(&self, object: usize, part: &CPart, token: u32) -> CLowered<Vec<usize>> {
        let mut cells = Vec::new();
        for (at, (ty, byte)) in self.unit.records.scalars(&part.ty).into_iter().enumerate() {
            let scalar = self.scalar_at(object, &part.within(at as u64, byte, ty), token)?;
            cells.extend(scalar.into_iter().map(|(at, ..)| at));
        }
        Ok(cells)
    }

    /// The object that a string is.
    pub fn text(&mut self, text: &str, span: Span, token: u32) -> CLowered<usize> {
        let characters = literals::string(text).unwrap_or_default();
        let ty = Type::new(TypeKind::Array(Type::integer(8, true), Some(characters.len() as u64 + 1)));
        let object = self.memory_object((0, token, 1), "text", &ty, span, token)?;
        for (at, character) in characters.into_iter().enumerate() {
            if let Some(CCell::Memory(variable)) = self.objects[object].cells.get(at) {
                self.variables[variable.index()].initial = i128::from(character as u8 as i8);
            }
        }
        Ok(object)
    }

    /// The value of a constant expression, addresses included.
    fn static_value(&mut self, expr: &CExpr) -> CLowered<i128> {
        let value = self.static_typed(expr)?;
        match &value.value {
            CValue::Number(over) => {
                constant(over).ok_or_else(|| self.error(expr.token, "this is no constant"))
            }
            CValue::Function(name) => Ok(self.function_address(&name.clone())),
            CValue::Address(inside) => {
                let base = self.objects[inside.object].base.unwrap_or(0);
                Ok(base + inside.only().unwrap_or(0) as i128)
            }
            _ => Err(self.error(expr.token, "this is no constant")),
        }
    }

    fn static_typed(&mut self, expr: &CExpr) -> CLowered<Typed> {
        if let Some(known) = fold(expr) {
            return Ok(Typed::constant(known.value, known.ty));
        }
        let token = expr.token;
        let address = |value: i128, ty: Type| Ok(Typed::constant(value, ty));
        match &expr.kind {
            CExprKind::Cast(ty, inner) => {
                let value = self.static_value(inner)?;
                Ok(Typed::constant(wrapped(value, ty), ty.plain()))
            }
            CExprKind::Name(name) => {
                match self.globals.get(name).map(|object| (*object, &self.global_types[name])) {
                    // The initial value of a constant object.
                    Some((object, ty)) if !matches!(*ty.kind, TypeKind::Array(..)) => {
                        match self.objects[object].cells.first() {
                            Some(CCell::Memory(variable)) if ty.is_scalar() => {
                                address(self.variables[variable.index()].initial, ty.clone())
                            }
                            _ => Err(self.error(token, "this is no constant")),
                        }
                    }
                    _ => {
                        let (at, ty) = self.static_place(expr)?;
                        address(at, ty.decayed())
                    }
                }
            }
            CExprKind::Unary(Unary::Address, inner) => {
                let (at, ty) = self.static_place(inner)?;
                address(at, ty.pointer())
            }
            CExprKind::Binary(op @ (Binary::Add | Binary::Sub), a, b) => {
                let (a, b) = (self.static_typed(a)?, self.static_typed(b)?);
                let (Some(x), Some(y)) = (a.as_constant(), b.as_constant()) else {
                    return Err(self.error(token, "this is no constant"));
                };
                let y = if *op == Binary::Add { y } else { -y };
                let at = match a.ty.inner() {
                    Some(inner) => self.static_element(x, y, inner, token)?,
                    None => x + y,
                };
                address(at, a.ty)
            }
            CExprKind::Text(text) => {
                let object = self.text(text, expr.span, token)?;
                self.objects[object].pointed = true;
                address(self.objects[object].base.unwrap_or(0), Type::integer(8, true).pointer())
            }
            CExprKind::Compound(ty, init) if ty.is_scalar() => match &**init {
                CInit::List(list) => match list.first() {
                    Some((_, CInit::Value(value))) => self.static_typed(value),
                    _ => Err(self.error(token, "this is no constant")),
                },
                CInit::Value(value) | CInit::Whole(_, value) => self.static_typed(value),
            },
            _ => Err(self.error(token, "this is no constant")),
        }
    }

    /// The address and type of a global place.
    fn static_place(&mut self, expr: &CExpr) -> CLowered<(i128, Type)> {
        let token = expr.token;
        match &expr.kind {
            CExprKind::Name(name) => match self.globals.get(name).copied() {
                Some(object) => {
                    self.objects[object].pointed = true;
                    Ok((self.objects[object].base.unwrap_or(0), self.global_types[name].clone()))
                }
                None if self.unit.declared.contains_key(name) => {
                    Ok((self.function_address(name), self.unit.declared[name].clone()))
                }
                None => Err(self.error(token, format!("`{name}` is not declared"))),
            },
            CExprKind::Index(array, index) => {
                let (base, ty) = self.static_place(array)?;
                let inner = ty.inner().cloned().ok_or_else(|| self.error(token, "this is no array"))?;
                let index = fold(index).ok_or_else(|| self.error(token, "this is no constant"))?.value;
                Ok((self.static_element(base, index, &inner, token)?, inner))
            }
            CExprKind::Member(object, name) => {
                let (base, ty) = self.static_place(object)?;
                let Some(member) = self.unit.records.member(&ty, name) else {
                    return Err(self.error(token, format!("there is no member `{name}`")));
                };
                let Some((object, at)) = self.at_address(base) else {
                    return Ok((base + i128::from(member.cell), member.ty));
                };
                let known = &self.objects[object];
                let moved = known.behind(&Inside::at(object, at), member.byte, member.cell as usize);
                let moved = moved.and_then(|inside| inside.only());
                let moved = moved.ok_or_else(|| self.only_a_part(object, token))?;
                Ok((base + moved as i128 - at as i128, member.ty))
            }
            _ => Err(self.error(token, "this is no constant address")),
        }
    }

    /// The address some elements behind another.
    fn static_element(&self, from: i128, elements: i128, ty: &Type, token: u32) -> CLowered<i128> {
        let stride = i128::from(self.unit.records.cells(ty).unwrap_or(1));
        let outside = || self.error(token, "this is no constant address");
        let by = elements.checked_mul(stride).ok_or_else(outside)?;
        let to = from.checked_add(by).ok_or_else(outside)?;
        if let (Some((object, from)), Some((other, to))) = (self.at_address(from), self.at_address(to))
            && object == other
        {
            self.check_stride(object, ty, (from, to), elements, token)?;
        }
        Ok(to)
    }
}
