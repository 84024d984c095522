//! Solutions met earlier, as cheap witnesses that something does not follow.
//!
//! Most questions of predicate abstraction have the answer no, and most of those are
//! refuted by a solution of the context that was found for another question.
//! A solution remembers how many of the context's atoms it was tried on, and the
//! first one it failed on, so that it becomes useful again after a retraction.

use crate::solve::Model;
use crate::terms::atom::Atom;

const CAPACITY: usize = 24;

#[derive(Clone)]
struct TriedModel {
    model: Model,
    tried: usize,
    failed: bool,
}

#[derive(Clone, Default)]
pub(crate) struct Models {
    witnesses: Vec<TriedModel>,
    next: usize,
}

impl Models {
    pub(crate) fn clear(&mut self) {
        self.witnesses.clear();
        self.next = 0;
    }

    /// Only the first `count` atoms of the context remain.
    pub(crate) fn retract(&mut self, count: usize) {
        for witness in &mut self.witnesses {
            if witness.tried > count {
                witness.tried = count;
                witness.failed = false;
            }
        }
    }

    /// Remembers a solution of all the atoms.
    pub(crate) fn add(&mut self, model: Model, atoms: &[Atom]) {
        let witness = TriedModel { model, tried: atoms.len(), failed: false };
        if self.witnesses.len() < CAPACITY {
            self.witnesses.push(witness);
            return;
        }
        self.witnesses[self.next] = witness;
        self.next = (self.next + 1) % CAPACITY;
    }

    /// A remembered solution of the atoms under which the wish comes true.
    pub(crate) fn find(&mut self, atoms: &[Atom], wish: impl Fn(&Model) -> bool) -> Option<&Model> {
        let found =
            self.witnesses.iter_mut().position(|witness| wish(&witness.model) && witness.serves(atoms));
        found.map(|at| &self.witnesses[at].model)
    }
}

impl TriedModel {
    fn serves(&mut self, atoms: &[Atom]) -> bool {
        while !self.failed && self.tried < atoms.len() {
            self.failed = !self.model.satisfies(&atoms[self.tried]);
            self.tried += 1;
        }
        !self.failed
    }
}
