//! Part of the states: those whose hash says so.
//!
//! A worker's shards lie next to each other ([`machine::shards_of`]). What is posted to a shard is added in the order of the shards it comes from. So the states of a shard,
//! their order and their links are the same for any number of workers.
//!
//! Where memory is scarce the states move to a file ([`Shard::settle`]). From then on memory holds those that were posted
//! since, and before they are expanded one look at the whole file sorts out those that were known. What is new, and in
//! which order, is the same as in memory.

use super::numbers::{put_number, take_number};
use crate::search::Search;
use evidence::{ChunkRead, Monitor, NotSpilled, Spill, SpilledStates};
use machine::{Full, Lookup, SHARDS, StateRef, StateSet, shard_of, short_word, state_hash};
use std::hint::black_box;
use std::io;

/// A link is the number of a state in its shard, and above that the number of the shard.
const LINK_BITS: u32 = 26;

/// So many states are looked for at a time: they wait for memory together.
pub(super) const TOGETHER: usize = 32;

/// Where a state lies: shard and number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StatePlace {
    /// The shard.
    pub shard: usize,
    /// The number there.
    pub number: u32,
}

impl StatePlace {
    /// As a link; there is none for states far behind.
    pub fn link(self) -> Result<StateRef, Full> {
        // All ones in the last shard would mean that there is no link.
        if self.number + 1 >= 1 << LINK_BITS {
            return Err(Full);
        }
        Ok(StateRef::numbered((self.shard as u32) << LINK_BITS | self.number))
    }

    fn of(link: StateRef) -> StatePlace {
        let number = link.number();
        StatePlace { shard: (number >> LINK_BITS) as usize, number: number & ((1 << LINK_BITS) - 1) }
    }

    fn state(self) -> StateRef {
        StateRef::numbered(self.number)
    }
}

/// The states of a shard, and how far they are explored.
#[derive(Default)]
pub struct Shard {
    /// All of them; once memory was scarce, those found since the last look into the file, known ones among them.
    pub(super) states: StateSet,
    spilled: Option<InFile>,
    /// To be expanded before all others.
    first: Vec<StateRef>,
    /// The last state that was taken in the order of the set.
    last: Option<StateRef>,
    /// Behind this state lies the next level.
    end: Option<StateRef>,
    /// Too heavy yet.
    pub(super) heavy: Vec<StateRef>,
}

/// States in a file, and what was read of it last.
struct InFile {
    states: SpilledStates,
    reading: ChunkRead,
}

impl Shard {
    /// The next state of the level. Of one that is not in memory, the bytes go into `packed`.
    pub fn take(&mut self, packed: &mut Vec<u8>) -> io::Result<Option<StateRef>> {
        let taken = match self.first.pop() {
            None if self.last == self.end => None,
            None => {
                self.last = self.behind_last()?;
                self.last
            }
            first => first,
        };
        if let (Some(at), Some(_)) = (taken, &self.spilled) {
            packed.clear();
            packed.extend_from_slice(self.get(at)?.0);
        }
        Ok(taken)
    }

    /// The bytes of a state, if it is in memory.
    #[inline]
    pub(super) fn in_memory(&self, at: StateRef) -> Option<&[u8]> {
        self.spilled.is_none().then(|| self.states.get(at))
    }

    fn behind_last(&mut self) -> io::Result<Option<StateRef>> {
        let Some(InFile { states, reading }) = &mut self.spilled else {
            return Ok(self.last.map_or(self.states.first(), |last| self.states.next(last)));
        };
        Ok(states.next(self.last.map(StateRef::number), reading)?.map(StateRef::numbered))
    }

    /// The bytes of a state, and its link.
    fn get(&mut self, at: StateRef) -> io::Result<(&[u8], Option<StateRef>)> {
        let Some(InFile { states, reading }) = &mut self.spilled else {
            return Ok((self.states.get(at), self.states.link(at)));
        };
        let (link, state) = states.get(at.number(), reading)?;
        Ok((state, (link != u32::MAX).then(|| StateRef::numbered(link))))
    }

    /// Forgets what was read of its file.
    pub(super) fn forget_chunk(&mut self) {
        if let Some(file) = &mut self.spilled {
            file.reading = ChunkRead::default();
        }
    }

    /// How many states there are, as far as that is known.
    pub(super) fn len(&self) -> usize {
        self.spilled.as_ref().map_or(self.states.len(), |file| file.states.len())
    }

    /// Moves the states to a file; to the states that are there already those that are new.
    pub(super) fn settle(&mut self, spill: &dyn Spill, monitor: &dyn Monitor) -> Result<(), NotSpilled> {
        let found = std::mem::take(&mut self.states);
        self.forget_chunk();
        match &mut self.spilled {
            None => {
                let states = SpilledStates::of(found, spill.file()?)?;
                self.spilled = Some(InFile { states, reading: ChunkRead::default() });
            }
            Some(_) if found.is_empty() => {}
            Some(file) => {
                file.states.add_new(&found, monitor)?;
            }
        }
        Ok(())
    }

