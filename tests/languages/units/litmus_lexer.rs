//! Tokens of litmus tests.

use frontend::inside::{LitmusToken, litmus_tokens as tokens};
use program::Int;

#[test]
fn words_numbers_signs_and_nested_comments() {
    let text = "0:EAX=0x1f (* a (* b *) c *) /\\ [x];";
    let found = tokens(text, 0).expect("tokens");
    let kinds: Vec<_> = found.iter().map(|(token, _)| token.clone()).collect();
    let expected = [
        LitmusToken::Number(Int::from(0)),
        LitmusToken::Sign(":"),
        LitmusToken::Word("EAX"),
        LitmusToken::Sign("="),
        LitmusToken::Number(Int::from(31)),
        LitmusToken::Sign("/\\"),
        LitmusToken::Sign("["),
        LitmusToken::Word("x"),
        LitmusToken::Sign("]"),
        LitmusToken::Sign(";"),
    ];
    assert_eq!(kinds, expected);
    assert!(tokens("(* (* *)", 0).is_err());
    assert!(tokens("12z", 0).is_err());
    assert!(tokens("x # y", 0).is_err());
}
