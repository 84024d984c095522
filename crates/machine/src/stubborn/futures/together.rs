//! All that a few threads can do without the others, as a graph.

use super::{Future, GroupFutures, LONGEST_QUEUE, MOST_STATES};
use crate::persistent::{Touched, touched};
use crate::{Buffered, Event, Local, Machine, State, Stepper};
use indexmap::IndexSet;
use program::{EdgeId, Op, Program, ThreadId, VarId};
use rustc_hash::FxBuildHasher;
use std::collections::BTreeSet;

/// By thread and variable: the values it may write to memory.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct WrittenValues(Vec<Vec<BTreeSet<i64>>>);

impl WrittenValues {
    pub(super) fn new(program: &Program) -> WrittenValues {
        WrittenValues(vec![vec![BTreeSet::new(); program.variables.len()]; program.threads.len()])
    }

    fn by_others(&self, threads: &[ThreadId], variable: usize) -> bool {
        let others = self.0.iter().enumerate().filter(|(other, _)| !threads.contains(&ThreadId::new(*other)));
        others.into_iter().any(|(_, written)| !written[variable].is_empty())
    }

    /// By variable: all that is written, and what is there at the start.
    pub(super) fn all(&self, program: &Program, machine: &Buffered<'_>) -> Option<Vec<Vec<i64>>> {
        let mut all = vec![BTreeSet::new(); program.variables.len()];
        let (initial, doubts) = Stepper::new(machine).initial();
        if !doubts.is_empty() {
            return None;
        }
        for state in initial {
            all.iter_mut().zip(&state.values).for_each(|(all, value)| {
                all.insert(*value);
            });
        }
        for written in &self.0 {
            all.iter_mut().zip(written).for_each(|(all, written)| all.extend(written));
        }
        Some(all.into_iter().map(|values| values.into_iter().collect()).collect())
    }
}

/// A group of threads that runs without the others.
pub(super) struct GroupRun {
    threads: Vec<ThreadId>,
    /// By variable: whether others write it.
    foreign: Vec<bool>,
    /// Their controls, by number.
    locals: Vec<Vec<Local>>,
    /// Their states: the numbers of their controls, memory but for what others write, and their slots.
    states: IndexSet<Vec<i64>, FxBuildHasher>,
    steps: Vec<TogetherStep>,
}

/// A step of one of them.
struct TogetherStep {
    from: usize,
    to: usize,
    event: Event,
}

impl GroupRun {
    /// All that they can do, in no more steps than are left.
    pub(super) fn explored(
        machine: &Buffered<'_>,
        threads: &[ThreadId],
        written: &mut WrittenValues,
        left: &mut usize,
    ) -> Option<GroupRun> {
        let program = machine.program();
        let values = written.all(program, machine)?;
        let foreign = (0..program.variables.len()).map(|v| written.by_others(threads, v)).collect();
        let mut together = GroupRun {
            threads: threads.to_vec(),
            foreign,
            locals: Vec::new(),
            states: IndexSet::default(),
            steps: Vec::new(),
        };
        let mut stepper = Stepper::new(machine);
        let first = stepper.initial().0;
        let mut template = State::default();
        for state in first {
            together.add(&stepper, &state);
            template = state;
        }
        let mut at = 0;
        while at < together.states.len() {
            let mut state = together.state(&stepper, at, &template);
            for (variable, _) in together.foreign.iter().enumerate().filter(|(_, foreign)| **foreign) {
                state.values[variable] = values[variable][0];
            }
            if stepper.longest_queue(&state) > LONGEST_QUEUE {
                return None;
            }
            for thread in threads {
                for (edge, seen) in together.seen(&stepper, *thread, &state, &values)? {
                    together.step(&mut stepper, at, (*thread, edge, &seen), written)?;
                }
            }
            at += 1;
            if together.states.len() > MOST_STATES || together.steps.len() > *left {
                return None;
            }
        }
        // One for the state they start in: however little threads do, rounds have an end.
        *left = left.checked_sub(together.steps.len() + 1)?;
        together.locals = threads.iter().map(|thread| stepper.locals(*thread).cloned().collect()).collect();
        Some(together)
    }

    /// How many states there are.
    pub(super) fn len(&self) -> usize {
        self.states.len()
    }

    /// What they touch.
    pub(super) fn touched(&self, program: &Program) -> Touched {
        self.steps.iter().fold(Touched::default(), |all, step| all.and(touched_by(program, step.event)))
    }

