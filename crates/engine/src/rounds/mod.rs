//! Exact search in rounds, by several workers.
//!
//! A search that has become large is spread over shards, by hash, and goes on in rounds: breadth first, some states of
//! every shard at a time. The answer is the same for any number of workers, because everything it depends on is: the
//! shards and the order in them ([`shard`]), the numbers of controls ([`numbers`]), and which violation counts (the
//! first of the first shard that has one in a round). What travels between workers are packed states, collected
//! over a round; so a shard's table is in the cache while states are added to it, which makes up for a part of the
//! detour (`bench workers` says how much).
//!
//! Nothing is explored twice: the rounds go on from where the search stopped that found it large, which every
//! process does by itself.

mod news;
mod numbers;
mod own;
pub(crate) mod shard;
mod worker;

use crate::reduce::LeftOut;
use crate::search::Search;
use crate::stepping::Stepping;
use evidence::{ClosedSet, Controls, Crew, Lost, Monitor, Rounds, Spill, SpilledStates, Stop};
use machine::{Buffered, DataDomain, Doubt, Full, Machine, OnDomain, StateRef, StateSet, Trace, shards_of};
use shard::{Shard, ShardFound, spread};
use std::sync::{Mutex, PoisonError};
use worker::{Finish, RoundsWorker, Start, WorkerFound};

/// How a search in rounds ended.
pub(crate) enum InRounds {
    /// A run to a violation.
    Violated(Trace),
    /// All states, or all of this process.
    Explored(ClosedSet),
    /// All states, in files.
    Spilled(Controls, Vec<SpilledStates>),
    /// Only states with longer buffers are left.
    Heavy,
    /// A monitor stopped it.
    Stopped(Stop),
    /// There is no room.
    Full,
    /// A worker was lost.
    Lost(Lost),
}

/// What a search in rounds found.
pub(crate) struct RoundsFound {
    pub(crate) ended: InRounds,
    pub(crate) states: usize,
    pub(crate) bound: usize,
    /// Whether states ever were too heavy.
    pub(crate) postponed: bool,
    /// What was not seen.
    pub(crate) doubts: Vec<Doubt>,
}

/// How far to go, and who works.
#[derive(Clone, Copy)]
pub(crate) struct Going<'a> {
    pub(crate) crew: &'a dyn Crew,
    pub(crate) monitor: &'a dyn Monitor,
    /// Where states go that memory has no room for.
    pub(crate) spill: Option<&'a dyn Spill>,
    /// The largest bound on weight.
    pub(crate) most: usize,
    /// What is asked, and how: the same for all processes, or they cannot work together.
    pub(crate) question: &'a str,
}

/// Goes on with a search that was broken off, whose controls these are.
pub(crate) fn go_on<G>(
    found: Search<G>,
    controls: &Controls,
    machine: &Buffered<'_>,
    left_out: &LeftOut,
    going: Going<'_>,
) -> RoundsFound {
    let (bound, postponed, states) = (found.bound, found.postponed, found.states.len());
    let ended = |ended| RoundsFound { ended, states, bound, postponed, doubts: Vec::new() };
    let shards = match spread(found) {
        Ok(shards) => shards,
        Err(Full) => return ended(InRounds::Full),
    };
    let shards: Vec<Mutex<Shard>> = shards.into_iter().map(Mutex::new).collect();
    let results: Mutex<Vec<(usize, Result<WorkerFound, Lost>)>> = Mutex::default();
    let part = |rounds: &mut dyn Rounds| {
        let (index, workers) = (rounds.index(), rounds.workers());
        let own = &shards[shards_of(index, workers)];
        let own = own
            .iter()
            .map(|shard| std::mem::take(&mut *shard.lock().unwrap_or_else(PoisonError::into_inner)));
        let start = Start { shards: own.collect(), controls, bound, going };
        if let Some(found) = left_out.on(machine, OneWorker { rounds, start }) {
            results.lock().unwrap_or_else(PoisonError::into_inner).push((index, found));
        }
    };
    if let Err(lost) = going.crew.work(&part) {
        return ended(InRounds::Lost(lost));
    }
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_by_key(|(index, _)| *index);
    let found = match results.into_iter().map(|(_, found)| found).collect::<Result<Vec<_>, Lost>>() {
        Ok(found) => found,
        Err(lost) => return ended(InRounds::Lost(lost)),
    };
    together(found, machine, left_out, postponed).unwrap_or_else(|| ended(InRounds::Full))
}

struct OneWorker<'a> {
    rounds: &'a mut dyn Rounds,
    start: Start<'a>,
}

impl OnDomain for OneWorker<'_> {
    type Done = Result<WorkerFound, Lost>;

    fn run<'m, 'p: 'm>(self, domain: impl DataDomain<'m, Machine = Buffered<'p>>) -> Self::Done {
        RoundsWorker::new(domain, self.rounds, self.start).run()
    }
}

/// What the workers found together; `None` if that is too much for one set.
fn together(
    found: Vec<WorkerFound>,
    machine: &Buffered<'_>,
    left_out: &LeftOut,
    postponed: bool,
) -> Option<RoundsFound> {
    let postponed = postponed || found.iter().any(|found| found.postponed);
    let mut shards = Vec::new();
    let mut of_all = None;
    for WorkerFound { finish, controls, shards: own, doubts, states, bound, .. } in found {
        shards.extend(own);
        of_all.get_or_insert((finish, controls, doubts, states, bound));
    }
    let (finish, controls, doubts, states, bound) = of_all?;
    let ended = match finish {
        Finish::Complete => {
            let (mut sets, mut files) = (Vec::new(), Vec::new());
            for shard in shards {
                match shard.found() {
                    ShardFound::InMemory(states) => sets.push(states),
                    ShardFound::InFile(states) => files.push(states),
                }
            }
            match sets.is_empty() {
                true => InRounds::Spilled(controls, files),
                false => InRounds::Explored(ClosedSet { controls, states: StateSet::of_shards(sets).ok()? }),
            }
        }
        Finish::Violated(way) => {
            drop(shards);
            InRounds::Violated(left_out.on(machine, WayToRun { way: &way, controls: &controls })??)
        }
        Finish::Heavy => InRounds::Heavy,
        Finish::Stopped(stop) => InRounds::Stopped(stop),
        Finish::Full => InRounds::Full,
    };
    Some(RoundsFound { ended, states, bound, postponed, doubts })
}

/// Finds the steps between the states on the way to a violation.
struct WayToRun<'a> {
    way: &'a [Vec<u8>],
    controls: &'a Controls,
}

impl OnDomain for WayToRun<'_> {
    type Done = Option<Trace>;

    fn run<'m, 'p: 'm>(self, mut domain: impl DataDomain<'m, Machine = Buffered<'p>>) -> Option<Trace> {
        let stepper = domain.stepper_mut();
        for global in &self.controls.globals {
            stepper.global_id(global);
        }
        for (thread, locals) in stepper.machine().program().thread_ids().zip(&self.controls.locals) {
            for local in locals {
                stepper.local_id(thread, local);
            }
        }
        let (mut states, mut last): (StateSet, Option<StateRef>) = (StateSet::new(), None);
        for state in self.way {
            last = Some(states.insert(state, last).ok()?.0);
        }
        let mut system = Stepping::hunting(domain);
        let violation = system.violation_at(&states, last?)?;
        Some(system.trace(&states, last?, violation))
    }
}
