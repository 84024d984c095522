//! Accesses that see an object in other pieces than it is laid out in.
//!
//! A cell is one scalar, and most programs use every cell as what it was declared to be. A union whose
//! members differ in size is laid out as the member with most cells, and a number that is looked at as a
//! structure is laid out as that from the next round on. A wider scalar is then several cells, the least
//! significant first, as x86 has them. It is loaded in one step, and a locked step changes all of it. Nothing
//! below a front end can keep one store to several cells in a buffer, so those are refused. An integer seen
//! as one of the other sign is a view of one piece.

use super::graph::{At, CStep};
use super::places::{COrder, CTarget, read, write};
use super::thread::{Lowerer, further};
use super::value::{CPlace, CSpot, CValue, Inside, Typed, combine, constant, number};
use super::world::{CCell, CLowered, Object, World};
use crate::c::constant::wrapped;
use crate::c::types::{Type, TypeKind};
use program::{Arith, Cond, Expr, Op, RegId, Relation};

/// How a scalar is seen at a place.
pub(super) enum CSeen {
    /// It is the cell there.
    Cell,
    Pieces(CView),
    /// It is a part of a cell, or of several.
    Apart,
}

/// Where some bytes from a cell lead.
enum CBytes {
    /// As many cells further.
    AsCells,
    /// To the beginning of this cell, or behind the last.
    Cell(usize),
    /// To what is before the object.
    Before,
    /// Into one.
    Apart,
}

/// A scalar that is not the cell it lies in, or more than one.
pub(super) struct CView {
    /// The least significant first.
    pieces: Vec<CPiece>,
    /// Whether the whole is signed, and how wide it is.
    signed: bool,
    bits: u32,
}

/// A cell that is part of a wider scalar.
struct CPiece {
    cell: CCell,
    bits: u8,
    signed: bool,
    /// How many bits are less significant.
    shift: u32,
    /// Where its value is found once it is loaded.
    loaded: RegId,
}

impl CView {
    /// Loads the pieces.
    fn loads(&self) -> impl Iterator<Item = Op> + '_ {
        let in_memory = self.pieces.iter().filter(|piece| matches!(piece.cell, CCell::Memory(_)));
        in_memory.map(|piece| read(piece.cell, piece.loaded))
    }

    /// The whole, once its pieces are loaded.
    fn whole(&self) -> Expr<RegId> {
        let top = self.pieces.len() - 1;
        let parts = self.pieces.iter().enumerate().map(|(at, piece)| {
            let value = piece.seen(self.signed && at == top);
            combine(Arith::Mul, value, number(1i128 << piece.shift))
        });
        parts.reduce(|sum, part| combine(Arith::Add, sum, part)).unwrap_or_else(|| number(0))
    }

    /// What a piece of a value is.
    fn part(&self, value: &Expr<RegId>, piece: &CPiece) -> Expr<RegId> {
        if let Some(known) = constant(value) {
            return number(piece.of_constant(known));
        }
        let shifted = match 1i128 << piece.shift {
            1 => value.clone(),
            unit => {
                // Nothing is left over, so it does not matter how division rounds.
                let less = Expr::binary(Arith::And, value.clone(), number(unit - 1));
                combine(Arith::Div, combine(Arith::Sub, value.clone(), less), number(unit))
            }
        };
        if self.bits == piece.shift + u32::from(piece.bits) && self.signed == piece.signed {
            return shifted;
        }
        wrapping(shifted, &piece.ty())
    }
}

impl CPiece {
    /// Its value as a signed or unsigned number of its size.
    fn seen(&self, signed: bool) -> Expr<RegId> {
        let register = match self.cell {
            CCell::Register(register) => register,
            CCell::Memory(_) => self.loaded,
        };
        let value = Expr::Leaf(register);
        if self.signed == signed { value } else { wrapping(value, &Type::integer(self.bits, signed)) }
    }

    fn ty(&self) -> Type {
        Type::integer(self.bits, self.signed)
    }

    fn of_constant(&self, whole: i128) -> i128 {
        wrapped(whole >> self.shift, &self.ty())
    }
}

/// A number brought into a type's range, as two's complement does.
fn wrapping(value: Expr<RegId>, ty: &Type) -> Expr<RegId> {
    match ty.range() {
        Some((low, high)) => super::numbers::wrap(value, low, high),
        None => value,
    }
}

