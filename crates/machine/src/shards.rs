//! States spread over shards by their hash.
//!
//! There are always the same number of shards, however many workers share them, and a worker's shards lie next to
//! each other.

use crate::state_hash;
use std::ops::Range;

/// How many shards there are.
pub const SHARDS: usize = 64;

/// The shard that a packed state belongs to. (Tables look at the other half of the hash.)
#[inline]
pub fn shard_of(packed: &[u8]) -> usize {
    shard_of_hash(state_hash(packed))
}

/// The shard of a packed state that has this hash.
#[inline]
pub fn shard_of_hash(hash: u64) -> usize {
    hash as usize % SHARDS
}

/// The shards of one of several workers.
pub fn shards_of(worker: usize, workers: usize) -> Range<usize> {
    SHARDS * worker / workers..SHARDS * (worker + 1) / workers
}
