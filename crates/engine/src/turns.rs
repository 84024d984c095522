//! Violations that are deep but simple: threads run one after the other, with few exceptions.
//!
//! With many threads or long ones, a search that goes step by step does not get far. But where many threads
//! have to do their part before something goes wrong, it often does when each of them just runs until it
//! cannot. So there is a *schedule*: the thread whose turn it is goes on until it is stuck or has ended, then
//! the next one does, and so on around. A run may deviate from it a few times, by passing over a
//! thread that could go on (delay-bounded scheduling). Runs with few exceptions are followed far, runs with
//! more of them not as far, and both ever further: in round n those with d exceptions for 32·2ⁿ⁻ᵈ steps.
//! Of values to choose from, every other round tries only the smallest.
//!
//! Runs are under SC; with every store drained at once they are runs under each model. So this finds
//! violations, and never that there is none.

use crate::search::{Ended, Limits, TransitionSystem, path, search};
use crate::stepping::{Stepping, chosen_initially};
use crate::{Answer, Engine, Run};
use evidence::{Reason, Statistics, Task, Verdict};
use machine::{Buffered, Doubt, Event, SC, State, StateRef, StateSet, Stepper, Trace, TraceStep, Violation};
use program::ThreadId;
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

/// Rounds, and with them exceptions, beyond which nothing is tried.
const ROUNDS: u8 = 20;
/// How far runs of the last kind of a round are followed.
const STEPS: usize = 32;
/// Values that are tried where one is chosen.
const CHOICES: usize = 3;

/// The engine.
pub struct InTurns;

impl Engine for InTurns {
    fn name(&self) -> &'static str {
        "turns"
    }

    fn about(&self) -> &'static str {
        "looks for violations with threads running one after the other, with few exceptions; never proves safety"
    }

    fn proves(&self) -> bool {
        false
    }

    fn sees_buffers(&self, _: &Task<'_>) -> bool {
        false
    }

    fn answer(&self, task: &Task<'_>, run: &Run<'_>) -> Answer {
        let mut statistics = Statistics::default();
        let verdict = hunt(task, run, &mut statistics);
        Answer { verdict, statistics, engine: self.name() }
    }
}

fn hunt(task: &Task<'_>, run: &Run<'_>, statistics: &mut Statistics) -> Verdict {
    let machine = Buffered::exact(task.program, SC);
    let mut doubts = BTreeSet::new();
    // Runs with fewer exceptions than this were followed to their end.
    let mut finished = 0;
    for round in 1..=ROUNDS {
        let first = finished;
        for delays in first..=round {
            let mut system = TurnTaking::new(&machine, delays, round % 2 == 1);
            let depth = Some(STEPS << (round - delays));
            let found = search(&mut system, &Limits { depth, ..Limits::none(run.monitor) });
            statistics.states += found.states.len();
            doubts.extend(system.inner.doubts.take());
            let reason = match found.ended {
                Ended::Goal(at, violation) => {
                    return Verdict::Unsafe(system.trace(task, &found.states, at, violation));
                }
                Ended::Stopped(stop) => Reason::Stopped(stop),
                Ended::Full | Ended::Heavy => Reason::Full,
                Ended::Complete if system.passed_over.get() => {
                    finished = if system.few_choices { finished } else { finished.max(delays + 1) };
                    continue;
                }
                Ended::Complete => Reason::DelaysBeyond(usize::from(delays)),
                Ended::Deep => continue,
            };
            return Verdict::Unknown(with_doubts(reason, doubts));
        }
    }
    Verdict::Unknown(with_doubts(Reason::DelaysBeyond(usize::from(finished.saturating_sub(1))), doubts))
}

fn with_doubts(reason: Reason, doubts: BTreeSet<Doubt>) -> Vec<Reason> {
    std::iter::once(reason).chain(doubts.into_iter().map(Reason::Doubt)).collect()
}

/// A state, and whose turn it is.
#[derive(Default)]
struct Scheduled {
    state: State,
    turn: u32,
    /// How often a thread was passed over.
    delays: u8,
}

/// A successor of a state, until it is known which threads can go on.
struct TurnAhead {
    event: Event,
    choice: Option<i64>,
    state: State,
}

