//! Which fences would have made a run impossible: a violation, or a witness against robustness.
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
use machine::{Account, Event};
use program::{EdgeId, Fence, Placement, Point, Program, Strength, ThreadId};
use std::collections::BTreeSet;

/// A run of a (fenced) program that should not be.
pub(super) struct Violating<'a> {
    program: &'a Program,
    account: &'a Account,
    /// For every thread, the numbers its original edges have in the fenced program.
    edges: &'a [Vec<EdgeId>],
    /// For every thread, the steps that issue its buffered stores, each with whether a store that
    /// is issued behind it drains before it or before one in front of it.
    overtaken: Vec<Vec<(usize, bool)>>,
}

/// How a fence stands in the way of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Obstacle {
    /// Not at all.
    None,
    /// Its thread does not pass it, and takes no step of the run that is behind it.
    Ends,
    /// Its thread could not take its next step.
    Stops,
}

impl<'a> Violating<'a> {
    pub(super) fn new(program: &'a Program, account: &'a Account, edges: &'a [Vec<EdgeId>]) -> Violating<'a> {
        Violating { program, account, edges, overtaken: overtaken(program, account) }
    }

    /// The candidates that could make this run impossible.
    pub(super) fn clause(&self, candidates: &[FencePoint], chosen: &BTreeSet<usize>) -> BTreeSet<usize> {
        let helps = |at: &usize| {
            candidates[*at].placements.iter().any(|placement| self.obstacle(placement) != Obstacle::None)
        };
        (0..candidates.len()).filter(|at| !chosen.contains(at)).filter(helps).collect()
    }

    /// How a fence stands in the way.
    pub(super) fn obstacle(&self, placement: &Placement) -> Obstacle {
        let thread = placement.thread;
        let steps = self.account.steps().iter().enumerate();
        let own = steps.filter_map(|(at, step)| match step.event {
            Event::Step { thread: stepping, edge } if stepping == thread => Some((at, edge)),
            _ => None,
        });
        match placement.point {
            Point::After(edge) => {
                let edge = self.edges[thread.index()][edge.index()];
                let times = own.filter(|(_, taken)| *taken == edge);
                times.map(|(at, _)| self.behind(at, placement)).max().unwrap_or(Obstacle::None)
            }
            Point::At(loc) => {
                let mut times = own.filter(|(_, edge)| self.program.thread(thread).edge(*edge).from == loc);
                let stops = times.any(|(at, _)| self.is_stopped_before(at, placement));
                if stops { Obstacle::Stops } else { Obstacle::None }
            }
        }
    }

    /// How a fence right behind the step `at` of its thread stands in the way.
    fn behind(&self, at: usize, placement: &Placement) -> Obstacle {
        let thread = placement.thread;
        let next = self.next_step(thread, at + 1);
        let stopped = match placement.strength {
            Strength::Fence(Fence::Full) => {
                !self.is_drained_within(thread, at + 1, next.unwrap_or(self.account.steps().len()))
            }
            Strength::Fence(Fence::Store) => self.is_overtaken(thread, at + 1),
            Strength::Exchange => {
                let at_once = self.account.steps()[at].drain == Some(at + 1);
                !(self.is_drained_within(thread, at, at) && at_once)
            }
        };
        match (stopped, next, placement.strength) {
            (false, ..) => Obstacle::None,
            (true, None, Strength::Fence(Fence::Full)) => Obstacle::Ends,
            _ => Obstacle::Stops,
        }
    }

    /// Whether a fence right before the step `at` of its thread could not be passed.
    fn is_stopped_before(&self, at: usize, placement: &Placement) -> bool {
        let thread = placement.thread;
        let arrived = (0..at).rev().find(|step| self.is_step_of(*step, thread)).map_or(0, |step| step + 1);
        match placement.strength {
            Strength::Fence(Fence::Store) => self.is_overtaken(thread, arrived),
            _ => !self.is_drained_within(thread, arrived, at),
        }
    }

    fn is_step_of(&self, at: usize, thread: ThreadId) -> bool {
        matches!(self.account.steps()[at].event, Event::Step { thread: stepping, .. } if stepping == thread)
    }

    /// The thread's next step from here on.
    fn next_step(&self, thread: ThreadId, from: usize) -> Option<usize> {
        (from..self.account.steps().len()).find(|at| self.is_step_of(*at, thread))
    }

    /// Whether a thread's buffer is empty at some moment from here to there.
    fn is_drained_within(&self, thread: ThreadId, from: usize, to: usize) -> bool {
        self.account.passed()[from..=to].iter().any(|at| at.local(thread).drained())
    }

    /// Whether a store issued from this position on drains before one issued in front of it.
    fn is_overtaken(&self, thread: ThreadId, from: usize) -> bool {
        let stores = &self.overtaken[thread.index()];
        let in_front = stores.partition_point(|(issued, _)| *issued < from);
        in_front.checked_sub(1).is_some_and(|last| stores[last].1)
    }
}

fn overtaken(program: &Program, account: &Account) -> Vec<Vec<(usize, bool)>> {
    let mut stores = vec![Vec::new(); program.threads.len()];
    for (at, step) in account.steps().iter().enumerate().filter(|(_, step)| step.buffered().is_some()) {
        stores[step.thread().index()].push((at, step.drain.unwrap_or(usize::MAX)));
    }
    let mark = |own: Vec<(usize, usize)>| {
        let mut first_behind = vec![usize::MAX; own.len()];
        for at in (1..own.len()).rev() {
            first_behind[at - 1] = first_behind[at].min(own[at].1);
        }
        let mut last = 0;
        let marked = own.into_iter().zip(first_behind).map(|((issued, drain), behind)| {
            last = last.max(drain);
            (issued, last > behind)
        });
        marked.collect()
    };
    stores.into_iter().map(mark).collect()
}
