//! Steps of one statement that nobody else can tell apart become one.
//!
//! What a thread does with its registers may wait for the access before or behind it: a load with the
//! branch on what it read, a locked step with what is made of its result. One access stays one step, so
//! no interleaving is lost, and there are fewer places to stop at.

use super::graph::{At, CArrow, CStep, Graph};
use program::{Arith, Expr, Op, RegId};
use std::collections::BTreeSet;

/// A place with more ways to go than this stays.
const MOST_WAYS: usize = 4;

/// Makes steps one, as long as some can be.
pub(super) fn fuse(graph: &mut Graph, entry: At) {
    graph.settle();
    let (mut entering, mut leaving) = (vec![Vec::new(); graph.places()], graph.leaving());
    for (index, arrow) in graph.arrows.iter().enumerate() {
        entering[arrow.to].push(index);
    }
    let labelled: BTreeSet<At> = graph.labels.clone().into_iter().map(|(at, _)| graph.find(at)).collect();
    let mut gone = vec![false; graph.arrows.len()];
    let mut waiting: Vec<At> = (0..graph.places()).collect();
    while let Some(place) = waiting.pop() {
        let [before] = entering[place][..] else { continue };
        let ways = leaving[place].clone();
        let fixed = place == entry || labelled.contains(&place) || graph.failures.contains_key(&place);
        if fixed || ways.is_empty() || ways.len() > MOST_WAYS || graph.arrows[before].from == place {
            continue;
        }
        let both = |way: &usize| together(&graph.arrows[before], &graph.arrows[*way]);
        let Some(fused) = ways.iter().map(both).collect::<Option<Vec<CArrow>>>() else { continue };
        let from = graph.arrows[before].from;
        for index in ways.iter().chain([&before]) {
            gone[*index] = true;
            entering[graph.arrows[*index].to].retain(|other| other != index);
            leaving[graph.arrows[*index].from].retain(|other| other != index);
        }
        for arrow in fused {
            let index = graph.arrows.len();
            entering[arrow.to].push(index);
            leaving[from].push(index);
            waiting.push(arrow.to);
            graph.arrows.push(arrow);
            gone.push(false);
        }
        waiting.push(from);
    }
    let mut index = 0;
    graph.arrows.retain(|_| {
        index += 1;
        !gone[index - 1]
    });
}

/// Two steps in a row as one, if that is what they are to everybody else.
fn together(first: &CArrow, second: &CArrow) -> Option<CArrow> {
    let (CStep::Op(a), CStep::Op(b)) = (&first.step, &second.step) else { return None };
    if first.span != second.span || second.to == second.from {
        return None;
    }
    let locked = |op: &Op| matches!(op, Op::Block { locked: true, .. });
    let loads = |op: &Op| {
        let mut count = 0;
        op.for_each_part(&mut |part| count += usize::from(matches!(part, Op::Load(..))));
        count
    };
    let is_locked = locked(a) || locked(b);
    let local = |op: &Op| match op {
        // A check stands before such a division, and stays a step of its own.
        Op::Assign(_, value) => !divides(value),
        Op::Assume(_) => true,
        op => is_unlocked(op) && loads(op) == 0,
    };
    let reads = |op: &Op| local(op) || matches!(op, Op::Load(..)) || is_unlocked(op);
    let fits = match is_locked {
        true => locked(a) && local(b) || local(a) && locked(b),
        false => reads(a) && reads(b) && loads(a) + loads(b) <= 1,
    };
    if !fits {
        return None;
    }
    let mut parts = Vec::new();
    a.for_each_part(&mut |part| parts.push(part.clone()));
    b.for_each_part(&mut |part| parts.push(part.clone()));
    let op = if is_locked { Op::locked(parts) } else { Op::together(parts) };
    Some(CArrow { from: first.from, to: second.to, step: CStep::Op(op), span: first.span })
}

/// Whether something is divided by what is not a constant.
fn divides(value: &Expr<RegId>) -> bool {
    match value {
        Expr::Binary(op, a, b) => {
            let division = matches!(op, Arith::Div | Arith::Rem);
            division && b.as_const().is_none() || divides(a) || divides(b)
        }
        _ => false,
    }
}

fn is_unlocked(op: &Op) -> bool {
    matches!(op, Op::Block { locked: false, .. })
}
