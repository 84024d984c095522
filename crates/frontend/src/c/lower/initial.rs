//! Initial values: lists in braces as values of cells, and what globals start with.

use super::value::{CValue, Typed, constant};
use super::world::{CCell, CLowered, World};
use crate::c::ast::{Binary, CExpr, CExprKind, CInit, Designator, Unary};
use crate::c::constant::{fold, wrapped};
use crate::c::literals;
use crate::c::types::{Type, TypeKind};

/// The value that a cell is given.
pub(super) enum CGiven<'t> {
    Expr(&'t CExpr),
    Number(i128),
}

/// The cells that an initial value gives something, later ones win.
pub(super) fn flatten<'t>(
    world: &World<'_>,
    ty: &Type,
    init: &'t CInit,
    start: usize,
    token: u32,
    out: &mut Vec<(usize, CGiven<'t>)>,
) -> CLowered<()> {
    match init {
        CInit::Value(expr) => {
            if let (TypeKind::Array(..), CExprKind::Text(text)) = (&*ty.kind, &expr.kind) {
                let characters = literals::string(text).unwrap_or_default();
                let given = |(at, c): (usize, &u32)| (start + at, CGiven::Number(i128::from(*c as u8 as i8)));
                out.extend(characters.iter().enumerate().map(given));
                return Ok(());
            }
            out.push((start, CGiven::Expr(expr)));
            Ok(())
        }
        CInit::List(list) => {
            if ty.is_scalar() {
                return match list.first() {
                    Some((_, inner)) => flatten(world, ty, inner, start, token, out),
                    None => Ok(()),
                };
            }
            let mut cursor = 0;
            fill(world, ty, list, &mut cursor, (start, token), out)
        }
    }
}

/// A part of an object: its first cell and its type.
type CPart = (usize, Type);

/// Gives the parts of an array or structure what a list has for them; braces may be left out.
fn fill<'t>(
    world: &World<'_>,
    ty: &Type,
    list: &'t [(Vec<Designator>, CInit)],
    cursor: &mut usize,
    (start, token): (usize, u32),
    out: &mut Vec<(usize, CGiven<'t>)>,
) -> CLowered<()> {
    let parts = parts(world, ty, start);
    let mut at = 0;
    while let Some((designators, init)) = list.get(*cursor) {
        if let Some(first) = designators.first() {
            let (low, high) = designated(&parts, world, ty, first)
                .ok_or_else(|| world.error(token, "this names no part of the object"))?;
            for index in low..=high {
                let Some((cell, inner)) = parts.get(index) else {
                    return Err(world.error(token, "this names no part of the object"));
                };
                if designators.len() > 1 {
                    return Err(world.error(token, "initial values of parts of parts are not read"));
                }
                flatten(world, inner, init, *cell, token, out)?;
            }
            at = high + 1;
            *cursor += 1;
            continue;
        }
        let Some((cell, inner)) = parts.get(at) else { return Ok(()) };
        let braced = matches!(init, CInit::List(_));
        let text = matches!(init, CInit::Value(value) if matches!(value.kind, CExprKind::Text(_)));
        if braced || inner.is_scalar() || text && matches!(*inner.kind, TypeKind::Array(..)) {
            flatten(world, inner, init, *cell, token, out)?;
            *cursor += 1;
        } else {
            let before = *cursor;
            fill(world, inner, list, cursor, (*cell, token), out)?;
            if *cursor == before {
                return Err(world.error(token, "this list of initial values is not read"));
            }
        }
        at += 1;
    }
    Ok(())
}