    /// What was found, in memory or in a file.
    pub(super) fn found(self) -> ShardFound {
        self.spilled.map_or(ShardFound::InMemory(self.states), |file| ShardFound::InFile(file.states))
    }

    /// Whether states of the level are left.
    pub(super) fn has_more(&self) -> bool {
        !self.first.is_empty() || self.last != self.end
    }

    /// What was found meanwhile is the next level. What is not in a file yet must be settled before.
    pub fn begin_level(&mut self) {
        self.end = match &self.spilled {
            None => self.states.last(),
            Some(file) => file.states.last().map(StateRef::numbered),
        };
    }

    /// Takes up what was too heavy.
    pub(super) fn take_up_heavy(&mut self) {
        self.first = std::mem::take(&mut self.heavy);
    }

    /// Adds the states of a message to this shard.
    pub fn add(&mut self, message: &[u8]) -> Result<(), NotAdded> {
        let mut entries = MessageEntries::new(message);
        let mut together: Vec<(StatePlace, &[u8], u64)> = Vec::with_capacity(TOGETHER);
        let mut lookups: Vec<Lookup> = Vec::with_capacity(TOGETHER);
        loop {
            together.clear();
            while together.len() < TOGETHER && !entries.bytes.is_empty() {
                let (parent, state) = entries.next().ok_or(NotAdded::Garbled)?;
                together.push((parent, state, state_hash(state)));
            }
            if together.is_empty() {
                return Ok(());
            }
            black_box(together.iter().fold(0, |sum, (.., hash)| sum ^ self.states.touch_table(*hash)));
            lookups.clear();
            lookups.extend(together.iter().map(|(.., hash)| self.states.look_by_hash(*hash)));
            black_box(lookups.iter().fold(0, |sum, lookup| sum ^ self.states.touch(lookup)));
            for ((parent, state, _), lookup) in together.iter().zip(&lookups) {
                if !self.states.is_first(lookup, state) {
                    self.insert(*lookup, state, *parent).map_err(NotAdded::Full)?;
                }
            }
        }
    }

    /// Adds a state of this shard.
    pub(super) fn insert(&mut self, lookup: Lookup, state: &[u8], parent: StatePlace) -> Result<(), Full> {
        self.states.insert_at(lookup, state, Some(parent.link()?)).map(|_| ())
    }

    /// A state and the place it was reached from.
    pub fn step_back(&mut self, number: u32) -> io::Result<(&[u8], Option<StatePlace>)> {
        let (state, link) = self.get(StateRef::numbered(number))?;
        Ok((state, link.map(StatePlace::of)))
    }
}

/// The states of a shard in the end.
pub(super) enum ShardFound {
    InMemory(StateSet),
    InFile(SpilledStates),
}

/// Why a message was not taken up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotAdded {
    /// There is no room.
    Full(Full),
    /// Nobody wrote this.
    Garbled,
}

/// What a message with states begins with; the number of the shard follows.
pub const STATES: u8 = 1;

/// What one begins with whose states come late, because their controls had no numbers.
pub(super) const LATE: u8 = 2;

/// Messages to all shards. A state that is reached in several ways is sent as often: to remember what was sent would take
/// longer than to look up once more what comes.
pub(super) struct ShardMessages {
    by_shard: Vec<StateMessage>,
}

impl Default for ShardMessages {
    fn default() -> ShardMessages {
        ShardMessages { by_shard: (0..SHARDS).map(StateMessage::to).collect() }
    }
}

impl ShardMessages {
    /// Adds a state for the shard that it belongs to.
    #[inline]
    pub(super) fn add(&mut self, parent: StatePlace, state: &[u8]) {
        self.by_shard[shard_of(state)].add(parent, state);
    }

    /// What was written to a shard, if anything was; as much may follow.
    pub(super) fn take(&mut self, shard: usize) -> Option<Vec<u8>> {
        let message = &mut self.by_shard[shard];
        (!message.bytes.is_empty()).then(|| message.take())
    }

    /// Bytes of memory held.
    pub(super) fn bytes(&self) -> usize {
        self.by_shard.iter().map(|message| message.bytes.capacity()).sum::<usize>()
    }
}

/// States on their way to a shard, each with where it was reached from.
pub struct StateMessage {
    to: usize,
    bytes: Vec<u8>,
    from: Option<StatePlace>,
}

impl StateMessage {
    /// Nothing yet, to a shard.
    pub fn to(shard: usize) -> StateMessage {
        StateMessage { to: shard, bytes: Vec::new(), from: None }
    }

