//! What claims name: variables, cells and fields in memory, and registers of threads. Indices are constants.

use super::globals::Global;
use super::layout::{CellLayout, FwCell, StoredCells};
use super::memory::out_of_range;
use super::properties::{Claims, listed, sorted};
use crate::Diagnostic;
use crate::fw::ast::{Accessor, Target};
use crate::fw::sink::{OrReported, Reported};
use crate::fw::suggest::did_you_mean;
use num_traits::ToPrimitive;
use program::{Expr, Place, RegId, Span};

impl<'a> Claims<'a, '_> {
    /// A variable in memory, if this is one number.
    pub(super) fn memory(&mut self, storage: StoredCells<'a>, span: Span) -> OrReported<Expr<Place>> {
        if let Some(FwCell::Shared(variable)) = storage.single() {
            return Ok(Expr::Leaf(Place::Memory(variable)));
        }
        let name = storage.name;
        let (message, hint) = match &storage.layout {
            CellLayout::Record(record) => {
                let field = record.fields.first().map_or("", |field| field.name.text);
                (
                    format!("this is a struct `{}`, not a number", record.name),
                    format!("name a field, like `.{field}`"),
                )
            }
            _ => (format!("`{name}` is an array"), format!("name a cell, like `{name}[0]`")),
        };
        Err(self.error(span, message, hint))
    }

    /// A cell or field of something shared, or a register of a thread.
    pub(super) fn cell(&mut self, target: &'a Target<'a>) -> OrReported<Expr<Place>> {
        let declared = self.globals.names.get(target.name.text).map(|(what, _)| what);
        let fields = target.path.iter().any(|part| matches!(part, Accessor::Field(_)));
        match declared {
            Some(Global::Shared(storage)) => {
                self.work.mentioned.insert(target.name.text);
                let mut storage = storage.clone();
                for part in &target.path {
                    self.follow(&mut storage, part, target.name.span)?;
                }
                self.memory(storage, target.span)
            }
            Some(Global::Broken) => Err(Reported),
            _ if fields => self.register(target),
            Some(_) => {
                let message = format!("`{}` is not an array", target.name.text);
                Err(self.error(target.name.span, message, "leave out the index"))
            }
            None => Err(self.unknown_name(target.name)),
        }
    }

    fn follow(
        &mut self,
        storage: &mut StoredCells<'a>,
        part: &'a Accessor<'a>,
        span: Span,
    ) -> OrReported<()> {
        let layout = storage.layout.clone();
        match (part, layout) {
            (Accessor::Index(index), CellLayout::Array(length, inner)) => {
                let at = self.constant(index)?;
                let Some(place) = at.to_usize().filter(|at| *at < length) else {
                    return Err(self.work.sink.error(out_of_range(storage.name, length, &at, index.span)));
                };
                storage.enter_cell(place, &inner);
                Ok(())
            }
            (Accessor::Field(name), CellLayout::Record(record)) => {
                match storage.enter_field(&record, name.text) {
                    true => Ok(()),
                    false => Err(self.work.sink.error(record.no_field(*name))),
                }
            }
            (Accessor::Index(_), _) => {
                let message = format!("`{}` is not an array", storage.name);
                Err(self.error(span, message, "leave out the index"))
            }
            (Accessor::Field(name), _) => {
                let message = format!("`{}` is no struct here, so it has no `{}`", storage.name, name.text);
                Err(self.error(name.span, message, "fields belong to structs"))
            }
        }
    }

    /// `P.r`, `P[i].r`, and cells and fields of arrays and structs of registers.
    fn register(&mut self, target: &'a Target<'a>) -> OrReported<Expr<Place>> {
        let (index, rest) = match target.path.as_slice() {
            [Accessor::Index(index), rest @ ..] => (Some(index), rest),
            rest => (None, rest),
        };
        let [Accessor::Field(register), inside @ ..] = rest else {
            let message = "this is neither a variable nor a register of a thread";
            return Err(self.error(
                target.span,
                message,
                "write `P.r`, or `P[i].r` for a member of a family",
            ));
        };
        let id = self.thread_named(target.name, index)?;
        let cell = self.cell_name(register.text, inside)?;
        let thread = self.program.thread(id);
        let registers = &self.threads.finished[id.index()].registers;
        let named: Vec<RegId> = registers.get(register.text).map_or_else(Vec::new, |named| {
            let all = if named.own.is_empty() { &named.inlined } else { &named.own };
            let copy = format!("{cell}_");
            let name = |register: &&RegId| thread.registers[register.index()].as_str();
            let fits = |register: &&RegId| name(register) == cell || name(register).starts_with(&copy);
            all.iter().filter(fits).copied().collect()
        });
        let owner = thread.name.clone();
        match named.as_slice() {
            [only] => Ok(Expr::Leaf(Place::Register(id, *only))),
            [_, ..] => {
                let message = format!("the thread `{owner}` has several registers `{cell}`");
                Err(self.error(register.span, message, "give the one that is meant a name of its own"))
            }
            _ if !self.work.sink.wants_missing() => Err(Reported),
            _ => {
                let names = sorted(registers.keys().copied());
                let known = registers.contains_key(register.text);
                let hint = did_you_mean(register.text, names.iter().copied().filter(|_| !known));
                let hint = hint.unwrap_or_else(|| match names.as_slice() {
                    [] => "the thread has no registers".to_string(),
                    _ if known => "registers of an array are named like `P.a[0]`".to_string(),
                    names => format!("its registers are {}", listed(names)),
                });
                let message = format!("the thread `{owner}` has no register `{cell}`");
                Err(self.work.sink.missing(Diagnostic::error(register.span, message).hint(hint)))
            }
        }
    }

    /// The name of a register in an array or struct.
    fn cell_name(&mut self, name: &str, inside: &'a [Accessor<'a>]) -> OrReported<String> {
        let mut cell = name.to_string();
        for part in inside {
            match part {
                Accessor::Index(index) => cell += &format!("[{}]", self.constant(index)?),
                Accessor::Field(field) => cell += &format!(".{}", field.text),
            }
        }
        Ok(cell)
    }
}
