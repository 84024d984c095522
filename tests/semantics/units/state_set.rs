//! Sets of packed states.

use machine::{CHUNK, Full, SHARDS, StateSet, shard_of};

#[test]
fn keeps_states_of_all_lengths_in_order_across_chunks() {
    let mut set = StateSet::new();
    let state = |n: usize| {
        let mut bytes = n.to_le_bytes().to_vec();
        bytes.resize(8 + (n * 37) % 3000, n as u8);
        bytes
    };
    let mut last = None;
    for n in 0..5000 {
        let (at, new) = set.insert(&state(n), last).expect("room");
        assert!(new);
        assert_eq!(set.insert(&state(n), None), Ok((at, false)));
        assert_eq!(set.link(at), last);
        last = Some(at);
    }
    assert_eq!(set.len(), 5000);
    assert!(set.iter().eq((0..5000).map(state)));
    assert!(!set.contains(&state(5000)));
    assert!(set.into_chunks().len() > 3, "the test must cross chunks");
}

#[test]
fn sets_of_shards_are_one_set() {
    let state = |n: usize| vec![n as u8; 1 + n % 200];
    for shards in [0..SHARDS, 7..9, 3..3] {
        let of_shard = |shard: usize| (0..255).map(state).filter(move |state| shard_of(state) == shard);
        let set = |shard: usize| {
            let mut set = StateSet::new();
            of_shard(shard).for_each(|state| assert!(set.insert(&state, None).expect("room").1));
            set
        };
        let mut all = StateSet::of_shards(shards.clone().map(set)).expect("room");
        let states: Vec<Vec<u8>> = shards.clone().flat_map(of_shard).collect();
        assert!(all.len() == states.len() && all.is_empty() == states.is_empty());
        assert!(all.iter().eq(&states));
        let has = |n: usize| all.contains(&state(n)) == shards.contains(&shard_of(&state(n)));
        assert!((0..255).all(has) && !all.contains(&state(255)));
        let growth = all.growth(1);
        let (at, new) = all.insert(&state(255), all.last()).expect("room");
        assert!(new && all.last() == Some(at) && all.get(at) == state(255));
        assert!(all.len() == states.len() + 1 && states.iter().all(|state| all.contains(state)));
        let (bytes, chunks) = (all.bytes(), all.into_chunks());
        let table_bytes = bytes - chunks.iter().map(Vec::capacity).sum::<usize>();
        assert!(table_bytes <= 8 * states.len() + 64 + growth);
    }
}

#[test]
fn refuses_what_does_not_fit() {
    let mut set = StateSet::new();
    assert_eq!(set.insert(&vec![1; CHUNK], None), Err(Full));
    assert_eq!(set.insert(&[], None), Err(Full));
    assert_eq!(set.first(), None);
}
