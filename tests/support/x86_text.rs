//! Random x86 litmus tests, and how they are written for the front end.
//!
//! A sample knows which of the front end's documented refusals it may meet: an access that is
//! not within one cell, values that may not fit the sizes in use, the carry of an addition,
//! and tricks with addresses. Any other refusal is a mistake of the front end.

use super::x86::{
    Arch, Final, Instruction, Location, Memory, Mistake, Model, Op, Operand, Preset, Reg, Spot, Test,
};
use fastrand::Rng;
use std::collections::BTreeSet;

/// A proposition about final states.
#[derive(Clone, Debug)]
pub enum Claim {
    /// The lowest so many bytes of the spot are this number, signed or not.
    Is(Spot, u32, i128),
    Not(Box<Claim>),
    Both(Box<Claim>, Box<Claim>),
    Either(Box<Claim>, Box<Claim>),
}

/// A test, what it asks, and the seed of how it is written.
#[derive(Clone, Debug)]
pub struct Sample {
    pub test: Test,
    pub quantifier: &'static str,
    pub claim: Claim,
    pub listed: Vec<Spot>,
    pub tricks: bool,
    style: u64,
}

const SI: Reg = 4;
const DI: Reg = 5;
const DATA: [Reg; 4] = [0, 1, 2, 3];
const NAMES: [&str; 4] = ["x", "y", "t", "u"];
const KINDS: [&[&str]; 4] = [
    &["int8_t", "uint8_t", "char"],
    &["int16_t", "uint16_t", "short"],
    &["int", "int32_t", "uint32_t", "unsigned"],
    &["int64_t", "uint64_t"],
];
const CARRY: [&str; 4] = ["b", "ae", "be", "a"];
const OTHER: [&str; 8] = ["e", "ne", "l", "ge", "le", "g", "s", "ns"];

impl Claim {
    pub fn holds(&self, test: &Test, state: &Final) -> bool {
        match self {
            Claim::Is(spot, bytes, value) => {
                let (_, held) = test.held(state, *spot);
                let modulus = 1i128 << (8 * bytes);
                let in_range = (-modulus / 2..modulus).contains(value);
                in_range && (i128::from(held) - value) % modulus == 0
            }
            Claim::Not(inner) => !inner.holds(test, state),
            Claim::Both(a, b) => a.holds(test, state) && b.holds(test, state),
            Claim::Either(a, b) => a.holds(test, state) || b.holds(test, state),
        }
    }

    fn visit(&self, see: &mut dyn FnMut(Spot, u32)) {
        match self {
            Claim::Is(spot, bytes, _) => see(*spot, *bytes),
            Claim::Not(inner) => inner.visit(see),
            Claim::Both(a, b) | Claim::Either(a, b) => {
                a.visit(see);
                b.visit(see);
            }
        }
    }
}

impl Test {
    fn memory_operands(&self) -> impl Iterator<Item = (&Instruction, &Memory)> {
        let instructions = self.threads.iter().flatten();
        instructions.flat_map(|i| {
            i.operands.iter().filter_map(move |operand| match operand {
                Operand::Memory(memory) => Some((i, memory)),
                _ => None,
            })
        })
    }

    /// A location without a type is as wide as the widest access to it, and never below 4.
    pub fn settle(&mut self) {
        let widest = |at: usize| {
            let mine = self.memory_operands().filter(|(_, memory)| memory.aim == (at, 0));
            mine.map(|(i, _)| i.width).max().unwrap_or(4).max(4)
        };
        let widths: Vec<u32> = (0..self.locations.len()).map(widest).collect();
        for (location, width) in self.locations.iter_mut().zip(widths) {
            if location.kind.is_none() {
                location.bytes = if location.is_array { 4 } else { width };
            }
        }
    }
}

/// The sample of a seed; none if it has too many states.
pub fn sample(seed: u64) -> Option<Sample> {
    let mut writer =
        Writer { rng: Rng::with_seed(seed), arch: Arch::X86, home: None, wild: false, careless: false };
    let (test, tricks) = writer.test();
    let finals = match test.finals(Model::Tso, Mistake::None)? {
        Ok(finals) => finals,
        Err(_) => BTreeSet::new(),
    };
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

/// After these, jumps that look at the carry are refused.
fn leaves_no_carry(instruction: &Instruction) -> bool {
    matches!(instruction.op, Op::Add | Op::Inc | Op::Dec | Op::Xadd)
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
                let operands = vec![Operand::Register(3), Operand::Register(SI)];
                code.push(Instruction { op: Op::Mov, width, locked: false, operands });
                tricks |= width < self.arch.bytes();
                continue;
            }
            let pointer = code.iter().any(|i| i.operands.get(1) == Some(&Operand::Register(SI)));
            let instruction = self.instruction(test, thread, pointer);
            let sets_flags =
                !matches!(instruction.op, Op::Mov | Op::Xchg | Op::Mfence | Op::Sfence | Op::Nop);
            let uses = |o: &Operand| *o == Operand::Register(3);
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

    fn instruction(&mut self, test: &Test, thread: usize, pointer: bool) -> Instruction {
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
        let op = match op {
            Op::Sub | Op::Dec if self.home.is_none() && self.chance(85) => Op::Mov,
            op => op,
        };
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
        let signed = super::x86::signed(bytes, held as u64);
        Claim::Is(spot, bytes, if self.chance(50) { held } else { signed })
    }
}

