//! A set of packed states that remembers where each came from.
//!
//! States lie one after the other in an arena of chunks ([`crate::records`]), each with a link (usually the state
//! it was reached from). A state is named by the position of its record, so a [`PositionTable`] finds it with 32 bits per state, and
//! walking the arena visits states in the order they came: a breadth-first queue for free, and all it
//! takes to make a larger table. A set that was put together from shards ([`StateSet::of_shards`]) keeps their tables: nothing is
//! added again, and who looks for states of one shard after those of another has to do with little memory at a time.

use crate::records::{
    CHUNK, CHUNK_BITS, UNIT, is_record_of, push_record, read_record, record_length, record_number,
    record_place, record_size,
};
use crate::table::PositionTable;
use crate::{SHARDS, shard_of, shard_of_hash};
use rustc_hash::FxHasher;
use std::hash::Hasher;

/// What the first record of a chunk makes room for.
const LEAST_ROOM: usize = 1 << 10;
/// Chunks whose positions a link can name, and a word of the machine.
const MOST_CHUNKS: u64 = {
    let (named, held) = (u32::MAX as u64 * UNIT as u64, usize::MAX as u64);
    (if named < held { named } else { held }) >> CHUNK_BITS
};

/// What stands for no link.
const NO_LINK: u32 = u32::MAX;

/// Odd, with bits all over: multiplying by it spreads 32 bits over 64.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Names a state of a [`StateSet`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StateRef(u32);

impl StateRef {
    /// As a number: the more, the later the state was added.
    pub fn number(self) -> u32 {
        self.0
    }

    /// The state that has this number in its set.
    pub fn numbered(number: u32) -> StateRef {
        StateRef(number)
    }
}

/// The set cannot take another state: it holds 16 GiB (with 32-bit words, 4 GiB), or the state is larger than 64 KiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

/// The beginning of a search for a state; worth something only in the set it comes from.
#[derive(Clone, Copy, Debug)]
pub struct Lookup {
    hash: u64,
    /// A state that may be the one.
    first: Option<u32>,
}

/// A set of byte strings in the order they were added.
#[derive(Default)]
pub struct StateSet {
    /// All but the last are full; their room grows with them.
    chunks: Vec<Vec<u8>>,
    /// How much room they have together.
    room: usize,
    last: Option<StateRef>,
    /// Finds all states, unless every shard has a table of its own.
    table: PositionTable,
    /// The tables of shards, in a set that was put together from some.
    shards: Option<Box<[ShardTable; SHARDS]>>,
}

/// Where the states of a shard lie.
#[derive(Default)]
struct ShardTable {
    table: PositionTable,
    /// Positions are counted from here.
    base: u32,
}

impl StateSet {
    /// The empty set.
    pub fn new() -> StateSet {
        StateSet::default()
    }

    /// How many states there are.
    pub fn len(&self) -> usize {
        self.tables().map(PositionTable::count).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.last.is_none()
    }

    /// Bytes of memory held.
    pub fn bytes(&self) -> usize {
        self.room + self.table_bytes()
    }

    fn tables(&self) -> impl Iterator<Item = &PositionTable> {
        let shards = self.shards.iter().flat_map(|shards| shards.iter());
        std::iter::once(&self.table).chain(shards.map(|shard| &shard.table))
    }

    fn table_bytes(&self) -> usize {
        self.tables().map(PositionTable::bytes).sum()
    }

    /// Whether another state can be added without a larger table.
    #[inline]
    pub fn has_room(&self) -> bool {
        !self.table.is_full() && self.shards.is_none()
    }

    /// Bytes that the set will take at once besides those it has if so many states are added; the
    /// states themselves come little by little.
    pub fn growth(&self, more: usize) -> usize {
        let size = match self.shards.is_none() {
            true => self.table.size_for(more),
            // There will be one table again.
            false => PositionTable::default().size_for(self.len() + more),
        };
        (size * size_of::<u32>()).saturating_sub(self.table_bytes())
    }

    /// Adds a state with a link to another; says where it is and whether it is new.
    pub fn insert(&mut self, state: &[u8], link: Option<StateRef>) -> Result<(StateRef, bool), Full> {
        self.insert_at(self.look(state), state, link)
    }

