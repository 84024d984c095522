//! Numbers as people write them.

use evidence::{counted, grouped};

#[test]
fn thousands_are_set_apart() {
    let cases = [(0, "0"), (999, "999"), (1000, "1,000"), (123456, "123,456"), (1234567, "1,234,567")];
    for (number, expected) in cases {
        assert_eq!(grouped(number), expected);
    }
    assert_eq!(counted(1, "state"), "1 state");
    assert_eq!(counted(2000, "step"), "2,000 steps");
}
