//! Which values and states there are, by exploration, where a fixed point over values finds no end or too much.
//!
//! A counter that is raised and put back has finitely many values, but "it may be any of them, and one more" has
//! no end: what counts is that it is put back in time. So the program is explored with store buffers as sets
//! ([`Pooled`]): whatever the memory model does is possible there, so every value that a run stores and
//! every state that a thread reaches is found. Sets need numbers for their members. Every member was the
//! newest store once, so values that had no number are known after an exploration that left them out,
//! and it is done again with them. One that leaves nothing out is the answer; if there is none within a
//! limit, there is no answer.

use super::NoView;
use super::behaviour::LocalState;
use super::finite::ValueTable;
use crate::pooled::Pooled;
use crate::{GoOn, Machine, Model, Slot, State, StateSet, Stepper};
use program::{Loc, Program};
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;

/// How many states pass before it is asked again whether to go on.
const PATIENCE: usize = 256;

/// What runs reach.
pub(super) struct Reached {
    /// By variable: its values, in memory and on their way.
    pub(super) values: Vec<Vec<i64>>,
    /// By thread.
    pub(super) states: Vec<FxHashSet<LocalState>>,
}

impl Reached {
    /// No more states than this are explored in all.
    pub(super) const MOST: usize = 400_000;

    /// What runs under a model reach; `None` if so many states do not tell.
    pub(super) fn of(
        program: &Program,
        model: Model,
        most: usize,
        go_on: &mut GoOn<'_>,
    ) -> Result<Option<Reached>, NoView> {
        let mut known = ValueTable::of(program)?.listed();
        let mut left = most;
        loop {
            let Some(machine) = Pooled::over(program, model, known.clone()) else { return Ok(None) };
            let Some((found, complete)) = explore(&machine, &mut left, go_on)? else { return Ok(None) };
            if complete {
                return Ok(Some(found));
            }
            let count = |values: &[Vec<i64>]| values.iter().map(Vec::len).sum::<usize>();
            if count(&found.values) <= count(&known) {
                return Ok(None);
            }
            known = found.values;
        }
    }
}

/// What is reached, and whether nothing was left out; `None` if there are too many states.
fn explore(
    machine: &Pooled<'_>,
    left: &mut usize,
    go_on: &mut GoOn<'_>,
) -> Result<Option<(Reached, bool)>, NoView> {
    let mut stepper = Stepper::new(machine);
    let (initial, doubts) = stepper.initial();
    let mut complete = doubts.is_empty();
    let mut waiting: Vec<State> = initial.take(*left).collect();
    let (mut seen, mut packed, mut next) = (StateSet::new(), Vec::new(), State::default());
    let mut found = Gathering::new(machine);
    while let Some(state) = waiting.pop() {
        packed.clear();
        state.pack(&mut packed);
        match seen.insert(&packed, None) {
            Ok((_, true)) => {}
            Ok((_, false)) => continue,
            Err(_) => return Ok(None),
        }
        *left = left.saturating_sub(1);
        if *left == 0 {
            return Ok(None);
        }
        if seen.len().is_multiple_of(PATIENCE) && !go_on() {
            return Err(NoView::Stopped);
        }
        found.add(&stepper, &state);
        stepper.prepare(&state);
        let visit = |_, _, next: &State| waiting.push(next.clone());
        stepper.successors(&state, &mut next, |_| complete = false, visit);
    }
    Ok(Some((found.finish(), complete)))
}

/// What was met so far.
struct Gathering<'a, 'p> {
    machine: &'a Pooled<'p>,
    values: Vec<BTreeSet<i64>>,
    states: Vec<FxHashSet<LocalState>>,
    slots: Vec<Slot>,
}

impl<'a, 'p> Gathering<'a, 'p> {
    fn new(machine: &'a Pooled<'p>) -> Gathering<'a, 'p> {
        let program = machine.program();
        Gathering {
            machine,
            values: vec![BTreeSet::new(); program.variables.len()],
            states: vec![FxHashSet::default(); program.threads.len()],
            slots: Vec::new(),
        }
    }

    /// Memory comes first in a state, then the slots of every thread.
    fn add(&mut self, stepper: &Stepper<'_, Pooled<'p>>, state: &State) {
        let (memory, mut rest) = state.values.split_at(self.values.len());
        for (known, value) in self.values.iter_mut().zip(memory) {
            known.insert(*value);
        }
        for thread in self.machine.program().thread_ids() {
            let local = stepper.local(thread, state);
            self.slots.clear();
            self.machine.slots(thread, local, &mut self.slots);
            let (values, behind) = rest.split_at(self.slots.len());
            rest = behind;
            let slots = || self.slots.iter().zip(values);
            let register = |(slot, value): (&Slot, &i64)| match slot {
                Slot::Register(..) => Some(*value),
                _ => None,
            };
            let (loc, registers): (Loc, Box<[i64]>) = (local.loc, slots().filter_map(register).collect());
            self.states[thread.index()].insert(LocalState { loc, registers });
            for (slot, value) in slots() {
                // A pool's members were each the newest once.
                if let Slot::Last(_, variable) | Slot::Queued(_, variable, _) = slot {
                    self.values[variable.index()].insert(*value);
                }
            }
        }
    }

    fn finish(self) -> Reached {
        let values = self.values.into_iter().map(|values| values.into_iter().collect()).collect();
        Reached { values, states: self.states }
    }
}
