//! What a closed set owes, state by state: no violation, and every successor in the set.
//!
//! The successors are those of the exact machine with unbounded buffers, on values as they are
//! or on normal forms of the gap abstraction. A set in memory answers whether it holds a
//! state; one in a file can only be read from the beginning, again and again.

use crate::{Rejected, Task};
use machine::{Doubt, Entry, Exact, Full, GapStepper, Gaps, Local, State, StateSet, Stepper};
use program::ThreadId;

/// How states step.
enum Steps<'m, 'p> {
    Exact(Stepper<'m, Exact<'p>>),
    Gaps(GapStepper<'m, 'p>),
}

/// Whether states may violate something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Looking {
    /// They may not.
    ForViolations,
    /// It does not matter.
    Away,
}

/// The obligations of a closed set.
pub(crate) struct Obligations<'m, 'p> {
    steps: Steps<'m, 'p>,
    looking: Looking,
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
        gaps: Option<Gaps>,
        looking: Looking,
        globals: &[Option<ThreadId>],
        locals: &[Vec<Local>],
    ) -> Result<Obligations<'m, 'p>, Rejected> {
        let mut steps = match gaps {
            None => Steps::Exact(Stepper::new(machine)),
            Some(gaps) => Steps::Gaps(GapStepper::with(machine, gaps).ok_or(Rejected::Window)?),
        };
        number_controls(steps.stepper_mut(), globals, locals)?;
        let named = (globals.len(), locals.iter().map(Vec::len).collect());
        let (state, next) = (State::default(), State::default());
        Ok(Obligations { steps, looking, state, next, packed: Vec::new(), named })
    }

    /// The initial states, packed.
    pub(crate) fn initial(&mut self) -> Result<Vec<Vec<u8>>, Rejected> {
        let pack = |state: State| {
            let mut packed = Vec::new();
            state.pack(&mut packed);
            packed
        };
        let (states, doubts): (Vec<Vec<u8>>, _) = match &mut self.steps {
            Steps::Exact(stepper) => {
                let (states, doubts) = stepper.initial();
                (states.map(pack).collect(), doubts)
            }
            Steps::Gaps(stepper) => {
                let (states, doubts) = stepper.initial();
                (states.into_iter().map(pack).collect(), doubts)
            }
        };
        doubts.first().map_or(Ok(states), |doubt| Err(Rejected::Doubt(0, *doubt)))
    }

    /// Checks one state and hands its successors, packed, to `visit`.
    pub(crate) fn visit(
        &mut self,
        at: usize,
        state: &[u8],
        visit: &mut dyn FnMut(&[u8]),
    ) -> Result<(), Rejected> {
        let stepper = self.steps.stepper_mut();
        let unpacked = self.state.unpack(stepper.thread_count(), state);
        if unpacked.is_none() || !stepper.is_well_formed(&self.state) || !is_named(&self.named, &self.state) {
            return Err(Rejected::Malformed(at));
        }
        if let Steps::Gaps(steps) = &self.steps
            && !steps.is_normal(&self.state)
        {
            return Err(Rejected::Malformed(at));
        }
        let stepper = self.steps.stepper_mut();
        match stepper.violation(&self.state) {
            _ if self.looking == Looking::Away => {}
            Ok(None) => {}
            Ok(Some(violation)) => return Err(Rejected::Violated(at, violation)),
            Err(doubt) => return Err(Rejected::Doubt(at, doubt)),
        }
        stepper.prepare(&self.state);
        let mut found = None;
        let doubt = |doubt: Doubt| found = Some(doubt);
        let packed = &mut self.packed;
        let mut pack = |next: &State| {
            packed.clear();
            next.pack(packed);
            visit(packed);
        };
        match &self.steps {
            Steps::Exact(stepper) => {
                stepper.successors(&self.state, &mut self.next, doubt, |_, _, next| pack(next));
            }
            Steps::Gaps(stepper) => stepper.successors(&self.state, doubt, |_, _, next| pack(next)),
        }
        found.map_or(Ok(()), |doubt| Err(Rejected::Doubt(at, doubt)))
    }
}

/// Numbers controls as a dictionary does, if they exist and none is named twice.
pub(crate) fn number_controls(
    stepper: &mut Stepper<'_, Exact<'_>>,
    globals: &[Option<ThreadId>],
    locals: &[Vec<Local>],
) -> Result<(), Rejected> {
    let program = stepper.machine().program_ref();
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
    Ok(())
}

/// Whether the dictionary names the controls of a state.
fn is_named((globals, locals): &(usize, Vec<usize>), state: &State) -> bool {
    let known = |(id, count): (&u32, &usize)| (*id as usize) < *count;
    known((&state.global, globals)) && state.locals.iter().zip(locals).all(known)
}

impl<'m, 'p> Steps<'m, 'p> {
    fn stepper_mut(&mut self) -> &mut Stepper<'m, Exact<'p>> {
        match self {
            Steps::Exact(stepper) => stepper,
            Steps::Gaps(steps) => &mut steps.stepper,
        }
    }
}

/// Checks a closed set that can only be read from the beginning, again and again. Successors
/// are collected up to a budget of bytes, then one pass over the set must find them all.
pub(crate) fn check_stream<E: From<Rejected>>(
    task: &Task<'_>,
    gaps: Option<Gaps>,
    looking: Looking,
    (globals, locals): (&[Option<ThreadId>], &[Vec<Local>]),
    budget: usize,
    mut scan: impl FnMut(&mut dyn FnMut(usize, &State) -> Result<(), E>) -> Result<(), E>,
) -> Result<(), E> {
    let machine = Exact::new(task.program, task.model);
    let mut obligations = Obligations::new(&machine, gaps, looking, globals, locals)?;
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
            room &= at <= start || needed.bytes() + needed.growth(1) <= budget;
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
