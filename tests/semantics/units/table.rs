//! Tables of positions.

use machine::inside::PositionTable;

/// Spreads numbers over all bits, the way hashes are.
fn hash(number: u32) -> u64 {
    u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32)
}

/// A table of positions, each so many units behind the one before, with room for another.
fn table(count: u32, apart: u32) -> PositionTable {
    let size = PositionTable::default().size_for(count as usize + 1);
    let mut table = PositionTable::sized(size, 0);
    (0..count).for_each(|number| table.insert(hash(number), number * apart));
    table
}

#[test]
fn finds_what_was_added_while_positions_grow() {
    assert_eq!(PositionTable::default().first(hash(0)), None);
    assert_eq!(PositionTable::default().find(hash(0), |_| true), None);
    for apart in [1, 7, 400_000] {
        let table = table(10_000, apart);
        assert_eq!(table.count(), 10_000);
        let has = |number: u32| table.find(hash(number), |at| at == number * apart).is_some();
        assert!((0..10_000).all(has) && !(10_000..10_700).any(has));
        assert!(!table.is_full() && table.bytes() <= 10_000 * 8 + 64);
    }
}

/// Tags keep most states that are not meant from being looked at.
#[test]
fn tags_tell_hashes_apart() {
    let table = table(10_000, 1);
    let mut looked_at = 0;
    for number in 10_000..20_000 {
        table.find(hash(number), |_| {
            looked_at += 1;
            false
        });
    }
    assert!(looked_at < 100, "{looked_at}");
}

#[test]
fn growth_is_foreseen() {
    let mut table = PositionTable::default();
    for number in 0..5_000 {
        assert_eq!(table.is_full(), table.size_for(1) > table.size(), "at {number}");
        if table.is_full() {
            table = self::table(number, 1);
        }
        table.insert(hash(number), number);
    }
    let room = table.size() / 4 * 3 - table.count();
    assert!(table.size_for(room) == table.size() && table.size_for(room + 1) > table.size());
}

#[test]
fn tells_equal_hashes_apart_and_wraps_around() {
    for last in [0, u32::MAX - 1] {
        let mut table = PositionTable::sized(160, last);
        (0..100).for_each(|number| table.insert(u64::MAX, number));
        assert!(table.first(u64::MAX).is_some_and(|at| at < 100));
        assert!((0..100).all(|number| table.find(u64::MAX, |at| at == number) == Some(number)));
        assert_eq!(table.find(u64::MAX, |at| at == 100), None);
    }
}
