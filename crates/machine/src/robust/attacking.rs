//! The steps of one attack and its helpers [004, Fig. 3.4].
//!
//! It starts in the states of SC in which the attacker can take the store of the attack, and
//! has two phases. *Delaying*: the attacker delays its stores (see [`super::delaying`]), the
//! others run under SC, until the attacker loads from memory. *Helping*: the attacker rests,
//! and the others take only steps that depend on that load. Which do is known from the threads
//! already in the chain and, for every variable, the strongest use the chain made of it: a step
//! depends on the load if its thread is in the chain, if it writes what the chain used, or if it
//! reads what the chain wrote. Once the chain touches the variable of the store, the drain of
//! the store depends on the load, and that is the witness.
//!
//! Steps that touch no memory move freely within their thread, so only threads in the chain take
//! them while helping; others have taken them before. An atomic section is one step in
//! happens-before: its uses are collected and judged when it ends.

use super::attacks::{Access, Accesses, Attack};
use super::delaying::{Delaying, has_stored};
use crate::{Doubt, Event, Local, Machine, State, Stepper};
use program::{EdgeId, Loc, Op, Program, ThreadId};

/// How strongly a variable was used.
const READ: u8 = 1;
const WRITTEN: u8 = 2;

/// A state of the search.
#[derive(Clone, Default)]
pub struct Attacked {
    /// Controls and values.
    pub state: State,
    /// Empty while delaying.
    pub(super) helping: Vec<u8>,
}

impl Attacked {
    pub(super) fn is_helping(&self) -> bool {
        !self.helping.is_empty()
    }
}

/// A step, and whether it is the load that ends the delay.
#[derive(Clone, Copy, Debug)]
pub struct AttackStep {
    /// What happens.
    pub event: Event,
    /// The value chosen, if one is.
    pub choice: Option<i64>,
    /// Whether it is the load that ends the delay.
    pub is_load: bool,
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

    /// The state in which the attack begins, if a state of SC is one: the attacker is about to
    /// take the store. Its controls must be numbered as by [`number_controls`].
    pub fn begin(&self, under_sc: &State) -> Option<Attacked> {
        let from = self.program.thread(self.attack.thread).edge(self.attack.store).from;
        let begins = under_sc.locals[self.attack.thread.index()] as usize == from.index();
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
        let starts = self.stepper.local(attacker, &state.state).drained();
        let mut scratch = State::default();
        self.stepper.successors(&state.state, &mut scratch, doubt, |event, choice, after| {
            let step = AttackStep { event, choice, is_load: false };
            if state.is_helping() {
                if self.help(state, event, &mut next.helping) {
                    copy(after, &mut next.state);
                    visit(step, next);
                }
                return;
            }
            if starts && event.thread() != attacker {
                return;
            }
            next.helping.clear();
            copy(after, &mut next.state);
            visit(step, next);
            if let Event::Step { thread, edge } = event
                && thread == attacker
                && self.attack.loads.contains(edge)
                && self.begin_helping(&state.state, after, edge, next)
            {
                visit(AttackStep { is_load: true, ..step }, next);
            }
        });
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
        debug_assert!(read.is_some(), "the set holds what pack wrote");
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

    /// The helping phase after the attacker's load, if that reads memory.
    fn begin_helping(&self, before: &State, after: &State, edge: EdgeId, out: &mut Attacked) -> bool {
        let thread = self.attack.thread;
        let local = self.stepper.local(thread, before);
        out.helping.clear();
        out.helping.resize(self.layout.size(), 0);
        let mut reads = false;
        for access in self.accesses.at(thread, edge) {
            if !has_stored(local, access.variable) {
                out.helping[self.layout.chain(access)] = READ;
                reads = true;
            }
        }
        if reads {
            self.rest(after, &mut out.state);
        }
        reads
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
        copy(state, out);
        out.locals[self.attack.thread.index()] = self.resting;
        out.values.drain(memory + segment.0..memory + segment.1);
    }

    /// The bookkeeping after a helper's step; `false` if it does not depend on the load.
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

fn copy(from: &State, to: &mut State) {
    to.global = from.global;
    to.locals.clone_from(&from.locals);
    to.values.clone_from(&from.values);
}

/// Numbers the controls of SC in one fixed way, so that steppers understand each other's states.
pub fn number_controls<M>(stepper: &mut Stepper<'_, M>, program: &Program)
where
    M: Machine<Global = Option<ThreadId>, Local = Local>,
{
    stepper.global_id(&None);
    for thread in program.thread_ids() {
        stepper.global_id(&Some(thread));
        for loc in program.thread(thread).locs() {
            stepper.local_id(thread, &Local::at(loc));
        }
    }
}
