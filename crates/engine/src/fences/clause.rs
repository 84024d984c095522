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
use machine::{Account, Event};
use program::{EdgeId, Fence, Loc, Placement, Point, Program, Strength, ThreadId};
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
    let stops: Box<dyn Fn(&Placement) -> bool> = match (checked.verdict(), checked.account()) {
        (Verdict::Unsafe(_), Some(account)) => {
            let violating = Violating::new(program, account, edges);
            Box::new(move |placement| violating.obstacle(placement) != Obstacle::None)
        }
        (Verdict::NotRobust(witness), _) => {
            let path = DelayedPath::of(program, witness);
            Box::new(move |placement| path.meets(placement, edges))
        }
        _ => Box::new(|_| false),
    };
    let helps = |at: &usize| !chosen.contains(at) && candidates[*at].placements.iter().any(&*stops);
    (0..candidates.len()).filter(helps).collect()
}

/// A violating run of a (fenced) program.
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