struct TurnTaking<'m> {
    inner: Stepping<Stepper<'m, Buffered<'m>>>,
    most: u8,
    /// Whether only few values are tried where one is chosen.
    few_choices: bool,
    /// Whether a run was left out because it deviates too often.
    passed_over: Cell<bool>,
    /// Working memory.
    ahead: RefCell<Vec<TurnAhead>>,
}

impl<'m> TurnTaking<'m> {
    fn new(machine: &'m Buffered<'m>, most: u8, few_choices: bool) -> TurnTaking<'m> {
        let inner = Stepping::hunting(Stepper::new(machine));
        TurnTaking { inner, most, few_choices, passed_over: Cell::new(false), ahead: RefCell::default() }
    }

    /// Keeps the smallest values of every choice.
    fn choose_few(&self, ahead: &mut Vec<TurnAhead>) {
        if !self.few_choices || ahead.iter().all(|step| step.choice.is_none()) {
            return;
        }
        let (all, few) = (ahead.len(), |step: &TurnAhead| step.choice.map_or(0, i64::unsigned_abs));
        ahead.sort_by_key(|step| (step.event, few(step), step.choice));
        let (mut last, mut count) = (None, 0);
        ahead.retain(|step| {
            count = if last == Some(step.event) { count + 1 } else { 1 };
            last = Some(step.event);
            step.choice.is_none() || count <= CHOICES
        });
        self.passed_over.set(self.passed_over.get() || ahead.len() < all);
    }

    /// The run to a violation, under the model that was asked about.
    fn trace(&mut self, task: &Task<'_>, states: &StateSet, goal: StateRef, violation: Violation) -> Trace {
        let (first, labels) = path(self, states, goal);
        let steps = labels.into_iter().map(|(event, choice)| TraceStep::of(task.program, event, choice));
        let initial = chosen_initially(task.program, &first.state);
        Trace { initial, steps: steps.collect(), violation }.under(task.program, task.model)
    }
}

impl TransitionSystem for TurnTaking<'_> {
    type State = Scheduled;
    type Label = (Event, Option<i64>);
    type Goal = Violation;

    // Successors wait until it is known which threads can go on.
    fn work(&self) -> usize {
        2
    }

    fn begin(&mut self) {
        self.inner.begin();
    }

    fn initial(&self) -> Box<dyn Iterator<Item = Scheduled> + '_> {
        Box::new(self.inner.initial().map(|state| Scheduled { state, turn: 0, delays: 0 }))
    }

    fn prepare(&mut self, state: &Scheduled) {
        self.inner.prepare(&state.state);
    }

    fn successors(
        &self,
        from: &Scheduled,
        next: &mut Scheduled,
        mut visit: impl FnMut(Self::Label, &Scheduled),
    ) {
        let mut ahead = self.ahead.borrow_mut();
        ahead.clear();
        self.inner.successors(&from.state, &mut next.state, |(event, choice), state| {
            // A thread that only waits is stuck.
            if *state != from.state {
                ahead.push(TurnAhead { event, choice, state: state.clone() });
            }
        });
        self.choose_few(&mut ahead);
        let threads = from.state.locals.len();
        let mut delays = from.delays;
        for offset in 0..threads {
            let thread = ThreadId::new((from.turn as usize + offset) % threads);
            if !ahead.iter().any(|step| step.event.thread() == thread) {
                continue;
            }
            if delays > self.most {
                self.passed_over.set(true);
                break;
            }
            (next.turn, next.delays) = (thread.index() as u32, delays);
            for step in ahead.iter_mut().filter(|step| step.event.thread() == thread) {
                std::mem::swap(&mut next.state, &mut step.state);
                visit((step.event, step.choice), next);
            }
            delays = delays.saturating_add(1);
        }
    }

    fn bytes(&self) -> usize {
        self.inner.bytes()
    }

    fn goal(&self, state: &Scheduled) -> Option<Violation> {
        self.inner.goal(&state.state)
    }

    fn pack(&self, state: &Scheduled, out: &mut Vec<u8>) {
        out.extend(state.turn.to_le_bytes());
        out.push(state.delays);
        self.inner.pack(&state.state, out);
    }

    fn unpack(&self, bytes: &[u8], state: &mut Scheduled) {
        if let [a, b, c, d, delays, rest @ ..] = bytes {
            (state.turn, state.delays) = (u32::from_le_bytes([*a, *b, *c, *d]), *delays);
            self.inner.unpack(rest, &mut state.state);
        }
    }
}
