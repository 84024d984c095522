//! States in chunks of bytes, as they lie in memory and in files.
//!
//! A record is a link to another state, the length, the bytes, padded to four. No record crosses the end of a chunk; in a
//! file, where all chunks are equally long, zeros follow the last record of a chunk, and no state is as short as that. A
//! state is named by where its record begins, counted in fours from the first chunk on.

use crate::pack::short_word;

/// How long a chunk is at most.
pub const CHUNK: usize = 1 << CHUNK_BITS;
pub(crate) const CHUNK_BITS: usize = 16;
pub(crate) const UNIT: usize = 4;
/// How many bytes the link takes.
const LINK: usize = 4;
/// The size of the record of a state of 16 bytes.
const SHORT: usize = 24;

/// How long the record of a state of this length is.
#[inline]
pub fn record_size(state: usize) -> usize {
    (LINK + length_size(state) + state).next_multiple_of(UNIT)
}

/// One byte below 128, three otherwise (16 bits hold any length within a chunk).
#[inline]
fn length_size(length: usize) -> usize {
    if length < 0x80 { 1 } else { 3 }
}

/// Adds a record to a chunk, if it fits; where it begins.
#[inline]
pub fn push_record(chunk: &mut Vec<u8>, link: u32, state: &[u8]) -> Option<usize> {
    let (start, end) = (chunk.len(), chunk.len() + record_size(state.len()));
    if end > CHUNK || state.is_empty() {
        return None;
    }
    if state.len() <= 16 && chunk.capacity() - start >= SHORT {
        // Most are that short: as many bytes are written each time, and what is too much is taken back.
        let mut record = [0; SHORT];
        record[..LINK].copy_from_slice(&link.to_le_bytes());
        record[LINK] = state.len() as u8;
        record[LINK + 1..LINK + 17].copy_from_slice(&short_word(state).to_le_bytes());
        chunk.extend_from_slice(&record);
        chunk.truncate(end);
        return Some(start);
    }
    chunk.extend_from_slice(&link.to_le_bytes());
    match state.len() {
        length @ ..0x80 => chunk.push(length as u8),
        length => chunk.extend([0x80, length as u8, (length >> 8) as u8]),
    }
    chunk.extend_from_slice(state);
    chunk.resize(end, 0);
    Some(start)
}

/// The link and the state of a record that was written; more may follow.
#[inline]
pub(crate) fn read_record(record: &[u8]) -> (u32, &[u8]) {
    let link = u32::from_le_bytes([record[0], record[1], record[2], record[3]]);
    let first = record[LINK] as usize;
    if first < 0x80 {
        return (link, &record[5..5 + first]);
    }
    let length = usize::from(u16::from_le_bytes([record[5], record[6]]));
    (link, &record[7..7 + length])
}

/// How long the state of a record that was written is.
#[inline]
pub(crate) fn record_length(record: &[u8]) -> usize {
    match record[LINK] {
        length @ ..0x80 => usize::from(length),
        _ => usize::from(u16::from_le_bytes([record[5], record[6]])),
    }
}

/// Whether this state is that of a record. What is stored is not read first: most states are short.
#[inline]
pub(crate) fn is_record_of(record: &[u8], state: &[u8]) -> bool {
    if state.len() >= 0x80 {
        return read_record(record).1 == state;
    }
    record[LINK] as usize == state.len() && are_equal(&record[5..5 + state.len()], state)
}

/// Whether bytes, equally many, are the same. Most are few: then two words that may overlap tell, without a call.
#[inline]
fn are_equal(a: &[u8], b: &[u8]) -> bool {
    let words = |bytes: &[u8]| Some((*bytes.first_chunk::<8>()?, *bytes.last_chunk::<8>()?));
    match a.len() {
        8..=16 => words(a) == words(b),
        _ => a == b,
    }
}

/// The link and the state of the record that begins somewhere in a chunk, if one does.
pub fn record_at(chunk: &[u8], start: usize) -> Option<(u32, &[u8])> {
    let record = chunk.get(start..)?;
    let length = match *record.get(LINK)? {
        0 => return None,
        length @ ..0x80 => usize::from(length),
        _ => usize::from(u16::from_le_bytes([*record.get(5)?, *record.get(6)?])),
    };
    (record.len() >= LINK + length_size(length) + length).then(|| read_record(record))
}

/// The records of a chunk: where each begins, its link and its state.
pub fn records(chunk: &[u8]) -> impl Iterator<Item = (usize, u32, &[u8])> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let (link, state) = record_at(chunk, start)?;
        let at = start;
        start += record_size(state.len());
        Some((at, link, state))
    })
}

/// The name of a state whose record begins there in this chunk.
#[inline]
pub fn record_number(chunk: usize, start: usize) -> u32 {
    (((chunk << CHUNK_BITS) + start) / UNIT) as u32
}

/// In which chunk a state lies, and where.
#[inline]
pub fn record_place(number: u32) -> (usize, usize) {
    let position = number as usize * UNIT;
    (position >> CHUNK_BITS, position & (CHUNK - 1))
}
