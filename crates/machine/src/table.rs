//! A hash table of positions: which states lie where.
//!
//! Entries lie in *rows* of 16, a line of the cache each; the upper bits of a hash say in which row to look, and from a row that is
//! full one goes on to the next. An entry is 32 bits: a position plus one, and above it as many bits of the
//! hash as there is room for, its *tag*. All entries of a row are compared with the tag at once, without a branch. So looking a state up
//! touches one line of the table and then, but for rare coincidences, only the state itself; the larger the set, the shorter
//! the tags. Entries do not tell their hash, so a table
//! does not grow by itself: whoever has the states makes a larger one and adds them again.

/// Marks a free entry. Positions are kept plus one, so no other entry is that.
const FREE: u32 = 0;

/// How many entries a row has; those that are taken come first.
const ROW: usize = 16;

/// Entries that are looked at together.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct PositionRow([u32; ROW]);

/// Positions by hash.
#[derive(Default)]
pub(crate) struct PositionTable {
    /// At most three quarters of their entries are taken.
    rows: Box<[PositionRow]>,
    taken: usize,
    /// How many bits of an entry are the position.
    bits: u32,
}

impl PositionTable {
    /// An empty table of this size for positions up to one, or somewhat more.
    pub(crate) fn sized(size: usize, last: u32) -> PositionTable {
        let bits = (u32::BITS - last.leading_zeros() + 1).min(u32::BITS);
        PositionTable { rows: vec![PositionRow([FREE; ROW]); size.div_ceil(ROW)].into(), taken: 0, bits }
    }

    /// How many positions there are.
    pub(crate) fn len(&self) -> usize {
        self.taken
    }

    /// How many entries there are.
    fn size(&self) -> usize {
        self.rows.len() * ROW
    }

    /// Bytes of memory held.
    pub(crate) fn bytes(&self) -> usize {
        self.rows.len() * size_of::<PositionRow>()
    }

    /// The size that a table must have to take so many more positions.
    pub(crate) fn size_for(&self, more: usize) -> usize {
        let mut size = self.size();
        while self.taken + more > size / 4 * 3 {
            // Half as much again: the emptiest table is half full.
            size = (size + size / 2).next_multiple_of(ROW).max(ROW);
        }
        size
    }

