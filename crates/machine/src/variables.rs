//! Sets of shared variables, small enough to be copied.

use program::VarId;
use std::ops::{BitAnd, BitOr, BitOrAssign, Not};

/// A set of variables with small numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Variables([u64; Variables::WORDS]);

impl Variables {
    const WORDS: usize = 4;

    /// Variables beyond this number are in no set.
    pub(crate) const MOST: usize = Variables::WORDS * u64::BITS as usize;

    pub(crate) fn insert(&mut self, variable: VarId) {
        let (word, bit) = Variables::place(variable);
        self.0[word] |= bit;
    }

    pub(crate) fn contains(self, variable: VarId) -> bool {
        let (word, bit) = Variables::place(variable);
        self.0[word] & bit != 0
    }

    pub(crate) fn is_empty(self) -> bool {
        self == Variables::default()
    }

    pub(crate) fn meets(self, other: Variables) -> bool {
        !(self & other).is_empty()
    }

    fn place(variable: VarId) -> (usize, u64) {
        let bits = u64::BITS as usize;
        (variable.index() / bits, 1 << (variable.index() % bits))
    }

    fn each(self, other: Variables, combine: impl Fn(u64, u64) -> u64) -> Variables {
        Variables(std::array::from_fn(|word| combine(self.0[word], other.0[word])))
    }
}

impl BitOr for Variables {
    type Output = Variables;

    fn bitor(self, other: Variables) -> Variables {
        self.each(other, |a, b| a | b)
    }
}

impl BitOrAssign for Variables {
    fn bitor_assign(&mut self, other: Variables) {
        *self = *self | other;
    }
}

impl BitAnd for Variables {
    type Output = Variables;

    fn bitand(self, other: Variables) -> Variables {
        self.each(other, |a, b| a & b)
    }
}

impl Not for Variables {
    type Output = Variables;

    fn not(self) -> Variables {
        Variables(self.0.map(|word| !word))
    }
}
