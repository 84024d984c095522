//! Robustness [004, sec. 2.3.3 and 3.1]: does weak memory matter at all?
//!
//! A program is robust against a model if every run under it looks like one under SC: the same steps, the
//! same stores read, the same order of stores to each variable. It is not robust exactly if
//! some *attack*, a store delayed past a load or past another store, has a witness. First the program text alone is
//! asked ([`machine::attacks`]); where no attack is left the program is robust, for whatever data. Of attacks that
//! differ in the names of threads, one is searched ([`machine::attack_classes`]). Then
//! the states under SC are explored once, and from them every attack is searched on its own
//! ([`attacking`]), in parallel. Every search is finite if the data are, whatever the buffers
//! hold, so the answer is exact for finite data. Values that decide nothing about what threads do count as 0
//! ([`Program::deciding_part`]), so only the others need to be finite.
//!
//! For programs with very many or infinitely many states all searches are cut off at a number
//! of states that grows from round to round: a witness need not wait for the end of a search
//! that has none. Where not even the states under SC fit into a round, no search can end, and each
//! starts from a few of them only, so that it gets further. The answer does not depend on how the searches are shared out: of all attacks
//! with a witness, the first counts.

mod attacking;

pub use machine::Cuts;

use crate::search::{Ended, Limits, Search, path, search};
use crate::stepping::{Stepping, broken_off, chosen_initially};
use crate::{Answer, Engine, Run};
use attacking::Hunt;
use evidence::{
    Monitor, Patience, Progress, Reason, RobustProof, Statistics, Stop, Task, Verdict, Witness, each,
};
use machine::{
    Accesses, Attack, AttackAhead, AttackStep, Buffered, Delaying, Model, SC, State, StateRef, StateSet,
    Stepper, TraceStep, attack_classes, attacks_within, delays, number_controls,
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

/// So many states of SC pass before a search for starts asks again whether to go on.
const PATIENCE: usize = 4096;

/// The work of looking whether an attack begins in one of them.
const BEGUN: usize = 3;

/// Decides whether programs are robust.
#[derive(Clone, Copy, Debug)]
pub struct Robust {
    /// What the program text may dismiss.
    pub cuts: Cuts,
}

impl Default for Robust {
    fn default() -> Robust {
        Robust { cuts: Cuts::ALL }
    }
}

impl Engine for Robust {
    fn name(&self) -> &'static str {
        "robust"
    }

    fn about(&self) -> &'static str {
        "looks for a delayed store that shows; decides robustness, and nothing else"
    }

    fn answer(&self, task: &Task<'_>, run: &Run<'_>) -> Answer {
        let mut statistics = Statistics::default();
        let verdict = if task.model.is_sc() {
            Verdict::Robust(RobustProof::default())
        } else {
            self.decide(task, run, &mut statistics).unwrap_or_else(Verdict::Unknown)
        };
        Answer { verdict, statistics, engine: self.name() }
    }
}

