//! States as a few parts: what is shared, and what each thread has.
//!
//! The *shared part* of a state is the shared control and memory; the part of a thread is its control and its slots. Where
//! there are millions of states there are few parts, so parts are numbered as they are met, and a state is a *row* of numbers: that
//! of the shared part, then one per thread. A packed state ([`crate::State::pack`]) is read as a row without looking at single values,
//! and a row is packed again by copying the bytes of its parts.
//!
//! A successor differs from a state in two parts, so it is packed in two words, numbers of controls and values: what comes before
//! the thread that steps is the same for all its steps ([`PackedWords`]). States that are longer than that are written part by part.
//!
//! That is for states all of whose values take half a byte, with 16 slots per thread at most. Others have no row, and whoever asks
//! for it goes on with the state itself.

use crate::compiled::LocalInfo;
use crate::pack::{NO_VALUE, half_byte, put, short_word, small_value, take};
use crate::{Machine, State, Stepper};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Which numbers stand for controls in packed states.
pub trait Numbering {
    /// The stepper's number of the shared control that has this one.
    fn own_global(&self, number: u32) -> Option<u32>;
    /// The stepper's number of the control of a thread that has this one.
    fn own_local(&self, thread: usize, number: u32) -> Option<u32>;
    /// The number of a shared control, if it has one yet.
    fn global(&self, own: u32) -> Option<u32>;
    /// The number of a thread's control, if it has one yet.
    fn local(&self, thread: usize, own: u32) -> Option<u32>;
}

/// The stepper's own numbers.
pub struct OwnNumbers;

impl Numbering for OwnNumbers {
    #[inline]
    fn own_global(&self, number: u32) -> Option<u32> {
        Some(number)
    }

    #[inline]
    fn own_local(&self, _: usize, number: u32) -> Option<u32> {
        Some(number)
    }

    #[inline]
    fn global(&self, own: u32) -> Option<u32> {
        Some(own)
    }

    #[inline]
    fn local(&self, _: usize, own: u32) -> Option<u32> {
        Some(own)
    }
}

/// The most slots of a thread that has a part: its values are one word.
const MOST_SLOTS: usize = 16;

/// So many half bytes, the lowest of a word.
const LOWEST: [u64; MOST_SLOTS + 1] = {
    let mut lowest = [0; MOST_SLOTS + 1];
    let mut count = 1;
    while count <= MOST_SLOTS {
        lowest[count] = lowest[count - 1] << 4 | 15;
        count += 1;
    }
    lowest
};

/// The most variables: memory is two words.
const MOST_VARIABLES: usize = 32;

/// The bytes of a packed number; none if there is no number yet.
#[derive(Clone, Copy, Default)]
struct NumberBytes {
    bytes: u64,
    length: u32,
}

impl NumberBytes {
    fn of(number: Option<u64>) -> NumberBytes {
        let mut bytes = [0; 8];
        let length = number.map_or(0, |number| put(number, &mut bytes, 0));
        NumberBytes { bytes: u64::from_le_bytes(bytes), length: length as u32 }
    }

    fn of_global(global: u32, numbering: &impl Numbering) -> NumberBytes {
        NumberBytes::of(numbering.global(global).map(|number| u64::from(number) << 1))
    }

    fn of_local(thread: usize, local: u32, numbering: &impl Numbering) -> NumberBytes {
        NumberBytes::of(numbering.local(thread, local).map(u64::from))
    }

    #[inline]
    fn put(self, room: &mut [u8], at: usize) -> usize {
        room[at..at + 8].copy_from_slice(&self.bytes.to_le_bytes());
        at + self.length as usize
    }
}

/// Shared control and memory.
struct SharedPart {
    global: u32,
    number: NumberBytes,
    /// Its values, half a byte each.
    memory: u128,
}

/// What a thread has.
struct ThreadPart {
    local: u32,
    number: NumberBytes,
    /// Its values, half a byte each.
    values: u64,
    bits: u32,
    weight: usize,
    failed: bool,
    may_violate: u64,
}

/// The parts met so far.
pub(crate) struct StateParts {
    variables: usize,
    shared: Vec<SharedPart>,
    /// By the own number of the control and the values.
    shared_numbers: FxHashMap<(u32, u128), u32>,
    threads: Vec<ThreadParts>,
    /// Shared parts whose control has no number yet.
    unnumbered: Vec<u32>,
    /// How long a packed state may be.
    most: usize,
    /// Working memory: the controls of the state that is read.
    locals: Vec<u32>,
}

