//! Atomic operations: which instruction each is, in one table.
//!
//! | operation | steps |
//! |---|---|
//! | load, any order | load |
//! | store, relaxed | store |
//! | store, release | `fence store`, store |
//! | store, seq_cst | one locked step, or `fence store`, store, `fence` |
//! | read-modify-write, also a compare-exchange that fails | one locked step |
//! | fence, seq_cst; `__sync_synchronize` | `fence` |
//! | fence, release or acq_rel | `fence store` |
//! | fence, acquire or relaxed; signal fence | nothing |

use super::graph::{At, CStep, Fits};
use super::numbers::{all_bits, arith, wrap};
use super::places::{COrder, CTarget};
use super::thread::Lowerer;
use super::value::{CPlace, Typed, combine, constant, number};
use super::world::{CCell, CLowered};
use crate::c::ast::{Binary, CExpr};
use crate::c::types::{Type, TypeKind};
use program::{Arith, Cond, Expr as Over, Fence, Op, RegId, Relation};

/// A compare-exchange with its operands evaluated.
pub(super) struct Swapping {
    place: CPlace,
    /// What is expected, and where that is kept, if the old value goes there.
    expected: Over<RegId>,
    kept: Option<CPlace>,
    desired: Over<RegId>,
    /// Whether the old value is the result, instead of whether it stored.
    old_wanted: bool,
}

/// What a read-modify-write makes of the old value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CUpdate {
    Swap,
    With(Arith),
    Nand,
}

impl Lowerer<'_, '_> {
    /// The order that an argument names; those that are not known are the strongest.
    pub fn order(&mut self, argument: Option<&CExpr>) -> CLowered<COrder> {
        let Some(argument) = argument else { return Ok(COrder::SeqCst) };
        let value = self.value(argument)?;
        Ok(match value.as_constant() {
            Some(0..=2) => COrder::Plain,
            Some(3 | 4) => COrder::Release,
            Some(5) => COrder::SeqCst,
            _ => return Err(self.error(argument.token, "the memory order must be known here")),
        })
    }

    /// What the first argument of an atomic operation points to, with an order that is said besides.
    fn operand(&mut self, argument: &CExpr) -> CLowered<CPlace> {
        let pointer = self.value(argument)?;
        let place = self.pointee(pointer, argument.token)?;
        let place = CPlace { ty: Type { atomic: true, ..place.ty.plain() }, ..place };
        self.first_cell(place, argument.token)
    }

    /// A scalar, or the first one of an object: `pthread_mutex_t` and the like are structures.
    fn first_cell(&mut self, place: CPlace, token: u32) -> CLowered<CPlace> {
        if place.ty.is_scalar() {
            return Ok(place);
        }
        match self.world.unit.records.scalars(&place.ty).first() {
            Some((ty, _)) => Ok(CPlace { ty: ty.plain(), ..place }),
            None => Err(self.error(token, "this object has no parts")),
        }
    }

    /// What a pointer points to, or its first scalar, without qualifiers.
    pub fn plain_cell(&mut self, pointer: Typed, token: u32) -> CLowered<CPlace> {
        let place = self.pointee(pointer, token)?;
        let place = self.first_cell(place, token)?;
        Ok(CPlace { ty: place.ty.plain(), ..place })
    }

    fn operand_value(&mut self, argument: &CExpr, ty: &Type) -> CLowered<Over<RegId>> {
        let value = self.value(argument)?;
        let value = self.convert(value, ty, argument.token)?;
        let over = self.as_number(&value.value, argument.token)?;
        self.kept(over)
    }

