//! Which worker has which shards.

use machine::{SHARDS, shards_of};

#[test]
fn every_shard_has_one_worker() {
    for workers in [1, 2, 3, 5, 64, 100] {
        let all: Vec<usize> = (0..workers).flat_map(|worker| shards_of(worker, workers)).collect();
        assert_eq!(all, (0..SHARDS).collect::<Vec<_>>());
    }
}