    /// By thread, its controls in the order of their numbers.
    pub(super) fn controls(&self) -> impl Iterator<Item = (ThreadId, impl Iterator<Item = &Local>)> {
        self.threads.iter().zip(&self.locals).map(|(thread, locals)| (*thread, locals.iter()))
    }

    /// The number of their part of a state.
    fn add(&mut self, stepper: &Stepper<'_, Buffered<'_>>, state: &State) -> usize {
        let memory = state.values.iter().zip(&self.foreign);
        let memory = memory.map(|(value, foreign)| if *foreign { 0 } else { *value });
        let controls = self.threads.iter().map(|thread| i64::from(state.locals[thread.index()]));
        let mut key: Vec<i64> = controls.chain(memory).collect();
        for thread in &self.threads {
            let (base, count) = stepper.segment(thread.index(), state);
            key.extend_from_slice(&state.values[base..base + count]);
        }
        self.states.insert_full(key).0
    }

    /// A state of which this is their part; the other threads stand where they start.
    fn state(&self, stepper: &Stepper<'_, Buffered<'_>>, at: usize, template: &State) -> State {
        let (controls, rest) = self.states[at].split_at(self.threads.len());
        let (memory, mut slots) = rest.split_at(self.foreign.len());
        let mut state = template.clone();
        for (thread, control) in self.threads.iter().zip(controls) {
            state.locals[thread.index()] = u32::try_from(*control).unwrap_or(0);
        }
        state.values.clear();
        state.values.extend_from_slice(memory);
        // Slots lie in the order of threads, in a state as in a group.
        for thread in 0..state.locals.len() {
            let (base, count) = stepper.segment(thread, template);
            let own = if self.threads.contains(&ThreadId::new(thread)) {
                let (own, rest) = slots.split_at(stepper.segment(thread, &state).1);
                slots = rest;
                own
            } else {
                &template.values[base..base + count]
            };
            state.values.extend_from_slice(own);
        }
        state
    }

    /// A thread's edges from a state that load what others write, each with the states that it may see; and without an edge
    /// the state for all other steps.
    fn seen(
        &self,
        stepper: &Stepper<'_, Buffered<'_>>,
        thread: ThreadId,
        state: &State,
        values: &[Vec<i64>],
    ) -> Option<Vec<(Option<EdgeId>, State)>> {
        let program = stepper.machine().program();
        let loc = stepper.local(thread, state).loc;
        let mut all = vec![(None, state.clone())];
        for (id, edge) in program.thread(thread).outgoing(loc) {
            let loaded = self.foreign_loads(&edge.op);
            if loaded.is_empty() {
                continue;
            }
            let mut seen = vec![state.clone()];
            for variable in loaded {
                let with = |state: &State, value: i64| {
                    let mut state = state.clone();
                    state.values[variable] = value;
                    state
                };
                if seen.len() * values[variable].len() > MOST_STATES {
                    return None;
                }
                seen =
                    seen.iter().flat_map(|state| values[variable].iter().map(|v| with(state, *v))).collect();
            }
            all.extend(seen.into_iter().map(|state| (Some(id), state)));
        }
        Some(all)
    }

    /// What an operation loads that others write.
    fn foreign_loads(&self, op: &Op) -> BTreeSet<usize> {
        let mut loaded = BTreeSet::new();
        op.for_each_part(&mut |part| match part {
            Op::Load(_, variable) if self.foreign[variable.index()] => {
                loaded.insert(variable.index());
            }
            _ => {}
        });
        loaded
    }

    /// Whether a step is one by this edge, or without an edge one that loads nothing which others write.
    fn is_step_of(&self, program: &Program, event: Event, edge: Option<EdgeId>) -> bool {
        match event {
            Event::Drain { .. } => edge.is_none(),
            Event::Step { thread, edge: taken } => match edge {
                Some(edge) => taken == edge,
                None => self.foreign_loads(&program.thread(thread).edge(taken).op).is_empty(),
            },
        }
    }

