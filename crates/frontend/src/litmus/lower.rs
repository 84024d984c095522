//! Instructions to edges.
//!
//! An instruction that touches memory is one load, one store, or a load and a store; with
//! `LOCK` (and `XCHG` always) it is one locked block. Flags are the two values that were
//! compared, or a result and zero, kept in two registers of their own unless the jump stands
//! right behind the comparison and can look at its operands.

use super::flags::{compared, compute};
use super::flow::{Flow, RegValue};
use super::header::{LitmusValue, Preset};
use super::instructions::{Code, Instruction, InstructionKind, Operand};
use super::layout::MemoryLayout;
use super::operands::{Destination, Read};
use super::registers::{ACCUMULATOR, Arch, FAMILIES, RegisterFamily};
use super::sizes::Sizes;
use crate::Diagnostic;
use program::{Arith, Cond, Expr, Fence, Int, Loc, Op, RegId, Relation, Span, Thread, ThreadBuilder};
use std::collections::BTreeSet;

/// A lowered thread and the program register of each machine register it has.
#[derive(Debug)]
pub(super) struct Lowered {
    pub(super) thread: Thread,
    pub(super) registers: Vec<Option<RegId>>,
}

/// What a thread is lowered with.
pub(super) struct LitmusContext<'a> {
    pub(super) arch: Arch,
    pub(super) layout: &'a MemoryLayout,
    pub(super) sizes: &'a Sizes,
    pub(super) code: &'a Code,
    pub(super) flow: &'a Flow,
}

/// A thread on its way to edges.
pub(super) struct LitmusLowering<'a> {
    pub(super) context: &'a LitmusContext<'a>,
    builder: ThreadBuilder,
    registers: Vec<Option<RegId>>,
    scratch: Option<RegId>,
    flags: Option<(RegId, RegId)>,
}

/// An instruction and its place in the thread.
#[derive(Clone, Copy)]
pub(super) struct AsmSite<'i> {
    pub(super) at: usize,
    pub(super) instruction: &'i Instruction,
}

/// One way through an instruction: operations in order.
type OpSequence = Vec<Op>;