    /// Begins to look for a state. In a large set this waits for memory; beginning with several
    /// states before going on with any makes them wait together.
    #[inline]
    pub fn look(&self, state: &[u8]) -> Lookup {
        self.look_by_hash(state_hash(state))
    }

    /// The same for a state that has this [`state_hash`]; its upper half and what tells the shard will do.
    #[inline]
    pub fn look_by_hash(&self, hash: u64) -> Lookup {
        let (table, base) = self.table_for(hash);
        Lookup { hash, first: table.first(hash).map(|at| base + at) }
    }

    /// The table for states with this hash, and where its positions are counted from.
    #[inline]
    fn table_for(&self, hash: u64) -> (&PositionTable, u32) {
        self.shards.as_ref().map_or((&self.table, 0), |shards| {
            let ShardTable { table, base } = &shards[shard_of_hash(hash)];
            (table, *base)
        })
    }

    /// Reads what a search for a state with this hash will look at first. That is little to do, so with several states before going
    /// on with any, many wait for memory together.
    #[inline]
    pub fn touch_table(&self, hash: u64) -> u32 {
        self.table_for(hash).0.touch(hash)
    }

    /// Reads a byte of the state that a lookup may have found. Doing that with several before going on with any makes
    /// them wait for memory together, too.
    #[inline]
    pub fn touch(&self, lookup: &Lookup) -> u8 {
        lookup.first.map_or(0, |at| {
            let (chunk, start) = record_place(at);
            self.chunks[chunk][start + 4]
        })
    }

    /// Whether the state that a lookup came across first is the one: most states that are known are found so.
    #[inline]
    pub fn is_first(&self, lookup: &Lookup, state: &[u8]) -> bool {
        lookup.first.is_some_and(|at| is_at(&self.chunks, at, state))
    }

    /// As [`StateSet::insert`], going on where [`StateSet::look`] began with the same state.
    pub fn insert_at(
        &mut self,
        lookup: Lookup,
        state: &[u8],
        link: Option<StateRef>,
    ) -> Result<(StateRef, bool), Full> {
        if let Some(at) = self.find_at(lookup, state) {
            return Ok((at, false));
        }
        let at = self.append(state, link)?;
        if self.has_room() {
            self.table.insert(lookup.hash, at.0);
        } else {
            // With the state that was added just now.
            self.make_table(1);
        }
        Ok((at, true))
    }

    /// Makes a table of all states, with room for the new ones among them.
    fn make_table(&mut self, new: usize) {
        let size = match self.shards.is_none() {
            true => self.table.size_for(new),
            false => PositionTable::default().size_for(self.len() + new),
        };
        // The old one goes first: there is never room for both.
        (self.table, self.shards) = (PositionTable::default(), None);
        let mut table = PositionTable::sized(size, self.last.map_or(0, |last| last.0));
        for (number, chunk) in self.chunks.iter().enumerate() {
            let mut start = 0;
            while start < chunk.len() {
                let (_, state) = read_record(&chunk[start..]);
                table.insert(state_hash(state), record_number(number, start));
                start += record_size(state.len());
            }
        }
        self.table = table;
    }

    /// Where a state is, if it is in the set.
    pub fn find(&self, state: &[u8]) -> Option<StateRef> {
        self.find_at(self.look(state), state)
    }

    /// Whether a state is in the set.
    pub fn contains(&self, state: &[u8]) -> bool {
        self.contains_at(self.look(state), state)
    }

    /// As [`StateSet::contains`], going on where [`StateSet::look`] began with the same state.
    #[inline]
    pub fn contains_at(&self, lookup: Lookup, state: &[u8]) -> bool {
        self.find_at(lookup, state).is_some()
    }

    #[inline]
    fn find_at(&self, Lookup { hash, first }: Lookup, state: &[u8]) -> Option<StateRef> {
        let is_state = |at: &u32| is_at(&self.chunks, *at, state);
        let find = || {
            let (table, base) = self.table_for(hash);
            table.find(hash, |at| is_state(&(base + at))).map(|at| base + at)
        };
        first.filter(is_state).or_else(find).map(StateRef)
    }

    /// The bytes of a state.
    pub fn get(&self, at: StateRef) -> &[u8] {
        record(&self.chunks, at).1
    }

