//! Cubes: for every predicate yes, no or open, as two bit sets side by side.

use smallvec::{SmallVec, smallvec};

/// What is known of every predicate. The first half of the words says yes, the second no. There are many cubes, most over
/// few predicates, so those take no memory of their own.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BitCube(SmallVec<[u64; 2]>);

impl BitCube {
    /// Nothing is known of so many predicates.
    pub fn open(predicates: usize) -> BitCube {
        BitCube(smallvec![0; 2 * words(predicates)])
    }

    fn half(&self) -> usize {
        self.0.len() / 2
    }

    /// What is known of a predicate.
    pub fn get(&self, predicate: usize) -> Option<bool> {
        let (word, bit) = (predicate / 64, predicate % 64);
        let at = |word: usize| self.0[word] >> bit & 1 == 1;
        if at(word) {
            Some(true)
        } else if at(self.half() + word) {
            Some(false)
        } else {
            None
        }
    }

    /// Learns what a predicate is.
    pub fn set(&mut self, predicate: usize, value: bool) {
        let offset = if value { 0 } else { self.half() };
        self.0[offset + predicate / 64] |= 1 << (predicate % 64);
    }

    /// Forgets all predicates that are not in the set.
    pub(super) fn keep(&mut self, kept: &[u64]) {
        let half = self.half();
        for (at, word) in self.0.iter_mut().enumerate() {
            *word &= kept[at % half.max(1)];
        }
    }

    /// What is known of the predicates in the set, and nothing else.
    pub fn within(&self, kept: &[u64]) -> BitCube {
        let mut part = self.clone();
        part.keep(kept);
        part
    }

    /// Whether every state of `other` is one of this cube: it knows nothing that `other` does not.
    #[inline]
    pub fn covers(&self, other: &BitCube) -> bool {
        self.0.iter().zip(&other.0).all(|(a, b)| a & !b == 0)
    }

    /// The cube under new names: what each predicate becomes, and whether as it stands or negated.
    pub(super) fn renamed(&self, names: &[(u32, bool)]) -> BitCube {
        let mut new = BitCube(smallvec![0; self.0.len()]);
        for (predicate, value) in self.literals() {
            let (to, same) = names[predicate];
            new.set(to as usize, value == same);
        }
        new
    }

    /// What is known, in the order of predicates.
    pub fn literals(&self) -> impl Iterator<Item = (usize, bool)> + '_ {
        let half = self.half();
        let of = move |word: usize| {
            let (yes, no) = (self.0[word], self.0[half + word]);
            members(yes | no).map(move |bit| (word * 64 + bit, yes >> bit & 1 == 1))
        };
        (0..half).flat_map(of)
    }

    /// Bytes on the heap.
    pub(super) fn bytes(&self) -> usize {
        if self.0.spilled() { self.0.len() * 8 } else { 0 }
    }
}

/// How many words a set of so many predicates takes.
pub fn words(predicates: usize) -> usize {
    predicates.div_ceil(64)
}

/// Adds to a set.
pub fn insert(set: &mut [u64], member: usize) {
    set[member / 64] |= 1 << (member % 64);
}

/// Removes from a set.
pub(super) fn remove(set: &mut [u64], member: usize) {
    set[member / 64] &= !(1 << (member % 64));
}

/// The members of a set, in increasing order.
pub(super) fn members_of(set: &[u64]) -> impl Iterator<Item = usize> + '_ {
    set.iter().enumerate().flat_map(|(at, word)| members(*word).map(move |bit| at * 64 + bit))
}

fn members(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = (word != 0).then(|| word.trailing_zeros() as usize)?;
        word &= word - 1;
        Some(bit)
    })
}
