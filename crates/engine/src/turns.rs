//! Violations that are deep but simple: threads run one after the other, with few exceptions.
//!
//! With many threads or long ones, a search that goes step by step does not get far. But where many threads
//! have to do their part before something goes wrong, it often does when each of them just runs until it
//! cannot. So there is a *schedule*: the thread whose turn it is goes on until it is stuck or has ended, then
//! the next one does, and so on around. A run may deviate from it a few times, by passing over a
//! thread that could go on: 0 times at first, then 1, 2, … (delay-bounded scheduling). For each bound the
//! runs are few, and a depth-first search goes through them.
//!
//! Runs are under SC; with every store drained at once they are runs under each model. So this finds
//! violations, and never that there is none.

use crate::search::{Ended, Limits, Order, TransitionSystem, Weight, path, search};
use crate::stepping::{Stepping, chosen_initially};
use crate::{Answer, Engine, Run};
use evidence::{Reason, Statistics, Task, Verdict};
use machine::{Buffered, Event, SC, State, StateRef, StateSet, Stepper, Trace, TraceStep, Violation};
use program::ThreadId;
use std::cell::{Cell, RefCell};

/// More exceptions than this are not tried.
const MOST_DELAYS: u8 = 12;

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

    fn verify(&self, task: &Task<'_>, run: &Run<'_>) -> Answer {
        let mut statistics = Statistics::default();
        let verdict = hunt(task, run, &mut statistics);
        Answer { verdict, statistics, engine: self.name() }
    }
}

fn hunt(task: &Task<'_>, run: &Run<'_>, statistics: &mut Statistics) -> Verdict {
    let machine = Buffered::exact(task.program, SC);
    let limits = Limits {
        order: Order::Depth,
        depth: None,
        states: None,
        weight: Weight::Ignore,
        monitor: run.monitor,
    };
    let mut reasons = Vec::new();
    for delays in 0..=MOST_DELAYS {
        let mut system = Turns::new(&machine, delays);
        let found = search(&mut system, &limits);
        statistics.states += found.states.len();
        match found.ended {
            Ended::Goal(at, violation) => {
                return Verdict::Unsafe(system.trace(task, &found.states, at, violation));
            }
            Ended::Stopped(stop) => reasons = vec![Reason::Stopped(stop)],
            Ended::Full | Ended::Heavy => reasons = vec![Reason::Full],
            Ended::Complete | Ended::Deep => reasons = vec![Reason::DelaysBeyond(usize::from(delays))],
        }
        let all = matches!(found.ended, Ended::Complete) && !system.passed_over.get();
        reasons.extend(system.inner.doubts.take().into_iter().map(Reason::Doubt));
        if all || !matches!(found.ended, Ended::Complete) {
            break;
        }
    }
    Verdict::Unknown(reasons)
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
struct Ahead {
    event: Event,
    choice: Option<i64>,
    state: State,
}

struct Turns<'m> {
    inner: Stepping<Stepper<'m, Buffered<'m>>>,
    most: u8,
    /// Whether a run was left out because it deviates too often.
    passed_over: Cell<bool>,
    /// Working memory.
    ahead: RefCell<Vec<Ahead>>,
}

impl<'m> Turns<'m> {
    fn new(machine: &'m Buffered<'m>, most: u8) -> Turns<'m> {
        let inner = Stepping::hunting(Stepper::new(machine));
        Turns { inner, most, passed_over: Cell::new(false), ahead: RefCell::default() }
    }

    /// The run to a violation, under the model that was asked about.
    fn trace(&mut self, task: &Task<'_>, states: &StateSet, goal: StateRef, violation: Violation) -> Trace {
        let (first, labels) = path(self, states, goal);
        let steps = labels.into_iter().map(|(event, choice)| TraceStep::of(task.program, event, choice));
        let steps = match task.model.buffers() {
            true => TraceStep::drained_at_once(task.program, steps),
            false => steps.collect(),
        };
        Trace { initial: chosen_initially(task.program, &first.state), steps, violation }
    }
}

impl TransitionSystem for Turns<'_> {
    type State = Scheduled;
    type Label = (Event, Option<i64>);
    type Goal = Violation;

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
                ahead.push(Ahead { event, choice, state: state.clone() });
            }
        });
        let threads = from.state.locals.len();
        let mut delays = from.delays;
        // The last one pushed is the first one gone through, so whose turn it is comes last.
        let mut allowed = Vec::new();
        for offset in 0..threads {
            let thread = ThreadId::new((from.turn as usize + offset) % threads);
            if !ahead.iter().any(|step| step.event.thread() == thread) {
                continue;
            }
            if delays > self.most {
                self.passed_over.set(true);
                break;
            }
            allowed.push((thread, delays));
            delays = delays.saturating_add(1);
        }
        for (thread, delays) in allowed.into_iter().rev() {
            (next.turn, next.delays) = (thread.index() as u32, delays);
            for step in ahead.iter_mut().filter(|step| step.event.thread() == thread) {
                std::mem::swap(&mut next.state, &mut step.state);
                visit((step.event, step.choice), next);
            }
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
