//! Loops unrolled [004, Theorem 9]: the program whose threads go back at most so often.
//!
//! A thread is copied once for every time that it may go back. An edge that goes back (to a location that is still being
//! visited, depth first) leads into the next copy, all others stay in theirs, so nothing goes round any more. In the last
//! copy an edge that goes back can never be taken; it stays all the same, for a location that nothing leaves would be an end. Every
//! run of the new program is one of the old, and every run of the old one in which no thread goes back more often
//! is one of the new.

use crate::rewrite::Rewriting;
use crate::{Cond, Edge, EdgeId, Loc, Op, Program, Thread};
use std::collections::HashMap;

/// No thread gets more locations than this.
const MOST_LOCATIONS: usize = 1 << 14;

/// A program without loops.
pub struct UnrolledProgram {
    /// The program. Questions and hints are left out.
    pub program: Program,
    /// By thread: the edge that each edge stands for; none for those that are never taken.
    pub edges: Vec<Vec<Option<EdgeId>>>,
    /// By thread: the location that each location stands for.
    pub locations: Vec<Vec<Option<Loc>>>,
}

impl Program {
    /// The program whose threads go back at most so often; none if it would be too large.
    pub fn unrolled(&self, times: usize) -> Option<UnrolledProgram> {
        let mut unrolled =
            UnrolledProgram { program: self.clone(), edges: Vec::new(), locations: Vec::new() };
        for (id, thread) in self.thread_ids().zip(&self.threads) {
            if thread.locs().count().saturating_mul(times.saturating_add(1)) > MOST_LOCATIONS {
                return None;
            }
            let mut unrolling = Unrolling::new(thread);
            unrolling.walk(times);
            let new = unrolling.thread.finish();
            unrolled.program = unrolled.program.with_thread(id, new.thread, &new.stands_for);
            unrolled.edges.push(new.origins);
            unrolled.locations.push(new.stands_for);
        }
        Some(unrolled)
    }
}

/// A location, and how often its thread has gone back.
type Copied = (Loc, usize);

struct Unrolling<'t> {
    thread: Rewriting<'t, Option<EdgeId>>,
    goes_back: Vec<bool>,
    copies: HashMap<Copied, Loc>,
    /// Copies whose edges are not yet written.
    waiting: Vec<Copied>,
}

impl<'t> Unrolling<'t> {
    fn new(thread: &'t Thread) -> Unrolling<'t> {
        let goes_back = edges_that_go_back(thread);
        Unrolling { thread: Rewriting::of(thread), goes_back, copies: HashMap::new(), waiting: Vec::new() }
    }

    fn walk(&mut self, times: usize) {
        let old = self.thread.old();
        self.copy((old.entry(), 0));
        while let Some((loc, back)) = self.waiting.pop() {
            let from = self.copies[&(loc, back)];
            for (id, edge) in old.outgoing(loc) {
                let next = back + usize::from(self.goes_back[id.index()]);
                if next > times {
                    let to = self.thread.fresh(edge.to);
                    let op = Op::Assume(Cond::Const(false));
                    self.thread.edge(Edge { from, to, op, ..edge.clone() }, None);
                } else {
                    let to = self.copy((edge.to, next));
                    self.thread.edge(Edge { from, to, ..edge.clone() }, Some(id));
                }
            }
        }
    }

    /// The copy of a location; its edges are written later.
    fn copy(&mut self, copied: Copied) -> Loc {
        if let Some(known) = self.copies.get(&copied) {
            return *known;
        }
        let loc = self.thread.copy(copied.0);
        self.copies.insert(copied, loc);
        self.waiting.push(copied);
        loc
    }
}

/// By edge: whether it leads to a location that is being visited, depth first from the entry. Without these edges
/// nothing goes round.
fn edges_that_go_back(thread: &Thread) -> Vec<bool> {
    let count = thread.locs().count();
    let (mut goes_back, mut entered, mut left) =
        (vec![false; thread.edges().len()], vec![false; count], vec![false; count]);
    entered[thread.entry().index()] = true;
    let mut stack = vec![(thread.entry(), 0)];
    while let Some((loc, edge)) = stack.pop() {
        let Some((id, out)) = thread.outgoing(loc).nth(edge) else {
            left[loc.index()] = true;
            continue;
        };
        stack.push((loc, edge + 1));
        if !entered[out.to.index()] {
            entered[out.to.index()] = true;
            stack.push((out.to, 0));
        } else if !left[out.to.index()] {
            goes_back[id.index()] = true;
        }
    }
    goes_back
}
