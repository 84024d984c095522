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

/// How many bytes of memory a part holds by itself.
const NEAR: usize = 16;

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
    /// The first bytes of memory.
    near: [u8; NEAR],
    /// Those behind them.
    far: Box<[u8]>,
    /// The last half byte, if variables are odd in number.
    half: u64,
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
pub(crate) struct Parts {
    variables: usize,
    shared: Vec<SharedPart>,
    /// By the own number of the control and the bytes of memory.
    shared_numbers: FxHashMap<Box<[u8]>, u32>,
    threads: Vec<ThreadParts>,
    /// How long a packed state may be.
    most: usize,
    spare: Spare,
}

#[derive(Default)]
struct ThreadParts {
    all: Vec<ThreadPart>,
    /// By the own number of the control and the values.
    numbers: FxHashMap<(u32, u64), u32>,
}

#[derive(Default)]
struct Spare {
    locals: Vec<u32>,
    padded: Vec<u8>,
    key: Vec<u8>,
}

/// A state that has a row.
#[derive(Clone, Copy)]
pub struct PartedState<'a> {
    parts: &'a Parts,
    row: &'a [u32],
}

impl Parts {
    pub(crate) fn new(variables: usize, threads: usize) -> Parts {
        Parts {
            variables,
            shared: Vec::new(),
            shared_numbers: FxHashMap::default(),
            threads: (0..threads).map(|_| ThreadParts::default()).collect(),
            most: 8 * (1 + threads) + variables / 2 + NEAR + 8 * threads + 16,
            spare: Spare::default(),
        }
    }

    /// The same without parts.
    pub(crate) fn none(&self) -> Parts {
        Parts::new(self.variables, self.threads.len())
    }

    /// How many parts there are.
    pub(crate) fn len(&self) -> usize {
        self.shared.len() + self.threads.iter().map(|thread| thread.all.len()).sum::<usize>()
    }

    /// About how many bytes of memory a part takes.
    pub(crate) fn part_size(&self) -> usize {
        2 * (size_of::<SharedPart>() + self.variables)
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
        let mut rest = packed;
        let first = take(&mut rest)?;
        if first & 1 == 1 {
            return None;
        }
        let global = numbering.own_global(u32::try_from(first >> 1).ok()?)?;
        let mut spare = std::mem::take(&mut self.spare);
        spare.locals.clear();
        for thread in 0..self.threads.len() {
            spare.locals.push(numbering.own_local(thread, u32::try_from(take(&mut rest)?).ok()?)?);
        }
        let read = self.read_values(global, rest, numbering, stepper, &mut spare, row);
        self.spare = spare;
        read
    }

    #[inline]
    fn read_values<M: Machine>(
        &mut self,
        global: u32,
        values: &[u8],
        numbering: &impl Numbering,
        stepper: &Stepper<'_, M>,
        spare: &mut Spare,
        row: &mut Vec<u32>,
    ) -> Option<()> {
        let Spare { locals, padded, key } = spare;
        padded.clear();
        padded.extend_from_slice(values);
        padded.extend_from_slice(&[0; 16]);
        row.clear();
        let half = *padded.get(self.variables / 2)? & 15;
        let half = (self.variables % 2 == 1).then_some(half);
        row.push(self.shared_part(global, values.get(..self.variables / 2)?, half, numbering, key)?);
        let mut at = self.variables;
        for (thread, local) in locals.iter().enumerate() {
            let slots = stepper.slot_count(thread, *local).filter(|slots| *slots <= MOST_SLOTS)?;
            let window = u128::from_le_bytes(*padded.get(at / 2..)?.first_chunk()?);
            let own = (window >> (4 * (at % 2))) as u64 & ones(slots);
            row.push(self.thread_part(thread, *local, own, slots, numbering, stepper)?);
            at += slots;
        }
        let padding = at.is_multiple_of(2) || values.last()? >> 4 == NO_VALUE;
        (values.len() == at.div_ceil(2) && padding).then_some(())
    }

