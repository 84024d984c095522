//! Where fences may go, and what they cost.
//!
//! A candidate is a place in the *source*: all edges that come from the same statement, in all
//! threads of a family and all copies made by unrolling or inlining, get the fence together,
//! because that is what writing it there does. It costs its price once per thread, times a
//! weight for every loop around it and whatever is said of its thread or line. Where a fence must
//! not go, there is no candidate.

use super::{Costs, FenceOptions, FencePlace, FencePrice, Points};
use machine::Model;
use program::{Edge, EdgeId, Fence, Loc, Op, Placement, Point, Program, Span, Strength, Thread, ThreadId};
use std::collections::{BTreeMap, BTreeSet};

/// A place in the source where a fence may go.
#[derive(Clone, Debug)]
pub struct FencePoint {
    /// The edges or locations it stands for.
    pub placements: Vec<Placement>,
    /// The statement it stands behind or before.
    pub span: Span,
    /// Whether it stands before the statement.
    pub before: bool,
    /// What is put there.
    pub strength: Strength,
    /// What it costs.
    pub cost: u64,
}

impl FencePoint {
    /// The threads that get the fence, each once.
    pub fn threads(&self) -> Vec<ThreadId> {
        let threads: BTreeSet<ThreadId> = self.placements.iter().map(|p| p.thread).collect();
        threads.into_iter().collect()
    }
}

/// All places where fences may go, in the order of the source.
pub fn candidates(program: &Program, model: Model, options: &FenceOptions<'_>) -> Vec<FencePoint> {
    let FenceOptions { costs, points, prices, .. } = options;
    let mut kinds = vec![(Strength::Fence(Fence::Full), costs.full)];
    if model.reorders_stores() {
        kinds.push((Strength::Fence(Fence::Store), costs.store));
    }
    if let Some(cost) = costs.exchange {
        kinds.push((Strength::Exchange, cost));
    }
    let mut found = Vec::new();
    for (strength, cost) in kinds {
        found.extend(grouped(program, strength, cost, (costs, prices), &|thread| {
            points_of(thread, *points, strength)
        }));
    }
    found.sort_by_key(|point| (point.span, !point.before, point.strength));
    found
}

/// Places of a thread: where, the statement, and a location that tells how deep in loops it is.
type PlacesOf<'a> = dyn Fn(&Thread) -> Vec<(Point, Span, Loc)> + 'a;

/// The places of all threads, those of one statement together.
pub(super) fn grouped(
    program: &Program,
    strength: Strength,
    cost: u64,
    (costs, prices): (&Costs, &[FencePrice]),
    places_of: &PlacesOf<'_>,
) -> Vec<FencePoint> {
    let mut places: BTreeMap<(Span, bool, usize), Vec<(Placement, u32)>> = BTreeMap::new();
    let mut alone = 0;
    for thread in program.thread_ids() {
        let depths = loop_depths(program.thread(thread), costs);
        for (point, span, loc) in places_of(program.thread(thread)) {
            // What has no place in the source stands for itself.
            alone += usize::from(span.is_none());
            let before = matches!(point, Point::At(_));
            let key = (span, before, if span.is_none() { alone } else { 0 });
            let placement = Placement { thread, point, strength };
            places.entry(key).or_default().push((placement, depths[loc.index()]));
        }
    }
    let point = |((span, before, _), members): ((Span, bool, usize), Vec<(Placement, u32)>)| {
        let factor = |thread| factor(program, prices, thread, span);
        let cost = price(&members, cost, costs.in_loop, &factor)?;
        let placements = members.into_iter().map(|(placement, _)| placement).collect();
        Some(FencePoint { placements, span, before, strength, cost })
    };
    places.into_iter().filter_map(point).collect()
}

