//! The values of variables, and what an edge can do with them.

use super::NoView;
use super::behaviour::Fact;
use crate::code::{CompiledCond, CompiledExpr};
use indexmap::IndexSet;
use num_traits::ToPrimitive;
use program::{Domain, Edge, Op, Program, RegId, Span, ThreadId, VarId};
use rustc_hash::FxBuildHasher;
use std::cell::Cell;

/// More values of a variable than this are not taken to be finite data.
const MOST_VALUES: usize = 256;

/// Who takes more operations than this to find all values is not taken to have finitely many; and so many
/// are performed where all values are known.
const MOST_WORK: usize = 200_000;
const MOST_KNOWN_WORK: usize = 8_000_000;

/// More variables than this have no numbers.
const MOST_VARIABLES: usize = 60_000;

/// The values that variables may have, as far as they are known.
pub(super) struct ValueTable {
    /// How many operations were performed to find them.
    work: Cell<usize>,
    /// Whether there may be values that are not known yet; otherwise nobody stores any other.
    grows: bool,
    variables: Vec<IndexSet<i64, FxBuildHasher>>,
    /// Variables of observers.
    watches: usize,
    /// Who may hold the lock; nobody may if there are no atomic sections.
    holders: usize,
}

/// An edge taken with certain values of what it loads.
pub(super) struct LoadedStep {
    pub(super) registers: Vec<i64>,
    pub(super) reads: Vec<(VarId, i64)>,
    pub(super) writes: Vec<(VarId, i64)>,
    pub(super) choice: Option<i64>,
}

impl ValueTable {
    /// The initial values.
    pub(super) fn of(program: &Program) -> Result<ValueTable, NoView> {
        let listed = |domain: &Domain, span: Span| -> Result<IndexSet<i64, FxBuildHasher>, NoView> {
            Ok(list(domain).ok_or(NoView::Unbounded(span))?.into_iter().collect())
        };
        let variables = program.variables.iter().map(|variable| listed(&variable.initial, variable.span));
        let locks = |op: &Op| matches!(op, Op::Lock);
        let sections = program.threads.iter().any(|thread| thread.edges().iter().any(|edge| locks(&edge.op)));
        let holders = if sections { program.threads.len() } else { 0 };
        if program.variables.len().max(program.threads.len()) > MOST_VARIABLES {
            return Err(NoView::Unbounded(program.variables.first().map_or(Span::NONE, |first| first.span)));
        }
        Ok(ValueTable {
            work: Cell::new(0),
            grows: true,
            watches: 0,
            variables: variables.collect::<Result<_, _>>()?,
            holders,
        })
    }

    /// Has these values as well, and no others.
    pub(super) fn exactly(mut self, values: &[Vec<i64>]) -> ValueTable {
        for (known, values) in self.variables.iter_mut().zip(values) {
            known.extend(values);
        }
        self.grows = false;
        self
    }

    /// The values of every variable.
    pub(super) fn listed(&self) -> Vec<Vec<i64>> {
        self.variables.iter().map(|values| values.iter().copied().collect()).collect()
    }

    /// How many values there are in all.
    pub(super) fn count(&self) -> usize {
        self.variables.iter().map(IndexSet::len).sum()
    }

    /// How many variables there are, the lock included.
    pub(super) fn width(&self) -> usize {
        self.variables.len() + usize::from(self.holders > 0) + self.watches
    }

    /// Adds a variable for an observer.
    pub(super) fn watched(&mut self) -> u16 {
        self.watches += 1;
        self.width() as u16 - 1
    }

    /// Whether a variable is an observer's.
    pub(super) fn is_watch(&self, variable: u16) -> bool {
        (self.width() - self.watches..self.width()).contains(&usize::from(variable))
    }

    /// How many values an operation may load, plus one.
    pub(super) fn known_to(&self, op: &Op) -> usize {
        let mut known = 1;
        op.for_each_part(&mut |part| {
            if let Op::Load(_, variable) = part {
                known += self.variables[variable.index()].len();
            }
        });
        known
    }