    /// Whether there is no room for another position.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.taken >= self.size() / 4 * 3
    }

    /// Reads an entry of the row that is looked at first for this hash.
    #[inline]
    pub(crate) fn touch(&self, hash: u64) -> u32 {
        self.rows.get(self.start(hash)).map_or(0, |row| row.0[0])
    }

    /// The position that is looked at first for this hash, if it may be the right one.
    #[inline]
    pub(crate) fn first(&self, hash: u64) -> Option<u32> {
        let row = self.rows.get(self.start(hash))?;
        let alike = self.alike(row, hash);
        // (Beyond the last entry nothing is alike.)
        let entry = *row.0.get(alike.trailing_zeros() as usize)?;
        self.position(entry)
    }

    /// The position with this hash that is the right one.
    #[inline]
    pub(crate) fn find(&self, hash: u64, mut is_right: impl FnMut(u32) -> bool) -> Option<u32> {
        let mut at = self.start(hash);
        loop {
            let row = self.rows.get(at)?;
            let mut alike = self.alike(row, hash);
            while alike != 0 {
                let position = self.position(row.0[alike.trailing_zeros() as usize % ROW]);
                if let Some(right) = position.filter(|at| is_right(*at)) {
                    return Some(right);
                }
                alike &= alike - 1;
            }
            if row.0[ROW - 1] == FREE {
                return None;
            }
            at = self.behind(at);
        }
    }

    /// Adds a position that is not there yet, to a table that has room. It must be less than `u32::MAX`.
    #[inline]
    pub(crate) fn insert(&mut self, hash: u64, position: u32) {
        if self.bits < u32::BITS && (position + 1) >> self.bits > 0 {
            self.widen(position);
        }
        let mut at = self.start(hash);
        while self.rows[at].0[ROW - 1] != FREE {
            at = self.behind(at);
        }
        let entry = self.tag(hash) | (position + 1);
        let row = &mut self.rows[at].0;
        let free = row.iter().map(|entry| u32::from(*entry != FREE)).sum::<u32>();
        row[free as usize % ROW] = entry;
        self.taken += 1;
    }

    /// Makes room in entries for larger positions: tags lose their upper bits.
    fn widen(&mut self, position: u32) {
        let before = self.bits;
        self.bits = PositionTable::sized(0, position).bits;
        for entry in self.rows.iter_mut().flat_map(|row| &mut row.0) {
            let position = *entry & ((1 << before) - 1);
            let tag = (u64::from(*entry >> before) << self.bits) as u32;
            *entry = tag | position;
        }
    }

    /// Which entries of a row have this hash, as far as they know: a bit for each. Free ones may be among them.
    #[inline]
    fn alike(&self, row: &PositionRow, hash: u64) -> u32 {
        let (tag, mask) = (self.tag(hash), !self.position_mask());
        let bit = |(at, entry): (usize, &u32)| u32::from((entry ^ tag) & mask == 0) << at;
        row.0.iter().enumerate().map(bit).fold(0, |all, bit| all | bit)
    }

    /// The position an entry stands for.
    #[inline]
    fn position(&self, entry: u32) -> Option<u32> {
        (entry & self.position_mask()).checked_sub(1)
    }

    #[inline]
    fn position_mask(&self) -> u32 {
        ((1u64 << self.bits) - 1) as u32
    }

    /// The bits above the position in an entry with this hash.
    #[inline]
    fn tag(&self, hash: u64) -> u32 {
        ((hash >> 32) << self.bits) as u32
    }

    /// The row to look at first: as far into the table as the hash is into all hashes. (Without rows, anything will do.)
    #[inline]
    fn start(&self, hash: u64) -> usize {
        (((hash >> 32) * self.rows.len() as u64) >> 32) as usize
    }

    /// The row to look at next.
    #[inline]
    fn behind(&self, at: usize) -> usize {
        if at + 1 < self.rows.len() { at + 1 } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Spreads numbers over all bits, the way hashes are.
    fn hash(number: u32) -> u64 {
        u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32)
    }

    /// A table of positions, each so many units behind the one before, with room for another.
    fn table(count: u32, apart: u32) -> PositionTable {
        let size = PositionTable::default().size_for(count as usize + 1);
        let mut table = PositionTable::sized(size, 0);
        (0..count).for_each(|number| table.insert(hash(number), number * apart));
        table
    }

    #[test]
    fn finds_what_was_added_while_positions_grow() {
        assert_eq!(PositionTable::default().first(hash(0)), None);
        assert_eq!(PositionTable::default().find(hash(0), |_| true), None);
        for apart in [1, 7, 400_000] {
            let table = table(10_000, apart);
            assert_eq!(table.len(), 10_000);
            let has = |number: u32| table.find(hash(number), |at| at == number * apart).is_some();
            assert!((0..10_000).all(has) && !(10_000..10_700).any(has));
            assert!(!table.is_full() && table.bytes() <= 10_000 * 8 + 64);
        }
    }

    /// Tags keep most states that are not meant from being looked at.
    #[test]
    fn tags_tell_hashes_apart() {
        let table = table(10_000, 1);
        let mut looked_at = 0;
        for number in 10_000..20_000 {
            table.find(hash(number), |_| {
                looked_at += 1;
                false
            });
        }
        assert!(looked_at < 100, "{looked_at}");
    }

    #[test]
    fn growth_is_foreseen() {
        let mut table = PositionTable::default();
        for number in 0..5_000 {
            assert_eq!(table.is_full(), table.size_for(1) > table.size(), "at {number}");
            if table.is_full() {
                table = self::table(number, 1);
            }
            table.insert(hash(number), number);
        }
        let room = table.size() / 4 * 3 - table.len();
        assert!(table.size_for(room) == table.size() && table.size_for(room + 1) > table.size());
    }

    #[test]
    fn tells_equal_hashes_apart_and_wraps_around() {
        for last in [0, u32::MAX - 1] {
            let mut table = PositionTable::sized(160, last);
            (0..100).for_each(|number| table.insert(u64::MAX, number));
            assert!(table.first(u64::MAX).is_some_and(|at| at < 100));
            assert!((0..100).all(|number| table.find(u64::MAX, |at| at == number) == Some(number)));
            assert_eq!(table.find(u64::MAX, |at| at == 100), None);
        }
    }
}