    /// An atomic operation of C11, of GCC's `__atomic` or of its `__sync`; nothing for other names.
    pub fn atomic(&mut self, name: &str, arguments: &[CExpr], token: u32) -> CLowered<Option<Typed>> {
        if let Some(cas) = self.compare_exchange(name, arguments, token)? {
            return self.compare_and_swap_value(cas).map(Some);
        }
        if let Some(value) = self.through_memory(name, arguments, token)? {
            return Ok(Some(value));
        }
        let plain = name.trim_start_matches("__c11_").trim_start_matches("__").trim_end_matches("_n");
        let short = plain.trim_end_matches("_explicit");
        let explicit = short != plain || name.starts_with("__");
        let last = |wanted: usize| arguments.get(wanted).filter(|_| explicit);
        match (short, arguments.len()) {
            ("atomic_load", 1 | 2) => {
                self.order(last(1))?;
                let place = self.operand(&arguments[0])?;
                self.load(&place).map(Some)
            }
            ("atomic_store", 2 | 3) | ("atomic_init", 2) => {
                let order = match short {
                    "atomic_init" => COrder::Plain,
                    _ => self.order(last(2))?,
                };
                let place = self.operand(&arguments[0])?;
                let value = self.operand_value(&arguments[1], &place.ty)?;
                self.store(&place, &value, order)?;
                Ok(Some(Typed::nothing()))
            }
            ("atomic_thread_fence", 1) => {
                match self.order(arguments.first())? {
                    COrder::SeqCst => self.fence(Fence::Full),
                    COrder::Release if !self.world.options.plain_release => self.fence(Fence::Store),
                    _ => {}
                }
                Ok(Some(Typed::nothing()))
            }
            ("atomic_always_lock_free" | "atomic_is_lock_free", 1 | 2) => {
                Ok(Some(Typed::constant(1, Type::new(TypeKind::Bool))))
            }
            ("atomic_signal_fence" | "atomic_compiler_fence", 1) => Ok(Some(Typed::nothing())),
            ("sync_synchronize", 0) => {
                self.fence(Fence::Full);
                Ok(Some(Typed::nothing()))
            }
            ("sync_lock_release" | "atomic_flag_clear" | "atomic_clear", 1..) => {
                let order = match short {
                    "sync_lock_release" => COrder::Release,
                    _ => self.order(last(1))?,
                };
                let place = self.operand(&arguments[0])?;
                self.store(&place, &number(0), order)?;
                Ok(Some(Typed::nothing()))
            }
            ("atomic_flag_test_and_set" | "atomic_test_and_set", 1..) => {
                let place = self.operand(&arguments[0])?;
                self.read_modify_write(&place, CUpdate::Swap, number(1), true, token).map(Some)
            }
            _ => {
                let in_bytes = name.starts_with("__") && !name.starts_with("__c11_");
                self.fetching(short, in_bytes, arguments, token)
            }
        }
    }

    /// GCC's forms for any type, which take and give values through pointers.
    fn through_memory(&mut self, name: &str, arguments: &[CExpr], token: u32) -> CLowered<Option<Typed>> {
        match (name, arguments) {
            ("__atomic_load", [pointer, to, order]) => {
                self.order(Some(order))?;
                let (place, to) = (self.operand(pointer)?, self.operand(to)?);
                let value = self.loaded(&place, token)?;
                self.store(&to, &value, COrder::Plain)?;
                Ok(Some(Typed::nothing()))
            }
            ("__atomic_store", [pointer, from, order]) => {
                let order = self.order(Some(order))?;
                let place = self.operand(pointer)?;
                let value = self.value_at(from, token)?;
                self.store(&place, &value, order)?;
                Ok(Some(Typed::nothing()))
            }
            ("__atomic_exchange", [pointer, from, to, order]) => {
                self.order(Some(order))?;
                let (place, to) = (self.operand(pointer)?, self.operand(to)?);
                let value = self.value_at(from, token)?;
                let old = self.read_modify_write(&place, CUpdate::Swap, value, true, token)?;
                let old = self.as_number(&old.value, token)?;
                self.store(&to, &old, COrder::Plain)?;
                Ok(Some(Typed::nothing()))
            }
            _ => Ok(None),
        }
    }

    /// What a pointer points to, kept.
    fn value_at(&mut self, pointer: &CExpr, token: u32) -> CLowered<Over<RegId>> {
        let at = self.operand(pointer)?;
        let value = self.loaded(&at, token)?;
        self.kept(value)
    }

    /// What a place holds, as a number.
    fn loaded(&mut self, place: &CPlace, token: u32) -> CLowered<Over<RegId>> {
        let value = self.load(place)?;
        self.as_number(&value.value, token)
    }

    /// `fetch_add` and its kin.
    /// GNU's count bytes where they change pointers.
    fn fetching(
        &mut self,
        name: &str,
        in_bytes: bool,
        arguments: &[CExpr],
        token: u32,
    ) -> CLowered<Option<Typed>> {
        let before = name.strip_prefix("atomic_fetch_").or_else(|| name.strip_prefix("sync_fetch_and_"));
        let after = name.strip_prefix("atomic_").or_else(|| name.strip_prefix("sync_"));
        let after = after.and_then(|rest| rest.strip_suffix("_fetch"));
        let (word, old) = match (name, before, after) {
            ("atomic_exchange" | "sync_lock_test_and_set" | "sync_swap", ..) => ("swap", true),
            (_, Some(word), _) => (word, true),
            (_, None, Some(word)) => (word.trim_end_matches("_and"), false),
            _ => return Ok(None),
        };
        if let ("max" | "umax" | "min" | "umin", true, [pointer, value, ..]) = (word, old, arguments) {
            let place = self.operand(pointer)?;
            let value = self.operand_value(value, &place.ty)?;
            let mask = match *place.ty.kind {
                TypeKind::Int { bits, .. } if word.starts_with('u') => Some((1i128 << bits) - 1),
                _ => None,
            };
            return self.keep_extreme(&place, &value, word.ends_with("max"), mask).map(Some);
        }
        let update = match word {
            "swap" => CUpdate::Swap,
            "add" => CUpdate::With(Arith::Add),
            "sub" => CUpdate::With(Arith::Sub),
            "and" => CUpdate::With(Arith::And),
            "or" => CUpdate::With(Arith::Or),
            "xor" => CUpdate::With(Arith::Xor),
            "nand" => CUpdate::Nand,
            _ => return Ok(None),
        };
        let [pointer, value, ..] = arguments else { return Ok(None) };
        if let Some(order) = arguments.get(2).filter(|_| name.starts_with("atomic")) {
            self.order(Some(order))?;
        }
        let place = self.operand(pointer)?;
        let ty = if place.ty.is_pointer() && update != CUpdate::Swap {
            Type::integer(64, true)
        } else {
            place.ty.clone()
        };
        let mut by = self.operand_value(value, &ty)?;
        if let (Some(inner), true, true) = (place.ty.inner(), update != CUpdate::Swap, in_bytes) {
            let size = self.world.unit.records.size(inner).map_or(1, |(size, _)| i128::from(size));
            let elements = constant(&by).filter(|bytes| bytes % size == 0).map(|bytes| bytes / size);
            let Some(elements) = elements else {
                return Err(self.error(token, "this moves a pointer by a part of what it points to"));
            };
            by = number(elements);
        }
        self.read_modify_write(&place, update, by, old, token).map(Some)
    }

