//! What threads may still touch, by their values.
//!
//! A text says of a thread that computes which cell of an array it takes next that it may take any. Here every
//! thread runs *alone*: what only it writes has the values that it wrote, and what others write too has, whenever
//! it is loaded, any value that anybody may write there. Who writes what is found by going on until nothing is new.
//! So a thread's part of every state that can be reached (its control, its own slots, what only it writes)
//! is one of a finite graph, and what it does from there goes along the graph's edges, whatever others do: what it
//! may still touch is what stands on them [C. Flanagan and S. Qadeer, Thread-modular model checking, 2003].
//!
//! States that come from anywhere need not be like that. Those of which every thread's part is in its graph, and every
//! variable's value among those that may be written, stay so with every step; of others nothing is said.

use crate::persistent::{Standing, Touched, touched};
use crate::{Buffered, Event, Local, Machine, State, Stepper};
use indexmap::{IndexMap, IndexSet};
use program::{EdgeId, Op, Program, ThreadId, VarId};
use rustc_hash::FxBuildHasher;
use std::collections::BTreeSet;

/// Threads with more states alone are not looked at, nor those with longer queues: they may grow without end.
const MOST_STATES: usize = 1 << 12;
const LONGEST_QUEUE: usize = 8;

/// And no more steps than this are taken, by all threads and until nothing is new.
const MOST_STEPS: usize = 1 << 16;

/// What all threads may still do.
pub(super) struct Futures {
    threads: Vec<ThreadFutures>,
    /// By variable: the values it may have.
    values: Vec<Vec<i64>>,
}

/// The graph of a thread.
struct ThreadFutures {
    locals: IndexSet<Local, FxBuildHasher>,
    /// The variables that are part of its states.
    own: Vec<usize>,
    states: IndexMap<Vec<i64>, Future, FxBuildHasher>,
}

/// What a thread may still do in one of its states.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Future {
    later: Touched,
    until_wait: Touched,
    /// How many steps it can still take; of all that may go round for ever the same.
    pub(super) height: u32,
}

impl Future {
    /// A thread that stands there, as its values say.
    pub(super) fn narrows(&self, mut standing: Standing) -> Standing {
        standing.here.later = self.later;
        standing.here.until_wait = self.until_wait;
        standing
    }
}

impl Futures {
    /// Of all threads; nothing if one has too many states, or values do not tell.
    pub(super) fn of(machine: &Buffered<'_>) -> Option<Futures> {
        let program = machine.program();
        let mut written = WrittenValues::new(program);
        let mut left = MOST_STEPS;
        loop {
            let before = written.clone();
            let alone = |thread| ThreadAlone::explored(machine, thread, &mut written, &mut left);
            let graphs = program.thread_ids().map(alone).collect::<Option<Vec<_>>>()?;
            if written == before {
                let values = written.all(program, machine)?;
                let threads = graphs.into_iter().map(|graph| graph.futures(machine, &values)).collect();
                return Some(Futures { threads, values });
            }
        }
    }

    /// Whether every variable has a value that is known of.
    pub(super) fn know(&self, memory: &[i64]) -> bool {
        memory.iter().zip(&self.values).all(|(value, known)| known.contains(value))
    }

    /// The number of a control in a thread's graph.
    pub(super) fn control(&self, thread: usize, local: &Local) -> Option<usize> {
        self.threads[thread].locals.get_index_of(local)
    }

    /// What a thread may still do that has this control, these slots and this memory; nothing if that is not known.
    /// `key` is working memory.
    pub(super) fn at(
        &self,
        thread: usize,
        control: usize,
        (memory, slots): (&[i64], &[i64]),
        key: &mut Vec<i64>,
    ) -> Option<&Future> {
        let graph = &self.threads[thread];
        key.clear();
        key.push(control as i64);
        key.extend(graph.own.iter().map(|variable| memory[*variable]));
        key.extend_from_slice(slots);
        graph.states.get(key)
    }
}

/// By thread and variable: the values it may write to memory.
#[derive(Clone, PartialEq, Eq)]
struct WrittenValues(Vec<Vec<BTreeSet<i64>>>);

impl WrittenValues {
    fn new(program: &Program) -> WrittenValues {
        WrittenValues(vec![vec![BTreeSet::new(); program.variables.len()]; program.threads.len()])
    }

    fn by_others(&self, thread: ThreadId, variable: usize) -> bool {
        let others = self.0.iter().enumerate().filter(|(other, _)| *other != thread.index());
        others.into_iter().any(|(_, written)| !written[variable].is_empty())
    }

