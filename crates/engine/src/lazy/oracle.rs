//! The oracle [004, sec. 3.1.2]: where a program needs store buffering, asked of robustness.
//!
//! The states under SC are explored, looking for violations. From them every attack is
//! searched for a witness, and what its thread does from the delayed store to the load is
//! the answer: a path to keep stores back on. No witness at all means that the program is robust.
//!
//! A witness also says where to look next. Its end is a state that no run under SC reaches in
//! the same way, and a violation is often only a few steps away. So a short search under SC goes
//! on from there, before the program is extended.

use super::extended::{Extended, ExtendedRun};
use crate::Run;
use crate::reduce::LeftOut;
use crate::robust::{AttackOutcome, AttackRound, UnderSc, Wanted, is_stopped, starts};
use crate::search::{Ended, Limits, Order, path, search};
use crate::stepping::{Stepping, chosen_initially};
use evidence::{ClosedSet, Progress, Reason, Task, Witness, attacks_of, each};
use machine::{
    Accesses, Attack, AttackClass, Buffered, DataDomain, Event, OnDomain, SC, State, StateSet, Stepper, TSO,
    Trace, TraceStep, WithBuffers, attack_classes, number_controls,
};
use program::{Delay, EdgeId, Program};
use std::ops::ControlFlow;

/// States for the search behind one witness.
const BEHIND_WITNESS: usize = 1 << 14;

/// No more loads than this are searched for witnesses of their own, to find more paths at once.
const MOST_SINGLE_LOADS: usize = 1 << 12;

/// What the oracle says of a program.
pub(super) enum Oracle {
    /// It has a violation, by this run of the original program under TSO.
    Violated(Trace),
    /// It is robust, and these are its states under SC, none of which violates anything.
    Robust(ClosedSet),
    /// Stores that are delayed show.
    Delays(Delays),
    /// The limit on states was too small to tell.
    Cut,
    /// There is no telling.
    Unknown(Vec<Reason>),
}

/// Paths on which a delayed store shows.
pub(super) struct Delays {
    /// One for every store.
    pub(super) paths: Vec<Delay>,
    /// One for every other load that a store is delayed past, if these were asked for.
    pub(super) more: Vec<Delay>,
    /// Whether the limit on states was too small to see everything.
    pub(super) cut: bool,
}

/// How much is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// One witness for every store.
    Stores,
    /// One for every store and load.
    Loads,
    /// Only whether there is a violation under SC, in so many times as many states.
    Violation(usize),
}

/// The work behind an answer.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OracleWork {
    /// States of the program under SC.
    pub(super) states: usize,
    /// Searches: of the program, for a witness of each attack, and behind each witness.
    pub(super) queries: usize,
}

/// Asks about an extended program, with a limit on the states of each search.
pub(super) fn ask(
    extended: &Extended,
    run: &Run<'_>,
    most: usize,
    asked: Asked,
    work: &mut OracleWork,
) -> Oracle {
    let program = &extended.program;
    let machine = Buffered::exact(program, SC);
    let accesses = Accesses::of(program);
    let round = AttackRound {
        program,
        original: program,
        model: TSO,
        machine: &machine,
        accesses: &accesses,
        run,
        most,
        wanted: Wanted::All,
    };
    let mut system = Stepping::hunting(Stepper::new(&machine));
    number_controls(&mut system.domain, program);
    let found = search(&mut system, &round.limits(run.monitor));
    work.states = found.states.len();
    work.queries += 1;
    if let Ended::Goal(at, violation) = found.ended {
        let Trace { initial, steps, violation } = system.trace(&found.states, at, violation);
        return Oracle::Violated(extended.trace(initial, extended.drained(steps), violation));
    }
    let mut under_sc = round.outcome(&found);
    under_sc.reasons.extend(system.take_reasons());
    if is_stopped(&under_sc.reasons) {
        return Oracle::Unknown(under_sc.reasons.into_iter().collect());
    }
    if let Asked::Violation(times) = asked {
        let round = AttackRound { most: most.saturating_mul(times), ..round };
        let far = under_sc.cut.then(|| far_violation(extended, &round, work)).flatten();
        return far.map_or(Oracle::Cut, Oracle::Violated);
    }
    let mut attacks = match attacks_of(program, TSO, &accesses, run.monitor) {
        Ok(attacks) => attack_classes(program, attacks),
        Err(stop) => return Oracle::Unknown(vec![Reason::Stopped(stop)]),
    };
    let search_all = |classes: &[AttackClass]| {
        let attacks: Vec<Attack> = classes.iter().map(|class| class.attack.clone()).collect();
        round.search_all(&attacks, &found.states, starts(&found))
    };
    let mut outcomes = search_all(&attacks);
    let stores = attacks.len();
    if asked == Asked::Loads && outcomes.len() == stores {
        let single = single_loads(program, &attacks, &outcomes);
        outcomes.extend(search_all(&single));
        attacks.extend(single);
    }
    let witnesses = outcomes.iter().filter(|outcome| outcome.witness.is_some()).count();
    work.queries += outcomes.len() + witnesses;
    let hunt = ViolationHunt { extended, round: &round, under_sc: &found.states };
    let oracle = hunt.judge(&mut system, under_sc, (&attacks, stores), outcomes);
    oracle.unwrap_or_else(|| Oracle::Robust(system.closed_set(found.states)))
}

