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
pub struct PositionTable {
    /// At most three quarters of their entries are taken.
    rows: Box<[PositionRow]>,
    taken: usize,
    /// How many bits of an entry are the position.
    bits: u32,
}

impl PositionTable {
    /// An empty table of this size for positions up to one, or somewhat more.
    pub fn sized(size: usize, last: u32) -> PositionTable {
        let bits = (u32::BITS - last.leading_zeros() + 1).min(u32::BITS);
        PositionTable { rows: vec![PositionRow([FREE; ROW]); size.div_ceil(ROW)].into(), taken: 0, bits }
    }

    /// How many positions there are.
    pub fn count(&self) -> usize {
        self.taken
    }

    /// How many entries there are.
    pub fn size(&self) -> usize {
        self.rows.len() * ROW
    }

    /// Bytes of memory held.
    pub fn bytes(&self) -> usize {
        self.rows.len() * size_of::<PositionRow>()
    }

    /// The size that a table must have to take so many more positions.
    pub fn size_for(&self, more: usize) -> usize {
        let mut size = self.size();
        while self.taken + more > size / 4 * 3 {
            // Half as much again: the emptiest table is half full.
            size = (size + size / 2).next_multiple_of(ROW).max(ROW);
        }
        size
    }

    /// Whether there is no room for another position.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.taken >= self.size() / 4 * 3
    }

    /// Reads an entry of the row that is looked at first for this hash.
    #[inline]
    pub(crate) fn touch(&self, hash: u64) -> u32 {
        self.rows.get(self.start(hash)).map_or(0, |row| row.0[0])
    }

    /// The position that is looked at first for this hash, if it may be the right one.
    #[inline]
    pub fn first(&self, hash: u64) -> Option<u32> {
        let row = self.rows.get(self.start(hash))?;
        let alike = self.alike(row, hash);
        // (Beyond the last entry nothing is alike.)
        let entry = *row.0.get(alike.trailing_zeros() as usize)?;
        self.position(entry)
    }

    /// The position with this hash that is the right one.
    #[inline]
    pub fn find(&self, hash: u64, mut is_right: impl FnMut(u32) -> bool) -> Option<u32> {
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
    pub fn insert(&mut self, hash: u64, position: u32) {
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
