//! The checker: every verdict passes here before anybody sees it.
//!
//! A trace is replayed. A closed set is checked state by state on a machine of our own: the
//! engine's bounds, order and bookkeeping play no part; on several threads each checks a piece of it. Nothing is believed about a
//! certificate, which may come from a file: a dictionary entry may be nonsense and a state
//! may have too few values; that must end in a rejection, never in a panic.

use crate::basis::BasisFlaw;
use crate::cause::{Cause, cause};
use crate::cubes::CubeFlaw;
use crate::obligations::{Looking, NeededStates, Obligations};
use crate::outcomes::check_outcomes;
use crate::robust::check_robust;
use crate::witness::check_witness;
use crate::{
    Alone, Certificate, CheckedOutcomes, CheckedWitness, ClosedSet, ClosedSetOf, Crew, Goal, Monitor,
    Patience, Progress, Reason, Stop, Task, Verdict, WitnessRejected, each,
};
use machine::{
    Account, DataDomain, Doubt, GapStepper, Gaps, Machine, StateRef, StateSet, Stepper, Trace, Violation,
    replay_while,
};
use std::fmt;
use std::ops::ControlFlow;

/// A verdict whose evidence was checked. Only [`check`] makes one, and [`crate::simplify`] one from
/// another.
#[derive(Debug)]
pub struct Checked {
    verdict: Verdict,
    seen: Seen,
}

/// What the checker saw on its way.
#[derive(Debug)]
enum Seen {
    Nothing,
    Run(Box<(Account, Option<Cause>)>),
    Witness(Box<CheckedWitness>),
    Outcomes(Box<CheckedOutcomes>),
}

/// A violation that was replayed.
#[derive(Clone, Copy, Debug)]
pub struct Violated<'a> {
    /// The trace.
    pub trace: &'a Trace,
    /// What happens in it.
    pub account: &'a Account,
    /// What SC would not allow in it; `None` if there is no such thing, or it was not looked for, or
    /// the time was out.
    pub cause: Option<&'a Cause>,
}

impl Checked {
    /// A violation and what happens in it.
    pub(crate) fn violation(trace: Trace, account: Account) -> Checked {
        Checked { verdict: Verdict::Unsafe(trace), seen: Seen::Run(Box::new((account, None))) }
    }

    /// Looks for the cause of a violation, once for everybody who wants to know.
    pub fn explain(&mut self, task: &Task<'_>, monitor: &dyn Monitor) {
        if let (Verdict::Unsafe(trace), Seen::Run(run)) = (&self.verdict, &mut self.seen) {
            let mut patience = Patience::new(monitor, "looking for the cause");
            run.1 = cause(task.program, trace.violation, &run.0, &mut patience);
        }
    }

    /// The verdict.
    pub fn verdict(&self) -> &Verdict {
        &self.verdict
    }

    /// The violation, if it is one.
    pub fn violated(&self) -> Option<Violated<'_>> {
        match (&self.verdict, &self.seen) {
            (Verdict::Unsafe(trace), Seen::Run(run)) => {
                Some(Violated { trace, account: &run.0, cause: run.1.as_ref() })
            }
            _ => None,
        }
    }

    /// Whether what was asked is so; `None` if that is not known.
    pub fn holds(&self) -> Option<bool> {
        match (&self.verdict, &self.seen) {
            (_, Seen::Outcomes(found)) => found.holds(),
            (Verdict::Safe(_) | Verdict::Robust(_), _) => Some(true),
            (Verdict::Unsafe(_) | Verdict::NotRobust(_), _) => Some(false),
            (Verdict::Within(..) | Verdict::Unknown(_) | Verdict::FinalStates(_), _) => None,
        }
    }

    /// Why not everything is known.
    pub fn reasons(&self) -> &[Reason] {
        match (&self.verdict, &self.seen) {
            (_, Seen::Outcomes(found)) => found.missing(),
            (Verdict::Within(_, reasons) | Verdict::Unknown(reasons), _) => reasons,
            _ => &[],
        }
    }

    /// What happens in a violation or a witness.
    pub fn account(&self) -> Option<&Account> {
        match &self.seen {
            Seen::Run(run) => Some(&run.0),
            Seen::Witness(witness) => Some(witness.account()),
            Seen::Nothing | Seen::Outcomes(_) => None,
        }
    }

    /// The witness that the program is not robust, with its happens-before.
    pub fn witness(&self) -> Option<&CheckedWitness> {
        match &self.seen {
            Seen::Witness(witness) => Some(witness),
            _ => None,
        }
    }

    /// The final states, where those were asked for.
    pub fn outcomes(&self) -> Option<&CheckedOutcomes> {
        match &self.seen {
            Seen::Outcomes(found) => Some(found),
            _ => None,
        }
    }
}

