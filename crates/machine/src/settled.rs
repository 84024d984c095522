//! States in which every thread has gone as far as it can alone: far fewer than all states, and enough.
//!
//! State t *covers* state s if t can get wherever s can, as far as violations go, in no more steps.
//! Two rules say that a thread may be ahead:
//!
//! * *Goes*: all that a thread can do next is one step that nobody notices and that notices nobody:
//!   it computes with registers, joins its own buffer, loads what no other thread ever stores, or is a fence
//!   that has nothing to wait for. The step commutes with those of all others and with drains,
//!   so the state after it covers the state before. Properties must not see the difference; to arrive
//!   where a property looks is fine if that can only violate it.
//! * *Spins*: in a loop that only looks and waits ([`spins`]), with one way out, the state outside
//!   covers the states inside, for a thread inside does nothing but perhaps get there. So whoever can
//!   leave leaves at once; and who cannot need not look again before something has changed. Looks inside
//!   are not counted as steps, and where in the loop the thread stands makes no difference.
//!
//! A set of states that violate nothing is a proof if every successor of every state in it is
//! covered by a state in it: among states of the set from which a violation could be reached, take one with the fewest
//! steps to it; its first step leads to a state that is covered by one in the set, with fewer.
//! Here successors are *settled*: threads are taken ahead by the rules. Going round loops is done
//! once at most, so that this ends where a thread stores or computes for ever.

mod courses;
mod spins;

pub(crate) use courses::{Course, Courses, back_edges, stored_by_others};

use crate::reduced_domain::ReducedDomain;
use crate::successor_list::{ExactStep, SuccessorList};
use crate::{Buffered, DataDomain, Event, Local, Machine, Slot, State, Stepper};
use program::{Loc, RegId, ThreadId};
use std::collections::BTreeSet;

/// The exact machine on settled states.
pub struct Settled<'m, 'p> {
    stepper: Stepper<'m, Buffered<'p>>,
    threads: Vec<SettledThread>,
    /// The successors of the state that was prepared last.
    listed: SuccessorList,
    spare: State,
    spinning: State,
    /// The steps of a thread that spins.
    looks: Vec<Event>,
}

/// What is known of a thread.
struct SettledThread {
    courses: Courses,
    /// By the number of its control.
    controls: Vec<(Course, Loc)>,
}

/// How far a thread that spins got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Spun {
    /// Out of the loop, perhaps by an edge that leads back.
    Out { back: bool },
    /// Once around.
    Around,
    /// Not even that: others are inside an atomic section, or values do not tell.
    Stuck,
}

impl<'m, 'p> Settled<'m, 'p> {
    /// Settles states of a machine; `None` if the machine is not the exact one, or a property sees buffers.
    pub fn new(machine: &'m Buffered<'p>) -> Option<Settled<'m, 'p>> {
        let thread = |thread| SettledThread { courses: courses(machine, thread), controls: Vec::new() };
        let blind = machine.program().speaks_of_buffers().is_none();
        (machine.is_exact() && blind).then(|| Settled {
            stepper: Stepper::new(machine),
            threads: machine.program().thread_ids().map(thread).collect(),
            listed: SuccessorList::default(),
            spare: State::default(),
            spinning: State::default(),
            looks: Vec::new(),
        })
    }

    /// Where a thread may stand in states that are covered by settled ones in which it stands at these locations.
    pub fn passed(machine: &Buffered<'p>, thread: ThreadId, stands: &BTreeSet<Loc>) -> BTreeSet<Loc> {
        let courses = courses(machine, thread);
        let automaton = machine.program().thread(thread);
        // Where it starts it may have gone on before any state is listed.
        let mut found = stands.clone();
        found.insert(automaton.entry());
        let mut work: Vec<Loc> = found.iter().copied().collect();
        while let Some(loc) = work.pop() {
            if stands.contains(&loc) || courses.local[loc.index()] || courses.at(loc, true) != Course::Stays {
                let new = automaton.outgoing(loc).map(|(_, edge)| edge.to);
                work.extend(new.filter(|to| found.insert(*to)));
            }
        }
        found
    }

    /// Takes all threads ahead. Calls `note` on every step.
    fn settle(&mut self, state: &mut State, note: &mut (impl FnMut(Event) + ?Sized)) {
        (0..self.threads.len()).for_each(|thread| self.advance(thread, state, note));
    }

