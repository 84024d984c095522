//! A few agents are enough in every state: against plain searches, for claims of every kind.

use super::{Law, compare, hold, waiting};
use crate::support::random::{Sketch, seeds};
use engine::Reduction;
use fastrand::Rng;
use machine::MODELS;
use program::{Op, Program, Property, PropertyKind, Span, VarId, Variable};
use std::cell::RefCell;

/// The random program of a seed in which threads have variables of their own, and use some of all as well.
pub(super) fn scattered(seed: u64) -> Sketch {
    let mut sketch = waiting(seed);
    let shared = sketch.variables.len();
    let own = ["o0", "o1", "o2", "o3"];
    sketch.variables.extend(own.map(|name| Variable::new(name, Span::NONE)));
    let rng = RefCell::new(Rng::with_seed(seed));
    for thread in 0..sketch.threads.len() {
        let moved = |variable: &VarId| match rng.borrow_mut().u8(..3) {
            0 => *variable,
            _ => VarId::new(shared + thread % own.len()),
        };
        let mapped = sketch.map_ops(&|op| match op {
            Op::Load(register, variable) => Op::Load(*register, moved(variable)),
            Op::Store(variable, value) => Op::Store(moved(variable), value.clone()),
            other => other.clone(),
        });
        sketch.threads[thread] = mapped.threads[thread].clone();
    }
    sketch
}

#[test]
fn few_agents_are_enough() {
    for reduction in [Reduction::Persistent, Reduction::Dynamic, Reduction::All] {
        let count = 2 * seeds();
        let (judged, fewer) = hold(scattered, reduction, count);
        let enough = judged * 2 > count as usize && fewer * 2 > judged;
        assert!(enough, "{reduction:?}: {judged} of {count} judged, {fewer} reduced");
    }
}

/// A program that is never to be deadlocked, besides what else it claims.
fn deadlocking(seed: u64) -> Program {
    let mut program = scattered(seed).build();
    let cond = program.deadlock();
    program.properties.push(Property { kind: PropertyKind::Never, cond, span: Span::NONE, text: None });
    program
}

#[test]
fn no_deadlock_is_lost() {
    let (mut judged, mut fewer) = (0, 0);
    for seed in 0..2 * seeds() {
        let program = deadlocking(seed);
        let model = MODELS[seed as usize % MODELS.len()];
        let reduction = if seed % 2 == 0 { Reduction::Persistent } else { Reduction::Dynamic };
        match compare(&program, model, reduction) {
            Law::Open => {}
            Law::Holds { all, left } => {
                judged += 1;
                fewer += usize::from(left < all);
            }
            Law::Broken(why) => panic!("seed {seed}: {why}\n{}", program::print(&program)),
        }
    }
    assert!(judged > 100 && fewer * 4 > judged, "{judged} judged, {fewer} reduced");
}
