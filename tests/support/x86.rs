//! A small x86 that shares nothing with the product: bytes of memory, registers of 64 bits,
//! flags, and per thread a buffer of stores, each an address, a width and a value.
//!
//! It exists to be compared with. A load takes every byte from the newest buffered store that
//! covers it, else from memory, so accesses of different widths may overlap in any way. Under
//! TSO the oldest store drains; under PSO any store that no older one overlaps, and that no
//! `SFENCE` stands before; under SC the buffer is empty. A locked instruction waits until its
//! thread's buffer is empty and works on memory in one step; any other instruction that reads
//! and writes memory is a load and, later, a store.

use std::collections::BTreeSet;

/// 32 bits, destination first, or 64 bits, destination last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arch {
    X86,
    X86_64,
}

impl Arch {
    /// Bytes of a register.
    pub fn bytes(self) -> u32 {
        if self == Arch::X86 { 4 } else { 8 }
    }

    /// Where the first location starts: part of an address is no address.
    fn start(self) -> u64 {
        if self == Arch::X86 { 0x7654_3000 } else { 0x7654_3210_f000 }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    Sc,
    Tso,
    Pso,
}

/// A register: A, B, C, D, SI, DI.
pub type Reg = usize;
pub const REGISTERS: usize = 6;

/// A location: cells of so many bytes, and what they hold first.
#[derive(Clone, Debug)]
pub struct Location {
    pub bytes: u32,
    pub is_array: bool,
    /// How the type is written; a location without one has cells as wide as its accesses.
    pub kind: Option<&'static str>,
    pub cells: Vec<i128>,
}

/// A place in memory as an instruction writes it: the sum of its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    pub symbol: Option<usize>,
    pub displacement: i64,
    pub base: Option<Reg>,
    pub index: Option<(Reg, i64)>,
    /// The location and the bytes from its start that are meant.
    pub aim: (usize, i64),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operand {
    Register(Reg),
    Immediate(i128),
    Memory(Memory),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    Mov,
    Add,
    Sub,
    And,
    Or,
    Xor,
    Inc,
    Dec,
    Cmp,
    Test,
    Xchg,
    Xadd,
    Cmpxchg,
    /// The condition's letters, and the instruction to go on with.
    Jump(&'static str, usize),
    Mfence,
    Sfence,
    Nop,
}

/// An instruction, its destination first.
#[derive(Clone, Debug)]
pub struct Instruction {
    pub op: Op,
    /// Operand size in bytes.
    pub width: u32,
    pub locked: bool,
    pub operands: Vec<Operand>,
}

/// What a register holds first.
#[derive(Clone, Copy, Debug)]
pub enum Preset {
    Number(i128),
    /// A cell of a location.
    Address(usize, usize),
}

#[derive(Clone, Debug)]
pub struct Test {
    pub arch: Arch,
    pub locations: Vec<Location>,
    pub presets: Vec<(usize, Reg, Preset)>,
    pub threads: Vec<Vec<Instruction>>,
}

/// A register of a thread, or a cell of a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Spot {
    Register(usize, Reg),
    Cell(usize, usize),
}

/// A final state: registers of each thread, and memory.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Final {
    registers: Vec<[u64; REGISTERS]>,
    memory: Vec<u8>,
}

