//! Concrete execution, fast: moves compiled once per control, over 64-bit values.
//!
//! Values lie in one vector: memory first, then every thread's own slots in order. A thread's
//! moves touch memory and its own segment only, so a compiled move is a guard, a few memory
//! writes and a change of the thread's segment. Locals and globals are interned; moves are
//! compiled when a local is first expanded ([`Stepper::prepare`]).
//!
//! Four things make a run incomplete without making it wrong, and are said as [`Doubt`]s: a bound of
//! the machine was reached, a value left 64 bits, a choice had too many values to try, or a step
//! takes a member of a pool, which has no single value.

use crate::code::CompiledCond;
use crate::compiled::{CodeInput, Compiled, InputValues, ListedMoves, LocalInfo, Samples, property_bit};
use crate::{
    Doubt, Event, InitialStates, Machine, MoveOf, Moves, Slot, State, Statement, Violation, initial_value,
};
use indexmap::IndexSet;
use program::{Place, PropertyKind, Span, ThreadId, VarId};
use rustc_hash::FxBuildHasher;

/// No more initial states than this are listed.
const MAX_INITIAL: usize = 1 << 18;

struct ThreadTable<L> {
    locals: IndexSet<L, FxBuildHasher>,
    info: Vec<LocalInfo>,
}

/// Runs a machine on concrete values.
pub struct Stepper<'m, M: Machine> {
    machine: &'m M,
    memory: usize,
    globals: IndexSet<M::Global, FxBuildHasher>,
    threads: Vec<ThreadTable<M::Local>>,
    properties: Vec<(PropertyKind, CompiledCond<Place>, Span)>,
    samples: Samples,
    bytes: usize,
}

impl<'m, M: Machine> Stepper<'m, M> {
    /// A stepper that has compiled nothing yet.
    pub fn new(machine: &'m M) -> Stepper<'m, M> {
        let program = machine.program();
        let table = || ThreadTable { locals: IndexSet::default(), info: Vec::new() };
        let compile =
            |p: &program::Property| (p.kind, CompiledCond::compile(&p.cond, &|place| *place), p.span);
        Stepper {
            machine,
            memory: program.variables.len(),
            globals: IndexSet::default(),
            threads: program.threads.iter().map(|_| table()).collect(),
            properties: program.properties.iter().map(compile).collect(),
            samples: Samples::of(program),
            bytes: 0,
        }
    }

    /// The machine it runs.
    pub fn machine(&self) -> &'m M {
        self.machine
    }

    /// About how many bytes of memory it holds. Where buffers grow without bound, that is more
    /// than the states take.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// How many threads there are.
    pub fn thread_count(&self) -> usize {
        self.threads.len()
    }

    /// The number of a shared control.
    pub fn global_id(&mut self, global: &M::Global) -> u32 {
        intern(&mut self.globals, global).0
    }

    /// The number of a thread's control.
    pub fn local_id(&mut self, thread: ThreadId, local: &M::Local) -> u32 {
        let table = &mut self.threads[thread.index()];
        let (id, new) = intern(&mut table.locals, local);
        if new {
            let info = LocalInfo::new(self.machine, thread, local);
            self.bytes += info.bytes();
            table.info.push(info);
        }
        id
    }

    /// The shared controls met so far, by number.
    pub fn globals(&self) -> impl ExactSizeIterator<Item = &M::Global> {
        self.globals.iter()
    }

    /// A thread's controls met so far, by number.
    pub fn locals(&self, thread: ThreadId) -> impl ExactSizeIterator<Item = &M::Local> {
        self.threads[thread.index()].locals.iter()
    }

    /// A thread's control in a state.
    pub fn local(&self, thread: ThreadId, state: &State) -> &M::Local {
        &self.threads[thread.index()].locals[state.locals[thread.index()] as usize]
    }

    /// Whether ids and the number of values fit together, as they may not in states that come from files.
    pub fn is_well_formed(&self, state: &State) -> bool {
        let known = state.locals.iter().zip(&self.threads).all(|(id, t)| (*id as usize) < t.info.len());
        known
            && (state.global as usize) < self.globals.len()
            && state.locals.len() == self.threads.len()
            && state.values.len() == self.base(self.threads.len(), state)
    }

    /// The states a run may start in, and doubts if not all are listed.
    pub fn initial(&mut self) -> (InitialStates, Vec<Doubt>) {
        let (states, doubts) = self.with_initial_values();
        if self.machine.program().starts.is_empty() {
            return (states, doubts);
        }
        let possible: Vec<State> = states.filter(|state| self.may_start(state)).collect();
        (possible.into(), doubts)
    }

    /// Whether the values in memory go together at the start.
    pub(crate) fn may_start(&self, state: &State) -> bool {
        self.machine.program().may_start(&|variable| state.values[variable.index()].into())
    }

