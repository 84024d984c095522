//! Random litmus tests. Most are careful, so that the front end reads them; some use numbers
//! near the limits of words, accesses beside and beyond cells, and parts of addresses.

use super::sample::{CARRY, Claim, Sample, leaves_no_carry};
use super::words::signed;
use super::x86::{
    Arch, Final, Instruction, Location, Memory, Mistake, Model, Op, Operand, Preset, Reg, Spot, Test,
};
use fastrand::Rng;
use std::collections::BTreeSet;

/// Registers for addresses, the second also for an index, and for data.
const SI: Reg = 4;
const DI: Reg = 5;
const DATA: [Reg; 4] = [0, 1, 2, 3];
/// The register that an address may be copied to.
const COPY: Reg = 3;
/// Types by the logarithm of their bytes.
const KINDS: [&[&str]; 4] = [
    &["int8_t", "uint8_t", "char"],
    &["int16_t", "uint16_t", "short"],
    &["int", "int32_t", "uint32_t", "unsigned"],
    &["int64_t", "uint64_t"],
];
const OTHER: [&str; 8] = ["e", "ne", "l", "ge", "le", "g", "s", "ns"];

/// The sample of a seed; none if it has too many states.
pub fn sample(seed: u64) -> Option<Sample> {
    let mut writer =
        Writer { rng: Rng::with_seed(seed), arch: Arch::X86, home: None, wild: false, careless: false };
    let (test, tricks) = writer.test();
    // What leaves its location has no final states to claim something of.
    let finals = test.finals(Model::Tso, Mistake::None)?.unwrap_or_default();
    let spots = spots(&test);
    let rng = &mut writer.rng;
    let listed: Vec<Spot> = spots.iter().copied().filter(|_| rng.u8(..100) < 70).collect();
    let claim = writer.claim(&test, &spots, &finals, 2);
    let quantifier = writer.pick(&["exists", "~exists", "forall"]);
    Some(Sample { test, quantifier, claim, listed, tricks, style: seed })
}

/// What can be looked at: registers for data that hold no address, and cells.
fn spots(test: &Test) -> Vec<Spot> {
    let mut spots = Vec::new();
    for (thread, code) in test.threads.iter().enumerate() {
        let is_copy = |i: &Instruction| i.op == Op::Mov && i.operands[1] == Operand::Register(SI);
        let copied: Vec<&Operand> = code.iter().filter(|i| is_copy(i)).map(|i| &i.operands[0]).collect();
        let data = DATA.iter().filter(|r| !copied.contains(&&Operand::Register(**r)));
        spots.extend(data.map(|register| Spot::Register(thread, *register)));
    }
    for (at, location) in test.locations.iter().enumerate() {
        spots.extend((0..location.cells.len()).map(|cell| Spot::Cell(at, cell)));
    }
    spots
}

struct Writer {
    rng: Rng,
    arch: Arch,
    /// The width that the test keeps to, if it does.
    home: Option<u32>,
    /// Whether numbers near the limits of words are used.
    wild: bool,
    /// Whether accesses are wider than cells or beside them, and addresses are cut.
    careless: bool,
}

