//! What travels between workers.

use workers::inside::{Content, Parcel, sorted};

fn parcel(from: u32, number: u32, last: bool) -> Parcel {
    Parcel { round: 0, from, to: 0, number, last, content: Content(vec![from as u8, number as u8]) }
}

#[test]
fn only_whole_rounds_count() {
    let all = [parcel(1, 0, true), parcel(0, 1, false), parcel(0, 2, true), parcel(0, 0, false)];
    assert_eq!(sorted(all.to_vec(), 2), Some(vec![(0, vec![0, 0]), (0, vec![0, 1])]));
    assert_eq!(sorted(all.to_vec(), 3), None);
    for missing in 0..all.len() {
        let mut some = all.to_vec();
        some.remove(missing);
        assert_eq!(sorted(some, 2), None, "without {missing}");
    }
}
