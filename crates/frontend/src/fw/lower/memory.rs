//! Loads and stores of shared variables, registers, and cells and fields of either.
//!
//! Nothing below the front end knows arrays: a computed index becomes a case split with one
//! edge per cell, and one edge for all indices outside, which leads to a failure.

use super::layout::{CellIndex, CellLayout, FwCell, StoredCells};
use super::thread::{FwLowering, NameMeaning};
use crate::Diagnostic;
use crate::fw::ast::{Accessor, FwExpr, Ident, Target};
use crate::fw::constants::{ConstantLookup, evaluate};
use crate::fw::sink::{OrReported, Reported};
use num_traits::ToPrimitive;
use program::{Cond, Expr, Failure, FailureKind, Int, Loc, Op, RegId, Relation, Span};
use std::rc::Rc;

impl<'a> FwLowering<'a, '_> {
    /// What an atomic expression works on; evaluates its indices.
    pub fn cells(&mut self, target: &'a Target<'a>) -> OrReported<StoredCells<'a>> {
        let cells = self.located(target)?;
        if cells.is_shared() {
            return Ok(cells);
        }
        let message = format!("`{}` is not a shared variable", target.name.text);
        let hint = "atomic operations work on shared variables";
        Err(self.error(Diagnostic::error(target.span, message).hint(hint)))
    }

    /// The number that something names; evaluates its indices.
    pub fn located(&mut self, target: &'a Target<'a>) -> OrReported<StoredCells<'a>> {
        let stored = self.stored(target)?;
        self.number(stored, &target.path, target.span)
    }

    /// The number that a name stands for.
    pub fn named(&mut self, name: Ident<'a>) -> OrReported<StoredCells<'a>> {
        let stored = self.base(name, &[])?;
        self.number(stored, &[], name.span)
    }

    /// What a name stands for, before indices and fields.
    fn base(&mut self, name: Ident<'a>, path: &'a [Accessor<'a>]) -> OrReported<StoredCells<'a>> {
        let text = name.text;
        let (message, hint) = match self.meaning(text) {
            NameMeaning::Stored(stored) => return Ok(stored),
            NameMeaning::Number(cell) => {
                return Ok(StoredCells::whole(text, Rc::from([cell]), CellLayout::Number));
            }
            NameMeaning::Unknown if path.iter().any(|part| matches!(part, Accessor::Field(_))) => {
                return Err(self.property_only(name.span));
            }
            NameMeaning::Unknown => return Err(self.unknown(name)),
            NameMeaning::Broken => return Err(Reported),
            NameMeaning::Function => {
                (format!("`{text}` is a function"), format!("call it, like `{text}(…)`"))
            }
            NameMeaning::Constant(_) if path.is_empty() => (
                format!("`{text}` is not a shared variable"),
                "atomic operations work on shared variables".to_string(),
            ),
            NameMeaning::Constant(_) => {
                (format!("`{text}` is not an array"), "leave out the index".to_string())
            }
        };
        Err(self.error(Diagnostic::error(name.span, message).hint(hint)))
    }

    /// The variables or registers that something names; evaluates its indices.
    pub fn stored(&mut self, target: &'a Target<'a>) -> OrReported<StoredCells<'a>> {
        let mut storage = self.base(target.name, &target.path)?;
        for part in &target.path {
            let layout = storage.layout.clone();
            match (part, layout) {
                (Accessor::Index(index), CellLayout::Array(length, inner)) => {
                    self.indexed(&mut storage, length, &inner, index)?;
                    storage.layout = (*inner).clone();
                }
                (Accessor::Field(name), CellLayout::Record(record)) => {
                    if !storage.enter_field(&record, name.text) {
                        return Err(self.error(record.no_field(*name)));
                    }
                }
                (Accessor::Index(_), _) => {
                    let what = match self.meaning(target.name.text) {
                        NameMeaning::Number(FwCell::Local(_)) => "a register, not an array",
                        _ => "not an array",
                    };
                    let error = Diagnostic::error(target.span, format!("`{}` is {what}", target.name.text));
                    return Err(self.error(error.hint("leave out the index")));
                }
                (Accessor::Field(name), _) => {
                    let message =
                        format!("`{}` is no struct here, so it has no `{}`", target.name.text, name.text);
                    let hint = "fields belong to variables declared like `shared Node n;`";
                    return Err(self.error(Diagnostic::error(target.span, message).hint(hint)));
                }
            }
        }
        Ok(storage)
    }

    fn indexed(
        &mut self,
        storage: &mut StoredCells<'a>,
        length: usize,
        inner: &CellLayout<'a>,
        index: &'a FwExpr<'a>,
    ) -> OrReported<()> {
        let (value, stride) = (self.value(index)?, inner.size());
        let Some(constant) = value.as_const() else {
            storage.indices.push(CellIndex { value, length, stride });
            return Ok(());
        };
        match constant.to_usize() {
            Some(at) if at < length => storage.offset += at * stride,
            _ if self.dead => return Err(Reported),
            _ => return Err(self.error(out_of_range(storage.name, length, constant, index.span))),
        }
        Ok(())
    }

    /// The same place, if it is a number.
    fn number(
        &mut self,
        storage: StoredCells<'a>,
        path: &'a [Accessor<'a>],
        span: Span,
    ) -> OrReported<StoredCells<'a>> {
        let name = storage.name;
        let (message, hint) = match &storage.layout {
            CellLayout::Number => return Ok(StoredCells { span, ..storage }),
            CellLayout::Array(..) if path.is_empty() => {
                (format!("`{name}` is an array"), format!("name a cell, like `{name}[0]`"))
            }
            CellLayout::Array(..) => {
                (format!("this part of `{name}` is an array"), "give all indices".to_string())
            }
            CellLayout::Record(record) => {
                let fields: Vec<String> =
                    record.fields.iter().map(|field| format!("`.{}`", field.name.text)).collect();
                let message = format!("this is a struct `{}`, not a number", record.name);
                (message, format!("name a field: {}", fields.join(", ")))
            }
        };
        Err(self.error(Diagnostic::error(span, message).hint(hint)))
    }

    /// The register that a cell is, if its indices are constants.
    pub fn register_cell(&mut self, target: &'a Target<'a>) -> Option<RegId> {
        let mut storage = match self.meaning(target.name.text) {
            NameMeaning::Number(FwCell::Local(register)) if target.path.is_empty() => return Some(register),
            NameMeaning::Stored(storage) if !storage.is_shared() => storage,
            _ => return None,
        };
        for part in &target.path {
            let layout = storage.layout.clone();
            match (part, layout) {
                (Accessor::Index(index), CellLayout::Array(length, inner)) => {
                    let known = |name: &str| -> ConstantLookup { self.known(name) };
                    let at = evaluate(index, &known).ok()?.to_usize().filter(|at| *at < length)?;
                    storage.enter_cell(at, &inner);
                }
                (Accessor::Field(name), CellLayout::Record(record)) => {
                    storage.enter_field(&record, name.text).then_some(())?;
                }
                _ => return None,
            }
        }
        match storage.single() {
            Some(FwCell::Local(register)) => Some(register),
            _ => None,
        }
    }

    /// From here, the edges that `edges` gives for the cell touched, whichever it is. They
    /// hold copies of `values`.
    pub fn access(
        &mut self,
        cells: &StoredCells<'a>,
        values: &[&Expr<RegId>],
        edges: &dyn Fn(FwCell) -> Vec<(Op, Loc)>,
    ) -> OrReported<()> {
        if let Some(cell) = cells.single() {
            edges(cell).into_iter().for_each(|(op, to)| self.edge(op, to));
            return Ok(());
        }
        let (from, indices) = (self.at, &cells.indices);
        let chosen: usize = indices.iter().map(|index| weight(&index.value)).sum();
        let weight = chosen + values.iter().map(|value| weight(value)).sum::<usize>();
        let count = indices.iter().fold(1usize, |count, index| count.saturating_mul(index.length));
        for number in 0..count {
            self.spend(weight)?;
            let here = self.location();
            // Where a label names this access, the thread stands there until the access is made.
            self.builder.stays(here, from);
            self.at = from;
            let (cond, skipped) = combination(indices, number);
            self.edge(Op::Assume(cond), here);
            self.at = here;
            let Some(cell) = cells.cells.get(cells.offset + skipped) else { continue };
            edges(*cell).into_iter().for_each(|(op, to)| self.edge(op, to));
        }
        self.at = from;
        for (at, index) in indices.iter().enumerate() {
            let outside = self.location();
            let kind = FailureKind::Bounds {
                array: cells.name.to_string(),
                length: index.length,
                index: index.value.clone(),
            };
            self.builder.fail(outside, Failure { kind, span: cells.span });
            // The first index that is wrong is the one that is told.
            let wrong = |index: &CellIndex| out_of(&index.value, index.length);
            let before = indices[..at].iter().map(|index| wrong(index).negate());
            let cond = Cond::and(before.chain([wrong(index)]).collect::<Vec<_>>());
            self.edge(Op::Assume(cond), outside);
        }
        Ok(())
    }

    /// From here, one step on the cell touched, whichever it is. It holds copies of `values`.
    pub fn step_on(
        &mut self,
        cells: &StoredCells<'a>,
        values: &[&Expr<RegId>],
        op: &dyn Fn(FwCell) -> Op,
    ) -> OrReported<()> {
        let next = self.location();
        self.access(cells, values, &|cell| vec![(op(cell), next)])?;
        self.at = next;
        Ok(())
    }

    pub fn load(&mut self, register: RegId, from: &StoredCells<'a>) -> OrReported<()> {
        self.step_on(from, &[], &|cell| cell.load(register))
    }

    pub fn store(&mut self, to: &StoredCells<'a>, value: &Expr<RegId>) -> OrReported<()> {
        self.step_on(to, &[value], &|cell| cell.store(value.clone()))
    }
}

