//! What lists and tables take when they double.

use engine::inside::Doubling;
use std::collections::HashMap;

#[test]
fn a_list_is_about_to_double_when_it_is_full() {
    let mut list: Vec<u64> = Vec::with_capacity(64);
    list.extend(0..60);
    assert_eq!((list.growth(4), list.growth(5)), (0, 2 * 64 * 8));
    let map: HashMap<u32, u32> = (0..100).map(|at| (at, at)).collect();
    let room = map.capacity() - map.len();
    assert_eq!(map.growth(room), 0);
    assert!(map.growth(room + 1) > 2 * 100 * 8);
}
