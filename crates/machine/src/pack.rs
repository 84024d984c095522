//! States as short byte strings, for storing millions of them.
//!
//! A number is written in base 128, low digits first, the high bit meaning "more": the shared control, one per
//! thread, then the values. Most values are small, so there are two ways to write those. If all lie from -1 to 13,
//! each is half a byte, and half a byte of ones follows an odd number of them. Otherwise each is a number in base
//! 128, zigzag folded. Which way it is stands in the lowest bit of the first number. How many values follow is known
//! from the control, hence equal states have equal strings and different states different ones.

use crate::State;

/// What half a byte stands for is so much less.
const HALF_BYTE_ZERO: i64 = 1;

/// The half byte that no value has.
pub(crate) const NO_VALUE: u8 = 15;

impl State {
    /// Appends the state's bytes.
    pub fn pack(&self, out: &mut Vec<u8>) {
        self.pack_as(self.global, &self.locals, out);
    }

    /// As [`State::pack`], with other numbers for its controls.
    #[inline]
    pub fn pack_as(&self, global: u32, locals: &[u32], out: &mut Vec<u8>) {
        let start = out.len();
        // Room for the longest numbers, so that writing needs no look at the vector.
        let most = 5 * (1 + locals.len()) + self.values.len().div_ceil(2);
        out.resize(start + most, 0);
        let room = &mut out[start..];
        let mut used = put(u64::from(global) << 1, room, 0);
        for local in locals {
            used = put(u64::from(*local), room, used);
        }
        let small = put_small(&self.values, &mut room[used..]);
        out.truncate(start + used + self.values.len().div_ceil(2));
        if !small {
            self.put_large(start, used, out);
        }
    }

    /// Writes values behind a control that ends there, as numbers of any size.
    fn put_large(&self, start: usize, used: usize, out: &mut Vec<u8>) {
        out[start] |= 1;
        out.resize(start + used + 10 * self.values.len(), 0);
        let room = &mut out[start..];
        let end = self.values.iter().fold(used, |used, value| put(folded(*value), room, used));
        out.truncate(start + end);
    }

    /// Reads a state of this many threads back, reusing its memory. The bytes come from
    /// [`State::pack`]; others give some other state, or `None`.
    #[inline]
    pub fn unpack(&mut self, threads: usize, mut bytes: &[u8]) -> Option<()> {
        let small = self.unpack_control(threads, &mut bytes)?;
        if !small {
            self.values.clear();
            while !bytes.is_empty() {
                self.values.push(unfolded(take(&mut bytes)?));
            }
            return Some(());
        }
        self.values.resize(2 * bytes.len(), 0);
        for (pair, byte) in self.values.chunks_exact_mut(2).zip(bytes) {
            pair[0] = small_value(byte & 15);
            pair[1] = small_value(byte >> 4);
        }
        if bytes.last().is_some_and(|last| last >> 4 == NO_VALUE) {
            self.values.pop();
        }
        Some(())
    }

    /// Reads the control of a state and leaves the values in `bytes`; whether they are small.
    #[inline]
    fn unpack_control(&mut self, threads: usize, bytes: &mut &[u8]) -> Option<bool> {
        let first = take(bytes)?;
        self.global = u32::try_from(first >> 1).ok()?;
        self.locals.resize(threads, 0);
        for local in &mut self.locals {
            *local = u32::try_from(take(bytes)?).ok()?;
        }
        Some(first & 1 == 0)
    }
}

/// The value that half a byte stands for.
#[inline]
pub(crate) fn small_value(half_byte: u8) -> i64 {
    i64::from(half_byte) - HALF_BYTE_ZERO
}

/// The half byte of a value, if it is small enough.
#[inline]
pub(crate) fn half_byte(value: i64) -> Option<u8> {
    u8::try_from(value.checked_add(HALF_BYTE_ZERO)?).ok().filter(|half_byte| *half_byte < NO_VALUE)
}

/// Writes values as half bytes; whether all are small enough.
#[inline]
fn put_small(values: &[i64], room: &mut [u8]) -> bool {
    let half_byte = |value: i64| value.wrapping_add(HALF_BYTE_ZERO) as u64;
    let (pairs, odd) = values.as_chunks::<2>();
    let mut large = false;
    for (byte, [first, second]) in room.iter_mut().zip(pairs) {
        let (low, high) = (half_byte(*first), half_byte(*second));
        large |= low >= u64::from(NO_VALUE) || high >= u64::from(NO_VALUE);
        *byte = (low | high << 4) as u8;
    }
    if let ([last], Some(byte)) = (odd, room.get_mut(pairs.len())) {
        large |= half_byte(*last) >= u64::from(NO_VALUE);
        *byte = half_byte(*last) as u8 | NO_VALUE << 4;
    }
    !large
}

/// Small numbers of either sign as small numbers: 0, -1, 1, -2, …
#[inline]
fn folded(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

#[inline]
fn unfolded(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// The word whose first bytes these are, at most 16, and whose others are zero. Words are moved without a call.
#[inline]
pub fn short_word(bytes: &[u8]) -> u128 {
    let length = bytes.len() as u32;
    if let (Some(low), Some(high)) = (bytes.first_chunk(), bytes.last_chunk()) {
        let (low, high) = (u64::from_le_bytes(*low), u64::from_le_bytes(*high));
        return u128::from(low) | u128::from(high).wrapping_shl(8 * length - u64::BITS);
    }
    if let (Some(low), Some(high)) = (bytes.first_chunk(), bytes.last_chunk()) {
        let (low, high) = (u32::from_le_bytes(*low), u32::from_le_bytes(*high));
        return (u64::from(low) | u64::from(high).wrapping_shl(8 * length - u32::BITS)).into();
    }
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u128::from(*byte))
}

/// Writes a number at a position; returns the position behind it.
#[inline]
pub fn put(mut value: u64, room: &mut [u8], mut at: usize) -> usize {
    while value >= 0x80 {
        room[at] = value as u8 | 0x80;
        value >>= 7;
        at += 1;
    }
    room[at] = value as u8;
    at + 1
}

/// Reads a number from the beginning.
#[inline]
pub(crate) fn take(bytes: &mut &[u8]) -> Option<u64> {
    let (&first, rest) = bytes.split_first()?;
    *bytes = rest;
    if first < 0x80 {
        return Some(u64::from(first));
    }
    let mut value = u64::from(first & 0x7f);
    let mut shift = 7;
    loop {
        let (&digit, rest) = bytes.split_first()?;
        *bytes = rest;
        if shift > 63 || (shift == 63 && digit > 1) {
            return None;
        }
        value |= u64::from(digit & 0x7f) << shift;
        if digit < 0x80 {
            return Some(value);
        }
        shift += 7;
    }
}
