//! Small sets of small numbers: positions in an execution, agents of a program.

/// A set of numbers below [`Bits::SIZE`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Bits([u64; 4]);

impl Bits {
    /// Members are smaller than this.
    pub(super) const SIZE: usize = 256;

    pub(super) fn only(member: usize) -> Bits {
        let mut set = Bits::default();
        set.insert(member);
        set
    }

    pub(super) fn insert(&mut self, member: usize) {
        self.0[member / 64] |= 1 << (member % 64);
    }

    pub(super) fn remove(&mut self, member: usize) {
        self.0[member / 64] &= !(1 << (member % 64));
    }

    pub(super) fn contains(&self, member: usize) -> bool {
        self.0[member / 64] >> (member % 64) & 1 == 1
    }

    pub(super) fn union(&mut self, other: &Bits) {
        self.0.iter_mut().zip(other.0).for_each(|(word, other)| *word |= other);
    }

    pub(super) fn meets(&self, other: &Bits) -> bool {
        self.0.iter().zip(other.0).any(|(word, other)| word & other != 0)
    }

    pub(super) fn minus(mut self, other: &Bits) -> Bits {
        self.0.iter_mut().zip(other.0).for_each(|(word, other)| *word &= !other);
        self
    }

    pub(super) fn first(&self) -> Option<usize> {
        let word = self.0.iter().position(|word| *word != 0)?;
        Some(word * 64 + self.0[word].trailing_zeros() as usize)
    }

    pub(super) fn iter(mut self) -> impl Iterator<Item = usize> {
        std::iter::from_fn(move || {
            let member = self.first()?;
            self.remove(member);
            Some(member)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_come_back_in_order() {
        let mut set = Bits::default();
        [255, 0, 64, 63].into_iter().for_each(|member| set.insert(member));
        assert_eq!(set.iter().collect::<Vec<_>>(), [0, 63, 64, 255]);
        assert!(set.contains(63) && !set.contains(62));
        assert_eq!(set.minus(&Bits::only(0)).first(), Some(63));
        assert!(set.meets(&Bits::only(255)) && !set.meets(&Bits::only(1)));
    }
}
