//! Simpler runs to the same violation.
//!
//! A run that an engine found is right, but rarely the one a person would tell. In this order:
//! fewer steps of threads (loops and threads that do not matter are left out, [`delete`]), fewer
//! *delayed* stores (all others drain at once, so that only the delays that matter remain), fewer
//! changes of thread ([`order`]), fewer steps at all. This is a total measure, [`Cost`], and every
//! change makes it smaller, so rounds of changes end.
//!
//! Nothing is believed: a changed run is run on the exact machine from the first changed step on,
//! and replaces the old one only if it ends in the same violation; the last is replayed as a
//! whole. The number of steps taken for all this is bounded, so long runs are simplified less,
//! not later. No chance: the result depends on the run alone, unless a limit ends it, as it may
//! at any time.

mod delete;
mod graph;
mod order;

use crate::{Checked, Monitor, Patience, Task, Violated};
use delete::delete;
use machine::{
    Account, Buffered, Configuration, Event, ReplayedStep, SC, Trace, TraceStep, Violation, replay,
    replayed_steps,
};
use program::{Op, Program, ThreadId};

/// How many steps may be taken to try changes.
const MOST_STEPS: usize = 100_000;
/// Looking at so many steps of a run counts as taking one.
const LOOKS: usize = 32;
/// Rounds of deleting and reordering; more than three have not been seen to help.
const MOST_ROUNDS: usize = 4;

/// The verdict with a simpler run and its cause, if it is a violation; others stay as they are.
///
/// The result is as checked as what was given.
pub fn simplify(task: &Task<'_>, checked: Checked, monitor: &dyn Monitor) -> Checked {
    simpler(task, &checked, monitor).unwrap_or(checked)
}

/// A simpler run to the same violation, if there is one.
fn simpler(task: &Task<'_>, checked: &Checked, monitor: &dyn Monitor) -> Option<Checked> {
    let Violated { trace, account, .. } = checked.violated()?;
    let mut draft = Draft::new(task, trace, account, monitor);
    if !draft.simplify() {
        return None;
    }
    let simpler = Trace { steps: draft.steps, ..trace.clone() };
    // What was made step by step can be replayed; if not, nothing was gained.
    let account = replay(task.program, task.model, &simpler).ok()?;
    Some(Checked::violation(simpler, account))
}

/// Whether a run is one under SC as well: without the drains, SC takes the same steps to the
/// same violation.
pub fn happens_under_sc(program: &Program, trace: &Trace) -> bool {
    let steps = trace.steps.iter().filter(|step| matches!(step.event, Event::Step { .. }));
    let trace = Trace { steps: steps.cloned().collect(), ..trace.clone() };
    replay(program, SC, &trace).is_ok()
}

/// How far a run is from the simplest; what stands first counts most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Cost {
    /// Steps of threads.
    steps: usize,
    /// Stores that do not drain at once.
    delayed: usize,
    /// How often another thread goes on.
    switches: usize,
    /// Steps, with drains.
    length: usize,
    /// Who begins: of equals, always the same one is shown.
    first: Option<ThreadId>,
}

impl Cost {
    fn of(steps: &[ReplayedStep]) -> Cost {
        let threads = steps.iter().filter(|step| matches!(step.event, Event::Step { .. }));
        let threads: Vec<_> = threads.map(ReplayedStep::thread).collect();
        // The drain of the last step is behind the end.
        let at_once = |at: usize| at + 1 < steps.len() && steps[at].drain == Some(at + 1);
        let delayed = |at: &usize| steps[*at].buffered().is_some() && !at_once(*at);
        Cost {
            steps: threads.len(),
            delayed: (0..steps.len()).filter(delayed).count(),
            switches: threads.windows(2).filter(|pair| pair[0] != pair[1]).count(),
            length: steps.len(),
            first: threads.first().copied(),
        }
    }
}

