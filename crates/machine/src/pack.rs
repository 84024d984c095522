//! States as short byte strings, for storing millions of them.
//!
//! All numbers are written in base 128, low digits first, the high bit meaning "more"; signed
//! values are zigzag folded first. So a small number, the usual case, is one byte, and reading
//! has a short way where all are small. How many values follow is known from the control, hence
//! equal states have equal strings and different states different ones.

use crate::State;

impl State {
    /// Appends the state's bytes.
    pub fn pack(&self, out: &mut Vec<u8>) {
        self.pack_as(self.global, &self.locals, out);
    }

    /// As [`State::pack`], with other numbers for its controls.
    #[inline]
    pub fn pack_as(&self, global: u32, locals: &[u32], out: &mut Vec<u8>) {
        // Room for the longest numbers, so that writing needs no look at the vector.
        let start = out.len();
        out.resize(start + 5 * (1 + locals.len()) + 10 * self.values.len(), 0);
        let room = &mut out[start..];
        let mut used = put(u64::from(global), room, 0);
        for local in locals {
            used = put(u64::from(*local), room, used);
        }
        for value in &self.values {
            used = put(folded(*value), room, used);
        }
        out.truncate(start + used);
    }

    /// Reads a state of this many threads back, reusing its memory. The bytes come from
    /// [`State::pack`]; others give some other state, or `None`.
    pub fn unpack(&mut self, threads: usize, mut bytes: &[u8]) -> Option<()> {
        self.values.clear();
        self.global = u32::try_from(take(&mut bytes)?).ok()?;
        self.locals.resize(threads, 0);
        for local in &mut self.locals {
            *local = u32::try_from(take(&mut bytes)?).ok()?;
        }
        if bytes.is_ascii() {
            self.values.extend(bytes.iter().map(|byte| unfolded(u64::from(*byte))));
            return Some(());
        }
        while !bytes.is_empty() {
            self.values.push(unfolded(take(&mut bytes)?));
        }
        Some(())
    }
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

/// Writes a number at a position; returns the position behind it.
#[inline]
fn put(mut value: u64, room: &mut [u8], mut at: usize) -> usize {
    while value >= 0x80 {
        room[at] = value as u8 | 0x80;
        value >>= 7;
        at += 1;
    }
    room[at] = value as u8;
    at + 1
}

#[inline]
fn take(bytes: &mut &[u8]) -> Option<u64> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packing_reads_back_at_the_edges() {
        let values = vec![0, 1, -1, 63, 64, -64, -65, i64::MAX, i64::MIN];
        let state = State { global: 3, locals: vec![0, 127, 128, u32::MAX], values };
        let mut bytes = Vec::new();
        state.pack(&mut bytes);
        let mut back = State::default();
        back.unpack(4, &bytes).expect("packed");
        assert_eq!(back, state);
        assert_eq!(back.unpack(4, &bytes[..3]), None);
        assert_eq!(back.unpack(1, &[0xff; 12]), None);
    }
}
