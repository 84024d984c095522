//! The search for a witness of one attack, as something to walk; the steps are those of
//! [`machine::AttackAhead`]. It starts in the states of SC in which the attacker can take the store.

use crate::search::TransitionSystem;
use machine::{AttackAhead, AttackSteps, Attacked, Doubt, StateRef, StateSet};
use std::cell::RefCell;
use std::collections::BTreeSet;

/// The search.
pub(super) struct Hunt<'m, 'a> {
    pub(super) attacking: AttackAhead<'m, 'a>,
    pub(super) under_sc: &'a StateSet,
    /// Where it starts.
    pub(super) starts: Vec<StateRef>,
    pub(super) threads: usize,
    pub(super) doubts: RefCell<BTreeSet<Doubt>>,
}

impl TransitionSystem for Hunt<'_, '_> {
    type State = Attacked;
    type Label = AttackSteps;
    type Goal = ();

    // Threads go ahead.
    fn work(&self) -> usize {
        2
    }

    fn initial(&self) -> Box<dyn Iterator<Item = Attacked> + '_> {
        Box::new(self.starts.iter().map(|at| {
            let mut attacked = Attacked::default();
            let read = attacked.state.unpack(self.threads, self.under_sc.get(*at));
            assert!(read.is_some(), "the set holds what pack wrote");
            attacked
        }))
    }

    fn prepare(&mut self, state: &Attacked) {
        self.attacking.prepare(state);
    }

    fn successors(&self, _: &Attacked, _: &mut Attacked, mut visit: impl FnMut(AttackSteps, &Attacked)) {
        let doubt = |doubt| {
            self.doubts.borrow_mut().insert(doubt);
        };
        self.attacking.successors(doubt, |steps, next| visit(steps.clone(), next));
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