    /// Takes one thread ahead.
    fn advance(&mut self, thread: usize, state: &mut State, note: &mut (impl FnMut(Event) + ?Sized)) {
        let mut went_back = false;
        loop {
            let back = match self.control(thread, state).0 {
                Course::Stays | Course::GoesDrained => return,
                Course::Goes => {
                    let Some(event) = self.stepper.only_step(thread, state, &mut self.spare) else { return };
                    self.looks.clear();
                    self.looks.push(event);
                    self.leads_back(event)
                }
                Course::Spins(spin) => match self.spin(thread, spin, state) {
                    Spun::Out { back } => {
                        std::mem::swap(&mut self.spinning, &mut self.spare);
                        back
                    }
                    Spun::Around => return self.wait_at_first_node(thread, spin, state, note),
                    Spun::Stuck => return,
                },
            };
            if back && std::mem::replace(&mut went_back, true) {
                return;
            }
            std::mem::swap(state, &mut self.spare);
            self.looks.iter().for_each(|event| note(*event));
        }
    }

    /// Lets a thread look from node to node until it is out of its loop, or around; leaves the state in
    /// `spinning` and its steps in `looks`.
    fn spin(&mut self, thread: usize, spin: usize, state: &State) -> Spun {
        self.spinning.clone_from(state);
        self.looks.clear();
        for _ in 0..self.threads[thread].courses.spins[spin].nodes.len() {
            let Some(back) = self.look(thread) else { return Spun::Stuck };
            let loc = self.spinning_at(thread);
            let spin = &self.threads[thread].courses.spins[spin];
            if loc == spin.exit {
                return Spun::Out { back };
            }
            if !spin.nodes.contains(&loc) {
                return Spun::Stuck;
            }
        }
        Spun::Around
    }

    /// One look of a thread at a node, up to the next node or the exit; whether an edge led back.
    fn look(&mut self, thread: usize) -> Option<bool> {
        let mut back = false;
        // Between nodes no location comes twice.
        for _ in 0..=self.stepper.machine().program().threads[thread].locs().count() {
            let event = self.stepper.only_step(thread, &self.spinning, &mut self.spare)?;
            std::mem::swap(&mut self.spinning, &mut self.spare);
            self.looks.push(event);
            back |= self.leads_back(event);
            let loc = self.spinning_at(thread);
            if !self.threads[thread].courses.local[loc.index()] {
                return Some(back);
            }
        }
        None
    }

    /// Lets a thread that cannot leave its loop wait at the first node.
    fn wait_at_first_node(
        &mut self,
        thread: usize,
        spin: usize,
        state: &mut State,
        note: &mut (impl FnMut(Event) + ?Sized),
    ) {
        let first = self.threads[thread].courses.spins[spin].nodes[0];
        self.spinning.clone_from(state);
        self.looks.clear();
        while self.spinning_at(thread) != first {
            if self.look(thread).is_none() {
                return;
            }
        }
        std::mem::swap(state, &mut self.spinning);
        self.looks.iter().for_each(|event| note(*event));
    }

    /// Whether a thread waits in a loop that it cannot leave now.
    fn waits(&mut self, thread: usize, state: &State) -> bool {
        match self.control(thread, state).0 {
            Course::Spins(spin) => self.spin(thread, spin, state) == Spun::Around,
            _ => false,
        }
    }

    fn spinning_at(&mut self, thread: usize) -> Loc {
        let id = self.spinning.locals[thread];
        self.described(thread, id).1
    }

    fn control(&mut self, thread: usize, state: &State) -> (Course, Loc) {
        self.described(thread, state.locals[thread])
    }

    fn described(&mut self, thread: usize, id: u32) -> (Course, Loc) {
        let SettledThread { courses, controls } = &mut self.threads[thread];
        if controls.len() <= id as usize {
            let new = self.stepper.locals(ThreadId::new(thread)).skip(controls.len());
            controls.extend(new.map(|local| (courses.at(local.loc, local.drained()), local.loc)));
        }
        controls[id as usize]
    }

    fn leads_back(&self, event: Event) -> bool {
        match event {
            Event::Step { thread, edge } => self.threads[thread.index()].courses.back[edge.index()],
            Event::Drain { .. } => false,
        }
    }

    /// Lists what a thread can do in a state, and settles what comes of it.
    fn list_of(&mut self, thread: ThreadId, state: &State) {
        let start = self.listed.len();
        self.add_alone(thread, state);
        let mut listed = std::mem::take(&mut self.listed);
        for next in listed.states_from(start) {
            self.settle_others(state, next, &mut |_| {});
        }
        self.listed = listed;
    }