    /// The value that a fact speaks of; the lock has none.
    pub(super) fn value(&self, (variable, value): Fact) -> Option<i64> {
        if self.is_watch(variable) && (1..=2).contains(&value) {
            return Some(i64::from(value) - 1);
        }
        let values = self.variables.get(usize::from(variable))?;
        values.get_index(usize::from(value).checked_sub(1)?).copied()
    }

    /// The fact that a variable has a value, if it can have it.
    pub(super) fn fact(&self, variable: VarId, value: i64) -> Option<Fact> {
        let number = u16::try_from(variable.index()).ok()?;
        if self.is_watch(number) {
            return (0..=1).contains(&value).then_some((number, value as u16 + 1));
        }
        let at = self.variables.get(variable.index())?.get_index_of(&value)?;
        Some((variable.index() as u16, at as u16 + 1))
    }

    /// The numbers of the values of a variable.
    pub(super) fn numbers(&self, variable: u16) -> std::ops::RangeInclusive<u16> {
        1..=self.variables.get(usize::from(variable)).map_or(0, |values| values.len() as u16)
    }

    /// The largest number of a value of a variable, the lock or an observer's variable.
    pub(super) fn largest(&self, variable: usize) -> u16 {
        match self.variables.get(variable) {
            Some(values) => values.len() as u16,
            None if self.is_watch(variable as u16) => 2,
            None => self.holders as u16 + 1,
        }
    }

    /// Nobody is inside an atomic section; nothing to say where there are none.
    pub(super) fn free(&self) -> Option<Fact> {
        (self.holders > 0).then_some((self.variables.len() as u16, 1))
    }

    /// A thread is inside an atomic section.
    pub(super) fn held_by(&self, thread: ThreadId) -> Option<Fact> {
        (self.holders > 0).then_some((self.variables.len() as u16, thread.index() as u16 + 2))
    }

    /// The facts that variables have these values, which are new perhaps; `None` if one is to be passed
    /// over.
    pub(super) fn facts(&mut self, pairs: &[(VarId, i64)], span: Span) -> Result<Option<Vec<Fact>>, NoView> {
        let mut facts = Vec::new();
        for (variable, value) in pairs {
            let values = &mut self.variables[variable.index()];
            let at = match values.get_index_of(value) {
                Some(at) => at,
                None if !self.grows => return Ok(None),
                None if values.len() >= MOST_VALUES => return Err(NoView::Unbounded(span)),
                None => values.insert_full(*value).0,
            };
            facts.push((variable.index() as u16, at as u16 + 1));
        }
        facts.sort_unstable();
        Ok(Some(facts))
    }

    /// Everything that an edge can do with these registers. What is loaded into a register that nobody
    /// reads (`unread`) is any value.
    pub(super) fn perform(
        &self,
        edge: &Edge,
        parts: &[Part],
        registers: Vec<i64>,
        unread: &dyn Fn(RegId) -> bool,
    ) -> Result<Vec<LoadedStep>, NoView> {
        let start = LoadedStep { registers, reads: Vec::new(), writes: Vec::new(), choice: None };
        let mut out = Vec::new();
        let work = ValueSearch { values: self, span: edge.span, unread, alone: parts.len() == 1 };
        work.perform(parts, start, &mut out)?;
        Ok(out)
    }
}

/// An operation, compiled to 64-bit values.
pub(super) enum Part {
    Nothing,
    Assign(RegId, CompiledExpr<RegId>),
    Assume(CompiledCond<RegId>),
    Havoc(RegId, Domain),
    Load(RegId, VarId),
    Store(VarId, CompiledExpr<RegId>),
}

impl Part {
    /// The operations of an edge, one after the other.
    pub(super) fn of(edge: &Edge) -> Box<[Part]> {
        let mut parts = Vec::new();
        edge.op.for_each_part(&mut |part| {
            parts.push(match part {
                Op::Assign(register, value) => Part::Assign(*register, CompiledExpr::compile(value, &|r| *r)),
                Op::Assume(cond) => Part::Assume(CompiledCond::compile(cond, &|r| *r)),
                Op::Havoc(register, domain) => Part::Havoc(*register, domain.clone()),
                Op::Load(register, variable) => Part::Load(*register, *variable),
                Op::Store(variable, value) => Part::Store(*variable, CompiledExpr::compile(value, &|r| *r)),
                Op::Skip | Op::Fence(_) | Op::Lock | Op::Unlock | Op::Block { .. } => Part::Nothing,
            });
        });
        parts.into()
    }
}