/// A run that becomes simpler.
struct Draft<'a> {
    task: Task<'a>,
    machine: Buffered<'a>,
    violation: Violation,
    steps: Vec<TraceStep>,
    passed: Vec<Configuration>,
    replayed: Vec<ReplayedStep>,
    cost: Cost,
    /// How many steps may still be taken.
    left: usize,
    patience: Patience<'a>,
}

/// The configurations of a changed run, as far as they are new.
struct Tried {
    /// How many steps are those of the old run.
    same: usize,
    /// What was passed after them.
    new: Vec<Configuration>,
    /// From this one on, the configurations of the old run were passed again.
    rejoins: Option<usize>,
}

impl<'a> Draft<'a> {
    fn new(task: &Task<'a>, trace: &Trace, account: &Account, monitor: &'a dyn Monitor) -> Draft<'a> {
        Draft {
            task: *task,
            machine: Buffered::exact(task.program, task.model).with_dead_registers(),
            violation: trace.violation,
            steps: trace.steps.clone(),
            passed: account.passed().to_vec(),
            replayed: account.steps().to_vec(),
            cost: Cost::of(account.steps()),
            left: MOST_STEPS,
            patience: Patience::new(monitor, "simplifying"),
        }
    }

    /// Makes the run as simple as it gets; whether that changed it.
    fn simplify(&mut self) -> bool {
        let before = self.cost;
        self.cut();
        for _ in 0..MOST_ROUNDS {
            let round = self.cost;
            delete(self);
            self.reorder();
            if self.cost == round {
                break;
            }
        }
        self.cost < before
    }

    /// Leaves out what stands behind the first violation, but not the drain of a store that would
    /// be a delayed one without it.
    fn cut(&mut self) {
        let Some(first) = self.passed.iter().position(|at| self.is_violated(at)) else { return };
        let ends = (first..self.steps.len()).take(2).filter(|end| self.is_violated(&self.passed[*end]));
        let cost = |end: usize| (Cost::of(&self.replayed[..end]), end);
        if let Some((cost, end)) = ends.map(cost).min().filter(|(cost, _)| *cost < self.cost) {
            self.passed.truncate(end + 1);
            self.steps.truncate(end);
            self.replayed.truncate(end);
            self.replayed.iter_mut().for_each(|step| step.drain = step.drain.filter(|drain| *drain < end));
            self.cost = cost;
        }
    }

    fn is_violated(&self, at: &Configuration) -> bool {
        at.violates(self.task.program, self.violation)
    }

    /// Replaces the run if these steps end in the same violation and are simpler.
    fn adopt(&mut self, steps: Vec<TraceStep>) -> bool {
        let Some(tried) = self.attempt(&steps) else { return false };
        let old = tried.rejoins.map_or(&[][..], |from| &self.passed[from..]);
        let run: Vec<&Configuration> =
            self.passed[..=tried.same].iter().chain(&tried.new).chain(old).collect();
        if !run.last().is_some_and(|last| self.is_violated(last)) {
            return false;
        }
        let replayed = replayed_steps(self.task.program, &steps, |at| run[at]);
        let cost = Cost::of(&replayed);
        if cost >= self.cost {
            return false;
        }
        let old = tried.rejoins.map(|from| self.passed.split_off(from)).unwrap_or_default();
        self.passed.truncate(tried.same + 1);
        self.passed.extend(tried.new);
        self.passed.extend(old);
        (self.steps, self.replayed, self.cost) = (steps, replayed, cost);
        true
    }

    /// Counts a look at the whole run; whether there is anything left to spend.
    fn pay(&mut self) -> bool {
        self.left = self.left.saturating_sub(self.steps.len().div_ceil(LOOKS));
        self.left > 0 && self.patience.lasts()
    }

    /// Runs changed steps; `None` if one cannot be taken or too many have been.
    fn attempt(&mut self, steps: &[TraceStep]) -> Option<Tried> {
        if !self.pay() {
            return None;
        }
        let same = self.steps.iter().zip(steps).take_while(|(old, new)| old == new).count();
        let shorter = steps.len().min(self.steps.len()) - same;
        let ends = self.steps.iter().rev().zip(steps.iter().rev()).take(shorter);
        let tail = ends.take_while(|(old, new)| old == new).count();
        let mut tried = Tried { same, new: Vec::new(), rejoins: None };
        for (at, step) in steps.iter().enumerate().skip(same) {
            let now = tried.new.last().unwrap_or(&self.passed[same]);
            let rejoined = self.steps.len() - tail;
            if at == steps.len() - tail && *now == self.passed[rejoined] {
                tried.rejoins = Some(rejoined + 1);
                return Some(tried);
            }
            self.left = self.left.checked_sub(1)?;
            if tried.new.len() % 64 == 63 && !self.patience.lasts() {
                return None;
            }
            let next = now.take(&self.machine, step.event, step.choice.as_ref())?;
            tried.new.push(next);
        }
        Some(tried)
    }

    /// Tries other orders of the same steps, with the drains that were left out added.
    fn reorder(&mut self) {
        let program = self.task.program;
        if self.steps.len() > order::MOST_STEPS {
            return;
        }
        for lazy in program.thread_ids() {
            let (steps, run) = self.drained(lazy);
            let replayed = replayed_steps(program, &steps, |at| &run[at]);
            let end = &run[run.len() - 1];
            let Some(mut steps) = order::reordered(&self.task, &steps, (&replayed, end), lazy) else {
                return;
            };
            self.drop_late_drains(&mut steps);
            if self.adopt(steps) {
                self.cut();
            }
        }
    }

    /// The run with what is still buffered at its end drained, the stores of `lazy` last, as far
    /// as the end stays a violation.
    fn drained(&mut self, lazy: ThreadId) -> (Vec<TraceStep>, Vec<Configuration>) {
        let (mut steps, mut passed) = (self.steps.clone(), self.passed.clone());
        let others = self.task.program.thread_ids().filter(|thread| *thread != lazy);
        for thread in others.chain([lazy]) {
            let (mut more, mut at) = (Vec::new(), passed[passed.len() - 1].clone());
            while let Some(event) = next_drain(&self.machine, &at, thread) {
                let Some(next) = at.take(&self.machine, event, None) else { break };
                more.push((TraceStep { event, choice: None }, next.clone()));
                at = next;
            }
            // What stands behind one that changes the violation cannot drain either.
            let kept = more.iter().take_while(|(_, next)| self.is_violated(next)).count();
            for (step, next) in more.into_iter().take(kept) {
                steps.push(step);
                passed.push(next);
            }
        }
        (steps, passed)
    }

    /// Leaves out drains that nothing needs: stores that are late anyway may stay buffered.
    fn drop_late_drains(&mut self, steps: &mut Vec<TraceStep>) {
        for at in (0..steps.len()).rev() {
            let Event::Drain { thread, .. } = steps[at].event else { continue };
            // One right behind a store of its thread is not late.
            if let Some(Event::Step { thread: t, edge }) = at.checked_sub(1).map(|before| steps[before].event)
                && t == thread
                && matches!(self.task.program.thread(t).edge(edge).op, Op::Store(..))
            {
                continue;
            }
            let mut fewer = steps.clone();
            fewer.remove(at);
            if self.ends_violated(&fewer) {
                *steps = fewer;
            }
        }
    }

    fn ends_violated(&mut self, steps: &[TraceStep]) -> bool {
        let Some(tried) = self.attempt(steps) else { return false };
        let last = match tried.rejoins {
            Some(_) => self.passed.last(),
            None => tried.new.last().or(self.passed.get(tried.same)),
        };
        last.is_some_and(|last| self.is_violated(last))
    }
}

/// The drain of a thread's oldest store that may drain.
fn next_drain(machine: &Buffered<'_>, at: &Configuration, thread: ThreadId) -> Option<Event> {
    let enabled = at.enabled(machine).into_iter().map(|step| step.event);
    enabled.filter(|event| matches!(event, Event::Drain { .. })).find(|event| event.thread() == thread)
}
