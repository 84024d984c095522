//! What nobody needs goes: values computed into registers that are dead.

use super::graph::{CArrow, CStep, Graph};
use program::{FailureKind, Op, RegId};
use std::collections::VecDeque;

/// A set of registers.
type Live = Vec<bool>;

/// Takes out steps that only write registers which nobody reads afterwards, again and again.
pub(super) fn drop_dead(graph: &mut Graph) {
    loop {
        graph.settle();
        let live = liveness(graph);
        let dead = |arrow: &CArrow| match &arrow.step {
            CStep::Op(op @ (Op::Assign(..) | Op::Havoc(..) | Op::Load(..))) => {
                op.writes().is_some_and(|register| !live[arrow.to][register.index()])
            }
            _ => false,
        };
        if !graph.arrows.iter().any(dead) {
            return;
        }
        graph.contract(&dead);
    }
}

/// Which registers are read behind each place.
pub(super) fn liveness(graph: &Graph) -> Vec<Live> {
    let registers = graph.registers.len();
    let mut live = vec![vec![false; registers]; graph.places()];
    for (at, failure) in &graph.failures {
        if let FailureKind::Bounds { index, .. } = &failure.kind {
            index.for_each_leaf(&mut |register: &RegId| live[*at][register.index()] = true);
        }
    }
    let mut entering: Vec<Vec<usize>> = vec![Vec::new(); graph.places()];
    for (index, arrow) in graph.arrows.iter().enumerate() {
        entering[arrow.to].push(index);
    }
    let mut waiting: VecDeque<usize> = (0..graph.arrows.len()).rev().collect();
    while let Some(index) = waiting.pop_front() {
        let arrow = &graph.arrows[index];
        let mut before = live[arrow.to].clone();
        behind(&arrow.step, &mut before);
        let mut grew = false;
        for (known, needed) in live[arrow.from].iter_mut().zip(before) {
            grew |= needed && !*known;
            *known |= needed;
        }
        if grew {
            waiting.extend(&entering[arrow.from]);
        }
    }
    live
}

/// From what is live behind a step to what is live before it.
fn behind(step: &CStep, live: &mut Live) {
    let part = |op: &Op, live: &mut Live| {
        op.writes().into_iter().for_each(|register| live[register.index()] = false);
        op.for_each_read(&mut |register: &RegId| live[register.index()] = true);
    };
    match step {
        CStep::Op(Op::Block { parts, .. }) => parts.iter().rev().for_each(|op| part(op, live)),
        CStep::Op(op) => part(op, live),
        CStep::Fits(fits) => fits.value.for_each_leaf(&mut |register: &RegId| live[register.index()] = true),
        CStep::Checked(parts, at, fits) => {
            for (index, op) in parts.iter().enumerate().rev() {
                part(op, live);
                if index == *at {
                    fits.value.for_each_leaf(&mut |register: &RegId| live[register.index()] = true);
                }
            }
        }
        CStep::Start(_, Some(value)) | CStep::End(value) => {
            value.for_each_leaf(&mut |register: &RegId| live[register.index()] = true);
        }
        CStep::Begin(Some(register)) => live[register.index()] = false,
        CStep::Start(_, None) | CStep::Join(_) | CStep::Begin(None) => {}
    }
}