#[derive(Default)]
struct ThreadParts {
    all: Vec<ThreadPart>,
    /// By the own number of the control and the values.
    numbers: FxHashMap<(u32, u64), u32>,
    /// Those whose control has no number yet.
    unnumbered: Vec<u32>,
}

/// A state that has a row.
#[derive(Clone, Copy)]
pub struct PartedState<'a> {
    parts: &'a StateParts,
    row: &'a [u32],
}

impl StateParts {
    pub(crate) fn new(variables: usize, threads: usize) -> StateParts {
        StateParts {
            variables,
            shared: Vec::new(),
            shared_numbers: FxHashMap::default(),
            threads: (0..threads).map(|_| ThreadParts::default()).collect(),
            // Numbers of controls, memory, slots; words are written whole.
            most: 8 * (1 + threads) + MOST_VARIABLES / 2 + MOST_SLOTS / 2 * threads + 16,
            locals: Vec::new(),
            unnumbered: Vec::new(),
        }
    }

    /// The same for the same program, with no parts yet.
    pub(crate) fn none(&self) -> StateParts {
        StateParts::new(self.variables, self.threads.len())
    }

    /// How many parts there are.
    pub(crate) fn len(&self) -> usize {
        self.shared.len() + self.threads.iter().map(|thread| thread.all.len()).sum::<usize>()
    }

    /// About how many bytes of memory a part takes.
    pub(crate) fn part_size() -> usize {
        2 * (size_of::<SharedPart>().max(size_of::<ThreadPart>()) + size_of::<(u32, u128, u32)>())
    }

    /// A state that has this row.
    #[inline]
    pub(crate) fn state<'a>(&'a self, row: &'a [u32]) -> PartedState<'a> {
        PartedState { parts: self, row }
    }

    /// Reads the row of a packed state. What is in the row before is a guess: states that follow each other have most
    /// parts in common.
    #[inline]
    pub(crate) fn read<M: Machine>(
        &mut self,
        packed: &[u8],
        numbering: &impl Numbering,
        stepper: &Stepper<'_, M>,
        row: &mut Vec<u32>,
    ) -> Option<()> {
        let mut at = 0;
        let first = number_at(packed, &mut at)?;
        if first & 1 == 1 || self.variables > MOST_VARIABLES {
            return None;
        }
        let global = numbering.own_global(first >> 1)?;
        self.locals.clear();
        for thread in 0..self.threads.len() {
            self.locals.push(numbering.own_local(thread, number_at(packed, &mut at)?)?);
        }
        row.resize(1 + self.threads.len(), u32::MAX);
        let values = PackedValues::new(packed.get(at..)?);
        let memory = values.half_bytes(0) & ones(self.variables);
        let guess = self.shared.get(row[0] as usize);
        if !guess.is_some_and(|part| part.global == global && part.memory == memory) {
            row[0] = self.shared_part(global, memory, numbering)?;
        }
        let mut at = self.variables;
        let threads = self.threads.iter_mut().zip(&self.locals).zip(&mut row[1..]);
        for (thread, ((parts, local), part)) in threads.enumerate() {
            let info = stepper.local_info(thread, *local)?;
            let slots = info.slots.len();
            let own = values.half_bytes(at) as u64 & LOWEST.get(slots)?;
            let guess = parts.all.get(*part as usize);
            if !guess.is_some_and(|part| part.local == *local && part.values == own) {
                *part = parts.part(thread, *local, own, info, numbering)?;
            }
            at += slots;
        }
        let padding = at.is_multiple_of(2) || values.bytes.last()? >> 4 == NO_VALUE;
        (values.bytes.len() == at.div_ceil(2) && padding).then_some(())
    }

    /// The shared part of a state, which may be new.
    pub(crate) fn shared_part_of(&mut self, state: &State, numbering: &impl Numbering) -> Option<u32> {
        let memory = half_bytes(&state.values[..self.variables])?;
        self.shared_part(state.global, memory, numbering)
    }

    /// The part of a thread in a state, which may be new. Its values begin there.
    pub(crate) fn thread_part_of<M: Machine>(
        &mut self,
        thread: usize,
        base: usize,
        state: &State,
        numbering: &impl Numbering,
        stepper: &Stepper<'_, M>,
    ) -> Option<u32> {
        let local = state.locals[thread];
        let info = stepper.local_info(thread, local).filter(|info| info.slots.len() <= MOST_SLOTS)?;
        let own = half_bytes(state.values.get(base..base + info.slots.len())?)? as u64;
        self.threads[thread].part(thread, local, own, info, numbering)
    }

