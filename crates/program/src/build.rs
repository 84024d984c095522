//! Building threads.
//!
//! Front ends walk a statement list with a current location and want to say "this place is
//! that place" after the fact (a `goto`, the end of a loop body). [`ThreadBuilder::merge`]
//! records that in a union-find; [`ThreadBuilder::finish`] then drops what cannot be
//! reached, numbers locations in the order a walk from the entry meets them, and checks
//! the discipline of atomic sections. The numbering depends on the automaton only, so two
//! texts of the same program give the same thread.

use crate::{CallSite, Edge, Failure, Invalid, Loc, Location, Op, RegId, Span, Thread};
use std::collections::HashSet;
use std::sync::Arc;

/// Collects locations and edges of one thread.
#[derive(Debug)]
pub struct ThreadBuilder {
    name: String,
    registers: Vec<String>,
    locations: Vec<Location>,
    edges: Vec<Edge>,
    parent: Vec<Loc>,
    /// Whether another location was merged into this one.
    joined: Vec<bool>,
    /// Locations, each with the one whose labels count for it too.
    within: Vec<(Loc, Loc)>,
    /// The call that new edges stand in.
    pub call: Option<Arc<CallSite>>,
}

impl ThreadBuilder {
    /// A thread with only its entry location.
    pub fn new(name: impl Into<String>) -> ThreadBuilder {
        let mut builder = ThreadBuilder {
            name: name.into(),
            registers: Vec::new(),
            locations: Vec::new(),
            edges: Vec::new(),
            parent: Vec::new(),
            joined: Vec::new(),
            within: Vec::new(),
            call: None,
        };
        builder.location(Span::NONE);
        builder
    }

    /// Where the thread starts.
    pub fn entry(&self) -> Loc {
        Loc::new(0)
    }

    /// A new register; the caller sees to it that names are unique.
    pub fn register(&mut self, name: impl Into<String>) -> RegId {
        self.registers.push(name.into());
        RegId::new(self.registers.len() - 1)
    }

    /// A new location, where the statement of this span starts.
    pub fn location(&mut self, span: Span) -> Loc {
        let loc = Loc::new(self.locations.len());
        self.locations.push(Location { span, ..Location::default() });
        self.parent.push(loc);
        self.joined.push(false);
        loc
    }

    /// Adds an edge.
    pub fn edge(&mut self, from: Loc, op: Op, to: Loc, span: Span) {
        self.edges.push(Edge { from, to, op, span, call: self.call.clone() });
    }

    /// Adds an edge to a new location and returns that.
    pub fn step(&mut self, from: Loc, op: Op, span: Span) -> Loc {
        let to = self.location(Span::NONE);
        self.edge(from, op, to, span);
        to
    }

    /// Adds these operations, one after the other, from one location to another.
    pub fn way(&mut self, from: Loc, ops: impl IntoIterator<Item = Op>, to: Loc, span: Span) {
        let mut here = from;
        let mut ops = ops.into_iter().peekable();
        while let Some(op) = ops.next() {
            let next = if ops.peek().is_some() { self.location(Span::NONE) } else { to };
            self.edge(here, op, next, span);
            here = next;
        }
    }

    /// Says which statement starts at a location, if nothing was said before.
    pub fn describe(&mut self, loc: Loc, span: Span) {
        let at = self.find(loc).index();
        if self.locations[at].span.is_none() {
            self.locations[at].span = span;
        }
    }

    /// Names a location.
    pub fn label(&mut self, loc: Loc, name: impl Into<String>) {
        let at = self.find(loc).index();
        self.locations[at].labels.push(name.into());
    }

    /// Makes a location part of what the labels of another one name: a step between them is not seen.
    pub fn stays(&mut self, at: Loc, with: Loc) {
        self.within.push((at, with));
    }

    /// Makes standing at a location a violation.
    pub fn fail(&mut self, loc: Loc, failure: Failure) {
        let at = self.find(loc).index();
        self.locations[at].failure = Some(failure);
    }

    /// Makes two locations one. Where they already are one (an empty infinite loop), a `Skip`
    /// from the place to itself is added, so that it does not look like the end of the thread.
    pub fn merge(&mut self, a: Loc, b: Loc, span: Span) {
        let (a, b) = (self.find(a), self.find(b));
        if a == b {
            self.edge(a, Op::Skip, a, span);
            return;
        }
        let (kept, gone) = if a < b { (a, b) } else { (b, a) };
        self.parent[gone.index()] = kept;
        self.joined[kept.index()] = true;
        let gone = std::mem::take(&mut self.locations[gone.index()]);
        let kept = &mut self.locations[kept.index()];
        kept.labels.extend(gone.labels);
        kept.failure = kept.failure.take().or(gone.failure);
        if kept.span.is_none() {
            kept.span = gone.span;
        }
    }

    /// How many locations and edges there are so far, to bound what input can make us build.
    pub fn size(&self) -> usize {
        self.locations.len() + self.edges.len()
    }

    /// Marks where a branch is about to be built, for [`ThreadBuilder::splice`].
    pub fn mark(&self) -> usize {
        self.edges.len()
    }

    /// Lets the branch that starts at `start`, built since `mark`, leave directly from `from`:
    /// its first steps become steps of `from`. Where something leads back to `start`, that
    /// would let the way back choose again, so a `Skip` leads there instead.
    pub fn splice(&mut self, from: Loc, start: Loc, mark: usize, span: Span) {
        let at = start.index();
        let own = self.find(start) == start && !self.joined[at];
        let plain = self.locations[at].labels.is_empty() && self.locations[at].failure.is_none();
        let branch = &mut self.edges[mark..];
        let entered = branch.iter().any(|edge| edge.to == start);
        let leaves = branch.iter().any(|edge| edge.from == start);
        if own && plain && leaves && !entered {
            branch.iter_mut().filter(|edge| edge.from == start).for_each(|edge| edge.from = from);
        } else {
            self.edge(from, Op::Skip, start, span);
        }
    }

