//! Fence sets and their application to a program.
//!
//! A *fence point* is a place where a fence may go: right after an edge (as one would write
//! it behind a statement) or at a location, before everything that leaves it (as one would
//! write it in front of one). Applying a set gives a new program; locations keep their labels,
//! so properties keep their meaning.
//!
//! A fence has no text, so its span is the empty one behind (or before) the statement. But for
//! that, the result is the automaton that a front end makes of a text with the fences written into
//! it. So edges of one statement that meet again (an access with a computed index) share the
//! fence behind them, and a statement that tries again and again (`await`) comes back behind
//! the fence in front of it.

use crate::{Cond, Edge, EdgeId, FailureKind, Fence, Loc, Op, Program, Span, Thread, ThreadId};
use std::collections::{BTreeSet, HashMap};

/// Where a fence goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Point {
    /// Between this edge and where it leads.
    After(EdgeId),
    /// Before everything that leaves this location; nothing if nothing leaves it. What leaves
    /// it and comes back within one statement need not pass again.
    At(Loc),
}

/// What is put there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Strength {
    /// A fence of this kind.
    Fence(Fence),
    /// The store itself becomes a locked exchange (only after an edge that stores).
    Exchange,
}

/// One fence of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Placement {
    /// The thread.
    pub thread: ThreadId,
    /// Where in the thread.
    pub point: Point,
    /// What is put there.
    pub strength: Strength,
}

/// A set of fences, in a fixed order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FenceSet {
    placements: BTreeSet<Placement>,
}

impl FenceSet {
    /// No fences.
    pub fn new() -> FenceSet {
        FenceSet::default()
    }

    /// Adds a fence; says whether it is new.
    pub fn insert(&mut self, placement: Placement) -> bool {
        self.placements.insert(placement)
    }

    /// All fences, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Placement> {
        self.placements.iter()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.placements.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.placements.is_empty()
    }

    /// The program with these fences in it. Properties and labels keep their meaning.
    ///
    /// ```
    /// # use program::*;
    /// # let mut program = Program::new("p", Source::default());
    /// # let x = program.add_variable(Variable::new("x", Span::NONE));
    /// # let mut thread = ThreadBuilder::new("P");
    /// # thread.step(thread.entry(), Op::Store(x, Expr::from(1)), Span::NONE);
    /// # program.threads.push(thread.finish()?);
    /// let mut fences = FenceSet::new();
    /// fences.insert(Placement {
    ///     thread: ThreadId::new(0),
    ///     point: Point::After(EdgeId::new(0)),
    ///     strength: Strength::Fence(Fence::Full),
    /// });
    /// let fenced = fences.apply(&program);
    /// assert_eq!(fenced.threads[0].edges()[1].op, Op::Fence(Fence::Full));
    /// # Ok::<(), Invalid>(())
    /// ```
    pub fn apply(&self, program: &Program) -> Program {
        self.apply_with_map(program).0
    }

    /// As [`FenceSet::apply`], and for every thread the new numbers of its old edges.
    pub fn apply_with_map(&self, program: &Program) -> (Program, Vec<Vec<EdgeId>>) {
        let mut fenced = program.clone();
        let mut maps = Vec::new();
        for id in program.thread_ids() {
            let mine: Vec<&Placement> = self.iter().filter(|p| p.thread == id).collect();
            let (thread, map) = insert(program.thread(id), &mine);
            fenced.threads[id.index()] = thread;
            maps.push(map);
        }
        (fenced, maps)
    }
}

impl Program {
    /// The places in the text where a fence is written, in order.
    pub fn written_fences(&self) -> BTreeSet<Span> {
        let edges = self.threads.iter().flat_map(Thread::edges);
        let fences = edges.filter(|edge| matches!(edge.op, Op::Fence(_)) && !edge.span.is_none());
        fences.map(|edge| edge.span).collect()
    }

    /// This program without the fence that is written at a place: in every thread, and in every
    /// copy that unrolling or inlining made, nothing is done there.
    pub fn without_fence(&self, place: Span) -> Program {
        self.without_steps(&|op, span| matches!(op, Op::Fence(_)) && span == place)
    }

    /// This program with nothing done where the steps would be that are named by what they do and where
    /// they are written.
    pub fn without_steps(&self, named: &dyn Fn(&Op, Span) -> bool) -> Program {
        let mut program = self.clone();
        let edges = program.threads.iter_mut().flat_map(|thread| &mut thread.edges);
        edges.filter(|edge| named(&edge.op, edge.span)).for_each(|edge| edge.op = Op::Skip);
        program
    }

    /// Whether some of it was not read, so that runs may leave what is known of it.
    pub fn has_limits(&self) -> bool {
        self.threads.iter().any(|thread| thread.locs().any(|loc| is_limit(thread, loc)))
    }

    /// This program as far as it was read: threads wait before what was not. Its runs are runs of this
    /// one, step by step.
    pub fn within_limits(&self) -> Program {
        let mut program = self.clone();
        for thread in &mut program.threads {
            let limits: BTreeSet<Loc> = thread.locs().filter(|loc| is_limit(thread, *loc)).collect();
            for edge in thread.edges.iter_mut().filter(|edge| limits.contains(&edge.to)) {
                edge.op = Op::Assume(Cond::FALSE);
            }
        }
        program
    }
}

fn is_limit(thread: &Thread, loc: Loc) -> bool {
    let failure = thread.location(loc).failure.as_ref();
    failure.is_some_and(|failure| matches!(failure.kind, FailureKind::Limit(_)))
}

