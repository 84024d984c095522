//! Operands to registers, constants and variables.

use super::flow::RegValue;
use super::instructions::{Address, Instruction, Operand};
use super::lower::{AsmSite, LitmusLowering};
use super::registers::RegisterFamily;
use crate::Diagnostic;
use program::{Expr, RegId, VarId};

/// An operand that is ready to be read.
pub(super) enum Read {
    Value(Expr<RegId>),
    Memory(VarId),
}

/// An operand that can be written to.
pub(super) enum Destination {
    Register(RegId),
    Memory(VarId),
}

impl LitmusLowering<'_> {
    pub(super) fn is_address(&self, at: usize, operand: &Operand) -> bool {
        match operand {
            Operand::AddressOf(_) => true,
            Operand::Register(family) => matches!(self.known(at, *family), RegValue::Address(..)),
            _ => false,
        }
    }

    pub(super) fn known(&self, at: usize, family: RegisterFamily) -> &RegValue {
        let state = self.context.flow.known[at].as_ref();
        state.map_or(&RegValue::Number, |state| &state[family.index()])
    }

    pub(super) fn read(&mut self, here: AsmSite<'_>, operand: &Operand) -> Result<Read, Diagnostic> {
        let unsupported = |what: &str| {
            let message = format!("`{}` computes with {what}, which is not supported", here.instruction.name);
            Err(Diagnostic::error(here.instruction.span, message))
        };
        match operand {
            Operand::Register(family) => match self.known(here.at, *family) {
                RegValue::Int(_) | RegValue::Number => Ok(Read::Value(self.register(*family).into())),
                RegValue::Address(..) | RegValue::Mixed => {
                    unsupported(&format!("an address in `{}`", family.name(self.context.arch)))
                }
            },
            Operand::Immediate(value) => Ok(Read::Value(Expr::Const(self.context.sizes.word(value)))),
            Operand::AddressOf(name) => unsupported(&format!("the address of `{name}`")),
            Operand::Memory(address) => self.variable(here, address).map(Read::Memory),
            Operand::Label(name) => Err(bare_word(here.instruction, name)),
        }
    }

    /// The operand as something to write to.
    pub(super) fn place(&mut self, here: AsmSite<'_>, operand: &Operand) -> Result<Destination, Diagnostic> {
        match operand {
            Operand::Register(family) => Ok(Destination::Register(self.register(*family))),
            Operand::Memory(address) => self.variable(here, address).map(Destination::Memory),
            Operand::Label(name) => Err(bare_word(here.instruction, name)),
            _ => Err(self.bad_operands(here.instruction)),
        }
    }

    fn variable(&self, here: AsmSite<'_>, address: &Address) -> Result<VarId, Diagnostic> {
        let known = self.context.flow.known[here.at].as_deref().unwrap_or_default();
        self.context.layout.cell(self.context.arch, known, here.instruction, address)
    }
}

/// A bare word means different things to different readers of Intel syntax.
fn bare_word(instruction: &Instruction, name: &str) -> Diagnostic {
    let message = format!("`{}` does not take the operand `{name}`", instruction.name);
    Diagnostic::error(instruction.span, message).hint(format!("write `[{name}]` for the location"))
}