    /// The states in which every variable has a value that it may start with.
    pub(crate) fn with_initial_values(&mut self) -> (InitialStates, Vec<Doubt>) {
        let program = self.machine.program();
        let (global, locals) = self.machine.initial();
        let global = self.global_id(&global);
        let locals: Vec<u32> =
            program.thread_ids().zip(&locals).map(|(t, local)| self.local_id(t, local)).collect();
        let mut first = State { global, locals, values: Vec::new() };
        first.values.resize(self.base(self.threads.len(), &first), 0);
        let (mut choices, mut doubts) = (Vec::new(), Vec::new());
        let mut count = 1;
        for variable in program.variable_ids() {
            let domain = initial_value(program, Slot::Memory(variable));
            let (mut values, exact) = self.samples.choices(&domain);
            let room = (MAX_INITIAL / count).max(1);
            let cut = values.len() > room;
            values.truncate(room);
            if !exact && domain.single().is_some() {
                doubts.push(Doubt::InitialOverflow(program.variable(variable).span));
            } else if (cut || !exact) && !doubts.contains(&Doubt::InitialChoice) {
                doubts.push(Doubt::InitialChoice);
            }
            count *= values.len();
            if count == 0 {
                break;
            }
            choices.push(values);
        }
        (InitialStates::product(first, choices, count), doubts)
    }

    /// Compiles the moves of a state's control, if that has not happened yet.
    #[inline]
    pub fn prepare(&mut self, state: &State) {
        (0..self.threads.len()).for_each(|thread| self.prepare_thread(thread, state));
    }

    /// The same for one thread.
    #[inline]
    pub(crate) fn prepare_thread(&mut self, thread: usize, state: &State) {
        let info = &self.threads[thread].info[state.locals[thread] as usize];
        if !matches!(info.moves.get(state.global as usize), Some(Some(_))) {
            self.compile(ThreadId::new(thread), state.global, state.locals[thread]);
        }
    }

    /// Takes the step of a thread, into `next`, if it can take exactly one that leaves no choice. Drains do not
    /// count.
    pub(crate) fn only_step(&mut self, thread: usize, state: &State, next: &mut State) -> Option<Event> {
        self.prepare_thread(thread, state);
        let (info, base) = (self.info(thread, state), self.base(thread, state));
        let own = &state.values[base..base + info.slots.len()];
        let inputs = InputValues { memory: &state.values[..self.memory], own, choice: 0 };
        let listed = info.moves[state.global as usize].as_ref().filter(|listed| listed.doubts.is_empty())?;
        let mut only = None;
        for step in listed.moves.iter().filter(|step| matches!(step.event, Event::Step { .. })) {
            match step.guard.eval(&|input| inputs.value(*input)) {
                Some(false) => {}
                Some(true) if only.is_none() && step.choices.is_none() => only = Some(step),
                _ => return None,
            }
        }
        let step = only?;
        next.locals.clone_from(&state.locals);
        self.write(state, next, step, thread, base, inputs)?;
        Some(step.event)
    }

    /// Calls `visit` on every successor of a prepared state, with the event and the chosen
    /// value, in a fixed order. `next` is working memory. Doubts go to `doubt`.
    pub fn successors(
        &self,
        state: &State,
        next: &mut State,
        mut doubt: impl FnMut(Doubt),
        mut visit: impl FnMut(Event, Option<i64>, &State),
    ) {
        next.locals.clone_from(&state.locals);
        let mut base = self.memory;
        for thread in 0..self.threads.len() {
            self.thread_successors(thread, base, state, next, &mut doubt, &mut visit);
            next.locals[thread] = state.locals[thread];
            base += self.info(thread, state).slots.len();
        }
    }

    /// As [`Stepper::successors`], for the steps of one thread.
    pub fn successors_of(
        &self,
        thread: ThreadId,
        state: &State,
        next: &mut State,
        mut doubt: impl FnMut(Doubt),
        mut visit: impl FnMut(Event, Option<i64>, &State),
    ) {
        next.locals.clone_from(&state.locals);
        let base = self.base(thread.index(), state);
        self.thread_successors(thread.index(), base, state, next, &mut doubt, &mut visit);
    }

    /// The state after one step of a prepared state, if it can be taken.
    pub fn take(&self, state: &State, event: Event, choice: Option<i64>) -> Option<State> {
        let thread = event.thread().index();
        if thread >= self.threads.len() {
            return None;
        }
        let mut found = None;
        let mut visit = |taken: Event, chosen: Option<i64>, next: &State| {
            if (taken, chosen) == (event, choice) {
                found = Some(next.clone());
            }
        };
        let base = self.base(thread, state);
        self.thread_successors(thread, base, state, &mut state.clone(), &mut |_| {}, &mut visit);
        found
    }

