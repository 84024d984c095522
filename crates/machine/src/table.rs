//! A hash table of positions: which states lie where.
//!
//! Open addressing with linear probing. An entry is one word: the upper half of the hash, and
//! the position. The place to start looking is given by the first bits of the hash, so half a
//! hash is enough to grow by, and looking a state up touches one line of the table and then,
//! but for rare coincidences, only the state itself.

/// Marks a free entry. Positions are kept plus one, so no other entry is that.
const FREE: u64 = 0;

/// The size of the first table.
const SMALLEST: usize = 16;

/// Positions by hash.
#[derive(Default)]
pub(crate) struct PositionTable {
    /// A power of two, at most three quarters of them taken.
    entries: Vec<u64>,
    taken: usize,
}

/// Whether an entry has this hash, as far as it knows.
#[inline]
fn has(entry: u64, hash: u64) -> bool {
    entry != FREE && entry >> 32 == hash >> 32
}

/// The position an entry stands for.
#[inline]
fn position(entry: u64) -> u32 {
    (entry as u32).wrapping_sub(1)
}

impl PositionTable {
    /// How many positions there are.
    pub(crate) fn len(&self) -> usize {
        self.taken
    }

    /// Bytes of memory held.
    pub(crate) fn bytes(&self) -> usize {
        self.entries.len() * size_of::<u64>()
    }

    /// Bytes that the table will take besides those it has if so many positions are added.
    pub(crate) fn growth(&self, more: usize) -> usize {
        let mut size = self.entries.len();
        while self.taken + more > size / 4 * 3 {
            size = (size * 2).max(SMALLEST);
        }
        if size == self.entries.len() { 0 } else { size.saturating_mul(size_of::<u64>()) }
    }

    /// The position that is looked at first for this hash, if it may be the right one.
    #[inline]
    pub(crate) fn first(&self, hash: u64) -> Option<u32> {
        let entry = *self.entries.get(self.start(hash))?;
        has(entry, hash).then(|| position(entry))
    }

    /// The position with this hash that is the right one.
    #[inline]
    pub(crate) fn find(&self, hash: u64, mut is_right: impl FnMut(u32) -> bool) -> Option<u32> {
        let mask = self.entries.len().wrapping_sub(1);
        let mut at = self.start(hash);
        loop {
            let entry = *self.entries.get(at & mask)?;
            if entry == FREE {
                return None;
            }
            if has(entry, hash) && is_right(position(entry)) {
                return Some(position(entry));
            }
            at += 1;
        }
    }

    /// Adds a position that is not there yet. It must be less than `u32::MAX`.
    pub(crate) fn insert(&mut self, hash: u64, position: u32) {
        if self.taken >= self.entries.len() / 4 * 3 {
            self.grow();
        }
        self.taken += 1;
        self.put(hash >> 32 << 32 | (u64::from(position) + 1));
    }

    /// Adds the positions of another table, each so much further, to one that has none of them.
    pub(crate) fn absorb(&mut self, other: &PositionTable, further: u32) {
        let wanted = self.growth(other.taken) / size_of::<u64>();
        if wanted > 0 {
            self.resize(wanted);
        }
        self.taken += other.taken;
        for entry in other.entries.iter().filter(|entry| **entry != FREE) {
            self.put(entry + u64::from(further));
        }
    }

    fn put(&mut self, entry: u64) {
        let mask = self.entries.len() - 1;
        let mut at = self.start(entry);
        while self.entries[at & mask] != FREE {
            at += 1;
        }
        self.entries[at & mask] = entry;
    }

    fn grow(&mut self) {
        self.resize((self.entries.len() * 2).max(SMALLEST));
    }

    fn resize(&mut self, size: usize) {
        let old = std::mem::replace(&mut self.entries, vec![FREE; size]);
        old.into_iter().filter(|entry| *entry != FREE).for_each(|entry| self.put(entry));
    }

    /// As many of the first bits as the table has room for. (Without entries, anything will do.)
    #[inline]
    fn start(&self, hash: u64) -> usize {
        let bits = self.entries.len().trailing_zeros().min(32);
        (hash >> 32 >> (32 - bits)) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Spreads numbers over all bits, the way hashes are.
    fn hash(number: u32) -> u64 {
        u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32)
    }

    #[test]
    fn finds_what_was_added_while_it_grows() {
        let mut table = PositionTable::default();
        assert_eq!(table.first(hash(0)), None);
        for number in 0..10_000 {
            assert_eq!(table.find(hash(number), |at| at == number), None);
            table.insert(hash(number), number);
        }
        assert_eq!(table.len(), 10_000);
        assert!((0..10_000).all(|number| table.find(hash(number), |at| at == number) == Some(number)));
        assert!(table.entries.len() * 3 / 4 >= table.len() && table.bytes() < 10_000 * 32);
    }

    #[test]
    fn absorbs_another_table() {
        let (mut all, mut more) = (PositionTable::default(), PositionTable::default());
        (0..1000).for_each(|number| all.insert(hash(number), number));
        (0..5000).for_each(|number| more.insert(hash(number + 1000), number));
        all.absorb(&more, 1000);
        all.absorb(&PositionTable::default(), 1);
        assert_eq!(all.len(), 6000);
        assert!((0..6000).all(|number| all.find(hash(number), |at| at == number) == Some(number)));
        assert!(all.entries.len() * 3 / 4 >= all.len());
    }

    #[test]
    fn growth_is_foreseen() {
        let mut table = PositionTable::default();
        for number in 0..5_000 {
            let (before, foreseen) = (table.bytes(), table.growth(1));
            table.insert(hash(number), number);
            let grown = if table.bytes() == before { 0 } else { table.bytes() };
            assert_eq!(foreseen, grown, "at {number}");
        }
        let room = table.entries.len() / 4 * 3 - table.len();
        assert_eq!((table.growth(room), table.growth(room + 1)), (0, 2 * table.bytes()));
    }

    #[test]
    fn tells_equal_hashes_apart_and_wraps_around() {
        let mut table = PositionTable::default();
        (0..100).for_each(|number| table.insert(u64::MAX, number));
        assert!(table.first(u64::MAX).is_some_and(|at| at < 100));
        assert!((0..100).all(|number| table.find(u64::MAX, |at| at == number) == Some(number)));
        assert_eq!(table.find(u64::MAX, |at| at == 100), None);
    }
}
