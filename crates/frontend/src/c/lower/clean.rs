//! What nobody needs goes: values computed into registers that are dead.

use super::choice::CChosen;
use super::graph::{At, CArrow, CStep, Graph};
use program::{Expr, FailureKind, Op, RegId};
use std::collections::VecDeque;

/// Which registers are read behind each place, as sets of bits.
pub(super) struct LiveRegisters {
    words: usize,
    bits: Vec<u64>,
}

impl LiveRegisters {
    /// Whether a register is read behind a place.
    pub fn has(&self, at: At, register: RegId) -> bool {
        let index = register.index();
        self.bits[at * self.words + index / 64] >> (index % 64) & 1 == 1
    }

    fn of(&self, at: At) -> &[u64] {
        &self.bits[at * self.words..(at + 1) * self.words]
    }

    /// Adds registers to a place; says whether one is new.
    fn add(&mut self, at: At, more: &[u64]) -> bool {
        let mut grew = false;
        for (known, needed) in self.bits[at * self.words..(at + 1) * self.words].iter_mut().zip(more) {
            grew |= needed & !*known != 0;
            *known |= needed;
        }
        grew
    }
}

fn set(live: &mut [u64], register: RegId) {
    live[register.index() / 64] |= 1 << (register.index() % 64);
}

/// Notes what an expression reads.
fn reads(live: &mut [u64], expr: &Expr<RegId>) {
    expr.for_each_leaf(&mut |register: &RegId| set(live, *register));
}

fn unset(live: &mut [u64], register: RegId) {
    live[register.index() / 64] &= !(1 << (register.index() % 64));
}

/// Takes out steps that only write registers which nobody reads afterwards, again and again.
pub(super) fn drop_dead(graph: &mut Graph) {
    loop {
        graph.settle();
        let live = liveness(graph, &[]);
        let dead = |arrow: &CArrow| match &arrow.step {
            CStep::Op(op @ (Op::Assign(..) | Op::Havoc(..) | Op::Load(..))) => {
                op.writes().is_some_and(|register| !live.has(arrow.to, register))
            }
            CStep::Unwritten(register, ..) => !live.has(arrow.to, *register),
            _ => false,
        };
        for arrow in &mut graph.arrows {
            if let CStep::Choice(choice) = &mut arrow.step
                && let CChosen::Load(register) = choice.access
                && !live.has(arrow.to, register)
            {
                choice.access = CChosen::Nothing;
            }
        }
        if !graph.arrows.iter().any(dead) {
            return;
        }
        graph.contract(&dead);
    }
}

/// Which registers are read behind each place, by steps or by whoever asks for an expression there.
pub(super) fn liveness(graph: &Graph, asked: &[(At, Expr<RegId>)]) -> LiveRegisters {
    let words = graph.registers.len().div_ceil(64).max(1);
    let mut live = LiveRegisters { words, bits: vec![0; words * graph.places()] };
    let mut needed = vec![0u64; words];
    let told = graph.failures.iter().filter_map(|(at, failure)| match &failure.kind {
        FailureKind::Bounds { index, .. } => Some((at, index)),
        _ => None,
    });
    for (at, expr) in told.chain(asked.iter().map(|(at, expr)| (at, expr))) {
        reads(&mut needed, expr);
        live.add(*at, &needed);
        needed.fill(0);
    }
    let entering = graph.entering();
    let mut waiting: VecDeque<usize> = (0..graph.arrows.len()).rev().collect();
    while let Some(index) = waiting.pop_front() {
        let arrow = &graph.arrows[index];
        needed.copy_from_slice(live.of(arrow.to));
        behind(&arrow.step, &mut needed);
        if live.add(arrow.from, &needed) {
            waiting.extend(&entering[arrow.from]);
        }
    }
    live
}

/// From what is live behind a step to what is live before it.
fn behind(step: &CStep, live: &mut [u64]) {
    let part = |op: &Op, live: &mut [u64]| {
        op.writes().into_iter().for_each(|register| unset(live, register));
        op.for_each_read(&mut |register: &RegId| set(live, *register));
    };
    match step {
        CStep::Op(Op::Block { parts, .. }) => parts.iter().rev().for_each(|op| part(op, live)),
        CStep::Op(op) => part(op, live),
        CStep::Choice(choice) => {
            match &choice.access {
                CChosen::Load(register) => unset(live, *register),
                CChosen::Store { value, .. } => reads(live, value),
                CChosen::Nothing => {}
            }
            reads(live, &choice.key);
        }
        CStep::Fits(fits) => reads(live, &fits.value),
        CStep::Checked(parts, at, fits) => {
            for (index, op) in parts.iter().enumerate().rev() {
                part(op, live);
                if index == *at {
                    reads(live, &fits.value);
                }
            }
        }
        CStep::Start(_, Some(value)) | CStep::End(value) => reads(live, value),
        CStep::Begin(Some(register)) | CStep::Unwritten(register, ..) => unset(live, *register),
        CStep::Start(_, None) | CStep::Join(_) | CStep::Begin(None) => {}
    }
}