impl Robust {
    /// The verdict against a model that delays stores, or why there is none.
    fn decide(
        &self,
        task: &Task<'_>,
        run: &Run<'_>,
        statistics: &mut Statistics,
    ) -> Result<Verdict, Vec<Reason>> {
        let Task { program: original, model, .. } = *task;
        let deciding = original.deciding_part();
        let program = &deciding;
        let accesses = Accesses::of(program);
        let mut patience = Patience::new(run.monitor, "looking for cycles");
        statistics.delays = Some(delays(program, model, &mut || patience.lasts()).unwrap_or_default());
        let attacks = attacks_within(program, model, &accesses, self.cuts, &mut || patience.lasts());
        let attacks = patience.found(attacks).map_err(|stop| vec![Reason::Stopped(stop)])?;
        statistics.suspects = Some(attacks.iter().map(|attack| attack.reached).sum());
        if attacks.is_empty() {
            return Ok(Verdict::Robust(RobustProof::default()));
        }
        // The first attack with a witness is the first of its class.
        let classes = attack_classes(program, attacks).into_iter();
        let attacks: Vec<Attack> = classes.map(|class| class.attack).collect();
        let machine = Buffered::exact(program, SC);
        let mut most = FIRST_ROUND;
        loop {
            let round = AttackRound {
                program,
                original,
                model,
                machine: &machine,
                accesses: &accesses,
                run,
                most,
                wanted: Wanted::First,
            };
            statistics.states = 0;
            match round.answer(&attacks, &mut statistics.states) {
                Some(verdict) => return Ok(verdict),
                None => most = most.saturating_mul(GROWTH),
            }
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
pub(crate) struct AttackRound<'a> {
    pub(crate) program: &'a Program,
    /// The program that witnesses are told of; it differs in values only.
    pub(crate) original: &'a Program,
    /// The model whose attacks these are.
    pub(crate) model: Model,
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
pub(crate) struct AttackOutcome {
    pub(crate) witness: Option<Labels>,
    /// Whether the round's own limit cut it off.
    pub(crate) cut: bool,
    pub(crate) reasons: BTreeSet<Reason>,
    states: usize,
}

impl AttackOutcome {
    fn stopped(stop: Stop) -> AttackOutcome {
        AttackOutcome { reasons: BTreeSet::from([Reason::Stopped(stop)]), ..AttackOutcome::default() }
    }
}

/// The state of SC that an attack starts from, and its steps.
pub(crate) struct Labels {
    pub(crate) start: State,
    pub(crate) steps: Vec<AttackStep>,
}

impl<'a> AttackRound<'a> {
    /// The answer; `None` if only the limit of the round stands in the way. Adds up the states.
    fn answer(&self, attacks: &[Attack], states: &mut usize) -> Option<Verdict> {
        let mut system = Stepping::wandering(Stepper::new(self.machine));
        number_controls(&mut system.domain, self.program);
        let found = search(&mut system, &self.limits(self.run.monitor));
        let mut outcome = self.outcome(&found);
        outcome.reasons.extend(system.take_reasons());
        *states += outcome.states;
        for (attack, attacked) in attacks.iter().zip(self.search_all(attacks, &found.states, starts(&found)))
        {
            *states += attacked.states;
            if let Some(labels) = attacked.witness {
                let witness = self.witness(&mut system, &found.states, attack, &labels);
                return Some(witness.map_or_else(|| Verdict::Unknown(Vec::new()), Verdict::NotRobust));
            }
            outcome.cut |= attacked.cut;
            outcome.reasons.extend(attacked.reasons);
        }
        if outcome.cut && !is_stopped(&outcome.reasons) {
            return None;
        }
        let reasons: Vec<Reason> = outcome.reasons.into_iter().collect();
        Some(match reasons.is_empty() {
            true => {
                let under_sc = Some(system.closed_set(found.states));
                Verdict::Robust(RobustProof { under_sc })
            }
            false => Verdict::Unknown(reasons),
        })
    }

    pub(crate) fn limits<'b>(&self, monitor: &'b dyn Monitor) -> Limits<'b> {
        Limits { order: self.run.order, states: Some(self.most), ..Limits::none(monitor) }
    }

    pub(crate) fn outcome<G>(&self, found: &Search<G>) -> AttackOutcome {
        let cut = matches!(found.ended, Ended::Stopped(Stop::States)) && found.states.len() > self.most;
        let reason = broken_off(found).filter(|_| !cut);
        AttackOutcome {
            cut,
            reasons: reason.into_iter().collect(),
            states: found.states.len(),
            witness: None,
        }
    }

    /// Searches all attacks, several at once. Those behind the first that has a witness are left out
    /// if only that is wanted, and those behind the one at which it was stopped.
    pub(crate) fn search_all(
        &self,
        attacks: &[Attack],
        under_sc: &StateSet,
        starts: Option<usize>,
    ) -> Vec<AttackOutcome> {
        let first = AtomicUsize::new(usize::MAX);
        each(self.run.threads, attacks.len(), |at| {
            let monitor = Overtaken { at, first: &first, monitor: self.run.monitor };
            if let Err(stop) = monitor.observe(&Progress::default()) {
                return ControlFlow::Break(AttackOutcome::stopped(stop));
            }
            let outcome = self.search_one(&attacks[at], under_sc, starts, &monitor);
            if outcome.witness.is_some() && self.wanted == Wanted::First {
                first.fetch_min(at, Ordering::Relaxed);
                return ControlFlow::Break(outcome);
            }
            ControlFlow::Continue(outcome)
        })
    }

    /// The states, or so many of them, in which an attack begins.
    fn starts(
        &self,
        attacking: &mut AttackAhead<'_, '_>,
        under_sc: &StateSet,
        count: Option<usize>,
        monitor: &dyn Monitor,
    ) -> Result<Vec<StateRef>, Stop> {
        let (threads, mut starts, mut state) = (self.program.threads.len(), Vec::new(), State::default());
        let mut looked_at = 0;
        for at in under_sc.refs() {
            if looked_at == PATIENCE {
                looked_at = 0;
                monitor.observe(&Progress { work: BEGUN * PATIENCE, ..Progress::default() })?;
            }
            looked_at += 1;
            if count.is_some_and(|count| starts.len() >= count) {
                break;
            }
            let read = state.unpack(threads, under_sc.get(at));
            assert!(read.is_some(), "the set holds what pack wrote");
            starts.extend(attacking.begin(&state).map(|_| at));
        }
        monitor.observe(&Progress { work: BEGUN * looked_at, ..Progress::default() })?;
        Ok(starts)
    }

    fn search_one(
        &self,
        attack: &Attack,
        under_sc: &StateSet,
        starts: Option<usize>,
        monitor: &dyn Monitor,
    ) -> AttackOutcome {
        let machine = Delaying::new(self.machine, self.model, attack);
        let mut attacking = AttackAhead::new(&machine, self.accesses);
        let starts = match self.starts(&mut attacking, under_sc, starts, monitor) {
            Ok(starts) => starts,
            Err(stop) => return AttackOutcome::stopped(stop),
        };
        let threads = self.program.threads.len();
        let mut system = Hunt { attacking, under_sc, starts, threads, doubts: RefCell::default() };
        let found = search(&mut system, &self.limits(monitor));
        let mut outcome = self.outcome(&found);
        if let Ended::Goal(at, ()) = found.ended {
            let (start, steps) = path(&mut system, &found.states, at);
            outcome.witness =
                Some(Labels { start: start.state, steps: steps.into_iter().flatten().collect() });
        }
        outcome.reasons.extend(system.doubts.take().into_iter().map(Reason::Doubt));
        outcome
    }

    /// The whole run: under SC up to the attack, the attack, and the attacker's drains; `None` if the
    /// attack starts in no state that was found under SC.
    pub(crate) fn witness(
        &self,
        system: &mut UnderSc<'_>,
        under_sc: &StateSet,
        attack: &Attack,
        labels: &Labels,
    ) -> Option<Witness> {
        let start = find(under_sc, &labels.start)?;
        let (first, before) = path(system, under_sc, start);
        let program = self.original;
        let step = |(event, choice)| TraceStep::of(program, event, choice);
        let mut steps = TraceStep::drained_at_once(program, before.into_iter().map(step));
        let (mut store, mut overtaker) = (None, steps.len());
        let (mut owed, mut owed_by_others) = (Vec::new(), Vec::new());
        for label in &labels.steps {
            let attacks = label.event.thread() == attack.thread;
            if label.stays && attacks {
                store = store.or(Some(steps.len()));
            }
            if label.overtakes {
                overtaker = steps.len();
            }
            steps.push(step((label.event, label.choice)));
            let drain = TraceStep::drain_behind(program, label.event);
            match (label.stays, attacks) {
                (false, _) => steps.extend(drain),
                (true, true) => owed.extend(drain),
                (true, false) => owed_by_others.extend(drain),
            }
        }
        let drain = steps.len();
        steps.extend(owed.into_iter().chain(owed_by_others));
        Some(Witness { initial: chosen_initially(program, &first), steps, store: store?, overtaker, drain })
    }
}

/// How many states an attack starts from: all, unless there are more than could be explored. Then
/// as many as each of them may have states of its own.
pub(crate) fn starts<G>(under_sc: &Search<G>) -> Option<usize> {
    let stopped = matches!(under_sc.ended, Ended::Stopped(_) | Ended::Full);
    stopped.then(|| under_sc.states.len().isqrt())
}

/// Whether a search was stopped by others than the limit of its round.
pub(crate) fn is_stopped(reasons: &BTreeSet<Reason>) -> bool {
    reasons.iter().any(|reason| matches!(reason, Reason::Stopped(_) | Reason::Full))
}

/// Where a state is in a set.
fn find(states: &StateSet, state: &State) -> Option<StateRef> {
    let mut packed = Vec::new();
    state.pack(&mut packed);
    states.find(&packed)
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
