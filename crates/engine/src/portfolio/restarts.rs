//! Taking turns without threads, as in a browser.
//!
//! Nobody can be suspended there. An engine that has done its part is stopped instead, and begins anew in a
//! later round. Rounds are taken in leaps, each of which allows about three times the work of the one before, so
//! beginning anew costs about half as much as the work itself. How far an engine is in which round depends on
//! its own work alone: who begins anew passes through the same rounds as before. So the answer that counts, the
//! first in the order (round, place in the plan), is the one that engines on threads find. Once somebody has an answer,
//! the others only go as far as they would come before it. So within a leap those begin that most likely have it:
//! whoever had nothing left to explore when it was stopped, then whoever has the largest share.
//!
//! One engine works at a time, and what it has taken is free again when it ends: no one has to leave
//! for another's memory.

use super::{PlanEntry, Table, Turn, allowance, ends_all, result};
use crate::{Answer, Run};
use evidence::{Monitor, Named, Progress, Stop, Task};
use std::cmp::Reverse;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Rounds in a leap.
const LEAP: usize = 10;

/// Lets the entries take turns; the answer is that of the first that has one.
pub(super) fn take_turns(entries: &[PlanEntry], task: &Task<'_>, run: &Run<'_>) -> Answer {
    let turns = entries.iter().map(|_| Turn::Waits { round: 0, started: false }).collect();
    let mut table = Table { turns, bytes: vec![0; entries.len()], evicted: None };
    let mut counted = vec![0; entries.len()];
    let mut nearly_done = vec![false; entries.len()];
    let mut last = 0;
    loop {
        let mut likely_first: Vec<usize> = (0..entries.len()).collect();
        likely_first.sort_by_key(|at| Reverse((nearly_done[*at], entries[*at].share)));
        for at in likely_first {
            let Some(until) = last_round(&table, at, last) else { continue };
            let restart = Restart {
                run,
                entries: (entries, at),
                until,
                counted: counted[at],
                done: AtomicUsize::new(0),
                round: AtomicUsize::new(0),
                is_cut: AtomicBool::new(false),
                nothing_waits: AtomicBool::new(false),
            };
            let answer = restart.work(task);
            counted[at] = restart.done.into_inner().max(counted[at]);
            if restart.is_cut.into_inner() {
                nearly_done[at] = restart.nothing_waits.into_inner();
                continue;
            }
            let is_over = ends_all(&answer);
            table.turns[at] = Turn::Ended { round: restart.round.into_inner(), answer: Box::new(answer) };
            if is_over {
                return result(table);
            }
        }
        if table.is_empty() || table.first_answer().is_some() {
            return result(table);
        }
        last += LEAP;
    }
}

/// The last round that an engine may take part in, if it is still there and can still matter.
fn last_round(table: &Table, at: usize, last: usize) -> Option<usize> {
    if matches!(table.turns[at], Turn::Ended { .. }) {
        return None;
    }
    match table.first_answer() {
        None => Some(last),
        Some((round, place)) if at < place => Some(last.min(round)),
        Some((round, _)) => Some(last.min(round.checked_sub(1)?)),
    }
}

/// One beginning of an engine.
struct Restart<'a> {
    run: &'a Run<'a>,
    /// All entries, and which one this is.
    entries: (&'a [PlanEntry], usize),
    /// The last round that it may take part in.
    until: usize,
    /// The work of earlier beginnings, which was told then.
    counted: usize,
    /// The work done so far.
    done: AtomicUsize,
    round: AtomicUsize,
    /// Whether it was stopped because it has done its part.
    is_cut: AtomicBool,
    /// Whether it had nothing left to explore when that happened.
    nothing_waits: AtomicBool,
}

impl Restart<'_> {
    fn work(&self, task: &Task<'_>) -> Answer {
        let (entries, at) = self.entries;
        let engine = entries[at].engine;
        let named = Named::new(engine.name(), self);
        engine.verify(task, &Run { monitor: &named, threads: 0, rounds: false, ..*self.run })
    }
}

impl Monitor for Restart<'_> {
    fn observe(&self, progress: &Progress) -> Result<(), Stop> {
        let before = self.done.fetch_add(progress.work, Ordering::Relaxed);
        let done = before + progress.work;
        let (entries, at) = self.entries;
        let mut round = self.round.load(Ordering::Relaxed);
        while done > allowance(entries.len(), &entries[at], round, progress) {
            round += 1;
        }
        self.round.store(round, Ordering::Relaxed);
        if round > self.until {
            if !self.is_cut.swap(true, Ordering::Relaxed) {
                let nothing_waits = progress.states > 0 && progress.waiting == 0;
                self.nothing_waits.store(nothing_waits, Ordering::Relaxed);
            }
            return Err(Stop::Interrupt);
        }
        let new = done.saturating_sub(before.max(self.counted));
        self.run.monitor.observe(&Progress { work: new, ..*progress })
    }

    fn leave(&self, engine: &'static str) {
        self.run.monitor.leave(engine);
    }

    fn note(&self, text: &str) {
        self.run.monitor.note(text);
    }
}