/// Bugs that a front end may have, to see whether the tests notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    None,
    /// An access wider than its cell takes and writes this cell only.
    WideAccessIsOneCell,
    /// A store writes the whole cell, whatever its width.
    NarrowStoreFillsCell,
    /// A narrow write to a register clears the rest of it.
    PartOfRegisterIsAll,
    /// A 32-bit write to a register extends the sign.
    DwordExtendsSign,
    /// A load looks for a buffered store of exactly its address and width only.
    ForwardingIsExact,
    /// `LOCK` has no effect.
    LockIsNothing,
    /// Stores reach memory at once.
    NoBuffer,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Flags {
    zero: bool,
    sign: bool,
    carry: bool,
    overflow: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Entry {
    Store { address: usize, width: u32, value: u64 },
    Barrier,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Thread {
    at: usize,
    registers: [u64; REGISTERS],
    flags: Flags,
    /// What an instruction has loaded that has still to store.
    loaded: Option<u64>,
    buffer: Vec<Entry>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    memory: Vec<u8>,
    threads: Vec<Thread>,
}

/// An access outside of all locations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault;

/// How far apart locations are.
const APART: u64 = 0x1_000;
const MOST_STATES: usize = 40_000;

fn mask(width: u32) -> u64 {
    u64::MAX >> (64 - 8 * width)
}

fn sign_bit(width: u32, value: u64) -> bool {
    value >> (8 * width - 1) & 1 == 1
}

/// The value of so many bytes as a signed number.
pub fn signed(width: u32, value: u64) -> i128 {
    let value = value & mask(width);
    i128::from(value) - if sign_bit(width, value) { i128::from(mask(width)) + 1 } else { 0 }
}

impl Location {
    pub fn length(&self) -> i64 {
        i64::from(self.bytes) * self.cells.len() as i64
    }
}

impl Test {
    /// Where the bytes of a location start in memory.
    fn origin(&self, location: usize) -> usize {
        self.locations[..location].iter().map(|l| l.length() as usize).sum()
    }

    fn initial(&self) -> State {
        let mut memory = Vec::new();
        for location in &self.locations {
            for cell in &location.cells {
                memory.extend(&cell.to_le_bytes()[..location.bytes as usize]);
            }
        }
        let thread = Thread {
            at: 0,
            registers: [0; REGISTERS],
            flags: Flags::default(),
            loaded: None,
            buffer: Vec::new(),
        };
        let mut threads = vec![thread; self.threads.len()];
        for (thread, register, preset) in &self.presets {
            threads[*thread].registers[*register] = match preset {
                Preset::Number(value) => *value as u64 & mask(self.arch.bytes()),
                Preset::Address(location, cell) => {
                    let offset = *cell as u64 * u64::from(self.locations[*location].bytes);
                    self.arch.start() + *location as u64 * APART + offset
                }
            };
        }
        State { memory, threads }
    }

    /// The value that a spot shows in the end, as a signed number of its width.
    pub fn shown(&self, state: &Final, spot: Spot) -> i128 {
        let (width, value) = self.held(state, spot);
        signed(width, value)
    }

    /// Width and value of a spot.
    pub fn held(&self, state: &Final, spot: Spot) -> (u32, u64) {
        match spot {
            Spot::Register(thread, register) => (self.arch.bytes(), state.registers[thread][register]),
            Spot::Cell(location, cell) => {
                let width = self.locations[location].bytes;
                let start = self.origin(location) + cell * width as usize;
                (width, bytes_at(&state.memory, start, width))
            }
        }
    }

    /// All final states, or that a run leaves all locations; nothing where there are too many.
    pub fn finals(&self, model: Model, mistake: Mistake) -> Option<Result<BTreeSet<Final>, Fault>> {
        let machine = Machine { test: self, model, mistake };
        let mut waiting = vec![self.initial()];
        let mut met: BTreeSet<State> = waiting.iter().cloned().collect();
        let mut finals = BTreeSet::new();
        while let Some(state) = waiting.pop() {
            let next = match machine.successors(&state) {
                Ok(next) => next,
                Err(fault) => return Some(Err(fault)),
            };
            if next.is_empty() {
                let registers = state.threads.iter().map(|thread| thread.registers).collect();
                finals.insert(Final { registers, memory: state.memory });
                continue;
            }
            waiting.extend(next.into_iter().filter(|state| met.insert(state.clone())));
            if met.len() > MOST_STATES {
                return None;
            }
        }
        Some(Ok(finals))
    }
}

fn bytes_at(memory: &[u8], start: usize, width: u32) -> u64 {
    let bytes = &memory[start..start + width as usize];
    bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

fn put(memory: &mut [u8], start: usize, width: u32, value: u64) {
    memory[start..start + width as usize].copy_from_slice(&value.to_le_bytes()[..width as usize]);
}

struct Machine<'a> {
    test: &'a Test,
    model: Model,
    mistake: Mistake,
}

impl Machine<'_> {
    fn successors(&self, state: &State) -> Result<Vec<State>, Fault> {
        let mut next = Vec::new();
        for thread in 0..state.threads.len() {
            next.extend(self.drains(state, thread));
            if let Some(instruction) = self.test.threads[thread].get(state.threads[thread].at) {
                next.extend(self.execute(state, thread, instruction)?);
            }
        }
        Ok(next)
    }

    fn drains(&self, state: &State, thread: usize) -> Vec<State> {
        let buffer = &state.threads[thread].buffer;
        let mut next = Vec::new();
        for (at, entry) in buffer.iter().enumerate() {
            if at > 0 && (self.model != Model::Pso || *entry == Entry::Barrier) {
                break;
            }
            let mut after = state.clone();
            after.threads[thread].buffer.remove(at);
            if let Entry::Store { address, width, value } = *entry {
                if buffer[..at].iter().any(|older| older.covers(address, width)) {
                    continue;
                }
                put(&mut after.memory, address, width, value);
            }
            next.push(after);
        }
        next
    }

    fn execute(
        &self,
        state: &State,
        thread: usize,
        instruction: &Instruction,
    ) -> Result<Option<State>, Fault> {
        let mut step = Step { machine: self, state: state.clone(), thread, instruction, atomic: false };
        let touches = instruction.operands.iter().any(|o| matches!(o, Operand::Memory(_)));
        let is_exchange = instruction.op == Op::Xchg && touches;
        step.atomic = (instruction.locked || is_exchange) && self.mistake != Mistake::LockIsNothing;
        let waits = step.atomic || instruction.op == Op::Mfence;
        if waits && !state.threads[thread].buffer.is_empty() {
            return Ok(None);
        }
        step.run()?;
        Ok(Some(step.state))
    }
}

impl Entry {
    /// Whether it is a store to one of these bytes, or a barrier, which is before all of them.
    fn covers(&self, from: usize, length: u32) -> bool {
        match *self {
            Entry::Barrier => true,
            Entry::Store { address, width, .. } => {
                address < from + length as usize && from < address + width as usize
            }
        }
    }
}

/// One instruction, or half of one, on its way.
struct Step<'a> {
    machine: &'a Machine<'a>,
    state: State,
    thread: usize,
    instruction: &'a Instruction,
    atomic: bool,
}

