//! The checker: every verdict passes here before anybody sees it.
//!
//! A trace is replayed. A closed set is checked state by state on a machine of our own: the
//! engine's bounds, order and bookkeeping play no part. Nothing is believed about a
//! certificate, which may come from a file: a dictionary entry may be nonsense and a state
//! may have too few values; that must end in a rejection, never in a panic.

use crate::{Certificate, ClosedSet, Monitor, Progress, Stop, Task, Verdict};
use machine::{Configuration, Doubt, Entry, Exact, Full, Local, State, StateSet, Stepper, Violation, replay};
use program::ThreadId;
use std::fmt;

/// A verdict whose evidence was checked. Only [`check`] makes one.
#[derive(Debug)]
pub struct Checked {
    verdict: Verdict,
    run: Vec<Configuration>,
}

impl Checked {
    /// The verdict.
    pub fn verdict(&self) -> &Verdict {
        &self.verdict
    }

    /// The configurations a violating trace passes, first and last included; empty otherwise.
    pub fn run(&self) -> &[Configuration] {
        &self.run
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
            Rejected::TooLarge => write!(f, "the states are too large to be checked"),
            Rejected::Stopped(stop) => stop.fmt(f),
        }
    }
}

impl std::error::Error for Rejected {}

/// Checks the evidence of a verdict.
pub fn check(task: &Task<'_>, verdict: Verdict, monitor: &dyn Monitor) -> Result<Checked, Rejected> {
    let run = match &verdict {
        Verdict::Unknown(_) => Vec::new(),
        Verdict::Unsafe(trace) => replay(task.program, task.model, trace).map_err(Rejected::Trace)?,
        Verdict::Safe(Certificate::Closed(set)) => {
            check_closed(task, set, monitor)?;
            Vec::new()
        }
    };
    Ok(Checked { verdict, run })
}

