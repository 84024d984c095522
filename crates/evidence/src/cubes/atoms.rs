//! Atoms by number, so that most questions are looked up and not asked.

use crate::symbolic::Vocabulary;
use logic::{Atom, Linear, Var};
use rustc_hash::FxHashMap;

/// The number of an atom.
pub(super) type AtomId = u32;

/// The atom that always holds.
pub(super) const TRUE: AtomId = 0;

/// All atoms met so far, each with its negation.
pub(super) struct Atoms {
    list: Vec<Atom>,
    negation: Vec<AtomId>,
    about_pool: Vec<bool>,
    ids: FxHashMap<Atom, AtomId>,
    /// The variables of pools.
    pools: Vec<Var>,
    /// No atom has a variable of this index or a larger one.
    vars: usize,
}

impl Atoms {
    pub(super) fn new() -> Atoms {
        let (list, negation, about_pool) = (Vec::new(), Vec::new(), Vec::new());
        let mut atoms =
            Atoms { list, negation, about_pool, ids: FxHashMap::default(), pools: Vec::new(), vars: 0 };
        atoms.id(&Vocabulary::default(), &Atom::truth(true));
        atoms
    }

    /// The number of an atom. The vocabulary tells which variables are pools.
    pub(super) fn id(&mut self, vocabulary: &Vocabulary, atom: &Atom) -> AtomId {
        if let Some(id) = self.ids.get(atom) {
            return *id;
        }
        let mut about_pool = false;
        for var in atom.vars() {
            self.vars = self.vars.max(var.index() + 1);
            if vocabulary.slot_of(var).is_some_and(|slot| slot.is_any()) {
                about_pool = true;
                if !self.pools.contains(&var) {
                    self.pools.push(var);
                }
            }
        }
        let id = self.list.len() as AtomId;
        for (at, atom) in [(id, atom.clone()), (id + 1, atom.negate())] {
            self.ids.insert(atom.clone(), at);
            self.list.push(atom);
            self.negation.push(2 * id + 1 - at);
            self.about_pool.push(about_pool);
        }
        id
    }

    pub(super) fn atom(&self, id: AtomId) -> &Atom {
        &self.list[id as usize]
    }

    /// The number of the negated atom.
    pub(super) fn negation(&self, id: AtomId) -> AtomId {
        self.negation[id as usize]
    }

    /// The atom as it stands or negated.
    pub(super) fn signed(&self, id: AtomId, positive: bool) -> AtomId {
        if positive { id } else { self.negation(id) }
    }

    /// Whether it speaks of every member of a pool.
    pub(super) fn about_pool(&self, id: AtomId) -> bool {
        self.about_pool[id as usize]
    }

    /// The atom said of further members of all pools, of which there may be any number.
    pub(super) fn of_members(&self, id: AtomId, number: usize) -> Atom {
        self.atom(id).substitute_all(|var| {
            let pool = self.pools.iter().position(|pool| *pool == var)?;
            Some(Linear::from(Var::at(self.vars + number * self.pools.len() + pool)))
        })
    }

    /// Bytes, roughly: an atom is shared between the list and the map.
    pub(super) fn bytes(&self) -> usize {
        256 * self.list.len()
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }
}
