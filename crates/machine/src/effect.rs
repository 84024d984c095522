//! What an edge does to the data, as simultaneous assignments.
//!
//! Operations are performed one after the other on *expressions over the slots before the
//! step*: a register that was assigned stands for its expression from then on. So a block of
//! several operations becomes one guard and one set of assignments.

use crate::{Slot, ValueSource};
use program::{Cond, Expr, Op, RegId, ThreadId, VarId};

/// The effect of a step, while it is being worked out.
pub(crate) struct Effect<'a> {
    thread: ThreadId,
    /// Where a load of the thread finds a variable.
    newest: &'a dyn Fn(VarId) -> Slot,
    guard: Vec<Cond<Slot>>,
    registers: Vec<(RegId, ValueSource)>,
    memory: Vec<(VarId, Expr<Slot>)>,
    /// Whether a store joins the buffer instead of reaching memory.
    buffers: bool,
    buffered: Option<Expr<Slot>>,
}

/// What a step does to the data.
pub(crate) struct EffectOutcome {
    /// When it may happen.
    pub(crate) guard: Cond<Slot>,
    /// What registers and memory become.
    pub(crate) set: Vec<(Slot, ValueSource)>,
    /// The value that joins the buffer.
    pub(crate) buffered: Option<Expr<Slot>>,
}

impl<'a> Effect<'a> {
    pub(crate) fn new(thread: ThreadId, buffers: bool, newest: &'a dyn Fn(VarId) -> Slot) -> Effect<'a> {
        Effect {
            thread,
            newest,
            guard: Vec::new(),
            registers: Vec::new(),
            memory: Vec::new(),
            buffers,
            buffered: None,
        }
    }

    pub(crate) fn perform(&mut self, op: &Op) {
        match op {
            Op::Skip | Op::Fence(_) | Op::Lock | Op::Unlock => {}
            Op::Assign(register, value) => {
                let value = value.map(&mut |r| self.register(*r));
                self.assign(*register, ValueSource::Is(value));
            }
            Op::Havoc(register, domain) => self.assign(*register, ValueSource::Any(domain.clone())),
            Op::Assume(cond) => {
                let cond = cond.map(&mut |r| self.register(*r));
                self.guard.push(cond);
            }
            Op::Load(register, variable) => {
                let value = self.variable(*variable);
                self.assign(*register, ValueSource::Is(value));
            }
            Op::Store(variable, value) => {
                let value = value.map(&mut |r| self.register(*r));
                if self.buffers {
                    self.buffered = Some(value);
                } else {
                    self.memory.retain(|(v, _)| v != variable);
                    self.memory.push((*variable, value));
                }
            }
            Op::Block { parts, .. } => parts.iter().for_each(|part| self.perform(part)),
        }
    }

    /// The guard and the assignments; registers that are dead afterwards are left out.
    pub(crate) fn finish(self, live: &[RegId]) -> EffectOutcome {
        let thread = self.thread;
        let live = |register: &RegId| live.binary_search(register).is_ok();
        let registers = self.registers.into_iter().filter(|(register, _)| live(register));
        let mut set: Vec<(Slot, ValueSource)> =
            registers.map(|(register, source)| (Slot::Register(thread, register), source)).collect();
        set.extend(self.memory.into_iter().map(|(v, value)| (Slot::Memory(v), ValueSource::Is(value))));
        EffectOutcome { guard: Cond::and(self.guard), set, buffered: self.buffered }
    }

    fn assign(&mut self, register: RegId, source: ValueSource) {
        self.registers.retain(|(r, _)| *r != register);
        self.registers.push((register, source));
    }

    /// What a register holds now. Within a block nothing is chosen freely (validated), so every
    /// assigned register has an expression.
    fn register(&self, register: RegId) -> Expr<Slot> {
        match self.registers.iter().find(|(r, _)| *r == register) {
            Some((_, ValueSource::Is(value))) => value.clone(),
            _ => Slot::Register(self.thread, register).into(),
        }
    }

    /// What a load sees now: what this step stored, else the newest buffered store, else memory.
    fn variable(&self, variable: VarId) -> Expr<Slot> {
        if let Some((_, value)) = self.memory.iter().find(|(v, _)| *v == variable) {
            return value.clone();
        }
        (self.newest)(variable).into()
    }
}
