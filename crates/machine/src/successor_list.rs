//! The successors of one state, kept where working them out changes what is known of the machine.

use crate::{Event, State};

/// A step of a machine: what happens, and the value chosen.
pub type ExactStep = (Event, Option<i64>);

/// A list that keeps the memory of its states.
#[derive(Default)]
pub(crate) struct SuccessorList {
    all: Vec<(ExactStep, State)>,
    count: usize,
}

impl SuccessorList {
    pub(crate) fn clear(&mut self) {
        self.count = 0;
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

    pub(crate) fn iter(&self) -> impl Iterator<Item = &(ExactStep, State)> {
        self.all[..self.count].iter()
    }

    /// The states from this position on, to be changed.
    pub(crate) fn states_from(&mut self, start: usize) -> impl Iterator<Item = &mut State> {
        self.all[start..self.count].iter_mut().map(|(_, state)| state)
    }
}
