//! What main does before other threads run, computed.
//!
//! Until the first thread starts, main is alone: if what it does is determined, its effect is known and
//! becomes the variables' initial values. It goes on after that as long as it does nothing that another
//! thread could notice, so that threads which are started one after the other simply run from the
//! beginning.

use super::graph::{At, Graph, Step};
use program::{Expr, Int, Op, RegId, VarId};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Steps that are computed at most.
const FUEL: usize = 20_000;

/// Where main stands after its beginning.
pub(super) struct Begun {
    pub at: At,
    pub registers: HashMap<RegId, Int>,
    pub memory: HashMap<VarId, Int>,
    /// Threads that run, with their argument if it had to be computed.
    pub running: BTreeMap<usize, Option<Int>>,
}

/// Computes main's beginning. `initial` are the variables' values, `others` what other threads touch.
pub(super) fn begin(graph: &Graph, entry: At, initial: &[i128], others: &BTreeSet<VarId>) -> Begun {
    let memory = initial.iter().enumerate().map(|(at, value)| (VarId::new(at), Int::from(*value))).collect();
    let start = Begun { at: entry, registers: HashMap::new(), memory, running: BTreeMap::new() };
    let leaving = graph.leaving();
    let mut now = Running { begun: start, others };
    let first = now.begun.copy();
    for _ in 0..FUEL {
        let place = now.begun.at;
        if graph.failures.contains_key(&place) || leaving[place].is_empty() {
            break;
        }
        let enabled: Vec<(usize, Begun)> = leaving[place]
            .iter()
            .filter_map(|&arrow| Some((arrow, now.after(&graph.arrows[arrow].step)?)))
            .collect();
        let all_known = leaving[place].iter().all(|&arrow| now.decides(&graph.arrows[arrow].step));
        let ([(arrow, _)], true) = (enabled.as_slice(), all_known) else { break };
        let to = graph.arrows[*arrow].to;
        for (_, next) in enabled {
            now.begun = Begun { at: to, ..next };
        }
    }
    // Nothing was started: main is all there is, and keeps its beginning.
    if now.begun.running.is_empty() { first } else { now.begun }
}

impl Begun {
    fn copy(&self) -> Begun {
        Begun {
            at: self.at,
            registers: self.registers.clone(),
            memory: self.memory.clone(),
            running: self.running.clone(),
        }
    }

    fn value(&self, expr: &Expr<RegId>) -> Option<Int> {
        expr.eval(&|register| self.registers.get(register).cloned().unwrap_or_default()).ok()
    }
}

/// Main, and what others touch.
struct Running<'g> {
    begun: Begun,
    others: &'g BTreeSet<VarId>,
}

impl Running<'_> {
    /// Whether it is certain what a step does, or that it cannot be taken.
    fn decides(&self, step: &Step) -> bool {
        match step {
            Step::Op(op) => {
                let mut certain = true;
                op.for_each_part(&mut |part| {
                    certain &= match part {
                        Op::Havoc(..) => false,
                        Op::Load(_, variable) | Op::Store(variable, _) => self.mine(*variable),
                        Op::Fence(_) | Op::Lock | Op::Unlock => self.begun.running.is_empty(),
                        _ => true,
                    }
                });
                certain
            }
            Step::Start(..) | Step::Begin(None) => true,
            _ => false,
        }
    }

    /// Whether nobody else can notice an access now.
    fn mine(&self, variable: VarId) -> bool {
        self.begun.running.is_empty() || !self.others.contains(&variable)
    }

    /// What a step leads to; nothing if it cannot be taken, or if that is not certain.
    fn after(&self, step: &Step) -> Option<Begun> {
        let mut next = self.begun.copy();
        match step {
            Step::Op(op) => {
                let mut possible = self.decides(step);
                op.for_each_part(&mut |part| possible = possible && apply(&mut next, part));
                possible.then_some(next)
            }
            Step::Start(instance, argument) => {
                let argument = match argument {
                    Some(argument) => Some(next.value(argument)?),
                    None => None,
                };
                next.running.insert(*instance, argument);
                Some(next)
            }
            Step::Begin(None) => Some(next),
            _ => None,
        }
    }
}

fn apply(next: &mut Begun, op: &Op) -> bool {
    match op {
        Op::Assign(register, expr) => match next.value(expr) {
            Some(value) => drop(next.registers.insert(*register, value)),
            None => return false,
        },
        Op::Load(register, variable) => {
            let value = next.memory.get(variable).cloned().unwrap_or_default();
            next.registers.insert(*register, value);
        }
        Op::Store(variable, expr) => match next.value(expr) {
            Some(value) => drop(next.memory.insert(*variable, value)),
            None => return false,
        },
        Op::Assume(cond) => {
            let value =
                cond.eval(&|register: &RegId| next.registers.get(register).cloned().unwrap_or_default());
            return value == Ok(true);
        }
        Op::Skip | Op::Fence(_) | Op::Lock | Op::Unlock => {}
        Op::Havoc(..) | Op::Block { .. } => return false,
    }
    true
}