/// An edge while it is taken.
struct ValueSearch<'a> {
    values: &'a ValueTable,
    span: Span,
    unread: &'a dyn Fn(RegId) -> bool,
    /// Whether there is one operation only.
    alone: bool,
}

impl ValueSearch<'_> {
    fn unbounded(&self) -> NoView {
        NoView::Unbounded(self.span)
    }

    /// Performs the parts one after the other; every value that is loaded or chosen is a case.
    fn perform(&self, parts: &[Part], mut step: LoadedStep, out: &mut Vec<LoadedStep>) -> Result<(), NoView> {
        let work = &self.values.work;
        work.set(work.get() + 1);
        if work.get() > if self.values.grows { MOST_WORK } else { MOST_KNOWN_WORK } {
            return Err(self.unbounded());
        }
        let Some((part, rest)) = parts.split_first() else {
            out.push(step);
            return Ok(());
        };
        match part {
            Part::Assign(register, value) => {
                step.registers[register.index()] = self.eval(value, &step.registers)?;
            }
            Part::Assume(cond) => {
                if !self.holds(cond, &step.registers)? {
                    return Ok(());
                }
            }
            Part::Havoc(register, domain) => {
                let dead = (self.unread)(*register);
                let values = if dead { None } else { Some(list(domain).ok_or_else(|| self.unbounded())?) };
                for value in values.iter().flatten() {
                    let mut case = step.with(*register, *value);
                    case.choice = Some(*value);
                    self.perform(rest, case, out)?;
                }
                return if dead { self.perform(rest, step.with(*register, 0), out) } else { Ok(()) };
            }
            Part::Load(register, variable) => return self.load(*register, *variable, rest, step, out),
            Part::Store(variable, value) => {
                let value = self.eval(value, &step.registers)?;
                step.writes.retain(|(written, _)| written != variable);
                step.writes.push((*variable, value));
            }
            Part::Nothing => {}
        }
        self.perform(rest, step, out)
    }

    fn load(
        &self,
        register: RegId,
        variable: VarId,
        rest: &[Part],
        step: LoadedStep,
        out: &mut Vec<LoadedStep>,
    ) -> Result<(), NoView> {
        let known = step.writes.iter().chain(&step.reads).find(|(v, _)| *v == variable);
        if let Some((_, value)) = known.copied() {
            return self.perform(rest, step.with(register, value), out);
        }
        if self.alone && (self.unread)(register) {
            return self.perform(rest, step.with(register, 0), out);
        }
        for value in &self.values.variables[variable.index()] {
            let mut case = step.with(register, *value);
            case.reads.push((variable, *value));
            self.perform(rest, case, out)?;
        }
        Ok(())
    }

    fn eval(&self, value: &CompiledExpr<RegId>, registers: &[i64]) -> Result<i64, NoView> {
        value.eval(&|register| registers[register.index()]).ok_or_else(|| self.unbounded())
    }

    fn holds(&self, cond: &CompiledCond<RegId>, registers: &[i64]) -> Result<bool, NoView> {
        cond.eval(&|register| registers[register.index()]).ok_or_else(|| self.unbounded())
    }
}

impl LoadedStep {
    fn with(&self, register: RegId, value: i64) -> LoadedStep {
        let mut registers = self.registers.clone();
        registers[register.index()] = value;
        LoadedStep { registers, reads: self.reads.clone(), writes: self.writes.clone(), choice: self.choice }
    }
}

/// The values of a domain, if there are few.
fn list(domain: &Domain) -> Option<Vec<i64>> {
    let Domain::Range(low, high) = domain else { return None };
    let (low, high) = (low.to_i64()?, high.to_i64()?);
    (high.checked_sub(low)? < MOST_VALUES as i64).then(|| (low..=high).collect())
}
