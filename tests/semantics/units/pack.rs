//! States as bytes.

use machine::State;

fn packed(state: &State) -> Vec<u8> {
    let mut bytes = Vec::new();
    state.pack(&mut bytes);
    bytes
}

#[test]
fn packing_reads_back_at_the_edges() {
    let values = vec![0, 1, -1, 63, 64, -64, -65, i64::MAX, i64::MIN];
    let state = State { global: 3, locals: vec![0, 127, 128, u32::MAX], values };
    let bytes = packed(&state);
    let mut back = State::default();
    back.unpack(4, &bytes).expect("packed");
    assert_eq!(back, state);
    assert_eq!(back.unpack(4, &bytes[..3]), None);
    assert_eq!(back.unpack(1, &[0xff; 12]), None);
}

/// Values at the edge of what half a byte holds, in odd and even numbers, all have strings of their own.
#[test]
fn small_values_take_half_a_byte() {
    let mut all = std::collections::BTreeSet::new();
    let mut back = State::default();
    for count in 0..6usize {
        for changed in 0..=count {
            for value in [-3, -2, -1, 0, 7, 12, 13, 14, 15, 16] {
                let mut values = vec![13; count];
                if let Some(place) = values.get_mut(changed) {
                    *place = value;
                }
                let state = State { global: 0, locals: vec![5, 6], values };
                let bytes = packed(&state);
                back.unpack(2, &bytes).expect("packed");
                assert_eq!(back, state);
                if state.values.iter().all(|value| (-1..=13).contains(value)) {
                    assert_eq!(bytes.len(), 3 + count.div_ceil(2));
                }
                all.insert((state.values, bytes));
            }
        }
    }
    let strings: std::collections::BTreeSet<_> = all.iter().map(|(_, bytes)| bytes).collect();
    assert_eq!(strings.len(), all.len());
}
