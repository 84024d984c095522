//! Tokens of C.

use frontend::inside::c_tokens as tokens;
use program::Span;

fn check(text: &str, expected: &[&str]) {
    let found = tokens(text, 0, None).expect("tokens");
    assert_eq!(found.iter().map(|t| &*t.text).collect::<Vec<_>>(), expected);
}

#[test]
fn tokens_are_as_long_as_can_be() {
    check("a+++++b->c", &["a", "++", "++", "+", "b", "->", "c"]);
    check("0x1p-3 .5e+7f 1..2", &["0x1p-3", ".5e+7f", "1..2"]);
    check("L'a' u8\"x\\\"y\" $v", &["L'a'", "u8\"x\\\"y\"", "$v"]);
    check("<: %> a/**/b // c\n d", &["[", "}", "a", "b", "d"]);
    check("in\\\nt x\\\r\n;", &["int", "x", ";"]);
    check("'", &["'"]);
}

#[test]
fn spans_cover_what_is_written() {
    let found = tokens("  in\\\nt x", 0, None).expect("tokens");
    assert_eq!(found[0].span, Span::new(2, 7));
    assert!(found[0].first && !found[1].first);
    assert!(tokens("/* x", 0, None).is_err());
}
