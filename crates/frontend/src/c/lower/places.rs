//! Places in memory and registers: which cells an access may touch, loads and stores.
//!
//! Nothing below a front end knows arrays or pointers. An access whose cell is chosen by a value becomes
//! one way per cell, and where the value may be none of those, a way to a violation.

use super::choice::{CChoice, CChosen};
use super::graph::{At, CStep};
use super::thread::{Lowerer, further};
use super::value::{CPlace, CSpot, CValue, Inside, Typed, combine, constant, number};
use super::views::{CSeen, CView};
use super::world::{CCell, CLowered};
use crate::c::types::{Type, TypeKind};
use program::{Arith, Cond, Expr, FailureKind, Fence, Op, RegId, Relation};
use std::rc::Rc;

/// Of arrays with more cells than this only those are tried that an index may name.
const FEW_CELLS: usize = 12;

/// What goes wrong where a pointer points to no cell, and where it is known by then that it is null.
pub(super) const NO_OBJECT_USED: &str = "a pointer is used that points to no object";
pub(super) const NULL_USED: &str = "a null pointer is used";

/// Memory orders, as far as they differ here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum COrder {
    /// Plain, volatile, relaxed, consume, acquire.
    Plain,
    Release,
    SeqCst,
}

/// The cells that an access may touch, by the value of a key.
pub(super) struct CTarget {
    pub key: Expr<RegId>,
    pub cells: Vec<(i128, CCell)>,
    /// Values of the key by which a part of a cell is touched, or more than one: what happens then is not known.
    pub apart: Vec<i128>,
    /// Whether other values of the key are a violation.
    pub open: bool,
    /// How the cells are seen, if not each as what it is.
    pub view: Option<CView>,
}

impl CTarget {
    /// One that touches no cell which is known.
    fn apart(key: Expr<RegId>, apart: Vec<i128>) -> CTarget {
        CTarget { apart, ..CTarget::seen(key, Vec::new(), None) }
    }

    /// One that touches these cells and nothing else.
    fn seen(key: Expr<RegId>, cells: Vec<(i128, CCell)>, view: Option<CView>) -> CTarget {
        CTarget { key, cells, apart: Vec::new(), open: false, view }
    }

    /// The cell, if there is no choice.
    pub fn only(&self) -> Option<CCell> {
        self.start().filter(|_| self.view.is_none())
    }

    /// The first cell, if there is no choice.
    pub fn start(&self) -> Option<CCell> {
        match (self.cells.as_slice(), self.open) {
            ([(_, cell)], false) if self.apart.is_empty() => Some(*cell),
            _ => None,
        }
    }
}

impl Lowerer<'_, '_> {
    /// The cells of a scalar place.
    pub fn target(&mut self, place: &CPlace) -> CLowered<CTarget> {
        if !place.ty.is_scalar() {
            return Err(self.error(place.token, "a scalar is expected here"));
        }
        if let TypeKind::Float(_) = *place.ty.kind {
            return Err(self.error(place.token, "floating-point numbers are not read"));
        }
        match &place.spot {
            CSpot::Inside(inside) => {
                let object = &self.world.objects[inside.object];
                let cells: Vec<(i128, CCell)> = inside
                    .table
                    .iter()
                    .filter_map(|(key, at)| Some((*key, *object.cells.get(*at)?)))
                    .collect();
                if cells.len() < inside.table.len() {
                    return Err(
                        self.error(place.token, format!("this is outside the object `{}`", object.name))
                    );
                }
                let view = match self.view(inside, &place.ty)? {
                    CSeen::Cell => None,
                    CSeen::Pieces(view) => Some(view),
                    CSeen::Apart => return Err(self.world.only_a_part(inside.object, place.token)),
                };
                Ok(CTarget::seen(inside.key.clone(), cells, view))
            }
            CSpot::At(address) => self.pointed(address.clone(), place),
        }
    }

