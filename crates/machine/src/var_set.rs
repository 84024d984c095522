//! Sets of shared variables, small enough to be copied.

use program::VarId;
use std::ops::{BitAnd, BitOr, BitOrAssign, Not};

/// A set of variables with small numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct VarSet([u64; VarSet::WORDS]);

impl VarSet {
    const WORDS: usize = 4;

    pub(crate) const EMPTY: VarSet = VarSet([0; VarSet::WORDS]);

    /// VarSet beyond this number are in no set.
    pub(crate) const MOST: usize = VarSet::WORDS * u64::BITS as usize;

    pub(crate) fn insert(&mut self, variable: VarId) {
        let (word, bit) = VarSet::place(variable);
        self.0[word] |= bit;
    }

    pub(crate) fn contains(self, variable: VarId) -> bool {
        let (word, bit) = VarSet::place(variable);
        self.0[word] & bit != 0
    }

    pub(crate) fn is_empty(self) -> bool {
        self == VarSet::default()
    }

    pub(crate) fn meets(self, other: VarSet) -> bool {
        !(self & other).is_empty()
    }

    fn place(variable: VarId) -> (usize, u64) {
        let bits = u64::BITS as usize;
        (variable.index() / bits, 1 << (variable.index() % bits))
    }

    fn each(self, other: VarSet, combine: impl Fn(u64, u64) -> u64) -> VarSet {
        VarSet(std::array::from_fn(|word| combine(self.0[word], other.0[word])))
    }
}

impl BitOr for VarSet {
    type Output = VarSet;

    fn bitor(self, other: VarSet) -> VarSet {
        self.each(other, |a, b| a | b)
    }
}

impl BitOrAssign for VarSet {
    fn bitor_assign(&mut self, other: VarSet) {
        *self = *self | other;
    }
}

impl BitAnd for VarSet {
    type Output = VarSet;

    fn bitand(self, other: VarSet) -> VarSet {
        self.each(other, |a, b| a & b)
    }
}

impl Not for VarSet {
    type Output = VarSet;

    fn not(self) -> VarSet {
        VarSet(self.0.map(|word| !word))
    }
}