    /// The state after a step of a prepared state that chooses this value, whether or not it is
    /// among the values tried otherwise. The caller sees to it that the domain has it.
    pub fn choose(&self, state: &State, event: Event, value: i64) -> Option<State> {
        let thread = event.thread().index();
        let info = self.info(thread, state);
        let base = self.base(thread, state);
        let listed = info.moves[state.global as usize].as_ref().expect("the state was prepared");
        let step = listed.moves.iter().find(|step| step.event == event)?;
        let own = &state.values[base..base + info.slots.len()];
        let inputs = InputValues { memory: &state.values[..self.memory], own, choice: value };
        let mut next = state.clone();
        self.write(state, &mut next, step, thread, base, inputs)?;
        Some(next)
    }

    /// Calls `visit` on the state after every move of a thread whose guard holds, with the event and the
    /// chosen value.
    #[inline]
    fn thread_successors(
        &self,
        thread: usize,
        base: usize,
        state: &State,
        next: &mut State,
        doubt: &mut impl FnMut(Doubt),
        visit: &mut impl FnMut(Event, Option<i64>, &State),
    ) {
        let info = self.info(thread, state);
        let memory = &state.values[..self.memory];
        let own = &state.values[base..base + info.slots.len()];
        let listed = info.moves[state.global as usize].as_ref().expect("the state was prepared");
        listed.doubts.iter().for_each(|d| doubt(*d));
        for step in &listed.moves {
            // Where nothing is chosen nobody reads the choice.
            for choice in step.choices.as_deref().unwrap_or(&[0]) {
                let inputs = InputValues { memory, own, choice: *choice };
                // No value means an overflow.
                let taken = match step.guard.eval(&|input| inputs.value(*input)) {
                    Some(false) => continue,
                    Some(true) => self.write(state, next, step, thread, base, inputs),
                    None => None,
                };
                match taken {
                    Some(()) => visit(step.event, step.choices.as_ref().map(|_| *choice), next),
                    None => doubt(Doubt::Overflow(Statement::of(self.machine.program(), step.event))),
                }
            }
        }
    }

    /// Writes the state after a move: memory with the writes, the other threads as they are. The
    /// other threads' controls are in `next` already.
    #[inline]
    fn write(
        &self,
        state: &State,
        next: &mut State,
        step: &Compiled,
        thread: usize,
        base: usize,
        inputs: InputValues<'_>,
    ) -> Option<()> {
        let leaf = &|input: &CodeInput| inputs.value(*input);
        next.global = step.global;
        next.locals[thread] = step.local;
        let (from, to) = (base + step.front, base + inputs.own.len() - step.back);
        next.values.clear();
        if from + step.middle.len() == to {
            // No slot comes or goes.
            next.values.extend_from_slice(&state.values);
            for (at, code) in step.middle.iter().enumerate() {
                next.values[from + at] = code.eval(leaf)?;
            }
        } else {
            next.values.extend_from_slice(&state.values[..from]);
            for code in &step.middle {
                next.values.push(code.eval(leaf)?);
            }
            next.values.extend_from_slice(&state.values[to..]);
        }
        for (at, code) in &step.memory {
            next.values[*at as usize] = code.eval(leaf)?;
        }
        Some(())
    }

    /// What a state violates: the first failure, else the first property.
    #[inline]
    pub fn violation(&self, state: &State) -> Result<Option<Violation>, Doubt> {
        let (mut failed, mut possible) = (false, u64::MAX);
        for info in self.infos(state) {
            failed |= info.failed;
            possible &= info.may_violate;
        }
        match (failed, possible) {
            (true, _) => Ok(self.failure(state)),
            (false, 0) => Ok(None),
            (false, possible) => self.violated_property(state, possible),
        }
    }

    /// The first failure in a state.
    fn failure(&self, state: &State) -> Option<Violation> {
        let failed = self.infos(state).enumerate().find(|(_, info)| info.failed);
        failed.map(|(thread, info)| Violation::Failure(ThreadId::new(thread), info.loc))
    }

    /// The first property that a state violates, of those with a bit in `possible`.
    fn violated_property(&self, state: &State, possible: u64) -> Result<Option<Violation>, Doubt> {
        for (at, (kind, test, span)) in self.properties.iter().enumerate() {
            let excluded = possible >> property_bit(at) & 1 == 0;
            if excluded || (*kind == PropertyKind::Finally && !self.is_final(state)) {
                continue;
            }
            let holds = test.eval(&|place| self.place(state, place)).ok_or(Doubt::PropertyOverflow(*span))?;
            if holds == (*kind == PropertyKind::Never) {
                return Ok(Some(Violation::Property(at)));
            }
        }
        Ok(None)
    }

