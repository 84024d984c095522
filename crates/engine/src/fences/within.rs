//! Fences that also keep store buffers short [003, sec. 6.2].
//!
//! The source proves programs with buffers of k stores and counts an overflow as a failure, so the fences
//! that it reports keep every queue within k as well. Usually those are more than safety needs. The
//! search is the same, by implicit hitting sets; a run in which a queue gets too long makes a
//! clause just as a violation does. Where predicates see no such run but cannot exclude one, exact
//! exploration looks for it. That nothing overflows shows in the proof: none of its controls
//! has forgotten a store.

use super::{FenceOptions, FencePoint, FenceSearch, FencesHalt, Trial};
use crate::ask::Bug;
use crate::extrapolate::{Bounded, Extrapolate, Taken, within};
use crate::search::{Ended, Limits, TransitionSystem, path, search};
use crate::stepping::{Stepping, chosen_initially};
use crate::{Engine, Run};
use evidence::{Certificate, Checked, Patience, Reason, Rejected, Stop, Task, Verdict, check, simplify};
use machine::{Account, Stepper, TraceStep, replay_steps};

/// Fences with which the program is safe and no queue ever holds more than `k` stores.
#[derive(Debug)]
pub struct FencesWithin {
    /// The bound.
    pub k: usize,
    /// The fences, in the order of the source.
    pub fences: Vec<FencePoint>,
    /// What they cost together.
    pub cost: u64,
}

/// The cheapest fences at a bound; the reasons if they were not found.
pub fn fences_within(
    task: &Task<'_>,
    k: usize,
    options: &FenceOptions<'_>,
    run: &Run<'_>,
) -> Result<Result<FencesWithin, Vec<Reason>>, Bug> {
    match FenceSearch::new(task, &Extrapolate, options, run).solve_within(k) {
        Ok(found) => Ok(Ok(found)),
        Err(FencesHalt::Unknown(reasons)) => Ok(Err(reasons)),
        Err(FencesHalt::NoCandidate(_)) => Ok(Err(vec![Reason::Overflow(k)])),
        Err(FencesHalt::Bug(bug)) => Err(bug),
    }
}

impl FenceSearch<'_> {
    fn solve_within(&mut self, k: usize) -> Result<FencesWithin, FencesHalt> {
        let found = self.hit_all(None, |search, task| search.try_within(task, k))?;
        let (chosen, ..) = found.ok_or_else(|| overflow(k))?;
        let fences = chosen.iter().map(|at| self.candidates[*at].clone()).collect();
        Ok(FencesWithin { k, fences, cost: self.problem.cost(&chosen) })
    }

    /// Whether a program is safe and keeps its queues within the bound.
    fn try_within(&self, task: &Task<'_>, k: usize) -> Result<Trial, FencesHalt> {
        let taken = match within(task, self.run, k).map_err(FencesHalt::Unknown)? {
            Bounded::Safe(proof) => {
                let mut shapes = proof.controls.iter().flat_map(|(_, shapes)| shapes);
                let forgets = shapes.any(|shape| !shape.forgotten.is_empty());
                let checked = self.checked(task, Verdict::Safe(Certificate::Cubes(proof)))?;
                return if forgets { Err(overflow(k)) } else { Ok(Trial::Suffices(checked)) };
            }
            Bounded::Violated(trace) => {
                let checked = self.checked(task, Verdict::Unsafe(trace))?;
                return Ok(Trial::Violated(simplify(task, checked, self.run.monitor)));
            }
            Bounded::Overflows(taken) => taken,
            Bounded::MayOverflow => overfull(task, k, self.run).ok_or_else(|| overflow(k))?,
        };
        Ok(Trial::Overfull(self.account(task, &taken)?, k))
    }

    fn checked(&self, task: &Task<'_>, verdict: Verdict) -> Result<Checked, FencesHalt> {
        check(task, verdict, self.run.monitor).map_err(|why| match why {
            Rejected::Stopped(stop) => FencesHalt::Unknown(vec![Reason::Stopped(stop)]),
            why => FencesHalt::Bug(Bug { engine: Extrapolate.name(), why }),
        })
    }

    fn account(&self, task: &Task<'_>, taken: &Taken) -> Result<Account, FencesHalt> {
        let mut patience = Patience::new(self.run.monitor, "replaying");
        let replayed =
            replay_steps(task.program, task.model, &taken.initial, &taken.steps, &mut || patience.lasts());
        replayed.map_err(|why| match why {
            machine::TraceRejected::Stopped => {
                let stop = patience.found::<()>(None).err().unwrap_or(Stop::Interrupt);
                FencesHalt::Unknown(vec![Reason::Stopped(stop)])
            }
            why => FencesHalt::Bug(Bug { engine: Extrapolate.name(), why: Rejected::Trace(why) }),
        })
    }
}

fn overflow(k: usize) -> FencesHalt {
    FencesHalt::Unknown(vec![Reason::Overflow(k)])
}

/// Exploration for a run in which a queue gets too long may look at this many states.
const MOST_STATES: usize = 200_000;

/// A run of the exact machine in which a queue holds more than `k` stores, if one is near.
fn overfull(task: &Task<'_>, k: usize, run: &Run<'_>) -> Option<Taken> {
    let machine = task.machine();
    let mut system = Overfull { system: Stepping::wandering(Stepper::new(&machine)), most: k };
    let found = search(&mut system, &Limits { states: Some(MOST_STATES), ..Limits::none(run.monitor) });
    let Ended::Goal(at, ()) = found.ended else { return None };
    let (first, labels) = path(&mut system, &found.states, at);
    let step = |(event, choice)| TraceStep::of(task.program, event, choice);
    let initial = chosen_initially(task.program, &first);
    Some(Taken { initial, steps: labels.into_iter().map(step).collect() })
}

/// A system in which heavy states are what we look for.
struct Overfull<T> {
    system: T,
    most: usize,
}

impl<T: TransitionSystem> TransitionSystem for Overfull<T> {
    type State = T::State;
    type Label = T::Label;
    type Goal = ();

    fn work(&self) -> usize {
        self.system.work()
    }

    fn begin(&mut self) {
        self.system.begin();
    }

    fn initial(&self) -> Box<dyn Iterator<Item = T::State> + '_> {
        self.system.initial()
    }

    fn prepare(&mut self, state: &T::State) {
        self.system.prepare(state);
    }

    fn successors(&self, state: &T::State, next: &mut T::State, visit: impl FnMut(T::Label, &T::State)) {
        self.system.successors(state, next, visit);
    }

    fn bytes(&self) -> usize {
        self.system.bytes()
    }

    fn goal(&self, state: &T::State) -> Option<()> {
        (self.system.weight(state) > self.most).then_some(())
    }

    fn pack(&self, state: &T::State, out: &mut Vec<u8>) {
        self.system.pack(state, out);
    }

    fn unpack(&self, bytes: &[u8], state: &mut T::State) {
        self.system.unpack(bytes, state);
    }
}