/// How many times as much a fence costs in this thread; nothing if it must not be there.
fn factor(program: &Program, prices: &[FencePrice], thread: ThreadId, span: Span) -> Option<u64> {
    let line = program.source.line(span);
    let applies = |price: &&FencePrice| match &price.place {
        FencePlace::Thread(_) => price.place.means(&program.thread(thread).name),
        FencePlace::Line(wanted) => line == Some(*wanted),
    };
    prices.iter().filter(applies).try_fold(1u64, |product, price| Some(product.saturating_mul(price.factor?)))
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
        // Statements that load something from memory while stores may be buffered.
        let edges = thread.edges().iter();
        let read: BTreeSet<Span> = edges.filter(|edge| reads(edge)).map(|edge| edge.span).collect();
        let entering = thread.edges().iter().map(|edge| (edge.to, edge.span)).collect();
        let starts = thread.locs().filter(|loc| outside(*loc)).filter_map(|loc| {
            let span = statement_at(thread, loc, &entering).filter(|span| read.contains(span));
            span.map(|span| (Point::At(loc), span, loc))
        });
        found.extend(starts);
    }
    found
}

fn reads(edge: &Edge) -> bool {
    match &edge.op {
        Op::Load(..) => true,
        Op::Block { locked: false, parts } => parts.iter().any(|part| matches!(part, Op::Load(..))),
        _ => false,
    }
}

/// The statement that starts at a location. Inside a statement no fence can be written, and
/// none is needed there: one in front of it does the same, as it waits for the same stores.
/// `entering` tells which statements lead where.
fn statement_at(thread: &Thread, loc: Loc, entering: &BTreeSet<(Loc, Span)>) -> Option<Span> {
    let described = thread.location(loc).span;
    let mut leaving = thread.outgoing(loc).map(|(_, edge)| edge.span);
    let first = thread.outgoing(loc).next()?.1.span;
    if !described.is_none() && leaving.any(|span| span == described) {
        return Some(described);
    }
    if first.is_none() {
        // Without a text, every edge is a statement of its own.
        return thread.outgoing(loc).any(|(_, edge)| reads(edge)).then_some(first);
    }
    (!entering.contains(&(loc, first))).then_some(first)
}

/// Dearer than this is equally unwanted; sums of such prices stay far from the end of `u64`.
const DEAREST: u64 = 1 << 40;

/// The price once per thread, at the depth of the deepest of its places there.
fn price(
    members: &[(Placement, u32)],
    cost: u64,
    in_loop: u64,
    factor: &dyn Fn(ThreadId) -> Option<u64>,
) -> Option<u64> {
    let mut threads: BTreeMap<ThreadId, u32> = BTreeMap::new();
    for (placement, depth) in members {
        let known = threads.entry(placement.thread).or_default();
        *known = (*known).max(*depth);
    }
    let prices = threads.into_iter().map(|(thread, depth)| {
        let once = cost.saturating_mul(in_loop.saturating_pow(depth));
        factor(thread).map(|factor| once.saturating_mul(factor))
    });
    let sum = prices.collect::<Option<Vec<u64>>>()?.into_iter().fold(0, u64::saturating_add);
    Some(sum.clamp(1, DEAREST))
}

/// How many loops lie around each location: nested strongly connected components. A loop
/// without its head (its first location) may still go round: those are the inner loops.
/// Where loops cost nothing extra, nobody wants to know.
fn loop_depths(thread: &Thread, costs: &Costs) -> Vec<u32> {
    let mut depths = vec![0; thread.locs().count()];
    if costs.in_loop == 1 {
        return depths;
    }
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

/// The components of the locations that are alive.
fn components(thread: &Thread, alive: &[bool]) -> Vec<Vec<Loc>> {
    let live = |loc: Loc| alive[loc.index()];
    let numbers = thread.components(|edge| live(edge.from) && live(edge.to));
    let mut found: BTreeMap<usize, Vec<Loc>> = BTreeMap::new();
    for loc in thread.locs().filter(|loc| live(*loc)) {
        found.entry(numbers[loc.index()]).or_default().push(loc);
    }
    found.into_values().collect()
}

fn is_loop(thread: &Thread, component: &[Loc]) -> bool {
    let to_itself = |loc: &Loc| thread.outgoing(*loc).any(|(_, edge)| edge.to == *loc);
    component.len() > 1 || component.iter().any(to_itself)
}
