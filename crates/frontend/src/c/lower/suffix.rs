//! What main does after all threads have ended, as claims about the end.
//!
//! Main then is alone: its steps are followed with values as expressions over memory, one path per
//! branch, and a violation that a path leads to is a claim that its conditions do not all hold.

use super::graph::{At, CStep, Graph};
use num_traits::Zero;
use program::{Cond, Expr, Failure, Int, Op, Place, RegId, VarId};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// Steps that are followed at most, on all paths together.
const FUEL: usize = 3000;
/// Values larger than this are not followed.
const WEIGHT: usize = 60;

/// A violation and when it happens.
pub(super) struct CClaimed {
    pub failure: Failure,
    pub when: Cond<Place>,
}

/// One path.
#[derive(Clone)]
struct Path {
    at: At,
    registers: FxHashMap<RegId, Expr<Place>>,
    memory: FxHashMap<VarId, Expr<Place>>,
    when: Vec<Cond<Place>>,
    joined: BTreeSet<usize>,
}

/// The violations behind a place where main awaits all threads; nothing if it does something else, or
/// too much.
pub(super) fn claims(
    graph: &Graph,
    at: At,
    registers: &FxHashMap<RegId, Int>,
    threads: &BTreeSet<usize>,
    touched: &BTreeSet<VarId>,
) -> Option<Vec<CClaimed>> {
    let known = registers.iter().map(|(register, value)| (*register, Expr::Const(value.clone())));
    let first = Path {
        at,
        registers: known.collect(),
        memory: FxHashMap::default(),
        when: Vec::new(),
        joined: BTreeSet::new(),
    };
    let leaving = graph.leaving();
    let (mut found, mut waiting, mut fuel) = (Vec::new(), vec![first], FUEL);
    while let Some(path) = waiting.pop() {
        fuel = fuel.checked_sub(1)?;
        if let Some(failure) = graph.failures.get(&path.at) {
            if path.joined != *threads || path.when.iter().any(Cond::may_divide_by_zero) {
                return None;
            }
            found.push(CClaimed { failure: failure.clone(), when: Cond::and(path.when) });
            continue;
        }
        for &arrow in leaving[path.at].iter().rev() {
            let arrow = &graph.arrows[arrow];
            let mut next = Path { at: arrow.to, ..path.clone() };
            let alone = next.joined == *threads;
            if follow(&mut next, &arrow.step, &|variable| alone || !touched.contains(&variable))? {
                waiting.push(next);
            }
        }
    }
    Some(found)
}

/// Takes a step: whether it is possible; nothing if it cannot be followed.
fn follow(path: &mut Path, step: &CStep, mine: &dyn Fn(VarId) -> bool) -> Option<bool> {
    match step {
        CStep::Join(instance) => {
            path.joined.insert(*instance);
            Some(true)
        }
        CStep::Op(op) => {
            let mut goes_on = Some(true);
            op.for_each_part(&mut |part| {
                if goes_on == Some(true) {
                    goes_on = apply(path, part, mine);
                }
            });
            goes_on
        }
        _ => None,
    }
}

fn apply(path: &mut Path, op: &Op, mine: &dyn Fn(VarId) -> bool) -> Option<bool> {
    let register =
        |path: &Path, r: &RegId| path.registers.get(r).cloned().unwrap_or(Expr::Const(Int::zero()));
    let value = |path: &Path, expr: &Expr<RegId>| {
        Some(expr.map(&mut |r| register(path, r))).filter(|value| !large(value))
    };
    match op {
        Op::Assign(to, expr) => {
            path.registers.insert(*to, value(path, expr)?);
        }
        Op::Load(to, variable) if mine(*variable) => {
            let value = path.memory.get(variable).cloned().unwrap_or(Expr::Leaf(Place::Memory(*variable)));
            path.registers.insert(*to, value);
        }
        Op::Store(variable, expr) if mine(*variable) => {
            path.memory.insert(*variable, value(path, expr)?);
        }
        Op::Assume(cond) => match cond.map(&mut |r| register(path, r)) {
            Cond::Const(value) => return Some(value),
            cond => path.when.push(cond),
        },
        Op::Skip | Op::Fence(_) | Op::Lock | Op::Unlock => {}
        _ => return None,
    }
    Some(true)
}

fn large(value: &Expr<Place>) -> bool {
    fn size(value: &Expr<Place>) -> usize {
        match value {
            Expr::Binary(_, a, b) => 1 + size(a) + size(b),
            _ => 1,
        }
    }
    size(value) > WEIGHT
}
