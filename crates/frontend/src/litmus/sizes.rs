//! Operand sizes, and why mathematical integers may stand for machine words.
//!
//! A machine word wraps around and can be written in part; an integer here does neither.
//! Both agree as long as every value fits: if a test uses one operand size only, every value
//! must stay within that many bits, read as signed; if it mixes sizes (or uses bytes and
//! 16-bit words, which are parts of registers), every value must be non-negative and fit the
//! smallest, so that no part of a word differs from the whole.
//!
//! Values are bounded like this: they start within the constants of the test; adding a
//! constant adds at most that constant, any other arithmetic at most doubles the largest
//! value. Without loops each instruction runs once, which bounds everything. Arithmetic in a
//! loop cannot be bounded this way: that is a warning, as runs long enough to wrap are not
//! what a litmus test is about. Everything else that does not fit is an error.

use super::flow::Flow;
use super::header::{Init, Value};
use super::instructions::{Arithmetic, Code, Instruction, Kind, Operand, When};
use crate::Diagnostic;
use num_traits::{Signed, Zero};
use program::{Int, Span};

/// What is known of the sizes and values of a test.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    /// The only operand size, if there is only one.
    single: Option<u32>,
    /// Whether a value may be below zero.
    pub(super) negative: bool,
}

impl Sizes {
    /// Checks a test; errors, or the sizes and warnings.
    pub(super) fn of(
        threads: &[Code],
        flows: &[Flow],
        init: &Init,
    ) -> Result<(Sizes, Vec<Diagnostic>), Vec<Diagnostic>> {
        let data = || threads.iter().flat_map(|code| &code.instructions).filter(|i| uses_data(i));
        let (least, most) = (data().map(|i| i.bits).min(), data().map(|i| i.bits).max());
        // Part of a register is never the whole of it, even if no other size is used.
        let single = least.filter(|bits| least == most && *bits >= 32);
        let mut sizes = Sizes { single, negative: false };
        if least.is_none() {
            sizes.single = Some(64);
        }
        let bits = least.unwrap_or(64);
        let mut errors = Vec::new();
        let mut bound = Int::zero();
        for (value, span, name) in constants(threads, init) {
            if !fits(&value, bits, sizes.single.is_some()) {
                errors.push(does_not_fit(&value, span, name, bits, sizes.single.is_none()));
            }
            let value = sizes.signed(&value);
            sizes.negative |= value.is_negative();
            bound = bound.max(value.abs());
        }
        let growth = grow(threads, flows, &mut bound);
        sizes.negative |= growth.subtracts;
        if let Some(instruction) = growth.last {
            let too_far = bound >= Int::from(1) << (bits - 1);
            if too_far || (sizes.negative && sizes.single.is_none()) {
                errors.push(wraps(instruction, bits));
            }
        } else if sizes.negative && sizes.single.is_none() {
            let narrow = data().find(|i| i.bits == bits);
            errors.extend(narrow.map(|instruction| wraps(instruction, bits)));
        }
        if errors.is_empty() { Ok((sizes, growth.warnings)) } else { Err(errors) }
    }

    /// The value a word of this test's size holds when a constant is put into it.
    pub(super) fn signed(&self, value: &Int) -> Int {
        match self.single {
            Some(bits) if *value >= Int::from(1) << (bits - 1) && *value < Int::from(1) << bits => {
                value - (Int::from(1) << bits)
            }
            _ => value.clone(),
        }
    }
}

fn uses_data(instruction: &Instruction) -> bool {
    use Kind::{FullFence, Jmp, Jump, Nothing, Ret, StoreFence};
    !matches!(instruction.kind, Jump(_) | Jmp | FullFence | StoreFence | Nothing | Ret)
}

fn constants<'a>(threads: &'a [Code], init: &'a Init) -> impl Iterator<Item = (Int, Span, Option<&'a str>)> {
    let cells = init.locations.iter().flat_map(|l| l.cells.iter().map(|cell| (cell.clone(), l.span, None)));
    let registers = init.registers.iter().filter_map(|preset| match &preset.value {
        Value::Int(value) => Some((value.clone(), preset.span, None)),
        Value::Address(..) => None,
    });
    let immediates = threads.iter().flat_map(|code| &code.instructions).flat_map(|instruction| {
        instruction.operands.iter().filter_map(|operand| match operand {
            Operand::Immediate(value) => Some((value.clone(), instruction.span, Some(&*instruction.name))),
            _ => None,
        })
    });
    cells.chain(registers).chain(immediates)
}

fn fits(value: &Int, bits: u32, alone: bool) -> bool {
    let half = Int::from(1) << (bits - 1);
    if alone {
        *value >= -half && *value < Int::from(1) << bits
    } else {
        !value.is_negative() && *value < half
    }
}

fn does_not_fit(value: &Int, span: Span, name: Option<&str>, bits: u32, mixed: bool) -> Diagnostic {
    let of = name.map_or(String::new(), |name| format!(" of `{name}`"));
    let message = format!("the value {value}{of} does not fit the {bits} bits that this test computes with");
    let error = Diagnostic::error(span, message);
    if mixed {
        error.hint("the test mixes operand sizes: values must be the same in all of them")
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
                (Kind::Inc | Kind::Dec, _) => Some(Int::from(1)),
                (Kind::Arithmetic(_), Some(Operand::Immediate(value))) => Some(value.abs()),
                (Kind::Arithmetic(_) | Kind::Xadd, _) => None,
                _ => continue,
            };
            if clears(instruction) {
                continue;
            }
            growth.last = Some(instruction);
            growth.subtracts |= matches!(instruction.kind, Kind::Dec | Kind::Arithmetic(Arithmetic::Sub));
            let bitwise = matches!(
                instruction.kind,
                Kind::Arithmetic(Arithmetic::And | Arithmetic::Or | Arithmetic::Xor)
            );
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
    let sign_jump = |i: &&Instruction| matches!(i.kind, Kind::Jump(When::Negative | When::NotNegative));
    if let Some(jump) = threads.iter().flat_map(|code| &code.instructions).find(sign_jump) {
        *bound <<= 1;
        growth.last = growth.last.or(Some(jump));
    }
    growth
}

/// `XOR EAX,EAX` and `SUB EAX,EAX` only clear a register.
fn clears(instruction: &Instruction) -> bool {
    matches!(instruction.kind, Kind::Arithmetic(Arithmetic::Xor | Arithmetic::Sub))
        && matches!(instruction.operands.as_slice(), [Operand::Register(a), Operand::Register(b)] if a == b)
}
