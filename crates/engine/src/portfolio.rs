//! Engines take turns, and the answer does not depend on who is faster.
//!
//! The engines of a [`Plan`](crate::Plan) work in *rounds*. By the end of a round each may have done a
//! certain amount of work, which grows by an eighth from round to round: the same for all at
//! first, for small questions have many good engines, and later according to the shares of the
//! plan. Work is counted (a state explored, a question put to the solver), not timed. Whoever has
//! done its part is suspended, not stopped: it goes on in the next round where it was. Whoever
//! ends without an answer leaves. The answer that counts is the first in the order (round, place
//! in the plan).
//!
//! On several threads as many engines work at once. Whoever has an answer then waits until all
//! that come before it in that order have done their part or left, so the answer is the one
//! that a single thread finds. Only a limit or an interruption can make a difference.
//!
//! Whoever has a *head start* does a multiple of that for a while: a hunter for small violations, which looks at
//! few states before it has seen them all.
//!
//! If one of n engines needs the work w and has the share s, all together do about n·w while w is
//! small and w/s when it is large. Memory is shared: if it runs short, whoever has most leaves.

mod restarts;

use crate::plan::{PlanEntry, plan};
use crate::{Answer, Engine, Run};
use evidence::{Alone, Monitor, Named, Progress, Reason, Statistics, Stop, Task, Verdict};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Scope};

/// The work that an engine may do in the first round.
const FIRST_ROUND: usize = 1 << 13;
/// Up to this much work all do the same.
const SMALL: usize = 16_000;
/// Up to this much work whoever has a head start does so many times as much as the others.
const HEAD_START: usize = 400_000;
const HEAD_START_TIMES: usize = 8;
/// Nobody is more than so many rounds ahead of another.
const AHEAD: usize = 1;
/// The stack of an engine's thread.
const STACK: usize = 64 << 20;

/// The engine that lets the others take turns.
pub struct Portfolio;

impl Engine for Portfolio {
    fn name(&self) -> &'static str {
        "portfolio"
    }

    fn about(&self) -> &'static str {
        "lets the engines that fit take turns; --explain-plan shows which and why"
    }

    fn answer(&self, task: &Task<'_>, run: &Run<'_>) -> Answer {
        let mut entries = plan(task).entries;
        entries.retain(|entry| !run.without.contains(&entry.engine.name()));
        match run.threads {
            0 => restarts::take_turns(&entries, task, run),
            _ => take_turns(&entries, task, run),
        }
    }
}

/// The work that one of several engines may have done by the end of a round, as far as it is now.
fn allowance(engines: usize, entry: &PlanEntry, round: usize, progress: &Progress) -> usize {
    let ahead = entry.head_start.is_some_and(|most| progress.bound.is_some_and(|bound| bound <= most));
    let mut average = FIRST_ROUND;
    for _ in 0..round {
        average = average.saturating_add(average / 8);
    }
    let same = average.min(SMALL);
    let usual = same + (average - same).saturating_mul(engines * entry.share) / 100;
    if ahead { usual.max(average.saturating_mul(HEAD_START_TIMES).min(HEAD_START)) } else { usual }
}

