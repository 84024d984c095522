//! The search for a witness of one attack, as something to walk [004, Fig. 3.4].
//!
//! It starts in the states of SC in which the attacker can take the store of the attack, and
//! has two phases. *Delaying*: the attacker keeps its stores back (see [`super::delaying`]), the
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
use crate::search::TransitionSystem;
use machine::{Doubt, Event, Machine, State, StateSet, Stepper};
use program::{EdgeId, Loc, Op, Program, ThreadId};
use std::cell::RefCell;
use std::collections::BTreeSet;

/// How strongly a variable was used.
const READ: u8 = 1;
const WRITTEN: u8 = 2;

/// A state of the search.
#[derive(Clone, Default)]
pub(super) struct Attacked {
    pub(super) state: State,
    /// Empty while delaying.
    helping: Vec<u8>,
}

/// A step, and whether it is the load that ends the delay.
#[derive(Clone, Copy, Debug)]
pub(super) struct Label {
    pub(super) event: Event,
    pub(super) choice: Option<i64>,
    pub(super) is_load: bool,
}

/// Where the parts of the helping phase's bookkeeping lie in its bytes: whether the chain is
/// closed, the threads in the chain, the variables' use by the chain, and by the open section.
#[derive(Clone, Copy)]
struct Layout {
    threads: usize,
    variables: usize,
}

impl Layout {
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

/// The search.
pub(super) struct Attacking<'m, 'a> {
    program: &'a Program,
    attack: &'a Attack,
    accesses: &'a Accesses,
    stepper: Stepper<'m, Delaying<'a>>,
    under_sc: &'a StateSet,
    resting: u32,
    layout: Layout,
    pub(super) doubts: RefCell<BTreeSet<Doubt>>,
}

impl<'m, 'a> Attacking<'m, 'a> {
    pub(super) fn new(
        machine: &'m Delaying<'a>,
        program: &'a Program,
        attack: &'a Attack,
        accesses: &'a Accesses,
        under_sc: &'a StateSet,
    ) -> Attacking<'m, 'a> {
        let mut stepper = Stepper::new(machine);
        number_controls(&mut stepper, program);
        let resting = stepper.local_id(attack.thread, &machine.resting());
        let layout = Layout { threads: program.threads.len(), variables: program.variables.len() };
        Attacking {
            program,
            attack,
            accesses,
            stepper,
            under_sc,
            resting,
            layout,
            doubts: RefCell::default(),
        }
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
    fn help(&self, before: &Attacked, event: Event, helping: &mut Vec<u8>) -> bool {
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
pub(super) fn number_controls<M>(stepper: &mut Stepper<'_, M>, program: &Program)
where
    M: Machine<Global = Option<ThreadId>, Local = machine::Local>,
{
    stepper.global_id(&None);
    for thread in program.thread_ids() {
        stepper.global_id(&Some(thread));
        for loc in program.thread(thread).locs() {
            stepper.local_id(thread, &machine::Local::at(loc));
        }
    }
}

impl TransitionSystem for Attacking<'_, '_> {
    type State = Attacked;
    type Label = Label;
    type Goal = ();

    fn initial(&mut self) -> Vec<Attacked> {
        let from: Loc = self.program.thread(self.attack.thread).edge(self.attack.store).from;
        let mut found = Vec::new();
        let mut state = State::default();
        for bytes in self.under_sc.iter() {
            let read = state.unpack(self.layout.threads, bytes);
            debug_assert!(read.is_some(), "the set holds what pack wrote");
            if state.locals[self.attack.thread.index()] as usize == from.index() {
                found.push(Attacked { state: state.clone(), helping: Vec::new() });
            }
        }
        found
    }

    fn prepare(&mut self, state: &Attacked) {
        self.stepper.prepare(&state.state);
    }

    fn successors(&self, state: &Attacked, next: &mut Attacked, mut visit: impl FnMut(Label, &Attacked)) {
        let attacker = self.attack.thread;
        let starts = self.stepper.local(attacker, &state.state).buffer.is_empty();
        let mut scratch = State::default();
        let doubt = |doubt| {
            self.doubts.borrow_mut().insert(doubt);
        };
        self.stepper.successors(&state.state, &mut scratch, doubt, |event, choice, after| {
            let label = Label { event, choice, is_load: false };
            if !state.helping.is_empty() {
                if self.help(state, event, &mut next.helping) {
                    copy(after, &mut next.state);
                    visit(label, next);
                }
                return;
            }
            if starts && event.thread() != attacker {
                return;
            }
            next.helping.clear();
            copy(after, &mut next.state);
            visit(label, next);
            if let Event::Step { thread, edge } = event
                && thread == attacker
                && self.attack.loads.contains(&edge)
                && self.begin_helping(&state.state, after, edge, next)
            {
                visit(Label { is_load: true, ..label }, next);
            }
        });
    }

    fn goal(&self, state: &Attacked) -> Option<()> {
        (state.helping.first() == Some(&1)).then_some(())
    }

    fn pack(&self, state: &Attacked, out: &mut Vec<u8>) {
        out.push(u8::from(!state.helping.is_empty()));
        out.extend_from_slice(&state.helping);
        state.state.pack(out);
    }

    fn unpack(&self, bytes: &[u8], state: &mut Attacked) {
        let size = if bytes.first() == Some(&1) { self.layout.size() } else { 0 };
        let (helping, rest) = bytes[1..].split_at(size);
        state.helping.clear();
        state.helping.extend_from_slice(helping);
        let read = state.state.unpack(self.layout.threads, rest);
        debug_assert!(read.is_some(), "the set holds what pack wrote");
    }
}