    /// The shared part of a state, which may be new.
    pub(crate) fn shared_part_of(&mut self, state: &State, numbering: &impl Numbering) -> Option<u32> {
        let (pairs, odd) = state.values[..self.variables].as_chunks::<2>();
        let bytes: Option<Vec<u8>> =
            pairs.iter().map(|[low, high]| Some(half_byte(*low)? | half_byte(*high)? << 4)).collect();
        let half = match odd {
            [last] => Some(half_byte(*last)?),
            _ => None,
        };
        let mut key = std::mem::take(&mut self.spare.key);
        let part = self.shared_part(state.global, &bytes?, half, numbering, &mut key);
        self.spare.key = key;
        part
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
        let values = state.values.get(base..base + slots)?;
        let own =
            values.iter().rev().try_fold(0, |own, value| Some(own << 4 | u64::from(half_byte(*value)?)));
        self.thread_part(thread, local, own?, slots, numbering, stepper)
    }

    #[inline]
    fn shared_part(
        &mut self,
        global: u32,
        bytes: &[u8],
        half: Option<u8>,
        numbering: &impl Numbering,
        key: &mut Vec<u8>,
    ) -> Option<u32> {
        key.clear();
        key.extend_from_slice(&global.to_le_bytes());
        key.extend_from_slice(bytes);
        key.extend(half);
        if let Some(known) = self.shared_numbers.get(key.as_slice()) {
            return Some(*known);
        }
        let is_value = |half: u8| half != NO_VALUE;
        let small =
            bytes.iter().all(|byte| is_value(byte & 15) && is_value(byte >> 4)) && half.is_none_or(is_value);
        let id = u32::try_from(self.shared.len()).ok().filter(|_| small)?;
        let (mut near, near_length) = ([0; NEAR], bytes.len().min(NEAR));
        near[..near_length].copy_from_slice(&bytes[..near_length]);
        self.shared.push(SharedPart {
            global,
            number: NumberBytes::of(numbering.global(global).map(|number| u64::from(number) << 1)),
            near,
            far: bytes[near_length..].into(),
            half: half.map_or(0, u64::from),
        });
        self.shared_numbers.insert(key.as_slice().into(), id);
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
        let no_values = values & values >> 1 & values >> 2 & values >> 3 & 0x1111_1111_1111_1111;
        let id = u32::try_from(parts.all.len()).ok().filter(|_| no_values == 0)?;
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

    /// Appends the state's bytes, as [`State::pack`] does.
    #[inline]
    pub fn pack(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.resize(start + self.parts.most, 0);
        let room = &mut out[start..];
        let shared = self.shared();
        let mut at = shared.number.put(room, 0);
        for part in self.threads() {
            at = part.number.put(room, at);
        }
        room[at..at + NEAR].copy_from_slice(&shared.near);
        if !shared.far.is_empty() {
            room[at + NEAR..at + NEAR + shared.far.len()].copy_from_slice(&shared.far);
        }
        at += self.parts.variables / 2;
        // What does not fill a word yet.
        let (mut word, mut bits) = (shared.half, 4 * (self.parts.variables % 2) as u32);
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
        if bits % 8 != 0 {
            word |= u64::from(NO_VALUE) << bits;
            bits += 4;
        }
        room[at..at + 8].copy_from_slice(&word.to_le_bytes());
        out.truncate(start + at + bits as usize / 8);
    }

    /// The state itself, into memory that is there.
    pub fn unpack(&self, state: &mut State) {
        let shared = self.shared();
        state.global = shared.global;
        state.locals.clear();
        state.values.clear();
        let variables = self.parts.variables;
        let bytes = shared.near.iter().chain(&shared.far).take(variables / 2);
        state.values.extend(bytes.flat_map(|byte| [small_value(byte & 15), small_value(byte >> 4)]));
        state.values.extend((variables % 2 == 1).then_some(small_value(shared.half as u8)));
        for part in self.threads() {
            state.locals.push(part.local);
            let value = |bit: u32| small_value((part.values >> bit) as u8 & 15);
            state.values.extend((0..part.bits).step_by(4).map(value));
        }
    }
}

/// The lower half bytes of a word.
#[inline]
fn ones(half_bytes: usize) -> u64 {
    u64::MAX.checked_shr(64 - 4 * half_bytes as u32).unwrap_or(0)
}