    /// The same before others notice anything.
    fn add_alone(&mut self, thread: ThreadId, state: &State) {
        let waits = self.waits(thread.index(), state);
        let mut listed = std::mem::take(&mut self.listed);
        let start = listed.len();
        let (mut next, mut doubts) = (std::mem::take(&mut self.spare), std::mem::take(&mut listed.doubts));
        let visit = |event, choice, next: &State| {
            if !(waits && matches!(event, Event::Step { .. })) {
                listed.push((event, choice), next);
            }
        };
        self.stepper.successors_of(thread, state, &mut next, |doubt| doubts.push(doubt), visit);
        (self.spare, listed.doubts) = (next, doubts);
        for next in listed.states_from(start) {
            self.advance(thread.index(), next, &mut |_| {});
        }
        self.listed = listed;
    }

    /// Settles the state after a step: the thread that took it, and others if they may notice.
    fn settle_after(
        &mut self,
        thread: ThreadId,
        before: &State,
        state: &mut State,
        note: &mut (impl FnMut(Event) + ?Sized),
    ) {
        self.advance(thread.index(), state, note);
        self.settle_others(before, state, note);
    }

    /// Lets all threads notice that what is shared has changed, if it has.
    fn settle_others(&mut self, before: &State, state: &mut State, note: &mut (impl FnMut(Event) + ?Sized)) {
        let memory = self.stepper.machine().program().variables.len();
        if state.global != before.global || state.values[..memory] != before.values[..memory] {
            self.settle(state, note);
        }
    }
}

impl<'m, 'p: 'm> ReducedDomain<'m> for Settled<'m, 'p> {
    type Machine = Buffered<'p>;

    /// A thread goes ahead by steps that compute with registers, join its buffer or load, and looks at nothing else.
    fn is_threadwise(&self) -> bool {
        true
    }

    fn notices(&self) -> bool {
        true
    }

    fn inner(&self) -> &dyn DataDomain<'m, Machine = Buffered<'p>> {
        &self.stepper
    }

    fn inner_mut(&mut self) -> &mut dyn DataDomain<'m, Machine = Buffered<'p>> {
        &mut self.stepper
    }

    fn list(&mut self, state: &State) {
        self.stepper.prepare(state);
        self.listed.clear();
        for thread in 0..self.threads.len() {
            self.list_of(ThreadId::new(thread), state);
        }
    }

    fn listed(&self) -> &SuccessorList {
        &self.listed
    }

    fn stand_in(&mut self, state: &mut State, note: &mut dyn FnMut(Event)) {
        self.settle(state, note);
    }

    fn list_alone(&mut self, thread: ThreadId, state: &State) {
        self.stepper.prepare(state);
        self.listed.clear();
        self.add_alone(thread, state);
    }

    fn notice(&mut self, thread: ThreadId, state: &mut State) {
        self.advance(thread.index(), state, &mut |_| {});
    }

    fn waiting_together(&self) -> Vec<(ThreadId, Vec<Loc>)> {
        let spins = |(at, thread): (usize, &SettledThread)| {
            let nodes = thread.courses.spins.iter().map(|spin| spin.nodes.clone());
            nodes.map(|nodes| (ThreadId::new(at), nodes)).collect::<Vec<_>>()
        };
        self.threads.iter().enumerate().flat_map(spins).collect()
    }

    fn steps(&mut self, from: &State, step: ExactStep, _: &State) -> Vec<ExactStep> {
        let mut steps = vec![step];
        self.stepper.prepare(from);
        if let Some(mut next) = self.stepper.take(from, step.0, step.1) {
            self.settle_after(step.0.thread(), from, &mut next, &mut |event| steps.push((event, None)));
        }
        steps
    }
}

/// Reads off a thread's text where it may go ahead.
pub(crate) fn courses(machine: &Buffered<'_>, thread: ThreadId) -> Courses {
    let live = |loc: Loc| -> Vec<RegId> {
        let mut slots = Vec::new();
        machine.slots(thread, &Local::at(loc), &mut slots);
        slots
            .into_iter()
            .filter_map(|slot| if let Slot::Register(_, r) = slot { Some(r) } else { None })
            .collect()
    };
    Courses::new(machine.program(), machine.model(), thread, &live)
}