/// Why evidence is rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rejected {
    /// The trace cannot be replayed.
    Trace(machine::TraceRejected),
    /// The run does not show that the program is not robust.
    Witness(WitnessRejected),
    /// The dictionary of a certificate names what does not exist, or the same thing twice.
    Dictionary,
    /// A state does not fit the dictionary.
    Malformed(usize),
    /// An initial state is missing.
    InitialMissing,
    /// This state of the set violates something.
    Violated(usize, Violation),
    /// A successor of this state is missing.
    SuccessorMissing(usize),
    /// A successor of a state of another process is missing.
    SuccessorElsewhere,
    /// This is a part of a proof; another part is missing, or was rejected.
    Part,
    /// Not all successors of this state can be known.
    Doubt(usize, Doubt),
    /// The window or the precision of the gap abstraction is too small for the program.
    Window,
    /// A proof by cubes does not hold.
    Cubes(CubeFlaw),
    /// A basis of what leads to violations is none.
    Basis(BasisFlaw),
    /// Some attack has a witness, or could have one for all that is shown: not robust.
    Attack,
    /// Stores cannot be delayed as the certificate says.
    Delay,
    /// The program does not do the same under this model as under TSO.
    NotForModel,
    /// Robustness does not decide what is claimed of the program.
    CarriesNotOver,
    /// The steps of the agents that this entry names are not enough to see every final state.
    Agents(usize),
    /// A claim or another variable depends on values that are forgotten.
    Forgotten,
    /// A renaming does not preserve the program, or there are too many.
    Renaming,
    /// A state of the set is never reached.
    Unreached,
    /// The final states listed are not those of the set.
    FinalStates,
    /// A state is too large to be stored, or there are too many for the budget.
    TooLarge,
    /// The run only leaves what was read of the program.
    NotRead,
    /// Something else was asked.
    OtherQuestion,
    /// Checking was stopped.
    Stopped(Stop),
}

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rejected::Trace(why) => why.fmt(f),
            Rejected::Witness(why) => why.fmt(f),
            Rejected::Dictionary => write!(f, "the dictionary of controls does not fit the program"),
            Rejected::Malformed(at) => write!(f, "state {} does not fit the dictionary", at + 1),
            Rejected::InitialMissing => write!(f, "an initial state is missing"),
            Rejected::Violated(at, _) => write!(f, "state {} violates a property", at + 1),
            Rejected::SuccessorMissing(at) => write!(f, "a successor of state {} is missing", at + 1),
            Rejected::SuccessorElsewhere => write!(f, "a successor of a state of another process is missing"),
            Rejected::Part => write!(f, "another part of the proof is missing, or was rejected"),
            Rejected::Doubt(at, _) => write!(f, "not all successors of state {} can be known", at + 1),
            Rejected::Window => write!(f, "the window or the precision is too small for the program"),
            Rejected::Cubes(flaw) => flaw.fmt(f),
            Rejected::Basis(flaw) => flaw.fmt(f),
            Rejected::Attack => write!(f, "the program is not shown to be robust"),
            Rejected::Delay => write!(f, "stores cannot be delayed along the path given"),
            Rejected::NotForModel => write!(f, "robustness says nothing about this memory model"),
            Rejected::CarriesNotOver => {
                write!(f, "a property looks at memory and threads at once, which robustness does not decide")
            }
            Rejected::Agents(at) => {
                write!(f, "the steps that entry {} leaves are not enough to see every final state", at + 1)
            }
            Rejected::Forgotten => write!(f, "the values that are forgotten matter to a claim or to others"),
            Rejected::Renaming => write!(f, "a renaming of threads changes the program"),
            Rejected::Unreached => write!(f, "a state of the set is never reached"),
            Rejected::FinalStates => write!(f, "the final states listed are not those of the set"),
            Rejected::TooLarge => write!(f, "the states are too large to be checked"),
            Rejected::NotRead => write!(f, "the run only leads to what was not read of the program"),
            Rejected::OtherQuestion => write!(f, "this answers another question"),
            Rejected::Stopped(stop) => stop.fmt(f),
        }
    }
}

