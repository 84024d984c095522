//! Which registers and which memory may end up in an address.
//!
//! Only those are worth following: a register in a computed address, what it is computed or
//! loaded from, and what was written there. In most programs that is very little, and
//! counters are not among it.

use super::parser::{Expression, TrencherInstruction, TrencherThread};
use program::Int;
use std::collections::BTreeSet;

/// What may end up in an address.
#[derive(Debug, Default)]
pub(super) struct Relevance {
    /// For each thread, its registers.
    pub(super) registers: Vec<Vec<bool>>,
    /// Addresses whose contents matter.
    addresses: BTreeSet<Int>,
    /// Whether the contents of every address matter.
    everywhere: bool,
}

impl Relevance {
    pub(super) fn of(threads: &[TrencherThread]) -> Relevance {
        let registers = threads.iter().map(|thread| vec![false; thread.registers.len()]).collect();
        let mut relevance = Relevance { registers, ..Relevance::default() };
        let mut changed = true;
        while changed {
            changed = false;
            for (index, thread) in threads.iter().enumerate() {
                // Values flow along transitions, which mostly stand in that order.
                for transition in thread.transitions.iter().rev() {
                    changed |= relevance.step(index, &transition.instruction);
                }
            }
        }
        relevance
    }

    /// Whether what an address holds matters.
    pub(super) fn of_address(&self, address: &Int) -> bool {
        self.everywhere || self.addresses.contains(address)
    }

    fn step(&mut self, thread: usize, instruction: &TrencherInstruction) -> bool {
        match instruction {
            TrencherInstruction::Read { register, address } => {
                let matters = self.registers[thread][*register];
                self.mark_address(thread, address) | (matters && self.mark_memory(address))
            }
            TrencherInstruction::Write { value, address } => {
                let matters = match address {
                    Expression::Number(address) => self.of_address(address),
                    _ => self.everywhere || !self.addresses.is_empty(),
                };
                self.mark_address(thread, address) | (matters && self.mark(thread, value))
            }
            TrencherInstruction::Local { register, value } => {
                self.registers[thread][*register] && self.mark(thread, value)
            }
            _ => false,
        }
    }

    fn mark_address(&mut self, thread: usize, address: &Expression) -> bool {
        !matches!(address, Expression::Number(_)) && self.mark(thread, address)
    }

    fn mark_memory(&mut self, address: &Expression) -> bool {
        match address {
            Expression::Number(address) => self.addresses.insert(address.clone()),
            _ => !std::mem::replace(&mut self.everywhere, true),
        }
    }

    fn mark(&mut self, thread: usize, expression: &Expression) -> bool {
        let mut mentioned = BTreeSet::new();
        expression.mention(&mut mentioned);
        let mut changed = false;
        for register in mentioned {
            changed |= !std::mem::replace(&mut self.registers[thread][register], true);
        }
        changed
    }
}
