//! A proof of which every process has a part.
//!
//! The obligations are those of a closed set. Every process checks the states of its own part. A successor that
//! belongs to another process, by its hash, is sent there, and must be in the part of that one. That all mean the same
//! by the numbers of controls is compared first. Nothing is believed about who found which state: a successor that is
//! not where it belongs is missing.
//!
//! Each process writes its part to a file of its own. One behind the other, the parts are the evidence that a single
//! process would write.

use super::reduced::{explored, kind_of, write_rules};
use super::{Proof, SharedProof};
use crate::check::missing;
use crate::file::{EvidenceKind, RecordWriter, write_closed_controls, write_closed_states};
use crate::obligations::{Looking, NeededStates, Obligations};
use crate::smtlib::unwritten;
use crate::{Crew, Lost, Monitor, Progress, Received, Rejected, Rounds, Statistics, Stop, Task};
use machine::{
    Buffered, DataDomain, Local, OnDomain, SHARDS, StateRef, StateSet, on_reduced, shard_of, shard_of_hash,
    shards_of, state_hash,
};
use program::ThreadId;
use std::io::{self, Write};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// How many states a worker looks at in a round.
const STATES_PER_ROUND: usize = 1 << 14;

impl SharedProof {
    /// Checks it together with the processes that have the other parts.
    pub(crate) fn check_with(
        &self,
        task: &Task<'_>,
        monitor: &dyn Monitor,
        crew: &dyn Crew,
    ) -> Result<(), Rejected> {
        if crew.process() != (self.process, self.processes) {
            return Err(Rejected::Part);
        }
        let machine = task.machine();
        let same =
            format!("{} {:?} {:?} {:?}", task.model.name(), self.rules, self.renamings, self.part.controls);
        let same = format!("{} {same}", crate::fingerprint(task.program));
        let (here, results) = (crew.here(), Mutex::new(Vec::new()));
        crew.work(&|rounds| {
            let here = here.clone();
            let result = compared(rounds, same.as_bytes()).and_then(|()| {
                let piece = CheckPart { proof: self, here, rounds, monitor };
                on_reduced(&machine, self.rules, &self.renamings, piece).unwrap_or(Err(Rejected::Renaming))
            });
            results.lock().unwrap_or_else(PoisonError::into_inner).push(result);
        })
        .map_err(lost)?;
        let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
        // What is wrong here says more than that something is wrong elsewhere.
        let elsewhere = |result: &Result<(), Rejected>| *result == Err(Rejected::Part);
        let (far, near): (Vec<_>, Vec<_>) = results.into_iter().partition(elsewhere);
        near.into_iter().chain(far).collect()
    }
}

fn lost(_: Lost) -> Rejected {
    Rejected::Stopped(Stop::Lost)
}

/// Whether all say the same.
fn compared(rounds: &mut dyn Rounds, same: &[u8]) -> Result<(), Rejected> {
    let all = rounds.tell_all(same).map_err(lost)?;
    if all.iter().all(|told| told == same) { Ok(()) } else { Err(Rejected::Dictionary) }
}

/// One worker's piece of the part of its process.
struct CheckPart<'a> {
    proof: &'a SharedProof,
    /// The workers of this process.
    here: Range<usize>,
    rounds: &'a mut dyn Rounds,
    monitor: &'a dyn Monitor,
}

impl OnDomain for CheckPart<'_> {
    type Done = Result<(), Rejected>;

    fn run<'m, 'p: 'm>(self, domain: impl DataDomain<'m, Machine = Buffered<'p>>) -> Self::Done {
        let CheckPart { proof, here, rounds, monitor } = self;
        let mut piece = OwnPiece::new(domain, proof, here, rounds, monitor)?;
        piece.send_round()?;
        loop {
            // While messages are under way the next states are looked at.
            piece.send_round()?;
            let all = piece.receive_round()?;
            if all.idle || all.rejected {
                let rest = piece.receive_round()?;
                let elsewhere = (all.rejected || rest.rejected).then_some(Rejected::Part);
                return piece.rejected.or(elsewhere).map_or(Ok(()), Err);
            }
        }
    }
}

/// The states that a worker looks at, one piece of those of its process.
struct OwnPiece<'a, D> {
    obligations: Obligations<'a, D, Option<ThreadId>, Local>,
    states: &'a StateSet,
    /// By shard, the worker who has it.
    owner: Vec<usize>,
    /// The workers of this process.
    here: Range<usize>,
    rounds: &'a mut dyn Rounds,
    monitor: &'a dyn Monitor,
    /// The next state, and how many are left.
    at: Option<StateRef>,
    left: usize,
    seen: usize,
    /// What must be among the states of this process.
    needed: NeededStates,
    rejected: Option<Rejected>,
}

