//! What is known once main's beginning was computed, written into the steps.
//!
//! Threads have their arguments then, and most of what main set up never changes again. So the values of
//! registers are found once more: steps that cannot be taken go, conditions that always hold too, and what
//! is always the same number becomes that number. A store that nobody looks at, in this thread or another,
//! does nothing but wait in a buffer, and goes as well.

use super::analysis::value;
use super::graph::{At, CStep, Graph};
use super::places::{NO_OBJECT_USED, NULL_USED};
use super::value::number;
use super::values::{CKnown, CValues, refine};
use program::{Cond, Expr, FailureKind, Int, Op, RegId, VarId};
use std::collections::BTreeSet;

/// What is known of memory.
pub(super) struct CSettled<'m> {
    /// Values of variables.
    pub variables: &'m [CValues],
    /// Variables that somebody stores.
    pub stored: &'m BTreeSet<VarId>,
    /// Variables whose stores matter to nobody.
    pub unread: &'m BTreeSet<VarId>,
}

impl CSettled<'_> {
    /// The value of a variable that never changes.
    fn constant(&self, variable: VarId) -> Option<i128> {
        let values = self.variables.get(variable.index()).filter(|_| !self.stored.contains(&variable));
        values.and_then(CValues::single)
    }
}

/// Folds the steps of a thread, of which `known` says what registers hold at its places.
pub(super) fn fold(graph: &mut Graph, entry: At, mut known: Vec<Option<CKnown>>, memory: &CSettled<'_>) {
    graph.write_out_choices(&mut known);
    name_null(graph, &known);
    let mut possible = vec![false; graph.places()];
    let mut steps = Vec::with_capacity(graph.arrows.len());
    for arrow in &graph.arrows {
        let step = known[arrow.from].as_ref().and_then(|known| step_folded(known, &arrow.step, memory));
        possible[arrow.from] |= step.is_some();
        steps.push(step);
    }
    let asserted = asserted(graph);
    let mut steps = steps.into_iter();
    graph.arrows.retain_mut(|arrow| match steps.next().flatten() {
        Some(step) => {
            arrow.step = step;
            true
        }
        // A place that is stuck must not look like an end, and a claim that always holds is still one.
        None if !possible[arrow.from] || asserted.contains(&arrow.to) => {
            arrow.step = CStep::Op(Op::Assume(Cond::FALSE));
            possible[arrow.from] = true;
            true
        }
        None => false,
    });
    drop_zeros(graph, entry);
}

/// A pointer that points to no object is null, where it cannot be anything else.
fn name_null(graph: &mut Graph, known: &[Option<CKnown>]) {
    for arrow in &graph.arrows {
        let Some(failure) = graph.failures.get_mut(&arrow.to) else { continue };
        if matches!(&failure.kind, FailureKind::Error(what) if what == NO_OBJECT_USED)
            && let (CStep::Op(Op::Assume(cond)), Some(known)) = (&arrow.step, &known[arrow.from])
            && let Some(key) = compared(cond)
            && value(known, key).contains(0)
            && let Some(left) = refine(known, cond)
            && value(&left, key).single() == Some(0)
        {
            failure.kind = FailureKind::Error(NULL_USED.to_string());
        }
    }
}

/// What a condition compares first.
fn compared(cond: &Cond<RegId>) -> Option<&Expr<RegId>> {
    match cond {
        Cond::Compare(_, key, _) => Some(key),
        Cond::And(parts) => compared(parts.first()?),
        Cond::Const(_) | Cond::Or(_) => None,
    }
}

/// The places where an assertion has failed.
fn asserted(graph: &Graph) -> BTreeSet<At> {
    let claims = graph.failures.iter().filter(|(_, failure)| failure.kind == FailureKind::Assertion);
    claims.map(|(at, _)| *at).collect()
}

fn step_folded(known: &CKnown, step: &CStep, memory: &CSettled<'_>) -> Option<CStep> {
    let mut known = known.clone();
    Some(match step {
        CStep::Op(op) => CStep::Op(op_folded(&mut known, op, memory)?),
        CStep::Start(instance, Some(argument)) => {
            CStep::Start(*instance, Some(expr_folded(&known, argument).0))
        }
        CStep::End(result) => CStep::End(expr_folded(&known, result).0),
        other => other.clone(),
    })
}

