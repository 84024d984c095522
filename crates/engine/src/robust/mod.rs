//! Robustness against TSO [004, sec. 2.3.3 and 3.1]: does weak memory matter at all?
//!
//! A program is robust if every run under TSO looks like one under SC: the same steps, the
//! same stores read, the same order of stores to each variable. It is not robust exactly if
//! some *attack*, a store delayed past a load, has a witness. First the program text alone is
//! asked ([`machine::attacks`]); where no attack is left the program is robust, for whatever data. Then
//! the states under SC are explored once, and from them every attack is searched on its own
//! ([`attacking`]), in parallel. Every search is finite if the data are, whatever the buffers
//! hold, so the answer is exact for finite data.
//!
//! For programs with very many or infinitely many states all searches are cut off at a number
//! of states that grows from round to round: a witness need not wait for the end of a search
//! that has none. Where not even the states under SC fit into a round, no search can end, and each
//! starts from a few of them only, so that it gets further. The answer does not depend on how the searches are shared out: of all attacks
//! with a witness, the first counts.

mod attacking;
mod checked;
mod fences;

pub use machine::Cuts;

pub use checked::robust_checked;
pub use fences::{MadeRobust, RobustFence, RobustFences, fences_for_robustness};

use crate::Run;
use crate::search::{Ended, Limits, Order, Search, Weight, path, search};
use crate::stepping::{Stepping, chosen_initially};
use attacking::Hunt;
use evidence::{
    CheckedWitness, ClosedSet, Monitor, Patience, Progress, Reason, RobustProof, Stop, Witness,
    WitnessRejected, check_witness, each,
};
use machine::{
    Accesses, Attack, AttackStep, Attacking, Buffered, Delaying, SC, State, StateRef, StateSet, Stepper,
    TraceStep, attacks_within, delays, number_controls,
};
use program::Program;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

/// States each search may have in the first round.
const FIRST_ROUND: usize = 1 << 16;

/// How many times as many in the next.
const GROWTH: usize = 16;

/// Whether weak memory matters.
#[derive(Debug)]
pub enum Robustness {
    /// It does not: every run under TSO looks like one under SC.
    Robust,
    /// It does: this run looks like none under SC.
    NotRobust(Box<CheckedWitness>),
    /// No answer within the limits, and why.
    Unknown(Vec<Reason>),
    /// A witness was found and its check failed: a bug of ours.
    Rejected(WitnessRejected),
}

/// What it took to decide.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RobustWork {
    /// Pairs of a store and a load behind it in the program text.
    pub delays: usize,
    /// Those among them that the text alone does not dismiss.
    pub suspects: usize,
    /// States explored in the last round: under SC, and by the searches up to the one that decided.
    pub states: usize,
}

/// Decides whether a program is robust against TSO.
pub fn robust(program: &Program, run: &Run<'_>) -> Robustness {
    robust_with(program, run, Cuts::ALL).0
}

/// As [`robust()`], dismissing only some attacks beforehand, and with what it took.
pub fn robust_with(program: &Program, run: &Run<'_>, cuts: Cuts) -> (Robustness, RobustWork) {
    let (answer, work, _) = robust_proved(program, run, cuts);
    (answer, work)
}

/// As [`robust()`], with the proof if the program is robust.
pub fn prove_robust(program: &Program, run: &Run<'_>) -> (Robustness, Option<RobustProof>) {
    let (answer, _, proof) = robust_proved(program, run, Cuts::ALL);
    (answer, proof)
}

/// As [`robust_with`], with the proof if the program is robust.
pub fn robust_proved(
    program: &Program,
    run: &Run<'_>,
    cuts: Cuts,
) -> (Robustness, RobustWork, Option<RobustProof>) {
    let accesses = Accesses::of(program);
    let mut work = RobustWork::default();
    let mut patience = Patience::new(run.monitor, "looking for cycles");
    work.delays = delays(program, &mut || patience.lasts()).unwrap_or_default();
    let attacks = attacks_within(program, &accesses, cuts, &mut || patience.lasts());
    let attacks = match patience.found(attacks) {
        Ok(attacks) => attacks,
        Err(stop) => return (Robustness::Unknown(vec![Reason::Stopped(stop)]), work, None),
    };
    work.suspects = attacks.iter().map(|attack| attack.reached).sum();
    if attacks.is_empty() {
        return (Robustness::Robust, work, Some(RobustProof::default()));
    }
    let machine = Buffered::exact(program, SC);
    let mut most = FIRST_ROUND;
    loop {
        let round =
            Round { program, machine: &machine, accesses: &accesses, run, most, wanted: Wanted::First };
        work.states = 0;
        match round.answer(&attacks, &mut work.states) {
            Some((answer, under_sc)) => {
                return (answer, work, under_sc.map(|set| RobustProof { under_sc: Some(set) }));
            }
            None => most = most.saturating_mul(GROWTH),
        }
    }
}