    /// Whether all threads have ended and all buffers are empty.
    pub fn is_final(&self, state: &State) -> bool {
        self.infos(state).all(|info| info.finished)
    }

    /// The length of the longest queue of stores on their way to memory.
    #[inline]
    pub fn longest_queue(&self, state: &State) -> usize {
        self.infos(state).fold(0, |longest, info| longest.max(info.longest_queue))
    }

    /// What a thread has on its way to memory, by variable.
    pub fn buffered(&self, thread: ThreadId, state: &State) -> impl Iterator<Item = (VarId, i64)> {
        let slots = &self.info(thread.index(), state).slots;
        let values = slots.iter().zip(&state.values[self.base(thread.index(), state)..]);
        values.filter_map(|(slot, value)| Some((slot.buffered()?, *value)))
    }

    /// The value of what a property speaks of. Registers that properties speak of are never dead.
    pub fn place(&self, state: &State, place: &Place) -> i64 {
        match *place {
            Place::Memory(variable) => state.values[variable.index()],
            Place::At(thread, loc) => i64::from(self.info(thread.index(), state).loc == loc),
            Place::Drained(thread) => i64::from(self.info(thread.index(), state).drained),
            Place::Register(thread, register) => {
                let slot = Slot::Register(thread, register);
                let at = self.info(thread.index(), state).slots.iter().position(|s| *s == slot);
                at.map_or(0, |at| state.values[self.base(thread.index(), state) + at])
            }
        }
    }

    /// Where a thread's values begin in a state, and how many it has.
    pub(crate) fn segment(&self, thread: usize, state: &State) -> (usize, usize) {
        (self.base(thread, state), self.info(thread, state).slots.len())
    }

    /// What is known of a thread's control of this number, if there is one.
    #[inline]
    pub(crate) fn local_info(&self, thread: usize, local: u32) -> Option<&LocalInfo> {
        self.threads[thread].info.get(local as usize)
    }

    #[inline]
    fn info(&self, thread: usize, state: &State) -> &LocalInfo {
        &self.threads[thread].info[state.locals[thread] as usize]
    }

    /// Where the values of a thread begin.
    #[inline]
    fn base(&self, thread: usize, state: &State) -> usize {
        self.memory + self.segments(state).take(thread).map(|slots| slots.len()).sum::<usize>()
    }

    #[inline]
    fn infos<'a>(&'a self, state: &'a State) -> impl Iterator<Item = &'a LocalInfo> {
        self.threads.iter().zip(&state.locals).map(|(thread, id)| &thread.info[*id as usize])
    }

    #[inline]
    fn segments<'a>(&'a self, state: &'a State) -> impl Iterator<Item = &'a [Slot]> {
        self.infos(state).map(|info| &*info.slots)
    }

    fn compile(&mut self, thread: ThreadId, global: u32, local: u32) {
        let table = &self.threads[thread.index()];
        let (at, shared) = (&table.locals[local as usize], &self.globals[global as usize]);
        let mut moves = Vec::new();
        let complete = self.machine.moves(thread, shared, at, &mut moves);
        let before = table.info[local as usize].slots.clone();
        let mut doubts = if complete == Moves::Withheld { vec![Doubt::Bound] } else { Vec::new() };
        let mut compile = |step: &MoveOf<M>| {
            let numbers = (self.global_id(&step.global), self.local_id(thread, &step.local));
            let after = &self.threads[thread.index()].info[numbers.1 as usize].slots;
            let statement = Statement::of(self.machine.program(), step.event);
            // A drain that brings any value is no choice of the program.
            let doubt = match step.event {
                Event::Step { .. } => Doubt::Choice(statement),
                Event::Drain { .. } => Doubt::Fragment(statement),
            };
            let mut unsure = || doubts.push(doubt);
            let compiled = Compiled::new(step, numbers, (&before, after), &self.samples, &mut unsure);
            if compiled.is_none() {
                doubts.push(Doubt::Fragment(statement));
            }
            compiled
        };
        let compiled: Vec<Compiled> = moves.iter().filter_map(&mut compile).collect();
        let slots = &mut self.threads[thread.index()].info[local as usize].moves;
        if slots.len() <= global as usize {
            slots.resize_with(global as usize + 1, || None);
        }
        self.bytes += compiled.iter().map(Compiled::bytes).sum::<usize>();
        slots[global as usize] = Some(ListedMoves { moves: compiled.into(), doubts: doubts.into() });
    }
}

fn intern<T: Clone + Eq + std::hash::Hash>(set: &mut IndexSet<T, FxBuildHasher>, item: &T) -> (u32, bool) {
    let (at, new) = match set.get_index_of(item) {
        Some(at) => (at, false),
        None => set.insert_full(item.clone()),
    };
    (u32::try_from(at).expect("fewer than 2^32 controls"), new)
}
