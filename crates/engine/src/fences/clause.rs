//! Which fences would have made a violating run impossible.
//!
//! A full fence behind an edge is harmless to a run if, each time the run takes the edge, the
//! thread's buffer is empty at some moment before the thread's next step: there the fence
//! could be passed. Otherwise the run is impossible with it. A store fence is harmless if no
//! store issued behind it drains before one issued in front of it. Turning a store into a
//! locked exchange is harmless if the buffer was empty and the store drained at once.
//!
//! Where a run ends before the thread's next step, the fence need not be passed, unless the
//! violation needs the thread to stand behind it; we do not ask, and count the fence as
//! helpful. Too many candidates in a clause never make the result worse: the clause still
//! holds of every solution, and a fence that did not help after all shows in the next run.
//!
//! A witness that a program is not robust survives every fence that its attacker does not meet
//! between the store and the load: all other threads, and the attacker before, have empty buffers
//! at every step, so they pass any fence. Hence every set of fences that makes the program robust
//! has one on the delayed path.

use super::candidates::FencePoint;
use evidence::{Checked, Verdict, Witness};
use machine::{Configuration, Event, Trace};
use program::{EdgeId, Fence, Loc, Op, Placement, Point, Program, Strength, ThreadId, VarId};
use std::collections::BTreeSet;

/// The candidates, other than those chosen, that could make the run of a (fenced) program
/// impossible; `edges` are, for every thread, the numbers that its original edges have there.
pub(super) fn clause(
    program: &Program,
    checked: &Checked,
    edges: &[Vec<EdgeId>],
    candidates: &[FencePoint],
    chosen: &BTreeSet<usize>,
) -> BTreeSet<usize> {
    let stops: Box<dyn Fn(&Placement) -> bool> = match checked.verdict() {
        Verdict::Unsafe(trace) => {
            let violating = Violating { program, trace, run: checked.run(), edges };
            Box::new(move |placement| violating.is_stopped_by(placement))
        }
        Verdict::NotRobust(witness) => {
            let path = DelayedPath::of(program, witness);
            Box::new(move |placement| path.meets(placement, edges))
        }
        _ => Box::new(|_| false),
    };
    let helps = |at: &usize| !chosen.contains(at) && candidates[*at].placements.iter().any(&*stops);
    (0..candidates.len()).filter(helps).collect()
}

/// A violating run of a (fenced) program.
struct Violating<'a> {
    program: &'a Program,
    trace: &'a Trace,
    run: &'a [Configuration],
    edges: &'a [Vec<EdgeId>],
}

impl Violating<'_> {
    fn is_stopped_by(&self, placement: &Placement) -> bool {
        match (placement.point, placement.strength) {
            (Point::After(edge), strength) => {
                let edge = self.edges[placement.thread.index()][edge.index()];
                let taken = Event::Step { thread: placement.thread, edge };
                let mut times = (0..self.trace.steps.len()).filter(|at| self.trace.steps[*at].event == taken);
                times.any(|at| self.stopped_after(at, placement.thread, strength))
            }
            (Point::At(loc), strength) => {
                let leaves = |at: &usize| match self.trace.steps[*at].event {
                    Event::Step { thread, edge } => {
                        thread == placement.thread && self.program.thread(thread).edge(edge).from == loc
                    }
                    Event::Drain { .. } => false,
                };
                let mut times = (0..self.trace.steps.len()).filter(leaves);
                times.any(|at| self.stopped_before(at, placement.thread, strength))
            }
        }
    }

    /// Whether a fence right after the step `at` of a thread could not be passed.
    fn stopped_after(&self, at: usize, thread: ThreadId, strength: Strength) -> bool {
        match strength {
            Strength::Fence(Fence::Full) => {
                !self.drained_within(thread, at + 1, self.next_step(thread, at + 1))
            }
            Strength::Fence(Fence::Store) => self.overtaken(thread, at + 1),
            Strength::Exchange => {
                let at_once =
                    self.trace.steps.get(at + 1).is_some_and(
                        |next| matches!(next.event, Event::Drain { thread: t, .. } if t == thread),
                    );
                !(self.is_drained(thread, at) && at_once)
            }
        }
    }

    /// Whether a fence right before the step `at` of a thread could not be passed.
    fn stopped_before(&self, at: usize, thread: ThreadId, strength: Strength) -> bool {
        let own = |step: &usize| matches!(self.trace.steps[*step].event, Event::Step { thread: t, .. } if t == thread);
        let arrived = (0..at).rev().find(own).map_or(0, |step| step + 1);
        match strength {
            Strength::Fence(Fence::Store) => self.overtaken(thread, arrived),
            _ => !self.drained_within(thread, arrived, at),
        }
    }

    /// The position of the thread's next step from here on, or the end of the run.
    fn next_step(&self, thread: ThreadId, from: usize) -> usize {
        let own = |step: &usize| matches!(self.trace.steps[*step].event, Event::Step { thread: t, .. } if t == thread);
        (from..self.trace.steps.len()).find(own).unwrap_or(self.trace.steps.len())
    }

    fn is_drained(&self, thread: ThreadId, at: usize) -> bool {
        self.run[at].local(thread).buffer.is_empty()
    }

    fn drained_within(&self, thread: ThreadId, from: usize, to: usize) -> bool {
        (from..=to).any(|at| self.is_drained(thread, at))
    }

    /// Whether, from this position on, a store issued later drains before one that is pending.
    fn overtaken(&self, thread: ThreadId, from: usize) -> bool {
        let mut before: Vec<VarId> = self.run[from].local(thread).stores().collect();
        let mut behind: Vec<VarId> = Vec::new();
        for step in &self.trace.steps[from..] {
            match step.event {
                Event::Drain { thread: t, variable } if t == thread => {
                    if let Some(at) = before.iter().position(|v| *v == variable) {
                        before.remove(at);
                    } else if let Some(at) = behind.iter().position(|v| *v == variable) {
                        if !before.is_empty() {
                            return true;
                        }
                        behind.remove(at);
                    }
                }
                Event::Step { thread: t, edge } if t == thread => {
                    if let Op::Store(variable, _) = &self.program.thread(t).edge(edge).op {
                        behind.push(*variable);
                    }
                }
                _ => {}
            }
        }
        false
    }
}

/// What the attacker of a witness passes with the store in its buffer.
struct DelayedPath {
    thread: ThreadId,
    /// The edges taken, from the store on, without the load.
    edges: BTreeSet<EdgeId>,
    /// The locations between the store and the load.
    locs: BTreeSet<Loc>,
}

impl DelayedPath {
    fn of(program: &Program, witness: &Witness) -> DelayedPath {
        let thread = witness.steps[witness.store].event.thread();
        let mut path = DelayedPath { thread, edges: BTreeSet::new(), locs: BTreeSet::new() };
        for at in witness.store..=witness.load {
            let Event::Step { thread: stepping, edge } = witness.steps[at].event else { continue };
            if stepping != thread {
                continue;
            }
            if at > witness.store {
                path.locs.insert(program.thread(thread).edge(edge).from);
            }
            if at < witness.load {
                path.edges.insert(edge);
            }
        }
        path
    }

    /// Whether a fence would stand in the way; `edges` are the numbers of the original edges.
    fn meets(&self, placement: &Placement, edges: &[Vec<EdgeId>]) -> bool {
        placement.thread == self.thread
            && match placement.point {
                Point::After(edge) => self.edges.contains(&edges[self.thread.index()][edge.index()]),
                Point::At(loc) => self.locs.contains(&loc),
            }
    }
}
