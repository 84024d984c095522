//! Packed states, read without unpacking them.

use machine::inside::{PackedValues, number_at, ones, put};

#[test]
fn words_are_read_from_any_number_of_bytes() {
    let bytes: Vec<u8> = (1..=40).collect();
    for length in 0..=40 {
        let values = PackedValues::new(&bytes[..length]);
        for from in 0..2 * length {
            let count = (2 * length - from).min(32);
            let half_byte = |at: usize| u128::from(bytes[at / 2] >> (4 * (at % 2)) & 15);
            let expected = (from..from + count).rev().fold(0, |word, at| word << 4 | half_byte(at));
            assert_eq!(values.half_bytes(from) & ones(count), expected, "{count} of {length} from {from}");
        }
    }
}

#[test]
fn numbers_are_read_as_they_are_written() {
    let mut room = [0; 64];
    let numbers = [0, 1, 127, 128, 300, 16_383, 16_384, u32::MAX];
    let end = numbers.iter().fold(0, |at, number| put((*number).into(), &mut room, at));
    let mut at = 0;
    for number in numbers {
        assert_eq!(number_at(&room[..end], &mut at), Some(number));
    }
    assert_eq!((at, number_at(&room[..end], &mut at)), (end, None));
    assert_eq!(number_at(&[0x80], &mut 0), None);
}
