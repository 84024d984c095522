//! The steps of one attack and its helpers [004, Fig. 3.4].
//!
//! It starts in the states of SC in which the attacker can take the store of the attack, and
//! has two phases. *Delaying*: the attacker delays its stores (see [`super::delaying`]), the
//! others run under SC, until the attacker's *overtaker*: a load from memory, or a store that is drained at once.
//! *Helping*: the attacker rests,
//! and the others take only steps that depend on the overtaker. Which do is known from the threads
//! already in the chain and, for every variable, the strongest use the chain made of it: a step
//! depends on the overtaker if its thread is in the chain, if it writes what the chain used, or if it
//! reads what the chain wrote. Once the chain touches the variable of the store, the drain of
//! the store depends on the overtaker, and that is the witness.
//!
//! Steps that touch no memory move freely within their thread, so only threads in the chain take
//! them while helping; others have taken them before. An atomic section is one step in
//! happens-before: its uses are collected and judged when it ends. Who keeps stores back besides the attacker
//! ([`super::besides`]) rests while helping, too.

use super::attacks::{Access, Accesses, Attack};
use super::delaying::{Delaying, keeps_back};
use crate::{Doubt, Event, Local, Machine, State, Stepper, WithBuffers};
use program::{EdgeId, Loc, Op, Program, ThreadId};

/// How strongly a variable was used.
const READ: u8 = 1;
const WRITTEN: u8 = 2;

/// A state of the search.
#[derive(Default)]
pub struct Attacked {
    /// Controls and values.
    pub state: State,
    /// Empty while delaying.
    pub(super) helping: Vec<u8>,
}

impl Clone for Attacked {
    fn clone(&self) -> Attacked {
        Attacked { state: self.state.clone(), helping: self.helping.clone() }
    }

    /// Copies into the memory that is there.
    fn clone_from(&mut self, from: &Attacked) {
        self.state.clone_from(&from.state);
        self.helping.clone_from(&from.helping);
    }
}

impl Attacked {
    pub(super) fn is_helping(&self) -> bool {
        !self.helping.is_empty()
    }
}

/// A step, and its part in the attack.
#[derive(Clone, Copy, Debug)]
pub struct AttackStep {
    /// What happens.
    pub event: Event,
    /// The value chosen, if one is.
    pub choice: Option<i64>,
    /// Whether it is the overtaker that ends the delay.
    pub overtakes: bool,
    /// Whether it is a store that stays in the buffer.
    pub stays: bool,
}

/// Where the parts of the helping phase's bookkeeping lie in its bytes: whether the chain is
/// closed, the threads in the chain, the variables' use by the chain, and by the open section.
#[derive(Clone, Copy)]
struct ChainLayout {
    threads: usize,
    variables: usize,
}

impl ChainLayout {
    fn thread(self, thread: ThreadId) -> usize {
        1 + thread.index()
    }

    fn chain(self, access: &Access) -> usize {
        1 + self.threads + access.variable.index()
    }

    fn section(self, variable: usize) -> usize {
        1 + self.threads + self.variables + variable
    }

    fn size(self) -> usize {
        1 + self.threads + 2 * self.variables
    }
}

/// An attack, as something to explore.
pub struct Attacking<'m, 'a> {
    program: &'a Program,
    attack: &'a Attack,
    accesses: &'a Accesses,
    stepper: Stepper<'m, Delaying<'a>>,
    resting: u32,
    layout: ChainLayout,
}

impl<'m, 'a> Attacking<'m, 'a> {
    /// The attack that a machine is for.
    pub fn new(machine: &'m Delaying<'a>, accesses: &'a Accesses) -> Attacking<'m, 'a> {
        let (program, attack) = (machine.under_sc().program(), machine.attack());
        let mut stepper = Stepper::new(machine);
        number_controls(&mut stepper, program);
        let resting = stepper.local_id(attack.thread, &machine.resting());
        let layout = ChainLayout { threads: program.threads.len(), variables: program.variables.len() };
        Attacking { program, attack, accesses, stepper, resting, layout }
    }