impl CTarget {
    /// Reads the scalar into a register.
    pub fn reads(&self, cell: CCell, register: RegId) -> Vec<Op> {
        match &self.view {
            None => vec![read(cell, register)],
            Some(view) => view.loads().chain([Op::Assign(register, view.whole())]).collect(),
        }
    }

    /// Writes the scalar. The value must not be made of registers that are its pieces.
    pub fn writes(&self, cell: CCell, value: &Expr<RegId>) -> Vec<Op> {
        match &self.view {
            None => vec![write(cell, value.clone())],
            Some(view) => {
                view.pieces.iter().map(|piece| write(piece.cell, view.part(value, piece))).collect()
            }
        }
    }

    /// All cells it may touch.
    pub fn all_cells(&self) -> Vec<CCell> {
        match &self.view {
            None => self.cells.iter().map(|(_, cell)| *cell).collect(),
            Some(view) => view.pieces.iter().map(|piece| piece.cell).collect(),
        }
    }

    /// Whether one access is to several cells.
    pub fn is_wide(&self) -> bool {
        self.view.as_ref().is_some_and(|view| view.pieces.len() > 1)
    }
}

impl Lowerer<'_, '_> {
    /// How a scalar of a type is seen at a place inside an object.
    pub fn view(&mut self, inside: &Inside, ty: &Type) -> CLowered<CSeen> {
        let object = &self.world.objects[inside.object];
        let whole = |(_, at): &(i128, usize)| match object.types.get(*at) {
            Some(cell) => is_cell(cell, ty) || inside.table.len() > 1 && self.same_size(cell, ty),
            None => true,
        };
        if inside.table.iter().all(whole) {
            return Ok(CSeen::Cell);
        }
        let pieces = inside.only().and_then(|at| object.pieces(at, ty));
        let (Some(cells), TypeKind::Int { bits, signed }) = (pieces, &*ty.kind) else {
            return Ok(CSeen::Apart);
        };
        let mut pieces = Vec::new();
        let mut shift = 0;
        for (cell, ty) in cells {
            let TypeKind::Int { bits, signed } = *ty.kind else { return Ok(CSeen::Apart) };
            let loaded = self.temporary()?;
            pieces.push(CPiece { cell, bits, signed, shift, loaded });
            shift += u32::from(bits);
        }
        Ok(CSeen::Pieces(CView { pieces, signed: *signed, bits: u32::from(*bits) }))
    }

    /// A part of an object, so many cells and, where that is known, bytes behind its start.
    pub fn part(&self, place: &CPlace, cells: usize, bytes: Option<u64>, ty: Type) -> CLowered<CPlace> {
        let spot = match &place.spot {
            CSpot::Inside(inside) => {
                let moved = self.world.objects[inside.object].behind(inside, bytes, cells);
                CSpot::Inside(moved.ok_or_else(|| self.world.only_a_part(inside.object, place.token))?)
            }
            CSpot::At(address) => CSpot::At(combine(Arith::Add, address.clone(), number(cells as i128))),
        };
        Ok(CPlace { spot, ty, token: place.token })
    }

    /// The scalars of a type, where they lie in an object.
    pub fn scalar_parts(&self, place: &CPlace, ty: &Type) -> CLowered<Vec<CPlace>> {
        let scalars = self.world.unit.records.scalars(ty);
        let part = |(cells, (ty, bytes)): (usize, (Type, Option<u64>))| self.part(place, cells, bytes, ty);
        scalars.into_iter().enumerate().map(part).collect()
    }

    /// By how many cells a pointer goes on to the next element, where it points to.
    pub fn stride(&self, at: Option<(usize, usize)>, ty: &Type, token: u32) -> CLowered<usize> {
        let records = &self.world.unit.records;
        let Some(cells) = records.cells(ty) else {
            return Err(self.error(token, "the size of this type is not known"));
        };
        let pieces = at.zip(records.size(ty));
        let pieces =
            pieces.and_then(|((object, at), (size, _))| self.world.objects[object].pieces_in(at, size));
        Ok(pieces.unwrap_or(cells as usize))
    }

    /// The object and cell that a pointer is known to point to.
    pub fn pointed_cell(&self, pointer: &CValue) -> Option<(usize, usize)> {
        match pointer {
            CValue::Address(inside) => inside.table.first().map(|(_, at)| (inside.object, *at)),
            CValue::Number(address) => self.world.at_address(constant(address)?),
            _ => None,
        }
    }