/// Old locations keep their numbers; the places between a fence and what follows are new, and
/// stand at the end. The walk of [`crate::ThreadBuilder`] is not repeated, because properties refer
/// to locations by number.
fn insert(thread: &Thread, placements: &[&Placement]) -> (Thread, Vec<EdgeId>) {
    let mut locations = thread.locations.clone();
    let mut atomic = thread.atomic.clone();
    let mut edges: Vec<Edge> = thread.edges.clone();
    let mut fences: Vec<Edge> = Vec::new();
    let mut shared: HashMap<(Span, Loc, Loc, Fence), Loc> = HashMap::new();
    let entering = thread.entering();
    let mut fresh = |like: Loc, atomic: &mut Vec<bool>| {
        locations.push(Default::default());
        atomic.push(atomic[like.index()]);
        Loc::new(locations.len() - 1)
    };
    for placement in placements {
        match (placement.point, placement.strength) {
            (Point::After(at), Strength::Exchange) => {
                let edge = &mut edges[at.index()];
                if matches!(edge.op, Op::Store(..)) {
                    edge.op = Op::locked(vec![edge.op.clone()]);
                }
            }
            (Point::After(at), Strength::Fence(kind)) => {
                let start = thread.start_of(at, &entering);
                let edge = &mut edges[at.index()];
                let key = (edge.span, start, edge.to, kind);
                let known = shared.get(&key).copied().filter(|_| !edge.span.is_none());
                let between = known.unwrap_or_else(|| {
                    let between = fresh(edge.to, &mut atomic);
                    let (span, call) = (edge.span.behind(), edge.call.clone());
                    fences.push(Edge { from: between, to: edge.to, op: Op::Fence(kind), span, call });
                    between
                });
                shared.insert(key, between);
                edge.to = between;
            }
            // Behind an end or a failure, a fence would make it another place.
            (Point::At(loc), _) if thread.outgoing(loc).next().is_none() => {}
            (Point::At(loc), strength) => {
                let kind = if let Strength::Fence(kind) = strength { kind } else { Fence::Full };
                let after = fresh(loc, &mut atomic);
                // One that another fence was put behind has been led elsewhere.
                for back in thread.ways_back(loc).into_iter().map(EdgeId::index) {
                    edges[back].to = if edges[back].to == loc { after } else { edges[back].to };
                }
                for edge in edges.iter_mut().chain(&mut fences).filter(|edge| edge.from == loc) {
                    edge.from = after;
                }
                let next = thread.outgoing(loc).next().map(|(_, edge)| edge);
                let span = next.map_or(Span::NONE, |edge| edge.span.before());
                let call = next.and_then(|edge| edge.call.clone());
                fences.push(Edge { from: loc, to: after, op: Op::Fence(kind), span, call });
            }
        }
    }
    let old = edges.len();
    edges.extend(fences);
    let mut order: Vec<usize> = (0..edges.len()).collect();
    order.sort_by_key(|at| edges[*at].from);
    let mut map = vec![EdgeId::new(0); old];
    for (new, at) in order.iter().enumerate().filter(|(_, at)| **at < old) {
        map[*at] = EdgeId::new(new);
    }
    let edges = order.iter().map(|at| edges[*at].clone()).collect();
    (thread.with(locations, atomic, edges), map)
}

impl Thread {
    /// The edges that lead to each location.
    pub(crate) fn entering(&self) -> Vec<Vec<EdgeId>> {
        let mut entering = vec![Vec::new(); self.locations.len()];
        for (at, edge) in self.edges.iter().enumerate() {
            entering[edge.to.index()].push(EdgeId::new(at));
        }
        entering
    }

    /// Where the statement of an edge starts, as far back as there is only one way; it tells
    /// the ways through one statement from its copies in an unrolled loop.
    fn start_of(&self, edge: EdgeId, entering: &[Vec<EdgeId>]) -> Loc {
        let Edge { from: mut start, span, .. } = *self.edge(edge);
        for _ in self.locs() {
            let [only] = entering[start.index()][..] else { break };
            let before = self.edge(only);
            if before.span != span || matches!(before.op, Op::Store(..)) {
                break;
            }
            start = before.from;
        }
        start
    }

    /// Edges that lead back to a location without leaving the statement that starts there.
    fn ways_back(&self, loc: Loc) -> Vec<EdgeId> {
        let span = self.outgoing(loc).next().map_or(Span::NONE, |(_, edge)| edge.span);
        let (mut seen, mut stack, mut found) = (BTreeSet::new(), vec![loc], Vec::new());
        while let Some(at) = stack.pop().filter(|_| !span.is_none()) {
            for (id, edge) in self.outgoing(at).filter(|(_, edge)| edge.span == span) {
                if edge.to == loc {
                    found.push(id);
                } else if seen.insert(edge.to) {
                    stack.push(edge.to);
                }
            }
        }
        found
    }

    /// This thread with other locations and edges, the latter sorted by their source.
    pub(crate) fn with(
        &self,
        locations: Vec<crate::Location>,
        atomic: Vec<bool>,
        edges: Vec<Edge>,
    ) -> Thread {
        let start = |loc| edges.partition_point(|edge| edge.from.index() < loc) as u32;
        let first = (0..=locations.len()).map(start).collect();
        Thread { locations, atomic, edges, first, ..self.clone() }
    }
}