    /// What an address points to: one cell if it is known, else those found in earlier rounds.
    fn pointed(&mut self, address: Expr<RegId>, place: &CPlace) -> CLowered<CTarget> {
        if let Some(known) = constant(&address) {
            let Some((object, at)) = self.world.at_address(known) else {
                return Ok(CTarget { open: true, ..CTarget::apart(address, Vec::new()) });
            };
            let cells = vec![(known, self.world.objects[object].cells[at])];
            return match self.view(&Inside::at(object, at), &place.ty)? {
                CSeen::Cell => Ok(CTarget::seen(address, cells, None)),
                CSeen::Pieces(view) => Ok(CTarget::seen(address, cells, Some(view))),
                CSeen::Apart => Ok(CTarget::apart(address, vec![known])),
            };
        }
        let mut arguments = false;
        address.for_each_leaf(&mut |register| arguments |= Some(*register) == self.argv);
        if arguments {
            self.limit("what the program is called with is not known".to_string());
            return Ok(CTarget::apart(number(0), Vec::new()));
        }
        let values = self.found(&address, (self.path, place.token));
        let (mut cells, mut apart) = (Vec::new(), Vec::new());
        for object in &self.world.objects {
            let Some(base) = object.base else { continue };
            for (at, cell) in object.cells.iter().enumerate() {
                let here = base + at as i128;
                if !values.contains(here) {
                    continue;
                }
                match self.same_size(&object.types[at], &place.ty) {
                    true => cells.push((here, *cell)),
                    false => apart.push(here),
                }
            }
        }
        cells.sort_by_key(|(address, _)| *address);
        Ok(CTarget { key: address, cells, apart, open: true, view: None })
    }

    /// From here, the steps that `steps` gives for the cell touched, whichever it is.
    pub fn access(&mut self, target: &CTarget, steps: &dyn Fn(CCell) -> Vec<(CStep, At)>) {
        if let Some(cell) = target.start() {
            self.alive(cell);
            steps(cell).into_iter().for_each(|(step, to)| self.arrow(step, to));
            return;
        }
        let from = self.at;
        for (value, cell) in &target.cells {
            self.way_if(from, &target.key, *value);
            self.alive(*cell);
            steps(*cell).into_iter().for_each(|(step, to)| self.arrow(step, to));
        }
        for value in &target.apart {
            self.way_if(from, &target.key, *value);
            self.limit("what a pointer to a part of a number sees is not known".to_string());
        }
        self.at = from;
        self.none_of(target);
    }

    /// The violation that there is no cell to touch.
    fn none_of(&mut self, target: &CTarget) {
        if target.open {
            let null = constant(&target.key) == Some(0);
            let what = if null { NULL_USED } else { NO_OBJECT_USED };
            let bad = self.mistake(what);
            let others = target.cells.iter().map(|(value, _)| value).chain(&target.apart);
            let others = others.map(|value| Cond::compare(Relation::Ne, target.key.clone(), number(*value)));
            self.arrow(CStep::Op(Op::Assume(Cond::and(others.collect::<Vec<_>>()))), bad);
        }
    }

    /// The same as one step, if cells of memory are touched which always are there, and each as what it is.
    fn choice(&mut self, target: &CTarget, access: &CChosen, next: At) -> bool {
        if target.start().is_some() || target.view.is_some() || !target.apart.is_empty() {
            return false;
        }
        let variable = |(value, cell): &(i128, CCell)| match cell {
            CCell::Memory(variable) if self.mark_of(*cell).is_none() => Some((*value, *variable)),
            _ => None,
        };
        let Some(cells) = target.cells.iter().map(variable).collect::<Option<Rc<[_]>>>() else {
            return false;
        };
        if cells.len() < 2 {
            return false;
        }
        let places = self.graph.places_for(cells.len());
        let choice = CChoice { key: target.key.clone(), cells, access: access.clone(), places };
        self.arrow(CStep::Choice(Box::new(choice)), next);
        self.none_of(target);
        true
    }

    /// Looks whether the block that a cell is in was freed.
    fn alive(&mut self, cell: CCell) {
        if let Some(mark) = self.mark_of(cell)
            && let Ok(register) = self.temporary()
        {
            let next = self.place();
            self.unless_freed(mark, register, next);
            self.at = next;
        }
    }