impl std::error::Error for Rejected {}

/// Checks the evidence of a verdict.
pub fn check(task: &Task<'_>, verdict: Verdict, monitor: &dyn Monitor) -> Result<Checked, Rejected> {
    check_with(task, verdict, monitor, &Alone)
}

/// As [`check`], together with those who have other parts of the evidence.
pub fn check_with(
    task: &Task<'_>,
    verdict: Verdict,
    monitor: &dyn Monitor,
    crew: &dyn Crew,
) -> Result<Checked, Rejected> {
    if !answers(task.goal, &verdict) {
        return Err(Rejected::OtherQuestion);
    }
    let seen = match &verdict {
        Verdict::Unknown(_) => Seen::Nothing,
        Verdict::Unsafe(trace) if trace.violation.is_limit(task.program) => return Err(Rejected::NotRead),
        Verdict::Within(found, _) if found.is_about(task) => Seen::Nothing,
        Verdict::Within(..) => return Err(Rejected::OtherQuestion),
        Verdict::Unsafe(trace) => Seen::Run(Box::new((replayed(task, trace, monitor)?, None))),
        Verdict::NotRobust(witness) => {
            let checked =
                check_witness(task.program, task.model, witness.clone()).map_err(Rejected::Witness)?;
            Seen::Witness(Box::new(checked))
        }
        Verdict::Robust(proof) => {
            check_robust(task, proof, monitor)?;
            Seen::Nothing
        }
        Verdict::FinalStates(outcomes) => Seen::Outcomes(Box::new(check_outcomes(task, outcomes, monitor)?)),
        Verdict::Safe(Certificate::Shared(proof)) => {
            proof.check_with(task, monitor, crew)?;
            Seen::Nothing
        }
        Verdict::Safe(certificate) => {
            certificate.proof().check(task, monitor)?;
            Seen::Nothing
        }
    };
    Ok(Checked { verdict, seen })
}

/// Whether a verdict is about what is asked.
fn answers(goal: Goal, verdict: &Verdict) -> bool {
    match verdict {
        Verdict::Safe(_) | Verdict::Unsafe(_) | Verdict::Within(..) => goal == Goal::Safe,
        Verdict::Robust(_) | Verdict::NotRobust(_) => goal == Goal::Robust,
        Verdict::FinalStates(_) => goal == Goal::FinalStates,
        Verdict::Unknown(_) => true,
    }
}

/// What happens in a trace.
fn replayed(task: &Task<'_>, trace: &Trace, monitor: &dyn Monitor) -> Result<Account, Rejected> {
    let mut patience = Patience::new(monitor, "replaying");
    match replay_while(task.program, task.model, trace, &mut || patience.lasts()) {
        Err(machine::TraceRejected::Stopped) => patience.found(None).map_err(Rejected::Stopped),
        replayed => replayed.map_err(Rejected::Trace),
    }
}

/// Checks that a set is closed and, if one looks, violates nothing.
pub(crate) fn check_set(
    task: &Task<'_>,
    gaps: Option<Gaps>,
    looking: Looking,
    set: &ClosedSet,
    monitor: &dyn Monitor,
) -> Result<(), Rejected> {
    let machine = task.machine();
    in_pieces(&set.states, monitor, &|piece| match gaps {
        None => check_piece(Stepper::new(&machine), looking, set, piece, monitor),
        Some(gaps) => {
            let domain = GapStepper::with(&machine, gaps).ok_or(Rejected::Window)?;
            check_piece(domain, looking, set, piece, monitor)
        }
    })
}