    /// Adds what a thread can do in a state, and notes what that writes.
    fn step(
        &mut self,
        stepper: &mut Stepper<'_, Buffered<'_>>,
        from: usize,
        (thread, edge, state): (ThreadId, Option<EdgeId>, &State),
        written: &mut WrittenValues,
    ) -> Option<()> {
        let mut doubted = false;
        let mut found = Vec::new();
        stepper.prepare(state);
        let mut next = State::default();
        let visit = |event: Event, _: Option<i64>, next: &State| found.push((event, next.clone()));
        stepper.successors_of(thread, state, &mut next, |_| doubted = true, visit);
        let program = stepper.machine().program();
        found.retain(|(event, _)| self.is_step_of(program, *event, edge));
        for (event, next) in found {
            let own = &mut written.0[thread.index()];
            let mut write = |variable: VarId| {
                own[variable.index()].insert(next.values[variable.index()]);
            };
            match event {
                Event::Drain { variable, .. } => write(variable),
                Event::Step { thread, edge } => {
                    let direct = event.drain(program).is_none() || !stepper.machine().model().buffers();
                    program.thread(thread).edge(edge).op.for_each_part(&mut |part| match part {
                        Op::Store(variable, _) if direct => write(*variable),
                        _ => {}
                    });
                }
            }
            let to = self.add(stepper, &next);
            self.steps.push(TogetherStep { from, to, event });
        }
        (!doubted).then_some(())
    }

    /// The graph, with what may still be touched in every state.
    pub(super) fn futures(self, machine: &Buffered<'_>, values: &[Vec<i64>]) -> GroupFutures {
        let (program, memory, controls) = (machine.program(), self.foreign.len(), self.threads.len());
        let mut by_state: Vec<Box<[Future]>> = vec![Box::new([]); self.states.len()];
        for (futures, height) in by_state.iter_mut().zip(self.heights()) {
            *futures = vec![Future::default(); controls].into();
            futures[0].height = height;
        }
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for TogetherStep { from, to, event } in self.steps.iter().rev() {
                for (at, thread) in self.threads.iter().enumerate() {
                    let (after, before) = (by_state[*to][at], by_state[*from][at]);
                    let here = before_step(program, *event, *thread, before, after);
                    changed |= (before.later, before.until_wait) != (here.later, here.until_wait);
                    by_state[*from][at] = here;
                }
            }
        }
        let own = (0..memory).filter(|v| !self.foreign[*v] && values[*v].len() > 1).collect::<Vec<_>>();
        let shortened = |key: &Vec<i64>| {
            let known = own.iter().map(|variable| key[controls + variable]);
            key[..controls]
                .iter()
                .copied()
                .chain(known)
                .chain(key[controls + memory..].iter().copied())
                .collect()
        };
        let states = self.states.iter().map(shortened).zip(by_state).collect();
        GroupFutures { threads: self.threads, own, states }
    }

    /// How many steps are left at most, by state; one more than there are states where there may be no end.
    fn heights(&self) -> Vec<u32> {
        let count = self.states.len();
        let (mut open, mut before) = (vec![0; count], vec![Vec::new(); count]);
        for TogetherStep { from, to, .. } in &self.steps {
            open[*from] += 1;
            before[*to].push(*from);
        }
        let mut heights = vec![count as u32 + 1; count];
        let mut done: Vec<usize> = (0..count).filter(|state| open[*state] == 0).collect();
        let mut least = vec![0; count];
        while let Some(state) = done.pop() {
            heights[state] = least[state];
            for from in &before[state] {
                least[*from] = least[*from].max(least[state] + 1);
                open[*from] -= 1;
                if open[*from] == 0 {
                    done.push(*from);
                }
            }
        }
        heights
    }
}

/// What a thread may still touch before a step, where it is known after it and in part before it.
fn before_step(program: &Program, event: Event, thread: ThreadId, mut here: Future, after: Future) -> Future {
    here.later = here.later.and(after.later);
    match event {
        Event::Step { thread: stepping, edge } if stepping == thread => {
            here.later = here.later.and(touched_by(program, event));
            if !program.thread(thread).edge(edge).op.waits() {
                here.until_wait = here.until_wait.and(touched_by(program, event)).and(after.until_wait);
            }
        }
        Event::Drain { thread: draining, .. } if draining == thread => {}
        _ => here.until_wait = here.until_wait.and(after.until_wait),
    }
    here
}

/// What a step touches; that a store drains was said when it was made.
fn touched_by(program: &Program, event: Event) -> Touched {
    match event {
        Event::Step { thread, edge } => touched(&program.thread(thread).edge(edge).op),
        Event::Drain { .. } => Touched::default(),
    }
}