    /// Whether a state of SC has the controls and as many values as it should; states of others
    /// are checked with it.
    pub fn fits(&self, under_sc: &State) -> bool {
        self.stepper.is_well_formed(under_sc)
    }

    /// The state in which the attack begins, if a state of SC is one: a thread is about to
    /// take a store that stays. Its controls must be numbered as by [`number_controls`].
    pub fn begin(&self, under_sc: &State) -> Option<Attacked> {
        let begins = self.attack.begins_in(self.program, under_sc);
        begins.then(|| Attacked { state: under_sc.clone(), helping: Vec::new() })
    }

    /// Bytes of memory it holds.
    pub fn bytes(&self) -> usize {
        self.stepper.bytes()
    }

    /// Compiles the moves of a state's control, if that has not happened yet.
    pub fn prepare(&mut self, state: &Attacked) {
        self.stepper.prepare(&state.state);
    }

    /// Calls `visit` on every successor of a prepared state, in a fixed order. `next` is working
    /// memory. Doubts go to `doubt`.
    pub fn successors(
        &self,
        state: &Attacked,
        next: &mut Attacked,
        doubt: impl FnMut(Doubt),
        mut visit: impl FnMut(AttackStep, &Attacked),
    ) {
        let attacker = self.attack.thread;
        let drained = |thread: ThreadId, at: &State| self.stepper.local(thread, at).drained();
        let starts = drained(attacker, &state.state) && self.attack.is_alone();
        let mut scratch = State::default();
        self.stepper.successors(&state.state, &mut scratch, doubt, |event, choice, after| {
            let thread = event.thread();
            let step = AttackStep { event, choice, overtakes: false, stays: self.stays(event, after) };
            if state.is_helping() {
                let helps = !step.stays && drained(thread, &state.state);
                if helps && self.help(state, event, &mut next.helping) {
                    next.state.clone_from(after);
                    visit(step, next);
                }
                return;
            }
            if starts && thread != attacker {
                return;
            }
            next.helping.clear();
            next.state.clone_from(after);
            visit(step, next);
            if let Event::Step { edge, .. } = event
                && thread == attacker
                && self.attack.overtakers.contains(edge)
                && !drained(attacker, &state.state)
                && self.begin_helping(&state.state, after, edge, next)
            {
                visit(AttackStep { overtakes: true, ..step }, next);
            }
        });
    }

    /// Whether a step is a store that stays in the buffer.
    fn stays(&self, event: Event, after: &State) -> bool {
        let Event::Step { thread, edge } = event else { return false };
        let automaton = self.program.thread(thread);
        let stored = automaton.delayed_store(automaton.edge(edge));
        stored.is_some_and(|variable| keeps_back(self.stepper.local(thread, after), variable))
    }

    /// Whether the chain has come back to the variable of the store.
    pub fn is_witness(&self, state: &Attacked) -> bool {
        state.helping.first() == Some(&1)
    }

    /// Appends a state's bytes; equal states have equal bytes.
    pub fn pack(&self, state: &Attacked, out: &mut Vec<u8>) {
        out.push(u8::from(state.is_helping()));
        out.extend_from_slice(&state.helping);
        state.state.pack(out);
    }

    /// Reads back what [`Attacking::pack`] wrote.
    pub fn unpack(&self, bytes: &[u8], state: &mut Attacked) {
        let size = if bytes.first() == Some(&1) { self.layout.size() } else { 0 };
        let (helping, rest) = bytes[1..].split_at(size);
        state.helping.clear();
        state.helping.extend_from_slice(helping);
        let read = state.state.unpack(self.layout.threads, rest);
        assert!(read.is_some(), "the set holds what pack wrote");
    }

    /// Where a thread stands that may still take steps.
    pub(super) fn stands(&self, thread: ThreadId, state: &Attacked) -> Option<Loc> {
        let rests = thread == self.attack.thread && state.is_helping();
        (!rests).then(|| self.stepper.local(thread, &state.state).loc)
    }

    /// As [`Stepper::only_step`].
    pub(super) fn only_step(&mut self, thread: usize, state: &Attacked, next: &mut State) -> Option<Event> {
        self.stepper.only_step(thread, &state.state, next)
    }

