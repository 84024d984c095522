//! Memory that is allocated, freed, filled and copied.
//!
//! A call of `malloc` that is reached once has an object of its own; one in a loop has a *pool* of them, and
//! a run that needs more gets to a limit. Nothing is handed out twice, which verdicts say if something is
//! freed. Objects that may be freed have a mark that `free` sets, and every access looks at it.

use super::graph::{At, CStep};
use super::library::WRITTEN_FIRST;
use super::places::COrder;
use super::thread::Lowerer;
use super::value::{CPlace, CValue, Inside, Typed, combine, constant, number};
use super::values::CValues;
use super::world::{CCell, CLowered};
use crate::c::ast::CExpr;
use crate::c::constant::wrapped;
use crate::c::types::{Type, TypeKind};
use program::{Arith, Cond, Expr as Over, Op, RegId, Relation, VarId};

/// What is assumed where something is freed.
const NOT_AGAIN: &str = "freed memory is not handed out again";

/// Objects of the heap have keys with this count.
const HEAP: u32 = 3;

impl Lowerer<'_, '_> {
    /// Memory from the heap.
    pub fn allocate(&mut self, name: &str, arguments: &[CExpr], token: u32) -> CLowered<Typed> {
        let mut size = 1i128;
        for argument in arguments {
            let value = self.value(argument)?;
            let Some(value) = value.as_constant() else {
                return Err(self.error(token, "the size of allocated memory must be known"));
            };
            size = size.saturating_mul(value);
        }
        let element =
            self.wanted.clone().filter(|ty| !ty.is_void()).unwrap_or_else(|| Type::integer(64, true));
        let bytes = self.world.unit.records.size(&element).map_or(8, |(bytes, _)| bytes.max(1));
        let count = (size.max(1) as u64).div_ceil(bytes);
        let ty = Type::new(TypeKind::Array(element.clone(), Some(count)));
        if name != "calloc" {
            self.world.assumed.insert(self.span, WRITTEN_FIRST);
        }
        // Memory starts with zeros, and is handed out once.
        let pointer = element.pointer();
        if self.loops > 0 {
            return self.take_from_pool(ty, pointer, token);
        }
        let object = self.heap_object(&ty, 1, token)?;
        Ok(Typed::pointer(CValue::Address(Inside::at(object, 0)), pointer))
    }

    /// The next block of a pool.
    fn take_from_pool(&mut self, block: Type, pointer: Type, token: u32) -> CLowered<Typed> {
        let cells = self.stride(None, &block, token)?.max(1);
        let blocks = self.world.options.heap.max(1);
        let pool = Type::new(TypeKind::Array(block, Some(blocks as u64)));
        let object = self.heap_object(&pool, blocks, token)?;
        let base = self.world.objects[object].base.unwrap_or(0);
        let used = self.pool_counter((self.path, token, HEAP))?;
        let (more, full) = (self.place(), self.place());
        self.fork(Cond::compare(Relation::Lt, used, number(blocks as i128)), more, full);
        self.at = full;
        self.limit(format!("only {blocks} blocks of memory are looked at (--heap)"));
        self.at = more;
        let offset = combine(Arith::Mul, Over::Leaf(used), number(cells as i128));
        let address = self.kept(combine(Arith::Add, offset, number(base)))?;
        self.step(Op::Assign(used, combine(Arith::Add, Over::Leaf(used), number(1))));
        Ok(Typed::number(address, pointer))
    }

    fn heap_object(&mut self, ty: &Type, blocks: usize, token: u32) -> CLowered<usize> {
        let before = self.world.objects.iter().filter(|object| object.key.2 == HEAP);
        let key = (self.path, token, HEAP);
        let number = before.clone().position(|object| object.key == key).unwrap_or_else(|| before.count());
        let name = format!("heap_{}", number + 1);
        let object = self.world.memory_object(key, &name, ty, self.span, token)?;
        if self.world.facts.freed.contains(&key) && !self.world.marks.contains_key(&object) {
            let span = self.span;
            let mark = |at: usize| {
                format!("{name}.freed{}", if blocks > 1 { format!("[{at}]") } else { String::new() })
            };
            let marks = (0..blocks).map(|at| self.world.hidden(mark(at), span)).collect();
            self.world.marks.insert(object, marks);
        }
        Ok(object)
    }

    /// The mark of the block that a cell of an object is in, if it may be freed.
    pub fn mark_of(&self, cell: CCell) -> Option<VarId> {
        if self.world.marks.is_empty() {
            return None;
        }
        let mut objects = self.world.marks.iter();
        objects.find_map(|(object, marks)| {
            let cells = &self.world.objects[*object].cells;
            let at = cells.iter().position(|other| *other == cell)?;
            marks.get(at * marks.len() / cells.len().max(1)).copied()
        })
    }

    /// Goes on to `next` if a block is not freed.
    pub fn unless_freed(&mut self, mark: VarId, register: RegId, next: At) {
        let looked = |value| {
            let cond = Cond::compare(Relation::Eq, register, number(value));
            Op::Block { locked: false, parts: vec![Op::Load(register, mark), Op::Assume(cond)] }
        };
        let bad = self.mistake("memory is used after it was freed");
        self.arrow(CStep::Op(looked(0)), next);
        self.arrow(CStep::Op(looked(1)), bad);
    }

