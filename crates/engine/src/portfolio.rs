//! Engines in a race that always has the same winner.
//!
//! The entries of a [`Plan`](crate::Plan) are asked in order, each within its budget of states: the
//! first that knows the answer gives it. On several threads, later entries run ahead while an
//! earlier one is still at work, but their answers count only once all before them have ended
//! without one; when an earlier one answers, those that ran ahead are called off. So the answer
//! is the one that a single thread finds, sooner. Only a limit on time or an interruption can make
//! a difference, by making it unknown.
//!
//! Memory is shared. If it runs short, those that ran ahead give up theirs first and start again
//! when it is their turn; the one whose turn it is waits for that before it gives up itself.

use crate::plan::{Entry, plan};
use crate::{Answer, Engine, Run};
use evidence::{Monitor, Named, Progress, Reason, Stop, Task, Verdict};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// Nobody runs ahead before the first entry has so many states: most questions end before.
const HEAD_START: usize = 10_000;
/// The stack of a thread that runs ahead.
const STACK: usize = 64 << 20;

/// The engine that chooses among the others.
pub struct Portfolio;

impl Engine for Portfolio {
    fn name(&self) -> &'static str {
        "portfolio"
    }

    fn about(&self) -> &'static str {
        "races the engines that fit; --explain-plan shows which and why"
    }

    fn verify(&self, task: &Task<'_>, run: &Run<'_>) -> Answer {
        race(&plan(task).entries, task, run)
    }
}

/// Asks the entries; the answer is that of the first that has one.
fn race(entries: &[Entry], task: &Task<'_>, run: &Run<'_>) -> Answer {
    let standings = entries.iter().map(|_| Standing::Waiting).collect();
    let race = Race {
        entries,
        task,
        run,
        table: Mutex::new(Table { standings, turn: 0, ahead: false }),
        changed: Condvar::new(),
        over: AtomicBool::new(entries.is_empty()),
        alone: AtomicBool::new(false),
    };
    thread::scope(|scope| {
        for _ in 1..run.threads.min(entries.len()) {
            // Where no thread can be had, nobody runs ahead.
            let _ = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, || race.work());
        }
        race.work();
    });
    let table = race.table.into_inner().unwrap_or_else(PoisonError::into_inner);
    result(table)
}

/// The answer of the entry whose turn it was last. An unknown tells what the others could not do.
fn result(table: Table) -> Answer {
    let turn = table.turn;
    let mut others = Vec::new();
    let mut last = None;
    for (at, standing) in table.standings.into_iter().enumerate() {
        match standing {
            Standing::Ended(answer) if at < turn => others.extend(reasons_of(&answer).to_vec()),
            Standing::Ended(answer) if at == turn => last = Some(*answer),
            _ => {}
        }
    }
    let nobody = || {
        let verdict = Verdict::Unknown(Vec::new());
        Answer { verdict, statistics: Default::default(), engine: Portfolio.name() }
    };
    let mut answer = last.unwrap_or_else(nobody);
    if let Verdict::Unknown(reasons) = &mut answer.verdict {
        let more = others.into_iter().filter(|reason| !matches!(reason, Reason::Stopped(_)));
        for reason in more {
            if !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
    }
    answer
}

struct Race<'a> {
    entries: &'a [Entry],
    task: &'a Task<'a>,
    run: &'a Run<'a>,
    table: Mutex<Table>,
    changed: Condvar,
    /// Whoever is still running may stop.
    over: AtomicBool,
    /// Whoever runs ahead has to stop, for memory is short.
    alone: AtomicBool,
}

/// How far the race is.
struct Table {
    standings: Vec<Standing>,
    /// The entry whose answer counts next: all before it have ended without one.
    turn: usize,
    /// Whether others than that may run.
    ahead: bool,
}

enum Standing {
    Waiting,
    Running,
    Ended(Box<Answer>),
}