    #[inline]
    fn shared_part(&mut self, global: u32, memory: u128, numbering: &impl Numbering) -> Option<u32> {
        if let Some(known) = self.shared_numbers.get(&(global, memory)) {
            return Some(*known);
        }
        let id = u32::try_from(self.shared.len()).ok().filter(|_| are_values(memory))?;
        let number = NumberBytes::of_global(global, numbering);
        if number.length == 0 {
            self.unnumbered.push(id);
        }
        self.shared.push(SharedPart { global, number, memory });
        self.shared_numbers.insert((global, memory), id);
        Some(id)
    }

    /// Looks for numbers of controls that had none when parts with them were met.
    pub(crate) fn renumber(&mut self, numbering: &impl Numbering) {
        let StateParts { shared, threads, unnumbered, .. } = self;
        unnumbered.retain(|part| {
            let part = &mut shared[*part as usize];
            part.number = NumberBytes::of_global(part.global, numbering);
            part.number.length == 0
        });
        for (thread, ThreadParts { all, unnumbered, .. }) in threads.iter_mut().enumerate() {
            unnumbered.retain(|part| {
                let part = &mut all[*part as usize];
                part.number = NumberBytes::of_local(thread, part.local, numbering);
                part.number.length == 0
            });
        }
    }
}

impl ThreadParts {
    #[inline]
    fn part(
        &mut self,
        thread: usize,
        local: u32,
        values: u64,
        info: &LocalInfo,
        numbering: &impl Numbering,
    ) -> Option<u32> {
        if let Some(known) = self.numbers.get(&(local, values)) {
            return Some(*known);
        }
        let id = u32::try_from(self.all.len()).ok().filter(|_| are_values(values.into()))?;
        let number = NumberBytes::of_local(thread, local, numbering);
        if number.length == 0 {
            self.unnumbered.push(id);
        }
        self.all.push(ThreadPart {
            local,
            number,
            values,
            bits: 4 * info.slots.len() as u32,
            weight: info.longest_queue,
            failed: info.failed,
            may_violate: info.may_violate,
        });
        self.numbers.insert((local, values), id);
        Some(id)
    }
}

/// Numbers of controls, and values, of the first parts of a state, as they are packed. Once there are more bits than a word
/// has they mean nothing.
#[derive(Clone, Copy)]
struct PackedWords {
    control: u128,
    control_bits: u32,
    values: u128,
    value_bits: u32,
}

impl PackedWords {
    /// Room for a shared part, without what is in it.
    fn behind(shared: &SharedPart, variables: usize) -> PackedWords {
        PackedWords {
            control: 0,
            control_bits: 8 * shared.number.length,
            values: 0,
            value_bits: 4 * variables as u32,
        }
    }

    /// And the next part. (Only what is empty lies behind a full word, so that no bit comes round.)
    #[inline]
    fn with(self, part: &ThreadPart) -> PackedWords {
        PackedWords {
            control: self.control | u128::from(part.number.bytes).wrapping_shl(self.control_bits),
            control_bits: self.control_bits + 8 * part.number.length,
            values: self.values | u128::from(part.values).wrapping_shl(self.value_bits),
            value_bits: self.value_bits + part.bits,
        }
    }

    #[inline]
    fn fit(&self) -> bool {
        self.control_bits <= u128::BITS && self.value_bits <= u128::BITS
    }
}

/// Puts successors of a state together, thread by thread.
pub(crate) struct SuccessorsOf<'a> {
    parts: &'a StateParts,
    /// What every thread has in the state.
    threads: SmallVec<[&'a ThreadPart; 8]>,
    /// The thread that takes the step.
    thread: usize,
    /// What comes before the thread, behind a shared part whose control takes so many bytes.
    before: PackedWords,
    global_length: u32,
    /// Whether a thread has failed.
    failed: bool,
    /// Whether all controls of the state have numbers.
    numbered: bool,
}