    /// `x += e` and `x++` of an atomic object.
    pub fn atomic_update(
        &mut self,
        place: &CPlace,
        op: Binary,
        by: Typed,
        old: bool,
        token: u32,
    ) -> CLowered<Typed> {
        let plain = CPlace { ty: place.ty.plain(), ..place.clone() };
        let by = self.convert(by, &plain.ty, token)?;
        let by = self.as_number(&by.value, token)?;
        let by = self.kept(by)?;
        match arith(op) {
            None | Some(Arith::Div | Arith::Rem) => {
                Err(self.error(token, "this operation on an atomic object is not read"))
            }
            Some(op) => self.read_modify_write(&plain, CUpdate::With(op), by, old, token),
        }
    }

    /// One locked step that reads, computes and writes.
    fn read_modify_write(
        &mut self,
        place: &CPlace,
        update: CUpdate,
        by: Over<RegId>,
        old_wanted: bool,
        token: u32,
    ) -> CLowered<Typed> {
        let target = self.target(place)?;
        let ty = place.ty.plain();
        let old = self.temporary()?;
        let stride = match ty.inner() {
            Some(inner) if update != CUpdate::Swap => self.stride(None, inner, token)? as i128,
            _ => 1,
        };
        let by = combine(Arith::Mul, by, number(stride));
        let (value, fits) = self.updated(update, old, by, &ty, token)?;
        let result =
            if old_wanted || update == CUpdate::Swap { Over::Leaf(old) } else { self.later(&value)? };
        let new = match &result {
            Over::Leaf(register) if *register != old => Some(*register),
            _ => None,
        };
        let next = self.place();
        self.access_parts(&target, next, &|cell| {
            let mut parts = target.reads(cell, old);
            let loaded = parts.len();
            parts.extend(target.writes(cell, &value));
            parts.extend(new.map(|new| Op::Assign(new, value.clone())));
            (parts, fits.clone().map(|fits| (loaded, fits)))
        });
        self.at = next;
        self.changed(&target, None);
        Ok(Typed::number(result, ty))
    }

    /// A register for a value that is computed inside the step.
    fn later(&mut self, value: &Over<RegId>) -> CLowered<Over<RegId>> {
        if constant(value).is_some() {
            return Ok(value.clone());
        }
        Ok(Over::Leaf(self.temporary()?))
    }

    /// The new value, and the check that it fits if that is not clear.
    fn updated(
        &mut self,
        update: CUpdate,
        old: RegId,
        by: Over<RegId>,
        ty: &Type,
        token: u32,
    ) -> CLowered<(Over<RegId>, Option<Fits>)> {
        let leaf = Over::Leaf(old);
        let arith = match update {
            CUpdate::Swap => return Ok((by, None)),
            CUpdate::With(arith) => arith,
            CUpdate::Nand => {
                let both = Over::binary(Arith::And, leaf, by);
                return Ok((combine(Arith::Sub, number(all_bits(ty)), both), None));
            }
        };
        let value = combine(arith, leaf, by);
        let grows = matches!(arith, Arith::Add | Arith::Sub | Arith::Mul);
        let (Some((low, high)), true) = (ty.range(), grows && !ty.is_pointer()) else {
            return Ok((value, None));
        };
        // Into a type narrower than `int` the result is converted.
        let site = (token, ty.bits() < 32);
        if self.world.facts.unfit.contains(&site) {
            return Ok((wrap(value, low, high), None));
        }
        let fits = Fits { value: value.clone(), low, high, site };
        Ok((value, Some(fits)))
    }

