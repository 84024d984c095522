//! What is known before each instruction of a thread: where control may come from, which
//! registers hold addresses, which instruction set the flags, and whether anyone will look.
//!
//! Three small data-flow problems over the same graph. Addresses are followed forwards
//! (a register holds this number, this address, some number, or perhaps an address), so that
//! `(%rax)` can be resolved before the program is built. The flags' origin is followed
//! forwards and their use backwards, so that only flags that are used cost registers.

use super::header::{Init, LitmusValue};
use super::instructions::{Code, Instruction, InstructionKind, Operand};
use super::registers::{Arch, FAMILIES, RegisterFamily};
use crate::Diagnostic;
use program::{Arith, Int};
use std::collections::HashMap;

/// What a register holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RegValue {
    /// This number.
    Int(Int),
    /// The address of a location, plus bytes.
    Address(String, Int),
    /// Some number.
    Number,
    /// An address or a number, depending on the way taken.
    Mixed,
}

/// Which flags an instruction sets, and to what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flags {
    /// Those of a comparison: every jump has a meaning.
    Comparison,
    /// Those of a result; carry is not modelled.
    Result,
    /// Those of a bitwise result: carry is clear.
    Bitwise,
}

/// The flags' origins that reach a place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Origins {
    /// None has been set yet, on some way.
    pub(super) unset: bool,
    /// Set by an instruction that leaves carry unmodelled.
    pub(super) result: bool,
}

/// The facts about one thread.
#[derive(Debug)]
pub(super) struct Flow {
    /// For a jump, its target.
    pub(super) targets: Vec<Option<usize>>,
    /// What registers hold before each instruction, where control can get.
    pub(super) known: Vec<Option<Vec<RegValue>>>,
    /// The flags before each instruction.
    pub(super) origins: Vec<Origins>,
    /// Whether the flags after each instruction are looked at through registers.
    pub(super) flags_used: Vec<bool>,
    /// Whether a conditional jump can use the operands of the instruction right before it.
    pub(super) direct: Vec<bool>,
    /// Whether each instruction lies between a jump back and its target.
    pub(super) repeats: Vec<bool>,
}

/// The flags an instruction sets.
pub(super) fn flags_of(kind: InstructionKind) -> Option<Flags> {
    match kind {
        InstructionKind::Cmp | InstructionKind::Cmpxchg | InstructionKind::Arithmetic(Arith::Sub) => {
            Some(Flags::Comparison)
        }
        InstructionKind::Arithmetic(Arith::Add)
        | InstructionKind::Inc
        | InstructionKind::Dec
        | InstructionKind::Xadd => Some(Flags::Result),
        InstructionKind::Arithmetic(_) | InstructionKind::Test => Some(Flags::Bitwise),
        _ => None,
    }
}

impl Flow {
    pub(super) fn of(arch: Arch, thread: usize, code: &Code, init: &Init) -> Result<Flow, Vec<Diagnostic>> {
        let (successors, targets) = graph(code)?;
        let written = |instruction: &Instruction, known: &Vec<RegValue>| {
            let mut after = known.clone();
            transfer(arch, instruction, &mut after);
            after
        };
        let known = forwards(code, &successors, entry(thread, init), written, |a, b| {
            a.iter().zip(b).map(|(a, b)| a.or(b)).collect()
        });
        let unset = Origins { unset: true, result: false };
        let origins = forwards(code, &successors, unset, after_flags, Origins::or);
        let origins: Vec<Origins> = origins.into_iter().map(Option::unwrap_or_default).collect();
        let direct = direct(code, &successors, &targets);
        let flags_used = flags_used(code, &successors, &direct);
        let mut repeats = vec![false; code.instructions.len()];
        for (at, target) in targets.iter().enumerate() {
            if let Some(target) = target.filter(|target| *target <= at) {
                repeats[target..=at].fill(true);
            }
        }
        Ok(Flow { targets, known, origins, flags_used, direct, repeats })
    }
}

/// Where each instruction may lead (the position after the last is the end), and jumps' targets.
type ControlFlowGraph = (Vec<Vec<usize>>, Vec<Option<usize>>);