impl Writer {
    fn chance(&mut self, percent: u8) -> bool {
        self.rng.u8(..100) < percent
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.rng.usize(..of.len())]
    }

    fn test(&mut self) -> (Test, bool) {
        self.arch = self.pick(&[Arch::X86, Arch::X86_64, Arch::X86_64]);
        self.careless = self.chance(25);
        self.home = match self.chance(55) {
            true if self.arch == Arch::X86 => Some(4),
            true => Some(self.pick(&[4, 8])),
            false => None,
        };
        // Where sizes differ, such numbers are mostly refused.
        let often = if self.home.is_some() { 40 } else { 8 };
        self.wild = self.chance(often);
        let locations: Vec<Location> = (0..1 + self.rng.usize(..3)).map(|_| self.location()).collect();
        let mut test = Test { arch: self.arch, locations, presets: Vec::new(), threads: Vec::new() };
        let count = self.pick(&[1, 2, 2, 2, 3]);
        let length = self.pick(&[[4, 5, 6], [2, 3, 4], [1, 2, 2]][count - 1]);
        let mut tricks = false;
        for thread in 0..count {
            self.presets(&mut test, thread);
            let (code, tricky) = self.thread(&test, thread, length);
            test.threads.push(code);
            tricks |= tricky;
        }
        test.settle();
        (test, tricks)
    }

    fn width(&mut self) -> u32 {
        let widths: &[u32] = if self.arch == Arch::X86 { &[1, 2, 4, 4] } else { &[1, 2, 4, 8] };
        self.pick(widths)
    }

    fn location(&mut self) -> Location {
        let bytes = self.home.unwrap_or_else(|| self.pick(&[1, 2, 4, 4, 8]));
        let is_array = self.chance(40);
        let kind = self.chance(65).then(|| self.pick(KINDS[bytes.trailing_zeros() as usize]));
        let bytes = if kind.is_none() { 4 } else { bytes };
        let cells = if is_array { 1 + self.rng.usize(..3) } else { 1 };
        let cells = (0..cells).map(|_| if self.chance(50) { self.number(bytes) } else { 0 }).collect();
        Location { bytes, is_array, kind, cells }
    }

    /// A number that so many bytes hold, signed or not.
    fn number(&mut self, bytes: u32) -> i128 {
        if !self.wild || self.chance(50) {
            return self.rng.u8(..4).into();
        }
        let modulus = 1i128 << (8 * bytes);
        let near = self.pick(&[0, modulus / 2, modulus, -modulus / 2, 128, 256, 1 << 16, 1 << 31, 1 << 32]);
        (near + i128::from(self.rng.u8(..5)) - 2).clamp(-modulus / 2, modulus - 1)
    }

    fn presets(&mut self, test: &mut Test, thread: usize) {
        for register in DATA {
            if self.chance(35) {
                let bytes = if self.chance(80) { self.home } else { None };
                let number = self.number(bytes.unwrap_or(self.arch.bytes()));
                test.presets.push((thread, register, Preset::Number(number)));
            }
        }
        for register in [SI, DI] {
            let location = self.rng.usize(..test.locations.len());
            let cell = self.rng.usize(..test.locations[location].cells.len());
            match self.rng.u8(..4) {
                0 | 1 => test.presets.push((thread, register, Preset::Address(location, cell))),
                2 if register == DI => test.presets.push((thread, DI, Preset::Number(1))),
                _ => {}
            }
        }
    }

    /// A thread's code, and whether it does with addresses what is not supported.
    fn thread(&mut self, test: &Test, thread: usize, length: usize) -> (Vec<Instruction>, bool) {
        let mut code: Vec<Instruction> =
            if self.chance(45) { self.opening(test, thread) } else { Vec::new() };
        let mut tricks = false;
        let mut jumps = false;
        while code.len() < length {
            if self.chance(6) && !jumps {
                // Copied whole, an address is followed; in part, it is none any more.
                let width = if self.careless { self.width() } else { self.arch.bytes() };
                let operands = vec![Operand::Register(COPY), Operand::Register(SI)];
                code.push(Instruction { op: Op::Mov, width, locked: false, operands });
                tricks |= width < self.arch.bytes();
                continue;
            }
            let pointer = code.iter().any(|i| i.operands.get(1) == Some(&Operand::Register(SI)));
            let instruction = self.instruction(test, thread, pointer);
            let sets_flags =
                !matches!(instruction.op, Op::Mov | Op::Xchg | Op::Mfence | Op::Sfence | Op::Nop);
            let uses = |o: &Operand| *o == Operand::Register(COPY);
            tricks |= pointer && instruction.operands.iter().any(uses);
            code.push(instruction);
            if sets_flags && self.chance(35) {
                let often = if code.iter().any(leaves_no_carry) { 10 } else { 50 };
                let when = if self.chance(often) { self.pick(&CARRY) } else { self.pick(&OTHER) };
                let target = code.len() + 1 + self.rng.usize(..2);
                let op = Op::Jump(when, target);
                code.push(Instruction { op, width: 4, locked: false, operands: Vec::new() });
                jumps = true;
            }
        }
        let end = code.len();
        for instruction in &mut code {
            if let Op::Jump(_, target) = &mut instruction.op {
                *target = (*target).min(end);
            }
        }
        (code, tricks)
    }

    /// What tells buffers from none: a store, and a load of something else or of another width.
    fn opening(&mut self, test: &Test, thread: usize) -> Vec<Instruction> {
        let (stored, loaded) = (thread % test.locations.len(), (thread + 1) % test.locations.len());
        let (to, from) = (self.memory(test, thread, stored, false), self.memory(test, thread, loaded, false));
        let width = self.access_width(test.locations[stored].bytes);
        let value = Operand::Immediate(self.number(width).max(1));
        let store = vec![Operand::Memory(to), value];
        let load = vec![Operand::Register(self.data(true)), Operand::Memory(from)];
        let mov = |width, operands| Instruction { op: Op::Mov, width, locked: false, operands };
        vec![mov(width, store), mov(self.access_width(test.locations[loaded].bytes), load)]
    }

    fn operation(&mut self) -> Op {
        const OPS: [Op; 14] = [
            Op::Mov,
            Op::Mov,
            Op::Mov,
            Op::Mov,
            Op::Add,
            Op::Sub,
            Op::And,
            Op::Or,
            Op::Xor,
            Op::Inc,
            Op::Dec,
            Op::Cmp,
            Op::Cmp,
            Op::Test,
        ];
        let op = match self.rng.u8(..100) {
            0..8 => self.pick(&[Op::Mfence, Op::Sfence, Op::Nop]),
            8..15 => Op::Xchg,
            15..22 => Op::Xadd,
            22..30 => Op::Cmpxchg,
            30..65 => Op::Mov,
            _ => self.pick(&OPS),
        };
        // Where sizes differ, no number may be below 0.
        match op {
            Op::Sub | Op::Dec if self.home.is_none() && self.chance(85) => Op::Mov,
            op => op,
        }
    }

    fn instruction(&mut self, test: &Test, thread: usize, pointer: bool) -> Instruction {
        let op = self.operation();
        if matches!(op, Op::Mfence | Op::Sfence | Op::Nop) {
            return Instruction { op, width: 4, locked: false, operands: Vec::new() };
        }
        let location = self.rng.usize(..test.locations.len());
        let width = self.access_width(test.locations[location].bytes);
        let first_is_memory = self.chance(60);
        let register = self.data(pointer);
        let mut operands = vec![Operand::Register(register)];
        if first_is_memory {
            operands = vec![Operand::Memory(self.memory(test, thread, location, pointer))];
        }
        if !matches!(op, Op::Inc | Op::Dec) {
            let only_register = matches!(op, Op::Xchg | Op::Xadd | Op::Cmpxchg);
            operands.push(match self.rng.u8(..10) {
                0..4 if !only_register => Operand::Immediate(self.number(width)),
                4..7 if !first_is_memory && !matches!(op, Op::Xadd | Op::Cmpxchg | Op::Test) => {
                    Operand::Memory(self.memory(test, thread, location, pointer))
                }
                // The same register twice is no exchange.
                _ => Operand::Register(match self.data(pointer) {
                    other if only_register && !first_is_memory && other == register => (register + 1) % 3,
                    other => other,
                }),
            });
        }
        let lockable = !matches!(op, Op::Mov | Op::Cmp | Op::Test);
        let locked = first_is_memory && lockable && (op == Op::Cmpxchg || self.chance(50));
        // The assembler and herd7 disagree about the order of two registers here.
        if op == Op::Cmpxchg && !first_is_memory && self.arch == Arch::X86_64 {
            return Instruction { op: Op::Xchg, width, locked, operands };
        }
        Instruction { op, width, locked, operands }
    }

    fn data(&mut self, pointer: bool) -> Reg {
        let registers = if pointer && !self.careless { &DATA[..3] } else { &DATA };
        self.pick(registers)
    }

    fn access_width(&mut self, cell: u32) -> u32 {
        let usual = self.home.unwrap_or(cell);
        match self.width() {
            any if self.careless && self.chance(40) => any,
            any if usual > self.arch.bytes() => any,
            narrow if self.home.is_none() && self.chance(40) => narrow.min(usual),
            _ => usual,
        }
    }

    /// A place in a location, in one of the ways the thread can reach it.
    fn memory(&mut self, test: &Test, thread: usize, location: usize, pointer: bool) -> Memory {
        let target = &test.locations[location];
        let cell = self.rng.usize(..target.cells.len()) as i64;
        let odd = if self.careless && self.chance(12) { i64::from(self.rng.u8(..5)) - 1 } else { 0 };
        let aim = (location, cell * i64::from(target.bytes) + odd);
        let mut ways =
            vec![Memory { symbol: Some(location), displacement: aim.1, base: None, index: None, aim }];
        let mine = |register: Reg| {
            test.presets.iter().find(|(t, r, _)| (*t, *r) == (thread, register)).map(|(.., preset)| *preset)
        };
        let mut bases = vec![(SI, SI), (DI, DI)];
        bases.extend(pointer.then_some((3, SI)));
        for (base, source) in bases {
            let Some(Preset::Address(held, cell)) = mine(source) else { continue };
            if held != location {
                continue;
            }
            let displacement = aim.1 - cell as i64 * i64::from(target.bytes);
            ways.push(Memory { symbol: None, displacement, base: Some(base), index: None, aim });
            if let (Some(Preset::Number(index)), Arch::X86_64) = (mine(DI), self.arch) {
                let scale = self.pick(&[1i64, 2, 4, 8]);
                let displacement = displacement - scale * index as i64;
                let index = Some((DI, scale));
                ways.push(Memory { symbol: None, displacement, base: Some(base), index, aim });
            }
        }
        let at = self.rng.usize(..ways.len());
        ways.swap_remove(at)
    }

    /// A claim that final states tend to satisfy.
    fn claim(&mut self, test: &Test, spots: &[Spot], finals: &BTreeSet<Final>, depth: usize) -> Claim {
        if depth > 0 && self.chance(70) {
            let mut part = || Box::new(self.claim(test, spots, finals, depth - 1));
            let (a, b) = (part(), part());
            return match self.rng.u8(..5) {
                0 => Claim::Not(a),
                1 => Claim::Either(a, b),
                _ => Claim::Both(a, b),
            };
        }
        let spot = self.pick(spots);
        let whole = match spot {
            Spot::Register(..) => test.arch.bytes(),
            Spot::Cell(location, _) => test.locations[location].bytes,
        };
        let is_register = matches!(spot, Spot::Register(..));
        let bytes = if is_register && self.chance(15) { self.width() } else { whole };
        if finals.is_empty() || self.chance(15) {
            // Also numbers that so many bytes cannot hold.
            let beyond = if self.chance(20) { self.pick(&[-1, 1]) << (8 * bytes) } else { 0 };
            return Claim::Is(spot, bytes, self.number(bytes) + beyond);
        }
        let state = finals.iter().nth(self.rng.usize(..finals.len())).expect("not empty");
        let (_, held) = test.held(state, spot);
        let held = i128::from(held) & ((1 << (8 * bytes)) - 1);
        let signed = signed(bytes, held as u64);
        Claim::Is(spot, bytes, if self.chance(50) { held } else { signed })
    }
}