    /// The value at a place. Arrays and functions become pointers, structures stay where they are.
    pub fn load(&mut self, place: &CPlace) -> CLowered<Typed> {
        match &*place.ty.kind {
            TypeKind::Array(inner, _) => {
                let ty = inner.clone().pointer();
                let value = match &place.spot {
                    CSpot::Inside(inside) => {
                        self.world.objects[inside.object].pointed = true;
                        let at = inside.only().map(|start| (inside.object, start));
                        let cells = self.stride(at, &place.ty, place.token)?;
                        let within = inside.only().map_or((0, usize::MAX), |start| (start, start + cells));
                        CValue::Address(Inside { within, ..inside.clone() })
                    }
                    CSpot::At(address) => CValue::Number(address.clone()),
                };
                return Ok(Typed { value, bounds: ty.range().unwrap_or((0, 0)), ty });
            }
            TypeKind::Record(_) => {
                let value = CValue::Object(Box::new(place.clone()));
                return Ok(Typed { value, ty: place.ty.plain(), bounds: (0, 0) });
            }
            TypeKind::Function(_) => {
                return match &place.spot {
                    CSpot::At(address) => Ok(Typed::number(address.clone(), place.ty.decayed())),
                    CSpot::Inside(_) => Err(self.error(place.token, "this is no function")),
                };
            }
            TypeKind::Void => return Ok(Typed::nothing()),
            _ => {}
        }
        let target = self.target(place)?;
        let ty = place.ty.plain();
        if let Some(cell) = target.only() {
            if let Some(value) = self.constant_cell(cell).filter(|_| self.mark_of(cell).is_none()) {
                return Ok(Typed::constant(value, ty));
            }
            if let CCell::Register(register) = cell {
                return Ok(Typed::number(Expr::Leaf(register), ty));
            }
        }
        if let Some(value) = self.constant_view(&target) {
            return Ok(Typed::constant(value, ty));
        }
        let register = self.temporary()?;
        let next = self.place();
        self.note_plain(&target, &place.ty);
        if !self.choice(&target, &CChosen::Load(register), next) {
            self.access(&target, &|cell| vec![(CStep::Op(Op::together(target.reads(cell, register))), next)]);
        }
        self.at = next;
        Ok(Typed::number(Expr::Leaf(register), ty))
    }

    /// Notes that an access is plain, if its type is.
    pub fn note_plain(&mut self, target: &CTarget, ty: &Type) {
        if !ty.atomic && !ty.volatile {
            let variables = target.all_cells().into_iter().filter_map(|cell| match cell {
                CCell::Memory(variable) => Some((self.span, variable)),
                CCell::Register(_) => None,
            });
            self.world.plain.extend(variables);
        }
    }

    /// What a cell holds, if that is known: here, or everywhere and always.
    pub fn constant_cell(&self, cell: CCell) -> Option<i128> {
        if let Some(value) = self.known.get(&cell) {
            return Some(*value);
        }
        let CCell::Memory(variable) = cell else { return None };
        let shared = &self.world.variables[variable.index()];
        let (address, facts) = (shared.address?, &self.world.facts);
        match facts.variables.get(&address) {
            None => Some(shared.initial),
            Some(_) if self.shared && !facts.unsettled.contains(&address) => {
                facts.settled.get(&address).copied()
            }
            Some(_) => None,
        }
    }

    /// Stores a value that fits.
    pub fn store(&mut self, place: &CPlace, value: &Expr<RegId>, order: COrder) -> CLowered<()> {
        let target = self.target(place)?;
        self.store_to(&target, value, order, place.token)
    }

