//! Operands to registers, constants and variables; addresses are resolved here.

use super::flow::Known;
use super::instructions::{Address, Instruction, Operand};
use super::lower::Lowering;
use super::registers::{Arch, Family};
use crate::Diagnostic;
use num_traits::Zero;
use program::{Expr, Int, RegId, VarId};

/// An operand that is ready to be read.
pub(super) enum Read {
    Value(Expr<RegId>),
    Memory(VarId),
}

/// An operand that can be written to.
pub(super) enum Place {
    Register(RegId),
    Memory(VarId),
}

impl Lowering<'_> {
    pub(super) fn is_address(&self, at: usize, operand: &Operand) -> bool {
        match operand {
            Operand::AddressOf(_) => true,
            Operand::Register(family) => matches!(self.known(at, *family), Known::Address(..)),
            _ => false,
        }
    }

    pub(super) fn known(&self, at: usize, family: Family) -> &Known {
        let state = self.context.flow.known[at].as_ref();
        state.map_or(&Known::Number, |state| &state[family.index()])
    }

    pub(super) fn read(
        &mut self,
        at: usize,
        instruction: &Instruction,
        operand: &Operand,
    ) -> Result<Read, Diagnostic> {
        match operand {
            Operand::Register(family) => match self.known(at, *family) {
                Known::Int(_) | Known::Number => Ok(Read::Value(self.register(*family).into())),
                Known::Address(..) | Known::Mixed => {
                    let register = family.name(self.context.arch);
                    let message = format!(
                        "`{}` computes with an address in `{register}`, which is not supported",
                        instruction.name
                    );
                    Err(Diagnostic::error(instruction.span, message))
                }
            },
            Operand::Immediate(value) => Ok(Read::Value(Expr::Const(self.context.sizes.signed(value)))),
            Operand::AddressOf(name) => {
                let message = format!(
                    "`{}` computes with the address of `{name}`, which is not supported",
                    instruction.name
                );
                Err(Diagnostic::error(instruction.span, message))
            }
            Operand::Memory(address) => self.variable(at, instruction, address).map(Read::Memory),
            Operand::Label(name) => self.bare_word(instruction, name).map(Read::Memory),
        }
    }

    /// The operand as something to write to.
    pub(super) fn place(
        &mut self,
        at: usize,
        instruction: &Instruction,
        operand: &Operand,
    ) -> Result<Place, Diagnostic> {
        match operand {
            Operand::Register(family) => Ok(Place::Register(self.register(*family))),
            Operand::Memory(address) => self.variable(at, instruction, address).map(Place::Memory),
            Operand::Label(name) => self.bare_word(instruction, name).map(Place::Memory),
            _ => Err(self.bad_operands(instruction)),
        }
    }

    /// A bare word is memory for the AT&T assembler, and means different things to others.
    pub(super) fn bare_word(&self, instruction: &Instruction, name: &str) -> Result<VarId, Diagnostic> {
        match self.context.symbols.get(name) {
            Some(symbol) if self.context.arch == Arch::X86_64 => Ok(symbol.first),
            _ => {
                let message = format!("`{}` does not take the operand `{name}`", instruction.name);
                Err(Diagnostic::error(instruction.span, message)
                    .hint(format!("write `[{name}]` for the location")))
            }
        }
    }

    pub(super) fn variable(
        &self,
        at: usize,
        instruction: &Instruction,
        address: &Address,
    ) -> Result<VarId, Diagnostic> {
        let unknown = |what: &str| {
            Diagnostic::error(instruction.span, format!("`{}` uses {what}", instruction.name))
                .hint("only addresses that are known beforehand are supported")
        };
        let mut symbol = address.symbol.clone();
        let mut offset = address.displacement.clone();
        let is_program_counter =
            |family: &Family| matches!(family.name(self.context.arch).as_str(), "rip" | "EIP");
        let base =
            address.base.filter(|family| !is_program_counter(family)).map(|family| (family, Int::from(1)));
        for (family, scale) in base.into_iter().chain(address.index.clone()) {
            match self.known(at, family) {
                Known::Int(value) => offset += value * scale,
                Known::Address(name, more) if symbol.is_none() && scale == Int::from(1) => {
                    symbol = Some(name.clone());
                    offset += more;
                }
                _ => return Err(unknown("an address that is not known before the test runs")),
            }
        }
        let found = symbol.as_ref().and_then(|name| self.context.symbols.get(name));
        let Some(symbol) = found else { return Err(unknown("an address that belongs to no location")) };
        let bytes = Int::from(symbol.bytes);
        let (cell, rest) = (&offset / &bytes, &offset % &bytes);
        match usize::try_from(&cell) {
            Ok(cell) if rest.is_zero() && cell < symbol.cells => Ok(VarId::new(symbol.first.index() + cell)),
            _ => Err(unknown("an address that is not the start of a cell")),
        }
    }
}
