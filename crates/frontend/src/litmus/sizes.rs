//! Operand sizes, and why mathematical integers may stand for machine words.
//!
//! A machine word wraps around and can be written in part; an integer here does neither.
//! Both agree as long as every value fits. Sizes are those of operands, of the cells they
//! access, and of parts of registers that the test names. If there is one size only, every
//! value must stay within that many bits, read as signed; if there are several (or bytes and
//! 16-bit words, which are parts of registers), every value must be non-negative and fit the
//! smallest, so that no part of a word differs from the whole. A test for 64 bits that keeps
//! to 32 has one size: its registers are cleared above the word, which is done in the end.
//!
//! Values are bounded like this: they start within the constants of the test; adding a
//! constant adds at most that constant, any other arithmetic at most doubles the largest
//! value. Without loops each instruction runs once, which bounds everything. Arithmetic in a
//! loop cannot be bounded this way: that is a warning, as runs long enough to wrap are not
//! what a litmus test is about. Everything else that does not fit is an error.

use super::condition::Observable;
use super::flow::Flow;
use super::header::LitmusValue;
use super::instructions::{Code, Instruction, InstructionKind, Operand, When};
use super::layout::MemoryLayout;
use super::{Test, spots_of};
use crate::Diagnostic;
use num_traits::{Signed, Zero};
use program::{Arith, Int, Span};

/// What is known of the sizes and values of a test.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    /// The only size, if there is only one.
    single: Option<u32>,
    /// The size of a register.
    register: u32,
    /// Whether a value may be below zero.
    pub(super) negative: bool,
}

impl Sizes {
    /// Checks a test; errors, or the sizes and warnings.
    pub(super) fn of(
        test: &Test,
        flows: &[Flow],
        layout: &MemoryLayout,
    ) -> Result<(Sizes, Vec<Diagnostic>), Vec<Diagnostic>> {
        let used = used(test, layout);
        let (least, most) = (used.iter().min(), used.iter().max());
        let register = test.arch.bits();
        let bits = least.copied().unwrap_or(register);
        // Part of a register is never the whole of it, even if no other size is used.
        let single = (least == most && bits >= 32).then_some(bits);
        let mut sizes = Sizes { single, register, negative: false };
        let mut errors = unused_cells(test, layout);
        let mut bound = Int::zero();
        for constant in constants(test, layout) {
            if !sizes.fits(&constant, bits) {
                errors.push(does_not_fit(&constant, bits, sizes.single.is_none()));
            }
            let value = sizes.word(&constant.value);
            sizes.negative |= value.is_negative();
            bound = bound.max(value.abs());
        }
        let growth = grow(&test.threads, flows, &mut bound);
        sizes.negative |= growth.subtracts;
        if let Some(instruction) = growth.last {
            let too_far = bound >= Int::from(1) << (bits - 1);
            if too_far || (sizes.negative && sizes.single.is_none()) {
                errors.push(wraps(instruction, bits));
            }
        }
        if errors.is_empty() { Ok((sizes, growth.warnings)) } else { Err(errors) }
    }

    /// The value a word of this test's size holds when a constant is put into it.
    pub(super) fn word(&self, value: &Int) -> Int {
        self.single.map_or_else(|| value.clone(), |bits| signed(value, bits))
    }

    /// What the upper half of registers must be cleared with in the end: words that may be
    /// negative are read as signed numbers, but in a larger register they have no sign.
    pub(super) fn zero_extension(&self) -> Option<Int> {
        let bits = self.single.filter(|bits| *bits < self.register && self.negative)?;
        Some((Int::from(1) << bits) - 1)
    }

    /// What a register holds in the end when this many bits of it are the value.
    pub(super) fn in_register(&self, value: &Int, named: u32) -> Int {
        match self.single {
            Some(bits) if bits == self.register => signed(value, bits),
            // Cleared beyond the word, so a name of its size sees a number without a sign.
            Some(bits) if named == bits && value.is_negative() && is_word(value, bits) => {
                value + (Int::from(1) << bits)
            }
            _ => value.clone(),
        }
    }

    fn fits(&self, constant: &Constant, bits: u32) -> bool {
        let (value, half) = (&constant.value, Int::from(1) << (bits - 1));
        match self.single {
            None => !value.is_negative() && *value < half,
            // The upper half of a register is 0 from the beginning.
            Some(_) if constant.whole_register && bits < self.register => {
                !value.is_negative() && *value < half * 2
            }
            Some(_) => is_word(value, bits),
        }
    }
}

/// The number that so many bits are, read as signed.
pub(super) fn signed(value: &Int, bits: u32) -> Int {
    if *value >= Int::from(1) << (bits - 1) && *value < Int::from(1) << bits {
        return value - (Int::from(1) << bits);
    }
    value.clone()
}

/// Whether so many bits hold the value, signed or not.
fn is_word(value: &Int, bits: u32) -> bool {
    *value >= -(Int::from(1) << (bits - 1)) && *value < Int::from(1) << bits
}

/// All sizes that matter: of operands, of the cells they access, and of parts of registers
/// that are given a value or asked for.
fn used(test: &Test, layout: &MemoryLayout) -> Vec<u32> {
    let instructions = test.threads.iter().flat_map(|code| &code.instructions);
    let mut used: Vec<u32> = instructions.filter(|i| uses_data(i)).map(|i| i.bits).collect();
    used.extend(layout.symbols.values().filter(|s| s.accessed).map(|s| s.bytes as u32 * 8));
    let mut names: Vec<u32> = test.init.registers.iter().map(|preset| preset.bits).collect();
    let mut see = |spot: &Observable, _| {
        if let Observable::Register(.., bits) = spot {
            names.push(*bits);
        }
    };
    spots_of(&test.tail.filter, &mut see);
    spots_of(&test.tail.prop, &mut see);
    used.extend(names.into_iter().filter(|bits| *bits < test.arch.bits()));
    used
}