fn graph(code: &Code) -> Result<ControlFlowGraph, Vec<Diagnostic>> {
    let labels: HashMap<&str, usize> = code.labels.iter().map(|(name, at, _)| (name.as_str(), *at)).collect();
    let end = code.instructions.len();
    let mut errors = Vec::new();
    let (mut successors, mut targets) = (Vec::new(), Vec::new());
    for (at, instruction) in code.instructions.iter().enumerate() {
        let mut target = None;
        if matches!(instruction.kind, InstructionKind::Jmp | InstructionKind::Jump(_)) {
            match jump_target(instruction, &labels) {
                Ok(found) => target = Some(found),
                Err(error) => errors.push(error),
            }
        }
        targets.push(target);
        successors.push(match instruction.kind {
            InstructionKind::Jmp => target.into_iter().collect(),
            InstructionKind::Jump(_) => target.into_iter().chain([at + 1]).collect(),
            InstructionKind::Ret => vec![end],
            _ => vec![at + 1],
        });
    }
    if errors.is_empty() { Ok((successors, targets)) } else { Err(errors) }
}

fn jump_target(instruction: &Instruction, labels: &HashMap<&str, usize>) -> Result<usize, Diagnostic> {
    let name = &instruction.name;
    match instruction.operands.as_slice() {
        [Operand::Label(label)] => labels.get(label.as_str()).copied().ok_or_else(|| {
            Diagnostic::error(
                instruction.span,
                format!("`{name}` goes to `{label}`, which is no label of this thread"),
            )
        }),
        _ => Err(Diagnostic::error(instruction.span, format!("`{name}` needs a label"))),
    }
}

/// What registers hold first.
fn entry(thread: usize, init: &Init) -> Vec<RegValue> {
    let mut entry = vec![RegValue::Int(Int::from(0)); FAMILIES];
    for preset in init.registers.iter().filter(|preset| preset.thread == thread) {
        entry[preset.family.index()] = match &preset.value {
            LitmusValue::Int(value) => RegValue::Int(value.clone()),
            LitmusValue::Address(name, cell) => {
                let bytes =
                    init.locations.iter().find(|l| l.name == *name).and_then(|l| l.bytes).unwrap_or(4);
                RegValue::Address(name.clone(), Int::from(*cell) * bytes)
            }
        };
    }
    entry
}

/// What holds before each instruction that control gets to, from what holds at first, what holds after an
/// instruction, and what holds where two ways meet.
fn forwards<F: Clone + PartialEq>(
    code: &Code,
    successors: &[Vec<usize>],
    entry: F,
    after: impl Fn(&Instruction, &F) -> F,
    meet: impl Fn(&F, &F) -> F,
) -> Vec<Option<F>> {
    let mut before = vec![None; code.instructions.len() + 1];
    before[0] = Some(entry);
    let mut work = vec![0];
    while let Some(at) = work.pop() {
        let (Some(instruction), Some(here)) = (code.instructions.get(at), &before[at]) else { continue };
        let after = after(instruction, here);
        for &next in &successors[at] {
            let met = before[next].as_ref().map_or_else(|| after.clone(), |known| meet(known, &after));
            if before[next].as_ref() != Some(&met) {
                before[next] = Some(met);
                work.push(next);
            }
        }
    }
    before
}

fn transfer(arch: Arch, instruction: &Instruction, state: &mut [RegValue]) {
    use Operand::{AddressOf, Immediate, Register};
    let mut bits = instruction.bits;
    let held = |family: RegisterFamily| state[family.index()].clone();
    let writes = match (instruction.kind, instruction.operands.as_slice()) {
        (InstructionKind::Mov, [Register(to), Immediate(value)]) => {
            vec![(*to, RegValue::Int(value.clone()))]
        }
        (InstructionKind::Mov, [Register(to), AddressOf(name)]) => {
            if bits == 32 {
                // An assembler that accepts this knows that the whole address fits.
                bits = arch.bits();
            }
            vec![(*to, RegValue::Address(name.clone(), Int::from(0)))]
        }
        (InstructionKind::Mov, [Register(to), Register(from)]) => vec![(*to, held(*from))],
        (InstructionKind::Xchg, [Register(a), Register(b)]) => vec![(*a, held(*b)), (*b, held(*a))],
        (InstructionKind::Arithmetic(Arith::Xor | Arith::Sub), [Register(a), Register(b)]) if a == b => {
            vec![(*a, RegValue::Int(Int::from(0)))]
        }
        _ => instruction.written().into_iter().map(|family| (family, RegValue::Number)).collect(),
    };
    for (family, value) in writes {
        let old = &mut state[family.index()];
        *old = written(arch, bits, old, value);
    }
}

