//! Tokens of `.rmm` texts, and its macros.

use frontend::inside::{RmmTokenKind, rmm_tokens as tokens};

fn expand(text: &str) -> String {
    let tokens = tokens(text).expect("tokens").tokens;
    let word = |kind: &RmmTokenKind| match kind {
        RmmTokenKind::Word(word) | RmmTokenKind::Sign(word) => (*word).to_string(),
        RmmTokenKind::Register(name) => format!("${name}"),
        RmmTokenKind::Number(value) => value.to_string(),
    };
    tokens.iter().map(|token| word(&token.kind)).collect::<Vec<_>>().join(" ")
}

#[test]
fn macros_expand_at_token_level() {
    let text = "macro N() 2 endmacro macro at(p) [(p)+N()] endmacro macro two(a,b) a; at(b) endmacro";
    assert_eq!(expand(&format!("{text} two(x := 1, $q)")), "x := 1 ; [ ( $q ) + 2 ]");
    assert_eq!(expand(&format!("{text} two(at(1), (a,b))")), "[ ( 1 ) + 2 ] ; [ ( ( a , b ) ) + 2 ]");
}

#[test]
fn hostile_macros_are_refused() {
    assert!(tokens("macro a() a() endmacro a()").is_err());
    assert!(tokens("macro a(x) x x endmacro macro b(x) a(a(a(a(x)))) endmacro b(").is_err());
    let mut text = "macro m0(x) x x endmacro\n".to_string();
    for at in 1..40 {
        text += &format!("macro m{at}(x) m{}(x) m{}(x) endmacro\n", at - 1, at - 1);
    }
    assert!(tokens(&format!("{text} m39(z)")).is_err());
    let empty = text.replace("macro m0(x) x x endmacro", "macro m0(x) endmacro");
    assert!(tokens(&format!("{empty} m39(z)")).is_err());
    for bad in
        ["macro", "macro x", "macro x(", "macro x(a a", "macro x() y", "/* ", "$", "macro x() endmacro x"]
    {
        assert!(tokens(bad).is_err(), "{bad}");
    }
}
