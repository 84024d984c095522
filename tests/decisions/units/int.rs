//! Integers of any size.

use logic::{Int, NotAnInteger};

#[test]
fn edges_of_the_machine_word_do_not_wrap() {
    let least = Int::from(i64::MIN);
    assert_eq!((-&least).to_string(), "9223372036854775808");
    assert_eq!(least.abs(), -&least);
    assert_eq!(least.div_floor(&Int::MINUS_ONE), -&least);
    assert_eq!(least.gcd(&Int::ZERO), -&least);
    assert_eq!((&least * &least).to_string(), "85070591730234615865843651857942052864");
    assert!(-&least > Int::from(i64::MAX));
    assert!(&least + &Int::MINUS_ONE < least);
    assert_eq!(-(-&least), least);
    assert_eq!(&least - &Int::ONE + Int::ONE, least);
}

#[test]
fn division_rounds_down_for_every_sign() {
    for (a, b, floor, ceil) in [(7, 2, 3, 4), (-7, 2, -4, -3), (7, -2, -4, -3), (-7, -2, 3, 4)] {
        assert_eq!(Int::from(a).div_floor(&Int::from(b)), Int::from(floor));
        assert_eq!(Int::from(a).div_ceil(&Int::from(b)), Int::from(ceil));
    }
    assert_eq!(Int::from(5).div_mod_floor(&Int::ZERO), (Int::ZERO, Int::from(5)));
}

#[test]
fn text_round_trips() {
    for text in ["0", "-17", "123456789012345678901234567890"] {
        assert_eq!(text.parse::<Int>().map(|n| n.to_string()), Ok(text.to_string()));
    }
    assert_eq!("1x".parse::<Int>(), Err(NotAnInteger));
}