impl Sample {
    /// Parts of the messages with which the front end may refuse this sample.
    pub fn refusals(&self) -> Vec<&'static str> {
        let mut reasons = Vec::new();
        let within = |(i, memory): (&Instruction, &Memory)| {
            let location = &self.test.locations[memory.aim.0];
            let start = memory.aim.1;
            (0..location.length()).contains(&start)
                && start % i64::from(location.bytes) == 0
                && i.width <= location.bytes
        };
        if !self.test.memory_operands().all(within) {
            reasons.push("cell");
        }
        if !self.values_fit() {
            reasons.extend(["does not fit", "wrap-around"]);
        }
        let carry = |i: &Instruction| matches!(i.op, Op::Jump(when, _) if CARRY.contains(&when));
        if self.test.threads.iter().any(|code| code.iter().any(leaves_no_carry) && code.iter().any(carry)) {
            reasons.push("carry");
        }
        if self.tricks {
            reasons.push("address");
        }
        reasons
    }

    /// The documented rule: one size and every number fits it, or several sizes and every
    /// number is the same in all of them.
    fn values_fit(&self) -> bool {
        let arch = self.test.arch;
        let data = || self.test.threads.iter().flatten().filter(|i| !i.operands.is_empty());
        let mut sizes: BTreeSet<u32> = data().map(|i| i.width).collect();
        let touched: BTreeSet<usize> = self.test.memory_operands().map(|(_, m)| m.aim.0).collect();
        sizes.extend(touched.iter().map(|at| self.test.locations[*at].bytes));
        self.claim.visit(&mut |spot, bytes| {
            if matches!(spot, Spot::Register(..)) && bytes < arch.bytes() {
                sizes.insert(bytes);
            }
        });
        let least = sizes.first().copied().unwrap_or(arch.bytes());
        let single = sizes.len() <= 1 && least >= 4;
        let mut numbers: Vec<i128> =
            touched.iter().flat_map(|at| self.test.locations[*at].cells.clone()).collect();
        let immediates = data().flat_map(|i| &i.operands).filter_map(|o| match o {
            Operand::Immediate(value) => Some(*value),
            _ => None,
        });
        numbers.extend(immediates);
        let half = 1i128 << (8 * least - 1);
        for (.., preset) in &self.test.presets {
            if let Preset::Number(value) = preset {
                if single && least < arch.bytes() && !(0..2 * half).contains(value) {
                    return false;
                }
                numbers.push(*value);
            }
        }
        let fits = |n: &i128| if single { (-half..2 * half).contains(n) } else { (0..half).contains(n) };
        let largest = numbers.iter().map(|n| if *n >= half { 2 * half - n } else { n.abs() }).max();
        numbers.iter().all(fits) && self.results_fit(largest.unwrap_or(0), half, single)
    }

    /// Whether what is computed from numbers of this size stays in range, on the safe side.
    fn results_fit(&self, largest: i128, half: i128, single: bool) -> bool {
        let mut bound = largest;
        let (mut doublings, mut subtracts, mut computes) = (0u32, false, false);
        for i in self.test.threads.iter().flatten() {
            let by = i.operands.get(1);
            match (i.op, by) {
                (Op::Sub | Op::Xor, Some(b)) if i.operands[0] == *b => continue,
                (Op::Jump("s" | "ns", _), _) => doublings += 1,
                (Op::Inc | Op::Dec, _) => bound += 1,
                (Op::Add | Op::Sub, Some(Operand::Immediate(value))) => bound += value.abs(),
                (Op::Add | Op::Sub | Op::And | Op::Or | Op::Xor | Op::Xadd, _) => doublings += 1,
                _ => continue,
            }
            computes = true;
            subtracts |= matches!(i.op, Op::Sub | Op::Dec);
        }
        (single || !subtracts) && (!computes || bound << doublings < half)
    }

    /// The same without one instruction; jumps go where they went.
    pub fn without(&self, thread: usize, at: usize) -> Sample {
        let mut smaller = self.clone();
        smaller.test.threads[thread].remove(at);
        for instruction in &mut smaller.test.threads[thread] {
            if let Op::Jump(_, target) = &mut instruction.op {
                *target -= usize::from(*target > at);
            }
        }
        smaller.test.settle();
        smaller
    }

    pub fn name(&self, spot: Spot) -> String {
        match spot {
            Spot::Register(thread, register) => {
                let name = register_name(register, self.test.arch.bytes());
                let upper = self.test.arch == Arch::X86;
                format!("{thread}:{}", if upper { name.to_uppercase() } else { name })
            }
            Spot::Cell(location, cell) if self.test.locations[location].is_array => {
                format!("{}[{cell}]", NAMES[location])
            }
            Spot::Cell(location, _) => format!("[{}]", NAMES[location]),
        }
    }

    /// Everything the front end lists.
    pub fn observed(&self) -> BTreeSet<Spot> {
        let mut observed: BTreeSet<Spot> = self.listed.iter().copied().collect();
        self.claim.visit(&mut |spot, _| {
            observed.insert(spot);
        });
        observed
    }

    /// The text of the test.
    pub fn text(&self) -> String {
        let mut style = Style { rng: Rng::with_seed(self.style), sample: self };
        let arch = if self.test.arch == Arch::X86 { "X86" } else { "X86_64" };
        let mut text = format!("{arch} random{}\n{{\n", self.style);
        for (at, location) in self.test.locations.iter().enumerate() {
            text += &style.location(NAMES[at], location);
        }
        for (thread, register, preset) in &self.test.presets {
            let name = register_name(*register, self.test.arch.bytes());
            let value = match preset {
                Preset::Number(value) => value.to_string(),
                Preset::Address(location, _) if !self.test.locations[*location].is_array => {
                    NAMES[*location].to_string()
                }
                Preset::Address(location, cell) => format!("{}[{cell}]", NAMES[*location]),
            };
            text += &format!(" {thread}:{name}={value};\n");
        }
        text += "}\n";
        text += &style.table();
        let listed: Vec<String> = self.listed.iter().map(|spot| self.name(*spot)).collect();
        let listed: Vec<&str> = listed.iter().map(|n| n.trim_matches(['[', ' '])).collect();
        let unbracket =
            |n: &&str| if n.contains('[') { n.to_string() } else { n.trim_end_matches(']').to_string() };
        text += &format!("locations [{}]\n", listed.iter().map(unbracket).collect::<Vec<_>>().join("; "));
        text + &format!("{} ({})\n", self.quantifier, style.claim(&self.claim))
    }
}