/// Which witnesses are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// That of the first attack that has one.
    First,
    /// One of every attack that has one.
    All,
}

/// One look at all attacks, with a limit on states.
pub(crate) struct Round<'a> {
    pub(crate) program: &'a Program,
    /// The machine of SC.
    pub(crate) machine: &'a Buffered<'a>,
    pub(crate) accesses: &'a Accesses,
    pub(crate) run: &'a Run<'a>,
    pub(crate) most: usize,
    pub(crate) wanted: Wanted,
}

/// The states under SC.
pub(crate) type UnderSc<'a> = Stepping<Stepper<'a, Buffered<'a>>>;

/// What became of one search.
#[derive(Default)]
pub(crate) struct Outcome {
    pub(crate) witness: Option<Labels>,
    /// Whether the round's own limit cut it off.
    pub(crate) cut: bool,
    pub(crate) reasons: BTreeSet<Reason>,
    states: usize,
}

/// The state of SC that an attack starts from, and its steps.
pub(crate) struct Labels {
    pub(crate) start: State,
    pub(crate) steps: Vec<AttackStep>,
}

impl<'a> Round<'a> {
    /// The answer; `None` if only the limit of the round stands in the way. Adds up the states.
    fn answer(&self, attacks: &[Attack], states: &mut usize) -> Option<(Robustness, Option<ClosedSet>)> {
        let mut system = Stepping::wandering(Stepper::new(self.machine));
        number_controls(&mut system.domain, self.program);
        let found = search(&mut system, &self.limits(self.run.monitor));
        let mut outcome = self.outcome(&found);
        outcome.reasons.extend(system.doubts.take().into_iter().map(Reason::Doubt));
        *states += outcome.states;
        for (attack, attacked) in attacks.iter().zip(self.search_all(attacks, &found.states, starts(&found)))
        {
            *states += attacked.states;
            if let Some(labels) = attacked.witness {
                let witness = self.witness(&mut system, &found.states, attack, &labels);
                let answer = match witness.and_then(|witness| check_witness(self.program, witness)) {
                    Ok(checked) => Robustness::NotRobust(Box::new(checked)),
                    Err(why) => Robustness::Rejected(why),
                };
                return Some((answer, None));
            }
            outcome.cut |= attacked.cut;
            outcome.reasons.extend(attacked.reasons);
        }
        let stopped = |reason: &Reason| matches!(reason, Reason::Stopped(_) | Reason::Full);
        if outcome.cut && !outcome.reasons.iter().any(stopped) {
            return None;
        }
        let reasons: Vec<Reason> = outcome.reasons.into_iter().collect();
        Some(match reasons.is_empty() {
            true => (Robustness::Robust, Some(system.closed_set(found.states))),
            false => (Robustness::Unknown(reasons), None),
        })
    }