    /// `free`.
    pub fn free(&mut self, argument: &CExpr, token: u32) -> CLowered<()> {
        let address = self.number_of(argument, token)?;
        if constant(&address) == Some(0) {
            return Ok(());
        }
        self.world.assumed.insert(self.span, NOT_AGAIN);
        let blocks = self.blocks_at(&address, token);
        let address = self.kept(address)?;
        let (from, next, old) = (self.at, self.place(), self.temporary()?);
        let equal = |value: i128| Cond::compare(Relation::Eq, address.clone(), number(value));
        let mut others = vec![Cond::compare(Relation::Ne, address.clone(), 0)];
        if constant(&address).is_none() {
            self.arrow(CStep::Op(Op::Assume(equal(0))), next);
        }
        for (at, mark) in blocks {
            others.push(equal(at).negate());
            self.way_unless_clear(from, equal(at));
            let Some(mark) = mark else {
                self.join(next);
                continue;
            };
            let twice = self.mistake("memory is freed twice");
            let is = |value| Op::Assume(Cond::compare(Relation::Eq, old, number(value)));
            let freed = vec![Op::Load(old, mark), is(0), Op::Store(mark, number(1))];
            self.arrow(CStep::Op(Op::locked(freed)), next);
            self.arrow(CStep::Op(Op::locked(vec![Op::Load(old, mark), is(1)])), twice);
        }
        self.at = from;
        let others = Cond::and(others);
        if others != Cond::FALSE {
            let bad = self.mistake("something is freed that was not allocated");
            self.arrow(CStep::Op(Op::Assume(others)), bad);
        }
        self.at = next;
        Ok(())
    }

    /// The blocks of the heap that an address may be the beginning of, with their marks. Those without one
    /// get it in the next round.
    fn blocks_at(&mut self, address: &Over<RegId>, token: u32) -> Vec<(i128, Option<VarId>)> {
        let values = match constant(address) {
            Some(known) => CValues::only(known),
            None => self.found(address, (self.path, token)),
        };
        let mut found = Vec::new();
        for (index, object) in self.world.objects.iter().enumerate().filter(|(_, o)| o.key.2 == HEAP) {
            let Some(base) = object.base else { continue };
            let marks = self.world.marks.get(&index);
            // Before there are marks, every cell may begin a block.
            let starts = marks.map_or(object.cells.len(), Vec::len);
            let step = (object.cells.len() / starts.max(1)).max(1) as i128;
            for at in (0..starts as i128).filter(|at| values.contains(base + at * step)) {
                self.world.again |= self.world.facts.freed.insert(object.key);
                found.push((base + at * step, marks.map(|marks| marks[at as usize])));
            }
        }
        found.sort_unstable_by_key(|(at, _)| *at);
        found
    }

    /// `memset`.
    pub fn set_memory(&mut self, arguments: &[CExpr], token: u32) -> CLowered<Typed> {
        let to = self.value(&arguments[0])?;
        let to = self.keep_typed(to)?;
        let byte = self.value(&arguments[1])?;
        let (element, count) = self.elements(&to, &arguments[2], token)?;
        let Some(byte) = byte.as_constant().filter(|byte| [0, -1, 255].contains(byte)) else {
            return Err(self.error(token, "`memset` is only read with 0 and with -1"));
        };
        for at in 0..count {
            let place = self.element(&to, &Typed::constant(at, Type::integer(64, true)), token)?;
            for part in self.scalar_parts(&place, &element)? {
                let plain = CPlace { ty: part.ty.plain(), ..part };
                let value = if byte == 0 { 0 } else { wrapped(-1, &plain.ty) };
                self.store(&plain, &number(value), COrder::Plain)?;
            }
        }
        Ok(to)
    }

    /// `memcpy` and `memmove` of whole objects.
    pub fn copy_memory(&mut self, arguments: &[CExpr], token: u32) -> CLowered<Typed> {
        let to = self.value(&arguments[0])?;
        let to = self.keep_typed(to)?;
        let from = self.value(&arguments[1])?;
        let from = self.keep_typed(from)?;
        let (element, count) = self.elements(&to, &arguments[2], token)?;
        let from = Typed { ty: element.clone().pointer(), ..from };
        for at in 0..count {
            let index = Typed::constant(at, Type::integer(64, true));
            let source = self.element(&from, &index, token)?;
            let target = self.element(&to, &index, token)?;
            let value = self.load(&source)?;
            let plain = CPlace { ty: element.plain(), ..target };
            self.assign_value(&plain, value, token)?;
        }
        Ok(to)
    }

    /// How many elements a number of bytes is, and what they are.
    fn elements(&mut self, pointer: &Typed, bytes: &CExpr, token: u32) -> CLowered<(Type, i128)> {
        let Some(element) = pointer.ty.inner().filter(|ty| !ty.is_void()).cloned() else {
            return Err(self.error(token, "what this points to is not known"));
        };
        let size = self.world.unit.records.size(&element).map_or(1, |(size, _)| i128::from(size.max(1)));
        let bytes = self.value(bytes)?.as_constant().filter(|bytes| bytes % size == 0);
        match bytes {
            Some(bytes) => Ok((element, bytes / size)),
            None => Err(self.error(token, "only whole objects of a known size are filled or copied")),
        }
    }
}
