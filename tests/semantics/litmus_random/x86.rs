//! A small x86 that shares nothing with the product: bytes of memory, registers of 64 bits,
//! flags, and per thread a buffer of stores, each an address, a width and a value.
//!
//! It exists to be compared with. A load takes every byte from the newest buffered store that
//! covers it, else from memory, so accesses of different widths may overlap in any way. Under
//! TSO the oldest store drains; under PSO any store that no older one overlaps, and that no
//! `SFENCE` stands before; under SC the buffer is empty. A locked instruction waits until its
//! thread's buffer is empty and works on memory in one step; any other instruction that reads
//! and writes memory is a load and, later, a store.

use super::step::Step;
use super::words::{Flags, bytes_at, mask, put, signed};
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
    pub fn start(self) -> u64 {
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Entry {
    Store { address: usize, width: u32, value: u64 },
    Barrier,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Thread {
    pub at: usize,
    pub registers: [u64; REGISTERS],
    pub flags: Flags,
    /// What an instruction has loaded that has still to store.
    pub loaded: Option<u64>,
    pub buffer: Vec<Entry>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct State {
    pub memory: Vec<u8>,
    pub threads: Vec<Thread>,
}

/// An access outside of all locations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault;

/// How far apart locations are.
pub const APART: u64 = 0x1_000;
const MOST_STATES: usize = 40_000;

impl Location {
    pub fn length(&self) -> i64 {
        i64::from(self.bytes) * self.cells.len() as i64
    }
}

impl Test {
    /// Where the bytes of a location start in memory.
    pub fn origin(&self, location: usize) -> usize {
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

pub struct Machine<'a> {
    pub test: &'a Test,
    pub model: Model,
    pub mistake: Mistake,
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