    /// Several operations on one cell as one locked step, or one by one where nothing can come between.
    fn access_parts(
        &mut self,
        target: &CTarget,
        next: At,
        parts: &dyn Fn(CCell) -> (Vec<Op>, Option<(usize, Fits)>),
    ) {
        if self.section == 0 {
            self.access(target, &|cell| {
                let (parts, fits) = parts(cell);
                let step = match fits {
                    Some((at, fits)) => CStep::Checked(parts, at, fits),
                    None => CStep::Op(Op::locked(parts)),
                };
                vec![(step, next)]
            });
            return;
        }
        // Inside an atomic section: a choice first, then the operations in a row.
        let cells: Vec<(CCell, At)> =
            target.cells.iter().map(|(_, cell)| (*cell, self.graph.place())).collect();
        let start = |cell: CCell| cells.iter().find(|(known, _)| *known == cell).map_or(next, |(_, at)| *at);
        self.access(target, &|cell| vec![(CStep::Op(Op::Skip), start(cell))]);
        for (cell, at) in &cells {
            self.at = *at;
            let (parts, fits) = parts(*cell);
            for (index, part) in parts.into_iter().enumerate() {
                if let Some((at, fits)) = &fits
                    && *at == index
                {
                    self.step_raw(CStep::Fits(fits.clone()));
                }
                self.step(part);
            }
            self.join(next);
        }
    }

    /// The operands of a compare-exchange, if the name is one's.
    pub fn compare_exchange(
        &mut self,
        name: &str,
        arguments: &[CExpr],
        token: u32,
    ) -> CLowered<Option<Swapping>> {
        let sync = matches!(name, "__sync_bool_compare_and_swap" | "__sync_val_compare_and_swap");
        let known = sync
            || name.starts_with("atomic_compare_exchange_")
            || name.starts_with("__atomic_compare_exchange")
            || name.starts_with("__c11_atomic_compare_exchange_");
        let ([pointer, expected, desired, ..], true) = (arguments, known) else { return Ok(None) };
        let place = self.operand(pointer)?;
        let mut kept = None;
        let expected = if sync {
            self.operand_value(expected, &place.ty)?
        } else {
            let at = self.operand(expected)?;
            let value = self.loaded(&at, token)?;
            kept = Some(at);
            self.kept(value)?
        };
        let desired = if name == "__atomic_compare_exchange" {
            self.value_at(desired, token)?
        } else {
            self.operand_value(desired, &place.ty)?
        };
        let old_wanted = name == "__sync_val_compare_and_swap";
        Ok(Some(Swapping { place, expected, kept, desired, old_wanted }))
    }

    fn compare_and_swap_value(&mut self, cas: Swapping) -> CLowered<Typed> {
        let (yes, no, end) = (self.place(), self.place(), self.place());
        let (old_wanted, ty) = (cas.old_wanted, cas.place.ty.plain());
        let result = self.temporary()?;
        let old = self.compare_and_swap(cas, (yes, no))?;
        let value = |truth| if old_wanted { Over::Leaf(old) } else { number(truth) };
        self.meet([(yes, value(1)), (no, value(0))], result, end);
        Ok(if old_wanted { Typed::number(Over::Leaf(result), ty) } else { Typed::truth(Over::Leaf(result)) })
    }

    /// Compares and swaps, going one of two ways. Gives the register with the old value.
    pub fn compare_and_swap(&mut self, cas: Swapping, (yes, no): (At, At)) -> CLowered<RegId> {
        let target = self.target(&cas.place)?;
        let old = self.temporary()?;
        let equal = Cond::compare(Relation::Eq, old, cas.expected.clone());
        let failed = self.place();
        if self.section == 0 {
            self.access(&target, &|cell| {
                let mut fail = target.reads(cell, old);
                let mut succeed = fail.clone();
                succeed.push(Op::Assume(equal.clone()));
                succeed.extend(target.writes(cell, &cas.desired));
                fail.push(Op::Assume(equal.clone().negate()));
                vec![(CStep::Op(Op::locked(succeed)), yes), (CStep::Op(Op::locked(fail)), failed)]
            });
        } else {
            let (next, stored) = (self.place(), self.place());
            self.access(&target, &|cell| vec![(CStep::Op(Op::together(target.reads(cell, old))), next)]);
            self.at = next;
            self.fork(equal, stored, failed);
            self.at = stored;
            self.write_in_section(&target, &cas.desired, yes);
        }
        self.changed(&target, None);
        self.at = failed;
        if let Some(kept) = &cas.kept {
            self.store(kept, &Over::Leaf(old), COrder::Plain)?;
            let changed = self.target(kept)?;
            self.changed(&changed, None);
        }
        self.join(no);
        Ok(old)
    }
}
