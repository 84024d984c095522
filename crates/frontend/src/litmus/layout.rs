//! Where locations live: a location is a row of cells, and a cell is a variable.
//!
//! A variable holds one number, and a buffered store belongs to one variable. So an access
//! starts where a cell starts and takes no more bytes than the cell has: a wider one would be
//! several variables at once, and an access to the middle would be part of a variable, which
//! no store buffer here can hold. Such accesses are refused, with the instruction. (An access
//! that takes less than its cell is fine as long as the rest of the cell is 0: see `sizes`.)
//!
//! Cells are as wide as their type says. A location without a type has cells of 4 bytes, or
//! of 8 if it is no array and an access takes that many.

use super::Test;
use super::condition::Observable;
use super::flow::{Flow, RegValue};
use super::header::LitmusValue;
use super::instructions::{Address, Instruction, Operand};
use super::registers::{Arch, RegisterFamily};
use crate::Diagnostic;
use num_traits::Zero;
use program::{Int, Span, VarId};
use std::collections::HashMap;

/// A location in the program.
#[derive(Clone, Copy, Debug)]
pub(super) struct LitmusLocation {
    pub(super) first: VarId,
    pub(super) cells: usize,
    /// Bytes of one cell.
    pub(super) bytes: usize,
    /// Whether an instruction accesses it.
    pub(super) accessed: bool,
}

/// All locations.
#[derive(Debug, Default)]
pub(super) struct MemoryLayout {
    pub(super) symbols: HashMap<String, LitmusLocation>,
    /// Those that no initial value mentions, in the order of their variables.
    pub(super) undeclared: Vec<(String, Span)>,
}

impl MemoryLayout {
    /// Lays out the locations of a test; errors are accesses that do not go to one cell.
    pub(super) fn of(test: &Test, flows: &[Flow]) -> Result<MemoryLayout, Vec<Diagnostic>> {
        let mut layout = MemoryLayout::default();
        let mut variables = 0;
        for declared in &test.init.locations {
            layout.add(&declared.name, &mut variables, declared.cells.len(), declared.bytes);
        }
        test.symbols(&mut |name, span| layout.use_name(name, span, &mut variables));
        for preset in &test.init.registers {
            if let LitmusValue::Address(name, _) = &preset.value {
                layout.use_name(name, preset.span, &mut variables);
            }
        }
        test.spots(&mut |spot, span| {
            if let Observable::Location(name, _) = spot {
                layout.use_name(name, span, &mut variables);
            }
        });
        layout.widen(test, flows);
        let mut errors = Vec::new();
        for (instruction, known, address) in accesses(test, flows) {
            errors.extend(layout.cell(test.arch, known, instruction, address).err());
        }
        if errors.is_empty() { Ok(layout) } else { Err(errors) }
    }

    fn add(&mut self, name: &str, variables: &mut usize, cells: usize, bytes: Option<usize>) {
        let first = VarId::new(*variables);
        *variables += cells;
        let symbol = LitmusLocation { first, cells, bytes: bytes.unwrap_or(4), accessed: false };
        self.symbols.insert(name.to_string(), symbol);
    }

    fn use_name(&mut self, name: &str, span: Span, variables: &mut usize) {
        if !self.symbols.contains_key(name) {
            self.add(name, variables, 1, None);
            self.undeclared.push((name.to_string(), span));
        }
    }

    /// Gives locations without a type the width of their accesses.
    fn widen(&mut self, test: &Test, flows: &[Flow]) {
        for (instruction, known, address) in accesses(test, flows) {
            let Ok((name, _)) = target(test.arch, known, instruction, address) else { continue };
            let Some(symbol) = self.symbols.get_mut(&name) else { continue };
            symbol.accessed = true;
            let declared = test.init.locations.iter().find(|declared| declared.name == name);
            if declared.is_none_or(|declared| declared.bytes.is_none() && !declared.is_array) {
                symbol.bytes = symbol.bytes.max(instruction.bits as usize / 8);
            }
        }
    }

    /// The variable that an instruction accesses.
    pub(super) fn cell(
        &self,
        arch: Arch,
        known: &[RegValue],
        instruction: &Instruction,
        address: &Address,
    ) -> Result<VarId, Diagnostic> {
        let (name, offset) = target(arch, known, instruction, address)?;
        let Some(symbol) = self.symbols.get(&name) else { return Err(nowhere(instruction)) };
        let (bytes, width) = (Int::from(symbol.bytes), instruction.bits as usize / 8);
        let (cell, rest) = (&offset / &bytes, &offset % &bytes);
        let cell = usize::try_from(&cell).ok().filter(|cell| *cell < symbol.cells);
        let message = match cell {
            Some(cell) if rest.is_zero() && width <= symbol.bytes => {
                return Ok(VarId::new(symbol.first.index() + cell));
            }
            Some(_) if rest.is_zero() => {
                let plural =
                    |bytes: usize| if bytes == 1 { "1 byte".into() } else { format!("{bytes} bytes") };
                let cells = if symbol.cells == 1 { "cell has" } else { "cells have" };
                format!("takes {} at `{name}`, whose {cells} {}", plural(width), plural(symbol.bytes))
            }
            Some(_) => format!("uses an address in `{name}` that is not the start of a cell"),
            None => format!("uses an address beside the cells of `{name}`"),
        };
        Err(Diagnostic::error(instruction.span, format!("`{}` {message}", instruction.name))
            .hint("an access must start with a cell and take no more bytes than the cell has"))
    }
}

/// The accesses to memory that control can get to, with what registers hold before them.
fn accesses<'a>(
    test: &'a Test,
    flows: &'a [Flow],
) -> impl Iterator<Item = (&'a Instruction, &'a [RegValue], &'a Address)> {
    let of_thread = test.threads.iter().zip(flows).flat_map(|(code, flow)| {
        let reached = code.instructions.iter().zip(&flow.known);
        reached.filter_map(|(instruction, known)| Some((instruction, known.as_deref()?)))
    });
    of_thread.flat_map(|(instruction, known)| {
        instruction.operands.iter().filter_map(move |operand| match operand {
            Operand::Memory(address) => Some((instruction, known, address)),
            _ => None,
        })
    })
}

fn unknown(instruction: &Instruction, what: &str) -> Diagnostic {
    Diagnostic::error(instruction.span, format!("`{}` uses {what}", instruction.name))
        .hint("only addresses that are known beforehand are supported")
}

fn nowhere(instruction: &Instruction) -> Diagnostic {
    unknown(instruction, "an address that belongs to no location")
}

/// The location that an address is in, and the bytes from its start.
fn target(
    arch: Arch,
    known: &[RegValue],
    instruction: &Instruction,
    address: &Address,
) -> Result<(String, Int), Diagnostic> {
    let mut symbol = address.symbol.clone();
    let mut offset = address.displacement.clone();
    let is_program_counter = |family: &RegisterFamily| matches!(family.name(arch).as_str(), "rip" | "EIP");
    let base = address.base.filter(|family| !is_program_counter(family)).map(|family| (family, Int::from(1)));
    for (family, scale) in base.into_iter().chain(address.index.clone()) {
        match known.get(family.index()) {
            Some(RegValue::Int(value)) => offset += value * scale,
            Some(RegValue::Address(name, more)) if symbol.is_none() && scale == Int::from(1) => {
                symbol = Some(name.clone());
                offset += more;
            }
            _ => return Err(unknown(instruction, "an address that is not known before the test runs")),
        }
    }
    symbol.map(|name| (name, offset)).ok_or_else(|| nowhere(instruction))
}