/// Lets the entries take turns; the answer is that of the first that has one.
fn take_turns(entries: &[PlanEntry], task: &Task<'_>, run: &Run<'_>) -> Answer {
    let turns = entries.iter().map(|_| Turn::Waits { round: 0, started: false }).collect();
    let race = Race {
        entries,
        task,
        run,
        table: Mutex::new(Table { turns, bytes: vec![0; entries.len()], evicted: None }),
        changed: Condvar::new(),
        over: AtomicBool::new(false),
    };
    thread::scope(|scope| race.go_on(&mut race.table(), scope));
    result(race.table.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// The answer that counts. If there is none, an unknown of whoever got furthest tells what
/// everybody could not do.
fn result(table: Table) -> Answer {
    let winner = table.first_answer();
    let ended = table.turns.into_iter().enumerate().filter_map(|(at, turn)| match turn {
        Turn::Ended { answer, .. } => Some((at, *answer)),
        _ => None,
    });
    let mut ended: Vec<(usize, Answer)> = ended.collect();
    if let Some(at) = ended.iter().position(|(at, _)| winner.is_some_and(|(_, winner)| winner == *at)) {
        return ended.swap_remove(at).1;
    }
    let reasons = ended.iter().flat_map(|(_, answer)| reasons_of(answer).to_vec()).collect();
    let reasons = limits_first(reasons);
    // A bound within which nothing is violated still holds, with what everybody could not do beyond it.
    let is_bounded = |(_, answer): &(usize, Answer)| matches!(answer.verdict, Verdict::Within(..));
    if let Some(at) = ended.iter().position(is_bounded) {
        let mut answer = ended.swap_remove(at).1;
        if let Verdict::Within(_, own) = &mut answer.verdict {
            *own = reasons;
        }
        return answer;
    }
    let verdict = Verdict::Unknown(reasons);
    let furthest = ended.into_iter().map(|(_, answer)| answer).max_by_key(|answer| answer.statistics.states);
    match furthest {
        Some(answer) => Answer { verdict, ..answer },
        None => Answer { verdict, statistics: Statistics::default(), engine: Portfolio.name() },
    }
}

/// Every reason once, limits first. Those who were called off because somebody else met a limit
/// count as interrupted, which tells nothing then.
fn limits_first(all: Vec<Reason>) -> Vec<Reason> {
    let (stops, others): (Vec<Reason>, Vec<Reason>) =
        all.into_iter().partition(|reason| matches!(reason, Reason::Stopped(_)));
    let interrupted = Reason::Stopped(Stop::Interrupt);
    let limit = stops.iter().any(|stop| *stop != interrupted);
    let mut reasons = Vec::new();
    for reason in stops.into_iter().filter(|stop| !(limit && *stop == interrupted)).chain(others) {
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    reasons
}

struct Race<'a> {
    entries: &'a [PlanEntry],
    task: &'a Task<'a>,
    run: &'a Run<'a>,
    table: Mutex<Table>,
    changed: Condvar,
    /// Set once the engines that still work may stop.
    over: AtomicBool,
}

/// How far each engine is.
struct Table {
    turns: Vec<Turn>,
    /// The memory that everybody said to have taken.
    bytes: Vec<usize>,
    /// Who has to leave, for memory is short.
    evicted: Option<usize>,
}

enum Turn {
    /// It goes on, or starts, in this round.
    Waits { round: usize, started: bool },
    /// It works.
    Works { round: usize },
    /// It has ended.
    Ended { round: usize, answer: Box<Answer> },
}

impl Table {
    /// Whether all have ended.
    fn is_empty(&self) -> bool {
        self.turns.iter().all(|turn| matches!(turn, Turn::Ended { .. }))
    }

    /// The first answer in the order (round, place), if there is one.
    fn first_answer(&self) -> Option<(usize, usize)> {
        let answers = self.turns.iter().enumerate().filter_map(|(at, turn)| match turn {
            Turn::Ended { round, answer } if !is_open(answer) => Some((*round, at)),
            _ => None,
        });
        answers.min()
    }

    /// Whether nobody can do better than this answer any more.
    fn is_final(&self, answer: (usize, usize)) -> bool {
        self.turns.iter().enumerate().all(|(at, turn)| match turn {
            Turn::Ended { .. } => true,
            Turn::Waits { round, .. } | Turn::Works { round } => (*round, at) > answer,
        })
    }

    /// Whose turn is next, if there is somebody.
    fn next(&self, threads: usize) -> Option<usize> {
        let works = self.turns.iter().filter(|turn| matches!(turn, Turn::Works { .. })).count();
        if works >= threads {
            return None;
        }
        let rounds = self.turns.iter().filter_map(|turn| match turn {
            Turn::Waits { round, .. } | Turn::Works { round } => Some(*round),
            Turn::Ended { .. } => None,
        });
        let last = rounds.min()? + AHEAD;
        let waiting = self.turns.iter().enumerate().filter_map(|(at, turn)| match turn {
            Turn::Waits { round, .. } if *round <= last => Some((*round, at)),
            _ => None,
        });
        let (round, at) = waiting.min()?;
        // What comes behind an answer cannot matter.
        self.first_answer().is_none_or(|answer| (round, at) < answer).then_some(at)
    }
}

impl<'a> Race<'a> {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'t>(&self, table: MutexGuard<'t, Table>) -> MutexGuard<'t, Table> {
        self.changed.wait(table).unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the race if its answer is known; else lets work whose turn it is.
    fn go_on<'s>(&'s self, table: &mut Table, scope: &'s Scope<'s, '_>) {
        if table.is_empty() || table.first_answer().is_some_and(|answer| table.is_final(answer)) {
            self.over.store(true, Ordering::SeqCst);
        }
        while !self.over.load(Ordering::SeqCst)
            && let Some(at) = table.next(self.run.threads.max(1))
        {
            if let Turn::Waits { round, started } = table.turns[at] {
                table.turns[at] = Turn::Works { round };
                if !started && !self.start(at, scope) {
                    table.turns[at] = Turn::Ended { round, answer: Box::new(self.no_thread(at)) };
                }
            }
        }
        self.changed.notify_all();
    }

    /// Starts an engine on a thread of its own; whether there was one to be had.
    fn start<'s>(&'s self, at: usize, scope: &'s Scope<'s, '_>) -> bool {
        let work = move || {
            let engine = self.entries[at].engine;
            let lane = Lane { race: self, scope, at, done: AtomicUsize::new(0) };
            let named = Named::new(engine.name(), &lane);
            let alone = Run { monitor: &named, threads: 1, crew: &Alone, rounds: false, ..*self.run };
            let answer = engine.verify(self.task, &alone);
            drop(named);
            lane.end(answer);
        };
        let name = self.entries[at].engine.name().to_string();
        thread::Builder::new().name(name).stack_size(STACK).spawn_scoped(scope, work).is_ok()
    }

    fn no_thread(&self, at: usize) -> Answer {
        let verdict = Verdict::Unknown(vec![Reason::Stopped(Stop::Memory)]);
        Answer { verdict, statistics: Statistics::default(), engine: self.entries[at].engine.name() }
    }
}