impl Race<'_> {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs entries until the race is over.
    fn work(&self) {
        while let Some(at) = self.next() {
            let lane = Lane { race: self, at, called_off: AtomicBool::new(false) };
            let engine = self.entries[at].engine;
            let named = Named::new(engine.name(), &lane);
            let answer = engine.verify(self.task, &Run { monitor: &named, ..*self.run });
            drop(named);
            self.end(at, answer, lane.called_off.into_inner());
        }
    }

    /// The next entry to run; waits until there is one, or the race is over.
    fn next(&self) -> Option<usize> {
        let mut table = self.table();
        loop {
            if self.over.load(Ordering::SeqCst) {
                return None;
            }
            if let Some(at) = self.startable(&table) {
                table.standings[at] = Standing::Running;
                return Some(at);
            }
            table = self.changed.wait(table).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The first entry that waits and may run now; no engine runs twice at once.
    fn startable(&self, table: &Table) -> Option<usize> {
        let runs = |at: &usize| matches!(table.standings[*at], Standing::Running);
        let waits = |at: &usize| matches!(table.standings[*at], Standing::Waiting);
        let same =
            |at: usize, other: usize| self.entries[at].engine.name() == self.entries[other].engine.name();
        let free = |at: &usize| !(0..self.entries.len()).filter(runs).any(|other| same(*at, other));
        let may = |at: &usize| *at == table.turn || (table.ahead && free(at));
        (table.turn..self.entries.len()).filter(waits).find(may)
    }

    /// Takes up how an entry ended.
    fn end(&self, at: usize, answer: Answer, called_off: bool) {
        let mut table = self.table();
        table.standings[at] = if called_off { Standing::Waiting } else { Standing::Ended(Box::new(answer)) };
        while let Some(Standing::Ended(answer)) = table.standings.get(table.turn) {
            if !is_open(answer) || table.turn + 1 == self.entries.len() {
                self.over.store(true, Ordering::SeqCst);
                break;
            }
            table.turn += 1;
        }
        self.changed.notify_all();
    }

    /// Lets others run ahead from now on.
    fn open_lanes(&self) {
        let mut table = self.table();
        if !table.ahead && !self.alone.load(Ordering::SeqCst) {
            table.ahead = true;
            self.changed.notify_all();
        }
    }

    /// Lets nobody run ahead any more.
    fn close_lanes(&self) {
        let mut table = self.table();
        self.alone.store(true, Ordering::SeqCst);
        table.ahead = false;
    }

    /// Calls off whoever runs ahead and waits until they have stopped; whether there was anybody.
    fn clear_lanes(&self, at: usize) -> bool {
        self.close_lanes();
        let mut table = self.table();
        let mut anybody = false;
        loop {
            let others = table.standings.iter().enumerate().filter(|(other, _)| *other != at);
            if !others.into_iter().any(|(_, standing)| matches!(standing, Standing::Running)) {
                return anybody;
            }
            anybody = true;
            table = self.changed.wait(table).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn is_ahead(&self, at: usize) -> bool {
        at > self.table().turn
    }
}

/// Watches one entry of a race.
struct Lane<'a> {
    race: &'a Race<'a>,
    at: usize,
    /// It was stopped only to make room, and has to run again.
    called_off: AtomicBool,
}

impl Lane<'_> {
    fn call_off(&self, stop: Stop) -> Result<(), Stop> {
        self.called_off.store(true, Ordering::SeqCst);
        Err(stop)
    }
}

impl Monitor for Lane<'_> {
    fn observe(&self, progress: &Progress) -> Result<(), Stop> {
        let race = self.race;
        if race.over.load(Ordering::SeqCst) {
            return Err(Stop::Interrupt);
        }
        if race.alone.load(Ordering::SeqCst) && race.is_ahead(self.at) {
            return self.call_off(Stop::Interrupt);
        }
        if race.entries[self.at].states.is_some_and(|most| progress.states > most) {
            return Err(Stop::States);
        }
        if progress.states > HEAD_START {
            race.open_lanes();
        }
        match race.run.monitor.observe(progress) {
            Err(Stop::Memory) if race.is_ahead(self.at) => {
                race.close_lanes();
                self.call_off(Stop::Memory)
            }
            Err(Stop::Memory) if race.clear_lanes(self.at) => race.run.monitor.observe(progress),
            result => result,
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
        Verdict::Unknown(reasons) => reasons,
        _ => &[],
    }
}

/// Whether another engine should have a try: no answer, and nobody asked to stop.
fn is_open(answer: &Answer) -> bool {
    let stops =
        |reason: &Reason| matches!(reason, Reason::Stopped(Stop::Time | Stop::Memory | Stop::Interrupt));
    matches!(answer.verdict, Verdict::Unknown(_)) && !reasons_of(answer).iter().any(stops)
}
