//! The question of a test over the places of the lowered program.

use super::Test;
use super::condition::{Observable, Prop};
use super::flow::{Flow, RegValue};
use super::header::LitmusValue;
use super::layout::MemoryLayout;
use super::lower::Lowered;
use super::registers::RegisterFamily;
use super::sizes::{Sizes, signed};
use crate::Diagnostic;
use program::{Cond, Place, Question, Relation, Span, ThreadId, VarId};
use std::collections::BTreeMap;

/// A lowered test, as far as its question needs it.
pub(super) struct LoweredTest<'a> {
    pub(super) test: &'a Test,
    pub(super) flows: &'a [Flow],
    pub(super) sizes: &'a Sizes,
    pub(super) layout: &'a MemoryLayout,
    pub(super) lowered: &'a [Lowered],
}

/// Registers by thread and name, then locations by name.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Register(usize, String),
    Location(String, usize),
}

impl LoweredTest<'_> {
    /// The question. It observes what the test names, or every register that is written and
    /// every location as well.
    pub(super) fn question(
        &self,
        everything: bool,
        warnings: &mut Vec<Diagnostic>,
    ) -> Result<Question, Vec<Diagnostic>> {
        let tail = &self.test.tail;
        let mut errors = Vec::new();
        let cond = self.cond(&tail.prop, &mut errors);
        let filter = self.cond(&tail.filter, &mut errors);
        let mut observed = BTreeMap::new();
        for (spot, span) in self.named_spots() {
            match self.place(spot, span) {
                // A condition may name such a register; a list cannot show it.
                Ok(_) if self.holds_address(spot) => {
                    if tail.listed.iter().any(|(_, listed)| *listed == span) {
                        warnings.push(not_listed(span));
                    }
                }
                Ok(place) => {
                    observed.insert(self.key(spot), place);
                }
                Err(error) if errors.contains(&error) => {}
                Err(error) => errors.push(error),
            }
        }
        if everything {
            self.add_everything(&mut observed, warnings);
        }
        let observed = observed.into_iter().map(|(key, place)| (key.name(), place)).collect();
        let question = Question { quantifier: tail.quantifier, cond, filter, observed, span: tail.span };
        if errors.is_empty() { Ok(question) } else { Err(errors) }
    }

    /// What the proposition and `locations` name; the filter is not shown.
    fn named_spots(&self) -> Vec<(&Observable, Span)> {
        let tail = &self.test.tail;
        let mut spots: Vec<(&Observable, Span)> =
            tail.listed.iter().map(|(spot, span)| (spot, *span)).collect();
        super::spots_of(&tail.prop, &mut |spot, span| spots.push((spot, span)));
        spots
    }

    fn add_everything(&self, observed: &mut BTreeMap<Key, Place>, warnings: &mut Vec<Diagnostic>) {
        for (thread, code) in self.test.threads.iter().enumerate() {
            for instruction in &code.instructions {
                for family in instruction.written() {
                    let spot = Observable::Register(thread, family, self.test.arch.bits());
                    let Some(register) = self.lowered[thread].registers[family.index()] else { continue };
                    if self.holds_address(&spot) {
                        warnings.push(not_listed(instruction.span));
                        continue;
                    }
                    observed.insert(self.key(&spot), Place::Register(ThreadId::new(thread), register));
                }
            }
        }
        for (name, symbol) in &self.layout.symbols {
            for cell in 0..symbol.cells {
                let key = self.key(&Observable::Location(name.clone(), Some(cell)));
                observed.insert(key, Place::Memory(VarId::new(symbol.first.index() + cell)));
            }
        }
    }

    fn key(&self, spot: &Observable) -> Key {
        match spot {
            Observable::Register(thread, family, _) => Key::Register(*thread, family.name(self.test.arch)),
            Observable::Location(name, cell) => {
                let is_array = self.test.init.locations.iter().any(|l| l.name == *name && l.is_array);
                let cell = cell.unwrap_or(0);
                let shown = if is_array { format!("{name}[{cell}]") } else { format!("[{name}]") };
                Key::Location(shown, cell)
            }
        }
    }

    /// Whether a register may hold an address when its thread has ended.
    fn holds_address(&self, spot: &Observable) -> bool {
        match spot {
            Observable::Register(thread, family, _) => {
                matches!(self.at_end(*thread, *family), Some(RegValue::Address(..) | RegValue::Mixed))
            }
            Observable::Location(..) => false,
        }
    }

    fn at_end(&self, thread: usize, family: RegisterFamily) -> Option<&RegValue> {
        Some(&self.flows[thread].known.last()?.as_ref()?[family.index()])
    }

    fn place(&self, spot: &Observable, span: Span) -> Result<Place, Diagnostic> {
        match spot {
            Observable::Register(thread, family, _) => {
                let register = self.lowered[*thread].registers[family.index()];
                let missing = || Diagnostic::error(span, "this register does not exist");
                register.map(|r| Place::Register(ThreadId::new(*thread), r)).ok_or_else(missing)
            }
            Observable::Location(name, cell) => {
                let found = self.layout.symbols.get(name).filter(|symbol| cell.unwrap_or(0) < symbol.cells);
                let found = found.filter(|symbol| cell.is_some() || symbol.cells == 1);
                let message = || Diagnostic::error(span, format!("`{name}` has no such cell"));
                let symbol = found.ok_or_else(message)?;
                Ok(Place::Memory(VarId::new(symbol.first.index() + cell.unwrap_or(0))))
            }
        }
    }

    /// How many bits a place has.
    fn bits(&self, spot: &Observable) -> u32 {
        match spot {
            Observable::Register(..) => self.test.arch.bits(),
            Observable::Location(name, _) => {
                self.layout.symbols.get(name).map_or(32, |symbol| symbol.bytes as u32 * 8)
            }
        }
    }

    /// Whether a register or a cell may be below zero.
    fn some_negative(&self) -> bool {
        let cells = || self.test.init.locations.iter().flat_map(|location| &location.cells);
        self.sizes.negative || cells().any(|cell| *cell < 0.into() || *cell >= 128.into())
    }

    fn cond(&self, prop: &Prop, errors: &mut Vec<Diagnostic>) -> Cond<Place> {
        match prop {
            Prop::Const(value) => Cond::Const(*value),
            Prop::Not(inner) => self.cond(inner, errors).negate(),
            // All parts, so that every mistake is found.
            Prop::And(parts) => {
                Cond::and(parts.iter().map(|part| self.cond(part, errors)).collect::<Vec<_>>())
            }
            Prop::Or(parts) => Cond::or(parts.iter().map(|part| self.cond(part, errors)).collect::<Vec<_>>()),
            Prop::Is(spot, value, span) => self.is(spot, value, *span, errors),
            Prop::Same(a, b, span) => {
                if self.holds_address(a) || self.holds_address(b) {
                    errors.push(Diagnostic::error(*span, "comparing addresses is not supported"));
                }
                if self.bits(a) != self.bits(b) && self.some_negative() {
                    let message =
                        "comparing places of different sizes is not supported where values may be negative";
                    errors.push(Diagnostic::error(*span, message));
                }
                match (self.place(a, *span), self.place(b, *span)) {
                    (Ok(a), Ok(b)) => Cond::compare(Relation::Eq, a, b),
                    (Err(error), _) | (_, Err(error)) => {
                        errors.push(error);
                        Cond::TRUE
                    }
                }
            }
        }
    }

    fn is(
        &self,
        spot: &Observable,
        value: &LitmusValue,
        span: Span,
        errors: &mut Vec<Diagnostic>,
    ) -> Cond<Place> {
        let known = match spot {
            Observable::Register(thread, family, _) => self.at_end(*thread, *family),
            Observable::Location(..) => None,
        };
        let value = match (value, known) {
            (LitmusValue::Address(name, 0), Some(RegValue::Address(held, offset))) => {
                return Cond::Const(name == held && *offset == 0.into());
            }
            (LitmusValue::Address(..), _) => {
                errors.push(Diagnostic::error(span, "comparing with an address is not supported here"));
                return Cond::TRUE;
            }
            (LitmusValue::Int(_), Some(RegValue::Address(..) | RegValue::Mixed)) => {
                errors.push(Diagnostic::error(span, "this register holds an address"));
                return Cond::TRUE;
            }
            (LitmusValue::Int(value), _) => value,
        };
        match self.place(spot, span) {
            Ok(place) => {
                let value = match spot {
                    Observable::Register(.., named) => self.sizes.in_register(value, *named),
                    Observable::Location(..) => signed(value, self.bits(spot)),
                };
                Cond::compare(Relation::Eq, place, value)
            }
            Err(error) => {
                errors.push(error);
                Cond::TRUE
            }
        }
    }
}

fn not_listed(span: Span) -> Diagnostic {
    Diagnostic::warning(span, "this register holds an address in the end and is not listed")
}

impl Key {
    fn name(self) -> String {
        match self {
            Key::Register(thread, name) => format!("{thread}:{name}"),
            Key::Location(name, _) => name,
        }
    }
}