fn register_name(register: Reg, bytes: u32) -> String {
    let letter = ["a", "b", "c", "d", "si", "di"][register];
    match (register < 4, bytes) {
        (true, 1) => format!("{letter}l"),
        (true, 2) => format!("{letter}x"),
        (true, 4) => format!("e{letter}x"),
        (true, _) => format!("r{letter}x"),
        (false, 1) => format!("{letter}l"),
        (false, 2) => letter.to_string(),
        (false, 4) => format!("e{letter}"),
        (false, _) => format!("r{letter}"),
    }
}

/// How a sample is written: where the language leaves a choice, the seed chooses.
struct Style<'a> {
    rng: Rng,
    sample: &'a Sample,
}

impl Style<'_> {
    fn number(&mut self, value: i128) -> String {
        if value >= 0 && self.rng.u8(..3) == 0 { format!("{value:#x}") } else { value.to_string() }
    }

    fn location(&mut self, name: &str, location: &Location) -> String {
        let kind = location.kind.map_or(String::new(), |kind| format!("{kind} "));
        let values: Vec<String> = location.cells.iter().map(|cell| self.number(*cell)).collect();
        match location.is_array {
            true => format!(" {kind}{name}[{}]={{{}}};\n", values.len(), values.join(",")),
            false if location.cells[0] == 0 && location.kind.is_some() && self.rng.bool() => {
                format!(" {kind}{name};\n")
            }
            false => format!(" {kind}{name}={};\n", values[0]),
        }
    }

    fn table(&mut self) -> String {
        let threads = &self.sample.test.threads;
        let names: Vec<String> = (0..threads.len()).map(|at| format!("P{at}")).collect();
        let mut text = format!(" {} ;\n", names.join(" | "));
        let rows = threads.iter().map(Vec::len).max().unwrap_or(0);
        // One row more, for labels at the end.
        for row in 0..=rows {
            let cells: Vec<String> = threads.iter().map(|code| self.cell(code, row)).collect();
            text += &format!(" {} ;\n", cells.join(" | "));
        }
        text
    }

    fn cell(&mut self, code: &[Instruction], row: usize) -> String {
        let is_target = code.iter().any(|i| matches!(i.op, Op::Jump(_, target) if target == row));
        let label = if is_target { format!("L{row}: ") } else { String::new() };
        label + &code.get(row).map_or(String::new(), |instruction| self.instruction(instruction))
    }

    fn instruction(&mut self, instruction: &Instruction) -> String {
        let intel = self.sample.test.arch == Arch::X86;
        let Instruction { op, width, locked, operands } = instruction;
        let mut name = match op {
            Op::Jump(when, target) => return format!("j{when} L{target}"),
            op => format!("{op:?}").to_lowercase(),
        };
        if operands.is_empty() {
            return name;
        }
        let has_register = operands.iter().any(|o| matches!(o, Operand::Register(_)));
        let says_size = has_register || *width == 4;
        let suffix = !says_size || (!intel && self.rng.u8(..4) > 0);
        if suffix && !intel {
            name.push(match width {
                1 => 'b',
                2 => 'w',
                4 => 'l',
                _ => 'q',
            });
        }
        let pointed = intel && suffix;
        let mut written: Vec<String> = operands.iter().map(|o| self.operand(o, *width, pointed)).collect();
        let herd_order = *op == Op::Cmpxchg && matches!(operands[0], Operand::Memory(_)) && self.rng.bool();
        if !intel && !herd_order {
            written.reverse();
        }
        let lock = if *locked { "lock " } else { "" };
        let text = format!("{lock}{name} {}", written.join(","));
        if intel && self.rng.bool() { upper_mnemonic(&text) } else { text }
    }

    fn operand(&mut self, operand: &Operand, width: u32, pointed: bool) -> String {
        let intel = self.sample.test.arch == Arch::X86;
        match operand {
            Operand::Register(register) if intel => register_name(*register, width).to_uppercase(),
            Operand::Register(register) => format!("%{}", register_name(*register, width)),
            Operand::Immediate(value) => format!("${}", self.number(*value)),
            Operand::Memory(memory) if pointed => {
                let size = ["byte", "word", "dword", "qword"][width.trailing_zeros() as usize];
                format!("{size} ptr {}", self.memory(memory))
            }
            Operand::Memory(memory) => self.memory(memory),
        }
    }

    fn memory(&mut self, memory: &Memory) -> String {
        let intel = self.sample.test.arch == Arch::X86;
        let bytes = self.sample.test.arch.bytes();
        let by =
            |displacement: i64| if displacement == 0 { String::new() } else { format!("{displacement:+}") };
        match (memory.symbol, memory.base, memory.index) {
            (Some(location), ..) => {
                let name = NAMES[location];
                match self.rng.u8(..4) {
                    0 if !intel && memory.displacement == 0 => name.to_string(),
                    1 if !intel && memory.displacement == 0 => format!("{name}(%rip)"),
                    2 if !intel && memory.displacement == 0 => format!("({name})"),
                    _ => format!("[{name}{}]", by(memory.displacement)),
                }
            }
            (_, Some(base), None) if intel => {
                format!("[{}{}]", register_name(base, bytes), by(memory.displacement))
            }
            (_, base, index) => {
                let base = base.map_or(String::new(), |base| format!("%{}", register_name(base, bytes)));
                let index = index.map_or(String::new(), |(index, scale)| {
                    format!(",%{},{scale}", register_name(index, bytes))
                });
                let displacement = match memory.displacement {
                    0 => String::new(),
                    other => other.to_string(),
                };
                format!("{displacement}({base}{index})")
            }
        }
    }

    fn claim(&mut self, claim: &Claim) -> String {
        match claim {
            Claim::Is(Spot::Register(thread, register), bytes, value) => {
                format!("{thread}:{}={}", register_name(*register, *bytes), self.number(*value))
            }
            Claim::Is(spot, _, value) => format!("{}={}", self.sample.name(*spot), self.number(*value)),
            Claim::Not(inner) => format!("~({})", self.claim(inner)),
            Claim::Both(a, b) => format!("({} /\\ {})", self.claim(a), self.claim(b)),
            Claim::Either(a, b) => format!("({} \\/ {})", self.claim(a), self.claim(b)),
        }
    }
}

/// In capitals up to the operands.
fn upper_mnemonic(text: &str) -> String {
    let start = text.rfind(' ').filter(|_| !text.contains("ptr"));
    start.map_or_else(|| text.to_string(), |at| text[..at].to_uppercase() + &text[at..])
}