    pub fn store_to(
        &mut self,
        target: &CTarget,
        value: &Expr<RegId>,
        order: COrder,
        token: u32,
    ) -> CLowered<()> {
        let in_memory = target.cells.iter().any(|(_, cell)| matches!(cell, CCell::Memory(_)));
        let ordered = in_memory && self.section == 0;
        if target.is_wide() {
            return self.store_wide(target, value, ordered.then_some(order), token);
        }
        let exchange = order == COrder::SeqCst && ordered && self.world.options.exchange_stores;
        let release = order == COrder::Release && !self.world.options.plain_release;
        if ordered && (release || order == COrder::SeqCst && !exchange) {
            self.step(Op::Fence(Fence::Store));
        }
        let next = self.place();
        let write = |cell| {
            let writes = target.writes(cell, value).into_iter();
            writes
                .map(|op| {
                    let locked = exchange && matches!(op, Op::Store(..));
                    (CStep::Op(if locked { Op::locked(vec![op]) } else { op }), next)
                })
                .collect()
        };
        if !self.choice(target, &CChosen::Store { value: value.clone(), locked: exchange }, next) {
            self.access(target, &write);
        }
        self.at = next;
        if order == COrder::SeqCst && ordered && !exchange {
            self.step(Op::Fence(Fence::Full));
        }
        self.changed(target, constant(value));
        Ok(())
    }

    /// Notes that one of the cells holds something else now.
    pub fn changed(&mut self, target: &CTarget, value: Option<i128>) {
        match target.only() {
            Some(cell) => self.note(cell, value),
            None if target.view.is_some() => self.view_changed(target, value),
            None => target.cells.iter().for_each(|(_, cell)| self.note(*cell, None)),
        }
    }

    /// A number for an address, so that it can be kept. Its object must be in memory for that.
    pub fn as_number(&mut self, value: &CValue, token: u32) -> CLowered<Expr<RegId>> {
        match value {
            CValue::Number(expr) => Ok(expr.clone()),
            CValue::Function(name) => Ok(number(self.world.function_address(name))),
            CValue::Address(inside) => {
                let object = &self.world.objects[inside.object];
                let Some(base) = object.base else {
                    self.world.facts.in_memory.insert(object.key);
                    self.world.again = true;
                    return Ok(number(0));
                };
                if let Some(at) = inside.only() {
                    return Ok(number(base + at as i128));
                }
                self.chosen_address(inside, base)
            }
            CValue::Object(_) => Err(self.error(token, "a structure is no number")),
            CValue::Nothing => Err(self.error(token, "this has no value")),
        }
    }

    /// The address of a cell that a key chooses.
    fn chosen_address(&mut self, inside: &Inside, base: i128) -> CLowered<Expr<RegId>> {
        let first = inside.table[0];
        let step = inside.table.get(1).map_or(1, |second| second.1 as i128 - first.1 as i128);
        let even = |(key, at): &(i128, usize)| *at as i128 == first.1 as i128 + (key - first.0) * step;
        if inside.table.iter().all(even) {
            let offset = combine(Arith::Mul, inside.key.clone(), number(step));
            return Ok(combine(Arith::Add, offset, number(base + first.1 as i128 - first.0 * step)));
        }
        let register = self.temporary()?;
        let (from, next) = (self.at, self.place());
        for (key, at) in &inside.table {
            self.way_if(from, &inside.key, *key);
            self.arrow(CStep::Op(Op::Assign(register, number(base + *at as i128))), next);
        }
        self.at = next;
        Ok(Expr::Leaf(register))
    }

    /// The place `index` elements behind the start of an array, or of what a pointer points to.
    pub fn element(&mut self, base: &Typed, index: &Typed, token: u32) -> CLowered<CPlace> {
        let Some(ty) = base.ty.inner().cloned() else {
            return Err(self.error(token, "this is no array or pointer"));
        };
        let stride = self.stride(self.pointed_cell(&base.value), &ty, token)?;
        let by = self.as_number(&index.value, token)?;
        match &base.value {
            CValue::Address(inside) => {
                let inside = self.shifted(inside, &ty, &by, token)?;
                Ok(CPlace { spot: CSpot::Inside(inside), ty, token })
            }
            other => {
                let address = self.as_number(other, token)?;
                let offset = combine(Arith::Mul, by, number(stride as i128));
                Ok(CPlace { spot: CSpot::At(combine(Arith::Add, address, offset)), ty, token })
            }
        }
    }

