//! What a worker finds who has all shards.
//!
//! Nothing has to be collected for others, so states are added a few at a time, which wait for memory together, as in
//! a search without rounds.

use super::shard::{Shard, StatePlace, TOGETHER};
use machine::{Full, Lookup, shard_of_hash, state_hash};
use std::hint::black_box;

/// States that were found, in order.
#[derive(Default)]
pub(super) struct OwnFound {
    /// Those of the states, and memory behind them.
    bytes: Vec<u8>,
    states: Vec<FoundState>,
    lookups: Vec<Lookup>,
}

struct FoundState {
    hash: u64,
    end: usize,
    parent: StatePlace,
}

impl OwnFound {
    pub(super) fn len(&self) -> usize {
        self.states.len()
    }

    /// Adds a state by writing its bytes behind the first ones of a vector, and telling where they end.
    #[inline]
    pub(super) fn push(&mut self, parent: StatePlace, pack: impl FnOnce(usize, &mut Vec<u8>) -> usize) {
        let start = self.states.last().map_or(0, |last| last.end);
        let end = pack(start, &mut self.bytes);
        self.states.push(FoundState { hash: state_hash(&self.bytes[start..end]), end, parent });
    }

    /// Adds a packed state.
    pub(super) fn push_packed(&mut self, parent: StatePlace, packed: &[u8]) {
        self.push(parent, |start, bytes| {
            bytes.truncate(start);
            bytes.extend_from_slice(packed);
            bytes.len()
        });
    }

    /// Bytes that shards will take at once if they have no room for another state.
    #[inline]
    pub(super) fn growth(&self, shards: &[Shard]) -> usize {
        let sets = self.states.iter().map(|state| &shards[shard_of_hash(state.hash)].states);
        sets.filter(|set| !set.has_room()).map(|set| set.growth(1)).sum()
    }

    /// Adds all states to their shards.
    pub(super) fn add_to(&mut self, shards: &mut [Shard]) -> Result<(), Full> {
        let OwnFound { bytes, states, lookups } = self;
        let shard = |state: &FoundState| shard_of_hash(state.hash);
        let mut start = 0;
        for states in states.chunks(TOGETHER) {
            let set = |state: &FoundState| &shards[shard(state)].states;
            black_box(states.iter().fold(0, |sum, state| sum ^ set(state).touch_table(state.hash)));
            lookups.clear();
            lookups.extend(states.iter().map(|state| set(state).look_by_hash(state.hash)));
            let looked_up = states.iter().zip(&*lookups);
            black_box(looked_up.clone().fold(0, |sum, (state, lookup)| sum ^ set(state).touch(lookup)));
            for (state, lookup) in looked_up {
                let packed = &bytes[std::mem::replace(&mut start, state.end)..state.end];
                let shard = &mut shards[shard(state)];
                if !shard.states.is_first(lookup, packed) {
                    shard.insert(*lookup, packed, state.parent)?;
                }
            }
        }
        states.clear();
        Ok(())
    }
}