    /// By variable: all that is written, and what is there at the start.
    fn all(&self, program: &Program, machine: &Buffered<'_>) -> Option<Vec<Vec<i64>>> {
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

/// A thread that runs alone.
struct ThreadAlone {
    thread: ThreadId,
    /// By variable: whether others write it.
    foreign: Vec<bool>,
    /// Its controls, by number.
    locals: Vec<Local>,
    /// Its states: the number of its control, memory but for what others write, and its slots.
    states: IndexSet<Vec<i64>, FxBuildHasher>,
    steps: Vec<AloneStep>,
}

/// A step of a thread that runs alone.
struct AloneStep {
    from: usize,
    to: usize,
    event: Event,
}

impl ThreadAlone {
    /// All that it can do, in no more steps than are left.
    fn explored(
        machine: &Buffered<'_>,
        thread: ThreadId,
        written: &mut WrittenValues,
        left: &mut usize,
    ) -> Option<ThreadAlone> {
        let program = machine.program();
        let values = written.all(program, machine)?;
        let foreign = (0..program.variables.len()).map(|v| written.by_others(thread, v)).collect();
        let mut alone = ThreadAlone {
            thread,
            foreign,
            locals: Vec::new(),
            states: IndexSet::default(),
            steps: Vec::new(),
        };
        let mut stepper = Stepper::new(machine);
        let first = stepper.initial().0;
        let mut template = State::default();
        for state in first {
            alone.add(&stepper, &state);
            template = state;
        }
        let mut at = 0;
        while at < alone.states.len() {
            let mut state = alone.state(&stepper, at, &template);
            for (variable, _) in alone.foreign.iter().enumerate().filter(|(_, foreign)| **foreign) {
                state.values[variable] = values[variable][0];
            }
            if stepper.longest_queue(&state) > LONGEST_QUEUE {
                return None;
            }
            for (edge, seen) in alone.seen(&stepper, &state, &values)? {
                alone.step(&mut stepper, at, (edge, &seen), written)?;
            }
            at += 1;
            if alone.states.len() > MOST_STATES || alone.steps.len() > *left {
                return None;
            }
        }
        // One for the state it starts in: however little threads do, rounds have an end.
        *left = left.checked_sub(alone.steps.len() + 1)?;
        alone.locals = stepper.locals(thread).cloned().collect();
        Some(alone)
    }

    /// The number of its part of a state.
    fn add(&mut self, stepper: &Stepper<'_, Buffered<'_>>, state: &State) -> usize {
        let (base, count) = stepper.segment(self.thread.index(), state);
        let memory = state.values.iter().zip(&self.foreign);
        let memory = memory.map(|(value, foreign)| if *foreign { 0 } else { *value });
        let mut key = vec![i64::from(state.locals[self.thread.index()])];
        key.extend(memory);
        key.extend_from_slice(&state.values[base..base + count]);
        self.states.insert_full(key).0
    }

    /// A state of which this is its part; the other threads stand where they start.
    fn state(&self, stepper: &Stepper<'_, Buffered<'_>>, at: usize, template: &State) -> State {
        let (thread, memory) = (self.thread.index(), self.foreign.len());
        let (base, count) = stepper.segment(thread, template);
        let key = &self.states[at];
        let mut state = template.clone();
        state.locals[thread] = u32::try_from(key[0]).unwrap_or(0);
        state.values[..memory].copy_from_slice(&key[1..=memory]);
        state.values.splice(base..base + count, key[1 + memory..].iter().copied());
        state
    }

    /// The edges from a state that load what others write, each with the states that it may see; and without an edge
    /// the state for all other steps.
    fn seen(
        &self,
        stepper: &Stepper<'_, Buffered<'_>>,
        state: &State,
        values: &[Vec<i64>],
    ) -> Option<Vec<(Option<EdgeId>, State)>> {
        let program = stepper.machine().program();
        let loc = stepper.local(self.thread, state).loc;
        let mut all = vec![(None, state.clone())];
        for (id, edge) in program.thread(self.thread).outgoing(loc) {
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

    /// Adds what it can do in a state, and notes what that writes.
    fn step(
        &mut self,
        stepper: &mut Stepper<'_, Buffered<'_>>,
        from: usize,
        (edge, state): (Option<EdgeId>, &State),
        written: &mut WrittenValues,
    ) -> Option<()> {
        let mut doubted = false;
        let mut found = Vec::new();
        stepper.prepare(state);
        let mut next = State::default();
        let visit = |event: Event, _: Option<i64>, next: &State| found.push((event, next.clone()));
        stepper.successors_of(self.thread, state, &mut next, |_| doubted = true, visit);
        let program = stepper.machine().program();
        found.retain(|(event, _)| self.is_step_of(program, *event, edge));
        for (event, next) in found {
            let own = &mut written.0[self.thread.index()];
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
            self.steps.push(AloneStep { from, to, event });
        }
        (!doubted).then_some(())
    }

    /// The graph, with what may still be touched in every state.
    fn futures(self, machine: &Buffered<'_>, values: &[Vec<i64>]) -> ThreadFutures {
        let (program, memory) = (machine.program(), self.foreign.len());
        let heights = self.heights();
        let mut futures: Vec<Future> =
            heights.into_iter().map(|height| Future { height, ..Future::default() }).collect();
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for AloneStep { from, to, event } in self.steps.iter().rev() {
                let (after, mut here) = (futures[*to], futures[*from]);
                here.later = here.later.and(after.later);
                if let Event::Step { thread, edge } = event {
                    let op = &program.thread(*thread).edge(*edge).op;
                    here.later = here.later.and(touched(op));
                    if !op.waits() {
                        here.until_wait = here.until_wait.and(touched(op)).and(after.until_wait);
                    }
                }
                let before = &mut futures[*from];
                changed |= (before.later, before.until_wait) != (here.later, here.until_wait);
                *before = here;
            }
        }
        let own = (0..memory).filter(|v| !self.foreign[*v] && values[*v].len() > 1).collect::<Vec<_>>();
        let shortened = |key: &Vec<i64>| {
            let known = own.iter().map(|variable| key[1 + variable]);
            key[..1].iter().copied().chain(known).chain(key[1 + memory..].iter().copied()).collect()
        };
        let states = self.states.iter().map(shortened).zip(futures).collect();
        ThreadFutures { locals: self.locals.into_iter().collect(), own, states }
    }

    /// How many steps are left at most, by state; one more than there are states where there may be no end.
    fn heights(&self) -> Vec<u32> {
        let count = self.states.len();
        let (mut open, mut before) = (vec![0; count], vec![Vec::new(); count]);
        for AloneStep { from, to, .. } in &self.steps {
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
