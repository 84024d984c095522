//! Which values and states there are, by exploration, where a fixed point over values finds no end or too much.
//!
//! A counter that is raised and put back has finitely many values, but "it may be any of them, and one more" has
//! no end: what counts is that it is put back in time. So the program is explored with store buffers as sets
//! ([`Pooled`]): whatever the memory model does is possible there, so every value that a run stores and
//! every state that a thread reaches is found. Sets need numbers for their members. Every member was the
//! newest store once, so values that had no number are known after an exploration that left them out,
//! and it is done again with them. One that leaves nothing out is the answer; if there is none within a
//! limit, more stores are kept in order, and at last there is no answer.

use super::NoView;
use super::behaviour::LocalState;
use super::finite::ValueTable;
use crate::pooled::{MOST_VALUES, Pooled};
use crate::{GoOn, Machine, Model, Slot, State, StateSet, Stepper};
use indexmap::IndexSet;
use program::Program;
use rustc_hash::{FxBuildHasher, FxHashSet};
use std::collections::BTreeSet;

/// How many stores of a queue are kept in order: where sets are too coarse, there may be fewer states if
/// some are.
const IN_ORDER: [usize; 3] = [0, 2, 8];

/// A thread with more states than this is not worth it.
const MOST_LOCAL: usize = 8_192;

/// How many states pass before it is asked again whether to go on.
const PATIENCE: usize = 256;

/// What runs reach.
pub(super) struct ReachedForwards {
    /// By variable: its values, in memory and on their way.
    pub(super) values: Vec<Vec<i64>>,
    /// By thread.
    pub(super) states: Vec<FxIndexSet<LocalState>>,
    /// By two threads, the first before the second: by number, states in which they are at one time, nothing
    /// being on its way or somebody being inside an atomic section.
    pub(super) together: Vec<FxHashSet<(u32, u32)>>,
    /// By thread and variable: states and values in memory at one of those times, and at any time.
    pub(super) settled: Vec<FxHashSet<(u32, i64)>>,
    pub(super) memory: Vec<FxHashSet<(u32, i64)>>,
}

type FxIndexSet<T> = IndexSet<T, FxBuildHasher>;

impl ReachedForwards {
    /// No more states than this are explored for each number of stores in order.
    pub(super) const MOST: usize = 400_000;

    /// What runs under a model reach; `None` if so many states do not tell.
    pub(super) fn of(
        program: &Program,
        model: Model,
        most: usize,
        go_on: &mut GoOn<'_>,
    ) -> Result<Option<ReachedForwards>, NoView> {
        for k in IN_ORDER.iter().copied().take(if model.buffers() { IN_ORDER.len() } else { 1 }) {
            let found = ReachedForwards::keeping(k, (program, model), most, go_on)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// The same, with the k oldest stores of every queue in order.
    fn keeping(
        k: usize,
        (program, model): (&Program, Model),
        most: usize,
        go_on: &mut GoOn<'_>,
    ) -> Result<Option<ReachedForwards>, NoView> {
        let mut known = ValueTable::of(program)?.listed();
        let mut left = most;
        loop {
            let Some(machine) = Pooled::over(program, model, k, known.clone()) else { return Ok(None) };
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
) -> Result<Option<(ReachedForwards, bool)>, NoView> {
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
        if found.endless() {
            return Ok(None);
        }
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
    found: ReachedForwards,
    /// By thread: the number of its state.
    standing: Vec<u32>,
    slots: Vec<Slot>,
}

impl<'a, 'p> Gathering<'a, 'p> {
    fn new(machine: &'a Pooled<'p>) -> Gathering<'a, 'p> {
        let (threads, variables) = (machine.program().threads.len(), machine.program().variables.len());
        let found = ReachedForwards {
            values: Vec::new(),
            states: vec![IndexSet::default(); threads],
            together: vec![FxHashSet::default(); threads * threads],
            settled: vec![FxHashSet::default(); threads * variables],
            memory: vec![FxHashSet::default(); threads * variables],
        };
        let values = vec![BTreeSet::new(); variables];
        Gathering { machine, values, found, standing: Vec::new(), slots: Vec::new() }
    }

    /// Whether there are more values than sets can have, or so many states of a thread that it seems to count.
    fn endless(&self) -> bool {
        self.values.iter().any(|values| values.len() > MOST_VALUES)
            || self.found.states.iter().any(|states| states.len() > MOST_LOCAL)
    }

    fn add(&mut self, stepper: &Stepper<'_, Pooled<'p>>, state: &State) {
        self.add_threads(stepper, state);
        let threads = self.machine.program().thread_ids();
        let drained = |thread| stepper.local(thread, state).drained();
        let held = stepper.globals().nth(state.global as usize).is_none_or(Option::is_some);
        let settled = held || threads.into_iter().all(drained);
        let (count, variables) = (self.standing.len(), self.values.len());
        for (first, a) in self.standing.iter().enumerate() {
            for (variable, value) in state.values[..variables].iter().enumerate() {
                self.found.memory[first * variables + variable].insert((*a, *value));
                if settled {
                    self.found.settled[first * variables + variable].insert((*a, *value));
                }
            }
            for (second, b) in self.standing.iter().enumerate().skip(first + 1).filter(|_| settled) {
                self.found.together[first * count + second].insert((*a, *b));
            }
        }
    }

    /// Memory comes first in a state, then the slots of every thread.
    fn add_threads(&mut self, stepper: &Stepper<'_, Pooled<'p>>, state: &State) {
        let (memory, mut rest) = state.values.split_at(self.values.len());
        for (known, value) in self.values.iter_mut().zip(memory) {
            known.insert(*value);
        }
        self.standing.clear();
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
            let state = LocalState { loc: local.loc, registers: slots().filter_map(register).collect() };
            let number = self.found.states[thread.index()].insert_full(state).0;
            self.standing.push(number as u32);
            for (slot, value) in slots() {
                // A pool's members were each the newest once.
                if let Slot::Last(_, variable) | Slot::Queued(_, variable, _) = slot {
                    self.values[variable.index()].insert(*value);
                }
            }
        }
    }

    fn finish(self) -> ReachedForwards {
        let values = self.values.into_iter().map(|values| values.into_iter().collect()).collect();
        ReachedForwards { values, ..self.found }
    }
}