fn check_closed(task: &Task<'_>, set: &ClosedSet, monitor: &dyn Monitor) -> Result<(), Rejected> {
    let machine = Exact::new(task.program, task.model);
    let mut obligations = Obligations::new(&machine, &set.globals, &set.locals)?;
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

/// What a closed set owes, state by state.
pub(crate) struct Obligations<'m, 'p> {
    stepper: Stepper<'m, Exact<'p>>,
    state: State,
    next: State,
    packed: Vec<u8>,
    /// How many shared controls the dictionary names, and how many of each thread. The stepper
    /// numbers more while it runs; states may not refer to those.
    named: (usize, Vec<usize>),
}

impl<'m, 'p> Obligations<'m, 'p> {
    pub(crate) fn new(
        machine: &'m Exact<'p>,
        globals: &[Option<ThreadId>],
        locals: &[Vec<Local>],
    ) -> Result<Obligations<'m, 'p>, Rejected> {
        use machine::Machine;
        let program = machine.program();
        let mut stepper = Stepper::new(machine);
        let threads = program.threads.len();
        let numbered = globals.iter().enumerate().all(|(at, global)| {
            global.is_none_or(|t| t.index() < threads) && stepper.global_id(global) as usize == at
        });
        if !numbered || locals.len() != threads {
            return Err(Rejected::Dictionary);
        }
        for (thread, locals) in program.thread_ids().zip(locals) {
            for (at, local) in locals.iter().enumerate() {
                let known_entry = |entry: &Entry| match entry {
                    Entry::Store(variable) => variable.index() < program.variables.len(),
                    Entry::Barrier => true,
                };
                let exists = local.loc.index() < program.thread(thread).locs().count()
                    && local.buffer.iter().all(known_entry);
                if !exists || stepper.local_id(thread, local) as usize != at {
                    return Err(Rejected::Dictionary);
                }
            }
        }
        let named = (globals.len(), locals.iter().map(Vec::len).collect());
        Ok(Obligations {
            stepper,
            state: State::default(),
            next: State::default(),
            packed: Vec::new(),
            named,
        })
    }

    /// The initial states, packed.
    pub(crate) fn initial(&mut self) -> Result<Vec<Vec<u8>>, Rejected> {
        let (states, doubts) = self.stepper.initial();
        if let Some(doubt) = doubts.first() {
            return Err(Rejected::Doubt(0, *doubt));
        }
        let pack = |state: &State| {
            let mut packed = Vec::new();
            state.pack(&mut packed);
            packed
        };
        Ok(states.iter().map(pack).collect())
    }

    /// Checks one state and hands its successors, packed, to `visit`.
    pub(crate) fn visit(
        &mut self,
        at: usize,
        state: &[u8],
        visit: &mut dyn FnMut(&[u8]),
    ) -> Result<(), Rejected> {
        let unpacked = self.state.unpack(self.stepper.thread_count(), state);
        if unpacked.is_none() || !self.stepper.is_well_formed(&self.state) || !self.is_named() {
            return Err(Rejected::Malformed(at));
        }
        match self.stepper.violation(&self.state) {
            Ok(None) => {}
            Ok(Some(violation)) => return Err(Rejected::Violated(at, violation)),
            Err(doubt) => return Err(Rejected::Doubt(at, doubt)),
        }
        self.stepper.prepare(&self.state);
        let mut doubt = None;
        let packed = &mut self.packed;
        self.stepper.successors(
            &self.state,
            &mut self.next,
            |d| doubt = Some(d),
            |_, _, next| {
                packed.clear();
                next.pack(packed);
                visit(packed);
            },
        );
        doubt.map_or(Ok(()), |doubt| Err(Rejected::Doubt(at, doubt)))
    }

    /// Whether the dictionary names the controls of the state in work.
    fn is_named(&self) -> bool {
        let (globals, locals) = &self.named;
        let known = |(id, count): (&u32, &usize)| (*id as usize) < *count;
        known((&self.state.global, globals)) && self.state.locals.iter().zip(locals).all(known)
    }
}

/// Checks a closed set that can only be read from the beginning, again and again. Successors
/// are collected up to a budget of bytes, then one pass over the set must find them all.
pub(crate) fn check_stream<E: From<Rejected>>(
    task: &Task<'_>,
    globals: &[Option<ThreadId>],
    locals: &[Vec<Local>],
    budget: usize,
    mut scan: impl FnMut(&mut dyn FnMut(usize, &State) -> Result<(), E>) -> Result<(), E>,
) -> Result<(), E> {
    let machine = Exact::new(task.program, task.model);
    let mut obligations = Obligations::new(&machine, globals, locals)?;
    let initial = obligations.initial()?;
    let mut needed = StateSet::new();
    for state in &initial {
        needed.insert(state, None).map_err(|Full| Rejected::TooLarge)?;
    }
    let mut checked = 0;
    let mut packed = Vec::new();
    loop {
        // Collect what the next states need, as far as the budget goes, but of one state at least.
        let start = checked;
        let mut room = true;
        scan(&mut |at, state| {
            room &= at <= start || needed.bytes() <= budget;
            if at < start || !room {
                return Ok(());
            }
            checked = at + 1;
            let mut full = false;
            let mut need = |next: &[u8]| full |= needed.insert(next, None).is_err();
            obligations.visit(at, packed_into(&mut packed, state), &mut need)?;
            if full { Err(Rejected::TooLarge.into()) } else { Ok(()) }
        })?;
        let mut found = StateSet::new();
        scan(&mut |_, state| {
            let state = packed_into(&mut packed, state);
            if needed.contains(state) {
                found.insert(state, None).map_err(|Full| Rejected::TooLarge)?;
            }
            Ok(())
        })?;
        if initial.iter().any(|state| needed.contains(state) && !found.contains(state)) {
            return Err(Rejected::InitialMissing.into());
        }
        if found.len() < needed.len() {
            // Which state was it? Look once more.
            scan(&mut |at, state| {
                let mut missing = false;
                if at >= start && at < checked {
                    let mut look = |next: &[u8]| missing |= !found.contains(next);
                    obligations.visit(at, packed_into(&mut packed, state), &mut look)?;
                }
                if missing { Err(Rejected::SuccessorMissing(at).into()) } else { Ok(()) }
            })?;
            return Err(Rejected::SuccessorMissing(start).into());
        }
        if room {
            return Ok(());
        }
        needed = StateSet::new();
    }
}

fn packed_into<'a>(packed: &'a mut Vec<u8>, state: &State) -> &'a [u8] {
    packed.clear();
    state.pack(packed);
    packed
}