    /// Some elements further inside an object; outside of it is a violation.
    fn shifted(&mut self, inside: &Inside, ty: &Type, by: &Expr<RegId>, token: u32) -> CLowered<Inside> {
        let stride = self.stride(inside.table.first().map(|(_, at)| (inside.object, *at)), ty, token)?;
        let object = &self.world.objects[inside.object];
        let name = object.name.clone();
        let (low, high) = (inside.within.0, inside.within.1.min(object.cells.len()));
        let Some(start) = inside.only() else {
            if constant(by) == Some(0) {
                return Ok(inside.clone());
            }
            return self.product(inside, stride, by, token);
        };
        let (stride, from) = (stride.max(1), start - low.min(start));
        let (first, rest) = (from / stride, low + from % stride);
        let length = high.saturating_sub(rest).div_ceil(stride);
        if let Some(by) = constant(by) {
            let at = first as i128 + by;
            return match usize::try_from(at) {
                Ok(at) if at < length => {
                    self.world.check_stride(
                        inside.object,
                        ty,
                        (rest, at * stride + rest),
                        at as i128,
                        token,
                    )?;
                    Ok(Inside { within: inside.within, ..Inside::at(inside.object, at * stride + rest) })
                }
                _ => {
                    let kind = FailureKind::Bounds { array: name, length, index: number(at) };
                    self.fail(kind);
                    Ok(Inside::at(inside.object, start))
                }
            };
        }
        let last = length.saturating_sub(1);
        self.world.check_stride(inside.object, ty, (rest, last * stride + rest), last as i128, token)?;
        let by = self.kept(by.clone())?;
        let index = combine(Arith::Add, by.clone(), number(first as i128));
        self.claim_bounds(name, length, index);
        let key = |at: usize| at as i128 - first as i128;
        let mut table: Vec<(i128, usize)> = (0..length).map(|at| (key(at), at * stride + rest)).collect();
        // A second index must find all rows.
        if length > FEW_CELLS && !self.world.unit.records.holds_arrays(ty) {
            let values = self.found(&by, (further(self.path, "index"), token));
            let some_cell = table.first().copied();
            table.retain(|(key, _)| values.contains(*key));
            // Nothing is known in the first round, and what comes behind is to be looked at.
            if table.is_empty() {
                table.extend(some_cell);
            }
        }
        Ok(Inside { object: inside.object, key: by, table, within: inside.within })
    }

    /// A violation unless an index lies in its array.
    fn claim_bounds(&mut self, array: String, length: usize, index: Expr<RegId>) {
        let inside = Cond::and([
            Cond::compare(Relation::Ge, index.clone(), 0),
            Cond::compare(Relation::Lt, index.clone(), number(length as i128)),
        ]);
        self.claim(inside, FailureKind::Bounds { array, length, index });
    }

    /// A second index: rows of an array of arrays.
    fn product(&mut self, inside: &Inside, stride: usize, by: &Expr<RegId>, token: u32) -> CLowered<Inside> {
        let offsets: Vec<usize> = inside.table.iter().map(|(_, at)| *at).collect();
        let row = offsets.windows(2).map(|pair| pair[1].abs_diff(pair[0])).min().unwrap_or(0);
        let count = row / stride.max(1);
        if count == 0 {
            return Err(self.error(token, "this index is too involved; use one that is known"));
        }
        let name = self.world.objects[inside.object].name.clone();
        let by = self.kept(by.clone())?;
        self.claim_bounds(name, count, by.clone());
        let key = combine(Arith::Mul, inside.key.clone(), number(count as i128));
        let key = combine(Arith::Add, key, by);
        let rows = inside.table.iter();
        let table = rows.flat_map(|(key, at)| {
            (0..count).map(move |inner| (key * count as i128 + inner as i128, at + inner * stride))
        });
        Ok(Inside { object: inside.object, key, table: table.collect(), within: (0, usize::MAX) })
    }
}

/// Reads a cell into a register.
pub(super) fn read(cell: CCell, register: RegId) -> Op {
    match cell {
        CCell::Register(from) => Op::Assign(register, Expr::Leaf(from)),
        CCell::Memory(variable) => Op::Load(register, variable),
    }
}

/// Writes a cell.
pub(super) fn write(cell: CCell, value: Expr<RegId>) -> Op {
    match cell {
        CCell::Register(to) => Op::Assign(to, value),
        CCell::Memory(variable) => Op::Store(variable, value),
    }
}
