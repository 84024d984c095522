//! The delay extension of lazy TSO [004, sec. 3.1 and appendix A]: a thread delays stores
//! along one path, in registers, and so does under SC what a store buffer does under TSO.
//!
//! The path `e1 … en` leads from a store to a load and waits for no buffer on the way. Its copy
//! starts where `e1` does and has a new place `c(i)` behind every copied edge. There a store
//! is an assignment to a new register, and a load takes the register of the last store to its
//! variable, if there is one. Behind `c(n)` the delayed stores are made, oldest first, and
//! the thread is where `en` leads. That is all of the *practical* version: the program can do
//! what it could before, and more.
//!
//! The *complete* version takes `e1` away, so that this path is never found again, and adds what
//! that would lose: from `c(i)` every way that leaves the path (make the stores, then take the
//! other edge), and from `c(1)` and behind every load a way on which the first store is
//! made and waited for, and the others follow it into the buffer. (The thesis leads the latter
//! back to where the load *starts*; it has been done by then, so we lead it to where it *ends*.)
//!
//! A copy of a place counts as that place in properties. Both versions have the same
//! violations under TSO as the program they come from.

use crate::rewrite::Rewriting;
use crate::{Edge, EdgeId, Expr, Fence, Loc, Op, Program, RegId, Span, Thread, ThreadId, VarId};
use std::fmt;

/// No thread is extended beyond this many edges.
const MOST_EDGES: usize = 1 << 18;

/// A path along which a thread delays its stores.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Delay {
    /// The thread.
    pub thread: ThreadId,
    /// The edges, from the first delayed store to the last load.
    pub path: Vec<EdgeId>,
    /// Whether the first store is taken away (the complete version).
    pub complete: bool,
}

/// What an edge of an extended thread does, in terms of the thread before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// What this edge does.
    Same(EdgeId),
    /// What this edge does, but a store is delayed.
    KeptBack(EdgeId),
    /// It makes a store that was delayed.
    Made(VarId),
    /// It waits.
    Nothing,
}

/// An extended program.
#[derive(Clone, Debug)]
pub struct Delayed {
    /// The program.
    pub program: Program,
    /// What every edge of the extended thread does.
    pub origins: Vec<Origin>,
    /// Where every edge of the thread went; the store that was taken away is gone.
    pub edges: Vec<Option<EdgeId>>,
}

/// Why a program cannot be extended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoDelay;

impl fmt::Display for NoDelay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "stores cannot be delayed along this path")
    }
}

impl std::error::Error for NoDelay {}

impl Delay {
    /// The program with the extension. Old locations and registers keep their numbers.
    pub fn apply(&self, program: &Program) -> Result<Delayed, NoDelay> {
        let thread = program.threads.get(self.thread.index()).ok_or(NoDelay)?;
        self.fits(thread)?;
        let mut extension = Extension::of(thread);
        extension.copy_path(self)?;
        if self.complete {
            extension.make_up_for_first(self)?;
        }
        Ok(extension.finish(program, self))
    }

    /// Whether the path is one from a store to a load that waits for no buffer.
    fn fits(&self, thread: &Thread) -> Result<(), NoDelay> {
        let known = |id: &EdgeId| id.index() < thread.edges().len();
        let [first, .., last] = self.path[..] else { return Err(NoDelay) };
        if !self.path.iter().all(known) {
            return Err(NoDelay);
        }
        let follow = |pair: &[EdgeId]| thread.edge(pair[0]).to == thread.edge(pair[1]).from;
        let passes = |id: &EdgeId| !thread.edge(*id).op.waits() && !thread.in_atomic(thread.edge(*id).from);
        let fits = matches!(thread.edge(first).op, Op::Store(..))
            && loads(&thread.edge(last).op)
            && self.path.windows(2).all(follow)
            && self.path.iter().all(passes);
        if fits { Ok(()) } else { Err(NoDelay) }
    }
}

fn loads(op: &Op) -> bool {
    op.parts().iter().any(|part| matches!(part, Op::Load(..)))
}

/// A thread that grows.
struct Extension<'t> {
    /// The old thread and what is added; old locations come first.
    new: Rewriting<'t, Origin>,
    /// The copies of the places on the path, and how many stores are delayed there.
    copies: Vec<(Loc, usize)>,
    /// The delayed stores, oldest first.
    kept: Vec<(VarId, RegId)>,
}