/// A violation that has too many states before it, looked for among as few as reductions leave: in breadth,
/// and if that is not enough in depth.
fn far_violation(extended: &Extended, round: &AttackRound<'_>, work: &mut OracleWork) -> Option<Trace> {
    let task = Task::safe(&extended.program, SC);
    let left_out = LeftOut::new(&task, round.run.reduction, false);
    let mut orders = [Order::Breadth, Order::Depth].into_iter();
    orders.find_map(|order| {
        if order == Order::Breadth && left_out.is_none() {
            return None;
        }
        work.queries += 1;
        let limits = Limits { order, ..round.limits(round.run.monitor) };
        let trace = left_out.on(round.machine, FarViolation { limits })??;
        let run = extended.drained(trace.steps);
        Some(extended.trace(trace.initial, run, trace.violation))
    })
}

struct FarViolation<'a> {
    limits: Limits<'a>,
}

impl OnDomain for FarViolation<'_> {
    type Done = Option<Trace>;

    fn run<'m, 'p: 'm>(self, domain: impl DataDomain<'m, Machine = Buffered<'p>>) -> Option<Trace> {
        let mut system = Stepping::hunting(domain);
        let found = search(&mut system, &self.limits);
        let Ended::Goal(at, violation) = found.ended else { return None };
        Some(system.trace(&found.states, at, violation))
    }
}

/// The attacks that have a witness, once for every load but that of the witness.
fn single_loads(program: &Program, attacks: &[AttackClass], outcomes: &[AttackOutcome]) -> Vec<AttackClass> {
    let mut single = Vec::new();
    for (AttackClass { attack, others: same }, outcome) in attacks.iter().zip(outcomes) {
        let Some(labels) = &outcome.witness else { continue };
        if single.len() + attack.reached > MOST_SINGLE_LOADS {
            break;
        }
        let seen = labels.steps.iter().find(|step| step.overtakes).map(|step| step.event);
        let others = attack.by_load(program).into_iter();
        let others =
            others.filter(|(load, _)| seen != Some(Event::Step { thread: attack.thread, edge: *load }));
        single.extend(others.map(|(_, attack)| AttackClass { attack, others: same.clone() }));
    }
    single
}

struct ViolationHunt<'a> {
    extended: &'a Extended,
    round: &'a AttackRound<'a>,
    under_sc: &'a StateSet,
}