    pub(crate) fn limits<'b>(&self, monitor: &'b dyn Monitor) -> Limits<'b> {
        Limits {
            order: Order::Breadth,
            depth: None,
            states: Some(self.most),
            monitor,
            weight: Weight::Ignore,
        }
    }

    pub(crate) fn outcome<G>(&self, found: &Search<G>) -> Outcome {
        let cut = matches!(found.ended, Ended::Stopped(Stop::States)) && found.states.len() > self.most;
        let reason = match &found.ended {
            Ended::Stopped(_) if cut => None,
            Ended::Stopped(stop) => Some(Reason::Stopped(*stop)),
            Ended::Full => Some(Reason::Full),
            _ => None,
        };
        Outcome { witness: None, cut, reasons: reason.into_iter().collect(), states: found.states.len() }
    }

    /// Searches all attacks, several at once. Those behind the first that has a witness are left out
    /// if only that is wanted, and those behind the one at which it was stopped.
    pub(crate) fn search_all(
        &self,
        attacks: &[Attack],
        under_sc: &StateSet,
        starts: Option<usize>,
    ) -> Vec<Outcome> {
        let first = AtomicUsize::new(usize::MAX);
        each(self.run.threads, attacks.len(), |at| {
            let monitor = Overtaken { at, first: &first, monitor: self.run.monitor };
            if let Err(stop) = monitor.observe(&Progress::default()) {
                let reasons = BTreeSet::from([Reason::Stopped(stop)]);
                return ControlFlow::Break(Outcome { reasons, ..Outcome::default() });
            }
            let outcome = self.search_one(&attacks[at], under_sc, starts, &monitor);
            if outcome.witness.is_some() && self.wanted == Wanted::First {
                first.fetch_min(at, Ordering::Relaxed);
                return ControlFlow::Break(outcome);
            }
            ControlFlow::Continue(outcome)
        })
    }

    /// The first states in which a store can be issued.
    fn first_starts(&self, attack: &Attack, under_sc: &StateSet, count: usize) -> StateSet {
        let threads = self.program.threads.len();
        let from = self.program.thread(attack.thread).edge(attack.store).from;
        let mut state = State::default();
        let mut issues = |bytes: &&[u8]| {
            state.unpack(threads, bytes).is_some()
                && state.locals[attack.thread.index()] as usize == from.index()
        };
        let mut starts = StateSet::new();
        for bytes in under_sc.iter().filter(|bytes| issues(bytes)).take(count) {
            // What does not fit is left out, as all the others are.
            let _ = starts.insert(bytes, None);
        }
        starts
    }

    fn search_one(
        &self,
        attack: &Attack,
        under_sc: &StateSet,
        starts: Option<usize>,
        monitor: &dyn Monitor,
    ) -> Outcome {
        let few = starts.map(|count| self.first_starts(attack, under_sc, count));
        let machine = Delaying::new(self.machine, attack);
        let mut system = Hunt {
            attacking: Attacking::new(&machine, self.accesses),
            under_sc: few.as_ref().unwrap_or(under_sc),
            threads: self.program.threads.len(),
            doubts: RefCell::default(),
        };
        let found = search(&mut system, &self.limits(monitor));
        let mut outcome = self.outcome(&found);
        if let Ended::Goal(at, ()) = found.ended {
            let (start, steps) = path(&mut system, &found.states, at);
            outcome.witness = Some(Labels { start: start.state, steps });
        }
        outcome.reasons.extend(system.doubts.take().into_iter().map(Reason::Doubt));
        outcome
    }

    /// The whole run: under SC up to the attack, the attack, and the attacker's drains.
    pub(crate) fn witness(
        &self,
        system: &mut UnderSc<'_>,
        under_sc: &StateSet,
        attack: &Attack,
        labels: &Labels,
    ) -> Result<Witness, WitnessRejected> {
        let start = find(under_sc, &labels.start).ok_or(WitnessRejected::Roles)?;
        let (first, before) = path(system, under_sc, start);
        let program = self.program;
        let step = |(event, choice)| TraceStep::of(program, event, choice);
        let mut steps = TraceStep::drained_at_once(program, before.into_iter().map(step));
        let store = steps.len();
        let (mut load, mut owed) = (store, Vec::new());
        for label in &labels.steps {
            if label.is_load {
                load = steps.len();
            }
            steps.push(step((label.event, label.choice)));
            let drain = TraceStep::drain_behind(program, label.event);
            if label.event.thread() == attack.thread { owed.extend(drain) } else { steps.extend(drain) }
        }
        let drain = steps.len();
        steps.extend(owed);
        Ok(Witness { initial: chosen_initially(program, &first), steps, store, load, drain })
    }
}

/// How many states an attack starts from: all, unless there are more than could be explored. Then
/// as many as each of them may have states of its own.
pub(crate) fn starts<G>(under_sc: &Search<G>) -> Option<usize> {
    let stopped = matches!(under_sc.ended, Ended::Stopped(_) | Ended::Full);
    stopped.then(|| under_sc.states.len().isqrt())
}

/// Where a state is in a set.
fn find(states: &StateSet, state: &State) -> Option<StateRef> {
    let mut packed = Vec::new();
    state.pack(&mut packed);
    states.refs().find(|at| states.get(*at) == packed)
}

/// Stops a search once an attack before it has a witness.
struct Overtaken<'a> {
    at: usize,
    first: &'a AtomicUsize,
    monitor: &'a dyn Monitor,
}

impl Monitor for Overtaken<'_> {
    fn observe(&self, progress: &Progress) -> Result<(), Stop> {
        if self.first.load(Ordering::Relaxed) < self.at {
            return Err(Stop::Interrupt);
        }
        self.monitor.observe(progress)
    }
}
