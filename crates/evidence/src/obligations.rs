//! What a closed set owes, state by state: no violation, and every successor in the set.
//!
//! The successors are those of the exact machine with unbounded buffers, on values as they are
//! or on normal forms of the gap abstraction. A set in memory answers whether it holds a
//! state; one in a file can only be read from the beginning, again and again.

use crate::{Rejected, Task};
use machine::{Doubt, Entry, Exact, Full, GapStepper, Gaps, Local, Machine, State, StateSet, Stepper};
use program::ThreadId;

/// How states step.
enum Steps<'m, 'p> {
    Exact(Stepper<'m, Exact<'p>>),
    Gaps(GapStepper<'m, 'p>),
}

/// The obligations of a closed set.
pub(crate) struct Obligations<'m, 'p> {
    steps: Steps<'m, 'p>,
    state: State,
    next: State,
    packed: Vec<u8>,
}

impl<'m, 'p> Obligations<'m, 'p> {
    pub(crate) fn new(
        machine: &'m Exact<'p>,
        gaps: Option<Gaps>,
        globals: &[Option<ThreadId>],
        locals: &[Vec<Local>],
    ) -> Result<Obligations<'m, 'p>, Rejected> {
        let program = machine.program();
        let mut steps = match gaps {
            None => Steps::Exact(Stepper::new(machine)),
            Some(gaps) => Steps::Gaps(GapStepper::with(machine, gaps).ok_or(Rejected::Window)?),
        };
        let stepper = steps.stepper_mut();
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
        Ok(Obligations { steps, state: State::default(), next: State::default(), packed: Vec::new() })
    }

    /// The initial states, packed.
    pub(crate) fn initial(&mut self) -> Result<Vec<Vec<u8>>, Rejected> {
        let (states, doubts) = match &mut self.steps {
            Steps::Exact(stepper) => stepper.initial(),
            Steps::Gaps(stepper) => (stepper.initial(), Vec::new()),
        };
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
        let stepper = self.steps.stepper_mut();
        let unpacked = self.state.unpack(stepper.thread_count(), state);
        if unpacked.is_none() || !stepper.is_well_formed(&self.state) {
            return Err(Rejected::Malformed(at));
        }
        match stepper.violation(&self.state) {
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
    (globals, locals): (&[Option<ThreadId>], &[Vec<Local>]),
    budget: usize,
    mut scan: impl FnMut(&mut dyn FnMut(usize, &State) -> Result<(), E>) -> Result<(), E>,
) -> Result<(), E> {
    let machine = Exact::new(task.program, task.model);
    let mut obligations = Obligations::new(&machine, gaps, globals, locals)?;
    let mut initial = StateSet::new();
    for state in obligations.initial()? {
        initial.insert(&state, None).map_err(|Full| Rejected::TooLarge)?;
    }
    let mut checked = 0;
    let mut needed = initial;
    let mut origin = None;
    let mut packed = Vec::new();
    loop {
        // Collect what the states after the first `checked` ones need, as far as the budget goes.
        let mut reached_end = true;
        scan(&mut |at, state| {
            if at < checked || !reached_end {
                return Ok(());
            }
            if needed.bytes() > budget && at > checked {
                reached_end = false;
                return Ok(());
            }
            packed.clear();
            state.pack(&mut packed);
            let mut full = false;
            obligations.visit(at, &packed, &mut |next| full |= needed.insert(next, None).is_err())?;
            if full {
                return Err(Rejected::TooLarge.into());
            }
            origin = origin.or(Some(at));
            checked = at + 1;
            Ok(())
        })?;
        let mut found = StateSet::new();
        scan(&mut |_, state| {
            packed.clear();
            state.pack(&mut packed);
            if needed.contains(&packed) {
                found.insert(&packed, None).map_err(|Full| Rejected::TooLarge)?;
            }
            Ok(())
        })?;
        if found.len() < needed.len() {
            return Err(match origin {
                None => Rejected::InitialMissing,
                Some(at) => Rejected::SuccessorMissing(at),
            }
            .into());
        }
        if reached_end {
            return Ok(());
        }
        needed = StateSet::new();
    }
}