/// Lowers a thread. `presets` say what its registers start with; `observed` are those that
/// must exist even if no instruction mentions them.
pub(super) fn lower<'p>(
    name: &str,
    context: &LitmusContext,
    presets: impl Iterator<Item = &'p Preset>,
    observed: &BTreeSet<RegisterFamily>,
) -> Result<Lowered, Vec<Diagnostic>> {
    let mut lowering = LitmusLowering {
        context,
        builder: ThreadBuilder::new(name),
        registers: vec![None; FAMILIES],
        scratch: None,
        flags: None,
    };
    for family in observed {
        lowering.register(*family);
    }
    let mut start = lowering.builder.entry();
    for preset in presets {
        if let LitmusValue::Int(value) = &preset.value
            && *value != 0.into()
        {
            let register = lowering.register(preset.family);
            let value = Expr::Const(context.sizes.word(value));
            start = lowering.builder.step(start, Op::Assign(register, value), preset.span);
        }
    }
    let code = context.code;
    let mut places = vec![start];
    places.extend(code.instructions.iter().skip(1).map(|i| lowering.builder.location(i.span)));
    if !code.instructions.is_empty() {
        lowering.builder.describe(start, code.instructions[0].span);
        places.push(lowering.builder.location(Span::NONE));
    }
    let mut errors = Vec::new();
    for (at, instruction) in code.instructions.iter().enumerate() {
        if context.flow.known[at].is_some()
            && let Err(error) = lowering.instruction(at, instruction, &places)
        {
            errors.push(error);
        }
    }
    lowering.extend_registers(places[places.len() - 1]);
    for (label, at, _) in &code.labels {
        lowering.builder.label(places[*at], label);
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let thread = lowering.builder.finish().map_err(|invalid| vec![invalid.into()])?;
    Ok(Lowered { thread, registers: lowering.registers })
}

impl LitmusLowering<'_> {
    pub(super) fn register(&mut self, family: RegisterFamily) -> RegId {
        let slot = &mut self.registers[family.index()];
        *slot.get_or_insert_with(|| self.builder.register(family.name(self.context.arch)))
    }

    /// At the end of a thread, registers whose lower half was written have an upper half of 0.
    fn extend_registers(&mut self, end: Loc) {
        let (Some(mask), Some(Some(known))) =
            (self.context.sizes.zero_extension(), self.context.flow.known.last())
        else {
            return;
        };
        let registers = self.registers.iter().zip(known);
        let numbers = registers.filter(|(_, known)| matches!(known, RegValue::Int(_) | RegValue::Number));
        let extend = |(register, _): (&Option<RegId>, _)| {
            register.map(|r| Op::Assign(r, Expr::binary(Arith::And, r, mask.clone())))
        };
        let parts: Vec<Op> = numbers.filter_map(extend).collect();
        if !parts.is_empty() {
            self.builder.step(end, Op::together(parts), Span::NONE);
        }
    }

    pub(super) fn scratch(&mut self) -> RegId {
        *self.scratch.get_or_insert_with(|| self.builder.register("scratch"))
    }

    pub(super) fn flag_registers(&mut self) -> (RegId, RegId) {
        *self.flags.get_or_insert_with(|| {
            (self.builder.register("compared"), self.builder.register("compared_with"))
        })
    }

    fn instruction(
        &mut self,
        at: usize,
        instruction: &Instruction,
        places: &[Loc],
    ) -> Result<(), Diagnostic> {
        let span = instruction.span;
        let (from, flow) = (places[at], self.context.flow);
        match instruction.kind {
            InstructionKind::Jmp => {
                self.builder.merge(from, places[flow.targets[at].unwrap_or(at + 1)], span)
            }
            InstructionKind::Ret => self.builder.merge(from, places[places.len() - 1], span),
            InstructionKind::Jump(when) => {
                let cond = self.jump_condition(at, instruction, when)?;
                let target = places[flow.targets[at].unwrap_or(at + 1)];
                self.builder.edge(from, Op::Assume(cond.clone()), target, span);
                self.builder.edge(from, Op::Assume(cond.negate()), places[at + 1], span);
            }
            _ => {
                for way in self.ways(AsmSite { at, instruction })? {
                    self.builder.way(from, way, places[at + 1], span);
                }
            }
        }
        Ok(())
    }

    /// The ways through an instruction that is no jump.
    fn ways(&mut self, here: AsmSite<'_>) -> Result<Vec<OpSequence>, Diagnostic> {
        let lockable = matches!(
            here.instruction.kind,
            InstructionKind::Arithmetic(_)
                | InstructionKind::Inc
                | InstructionKind::Dec
                | InstructionKind::Xadd
                | InstructionKind::Cmpxchg
                | InstructionKind::Xchg
        );
        let to_memory = matches!(here.instruction.operands.first(), Some(Operand::Memory(_)))
            || (here.instruction.kind == InstructionKind::Xchg
                && matches!(here.instruction.operands.get(1), Some(Operand::Memory(_))));
        if here.instruction.locked && !(lockable && to_memory) {
            let message = format!("`LOCK` cannot stand before this `{}`", here.instruction.name);
            return Err(Diagnostic::error(here.instruction.span, message));
        }
        let one = |way: Result<OpSequence, Diagnostic>| way.map(|way| vec![way]);
        match (here.instruction.kind, here.instruction.operands.as_slice()) {
            (InstructionKind::Nothing, _) => Ok(vec![vec![Op::Skip]]),
            (InstructionKind::FullFence, []) => Ok(vec![vec![Op::Fence(Fence::Full)]]),
            (InstructionKind::StoreFence, []) => Ok(vec![vec![Op::Fence(Fence::Store)]]),
            (InstructionKind::Mov, [to, from]) => one(self.mov(here, to, from)),
            (InstructionKind::Xchg, [a, b]) => one(self.exchange(here, a, b)),
            (InstructionKind::Arithmetic(operation), [to, by]) => {
                one(self.arithmetic(here, operation, to, by))
            }
            (InstructionKind::Inc | InstructionKind::Dec, [to]) => {
                let operation =
                    if here.instruction.kind == InstructionKind::Inc { Arith::Add } else { Arith::Sub };
                one(self.arithmetic(here, operation, to, &Operand::Immediate(Int::from(1))))
            }
            (InstructionKind::Cmp | InstructionKind::Test, [a, b]) => one(self.compare(here, a, b)),
            (InstructionKind::Xadd, [to, Operand::Register(by)]) => one(self.exchange_add(here, to, *by)),
            (InstructionKind::Cmpxchg, [to, new @ Operand::Register(_)]) => {
                self.compare_exchange(here, to, new)
            }
            _ => Err(self.bad_operands(here.instruction)),
        }
    }

    pub(super) fn bad_operands(&self, instruction: &Instruction) -> Diagnostic {
        Diagnostic::error(instruction.span, format!("`{}` does not take these operands", instruction.name))
    }

    fn mov(&mut self, here: AsmSite<'_>, to: &Operand, from: &Operand) -> Result<OpSequence, Diagnostic> {
        if let (Operand::Register(to), true) = (to, self.is_address(here.at, from)) {
            // The address is followed by `flow`; the register's value is not looked at.
            self.register(*to);
            return Ok(vec![Op::Skip]);
        }
        match (self.place(here, to)?, self.read(here, from)?) {
            (Destination::Register(to), Read::Value(value)) => Ok(vec![Op::Assign(to, value)]),
            (Destination::Register(to), Read::Memory(from)) => Ok(vec![Op::Load(to, from)]),
            (Destination::Memory(to), Read::Value(value)) => Ok(vec![Op::Store(to, value)]),
            (Destination::Memory(_), Read::Memory(_)) => Err(self.bad_operands(here.instruction)),
        }
    }

    fn exchange(&mut self, here: AsmSite<'_>, a: &Operand, b: &Operand) -> Result<OpSequence, Diagnostic> {
        // Both must hold numbers: addresses are not moved around.
        let (left, right) = (self.read(here, a)?, self.read(here, b)?);
        let scratch = self.scratch();
        match (self.place(here, a)?, self.place(here, b)?, left, right) {
            (Destination::Register(a), Destination::Register(b), Read::Value(left), Read::Value(right)) => {
                let parts =
                    vec![Op::Assign(scratch, left), Op::Assign(a, right), Op::Assign(b, scratch.into())];
                Ok(vec![Op::Block { locked: false, parts }])
            }
            (Destination::Memory(memory), Destination::Register(register), _, _)
            | (Destination::Register(register), Destination::Memory(memory), _, _) => {
                Ok(vec![Op::locked(vec![
                    Op::Load(scratch, memory),
                    Op::Store(memory, register.into()),
                    Op::Assign(register, scratch.into()),
                ])])
            }
            _ => Err(self.bad_operands(here.instruction)),
        }
    }

    /// A value; one in memory is loaded first.
    fn loaded(&mut self, read: Read, way: &mut OpSequence) -> Expr<RegId> {
        match read {
            Read::Value(value) => value,
            Read::Memory(variable) => {
                way.push(Op::Load(self.scratch(), variable));
                self.scratch().into()
            }
        }
    }

    fn arithmetic(
        &mut self,
        here: AsmSite<'_>,
        operation: Arith,
        to: &Operand,
        by: &Operand,
    ) -> Result<OpSequence, Diagnostic> {
        let mut way = Vec::new();
        let by = match self.read(here, by)? {
            Read::Memory(_) if matches!(to, Operand::Memory(_)) => {
                return Err(self.bad_operands(here.instruction));
            }
            read => self.loaded(read, &mut way),
        };
        let old = self.read(here, to)?;
        let old = self.loaded(old, &mut way);
        let result = compute(operation, old.clone(), by.clone());
        let flags = match here.instruction.kind {
            InstructionKind::Arithmetic(Arith::Sub) => self.set_flags(here.at, old, by),
            _ => self.set_flags(here.at, result.clone(), Expr::from(0)),
        };
        match self.place(here, to)? {
            Destination::Register(to) => {
                way.push(Op::together([flags, vec![Op::Assign(to, result)]].concat()));
            }
            Destination::Memory(variable) if here.instruction.locked => {
                let parts = [way, flags, vec![Op::Store(variable, result)]].concat();
                way = vec![Op::locked(parts)];
            }
            Destination::Memory(variable) => {
                if !flags.is_empty() {
                    way.push(Op::together(flags));
                }
                way.push(Op::Store(variable, result));
            }
        }
        Ok(way)
    }

    fn compare(&mut self, here: AsmSite<'_>, a: &Operand, b: &Operand) -> Result<OpSequence, Diagnostic> {
        let mut parts = Vec::new();
        let mut values = Vec::new();
        for operand in [a, b] {
            values.push(match self.read(here, operand)? {
                Read::Memory(_) if !parts.is_empty() => return Err(self.bad_operands(here.instruction)),
                read => self.loaded(read, &mut parts),
            });
        }
        let (a, b) = compared(here.instruction.kind, values.swap_remove(0), values.swap_remove(0));
        parts.extend(self.set_flags(here.at, a, b));
        Ok(vec![Op::together(parts)])
    }

    fn exchange_add(
        &mut self,
        here: AsmSite<'_>,
        to: &Operand,
        by: RegisterFamily,
    ) -> Result<OpSequence, Diagnostic> {
        let old = self.read(here, to)?;
        self.read(here, &Operand::Register(by))?;
        if *to == Operand::Register(by) {
            return Err(self.bad_operands(here.instruction));
        }
        let (scratch, by) = (self.scratch(), self.register(by));
        let sum = Expr::binary(Arith::Add, scratch, by);
        let flags = self.set_flags(here.at, sum.clone(), Expr::from(0));
        let give_back = Op::Assign(by, scratch.into());
        Ok(match (self.place(here, to)?, old) {
            (Destination::Register(to), Read::Value(old)) => {
                let parts =
                    [vec![Op::Assign(scratch, old)], flags, vec![Op::Assign(to, sum), give_back]].concat();
                vec![Op::Block { locked: false, parts }]
            }
            (Destination::Memory(variable), _) if here.instruction.locked => {
                let parts =
                    [vec![Op::Load(scratch, variable)], flags, vec![Op::Store(variable, sum), give_back]]
                        .concat();
                vec![Op::locked(parts)]
            }
            (Destination::Memory(variable), _) => {
                let parts = [flags, vec![give_back]].concat();
                vec![Op::Load(scratch, variable), Op::Store(variable, sum), Op::together(parts)]
            }
            _ => return Err(self.bad_operands(here.instruction)),
        })
    }

    fn compare_exchange(
        &mut self,
        here: AsmSite<'_>,
        to: &Operand,
        new: &Operand,
    ) -> Result<Vec<OpSequence>, Diagnostic> {
        let Read::Value(new) = self.read(here, new)? else {
            return Err(self.bad_operands(here.instruction));
        };
        self.read(here, &Operand::Register(ACCUMULATOR))?;
        self.read(here, to)?;
        let (accumulator, scratch) = (self.register(ACCUMULATOR), self.scratch());
        let (found, write): (Op, Op) = match self.place(here, to)? {
            Destination::Register(to) => (Op::Assign(scratch, to.into()), Op::Assign(to, new)),
            Destination::Memory(variable) if here.instruction.locked => {
                (Op::Load(scratch, variable), Op::Store(variable, new))
            }
            Destination::Memory(_) => {
                let message =
                    format!("`{}` on memory without `LOCK` is not supported", here.instruction.name);
                return Err(Diagnostic::error(here.instruction.span, message));
            }
        };
        let flags = self.set_flags(here.at, accumulator.into(), scratch.into());
        let equal = Cond::compare(Relation::Eq, scratch, Expr::Leaf(accumulator));
        let way = |cond: Cond<RegId>, effect: Op| {
            let parts = [vec![found.clone(), Op::Assume(cond)], flags.clone(), vec![effect]].concat();
            vec![Op::Block { locked: here.instruction.locked, parts }]
        };
        Ok(vec![way(equal.clone(), write), way(equal.negate(), Op::Assign(accumulator, scratch.into()))])
    }
}