/// Values that do not fit cells which no instruction accesses: they take part in nothing else.
fn unused_cells(test: &Test, layout: &MemoryLayout) -> Vec<Diagnostic> {
    let mut errors = Vec::new();
    for location in &test.init.locations {
        let Some(symbol) = layout.symbols.get(&location.name).filter(|s| !s.accessed) else { continue };
        let bits = symbol.bytes as u32 * 8;
        for value in location.cells.iter().filter(|value| !is_word(value, bits)) {
            let message = format!("the value {value} does not fit the {bits} bits of `{}`", location.name);
            errors.push(Diagnostic::error(location.span, message));
        }
    }
    errors
}

fn uses_data(instruction: &Instruction) -> bool {
    use InstructionKind::{FullFence, Jmp, Jump, Nothing, Ret, StoreFence};
    !matches!(instruction.kind, Jump(_) | Jmp | FullFence | StoreFence | Nothing | Ret)
}

/// A number that the test writes down.
struct Constant<'a> {
    value: Int,
    span: Span,
    /// The instruction it stands in.
    name: Option<&'a str>,
    /// Whether a register starts with it, named as a whole.
    whole_register: bool,
}

fn constants<'a>(test: &'a Test, layout: &MemoryLayout) -> Vec<Constant<'a>> {
    let mut constants = Vec::new();
    let mut add = |value: &Int, span, name, whole_register| {
        constants.push(Constant { value: value.clone(), span, name, whole_register });
    };
    for location in &test.init.locations {
        if layout.symbols.get(&location.name).is_some_and(|symbol| symbol.accessed) {
            location.cells.iter().for_each(|cell| add(cell, location.span, None, false));
        }
    }
    for preset in &test.init.registers {
        if let LitmusValue::Int(value) = &preset.value {
            add(value, preset.span, None, preset.bits >= test.arch.bits());
        }
    }
    for instruction in test.threads.iter().flat_map(|code| &code.instructions) {
        for operand in &instruction.operands {
            if let Operand::Immediate(value) = operand {
                add(value, instruction.span, Some(&*instruction.name), false);
            }
        }
    }
    constants
}

fn does_not_fit(constant: &Constant, bits: u32, mixed: bool) -> Diagnostic {
    let Constant { value, span, name, .. } = constant;
    let of = name.map_or(String::new(), |name| format!(" of `{name}`"));
    let message = format!("the value {value}{of} does not fit the {bits} bits that this test computes with");
    let error = Diagnostic::error(*span, message);
    if mixed {
        error
            .hint("operands, cells or registers have different sizes: values must be the same in all of them")
    } else {
        error
    }
}

fn wraps(instruction: &Instruction, bits: u32) -> Diagnostic {
    let message =
        format!("`{}` may leave the range of {bits} bits, and wrap-around is not modelled", instruction.name);
    Diagnostic::error(instruction.span, message)
}

struct Growth<'a> {
    /// The last arithmetic instruction.
    last: Option<&'a Instruction>,
    subtracts: bool,
    warnings: Vec<Diagnostic>,
}

/// Raises the bound by what the arithmetic of all threads can add to it.
fn grow<'a>(threads: &'a [Code], flows: &[Flow], bound: &mut Int) -> Growth<'a> {
    let mut growth = Growth { last: None, subtracts: false, warnings: Vec::new() };
    let mut doublings = 0u32;
    for (code, flow) in threads.iter().zip(flows) {
        for (instruction, repeats) in code.instructions.iter().zip(&flow.repeats) {
            let constant = match (instruction.kind, instruction.operands.last()) {
                (InstructionKind::Inc | InstructionKind::Dec, _) => Some(Int::from(1)),
                (InstructionKind::Arithmetic(_), Some(Operand::Immediate(value))) => Some(value.abs()),
                (InstructionKind::Arithmetic(_) | InstructionKind::Xadd, _) => None,
                _ => continue,
            };
            if clears(instruction) {
                continue;
            }
            growth.last = Some(instruction);
            growth.subtracts |=
                matches!(instruction.kind, InstructionKind::Dec | InstructionKind::Arithmetic(Arith::Sub));
            let bitwise =
                matches!(instruction.kind, InstructionKind::Arithmetic(Arith::And | Arith::Or | Arith::Xor));
            match constant {
                _ if *repeats && !bitwise => {
                    let message =
                        format!("`{}` may run again and again; integers do not wrap here", instruction.name);
                    growth.warnings.push(Diagnostic::warning(instruction.span, message));
                }
                Some(value) if !bitwise => *bound += value,
                _ => doublings = (doublings + 1).min(128),
            }
        }
    }
    *bound <<= doublings;
    // The sign of a difference must not wrap either.
    let sign_jump =
        |i: &&Instruction| matches!(i.kind, InstructionKind::Jump(When::Negative | When::NotNegative));
    if let Some(jump) = threads.iter().flat_map(|code| &code.instructions).find(sign_jump) {
        *bound <<= 1;
        growth.last = growth.last.or(Some(jump));
    }
    growth
}

/// `XOR EAX,EAX` and `SUB EAX,EAX` only clear a register.
fn clears(instruction: &Instruction) -> bool {
    matches!(instruction.kind, InstructionKind::Arithmetic(Arith::Xor | Arith::Sub))
        && matches!(instruction.operands.as_slice(), [Operand::Register(a), Operand::Register(b)] if a == b)
}
