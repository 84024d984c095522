//! Atomic sections without loops become one step for each way through them.
//!
//! Nobody else touches memory while a thread is in one, and claims are judged outside: all that can be
//! seen is what memory was before it and is behind it. A way that gets stuck inside never leaves, so it
//! makes no difference that it is not begun.

use super::graph::{ArrowsAt, At, CArrow, CStep, Graph};
use program::{CallSite, Op, Span};
use std::sync::Arc;

/// A section with more ways through it, or longer ones, stays as it is.
const MOST_WAYS: usize = 12;
const LONGEST: usize = 48;

/// A way from the beginning of a section.
#[derive(Clone)]
struct SectionWay {
    at: At,
    seen: Vec<At>,
    parts: Vec<Op>,
    span: Span,
    call: Option<Arc<CallSite>>,
    /// Whether the span is that of a store, which tells most of what the section does.
    stores: bool,
}

/// Makes sections single steps where that is possible.
pub(super) fn collapse(graph: &mut Graph) {
    graph.settle();
    let leaving = graph.leaving();
    let mut gone = Vec::new();
    for start in 0..graph.arrows.len() {
        let begins = matches!(graph.arrows[start].step, CStep::Op(Op::Lock));
        let ways = if begins { ways_through(graph, &leaving, start) } else { None };
        gone.push(ways.is_some());
        for mut way in ways.into_iter().flatten() {
            // Behind the step nobody is in a section any more.
            if let Some(failure) = graph.failures.get(&way.to).cloned() {
                way.to = graph.place();
                graph.failures.insert(way.to, failure);
            }
            graph.arrows.push(way);
        }
    }
    let mut gone = gone.into_iter();
    graph.arrows.retain(|_| gone.next() != Some(true));
}

/// Every way through a section as a step, if that is all there is to it.
fn ways_through(graph: &Graph, leaving: &ArrowsAt, start: usize) -> Option<Vec<CArrow>> {
    let CArrow { from, to: at, span, .. } = graph.arrows[start];
    let call = graph.arrows[start].call.clone();
    let mut waiting = vec![SectionWay { at, seen: vec![at], parts: Vec::new(), span, call, stores: false }];
    let mut found = Vec::new();
    while let Some(way) = waiting.pop() {
        if found.len() + waiting.len() > MOST_WAYS || way.parts.len() > LONGEST {
            return None;
        }
        if graph.failures.contains_key(&way.at) {
            found.push(whole(from, way.at, way)?);
            continue;
        }
        if leaving[way.at].is_empty() {
            return None;
        }
        for &index in &leaving[way.at] {
            let arrow = &graph.arrows[index];
            let CStep::Op(op) = &arrow.step else { return None };
            if *op == Op::Unlock {
                found.push(whole(from, arrow.to, way.clone())?);
            } else {
                waiting.push(further(&way, arrow, op)?);
            }
        }
    }
    Some(found)
}

/// A way with one more step.
fn further(way: &SectionWay, arrow: &CArrow, op: &Op) -> Option<SectionWay> {
    let mut next = SectionWay { at: arrow.to, ..way.clone() };
    let mut simple = !way.seen.contains(&arrow.to);
    next.seen.push(arrow.to);
    op.for_each_part(&mut |part| match part {
        Op::Assign(_, value) if value.may_divide_by_zero() => simple = false,
        Op::Assign(..) | Op::Assume(_) | Op::Load(..) | Op::Store(..) => {
            let (first, stores) = (next.parts.is_empty(), matches!(part, Op::Store(..)));
            if first || stores && !next.stores {
                next.span = arrow.span;
                next.call.clone_from(&arrow.call);
            }
            next.stores |= stores;
            next.parts.push(part.clone());
        }
        // The buffer is empty in a section.
        Op::Skip | Op::Fence(_) => {}
        Op::Havoc(..) | Op::Lock | Op::Unlock | Op::Block { .. } => simple = false,
    });
    simple.then_some(next)
}

/// A whole way as one step.
fn whole(from: At, to: At, way: SectionWay) -> Option<CArrow> {
    let SectionWay { parts, span, call, .. } = way;
    (!parts.is_empty()).then(|| CArrow { from, to, step: CStep::Op(Op::locked(parts)), span, call })
}