/// As [`check_set`], as a domain knows the states.
pub(crate) fn check_closed<'m, D: DataDomain<'m>>(
    domain: D,
    looking: Looking,
    set: &ClosedSetOf<D::Machine>,
    monitor: &dyn Monitor,
) -> Result<(), Rejected> {
    let whole = SetPiece { first: set.states.first(), before: 0, count: set.states.len() };
    check_piece(domain, looking, set, whole, monitor)
}

/// Some states of a set that lie one after the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SetPiece {
    first: Option<StateRef>,
    /// How many states come before them.
    before: usize,
    count: usize,
}

/// The successors of so many states are looked up together.
const STATES_AT_ONCE: usize = 4096;

/// Sets of fewer states are checked by one thread.
const WORTH_PIECES: usize = 1 << 14;

/// Calls `check` on pieces that make up a set, as many at once as there are threads. The first that is rejected
/// counts.
pub(crate) fn in_pieces(
    states: &StateSet,
    monitor: &dyn Monitor,
    check: &(dyn Fn(SetPiece) -> Result<(), Rejected> + Sync),
) -> Result<(), Rejected> {
    let threads = if states.len() < WORTH_PIECES { 1 } else { monitor.threads().max(1) };
    let count = states.len().div_ceil(threads).max(1);
    let firsts = states.refs().step_by(count).enumerate();
    let mut pieces: Vec<SetPiece> =
        firsts.map(|(at, first)| SetPiece { first: Some(first), before: at * count, count }).collect();
    if pieces.is_empty() {
        pieces.push(SetPiece { first: None, before: 0, count: 0 });
    }
    let checked = each(threads, pieces.len(), |at| match check(pieces[at]) {
        Ok(()) => ControlFlow::Continue(Ok(())),
        rejected => ControlFlow::Break(rejected),
    });
    checked.into_iter().collect()
}

/// Checks the states of a piece; the first piece speaks for the initial states, too.
pub(crate) fn check_piece<'m, D: DataDomain<'m>>(
    domain: D,
    looking: Looking,
    set: &ClosedSetOf<D::Machine>,
    piece: SetPiece,
    monitor: &dyn Monitor,
) -> Result<(), Rejected> {
    let mut obligations = Obligations::new(domain, looking, &set.controls)?;
    let states = &set.states;
    if piece.before == 0 && !obligations.initial()?.iter().all(|state| states.contains(state)) {
        return Err(Rejected::InitialMissing);
    }
    let mut refs = std::iter::successors(piece.first, |at| states.next(*at)).take(piece.count);
    let mut needed = NeededStates::new();
    let mut before = piece.before;
    loop {
        let some: Vec<StateRef> = refs.by_ref().take(STATES_AT_ONCE).collect();
        if some.is_empty() {
            return Ok(());
        }
        let progress =
            Progress { phase: "checking", states: before, bytes: states.bytes(), ..Default::default() };
        monitor.observe(&progress).map_err(Rejected::Stopped)?;
        for (at, state) in some.iter().enumerate() {
            obligations.visit(before + at, states.get(*state), &mut |next| needed.add(next))?;
        }
        if !needed.all_in(states) {
            return Err(missing(&mut obligations, states, before, some.into_iter(), &|_| true));
        }
        before += some.len();
    }
}

/// The first of some states, so many behind the first of all, a successor of which is missing, of those that belong here.
pub(crate) fn missing<'m, D: DataDomain<'m>>(
    obligations: &mut Obligations<'_, D, GlobalOf<'m, D>, LocalOf<'m, D>>,
    states: &StateSet,
    before: usize,
    some: impl Iterator<Item = StateRef>,
    belongs: &dyn Fn(&[u8]) -> bool,
) -> Rejected {
    for (at, state) in some.enumerate() {
        let mut missing = false;
        let mut look = |next: &[u8]| missing |= belongs(next) && !states.contains(next);
        let visited = obligations.visit(before + at, states.get(state), &mut look);
        match visited {
            Ok(()) if !missing => {}
            Ok(()) => return Rejected::SuccessorMissing(before + at),
            Err(rejected) => return rejected,
        }
    }
    Rejected::SuccessorMissing(before)
}

/// The parts of the controls of a domain's machine.
type GlobalOf<'m, D> = <<D as DataDomain<'m>>::Machine as Machine>::Global;
type LocalOf<'m, D> = <<D as DataDomain<'m>>::Machine as Machine>::Local;
