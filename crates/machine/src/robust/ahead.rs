//! The states of an attack in which threads have gone ahead: fewer than all, and enough.
//!
//! Where all that a thread can do next is one step that computes with its registers, or loads what no other
//! thread ever stores, that step commutes with all that others do, as in [`crate::Settled`], and leaves what the chain has used as it
//! was for others. So wherever a witness can be reached from the state before the step, one can be from the state
//! after it: the thread takes the step on the way, and it may as well come first, or it takes no more steps at all. While helping, a
//! thread takes such a step only in the chain or in an open atomic section, as all others; it then is as far as it gets. The
//! access that ends the delay is a choice of the attacker and is never taken like that, nor is a step
//! that leads back: so going ahead has an end.
//!
//! All this is for models that keep stores in order: then only the attacker delays. Under others nobody goes ahead.
//!
//! The states of SC that attacks start from are all there are. Those in which a thread may go ahead are left out:
//! the state after that is one of SC as well, and the attacker, which is about to store, stands where it stood.

use super::attacking::{AttackStep, Attacked, Attacking};
use super::attacks::Accesses;
use super::delaying::Delaying;
use crate::settled::{Course, courses};
use crate::{Doubt, Event, Machine, State};
use program::{EdgeId, Loc, ThreadId};
use smallvec::SmallVec;

/// A step of an attack, and the steps ahead that follow it.
pub type AttackSteps = SmallVec<[AttackStep; 4]>;

/// An attack, as something to explore.
pub struct AttackAhead<'m, 'a> {
    attacking: Attacking<'m, 'a>,
    /// By thread and location: whether its next step may come first.
    goes: Vec<Vec<bool>>,
    /// By thread and edge: whether it leads back.
    back: Vec<Vec<bool>>,
    /// The successors of the state that was prepared last, so many; what lies behind them is memory to be used again.
    listed: Vec<(AttackSteps, Attacked)>,
    count: usize,
    doubts: Vec<Doubt>,
    next: Attacked,
    spare: State,
    helping: Vec<u8>,
}

impl<'m, 'a> AttackAhead<'m, 'a> {
    /// The attack that a machine is for.
    pub fn new(machine: &'m Delaying<'a>, accesses: &'a Accesses) -> AttackAhead<'m, 'a> {
        let (under_sc, attack) = (machine.under_sc(), machine.attack());
        let program = under_sc.program();
        let in_order = !machine.model().reorders_stores();
        let (mut goes, mut back) = (Vec::new(), Vec::new());
        for thread in program.thread_ids() {
            let courses = courses(under_sc, thread);
            let automaton = program.thread(thread);
            let chooses = |loc: Loc| {
                let overtakes = |id: EdgeId| thread == attack.thread && attack.overtakers.contains(id);
                automaton.outgoing(loc).any(|(id, _)| overtakes(id))
            };
            let goes_at = |loc: Loc| in_order && courses.at(loc, true) == Course::Goes && !chooses(loc);
            goes.push(automaton.locs().map(goes_at).collect());
            back.push(courses.back);
        }
        AttackAhead {
            attacking: Attacking::new(machine, accesses),
            goes,
            back,
            listed: Vec::new(),
            count: 0,
            doubts: Vec::new(),
            next: Attacked::default(),
            spare: State::default(),
            helping: Vec::new(),
        }
    }

    /// As [`Attacking::fits`].
    pub fn fits(&self, under_sc: &State) -> bool {
        self.attacking.fits(under_sc)
    }

    /// The state in which the attack begins, if a state of SC is one and nobody goes ahead from there.
    pub fn begin(&mut self, under_sc: &State) -> Option<Attacked> {
        let state = self.attacking.begin(under_sc)?;
        let mut threads = 0..self.goes.len();
        (!threads.any(|thread| self.step_ahead(thread, &state).is_some())).then_some(state)
    }

    /// Bytes of memory it holds.
    pub fn bytes(&self) -> usize {
        self.attacking.bytes()
    }

    /// Lists the successors of a state.
    pub fn prepare(&mut self, state: &Attacked) {
        self.attacking.prepare(state);
        let (mut listed, mut doubts) = (std::mem::take(&mut self.listed), std::mem::take(&mut self.doubts));
        doubts.clear();
        let mut count = 0;
        let visit = |step, next: &Attacked| {
            match listed.get_mut(count) {
                Some((steps, memory)) => {
                    steps.clear();
                    steps.push(step);
                    memory.clone_from(next);
                }
                None => listed.push((AttackSteps::from_slice(&[step]), next.clone())),
            }
            count += 1;
        };
        self.attacking.successors(state, &mut self.next, |doubt| doubts.push(doubt), visit);
        for (steps, next) in &mut listed[..count] {
            let stepped = steps[0].event.thread().index();
            // Others may have waited for the end of an atomic section.
            let all = next.state.global != state.state.global;
            for thread in (0..self.goes.len()).filter(|thread| all || *thread == stepped) {
                self.go_ahead(thread, next, steps);
            }
        }
        (self.listed, self.count, self.doubts) = (listed, count, doubts);
    }

    /// Calls `visit` on every successor of the state that was prepared last, in a fixed order. Doubts go to `doubt`.
    pub fn successors(&self, doubt: impl FnMut(Doubt), mut visit: impl FnMut(&AttackSteps, &Attacked)) {
        self.doubts.iter().copied().for_each(doubt);
        self.listed[..self.count].iter().for_each(|(steps, next)| visit(steps, next));
    }

    /// Whether the chain has come back to the variable of the store.
    pub fn is_witness(&self, state: &Attacked) -> bool {
        self.attacking.is_witness(state)
    }

    /// Appends a state's bytes; equal states have equal bytes.
    pub fn pack(&self, state: &Attacked, out: &mut Vec<u8>) {
        self.attacking.pack(state, out);
    }

    /// Reads back what [`AttackAhead::pack`] wrote.
    pub fn unpack(&self, bytes: &[u8], state: &mut Attacked) {
        self.attacking.unpack(bytes, state);
    }

    /// Takes a thread ahead as far as it goes.
    fn go_ahead(&mut self, thread: usize, state: &mut Attacked, steps: &mut AttackSteps) {
        while let Some(event) = self.step_ahead(thread, state) {
            std::mem::swap(&mut state.state, &mut self.spare);
            if state.is_helping() {
                std::mem::swap(&mut state.helping, &mut self.helping);
            }
            steps.push(AttackStep { event, choice: None, overtakes: false, stays: false });
        }
    }

    /// The step by which a thread goes ahead; the state after it is in `spare`, and what is known of the chain in `helping`.
    fn step_ahead(&mut self, thread: usize, state: &Attacked) -> Option<Event> {
        let loc = self.attacking.stands(ThreadId::new(thread), state)?;
        if !self.goes[thread][loc.index()] {
            return None;
        }
        let event = self.attacking.only_step(thread, state, &mut self.spare)?;
        let Event::Step { edge, .. } = event else { return None };
        let helps = !state.is_helping() || self.attacking.help(state, event, &mut self.helping);
        (helps && !self.back[thread][edge.index()]).then_some(event)
    }
}