    fn find(&mut self, mut loc: Loc) -> Loc {
        while self.parent[loc.index()] != loc {
            let up = self.parent[self.parent[loc.index()].index()];
            self.parent[loc.index()] = up;
            loc = up;
        }
        loc
    }

    /// The finished thread.
    pub fn finish(mut self) -> Result<Thread, Invalid> {
        for at in 0..self.edges.len() {
            let (from, to) = (self.edges[at].from, self.edges[at].to);
            (self.edges[at].from, self.edges[at].to) = (self.find(from), self.find(to));
        }
        for (at, with) in std::mem::take(&mut self.within) {
            let (at, with) = (self.find(at).index(), self.find(with).index());
            let labels = self.locations[with].labels.clone();
            self.locations[at].labels.extend(labels);
        }
        let thread = number(self);
        check_failures(&thread)?;
        mark_atomic(thread)
    }
}

/// Keeps what a walk from the entry or from a labelled location meets, in that order.
fn number(mut builder: ThreadBuilder) -> Thread {
    let count = builder.locations.len();
    let mut leaving = vec![Vec::new(); count];
    for (at, edge) in builder.edges.iter().enumerate() {
        leaving[edge.from.index()].push(at);
    }
    let entry = builder.find(Loc::new(0));
    let labelled = (0..count).filter(|&at| !builder.locations[at].labels.is_empty());
    let mut renamed = vec![None; count];
    let (mut order, mut kept) = (Vec::new(), Vec::<usize>::new());
    for root in std::iter::once(entry.index()).chain(labelled) {
        let mut stack = vec![root];
        while let Some(at) = stack.pop() {
            if renamed[at].is_some() {
                continue;
            }
            renamed[at] = Some(Loc::new(order.len()));
            order.push(at);
            kept.extend(&leaving[at]);
            stack.extend(leaving[at].iter().rev().map(|&edge| builder.edges[edge].to.index()));
        }
    }
    let rename = |loc: Loc| renamed[loc.index()].expect("the walk follows every edge");
    let mut first = vec![0u32; order.len() + 1];
    let edges: Vec<Edge> = kept
        .iter()
        .map(|&at| {
            let edge: Edge = builder.edges[at].clone();
            Edge { from: rename(edge.from), to: rename(edge.to), ..edge }
        })
        .collect();
    for edge in &edges {
        first[edge.from.index() + 1] += 1;
    }
    for at in 1..first.len() {
        first[at] += first[at - 1];
    }
    Thread {
        name: builder.name,
        registers: builder.registers,
        atomic: vec![false; order.len()],
        locations: order.iter().map(|&at| std::mem::take(&mut builder.locations[at])).collect(),
        edges,
        first,
    }
}

fn check_failures(thread: &Thread) -> Result<(), Invalid> {
    for loc in thread.locs() {
        if thread.location(loc).failure.is_some()
            && let Some((_, edge)) = thread.outgoing(loc).next()
        {
            return Err(Invalid::new(edge.span, "a step cannot start where the thread has failed"));
        }
    }
    Ok(())
}

/// Follows `Lock` and `Unlock` along all edges; a location must always be in or always out.
fn mark_atomic(mut thread: Thread) -> Result<Thread, Invalid> {
    let mut inside: Vec<Option<bool>> = vec![None; thread.locations.len()];
    // Labelled locations that nothing leads to come after the entry.
    for root in thread.locs() {
        if inside[root.index()].is_none() {
            let start = root != thread.entry() && starts_inside(&thread, root, &inside);
            inside[root.index()] = Some(start);
            follow_atomic(&thread, root, &mut inside)?;
        }
    }
    thread.atomic = inside.into_iter().map(|known| known == Some(true)).collect();
    Ok(thread)
}

/// Whether a location that nothing leads to lies in an atomic section, to judge by what it
/// leads to first: an end of a section, or a place known to be in one.
fn starts_inside(thread: &Thread, root: Loc, inside: &[Option<bool>]) -> bool {
    let mut seen = HashSet::from([root]);
    let mut stack = vec![root];
    while let Some(loc) = stack.pop() {
        for (_, edge) in thread.outgoing(loc) {
            match (&edge.op, inside[edge.to.index()]) {
                (Op::Unlock, _) => return true,
                (Op::Lock, _) => return false,
                (_, Some(known)) => return known,
                (_, None) if seen.insert(edge.to) => stack.push(edge.to),
                _ => {}
            }
        }
    }
    false
}

/// Marks everything that a marked location leads to.
fn follow_atomic(thread: &Thread, root: Loc, inside: &mut [Option<bool>]) -> Result<(), Invalid> {
    let mut stack = vec![root];
    while let Some(loc) = stack.pop() {
        let here = inside[loc.index()] == Some(true);
        for (_, edge) in thread.outgoing(loc) {
            let next = match (&edge.op, here) {
                (Op::Lock, true) => return Err(Invalid::new(edge.span, "atomic sections do not nest")),
                (Op::Unlock, false) => {
                    return Err(Invalid::new(edge.span, "this ends an atomic section that was not started"));
                }
                (Op::Lock, false) => true,
                (Op::Unlock, true) => false,
                (_, here) => here,
            };
            match inside[edge.to.index()] {
                None => {
                    inside[edge.to.index()] = Some(next);
                    stack.push(edge.to);
                }
                Some(known) if known == next => {}
                Some(_) => {
                    return Err(Invalid::new(edge.span, "this jumps into or out of an atomic section"));
                }
            }
        }
    }
    Ok(())
}
