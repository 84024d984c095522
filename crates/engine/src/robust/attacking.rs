//! The search for a witness of one attack, as something to walk; the steps are those of
//! [`machine::Attacking`]. It starts in the states of SC in which the attacker can take the store.

use crate::search::TransitionSystem;
use machine::{AttackStep, Attacked, Attacking, Doubt, State, StateSet};
use std::cell::RefCell;
use std::collections::BTreeSet;

/// The search.
pub(super) struct Hunt<'m, 'a> {
    pub(super) attacking: Attacking<'m, 'a>,
    pub(super) under_sc: &'a StateSet,
    pub(super) threads: usize,
    pub(super) doubts: RefCell<BTreeSet<Doubt>>,
}

impl TransitionSystem for Hunt<'_, '_> {
    type State = Attacked;
    type Label = AttackStep;
    type Goal = ();

    fn initial(&self) -> Box<dyn Iterator<Item = Attacked> + '_> {
        let mut state = State::default();
        Box::new(self.under_sc.iter().filter_map(move |bytes| {
            let read = state.unpack(self.threads, bytes);
            debug_assert!(read.is_some(), "the set holds what pack wrote");
            self.attacking.begin(&state)
        }))
    }

    fn prepare(&mut self, state: &Attacked) {
        self.attacking.prepare(state);
    }

    fn successors(&self, state: &Attacked, next: &mut Attacked, visit: impl FnMut(AttackStep, &Attacked)) {
        let doubt = |doubt| {
            self.doubts.borrow_mut().insert(doubt);
        };
        self.attacking.successors(state, next, doubt, visit);
    }

    fn bytes(&self) -> usize {
        self.attacking.bytes()
    }

    fn goal(&self, state: &Attacked) -> Option<()> {
        self.attacking.is_witness(state).then_some(())
    }

    fn pack(&self, state: &Attacked, out: &mut Vec<u8>) {
        self.attacking.pack(state, out);
    }

    fn unpack(&self, bytes: &[u8], state: &mut Attacked) {
        self.attacking.unpack(bytes, state);
    }
}
