//! What main does before other threads run, computed.
//!
//! Until the first thread starts, main is alone: if what it does is determined, its effect is known and
//! becomes the variables' initial values. It goes on after that as long as it touches nothing that a thread
//! touches which may run by then: such steps commute with everything that others do, so main may as well
//! take them first. Threads that are started one after the other then simply run from the beginning, each
//! with the argument that main had written for it.

use super::graph::{At, CStep, Graph};
use program::{Expr, Int, Op, RegId, VarId};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// Steps that are computed at most.
const FUEL: usize = 100_000;

/// Where main stands after its beginning.
pub(super) struct Begun {
    pub at: At,
    pub registers: FxHashMap<RegId, Int>,
    pub memory: FxHashMap<VarId, Int>,
    /// Threads that run, with their argument if it had to be computed.
    pub running: BTreeMap<usize, Option<Int>>,
}

/// Computes main's beginning. `initial` are the variables' values, `touched` says what each thread and those
/// that it starts touch.
pub(super) fn begin(graph: &Graph, entry: At, initial: &[i128], touched: &[BTreeSet<VarId>]) -> Begun {
    let start = || Begun {
        at: entry,
        registers: FxHashMap::default(),
        memory: initial.iter().enumerate().map(|(at, value)| (VarId::new(at), Int::from(*value))).collect(),
        running: BTreeMap::new(),
    };
    let leaving = graph.leaving();
    let mut now = Running { begun: start(), others: BTreeSet::new() };
    for _ in 0..FUEL {
        let place = now.begun.at;
        if graph.failures.contains_key(&place) || leaving[place].is_empty() {
            break;
        }
        if !leaving[place].iter().all(|&arrow| now.decides(&graph.arrows[arrow].step)) {
            break;
        }
        let enabled = leaving[place].iter().filter_map(|&arrow| {
            let arrow = &graph.arrows[arrow];
            Some((arrow.to, now.after(&arrow.step)?))
        });
        let mut enabled: Vec<(At, CChange)> = enabled.collect();
        let (Some((to, change)), true) = (enabled.pop(), enabled.is_empty()) else { break };
        now.begun.at = to;
        now.begun.registers.extend(change.registers);
        now.begun.memory.extend(change.memory);
        if let Some((instance, argument)) = change.started {
            now.begun.running.insert(instance, argument);
            now.others.extend(&touched[instance]);
        }
    }
    // Nothing was started: main is all there is, and keeps its beginning.
    if now.begun.running.is_empty() { start() } else { now.begun }
}

/// What a step changes.
#[derive(Default)]
struct CChange {
    registers: FxHashMap<RegId, Int>,
    memory: FxHashMap<VarId, Int>,
    started: Option<(usize, Option<Int>)>,
}

/// Main, and what the others touch that may run.
struct Running {
    begun: Begun,
    others: BTreeSet<VarId>,
}

impl Running {
    /// Whether it is certain what a step does, or that it cannot be taken.
    fn decides(&self, step: &CStep) -> bool {
        match step {
            CStep::Op(op) => {
                let mut certain = true;
                op.for_each_part(&mut |part| {
                    certain &= match part {
                        Op::Havoc(..) => false,
                        // Nobody else can notice the access now.
                        Op::Load(_, variable) | Op::Store(variable, _) => !self.others.contains(variable),
                        // It must not stop inside a section.
                        Op::Lock | Op::Unlock => self.begun.running.is_empty(),
                        _ => true,
                    }
                });
                certain
            }
            CStep::Start(..) | CStep::Begin(None) => true,
            _ => false,
        }
    }

    /// What a step that is decided changes; nothing if it cannot be taken.
    fn after(&self, step: &CStep) -> Option<CChange> {
        let mut change = CChange::default();
        match step {
            CStep::Op(op) => {
                let mut possible = true;
                op.for_each_part(&mut |part| possible = possible && self.apply(&mut change, part).is_some());
                possible.then_some(change)
            }
            CStep::Start(instance, argument) => {
                let argument = match argument {
                    Some(argument) => Some(self.value(&change, argument)?),
                    None => None,
                };
                change.started = Some((*instance, argument));
                Some(change)
            }
            CStep::Begin(None) => Some(change),
            _ => None,
        }
    }

    fn register(&self, change: &CChange, register: RegId) -> Int {
        let known = change.registers.get(&register).or_else(|| self.begun.registers.get(&register));
        known.cloned().unwrap_or_default()
    }

    fn value(&self, change: &CChange, expr: &Expr<RegId>) -> Option<Int> {
        expr.eval(&|register| self.register(change, *register)).ok()
    }

    fn apply(&self, change: &mut CChange, op: &Op) -> Option<()> {
        match op {
            Op::Assign(register, expr) => {
                let value = self.value(change, expr)?;
                change.registers.insert(*register, value);
            }
            Op::Load(register, variable) => {
                let value = change.memory.get(variable).or_else(|| self.begun.memory.get(variable));
                let value = value.cloned().unwrap_or_default();
                change.registers.insert(*register, value);
            }
            Op::Store(variable, expr) => {
                let value = self.value(change, expr)?;
                change.memory.insert(*variable, value);
            }
            Op::Assume(cond) => {
                let holds = cond.eval(&|register: &RegId| self.register(change, *register));
                return (holds == Ok(true)).then_some(());
            }
            Op::Skip | Op::Fence(_) | Op::Lock | Op::Unlock => {}
            Op::Havoc(..) | Op::Block { .. } => return None,
        }
        Some(())
    }
}
