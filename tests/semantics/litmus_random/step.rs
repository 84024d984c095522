//! One step of a thread of the small x86: an instruction, or the load or the store of one.

use super::words::{Flags, bytes_at, mask, put, sign_bit};
use super::x86::{
    APART, Entry, Fault, Instruction, Machine, Memory, Mistake, Model, Op, Operand, Reg, State, Thread,
};

/// One instruction, or half of one, on its way.
pub struct Step<'a> {
    pub machine: &'a Machine<'a>,
    pub state: State,
    pub thread: usize,
    pub instruction: &'a Instruction,
    pub atomic: bool,
}

impl Step<'_> {
    fn own(&mut self) -> &mut Thread {
        &mut self.state.threads[self.thread]
    }

    pub fn run(&mut self) -> Result<(), Fault> {
        let Instruction { op, width, operands, .. } = self.instruction;
        match *op {
            Op::Nop | Op::Mfence => {}
            Op::Sfence => {
                if !self.own().buffer.is_empty() {
                    self.own().buffer.push(Entry::Barrier);
                }
            }
            Op::Jump(when, target) => {
                if self.own().flags.hold(when) {
                    self.own().at = target;
                    return Ok(());
                }
            }
            Op::Mov => {
                let value = self.read(&operands[1])?;
                self.write(&operands[0], value)?;
            }
            _ => {
                let Some(first) = self.first(operands)? else { return Ok(()) };
                let second = operands.get(1).map(|operand| self.read(operand)).transpose()?;
                self.combine(first, second.unwrap_or(1) & mask(*width))?;
            }
        }
        self.own().loaded = None;
        self.own().at += 1;
        Ok(())
    }

    /// The destination's value; nothing if it was loaded now and the rest follows later.
    fn first(&mut self, operands: &[Operand]) -> Result<Option<u64>, Fault> {
        let writes = !matches!(self.instruction.op, Op::Cmp | Op::Test);
        let later = matches!(operands[0], Operand::Memory(_)) && writes && !self.atomic;
        if later && let Some(loaded) = self.own().loaded {
            return Ok(Some(loaded));
        }
        let value = self.read(&operands[0])?;
        if later {
            self.own().loaded = Some(value);
            return Ok(None);
        }
        Ok(Some(value))
    }

    /// What an instruction does with the values of its operands.
    fn combine(&mut self, a: u64, b: u64) -> Result<(), Fault> {
        let Instruction { op, width, ref operands, .. } = *self.instruction;
        let result = match op {
            Op::Add | Op::Inc | Op::Xadd => a.wrapping_add(b),
            Op::Sub | Op::Dec | Op::Cmp => a.wrapping_sub(b),
            Op::And | Op::Test => a & b,
            Op::Or => a | b,
            Op::Xor => a ^ b,
            _ => b,
        } & mask(width);
        let old = self.own().flags;
        match op {
            Op::Add | Op::Xadd => self.own().flags = Flags::of_sum(width, a, b),
            Op::Sub | Op::Cmp => self.own().flags = Flags::of_difference(width, a, b),
            Op::Inc => self.own().flags = Flags { carry: old.carry, ..Flags::of_sum(width, a, b) },
            Op::Dec => self.own().flags = Flags { carry: old.carry, ..Flags::of_difference(width, a, b) },
            Op::And | Op::Or | Op::Xor | Op::Test => self.own().flags = Flags::of_result(width, result),
            _ => {}
        }
        match op {
            Op::Cmp | Op::Test => Ok(()),
            Op::Xchg | Op::Xadd => {
                self.write(&operands[1], a)?;
                self.write(&operands[0], result)
            }
            Op::Cmpxchg => {
                let accumulator = self.own().registers[0] & mask(width);
                self.own().flags = Flags::of_difference(width, accumulator, a);
                if accumulator == a {
                    self.write(&operands[0], b)
                } else {
                    self.write(&Operand::Register(0), a)
                }
            }
            _ => self.write(&operands[0], result),
        }
    }

    fn read(&mut self, operand: &Operand) -> Result<u64, Fault> {
        let width = self.instruction.width;
        Ok(match operand {
            Operand::Register(register) => self.own().registers[*register] & mask(width),
            Operand::Immediate(value) => *value as u64 & mask(width),
            Operand::Memory(memory) => {
                let (address, width) = self.access(memory)?;
                self.load(address, width)
            }
        })
    }

    fn load(&mut self, address: usize, width: u32) -> u64 {
        let exact = self.machine.mistake == Mistake::ForwardingIsExact;
        let mut bytes = bytes_at(&self.state.memory, address, width).to_le_bytes();
        for entry in &self.state.threads[self.thread].buffer {
            let Entry::Store { address: start, width: length, value } = *entry else { continue };
            if exact && (start, length) != (address, width) {
                continue;
            }
            for (at, byte) in value.to_le_bytes().iter().enumerate().take(length as usize) {
                if (address..address + width as usize).contains(&(start + at)) {
                    bytes[start + at - address] = *byte;
                }
            }
        }
        u64::from_le_bytes(bytes)
    }

    fn write(&mut self, operand: &Operand, value: u64) -> Result<(), Fault> {
        match operand {
            Operand::Register(register) => self.write_register(*register, value),
            Operand::Memory(memory) => {
                let (address, mut width) = self.access(memory)?;
                let cell = self.machine.test.locations[memory.aim.0].bytes;
                let is_start = memory.aim.1 % i64::from(cell) == 0;
                if self.machine.mistake == Mistake::NarrowStoreFillsCell && is_start {
                    width = width.max(cell);
                }
                let value = value & mask(width);
                let at_once = self.machine.mistake == Mistake::NoBuffer || self.machine.model == Model::Sc;
                if at_once || self.atomic {
                    put(&mut self.state.memory, address, width, value);
                } else {
                    self.own().buffer.push(Entry::Store { address, width, value });
                }
            }
            Operand::Immediate(_) => unreachable!("nothing is written to a number"),
        }
        Ok(())
    }

    fn write_register(&mut self, register: Reg, value: u64) {
        let (width, mistake) = (self.instruction.width, self.machine.mistake);
        let kept = match width {
            1 | 2 if mistake != Mistake::PartOfRegisterIsAll => self.own().registers[register] & !mask(width),
            4 if mistake == Mistake::DwordExtendsSign && sign_bit(4, value) => !mask(4),
            _ => 0,
        };
        let all = mask(self.machine.test.arch.bytes());
        self.own().registers[register] = (kept | value & mask(width)) & all;
    }

    /// Where in memory an access goes, and how many bytes it takes.
    fn access(&mut self, memory: &Memory) -> Result<(usize, u32), Fault> {
        let test = self.machine.test;
        let mut address = memory.symbol.map_or(0, |location| test.arch.start() + location as u64 * APART);
        address = address.wrapping_add(memory.displacement as u64);
        if let Some(base) = memory.base {
            address = address.wrapping_add(self.own().registers[base]);
        }
        if let Some((index, scale)) = memory.index {
            address = address.wrapping_add(self.own().registers[index].wrapping_mul(scale as u64));
        }
        let address = (address & mask(test.arch.bytes())).checked_sub(test.arch.start()).ok_or(Fault)?;
        let (location, offset) = ((address / APART) as usize, (address % APART) as i64);
        let found = test.locations.get(location).ok_or(Fault)?;
        let mut width = self.instruction.width;
        if self.machine.mistake == Mistake::WideAccessIsOneCell {
            width = width.min(found.bytes);
        }
        if offset + i64::from(width) > found.length() {
            return Err(Fault);
        }
        Ok((test.origin(location) + offset as usize, width))
    }
}