    fn op(&self, thread: ThreadId, edge: EdgeId) -> &'a Op {
        &self.program.thread(thread).edge(edge).op
    }

    /// The helping phase after the attacker's overtaker, if that reads or writes memory.
    fn begin_helping(&self, before: &State, after: &State, edge: EdgeId, out: &mut Attacked) -> bool {
        let thread = self.attack.thread;
        out.helping.clear();
        out.helping.resize(self.layout.size(), 0);
        let mut overtakes = false;
        for access in self.accesses.at(thread, edge) {
            let at = if access.writes { after } else { before };
            if !keeps_back(self.stepper.local(thread, at), access.variable) {
                raise(&mut out.helping[self.layout.chain(access)], access);
                overtakes = true;
            }
        }
        if overtakes {
            self.rest(after, &mut out.state);
        }
        overtakes
    }

    /// The state with the attacker resting: its slots are gone.
    fn rest(&self, state: &State, out: &mut State) {
        let machine = self.stepper.machine();
        let mut slots = Vec::new();
        let mut segment = (0, 0);
        for thread in self.program.thread_ids() {
            let before = slots.len();
            machine.slots(thread, self.stepper.local(thread, state), &mut slots);
            if thread == self.attack.thread {
                segment = (before, slots.len());
            }
        }
        let memory = self.program.variables.len();
        out.clone_from(state);
        out.locals[self.attack.thread.index()] = self.resting;
        out.values.drain(memory + segment.0..memory + segment.1);
    }

    /// The bookkeeping after a helper's step; `false` if it does not depend on the overtaker.
    pub(super) fn help(&self, before: &Attacked, event: Event, helping: &mut Vec<u8>) -> bool {
        let Event::Step { thread, edge } = event else { return false };
        let in_chain = before.helping[self.layout.thread(thread)] != 0;
        let loc = self.stepper.local(thread, &before.state).loc;
        let inside = self.program.thread(thread).in_atomic(loc);
        let accesses = self.accesses.at(thread, edge);
        helping.clone_from(&before.helping);
        match self.op(thread, edge) {
            Op::Lock => true,
            Op::Unlock => self.end_section(thread, helping),
            _ if inside => {
                for access in accesses {
                    raise(&mut helping[self.layout.section(access.variable.index())], access);
                }
                true
            }
            _ if accesses.is_empty() => in_chain,
            _ => self.join(thread, accesses, helping),
        }
    }

    /// Judges what an atomic section did as one step.
    fn end_section(&self, thread: ThreadId, helping: &mut [u8]) -> bool {
        let mut accesses = Vec::new();
        for variable in self.program.variable_ids() {
            let used = std::mem::take(&mut helping[self.layout.section(variable.index())]);
            if used != 0 {
                accesses.push(Access { variable, writes: used == WRITTEN });
            }
        }
        self.join(thread, &accesses, helping)
    }

    /// Adds a step to the chain if it depends on it.
    fn join(&self, thread: ThreadId, accesses: &[Access], helping: &mut [u8]) -> bool {
        let conflicts = |access: &Access| {
            let used = helping[self.layout.chain(access)];
            used == WRITTEN || (used == READ && access.writes)
        };
        if helping[self.layout.thread(thread)] == 0 && !accesses.iter().any(conflicts) {
            return false;
        }
        helping[self.layout.thread(thread)] = 1;
        for access in accesses {
            raise(&mut helping[self.layout.chain(access)], access);
            if access.variable == self.attack.variable {
                helping[0] = 1;
            }
        }
        true
    }
}

fn raise(used: &mut u8, access: &Access) {
    *used = (*used).max(if access.writes { WRITTEN } else { READ });
}

/// Numbers the controls of SC in one fixed way, so that steppers understand each other's states.
pub fn number_controls<M: WithBuffers>(stepper: &mut Stepper<'_, M>, program: &Program) {
    stepper.global_id(&None);
    for thread in program.thread_ids() {
        stepper.global_id(&Some(thread));
        for loc in program.thread(thread).locs() {
            stepper.local_id(thread, &Local::at(loc));
        }
    }
}
