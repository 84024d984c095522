//! What an edge does to the data, as simultaneous assignments.
//!
//! Operations are performed one after the other on *expressions over the slots before the
//! step*: a register that was assigned stands for its expression from then on. So a block of
//! several operations becomes one guard and one set of assignments.

use crate::exact::Local;
use crate::{Slot, Source};
use program::{Cond, Expr, Op, RegId, ThreadId, VarId};

/// The effect of a step, while it is being worked out.
pub(crate) struct Effect<'a> {
    thread: ThreadId,
    local: &'a Local,
    guard: Vec<Cond<Slot>>,
    registers: Vec<(RegId, Source)>,
    memory: Vec<(VarId, Expr<Slot>)>,
    /// Where a store goes if it is buffered: this entry, and those from there on shift.
    entry: Option<u32>,
    buffered: Option<Expr<Slot>>,
}

impl<'a> Effect<'a> {
    pub(crate) fn new(thread: ThreadId, local: &'a Local) -> Effect<'a> {
        Effect {
            thread,
            local,
            guard: Vec::new(),
            registers: Vec::new(),
            memory: Vec::new(),
            entry: None,
            buffered: None,
        }
    }

    /// Sends the store to this entry of the buffer instead of memory.
    pub(crate) fn buffer_at(&mut self, entry: u32) {
        self.entry = Some(entry);
    }

    pub(crate) fn perform(&mut self, op: &Op) {
        match op {
            Op::Skip | Op::Fence(_) | Op::Lock | Op::Unlock => {}
            Op::Assign(register, value) => {
                let value = value.map(&mut |r| self.register(*r));
                self.assign(*register, Source::Is(value));
            }
            Op::Havoc(register, domain) => self.assign(*register, Source::Any(domain.clone())),
            Op::Assume(cond) => {
                let cond = cond.map(&mut |r| self.register(*r));
                self.guard.push(cond);
            }
            Op::Load(register, variable) => {
                let value = self.variable(*variable);
                self.assign(*register, Source::Is(value));
            }
            Op::Store(variable, value) => {
                let value = value.map(&mut |r| self.register(*r));
                match self.entry {
                    Some(_) => self.buffered = Some(value),
                    None => {
                        self.memory.retain(|(v, _)| v != variable);
                        self.memory.push((*variable, value));
                    }
                }
            }
            Op::Block { parts, .. } => parts.iter().for_each(|part| self.perform(part)),
        }
    }

    /// The guard and the assignments; registers that are dead afterwards are left out.
    pub(crate) fn finish(self, live: &[RegId]) -> (Cond<Slot>, Vec<(Slot, Source)>) {
        let thread = self.thread;
        let live = |register: &RegId| live.binary_search(register).is_ok();
        let registers = self.registers.into_iter().filter(|(register, _)| live(register));
        let mut set: Vec<(Slot, Source)> =
            registers.map(|(register, source)| (Slot::Register(thread, register), source)).collect();
        set.extend(self.memory.into_iter().map(|(v, value)| (Slot::Memory(v), Source::Is(value))));
        if let (Some(entry), Some(value)) = (self.entry, self.buffered) {
            set.push((Slot::Buffer(thread, entry), Source::Is(value)));
            let count = self.local.stores().count() as u32;
            set.extend(
                (entry..count)
                    .map(|e| (Slot::Buffer(thread, e + 1), Source::Is(Slot::Buffer(thread, e).into()))),
            );
        }
        (Cond::and(self.guard), set)
    }

    fn assign(&mut self, register: RegId, source: Source) {
        self.registers.retain(|(r, _)| *r != register);
        self.registers.push((register, source));
    }

    /// What a register holds now. Within a block nothing is chosen freely (validated), so every
    /// assigned register has an expression.
    fn register(&self, register: RegId) -> Expr<Slot> {
        match self.registers.iter().find(|(r, _)| *r == register) {
            Some((_, Source::Is(value))) => value.clone(),
            _ => Slot::Register(self.thread, register).into(),
        }
    }

    /// What a load sees now: what this step stored, else the newest buffered store, else memory.
    fn variable(&self, variable: VarId) -> Expr<Slot> {
        if let Some((_, value)) = self.memory.iter().find(|(v, _)| *v == variable) {
            return value.clone();
        }
        let newest = self.local.stores().enumerate().filter(|(_, v)| *v == variable).last();
        match newest {
            Some((entry, _)) => Slot::Buffer(self.thread, entry as u32).into(),
            None => Slot::Memory(variable).into(),
        }
    }
}