    /// The link a state was added with.
    pub fn link(&self, at: StateRef) -> Option<StateRef> {
        let link = record(&self.chunks, at).0;
        (link != NO_LINK).then_some(StateRef(link))
    }

    /// The state that was added first.
    pub fn first(&self) -> Option<StateRef> {
        self.last.map(|_| StateRef(0))
    }

    /// The state that was added last.
    pub fn last(&self) -> Option<StateRef> {
        self.last
    }

    /// The state that was added after this one.
    pub fn next(&self, at: StateRef) -> Option<StateRef> {
        if Some(at) == self.last {
            return None;
        }
        let (chunk, start) = record_place(at.0);
        let end = start + record_size(record_length(&self.chunks[chunk][start..]));
        // A record that did not fit starts the next chunk.
        let ends = end == self.chunks[chunk].len();
        Some(StateRef(if ends { record_number(chunk + 1, 0) } else { record_number(chunk, end) }))
    }

    /// All states, in the order they were added.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.refs().map(|at| self.get(at))
    }

    /// The names of all states, in the order they were added.
    pub fn refs(&self) -> impl Iterator<Item = StateRef> {
        std::iter::successors(self.first(), |at| self.next(*at))
    }

    /// The states of several sets, each of which has those of another shard ([`shard_of`]), one set behind the other. Links mean
    /// nothing afterwards, and a state that was not in the set of its shard is not found.
    pub fn of_shards(sets: impl IntoIterator<Item = StateSet>) -> Result<StateSet, Full> {
        let mut all = StateSet::new();
        let mut shards: [ShardTable; SHARDS] = std::array::from_fn(|_| ShardTable::default());
        for set in sets {
            let (Some(first), Some(last)) = (set.first(), set.last) else { continue };
            let before = all.chunks.len();
            if (before + set.chunks.len()) as u64 > MOST_CHUNKS {
                return Err(Full);
            }
            let base = record_number(before, 0);
            let shard = shard_of(set.get(first));
            all.last = Some(StateRef(last.0 + base));
            all.room += set.room;
            all.chunks.extend(set.chunks);
            shards[shard] = ShardTable { table: set.table, base };
        }
        all.shards = Some(Box::new(shards));
        Ok(all)
    }

    fn append(&mut self, state: &[u8], link: Option<StateRef>) -> Result<StateRef, Full> {
        let size = record_size(state.len());
        if size > CHUNK || state.is_empty() {
            return Err(Full);
        }
        if self.chunks.last().is_none_or(|last| last.len() + size > CHUNK) {
            if self.chunks.len() as u64 >= MOST_CHUNKS {
                return Err(Full);
            }
            self.chunks.push(Vec::new());
        }
        let last = self.chunks.len() - 1;
        let chunk = &mut self.chunks[last];
        let (start, end) = (chunk.len(), chunk.len() + size);
        if end > chunk.capacity() {
            self.room -= chunk.capacity();
            chunk.reserve_exact((2 * chunk.capacity()).clamp(LEAST_ROOM, CHUNK).max(end) - start);
            self.room += chunk.capacity();
        }
        push_record(chunk, link.map_or(NO_LINK, |link| link.0), state).ok_or(Full)?;
        let at = StateRef(record_number(last, start));
        self.last = Some(at);
        Ok(at)
    }

    /// The chunks of records; what names a state goes on to name it there.
    pub fn into_chunks(self) -> Vec<Vec<u8>> {
        self.chunks
    }
}

#[inline]
fn record(chunks: &[Vec<u8>], at: StateRef) -> (u32, &[u8]) {
    let (chunk, start) = record_place(at.0);
    read_record(&chunks[chunk][start..])
}

#[inline]
fn is_at(chunks: &[Vec<u8>], at: u32, state: &[u8]) -> bool {
    let (chunk, start) = record_place(at);
    is_record_of(&chunks[chunk][start..], state)
}

/// A hash of a packed state, the same in every process with words of that size. The hasher has as many bits as a word of the machine; tables want 64,
/// and look at the upper half.
#[inline]
pub fn state_hash(state: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(state);
    let hash = hasher.finish();
    if usize::BITS < 64 { hash.wrapping_mul(SPREAD) } else { hash }
}