/// An expression, as a number if it is always the same, and its values.
fn expr_folded(known: &CKnown, expr: &Expr<RegId>) -> (Expr<RegId>, CValues) {
    let values = value(known, expr);
    (values.single().map_or_else(|| expr.clone(), number), values)
}

/// An operation with what is known before it, which becomes what is known behind it; nothing if it
/// cannot be done.
fn op_folded(known: &mut CKnown, op: &Op, memory: &CSettled<'_>) -> Option<Op> {
    Some(match op {
        Op::Assign(register, expr) => {
            let (expr, values) = expr_folded(known, expr);
            known.set(*register, values);
            Op::Assign(*register, expr)
        }
        Op::Load(register, variable) => match memory.constant(*variable) {
            Some(value) => {
                known.set(*register, CValues::only(value));
                Op::Assign(*register, number(value))
            }
            None => {
                let values = memory.variables.get(variable.index());
                known.set(*register, values.cloned().unwrap_or(CValues::ALL));
                op.clone()
            }
        },
        Op::Store(variable, _) if memory.unread.contains(variable) => Op::Skip,
        Op::Store(variable, expr) => Op::Store(*variable, expr_folded(known, expr).0),
        Op::Assume(cond) => {
            let after = refine(known, cond)?;
            let always = refine(known, &cond.clone().negate()).is_none();
            *known = after;
            if always { Op::Skip } else { op.clone() }
        }
        Op::Havoc(register, _) => {
            known.set(*register, CValues::ALL);
            op.clone()
        }
        Op::Block { locked, parts } => {
            let folded: Vec<Op> =
                parts.iter().map(|part| op_folded(known, part, memory)).collect::<Option<_>>()?;
            let left: Vec<Op> = folded.into_iter().filter(|part| *part != Op::Skip).collect();
            match (locked, left.is_empty()) {
                (false, _) => Op::together(left),
                (true, false) => Op::locked(left),
                // It still waits for the buffer.
                (true, true) => Op::Fence(program::Fence::Full),
            }
        }
        Op::Skip | Op::Fence(_) | Op::Lock | Op::Unlock => op.clone(),
    })
}

/// Takes what cannot be, or always is, out of steps that were put together.
pub(super) fn fold_fused(graph: &mut Graph) {
    let (stored, unread) = (BTreeSet::new(), BTreeSet::new());
    let memory = CSettled { variables: &[], stored: &stored, unread: &unread };
    let (mut left, asserted) = (vec![0usize; graph.places()], asserted(graph));
    graph.arrows.iter().for_each(|arrow| left[arrow.from] += 1);
    graph.arrows.retain_mut(|arrow| {
        let CStep::Op(op @ Op::Block { parts, .. }) = &arrow.step else { return true };
        // Nothing is known before it, so a condition can only be told by what is written or assumed in it.
        let tells = |part: &&Op| matches!(part, Op::Assign(..) | Op::Assume(_));
        if parts.iter().filter(tells).count() < 2 {
            return true;
        }
        match op_folded(&mut CKnown::default(), op, &memory) {
            Some(op) => arrow.step = CStep::Op(op),
            None if left[arrow.from] > 1 && !asserted.contains(&arrow.to) => {
                left[arrow.from] -= 1;
                return false;
            }
            None => {}
        }
        true
    });
}

/// Registers start with zero, so a thread that begins by setting some to that need not.
fn drop_zeros(graph: &mut Graph, entry: At) {
    let leaving = graph.leaving();
    let mut entering = vec![0usize; graph.places()];
    graph.arrows.iter().for_each(|arrow| entering[arrow.to] += 1);
    let (mut at, mut written) = (entry, BTreeSet::new());
    let mut before = 0;
    while let ([arrow], true) = (&leaving[at][..], entering[at] == before) {
        let arrow = &mut graph.arrows[*arrow];
        match &arrow.step {
            CStep::Op(Op::Assign(register, expr)) => {
                let zero = expr.as_const() == Some(&Int::ZERO) && !written.contains(register);
                written.insert(*register);
                if zero {
                    arrow.step = CStep::Op(Op::Skip);
                }
            }
            CStep::Op(Op::Skip) | CStep::Begin(None) => {}
            CStep::Begin(Some(register)) => {
                written.insert(*register);
            }
            _ => return,
        }
        (at, before) = (arrow.to, 1);
    }
}
