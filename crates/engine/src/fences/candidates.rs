//! Where fences may go, and what they cost.
//!
//! A candidate is a place in the *source*: all edges that come from the same statement, in all
//! threads of a family and all copies made by unrolling or inlining, get the fence together,
//! because that is what writing it there does. It costs its price once a thread, times a
//! weight for every loop around it.

use super::{Costs, Points};
use machine::Model;
use program::{EdgeId, Fence, Loc, Op, Placement, Point, Program, Span, Strength, Thread, ThreadId};
use std::collections::BTreeMap;

/// A place in the source where a fence may go.
#[derive(Clone, Debug)]
pub struct FencePoint {
    /// The edges or locations it stands for.
    pub placements: Vec<Placement>,
    /// The statement it stands behind (or before, at a location).
    pub span: Span,
    /// What is put there.
    pub strength: Strength,
    /// What it costs.
    pub cost: u64,
}

/// All candidates, in the order of the source.
pub(crate) fn candidates(program: &Program, model: Model, points: Points, costs: &Costs) -> Vec<FencePoint> {
    let mut kinds = vec![(Strength::Fence(Fence::Full), costs.full)];
    if model.needs_barriers() {
        kinds.push((Strength::Fence(Fence::Store), costs.store));
    }
    if let Some(cost) = costs.exchange {
        kinds.push((Strength::Exchange, cost));
    }
    let mut found = Vec::new();
    for (strength, cost) in kinds {
        let mut places: BTreeMap<(Span, usize), Vec<(Placement, u32)>> = BTreeMap::new();
        let mut alone = 0;
        for thread in program.thread_ids() {
            let depths = loop_depths(program.thread(thread));
            for (point, span, loc) in points_of(program.thread(thread), points, strength) {
                // What has no place in the source stands for itself.
                alone += usize::from(span.is_none());
                let key = (span, if span.is_none() { alone } else { 0 });
                let placement = Placement { thread, point, strength };
                places.entry(key).or_default().push((placement, depths[loc.index()]));
            }
        }
        found.extend(places.into_iter().map(|((span, _), members)| {
            let cost = price(&members, cost, costs.in_loop);
            let placements = members.into_iter().map(|(placement, _)| placement).collect();
            FencePoint { placements, span, strength, cost }
        }));
    }
    found.sort_by_key(|point| (point.span, point.strength));
    found
}

/// Points of a thread: where, the statement, and a location that tells how deep in loops it is.
fn points_of(thread: &Thread, points: Points, strength: Strength) -> Vec<(Point, Span, Loc)> {
    let store = |op: &Op| matches!(op, Op::Store(..));
    let outside = |loc: Loc| !thread.in_atomic(loc);
    let edges = thread.edges().iter().enumerate();
    let mut found: Vec<(Point, Span, Loc)> = edges
        .filter(|(_, edge)| store(&edge.op) && outside(edge.from))
        .map(|(at, edge)| (Point::After(EdgeId::new(at)), edge.span, edge.from))
        .collect();
    if points == Points::All && strength != Strength::Exchange {
        let waits = |loc: &Loc| thread.outgoing(*loc).any(|(_, edge)| matches!(edge.op, Op::Load(..)));
        let locs = thread.locs().filter(|loc| outside(*loc) && waits(loc));
        found.extend(locs.map(|loc| {
            let span = thread.outgoing(loc).next().map_or(Span::NONE, |(_, edge)| edge.span);
            (Point::At(loc), span, loc)
        }));
    }
    found
}

/// The price once a thread, at the depth of the deepest of its places there.
fn price(members: &[(Placement, u32)], cost: u64, in_loop: u64) -> u64 {
    let mut threads: BTreeMap<ThreadId, u32> = BTreeMap::new();
    for (placement, depth) in members {
        let known = threads.entry(placement.thread).or_default();
        *known = (*known).max(*depth);
    }
    threads.values().map(|depth| cost.saturating_mul(in_loop.saturating_pow(*depth))).sum()
}

/// How many loops lie around each location: nested strongly connected components. A loop
/// without its head (its first location) may still go round: those are the inner loops.
fn loop_depths(thread: &Thread) -> Vec<u32> {
    let mut depths = vec![0; thread.locs().count()];
    let mut work = vec![vec![true; depths.len()]];
    while let Some(alive) = work.pop() {
        for component in components(thread, &alive).iter().filter(|c| is_loop(thread, c)) {
            component.iter().for_each(|loc| depths[loc.index()] += 1);
            let mut inner = vec![false; depths.len()];
            component.iter().for_each(|loc| inner[loc.index()] = true);
            component.iter().min().into_iter().for_each(|head| inner[head.index()] = false);
            work.push(inner);
        }
    }
    depths
}

fn is_loop(thread: &Thread, component: &[Loc]) -> bool {
    let goes_round = |loc: &Loc| thread.outgoing(*loc).any(|(_, edge)| component.contains(&edge.to));
    component.iter().any(goes_round)
}

/// Strongly connected components of the locations that are alive (Kosaraju, without recursion).
fn components(thread: &Thread, alive: &[bool]) -> Vec<Vec<Loc>> {
    let live = |loc: &Loc| alive[loc.index()];
    let mut entering = vec![Vec::new(); alive.len()];
    for edge in thread.edges().iter().filter(|edge| live(&edge.from) && live(&edge.to)) {
        entering[edge.to.index()].push(edge.from);
    }
    let forward = |loc: Loc| thread.outgoing(loc).map(|(_, edge)| edge.to).filter(live).collect::<Vec<_>>();
    let mut seen = vec![false; alive.len()];
    let mut order = Vec::new();
    for root in thread.locs().filter(live) {
        post_order(root, &mut seen, &forward, &mut order);
    }
    let mut seen = vec![false; alive.len()];
    let mut found = Vec::new();
    for root in order.into_iter().rev() {
        let mut component = Vec::new();
        post_order(root, &mut seen, &|loc: Loc| entering[loc.index()].clone(), &mut component);
        if !component.is_empty() {
            found.push(component);
        }
    }
    found
}

fn post_order(root: Loc, seen: &mut [bool], next: &dyn Fn(Loc) -> Vec<Loc>, out: &mut Vec<Loc>) {
    if std::mem::replace(&mut seen[root.index()], true) {
        return;
    }
    let mut stack = vec![(root, next(root))];
    while let Some((loc, rest)) = stack.last_mut() {
        match rest.pop() {
            Some(to) if !std::mem::replace(&mut seen[to.index()], true) => stack.push((to, next(to))),
            Some(_) => {}
            None => {
                out.push(*loc);
                stack.pop();
            }
        }
    }
}
