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

use super::candidates::FencePoint;
use machine::{Configuration, Event, Trace};
use program::{EdgeId, Fence, Op, Placement, Point, Program, Strength, ThreadId, VarId};
use std::collections::BTreeSet;

/// A violating run of a (fenced) program.
pub(super) struct Violating<'a> {
    pub(super) program: &'a Program,
    pub(super) trace: &'a Trace,
    pub(super) run: &'a [Configuration],
    /// For every thread, the numbers its original edges have in the fenced program.
    pub(super) edges: &'a [Vec<EdgeId>],
}

impl Violating<'_> {
    /// The candidates that could make this run impossible.
    pub(super) fn clause(&self, candidates: &[FencePoint], chosen: &BTreeSet<usize>) -> BTreeSet<usize> {
        let helps = |at: &usize| candidates[*at].placements.iter().any(|p| self.is_stopped_by(p));
        (0..candidates.len()).filter(|at| !chosen.contains(at)).filter(helps).collect()
    }

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
        self.run[at].local(thread).drained()
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
