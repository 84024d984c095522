//! Loads and stores of shared variables, registers, and cells and fields of either.
//!
//! Nothing below the front end knows arrays: a computed index becomes a case split with one
//! edge per cell, and one edge for all indices outside, which leads to a failure.

use super::layout::{CellIndex, CellLayout, Stored, StoredCells};
use super::thread::{FwLowering, NameMeaning};
use crate::Diagnostic;
use crate::fw::ast::{Accessor, FwExpr, Ident, Target};
use crate::fw::constants::{ConstantLookup, evaluate};
use crate::fw::sink::{OrReported, Reported};
use num_traits::ToPrimitive;
use program::{Cond, Expr, Failure, FailureKind, Int, Loc, Op, RegId, Relation, Span, VarId};
use std::rc::Rc;

/// What an access may touch: variables or registers.
pub(super) enum Cells<'a, C> {
    One(C),
    /// One of several, chosen by values.
    Indexed {
        array: &'a str,
        cells: Rc<[C]>,
        offset: usize,
        indices: Vec<CellIndex>,
        span: Span,
    },
}

/// Where a number is.
pub(super) enum Located<'a> {
    Shared(Cells<'a, VarId>),
    Local(Cells<'a, RegId>),
}

impl<'a> FwLowering<'a, '_> {
    /// What an atomic expression works on; evaluates its indices.
    pub fn cells(&mut self, target: &'a Target<'a>) -> OrReported<Cells<'a, VarId>> {
        match self.located(target)? {
            Located::Shared(cells) => Ok(cells),
            Located::Local(_) => {
                let message = format!("`{}` is not a shared variable", target.name.text);
                let hint = "atomic operations work on shared variables";
                Err(self.error(Diagnostic::error(target.span, message).hint(hint)))
            }
        }
    }

    /// The number that something names; evaluates its indices.
    pub fn located(&mut self, target: &'a Target<'a>) -> OrReported<Located<'a>> {
        Ok(match self.stored(target)? {
            Stored::Shared(storage) => Located::Shared(self.number(storage, &target.path, target.span)?),
            Stored::Local(storage) => Located::Local(self.number(storage, &target.path, target.span)?),
        })
    }

    /// The number that a name stands for.
    pub fn named(&mut self, name: Ident<'a>) -> OrReported<Located<'a>> {
        Ok(match self.base(name, &[])? {
            Stored::Shared(storage) => Located::Shared(self.number(storage, &[], name.span)?),
            Stored::Local(storage) => Located::Local(self.number(storage, &[], name.span)?),
        })
    }

    /// The variables or registers that something names; evaluates its indices.
    pub fn stored(&mut self, target: &'a Target<'a>) -> OrReported<Stored<'a>> {
        Ok(match self.base(target.name, &target.path)? {
            Stored::Shared(storage) => Stored::Shared(self.inside(storage, target)?),
            Stored::Local(storage) => Stored::Local(self.inside(storage, target)?),
        })
    }

    /// What a name stands for, before indices and fields.
    fn base(&mut self, name: Ident<'a>, path: &'a [Accessor<'a>]) -> OrReported<Stored<'a>> {
        let text = name.text;
        let (message, hint) = match self.meaning(text) {
            NameMeaning::Stored(stored) => return Ok(stored),
            NameMeaning::Scalar(variable) => {
                return Ok(Stored::Shared(StoredCells::whole(
                    text,
                    Rc::from([variable]),
                    CellLayout::Number,
                )));
            }
            NameMeaning::Register(register) => {
                return Ok(Stored::Local(StoredCells::whole(text, Rc::from([register]), CellLayout::Number)));
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

    /// Follows indices and fields.
    fn inside<C: Copy>(
        &mut self,
        mut storage: StoredCells<'a, C>,
        target: &'a Target<'a>,
    ) -> OrReported<StoredCells<'a, C>> {
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
                    let register = matches!(self.meaning(target.name.text), NameMeaning::Register(_));
                    return Err(self.no_array(target, register));
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

    fn no_array(&mut self, target: &'a Target<'a>, register: bool) -> Reported {
        let name = target.name.text;
        let message = match register {
            true => format!("`{name}` is a register, not an array"),
            false => format!("`{name}` is not an array"),
        };
        self.error(Diagnostic::error(target.span, message).hint("leave out the index"))
    }

    fn indexed<C: Copy>(
        &mut self,
        storage: &mut StoredCells<'a, C>,
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

    fn number<C: Copy>(
        &mut self,
        storage: StoredCells<'a, C>,
        path: &'a [Accessor<'a>],
        span: Span,
    ) -> OrReported<Cells<'a, C>> {
        if let Some(cell) = storage.single() {
            return Ok(Cells::One(cell));
        }
        let name = storage.name;
        let (message, hint) = match &storage.layout {
            CellLayout::Number => {
                let StoredCells { name, cells, offset, indices, .. } = storage;
                return Ok(Cells::Indexed { array: name, cells, offset, indices, span });
            }
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
            NameMeaning::Register(register) if target.path.is_empty() => return Some(register),
            NameMeaning::Stored(Stored::Local(storage)) => storage,
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
        storage.single()
    }

    /// From here, the edges that `edges` gives for the cell touched, whichever it is. They
    /// hold copies of `values`.
    pub fn access<C: Copy>(
        &mut self,
        cells: &Cells<'a, C>,
        values: &[&Expr<RegId>],
        edges: &dyn Fn(C) -> Vec<(Op, Loc)>,
    ) -> OrReported<()> {
        let (array, all, offset, indices, span) = match cells {
            Cells::One(cell) => {
                edges(*cell).into_iter().for_each(|(op, to)| self.edge(op, to));
                return Ok(());
            }
            Cells::Indexed { array, cells, offset, indices, span } => (array, cells, *offset, indices, *span),
        };
        let from = self.at;
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
            let Some(cell) = all.get(offset + skipped) else { continue };
            edges(*cell).into_iter().for_each(|(op, to)| self.edge(op, to));
        }
        self.at = from;
        for (at, index) in indices.iter().enumerate() {
            let outside = self.location();
            let kind = FailureKind::Bounds {
                array: array.to_string(),
                length: index.length,
                index: index.value.clone(),
            };
            self.builder.fail(outside, Failure { kind, span });
            // The first index that is wrong is the one that is told.
            let before = indices[..at].iter().map(|index| within(index, true));
            let cond = Cond::and(before.chain([within(index, false)]).collect::<Vec<_>>());
            self.edge(Op::Assume(cond), outside);
        }
        Ok(())
    }

    pub fn load(&mut self, register: RegId, from: &Located<'a>) -> OrReported<()> {
        match from {
            Located::Shared(cells) => self.load_shared(register, cells),
            Located::Local(cells) => {
                let next = self.location();
                self.access(cells, &[], &|cell| vec![(Op::Assign(register, Expr::Leaf(cell)), next)])?;
                self.at = next;
                Ok(())
            }
        }
    }

    pub fn load_shared(&mut self, register: RegId, cells: &Cells<'a, VarId>) -> OrReported<()> {
        let next = self.location();
        self.access(cells, &[], &|variable| vec![(Op::Load(register, variable), next)])?;
        self.at = next;
        Ok(())
    }

    pub fn store(&mut self, to: &Located<'a>, value: &Expr<RegId>) -> OrReported<()> {
        match to {
            Located::Shared(cells) => self.store_shared(cells, value),
            Located::Local(cells) => {
                let next = self.location();
                self.access(cells, &[value], &|cell| vec![(Op::Assign(cell, value.clone()), next)])?;
                self.at = next;
                Ok(())
            }
        }
    }

    pub fn store_shared(&mut self, cells: &Cells<'a, VarId>, value: &Expr<RegId>) -> OrReported<()> {
        let next = self.location();
        self.access(cells, &[value], &|variable| vec![(Op::Store(variable, value.clone()), next)])?;
        self.at = next;
        Ok(())
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

/// That an index is inside its array, or outside.
fn within(index: &CellIndex, inside: bool) -> Cond<RegId> {
    let below = Cond::compare(Relation::Lt, index.value.clone(), 0);
    let above = Cond::compare(Relation::Ge, index.value.clone(), Int::from(index.length));
    let outside = Cond::or([below, above]);
    if inside { outside.negate() } else { outside }
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
