//! Which predicates a proof needs.
//!
//! A proof shows that violations, and steps that lead to them, are impossible: the literals from which
//! that followed are needed. If a predicate is needed, so is whatever decided it in some step, and
//! the predicate that it was copied from. What is left can go: with the others alone every conclusion
//! that mattered is drawn again.

use rustc_hash::FxHashSet;
use std::collections::BTreeSet;

/// Why predicates were decided as they were. Atoms are known by number.
#[derive(Default)]
pub(super) struct Reasons {
    /// The known atoms that the last answer used.
    last: Vec<u32>,
    /// The atoms from which it followed that something is impossible.
    roots: FxHashSet<u32>,
    /// Predicates, each with an atom that decided it.
    because: FxHashSet<(u32, u32)>,
    /// Predicates, each with one that it was copied from.
    copies: FxHashSet<(u32, u32)>,
}

impl Reasons {
    /// An answer used these.
    pub(super) fn proved(&mut self, used: impl IntoIterator<Item = u32>) {
        self.last.clear();
        self.last.extend(used);
    }

    /// It was that something is impossible.
    pub(super) fn impossible(&mut self) {
        self.roots.extend(self.last.iter().copied());
    }

    /// It was about this predicate.
    pub(super) fn decided(&mut self, predicate: u32) {
        self.because.extend(self.last.iter().map(|atom| (predicate, *atom)));
    }

    /// A step copies a predicate.
    pub(super) fn copied(&mut self, predicate: u32, from: u32) {
        self.copies.insert((predicate, from));
    }

    /// The predicates needed; `number` says which predicate an atom is, or the negation of.
    pub(super) fn needed(&self, number: &dyn Fn(u32) -> Option<u32>) -> BTreeSet<u32> {
        let mut edges: Vec<(u32, u32)> = self.copies.iter().copied().collect();
        edges.extend(self.because.iter().filter_map(|(predicate, atom)| Some((*predicate, number(*atom)?))));
        edges.sort_unstable();
        let mut needed: BTreeSet<u32> = self.roots.iter().filter_map(|atom| number(*atom)).collect();
        let mut work: Vec<u32> = needed.iter().copied().collect();
        while let Some(predicate) = work.pop() {
            let first = edges.partition_point(|(of, _)| *of < predicate);
            let own = edges[first..].iter().take_while(|(of, _)| *of == predicate);
            work.extend(own.map(|(_, from)| *from).filter(|from| needed.insert(*from)));
        }
        needed
    }
}