    /// What was written; as much may follow.
    pub fn take(&mut self) -> Vec<u8> {
        self.from = None;
        let room = Vec::with_capacity(self.bytes.len());
        std::mem::replace(&mut self.bytes, room)
    }

    /// Adds a state. The state it was reached from is told by how far it lies behind the one before; zero says
    /// that another shard follows.
    #[inline]
    pub fn add(&mut self, parent: StatePlace, state: &[u8]) {
        let before = match self.from {
            Some(before) if before.shard == parent.shard && before.number <= parent.number => before.number,
            _ => {
                if self.bytes.is_empty() {
                    self.bytes.extend([STATES, self.to as u8]);
                }
                put_number(&mut self.bytes, 0);
                put_number(&mut self.bytes, parent.shard as u64);
                0
            }
        };
        self.from = Some(parent);
        let further = parent.number - before + 1;
        if further < 0x80 && state.len() <= 16 {
            // The usual case: as many bytes are written each time, and what is too much is taken back.
            let mut entry = [0; 18];
            entry[..2].copy_from_slice(&[further as u8, state.len() as u8]);
            entry[2..].copy_from_slice(&short_word(state).to_le_bytes());
            self.bytes.extend_from_slice(&entry);
            self.bytes.truncate(self.bytes.len() + state.len() - 16);
            return;
        }
        put_number(&mut self.bytes, u64::from(further));
        put_number(&mut self.bytes, state.len() as u64);
        self.bytes.extend_from_slice(state);
    }
}

struct MessageEntries<'l> {
    bytes: &'l [u8],
    parent: StatePlace,
}

impl<'l> MessageEntries<'l> {
    fn new(bytes: &'l [u8]) -> MessageEntries<'l> {
        MessageEntries { bytes, parent: StatePlace { shard: 0, number: 0 } }
    }

    #[inline]
    fn next(&mut self) -> Option<(StatePlace, &'l [u8])> {
        // The usual case: both numbers are small.
        if let [further @ 1..0x80, length @ 0..0x80, rest @ ..] = self.bytes {
            self.parent.number = self.parent.number.checked_add(u32::from(*further) - 1)?;
            let (state, rest) = rest.split_at_checked(usize::from(*length))?;
            self.bytes = rest;
            return Some((self.parent, state));
        }
        let mut further = take_number(&mut self.bytes)?;
        if further == 0 {
            let shard =
                usize::try_from(take_number(&mut self.bytes)?).ok().filter(|shard| *shard < SHARDS)?;
            self.parent = StatePlace { shard, number: 0 };
            further = take_number(&mut self.bytes)?;
        }
        let further = u32::try_from(further.checked_sub(1)?).ok()?;
        self.parent.number = self.parent.number.checked_add(further)?;
        let length = usize::try_from(take_number(&mut self.bytes)?).ok()?;
        let (state, rest) = self.bytes.split_at_checked(length)?;
        self.bytes = rest;
        Some((self.parent, state))
    }
}

/// Spreads the states of a search that was broken off over all shards.
pub(super) fn spread<G>(found: Search<G>) -> Result<Vec<Shard>, Full> {
    let mut shards: Vec<Shard> = (0..SHARDS).map(|_| Shard::default()).collect();
    let rest = found.rest;
    // By the order of the set: the state, and its place now.
    let mut places: Vec<(StateRef, StatePlace)> = Vec::with_capacity(found.states.len());
    let place_of = |places: &[(StateRef, StatePlace)], at: StateRef| {
        let known = places.binary_search_by_key(&at, |(at, _)| *at).ok();
        known.map(|known| places[known].1)
    };
    // States that follow each other were reached from states that do, if nothing was postponed.
    let mut near = 0;
    for at in found.states.refs() {
        let state = found.states.get(at);
        let parent = found.states.link(at).and_then(|parent| {
            near += places[near..].iter().take_while(|(at, _)| *at < parent).count();
            match places.get(near) {
                Some((at, place)) if *at == parent => Some(*place),
                _ => place_of(&places, parent),
            }
        });
        let link = parent.map(StatePlace::link).transpose()?;
        let shard = shard_of(state);
        let (new, _) = shards[shard].states.insert(state, link)?;
        places.push((at, StatePlace { shard, number: new.number() }));
        if rest.last.is_some_and(|last| at <= last) {
            shards[shard].last = Some(new);
        }
        if rest.level_end.is_some_and(|end| at <= end) {
            shards[shard].end = Some(new);
        }
    }
    let mut sort = |list: Vec<StateRef>, put: fn(&mut Shard, StateRef)| {
        for place in list.into_iter().filter_map(|at| place_of(&places, at)) {
            put(&mut shards[place.shard], place.state());
        }
    };
    sort(rest.first, |shard, at| shard.first.push(at));
    sort(rest.heavy, |shard, at| shard.heavy.push(at));
    Ok(shards)
}