fn parts(world: &World<'_>, ty: &Type, start: usize) -> Vec<CPart> {
    let records = &world.unit.records;
    match &*ty.kind {
        TypeKind::Array(inner, length) => {
            let size = records.cells(inner).unwrap_or(1) as usize;
            (0..length.unwrap_or(0) as usize).map(|at| (start + at * size, inner.clone())).collect()
        }
        TypeKind::Record(id) => {
            let union = records.list[*id].union;
            let mut at = start;
            let mut parts = Vec::new();
            for field in records.fields(ty).unwrap_or_default() {
                parts.push((at, field.ty.clone()));
                if union {
                    break;
                }
                at += records.cells(&field.ty).unwrap_or(1) as usize;
            }
            parts
        }
        _ => vec![(start, ty.clone())],
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
        flatten(self, ty, init, 0, token, &mut given)?;
        let cells = self.unit.records.cells(ty).unwrap_or(1);
        for (cell, given) in given {
            let Some((place, ty)) = self.cell_of(object, cell) else {
                return Err(self.error(token, "there are more initial values than cells"));
            };
            let value = match given {
                CGiven::Number(value) => value,
                CGiven::Expr(expr) => self.static_value(expr)?,
            };
            if self.objects[object].cells.len() as u64 > cells {
                if cells > 1 {
                    return Err(self.error(token, "the initial value of an object that is seen in pieces"));
                }
                self.initial_pieces(object, value);
            } else if let CCell::Memory(variable) = place {
                self.variables[variable.index()].initial = wrapped(value, &ty);
            }
        }
        Ok(())
    }

    fn cell_of(&self, object: usize, cell: usize) -> Option<(CCell, Type)> {
        let object = &self.objects[object];
        Some((*object.cells.get(cell)?, object.types.get(cell)?.clone()))
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
            CExprKind::Name(name) => match self.globals.get(name).copied() {
                Some(object) => {
                    let ty = self.global_types[name].clone();
                    match *ty.kind {
                        TypeKind::Array(..) => {
                            self.objects[object].pointed = true;
                            address(self.objects[object].base.unwrap_or(0), ty.decayed())
                        }
                        // The initial value of a constant object.
                        _ => match self.objects[object].cells.first() {
                            Some(CCell::Memory(variable)) if ty.is_scalar() => {
                                address(self.variables[variable.index()].initial, ty)
                            }
                            _ => Err(self.error(token, "this is no constant")),
                        },
                    }
                }
                None if self.unit.declared.contains_key(name) => {
                    let ty = self.unit.declared[name].decayed();
                    address(self.function_address(name), ty)
                }
                None => Err(self.error(token, format!("`{name}` is not declared"))),
            },
            CExprKind::Unary(Unary::Address, inner) => {
                let (at, ty) = self.static_place(inner)?;
                address(at, ty.pointer())
            }
            CExprKind::Binary(op @ (Binary::Add | Binary::Sub), a, b) => {
                let (a, b) = (self.static_typed(a)?, self.static_typed(b)?);
                let (Some(x), Some(y)) = (a.as_constant(), b.as_constant()) else {
                    return Err(self.error(token, "this is no constant"));
                };
                let stride = a.ty.inner().and_then(|ty| self.unit.records.cells(ty)).unwrap_or(1);
                let y = y * i128::from(stride);
                address(if *op == Binary::Add { x + y } else { x - y }, a.ty)
            }
            CExprKind::Text(_) => address(0, Type::integer(8, true).pointer()),
            CExprKind::Compound(ty, init) if ty.is_scalar() => match &**init {
                CInit::List(list) => match list.first() {
                    Some((_, CInit::Value(value))) => self.static_typed(value),
                    _ => Err(self.error(token, "this is no constant")),
                },
                CInit::Value(value) => self.static_typed(value),
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
                let size = self.unit.records.cells(&inner).unwrap_or(1);
                Ok((base + index * i128::from(size), inner))
            }
            CExprKind::Member(object, name) => {
                let (base, ty) = self.static_place(object)?;
                match self.unit.records.member(&ty, name) {
                    Some((offset, _, ty)) => Ok((base + i128::from(offset), ty)),
                    None => Err(self.error(token, format!("there is no member `{name}`"))),
                }
            }
            _ => Err(self.error(token, "this is no constant address")),
        }
    }
}