impl<'a> SuccessorsOf<'a> {
    /// Successors by steps of the first thread.
    #[inline]
    pub(crate) fn new(parts: &'a StateParts, row: &'a [u32]) -> SuccessorsOf<'a> {
        let shared = &parts.shared[row[0] as usize];
        let threads: SmallVec<[&ThreadPart; 8]> = parts.state(row).threads().collect();
        SuccessorsOf {
            parts,
            failed: threads.iter().any(|part| part.failed),
            numbered: threads.iter().all(|part| part.number.length > 0),
            threads,
            thread: 0,
            before: PackedWords::behind(shared, parts.variables),
            global_length: shared.number.length,
        }
    }

    /// Goes on to the next thread.
    #[inline]
    pub(crate) fn next_thread(&mut self) {
        self.before = self.before.with(self.threads[self.thread]);
        self.thread += 1;
    }

    /// The state after a step to these parts.
    #[inline]
    pub(crate) fn step(&self, shared: u32, own: u32) -> PartedSuccessor<'_, 'a> {
        let shared = &self.parts.shared[shared as usize];
        PartedSuccessor { of: self, shared, own: &self.parts.threads[self.thread].all[own as usize] }
    }
}

/// A state that was reached by a step of a thread.
#[derive(Clone, Copy)]
pub struct PartedSuccessor<'s, 'p> {
    /// The state it was reached from.
    of: &'s SuccessorsOf<'p>,
    shared: &'p SharedPart,
    /// Of the thread.
    own: &'p ThreadPart,
}

impl PartedSuccessor<'_, '_> {
    fn threads(&self) -> impl Iterator<Item = &ThreadPart> {
        let own = |(thread, part)| if thread == self.of.thread { self.own } else { part };
        self.of.threads.iter().copied().enumerate().map(own)
    }

    /// Whether the state may violate something, for all that the threads' controls tell.
    #[inline]
    pub fn may_violate(&self) -> bool {
        let others = self.of.threads.iter().enumerate().filter(|(other, _)| *other != self.of.thread);
        let possible = others.fold(self.own.may_violate, |possible, (_, part)| possible & part.may_violate);
        self.of.failed || self.own.failed || possible != 0
    }

    /// Whether all its controls have numbers. What has none cannot be packed.
    #[inline]
    pub fn is_numbered(&self) -> bool {
        self.of.numbered && self.shared.number.length > 0 && self.own.number.length > 0
    }

    /// Writes the state's bytes, as [`State::pack`] does, behind the first ones of a vector, which grows if it has to;
    /// where they end. What lies behind that means nothing.
    #[inline]
    pub fn pack_behind(&self, start: usize, out: &mut Vec<u8>) -> usize {
        let SuccessorsOf { parts, threads, thread, before, global_length, .. } = self.of;
        if out.len() < start + parts.most {
            out.resize(2 * start + parts.most, 0);
        }
        let room = &mut out[start..start + parts.most];
        let (shared, behind) = (self.shared, threads[*thread..].iter().skip(1));
        let words = behind.fold(before.with(self.own), |words, part| words.with(part));
        if !words.fit() || shared.number.length != *global_length {
            return start + self.pack_long(room);
        }
        let control = words.control | u128::from(shared.number.bytes);
        // Half a byte of ones follows an odd number of values.
        let odd = words.value_bits % 8;
        let end_mark = u128::from(odd / 4 * u32::from(NO_VALUE)).wrapping_shl(words.value_bits);
        let values = words.values | shared.memory | end_mark;
        let at = words.control_bits as usize / 8;
        room[..16].copy_from_slice(&control.to_le_bytes());
        room[at..at + 16].copy_from_slice(&values.to_le_bytes());
        start + at + (words.value_bits + odd) as usize / 8
    }

    /// The same part by part; how many bytes that were.
    #[cold]
    fn pack_long(&self, room: &mut [u8]) -> usize {
        let (shared, variables) = (self.shared, self.of.parts.variables);
        let mut at = shared.number.put(room, 0);
        for part in self.threads() {
            at = part.number.put(room, at);
        }
        room[at..at + 16].copy_from_slice(&shared.memory.to_le_bytes());
        at += variables / 2;
        // What does not fill a word yet; an odd variable is the beginning.
        let odd = shared.memory.checked_shr(8 * (variables / 2) as u32).unwrap_or(0);
        let (mut word, mut bits) = (odd as u64, 4 * (variables % 2) as u32);
        for part in self.threads() {
            word |= part.values << bits;
            let end = bits + part.bits;
            if end >= u64::BITS {
                room[at..at + 8].copy_from_slice(&word.to_le_bytes());
                at += 8;
                word = part.values.checked_shr(u64::BITS - bits).unwrap_or(0);
            }
            bits = end % u64::BITS;
        }
        if !bits.is_multiple_of(8) {
            word |= u64::from(NO_VALUE) << bits;
            bits += 4;
        }
        room[at..at + 8].copy_from_slice(&word.to_le_bytes());
        at + bits as usize / 8
    }

