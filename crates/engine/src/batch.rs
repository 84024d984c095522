//! States that were found and are to be added to a set together.

use crate::search::TransitionSystem;

/// Packed states, one after the other.
pub struct Batch<G> {
    /// Those of the states, and memory behind them.
    pub(crate) bytes: Vec<u8>,
    pub(crate) ends: Vec<usize>,
    /// Which of them is the first goal, and why.
    pub(crate) goal: Option<(usize, G)>,
}

impl<G> Default for Batch<G> {
    fn default() -> Batch<G> {
        Batch { bytes: Vec::new(), ends: Vec::new(), goal: None }
    }
}

impl<G> Batch<G> {
    pub(crate) fn clear(&mut self) {
        self.ends.clear();
        self.goal = None;
    }

    /// The states, packed.
    #[inline]
    pub(crate) fn states(&self) -> impl Iterator<Item = &[u8]> {
        let mut start = 0;
        self.ends.iter().map(move |end| &self.bytes[std::mem::replace(&mut start, *end)..*end])
    }

    /// Adds a state of a system.
    #[inline]
    pub fn push<T: TransitionSystem<Goal = G> + ?Sized>(&mut self, system: &T, state: &T::State) {
        let pack = |start, bytes: &mut Vec<u8>| {
            bytes.truncate(start);
            system.pack(state, bytes);
            bytes.len()
        };
        self.push_packed(pack, || system.goal(state));
    }

    /// Adds a state by writing its bytes behind the first ones of a vector, and telling where they end; `goal` says
    /// whether it is one.
    #[inline]
    pub(crate) fn push_packed(
        &mut self,
        pack: impl FnOnce(usize, &mut Vec<u8>) -> usize,
        goal: impl FnOnce() -> Option<G>,
    ) {
        if self.goal.is_none()
            && let Some(goal) = goal()
        {
            self.goal = Some((self.ends.len(), goal));
        }
        let start = self.ends.last().copied().unwrap_or(0);
        self.ends.push(pack(start, &mut self.bytes));
    }
}