impl<'a, 'm, 'p: 'm, D: DataDomain<'m, Machine = Buffered<'p>>> OwnPiece<'a, D> {
    fn new(
        domain: D,
        proof: &'a SharedProof,
        here: Range<usize>,
        rounds: &'a mut dyn Rounds,
        monitor: &'a dyn Monitor,
    ) -> Result<OwnPiece<'a, D>, Rejected> {
        let (states, workers) = (&proof.part.states, rounds.workers());
        let owner: Vec<usize> =
            (0..workers).flat_map(|worker| shards_of(worker, workers).map(move |_| worker)).collect();
        assert_eq!(owner.len(), SHARDS);
        let mut obligations = Obligations::new(domain, Looking::ForViolations, &proof.part.controls)?;
        let initial = obligations.initial()?;
        let mut own = initial.iter().filter(|state| here.contains(&owner[shard_of(state)]));
        let rejected = (!own.all(|state| states.contains(state))).then_some(Rejected::InitialMissing);
        let (at, left) = piece(states, rounds.index() - here.start, here.len());
        let needed = NeededStates::new();
        Ok(OwnPiece {
            obligations,
            states,
            owner,
            here,
            rounds,
            monitor,
            at,
            left,
            seen: 0,
            needed,
            rejected,
        })
    }

    /// Looks at some states, and posts what others must have.
    fn send_round(&mut self) -> Result<(), Rejected> {
        let mut messages: Vec<Vec<u8>> = vec![Vec::new(); self.rounds.workers()];
        let (first, before) = (self.at, self.seen);
        for _ in 0..STATES_PER_ROUND.min(self.left) {
            let (Some(state), None) = (self.at, &self.rejected) else { break };
            if self.seen.is_multiple_of(4096) {
                let progress = Progress { phase: "checking", states: self.seen, ..Progress::default() };
                self.rejected = self.monitor.observe(&progress).err().map(Rejected::Stopped);
            }
            let (here, owner, needed) = (&self.here, &self.owner, &mut self.needed);
            let visited = self.obligations.visit(self.seen, self.states.get(state), &mut |next| {
                let hash = state_hash(next);
                let owner = owner[shard_of_hash(hash)];
                match here.contains(&owner) {
                    true => needed.add_hashed(next, hash),
                    false => put(next, &mut messages[owner]),
                }
            });
            self.set_rejected(visited.err());
            (self.at, self.left, self.seen) = (self.states.next(state), self.left - 1, self.seen + 1);
        }
        if !self.needed.all_in(self.states) {
            let is_here = |next: &[u8]| self.here.contains(&self.owner[shard_of(next)]);
            let some = std::iter::successors(first, |at| self.states.next(*at)).take(self.seen - before);
            let why = missing(&mut self.obligations, self.states, before, some, &is_here);
            self.set_rejected(Some(why));
        }
        let idle = self.left == 0 && messages.iter().all(Vec::is_empty);
        let news = PartNews { idle, rejected: self.rejected.is_some() };
        self.rounds.post(news.with(messages)).map_err(lost)
    }

    /// What all said of a round. What others need must be there.
    fn receive_round(&mut self) -> Result<PartNews, Rejected> {
        let (all, garbled) = read(&self.rounds.collect().map_err(lost)?, &mut self.needed);
        let missing = !self.needed.all_in(self.states) || garbled;
        self.set_rejected(missing.then_some(Rejected::SuccessorElsewhere));
        Ok(all)
    }

    /// The first reason counts.
    fn set_rejected(&mut self, why: Option<Rejected>) {
        self.rejected = self.rejected.take().or(why);
    }
}

/// Where the piece of one of several workers begins, and how many states it has.
fn piece(states: &StateSet, worker: usize, workers: usize) -> (Option<StateRef>, usize) {
    let (from, to) = (states.len() * worker / workers, states.len() * (worker + 1) / workers);
    (states.refs().nth(from), to - from)
}

/// What all have to know of a worker.
#[derive(Clone, Copy)]
struct PartNews {
    /// Whether it looked at all its states and sends none.
    idle: bool,
    rejected: bool,
}

impl PartNews {
    /// A message to everybody: the news, and the states that must be there.
    fn with(self, messages: Vec<Vec<u8>>) -> Vec<(usize, Vec<u8>)> {
        let head = u8::from(self.idle) + 2 * u8::from(self.rejected);
        let message = |message: Vec<u8>| std::iter::once(head).chain(message).collect();
        messages.into_iter().map(message).enumerate().collect()
    }
}

/// Writes a state that another process must have, behind its length.
fn put(state: &[u8], message: &mut Vec<u8>) {
    message.extend((state.len() as u32).to_le_bytes());
    message.extend_from_slice(state);
}

/// What all say together, and whether something makes no sense; the states that others need are needed.
fn read(mail: &[Received], needed: &mut NeededStates) -> (PartNews, bool) {
    let (mut all, mut garbled) = (PartNews { idle: true, rejected: false }, false);
    for (_, message) in mail {
        let Some((head, mut states)) = message.split_first() else { continue };
        all.idle &= head & 1 > 0;
        all.rejected |= head & 2 > 0;
        while let Some((length, rest)) = states.split_first_chunk::<4>() {
            let state = rest.split_at_checked(u32::from_le_bytes(*length) as usize);
            // No state is empty, nor is there one that is cut off.
            let (state, rest) = state.unwrap_or_default();
            garbled |= state.is_empty();
            needed.add_hashed(state, state_hash(state));
            states = rest;
        }
        garbled |= !states.is_empty();
    }
    (all, garbled)
}

impl Proof for SharedProof {
    fn kind(&self) -> &'static EvidenceKind {
        kind_of(self.rules, &self.renamings)
    }

    /// A part alone proves nothing.
    fn check(&self, _: &Task<'_>, _: &dyn Monitor) -> Result<(), Rejected> {
        Err(Rejected::Part)
    }

    fn write(&self, task: &Task<'_>, out: &mut RecordWriter<'_>) -> io::Result<()> {
        write_rules(self.rules, &self.renamings, out)?;
        write_closed_controls(&self.part.controls, out)?;
        out.count(self.states - self.part.states.len());
        out.speak(true);
        write_closed_states(task.program, &self.part.states, out)?;
        out.speak(self.process + 1 == self.processes);
        Ok(())
    }

    fn write_obligations(&self, _: &Task<'_>, _: &mut dyn Write) -> io::Result<usize> {
        Err(unwritten("the states are spread over several processes"))
    }

    fn how(&self, statistics: &Statistics) -> String {
        let explored = explored(self.states, self.rules, &self.renamings, statistics);
        format!("{explored}, by {} processes", self.processes)
    }
}
