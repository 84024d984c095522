//! A litmus test with its question, and what may be said against it.
//!
//! A sample knows which of the front end's documented refusals it may meet: an access that is
//! not within one cell, values that may not fit the sizes in use, the carry of an addition,
//! and tricks with addresses. Any other refusal is a mistake of the front end.

use super::x86::{Final, Instruction, Memory, Op, Operand, Preset, Spot, Test};
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
    pub style: u64,
}

pub const CARRY: [&str; 4] = ["b", "ae", "be", "a"];

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

/// After these, jumps that look at the carry are refused.
pub fn leaves_no_carry(instruction: &Instruction) -> bool {
    matches!(instruction.op, Op::Add | Op::Inc | Op::Dec | Op::Xadd)
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

    /// Everything the front end lists.
    pub fn observed(&self) -> BTreeSet<Spot> {
        let mut observed: BTreeSet<Spot> = self.listed.iter().copied().collect();
        self.claim.visit(&mut |spot, _| {
            observed.insert(spot);
        });
        observed
    }
}
