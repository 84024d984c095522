//! A machine, and what a domain knows of its slots, as something to walk.

use crate::batch::Batch;
use crate::search::{Ended, Search, TransitionSystem, expand_unpacked, retrace};
use evidence::{ClosedSetOf, Controls, Reason};
use machine::{
    DataDomain, Doubt, Event, InitialStates, Machine, OwnNumbers, Remembered, State, StateRef, StateSet,
    TakenUp, Trace, TraceStep, Violation,
};
use program::{Int, Program, VarId};
use std::cell::RefCell;
use std::collections::BTreeSet;

/// The states of a machine, as a domain knows them.
pub(crate) struct Stepping<D> {
    pub(crate) domain: D,
    /// Why not everything was seen, collected on the way.
    pub(crate) doubts: RefCell<BTreeSet<Doubt>>,
    /// Whether violations are goals; otherwise nothing is.
    violations: bool,
    /// Where to start, if not where the program does.
    pub(crate) start: Option<State>,
    initial: Option<InitialStates>,
    remembered: Remembered,
}

impl<'m, D: DataDomain<'m>> Stepping<D> {
    /// Looking for violations.
    pub(crate) fn hunting(domain: D) -> Stepping<D> {
        let remembered = Remembered::new(&domain);
        Stepping {
            domain,
            doubts: RefCell::default(),
            violations: true,
            start: None,
            initial: None,
            remembered,
        }
    }

    /// Looking for nothing in particular.
    pub(crate) fn wandering(domain: D) -> Stepping<D> {
        Stepping { violations: false, ..Stepping::hunting(domain) }
    }

    pub(crate) fn doubt(&self, doubt: Doubt) {
        self.doubts.borrow_mut().insert(doubt);
    }

    /// Why not everything was seen, as reasons of an unknown.
    pub(crate) fn take_reasons(&self) -> Vec<Reason> {
        self.doubts.take().into_iter().map(Reason::Doubt).collect()
    }

    /// The states found as a certificate, with the dictionary of their control.
    pub(crate) fn closed_set(&self, states: StateSet) -> ClosedSetOf<D::Machine> {
        ClosedSetOf::<D::Machine> { controls: Controls::of(self.domain.stepper()), states }
    }

    /// What a state violates.
    pub(crate) fn violation_at(&self, states: &StateSet, at: StateRef) -> Option<Violation> {
        let mut state = State::default();
        self.unpack(states.get(at), &mut state);
        self.goal(&state)
    }

    /// The run to a state that violates something.
    pub(crate) fn trace(&mut self, states: &StateSet, goal: StateRef, violation: Violation) -> Trace {
        let mut path = Vec::new();
        let first = retrace(self, states, goal, |_, label, state| path.push((label, state.clone())));
        let (labels, violation) = self.domain.unfold(&first, &path, violation);
        let program = self.domain.stepper().machine().program();
        let step = |(event, choice): (Event, Option<i64>)| TraceStep::of(program, event, choice);
        let steps = labels.into_iter().map(step).collect();
        Trace { initial: chosen_initially(program, &first), steps, violation }
    }
}

impl<'m, D: DataDomain<'m>> TransitionSystem for Stepping<D> {
    type State = State;
    type Label = (Event, Option<i64>);
    type Goal = Violation;

    fn work(&self) -> usize {
        self.domain.work()
    }

    fn begin(&mut self) {
        if self.start.is_none() {
            let (states, doubts) = self.domain.initial();
            self.doubts.borrow_mut().extend(doubts);
            self.initial = Some(states);
        }
    }

    fn initial(&self) -> Box<dyn Iterator<Item = State> + '_> {
        Box::new(self.start.iter().cloned().chain(self.initial.iter().cloned().flatten()))
    }

    fn prepare(&mut self, state: &State) {
        self.domain.prepare(state);
    }

    fn successors(&self, state: &State, next: &mut State, mut visit: impl FnMut(Self::Label, &State)) {
        let doubt = |doubt| self.doubt(doubt);
        self.domain.successors(state, next, doubt, |event, choice, next| visit((event, choice), next));
    }

    fn goal(&self, state: &State) -> Option<Violation> {
        if !self.violations {
            return None;
        }
        self.domain.violation(state).unwrap_or_else(|doubt| {
            self.doubt(doubt);
            None
        })
    }

    fn bytes(&self) -> usize {
        self.domain.stepper().bytes() + self.remembered.bytes()
    }

    fn weight(&self, state: &State) -> usize {
        self.domain.stepper().longest_queue(state)
    }

    fn pack(&self, state: &State, out: &mut Vec<u8>) {
        state.pack(out);
    }

    fn unpack(&self, bytes: &[u8], state: &mut State) {
        let read = state.unpack(self.domain.stepper().thread_count(), bytes);
        assert!(read.is_some(), "the set holds what pack wrote");
    }

    fn expand(
        &mut self,
        packed: &[u8],
        bound: usize,
        spare: &mut (State, State),
        found: &mut Batch<Violation>,
    ) -> bool {
        match self.remembered.take_up(&mut self.domain, &OwnNumbers, packed, bound) {
            TakenUp::Heavy => return false,
            TakenUp::Listed => {}
            TakenUp::Unknown => return expand_unpacked(self, packed, bound, spare, found),
        }
        self.remembered.each_successor(|successor| {
            let state = &mut spare.0;
            let goal = || {
                let suspect = self.violations && successor.may_violate();
                suspect.then(|| successor.unpack(state)).and_then(|()| self.goal(state))
            };
            found.push_packed(|start, bytes| successor.pack_behind(start, bytes), goal);
        });
        true
    }
}

/// Why a search did not come to its end, if it was not by a goal.
pub(crate) fn broken_off<G>(found: &Search<G>) -> Option<Reason> {
    match found.ended {
        Ended::Stopped(stop) => Some(Reason::Stopped(stop)),
        Ended::Full => Some(Reason::Full),
        Ended::Heavy => Some(Reason::BuffersBeyond(found.bound)),
        Ended::Complete | Ended::Deep | Ended::Goal(..) => None,
    }
}

/// What a trace must say about the state a run started in: the values that were not fixed.
pub(crate) fn chosen_initially(program: &Program, first: &State) -> Vec<(VarId, Int)> {
    let several = |v: &VarId| program.variable(*v).initial.single().is_none();
    let value = |v: VarId| (v, Int::from(first.values[v.index()]));
    program.variable_ids().filter(several).map(value).collect()
}