    /// The state itself, into memory that is there.
    pub fn unpack(&self, state: &mut State) {
        unpack(self.of.parts.variables, self.shared, self.threads(), state);
    }
}

impl<'a> PartedState<'a> {
    #[inline]
    fn threads(&self) -> impl Iterator<Item = &'a ThreadPart> {
        self.parts.threads.iter().zip(&self.row[1..]).map(|(thread, own)| &thread.all[*own as usize])
    }

    /// The length of the longest queue of stores on their way to memory.
    #[inline]
    pub fn longest_queue(&self) -> usize {
        self.threads().fold(0, |longest, part| longest.max(part.weight))
    }

    /// Whether the state may violate something, for all that the threads' controls tell.
    #[inline]
    pub fn may_violate(&self) -> bool {
        let possible = self.threads().fold(u64::MAX, |possible, part| possible & part.may_violate);
        possible != 0 || self.threads().any(|part| part.failed)
    }

    /// The state itself, into memory that is there.
    pub fn unpack(&self, state: &mut State) {
        unpack(self.parts.variables, &self.parts.shared[self.row[0] as usize], self.threads(), state);
    }
}

/// The state that has these parts, into memory that is there.
fn unpack<'a>(
    variables: usize,
    shared: &SharedPart,
    threads: impl Iterator<Item = &'a ThreadPart>,
    state: &mut State,
) {
    state.global = shared.global;
    state.locals.clear();
    state.values.clear();
    let value = |word: u128, at: usize| small_value((word >> (4 * at)) as u8 & 15);
    state.values.extend((0..variables).map(|at| value(shared.memory, at)));
    for part in threads {
        state.locals.push(part.local);
        state.values.extend((0..part.bits as usize / 4).map(|at| value(part.values.into(), at)));
    }
}

/// The values of a packed state, half a byte each.
pub struct PackedValues<'v> {
    bytes: &'v [u8],
    /// All of them, if they are not more than a word.
    word: u128,
}

impl<'v> PackedValues<'v> {
    /// The values in these bytes.
    #[inline]
    pub fn new(bytes: &'v [u8]) -> PackedValues<'v> {
        PackedValues { bytes, word: if bytes.len() <= 16 { short_word(bytes) } else { 0 } }
    }

    /// Those from one on, 32 of them. Where there are none there is nothing in particular.
    #[inline]
    pub fn half_bytes(&self, from: usize) -> u128 {
        match self.bytes.len() {
            ..=16 => self.word.wrapping_shr(4 * from as u32),
            _ => self.long_word(from),
        }
    }

    #[cold]
    fn long_word(&self, from: usize) -> u128 {
        let bytes = self.bytes.get(from / 2..).unwrap_or(&[]);
        let word = short_word(&bytes[..bytes.len().min(16)]);
        match from % 2 {
            0 => word,
            _ => word >> 4 | u128::from(*bytes.get(16).unwrap_or(&0)) << 124,
        }
    }
}

/// Reads the number that stands at a position, which moves on.
#[inline]
pub fn number_at(bytes: &[u8], at: &mut usize) -> Option<u32> {
    let first = *bytes.get(*at)?;
    if first < 0x80 {
        *at += 1;
        return Some(first.into());
    }
    let second = *bytes.get(*at + 1)?;
    if second < 0x80 {
        *at += 2;
        return Some(u32::from(first & 0x7f) | u32::from(second) << 7);
    }
    let mut rest = bytes.get(*at..)?;
    let number = take(&mut rest)?;
    *at = bytes.len() - rest.len();
    u32::try_from(number).ok()
}

/// The lower half bytes of two words.
#[inline]
pub fn ones(half_bytes: usize) -> u128 {
    u128::MAX.checked_shr(128 - 4 * half_bytes as u32).unwrap_or(0)
}

/// Values as half bytes, if all are small enough.
fn half_bytes(values: &[i64]) -> Option<u128> {
    let fit = values.len() <= MOST_VARIABLES;
    fit.then(|| {
        values.iter().rev().try_fold(0, |all, value| Some(all << 4 | u128::from(half_byte(*value)?)))
    })?
}

/// Whether all half bytes are values.
fn are_values(half_bytes: u128) -> bool {
    const LOWEST: u128 = u128::MAX / 15;
    half_bytes & half_bytes >> 1 & half_bytes >> 2 & half_bytes >> 3 & LOWEST == 0
}