/// What a register holds after a write of so many bits: 32 bits clear the upper half of 64,
/// fewer leave the rest as it was. Part of an address is no address.
fn written(arch: Arch, bits: u32, old: &RegValue, new: RegValue) -> RegValue {
    if bits == arch.bits() {
        return new;
    }
    let low = |value: &Int| value & ((Int::from(1) << bits) - 1);
    match (old, new) {
        (_, RegValue::Address(..) | RegValue::Mixed) => RegValue::Mixed,
        (_, RegValue::Int(new)) if bits == 32 => RegValue::Int(low(&new)),
        (_, RegValue::Number) if bits == 32 => RegValue::Number,
        (RegValue::Address(..) | RegValue::Mixed, _) => RegValue::Mixed,
        (RegValue::Int(old), RegValue::Int(new)) => RegValue::Int(old - low(old) + low(&new)),
        _ => RegValue::Number,
    }
}

impl RegValue {
    /// This or that, depending on the way taken.
    fn or(&self, other: &RegValue) -> RegValue {
        let number = |value: &RegValue| matches!(value, RegValue::Int(_) | RegValue::Number);
        match (self, other) {
            (a, b) if a == b => a.clone(),
            (a, b) if number(a) && number(b) => RegValue::Number,
            _ => RegValue::Mixed,
        }
    }
}

impl Origins {
    fn or(&self, other: &Origins) -> Origins {
        Origins { unset: self.unset || other.unset, result: self.result || other.result }
    }
}

fn after_flags(instruction: &Instruction, before: &Origins) -> Origins {
    let set = flags_of(instruction.kind);
    set.map_or(*before, |flags| Origins { unset: false, result: flags == Flags::Result })
}

/// A jump right behind the only instruction that can come before it, when that one leaves
/// what it compared where the jump can still see it.
fn direct(code: &Code, successors: &[Vec<usize>], targets: &[Option<usize>]) -> Vec<bool> {
    let mut entered = vec![false; code.instructions.len() + 1];
    targets.iter().flatten().for_each(|target| entered[*target] = true);
    let leaves_operands = |instruction: &Instruction| match (instruction.kind, instruction.operands.first()) {
        (InstructionKind::Cmpxchg | InstructionKind::Xadd, _) => false,
        (InstructionKind::Arithmetic(Arith::Sub), Some(Operand::Register(_))) => false,
        (kind, _) => flags_of(kind).is_some(),
    };
    let jump = |at: usize| matches!(code.instructions[at].kind, InstructionKind::Jump(_));
    (0..code.instructions.len())
        .map(|at| {
            jump(at)
                && at > 0
                && !entered[at]
                && successors[at - 1] == [at]
                && leaves_operands(&code.instructions[at - 1])
        })
        .collect()
}

fn flags_used(code: &Code, successors: &[Vec<usize>], direct: &[bool]) -> Vec<bool> {
    let count = code.instructions.len();
    let mut before = vec![false; count + 1];
    let mut entering = vec![Vec::new(); count + 1];
    for (at, nexts) in successors.iter().enumerate() {
        nexts.iter().for_each(|next| entering[*next].push(at));
    }
    let mut work: Vec<usize> = (0..count)
        .filter(|&at| matches!(code.instructions[at].kind, InstructionKind::Jump(_)) && !direct[at])
        .collect();
    while let Some(at) = work.pop() {
        if !std::mem::replace(&mut before[at], true) {
            let passes = |&&from: &&usize| flags_of(code.instructions[from].kind).is_none();
            work.extend(entering[at].iter().filter(passes));
        }
    }
    successors.iter().map(|nexts| nexts.iter().any(|next| before[*next])).collect()
}
