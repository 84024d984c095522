//! Records of states in chunks.

use machine::{CHUNK, push_record, record_at, record_number, record_place, records};

#[test]
fn records_of_any_length_read_back_and_garbage_is_none() {
    let states: Vec<Vec<u8>> = (1..60).map(|n| vec![n as u8; (n * n) % 400 + 1]).collect();
    let mut chunk = Vec::new();
    for (at, state) in states.iter().enumerate() {
        assert!(push_record(&mut chunk, at as u32, state).is_some());
    }
    assert_eq!(push_record(&mut chunk, 0, &vec![1; CHUNK]), None);
    assert_eq!(push_record(&mut chunk, 0, &[]), None);
    chunk.resize(CHUNK, 0);
    let read: Vec<(u32, Vec<u8>)> = records(&chunk).map(|(_, link, state)| (link, state.to_vec())).collect();
    assert!(read.into_iter().eq((0..).zip(states)));
    for (start, link, state) in records(&chunk) {
        let number = record_number(3, start);
        assert_eq!(record_place(number), (3, start));
        assert_eq!(record_at(&chunk, start), Some((link, state)));
    }
    assert_eq!(record_at(&[0xff; 9], 0), None);
    assert_eq!(record_at(&[0xff; 9], 7), None);
}
