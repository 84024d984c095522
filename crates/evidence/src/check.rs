//! The checker: every verdict passes here before anybody sees it.
//!
//! A trace is replayed. A closed set is checked state by state on a machine of our own: the
//! engine's bounds, order and bookkeeping play no part. Nothing is believed about a
//! certificate, which may come from a file: a dictionary entry may be nonsense and a state
//! may have too few values; that must end in a rejection, never in a panic.

use crate::cause::{Cause, cause};
use crate::cubes::{CubeFlaw, check_cubes};
use crate::obligations::{Looking, Obligations};
use crate::robust::check_robust_safe;
use crate::{Certificate, ClosedSet, Monitor, Patience, Progress, Stop, Task, Verdict};
use machine::{Account, Doubt, Exact, Gaps, Trace, Violation, replay_while};
use std::fmt;

/// A verdict whose evidence was checked. Only [`check`] makes one, and [`crate::simplify`] one from
/// another.
#[derive(Debug)]
pub struct Checked {
    verdict: Verdict,
    /// What happens in a violating run, and its cause once that was looked for.
    run: Option<Box<(Account, Option<Cause>)>>,
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
    pub(crate) fn from_parts(verdict: Verdict, account: Option<Account>) -> Checked {
        Checked { verdict, run: account.map(|account| Box::new((account, None))) }
    }

    /// Looks for the cause of a violation, once for everybody who wants to know.
    pub fn explained(mut self, task: &Task<'_>, monitor: &dyn Monitor) -> Checked {
        if let (Verdict::Unsafe(trace), Some(run)) = (&self.verdict, &mut self.run) {
            let mut patience = Patience::new(monitor, "looking for the cause");
            run.1 = cause(task.program, trace.violation, &run.0, &mut patience);
        }
        self
    }

    /// The verdict.
    pub fn verdict(&self) -> &Verdict {
        &self.verdict
    }

    /// The violation, if it is one.
    pub fn violated(&self) -> Option<Violated<'_>> {
        match (&self.verdict, self.run.as_deref()) {
            (Verdict::Unsafe(trace), Some((account, cause))) => {
                Some(Violated { trace, account, cause: cause.as_ref() })
            }
            _ => None,
        }
    }
}

/// Why evidence is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rejected {
    /// The trace cannot be replayed.
    Trace(machine::Rejected),
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
    /// Not all successors of this state can be known.
    Doubt(usize, Doubt),
    /// The window or the precision of the gap abstraction is too small for the program.
    Window,
    /// A proof by cubes is none.
    Cubes(CubeFlaw),
    /// Some attack has a witness, or could have one for all that is shown: not robust.
    Attack,
    /// Stores cannot be kept back as the certificate says.
    Delay,
    /// Robustness is about TSO only.
    NotForModel,
    /// Robustness does not decide what is claimed of the program.
    CarriesNotOver,
    /// The steps of the agents that this entry names are not enough to see every final state.
    Agents(usize),
    /// A state of the set is never reached.
    Unreached,
    /// The final states listed are not those of the set.
    FinalStates,
    /// A state is too large to be stored, or there are too many for the budget.
    TooLarge,
    /// Checking was stopped.
    Stopped(Stop),
}

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rejected::Trace(why) => why.fmt(f),
            Rejected::Dictionary => write!(f, "the dictionary of controls does not fit the program"),
            Rejected::Malformed(at) => write!(f, "state {} does not fit the dictionary", at + 1),
            Rejected::InitialMissing => write!(f, "an initial state is missing"),
            Rejected::Violated(at, _) => write!(f, "state {} violates a property", at + 1),
            Rejected::SuccessorMissing(at) => write!(f, "a successor of state {} is missing", at + 1),
            Rejected::Doubt(at, _) => write!(f, "not all successors of state {} can be known", at + 1),
            Rejected::Window => write!(f, "the window or the precision is too small for the program"),
            Rejected::Cubes(flaw) => flaw.fmt(f),
            Rejected::Attack => write!(f, "the program is not shown to be robust"),
            Rejected::Delay => write!(f, "stores cannot be kept back along the path given"),
            Rejected::NotForModel => write!(f, "robustness says nothing about this memory model"),
            Rejected::CarriesNotOver => {
                write!(f, "a property looks at memory and threads at once, which robustness does not decide")
            }
            Rejected::Agents(at) => {
                write!(f, "the steps that entry {} leaves are not enough to see every final state", at + 1)
            }
            Rejected::Unreached => write!(f, "a state of the set is never reached"),
            Rejected::FinalStates => write!(f, "the final states listed are not those of the set"),
            Rejected::TooLarge => write!(f, "the states are too large to be checked"),
            Rejected::Stopped(stop) => stop.fmt(f),
        }
    }
}

impl std::error::Error for Rejected {}

/// Checks the evidence of a verdict.
pub fn check(task: &Task<'_>, verdict: Verdict, monitor: &dyn Monitor) -> Result<Checked, Rejected> {
    let account = match &verdict {
        Verdict::Unsafe(trace) => Some(replayed(task, trace, monitor)?),
        Verdict::Unknown(_) => None,
        Verdict::Safe(certificate) => {
            check_certificate(task, certificate, monitor)?;
            None
        }
    };
    Ok(Checked::from_parts(verdict, account))
}

fn check_certificate(
    task: &Task<'_>,
    certificate: &Certificate,
    monitor: &dyn Monitor,
) -> Result<(), Rejected> {
    match certificate {
        Certificate::Closed(set) => check_set(task, None, Looking::ForViolations, set, monitor),
        Certificate::Gaps(gaps, set) => check_set(task, Some(*gaps), Looking::ForViolations, set, monitor),
        Certificate::Robust { delays, gaps, set } => check_robust_safe(task, delays, *gaps, set, monitor),
        Certificate::Cubes(proof) => check_cubes(task, proof, monitor),
    }
}

/// What happens in a trace.
fn replayed(task: &Task<'_>, trace: &Trace, monitor: &dyn Monitor) -> Result<Account, Rejected> {
    let mut patience = Patience::new(monitor, "replaying");
    match replay_while(task.program, task.model, trace, &mut || patience.lasts()) {
        Err(machine::Rejected::Stopped) => patience.found(None).map_err(Rejected::Stopped),
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
    let machine = Exact::new(task.program, task.model);
    let mut obligations = Obligations::new(&machine, gaps, looking, &set.globals, &set.locals)?;
    let states = &set.states;
    for state in obligations.initial()? {
        if !states.contains(&state) {
            return Err(Rejected::InitialMissing);
        }
    }
    for (at, state) in states.iter().enumerate() {
        if at % 4096 == 0 {
            let progress =
                Progress { phase: "checking", states: at, bytes: states.bytes(), ..Default::default() };
            monitor.observe(&progress).map_err(Rejected::Stopped)?;
        }
        let mut missing = false;
        obligations.visit(at, state, &mut |next| missing |= !states.contains(next))?;
        if missing {
            return Err(Rejected::SuccessorMissing(at));
        }
    }
    Ok(())
}