    /// A pointer some bytes further, if it is one to bytes and cells count otherwise where it points to; nothing
    /// where as many cells are meant.
    pub fn bytes_further(
        &mut self,
        pointer: &Typed,
        known: Option<(usize, usize)>,
        by: &Expr<RegId>,
        token: u32,
    ) -> CLowered<Option<CValue>> {
        let to_bytes = pointer.ty.inner().is_some_and(|inner| inner.bits() == 8 && inner.is_integer());
        let count = constant(by);
        if !to_bytes || count == Some(0) {
            return Ok(None);
        }
        match (known, count) {
            (Some((object, at)), Some(count)) => match self.world.objects[object].bytes_from(at, count) {
                CBytes::AsCells => Ok(None),
                CBytes::Cell(to) => {
                    let base = self.world.objects[object].base;
                    Ok(Some(match (&pointer.value, base) {
                        (CValue::Number(_), Some(base)) => CValue::Number(number(base + to as i128)),
                        _ => CValue::Address(Inside::at(object, to)),
                    }))
                }
                CBytes::Before => {
                    let here = self.as_number(&CValue::Address(Inside::at(object, at)), token)?;
                    let here = constant(&here).unwrap_or(0);
                    let to = self.before_object(here, count);
                    to.map(|to| Some(CValue::Number(number(to))))
                        .ok_or_else(|| self.world.only_a_part(object, token))
                }
                CBytes::Apart => Err(self.world.only_a_part(object, token)),
            },
            (Some((object, _)), None) if self.world.objects[object].types.iter().all(|ty| ty.bits() == 8) => {
                Ok(None)
            }
            _ => self.chosen_bytes_further(pointer, by, token),
        }
    }

    /// Where an object would begin that has a known one inside, so many bytes behind its start: lists have
    /// heads that are in no element. Nothing may be there, so that nobody can use it.
    fn before_object(&self, here: i128, count: i128) -> Option<i128> {
        let scalars = self.world.unit.records.scalars(self.wanted.as_ref()?);
        let cells = scalars.iter().position(|(_, byte)| byte.map(i128::from) == Some(-count))?;
        Some(here - cells as i128).filter(|to| self.world.at_address(*to).is_none())
    }

    /// The same where several objects may be meant: one way for each that counts otherwise.
    fn chosen_bytes_further(
        &mut self,
        pointer: &Typed,
        by: &Expr<RegId>,
        token: u32,
    ) -> CLowered<Option<CValue>> {
        let address = self.as_number(&pointer.value, token)?;
        let address = self.kept(address)?;
        let values = self.found(&address, (further(self.path, "bytes"), token));
        let mut ways = Vec::new();
        for object in &self.world.objects {
            let cells = object.base.map_or(0..0, |base| base..base + object.cells.len() as i128);
            for (at, here) in cells.enumerate().filter(|(_, here)| values.contains(*here)) {
                let to = match constant(by) {
                    Some(count) => object.bytes_from(at, count),
                    None if object.types[at].bits() == 8 => CBytes::AsCells,
                    None => CBytes::Apart,
                };
                match to {
                    CBytes::AsCells => {}
                    CBytes::Cell(to) => ways.push((here, Some(here + to as i128 - at as i128))),
                    CBytes::Before => {
                        let to = constant(by).and_then(|count| self.before_object(here, count));
                        ways.push((here, to));
                    }
                    CBytes::Apart => ways.push((here, None)),
                }
            }
        }
        if ways.is_empty() {
            return Ok(None);
        }
        let (register, from, next) = (self.temporary()?, self.at, self.place());
        for (here, to) in &ways {
            self.way_if(from, &address, *here);
            match to {
                Some(to) => self.arrow(CStep::Op(Op::Assign(register, number(*to))), next),
                None => self.limit("what a pointer to a part of a number sees is not known".to_string()),
            }
        }
        let others = ways.iter().map(|(here, _)| Cond::compare(Relation::Ne, address.clone(), number(*here)));
        self.way(from, Cond::and(others));
        let moved = combine(Arith::Add, address, by.clone());
        self.arrow(CStep::Op(Op::Assign(register, moved)), next);
        self.at = next;
        Ok(Some(CValue::Number(Expr::Leaf(register))))
    }

