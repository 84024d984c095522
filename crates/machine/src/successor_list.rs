//! The successors of one state, kept where working them out changes what is known of the machine.

use crate::{DataDomain, Doubt, Event, State};

/// A step of a machine: what happens, and the value chosen.
pub type ExactStep = (Event, Option<i64>);

/// A list that keeps the memory of its states.
#[derive(Default)]
pub struct SuccessorList {
    all: Vec<(ExactStep, State)>,
    count: usize,
    /// What is not listed.
    pub(crate) doubts: Vec<Doubt>,
}

impl SuccessorList {
    pub(crate) fn clear(&mut self) {
        self.count = 0;
        self.doubts.clear();
    }

    pub(crate) fn len(&self) -> usize {
        self.count
    }

    pub(crate) fn push(&mut self, step: ExactStep, state: &State) {
        match self.all.get_mut(self.count) {
            Some((old, memory)) => {
                *old = step;
                memory.clone_from(state);
            }
            None => self.all.push((step, state.clone())),
        }
        self.count += 1;
    }

    /// Lists all successors of a state that the domain has prepared. `spare` is working memory.
    pub(crate) fn fill<'m>(&mut self, domain: &impl DataDomain<'m>, state: &State, spare: &mut State) {
        self.clear();
        let mut doubts = std::mem::take(&mut self.doubts);
        let visit = |event, choice, next: &State| self.push((event, choice), next);
        domain.successors(state, spare, |doubt| doubts.push(doubt), visit);
        self.doubts = doubts;
    }

    /// What is listed.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (ExactStep, &State)> {
        self.all[..self.count].iter().map(|(step, state)| (*step, state))
    }

    /// Keeps the steps that pass, in their order.
    pub(crate) fn keep(&mut self, passes: impl Fn(Event) -> bool) {
        let mut kept = 0;
        for at in 0..self.count {
            if passes(self.all[at].0.0) {
                self.all.swap(kept, at);
                kept += 1;
            }
        }
        self.count = kept;
    }

    /// Tells all of it, as [`crate::DataDomain::successors`] does.
    pub(crate) fn tell(&self, doubt: impl FnMut(Doubt), mut visit: impl FnMut(Event, Option<i64>, &State)) {
        self.doubts.iter().copied().for_each(doubt);
        self.all[..self.count].iter().for_each(|((event, choice), next)| visit(*event, *choice, next));
    }

    /// Where a step of a domain leads to from a state.
    pub(crate) fn by<'m>(domain: &mut impl DataDomain<'m>, from: &State, step: ExactStep) -> Vec<State> {
        domain.prepare(from);
        let mut listed = SuccessorList::default();
        listed.fill(domain, from, &mut State::default());
        listed.all.into_iter().filter(|(taken, _)| *taken == step).map(|(_, state)| state).collect()
    }

    /// The states from this position on, to be changed.
    pub(crate) fn states_from(&mut self, start: usize) -> impl Iterator<Item = &mut State> {
        self.all[start..self.count].iter_mut().map(|(_, state)| state)
    }
}