/// One combination of values of indices: when it is this one, and how many cells it skips.
fn combination(indices: &[CellIndex], number: usize) -> (Cond<RegId>, usize) {
    let (mut rest, mut skipped, mut conds) = (number, 0, Vec::new());
    for index in indices.iter().rev() {
        let at = rest % index.length;
        rest /= index.length;
        skipped += at * index.stride;
        conds.push(Cond::compare(Relation::Eq, index.value.clone(), Int::from(at)));
    }
    conds.reverse();
    (Cond::and(conds), skipped)
}

/// That a value is none of the numbers from 0 to a length, without that.
pub(super) fn out_of(value: &Expr<RegId>, length: usize) -> Cond<RegId> {
    let below = Cond::compare(Relation::Lt, value.clone(), 0);
    let above = Cond::compare(Relation::Ge, value.clone(), Int::from(length));
    Cond::or([below, above])
}

/// How many nodes an expression has.
pub(super) fn weight(value: &Expr<RegId>) -> usize {
    match value {
        Expr::Binary(_, a, b) => 1 + weight(a) + weight(b),
        _ => 1,
    }
}

/// The error for a constant index that no cell has.
pub(super) fn out_of_range(array: &str, length: usize, index: &Int, span: Span) -> Diagnostic {
    let message = format!("the index {index} is outside the array `{array}`, which has {length} cells");
    Diagnostic::error(span, message).hint(format!("its cells are 0 to {}", length - 1))
}