    /// What is known of a wide scalar's value.
    pub fn constant_view(&self, target: &CTarget) -> Option<i128> {
        let view = target.view.as_ref()?;
        let top = view.pieces.len() - 1;
        view.pieces.iter().enumerate().try_fold(0i128, |sum, (at, piece)| {
            let seen = Type::integer(piece.bits, view.signed && at == top);
            let value = self.constant_cell(piece.cell).filter(|_| self.mark_of(piece.cell).is_none())?;
            Some(sum + (wrapped(value, &seen) << piece.shift))
        })
    }

    /// Notes that the cells of a wide scalar hold something else now.
    pub fn view_changed(&mut self, target: &CTarget, value: Option<i128>) {
        for piece in target.view.iter().flat_map(|view| &view.pieces) {
            self.note(piece.cell, value.map(|value| piece.of_constant(value)));
        }
    }

    /// A store to several cells: in one locked step, or one by one where nobody can look.
    pub fn store_wide(
        &mut self,
        target: &CTarget,
        value: &Expr<RegId>,
        order: Option<COrder>,
        token: u32,
    ) -> CLowered<()> {
        let value = self.kept(value.clone())?;
        let next = self.place();
        match order {
            None => self.write_in_section(target, &value, next),
            Some(order) if order == COrder::SeqCst || !self.shared => {
                self.access(target, &|cell| vec![(CStep::Op(Op::locked(target.writes(cell, &value))), next)]);
            }
            Some(_) => {
                let error = self.error(
                    token,
                    "this stores several cells at once that are used one by one elsewhere, and would leave the \
                     store buffer as one",
                );
                return Err(Box::new(error.hint(
                    "a seq_cst store is read, for it does not wait in a buffer; else use the whole everywhere, \
                     with shifts and masks, or its parts",
                )));
            }
        }
        self.at = next;
        self.changed(target, constant(&value));
        Ok(())
    }

    /// Writes one cell after another, where nothing can come between.
    pub fn write_in_section(&mut self, target: &CTarget, value: &Expr<RegId>, to: At) {
        if !target.is_wide() {
            let write = |cell| target.writes(cell, value).into_iter().map(|op| (CStep::Op(op), to)).collect();
            return self.access(target, &write);
        }
        let here = self.place();
        self.access(target, &|_| vec![(CStep::Op(Op::Skip), here)]);
        self.at = here;
        if let Some(cell) = target.start() {
            target.writes(cell, value).into_iter().for_each(|op| self.step(op));
        }
        self.arrow(CStep::Op(Op::Skip), to);
    }

    /// If an object is looked at as something of the same size that has more cells, it is laid out as
    /// that from the next round on.
    pub fn refine(&mut self, inside: &Inside, ty: &Type, token: u32) -> CLowered<()> {
        let object = &self.world.objects[inside.object];
        let finer = self.world.unit.records.cells(ty).is_some_and(|cells| cells > object.cells.len() as u64);
        let as_large = self.world.unit.records.size(ty).map(|(size, _)| size) == object.size();
        if !finer || !as_large || inside.only() != Some(0) {
            return Ok(());
        }
        let key = object.key;
        self.world.refine(key, ty);
        Err(self.world.only_a_part(inside.object, token))
    }
}

/// Whether a cell of one type is a scalar of another, without a conversion. Numbers that are addresses
/// need none.
fn is_cell(cell: &Type, ty: &Type) -> bool {
    match (&*cell.kind, &*ty.kind) {
        (TypeKind::Int { bits: a, signed: s }, TypeKind::Int { bits: b, signed: t }) => a == b && s == t,
        _ => cell.bits() == ty.bits(),
    }
}

impl Object {
    /// How many bytes it has, without those behind its last cell.
    fn size(&self) -> Option<u64> {
        let last = (*self.bytes.last()?)?;
        Some(last + u64::from(self.types.last()?.bits()).div_ceil(8))
    }

