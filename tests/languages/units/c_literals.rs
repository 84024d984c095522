//! Numbers and characters as C writes them.

use frontend::inside::{character, number, string};

#[test]
fn numbers_have_values_and_suffixes() {
    let value = |text| number(text).map(|n| n.value);
    assert_eq!(value("0x1F"), Ok(31));
    assert_eq!(value("017"), Ok(15));
    assert_eq!(value("0"), Ok(0));
    assert_eq!(value("18446744073709551615u"), Ok(u64::MAX));
    assert!(value("18446744073709551616").is_err());
    assert!(value("1.5").is_err() && value("1e3").is_err() && value("09").is_err() && value("1x").is_err());
    assert!(number("5UL").is_ok_and(|n| n.unsigned && n.long));
}

#[test]
fn characters_have_values() {
    assert_eq!(character("'a'"), Some(97));
    assert_eq!(character("'\\n'"), Some(10));
    assert_eq!(character("'\\377'"), Some(-1));
    assert_eq!(character("L'\\x41'"), Some(65));
    assert_eq!(character("''"), None);
    assert_eq!(string("\"a\\0\""), Some(vec![97, 0]));
}