impl<'t> Extension<'t> {
    fn of(thread: &'t Thread) -> Extension<'t> {
        let mut new = Rewriting::of(thread);
        for loc in thread.locs() {
            new.copy(loc);
        }
        for (at, edge) in thread.edges().iter().enumerate() {
            new.edge(edge.clone(), Origin::Same(EdgeId::new(at)));
        }
        Extension { new, copies: Vec::new(), kept: Vec::new() }
    }

    fn old(&self, edge: EdgeId) -> &'t Edge {
        self.new.old().edge(edge)
    }

    fn add(&mut self, from: Loc, op: Op, to: Loc, span: Span, origin: Origin) -> Result<(), NoDelay> {
        if self.new.edges().len() >= MOST_EDGES {
            return Err(NoDelay);
        }
        self.new.edge(Edge { from, to, op, span, call: None }, origin);
        Ok(())
    }

    fn copy_path(&mut self, delay: &Delay) -> Result<(), NoDelay> {
        let mut at = self.old(delay.path[0]).from;
        let mut end = at;
        for id in &delay.path {
            let edge = self.old(*id).clone();
            let op = self.kept_back(&edge.op);
            let next = self.new.fresh(edge.to);
            self.add(at, op, next, edge.span, Origin::KeptBack(*id))?;
            (at, end) = (next, edge.to);
            self.copies.push((at, self.kept.len()));
        }
        self.make(at, 0..self.kept.len(), end, end)
    }

    /// What an operation becomes on the path.
    fn kept_back(&mut self, op: &Op) -> Op {
        match op {
            Op::Store(variable, value) => {
                let register = self.new.register(format!("kept_back{}", self.new.registers()));
                self.kept.push((*variable, register));
                Op::Assign(register, value.clone())
            }
            Op::Load(into, variable) => match self.kept.iter().rev().find(|(v, _)| v == variable) {
                Some((_, register)) => Op::Assign(*into, Expr::Leaf(*register)),
                None => op.clone(),
            },
            Op::Block { locked, parts } => {
                let parts = parts.iter().map(|part| self.kept_back(part)).collect();
                Op::Block { locked: *locked, parts }
            }
            other => other.clone(),
        }
    }

    /// Makes some of the delayed stores, from one place to another; on the way the thread
    /// stands where `like` is.
    fn make(&mut self, from: Loc, stores: std::ops::Range<usize>, to: Loc, like: Loc) -> Result<(), NoDelay> {
        let mut at = from;
        if stores.is_empty() {
            return self.add(from, Op::Skip, to, Span::NONE, Origin::Nothing);
        }
        for store in stores.clone() {
            let next = if store + 1 == stores.end { to } else { self.new.fresh(like) };
            let (variable, register) = self.kept[store];
            let op = Op::Store(variable, Expr::Leaf(register));
            self.add(at, op, next, Span::NONE, Origin::Made(variable))?;
            at = next;
        }
        Ok(())
    }

    /// What the thread can do without the first edge of the path.
    fn make_up_for_first(&mut self, delay: &Delay) -> Result<(), NoDelay> {
        for (position, pair) in delay.path.windows(2).enumerate() {
            let (copy, kept) = self.copies[position];
            let here = self.old(pair[1]).from;
            let others = self.new.old().outgoing(here).filter(|(id, _)| *id != pair[1]);
            for (id, edge) in others.map(|(id, edge)| (id, edge.clone())).collect::<Vec<_>>() {
                let leaving = self.new.fresh(here);
                self.make(copy, 0..kept, leaving, here)?;
                self.add(leaving, edge.op, edge.to, edge.span, Origin::Same(id))?;
            }
            if position == 0 || loads(&self.old(pair[0]).op) {
                let (waiting, rest) = (self.new.fresh(here), self.new.fresh(here));
                self.make(copy, 0..1, waiting, here)?;
                self.add(waiting, Op::Fence(Fence::Full), rest, Span::NONE, Origin::Nothing)?;
                self.make(rest, 1..kept, here, here)?;
            }
        }
        let (first, start) = (delay.path[0], self.old(delay.path[0]).from);
        self.new.retain(|(edge, origin)| *origin != Origin::Same(first) || edge.from != start);
        Ok(())
    }

    fn finish(self, program: &Program, delay: &Delay) -> Delayed {
        let old = self.new.old();
        let new = self.new.finish();
        let mut edges = vec![None; old.edges().len()];
        for (at, (edge, origin)) in new.thread.edges().iter().zip(&new.origins).enumerate() {
            if let Origin::Same(id) = origin
                && edge.from == old.edge(*id).from
            {
                edges[id.index()] = Some(EdgeId::new(at));
            }
        }
        let program = program.with_thread(delay.thread, new.thread, &new.stands_for);
        Delayed { program, origins: new.origins, edges }
    }
}
