//! States as a few parts: what is shared, and what each thread has.
//!
//! The *shared part* of a state is the shared control and memory; the part of a thread is its control and its slots. Where
//! there are millions of states there are few parts, so parts are numbered as they are met, and a state is a *row* of numbers: that
//! of the shared part, then one per thread. A packed state ([`crate::State::pack`]) is read as a row without looking at single values,
//! and a row is packed again by copying the bytes of its parts.
//!
//! That is for states all of whose values take half a byte, with 16 slots per thread at most. Others have no row, and whoever asks
//! for it goes on with the state itself.

use crate::pack::{NO_VALUE, half_byte, put, small_value, take};
use crate::{Machine, State, Stepper};
use rustc_hash::FxHashMap;

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

/// Those of the stepper itself.
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

/// The most variables: memory is two words.
const MOST_VARIABLES: usize = 32;

/// The most bytes that the values of a state take.
const MOST_BYTES: usize = 64;

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
    /// How long a packed state may be.
    most: usize,
}

#[derive(Default)]
struct ThreadParts {
    all: Vec<ThreadPart>,
    /// By the own number of the control and the values.
    numbers: FxHashMap<(u32, u64), u32>,
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
            most: 8 * (1 + threads) + MOST_VARIABLES / 2 + MOST_SLOTS / 2 * threads + 8,
        }
    }

    /// The same without parts.
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

    /// Reads the row of a packed state.
    #[inline]
    pub(crate) fn read<M: Machine>(
        &mut self,
        packed: &[u8],
        numbering: &impl Numbering,
        stepper: &Stepper<'_, M>,
        row: &mut Vec<u32>,
    ) -> Option<()> {
        let mut values = packed;
        let first = take(&mut values)?;
        if first & 1 == 1 || self.variables > MOST_VARIABLES {
            return None;
        }
        let global = numbering.own_global(u32::try_from(first >> 1).ok()?)?;
        row.clear();
        row.push(0);
        for thread in 0..self.threads.len() {
            row.push(numbering.own_local(thread, u32::try_from(take(&mut values)?).ok()?)?);
        }
        let mut padded = [0; MOST_BYTES + size_of::<u128>()];
        padded.get_mut(..values.len())?.copy_from_slice(values);
        let word = |at: usize| Some(u128::from_le_bytes(*padded.get(at..)?.first_chunk()?));
        row[0] = self.shared_part(global, word(0)? & ones(self.variables), numbering)?;
        let mut at = self.variables;
        for thread in 0..self.threads.len() {
            let local = row[1 + thread];
            let slots = stepper.slot_count(thread, local).filter(|slots| *slots <= MOST_SLOTS)?;
            let own = (word(at / 2)? >> (4 * (at % 2)) & ones(slots)) as u64;
            let part = self.thread_part(thread, local, own, slots, numbering, stepper)?;
            // A part may have been met before its control had a number.
            if !self.are_numbered(row[0], thread, part, numbering) {
                return None;
            }
            row[1 + thread] = part;
            at += slots;
        }
        let padding = at.is_multiple_of(2) || values.last()? >> 4 == NO_VALUE;
        (values.len() == at.div_ceil(2) && padding).then_some(())
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
        let slots = stepper.slot_count(thread, local).filter(|slots| *slots <= MOST_SLOTS)?;
        let own = half_bytes(state.values.get(base..base + slots)?)? as u64;
        self.thread_part(thread, local, own, slots, numbering, stepper)
    }

    #[inline]
    fn shared_part(&mut self, global: u32, memory: u128, numbering: &impl Numbering) -> Option<u32> {
        if let Some(known) = self.shared_numbers.get(&(global, memory)) {
            return Some(*known);
        }
        let id = u32::try_from(self.shared.len()).ok().filter(|_| are_values(memory))?;
        let number = NumberBytes::of(numbering.global(global).map(|number| u64::from(number) << 1));
        self.shared.push(SharedPart { global, number, memory });
        self.shared_numbers.insert((global, memory), id);
        Some(id)
    }

    #[inline]
    fn thread_part<M: Machine>(
        &mut self,
        thread: usize,
        local: u32,
        values: u64,
        slots: usize,
        numbering: &impl Numbering,
        stepper: &Stepper<'_, M>,
    ) -> Option<u32> {
        let parts = &mut self.threads[thread];
        if let Some(known) = parts.numbers.get(&(local, values)) {
            return Some(*known);
        }
        let id = u32::try_from(parts.all.len()).ok().filter(|_| are_values(values.into()))?;
        let info = stepper.local_info(thread, local)?;
        parts.all.push(ThreadPart {
            local,
            number: NumberBytes::of(numbering.local(thread, local).map(u64::from)),
            values,
            bits: 4 * slots as u32,
            weight: info.longest_queue,
            failed: info.failed,
            may_violate: info.may_violate,
        });
        parts.numbers.insert((local, values), id);
        Some(id)
    }

    /// Whether the controls of these parts have numbers by now.
    #[inline]
    pub(crate) fn are_numbered(
        &mut self,
        shared: u32,
        thread: usize,
        own: u32,
        numbering: &impl Numbering,
    ) -> bool {
        let part = &mut self.shared[shared as usize];
        if part.number.length == 0 {
            part.number = NumberBytes::of(numbering.global(part.global).map(|number| u64::from(number) << 1));
        }
        let shared = part.number.length > 0;
        let part = &mut self.threads[thread].all[own as usize];
        if part.number.length == 0 {
            part.number = NumberBytes::of(numbering.local(thread, part.local).map(u64::from));
        }
        shared && part.number.length > 0
    }
}

impl PartedState<'_> {
    fn shared(&self) -> &SharedPart {
        &self.parts.shared[self.row[0] as usize]
    }

    #[inline]
    fn threads(&self) -> impl Iterator<Item = &ThreadPart> {
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
        let (mut failed, mut possible) = (false, u64::MAX);
        for part in self.threads() {
            failed |= part.failed;
            possible &= part.may_violate;
        }
        failed || possible != 0
    }

    /// Writes the state's bytes, as [`State::pack`] does, behind the first ones of a vector, which grows if it has to;
    /// where they end. What lies behind that means nothing.
    #[inline]
    pub fn pack_behind(&self, start: usize, out: &mut Vec<u8>) -> usize {
        if out.len() < start + self.parts.most {
            out.resize(2 * start + self.parts.most, 0);
        }
        let room = &mut out[start..start + self.parts.most];
        let (shared, variables) = (self.shared(), self.parts.variables);
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
        start + at + bits as usize / 8
    }

    /// The state itself, into memory that is there.
    pub fn unpack(&self, state: &mut State) {
        let shared = self.shared();
        state.global = shared.global;
        state.locals.clear();
        state.values.clear();
        let value = |word: u128, at: usize| small_value((word >> (4 * at)) as u8 & 15);
        state.values.extend((0..self.parts.variables).map(|at| value(shared.memory, at)));
        for part in self.threads() {
            state.locals.push(part.local);
            state.values.extend((0..part.bits as usize / 4).map(|at| value(part.values.into(), at)));
        }
    }
}

/// The lower half bytes of two words.
#[inline]
fn ones(half_bytes: usize) -> u128 {
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