    /// The cells that an aligned scalar which starts at a cell consists of, if it consists of whole integers.
    fn pieces(&self, at: usize, ty: &Type) -> Option<Vec<(CCell, Type)>> {
        let start = (*self.bytes.get(at)?)?;
        let wanted = u64::from(ty.bits()) / 8;
        if wanted == 0 || start % wanted != 0 {
            return None;
        }
        let mut found = Vec::new();
        let mut bytes = 0;
        for at in at.. {
            let cell = self.types.get(at)?;
            let TypeKind::Int { bits, .. } = *cell.kind else { return None };
            if self.bytes[at] != Some(start + bytes) || bits % 8 != 0 {
                return None;
            }
            found.push((self.cells[at], cell.clone()));
            bytes += u64::from(bits / 8);
            if bytes >= wanted {
                break;
            }
        }
        (bytes == wanted).then_some(found)
    }

    /// How many cells begin in so many bytes.
    pub fn pieces_in(&self, at: usize, size: u64) -> Option<usize> {
        let end = (*self.bytes.get(at)?)? + size;
        let inside = |byte: &&Option<u64>| byte.is_some_and(|byte| byte < end);
        Some(self.bytes[at..].iter().take_while(inside).count().max(1))
    }

    /// Where some bytes from a cell lead.
    fn bytes_from(&self, at: usize, count: i128) -> CBytes {
        let in_bytes = |at: usize| self.types.get(at).is_some_and(|ty| ty.bits() == 8);
        let (Some(Some(start)), Some(size)) = (self.bytes.get(at), self.size()) else {
            return if in_bytes(at) { CBytes::AsCells } else { CBytes::Apart };
        };
        let wanted = i128::from(*start) + count;
        let found = self.bytes.iter().position(|byte| byte.map(i128::from) == Some(wanted));
        match found.or((wanted == i128::from(size)).then_some(self.cells.len())) {
            Some(to) if to as i128 == at as i128 + count => CBytes::AsCells,
            Some(to) => CBytes::Cell(to),
            None if in_bytes(at) => CBytes::AsCells,
            None if wanted < 0 => CBytes::Before,
            None => CBytes::Apart,
        }
    }

    /// The cell some bytes behind another; `None` if none begins there.
    fn cell_behind(&self, at: usize, by: u64) -> Option<usize> {
        let wanted = (*self.bytes.get(at)?)? + by;
        (at..self.bytes.len()).find(|at| self.bytes[*at] == Some(wanted))
    }

    /// The place some bytes behind another. Where bytes are not known, cells are counted.
    pub fn behind(&self, inside: &Inside, bytes: Option<u64>, cells: usize) -> Option<Inside> {
        let mut moved = inside.plus(cells);
        for ((_, at), (_, to)) in inside.table.iter().zip(&mut moved.table) {
            let start = self.bytes.get(*at).copied().flatten();
            let (Some(start), Some(by), Some(size)) = (start, bytes, self.size()) else { continue };
            if self.bytes.get(*to) == Some(&Some(start + by)) {
                continue;
            }
            if start + by < size {
                *to = self.cell_behind(*at, by)?;
            } else if *to < self.cells.len() {
                return None;
            }
        }
        Some(moved)
    }
}

impl World<'_> {
    /// The cells of a scalar somewhere in an object.
    pub fn cells_at(&self, object: usize, at: usize, ty: &Type) -> Option<Vec<(CCell, Type)>> {
        let object = &self.objects[object];
        match object.types.get(at)? {
            cell if is_cell(cell, ty) => Some(vec![(object.cells[at], cell.clone())]),
            _ => object.pieces(at, ty),
        }
    }

    /// So many elements further must be as many bytes as the type says, or a pointer to another type
    /// counts something else than cells.
    pub fn check_stride(
        &self,
        object: usize,
        ty: &Type,
        (from, to): (usize, usize),
        elements: i128,
        token: u32,
    ) -> CLowered<()> {
        let byte = |cell: usize| self.objects[object].bytes.get(cell).copied().flatten().map(i128::from);
        let size = self.unit.records.size(ty).map(|(size, _)| i128::from(size));
        match (byte(from), byte(to), size) {
            (Some(from), Some(to), Some(size)) if to - from != elements * size => {
                Err(self.only_a_part(object, token))
            }
            _ => Ok(()),
        }
    }

    pub fn only_a_part(&self, object: usize, token: u32) -> Box<crate::Diagnostic> {
        let name = &self.objects[object].name;
        let error = self.error(token, format!("this is a part of `{name}`, or more than it"));
        Box::new(
            error.hint("a union or pointer may see an object in smaller pieces if one type has them all"),
        )
    }
}