/// Watches one engine.
struct Lane<'a, 's, 'e> {
    race: &'s Race<'a>,
    scope: &'s Scope<'s, 'e>,
    at: usize,
    /// The work done so far.
    done: AtomicUsize,
}

impl Lane<'_, '_, '_> {
    /// Takes up how the engine ended.
    fn end(&self, answer: Answer) {
        let mut table = self.race.table();
        if ends_all(&answer) {
            self.race.over.store(true, Ordering::SeqCst);
        }
        if table.evicted == Some(self.at) {
            table.evicted = None;
        }
        table.bytes[self.at] = 0;
        let (Turn::Works { round } | Turn::Waits { round, .. } | Turn::Ended { round, .. }) =
            table.turns[self.at];
        table.turns[self.at] = Turn::Ended { round, answer: Box::new(answer) };
        self.race.go_on(&mut table, self.scope);
    }

    fn is_over(&self) -> Result<(), Stop> {
        if self.race.over.load(Ordering::SeqCst) { Err(Stop::Interrupt) } else { Ok(()) }
    }

    /// Lets others work if this one has done its share, until it is its turn again.
    fn yield_turn(&self, progress: &Progress) -> Result<(), Stop> {
        let done = self.done.fetch_add(progress.work, Ordering::Relaxed) + progress.work;
        let (engines, entry) = (self.race.entries.len(), &self.race.entries[self.at]);
        let mut table = self.race.table();
        while let Turn::Works { round } = table.turns[self.at]
            && done > allowance(engines, entry, round, progress)
        {
            table.turns[self.at] = Turn::Waits { round: round + 1, started: true };
            self.race.go_on(&mut table, self.scope);
            while matches!(table.turns[self.at], Turn::Waits { .. }) {
                self.is_over()?;
                if table.evicted == Some(self.at) {
                    return Err(Stop::Memory);
                }
                table = self.race.wait(table);
            }
        }
        Ok(())
    }

    /// Memory is short: whoever has taken most leaves. Waits for that, if it is somebody else.
    fn make_room(&self) -> Result<(), Stop> {
        let mut table = self.race.table();
        if table.evicted.is_none() {
            let there = |at: &usize| !matches!(table.turns[*at], Turn::Ended { .. });
            table.evicted = (0..table.turns.len()).filter(there).max_by_key(|at| table.bytes[*at]);
            self.race.changed.notify_all();
        }
        if table.evicted == Some(self.at) {
            return Err(Stop::Memory);
        }
        while table.evicted.is_some() {
            self.is_over()?;
            table = self.race.wait(table);
        }
        Ok(())
    }
}

impl Monitor for Lane<'_, '_, '_> {
    fn observe(&self, progress: &Progress) -> Result<(), Stop> {
        self.is_over()?;
        self.yield_turn(progress)?;
        {
            let mut table = self.race.table();
            table.bytes[self.at] = progress.bytes + progress.coming;
            if table.evicted == Some(self.at) {
                return Err(Stop::Memory);
            }
        }
        loop {
            match self.race.run.monitor.observe(progress) {
                Err(Stop::Memory) => self.make_room()?,
                result => return result,
            }
        }
    }

    fn leave(&self, engine: &'static str) {
        self.race.run.monitor.leave(engine);
    }

    fn note(&self, text: &str) {
        self.race.run.monitor.note(text);
    }
}

fn reasons_of(answer: &Answer) -> &[Reason] {
    match &answer.verdict {
        Verdict::Within(_, reasons) | Verdict::Unknown(reasons) => reasons,
        _ => &[],
    }
}

/// Whether an engine was stopped by what stops the others as well.
fn ends_all(answer: &Answer) -> bool {
    let limit = |reason: &Reason| matches!(reason, Reason::Stopped(Stop::Time | Stop::Interrupt));
    reasons_of(answer).iter().any(limit)
}

/// Whether the question is still open.
fn is_open(answer: &Answer) -> bool {
    matches!(answer.verdict, Verdict::Within(..) | Verdict::Unknown(_))
}