impl ViolationHunt<'_> {
    /// What the searches of all attacks mean together; `None` if the program is robust.
    fn judge(
        &self,
        system: &mut UnderSc<'_>,
        mut all: AttackOutcome,
        (attacks, stores): (&[AttackClass], usize),
        outcomes: Vec<AttackOutcome>,
    ) -> Option<Oracle> {
        let (mut delays, mut witnesses) = (Vec::new(), Vec::new());
        let mut main = 0;
        for (at, (AttackClass { attack, others }, outcome)) in attacks.iter().zip(outcomes).enumerate() {
            all.cut |= outcome.cut;
            all.reasons.extend(outcome.reasons);
            let Some(labels) = outcome.witness else { continue };
            // A witness that cannot be put together would be rejected as evidence; it is none here.
            let Some(witness) = self.round.witness(system, self.under_sc, attack, &labels) else { continue };
            let path = delayed_path(&witness);
            delays.extend(others.iter().map(|names| {
                let path = path.iter().map(|edge| names.edges[edge.index()]).collect();
                Delay { thread: names.thread, path, complete: true }
            }));
            delays.push(Delay { thread: attack.thread, path, complete: true });
            witnesses.push(witness);
            main = if at < stores { delays.len() } else { main };
        }
        if let Some(trace) = self.behind(&witnesses) {
            return Some(Oracle::Violated(trace));
        }
        if is_stopped(&all.reasons) {
            return Some(Oracle::Unknown(all.reasons.into_iter().collect()));
        }
        if !delays.is_empty() {
            let more = delays.split_off(main);
            return Some(Oracle::Delays(Delays { paths: delays, more, cut: all.cut }));
        }
        match (all.cut, all.reasons.is_empty()) {
            (true, _) => Some(Oracle::Cut),
            (false, true) => None,
            (false, false) => Some(Oracle::Unknown(all.reasons.into_iter().collect())),
        }
    }

    /// The first violation that lies a little behind a witness; several are tried at once.
    fn behind(&self, witnesses: &[Witness]) -> Option<Trace> {
        let (run, tso) = (self.round.run, Buffered::exact(&self.extended.program, TSO));
        let tries = each(run.threads, witnesses.len(), |at| {
            if run.monitor.observe(&Progress::default()).is_err() {
                return ControlFlow::Break(None);
            }
            match self.behind_one(&tso, &witnesses[at]) {
                None => ControlFlow::Continue(None),
                found => ControlFlow::Break(found),
            }
        });
        tries.into_iter().flatten().next()
    }

    fn behind_one(&self, tso: &impl WithBuffers, witness: &Witness) -> Option<Trace> {
        let program = &self.extended.program;
        let mut system = Stepping::hunting(Stepper::new(self.round.machine));
        number_controls(&mut system.domain, program);
        system.start = Some(self.end_of(tso, witness)?);
        let limits = Limits { states: Some(BEHIND_WITNESS), ..self.round.limits(self.round.run.monitor) };
        let found = search(&mut system, &limits);
        let Ended::Goal(at, violation) = found.ended else { return None };
        let (_, labels) = path(&mut system, &found.states, at);
        let step = |(event, choice)| TraceStep::of(program, event, choice);
        let run = ExtendedRun::behind(witness, self.extended.drained(labels.into_iter().map(step)));
        Some(self.extended.trace(witness.initial.clone(), run, violation))
    }

    /// The state that a witness ends in, as one of SC: nothing is buffered there.
    fn end_of(&self, tso: &impl WithBuffers, witness: &Witness) -> Option<State> {
        let program = &self.extended.program;
        let mut stepper = Stepper::new(tso);
        let (mut initial, _) = stepper.initial();
        let starts = |state: &State| chosen_initially(program, state) == witness.initial;
        let mut state = initial.find(starts)?;
        for step in &witness.steps {
            stepper.prepare(&state);
            let choice = step.choice.as_ref().and_then(|choice| i64::try_from(choice).ok());
            // A choice for a register that nothing reads is no choice to the stepper.
            let taken = stepper.take(&state, step.event, choice);
            state = taken.or_else(|| stepper.take(&state, step.event, None))?;
        }
        let locals = program.thread_ids().map(|thread| stepper.local(thread, &state));
        let locals = locals.map(|local| local.drained().then_some(local.loc.index() as u32));
        let locals = locals.collect::<Option<Vec<u32>>>()?;
        Some(State { global: 0, locals, values: state.values })
    }
}

/// What the delaying thread does from the store to the load.
fn delayed_path(witness: &Witness) -> Vec<EdgeId> {
    let thread = witness.steps[witness.store].event.thread();
    let edge = |at: usize| match witness.steps[at].event {
        Event::Step { thread: stepping, edge } if stepping == thread => Some(edge),
        _ => None,
    };
    (witness.store..=witness.overtaker).filter_map(edge).collect()
}