impl Step<'_> {
    fn own(&mut self) -> &mut Thread {
        &mut self.state.threads[self.thread]
    }

    fn run(&mut self) -> Result<(), Fault> {
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

impl Flags {
    fn of_result(width: u32, result: u64) -> Flags {
        let result = result & mask(width);
        Flags { zero: result == 0, sign: sign_bit(width, result), carry: false, overflow: false }
    }

    fn of_sum(width: u32, a: u64, b: u64) -> Flags {
        let sum = u128::from(a) + u128::from(b);
        let exact = signed(width, a) + signed(width, b);
        let flags = Flags::of_result(width, sum as u64);
        let overflow = exact != signed(width, sum as u64);
        Flags { carry: sum > u128::from(mask(width)), overflow, ..flags }
    }

    fn of_difference(width: u32, a: u64, b: u64) -> Flags {
        let difference = a.wrapping_sub(b);
        let exact = signed(width, a) - signed(width, b);
        let overflow = exact != signed(width, difference);
        Flags { carry: a < b, overflow, ..Flags::of_result(width, difference) }
    }

    fn hold(self, when: &str) -> bool {
        match when {
            "e" => self.zero,
            "ne" => !self.zero,
            "l" => self.sign != self.overflow,
            "ge" => self.sign == self.overflow,
            "le" => self.zero || self.sign != self.overflow,
            "g" => !self.zero && self.sign == self.overflow,
            "b" => self.carry,
            "ae" => !self.carry,
            "be" => self.carry || self.zero,
            "a" => !self.carry && !self.zero,
            "s" => self.sign,
            _ => !self.sign,
        }
    }
}
