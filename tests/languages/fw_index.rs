//! The index of names: every use leads to its declaration, in texts with and without errors.

use frontend::{Options, SymbolKind, index};

/// The declaration that the n-th occurrence of a word leads to: kind, detail, and its place.
fn meaning(text: &str, word: &str, occurrence: usize) -> Option<(SymbolKind, String, usize)> {
    let (at, _) = text.match_indices(word).nth(occurrence).expect("the word is there");
    let index = index(text, &Options::default());
    let (symbol, span) = index.at(at)?;
    let symbol = &index.symbols[symbol];
    assert_eq!(&text[span.start as usize..span.end as usize], symbol.name, "the span is the name");
    Some((symbol.kind, symbol.detail.clone(), symbol.span.start as usize))
}

fn check(text: &str, word: &str, occurrence: usize, declared: usize, kind: SymbolKind) {
    let (expected, _) = text.match_indices(word).nth(declared).expect("the word is there");
    let found = meaning(text, word, occurrence);
    assert!(
        matches!(&found, Some((k, _, at)) if *k == kind && *at == expected),
        "{word} #{occurrence}: {found:?}"
    );
}

const PETERSON: &str = "\
const N = 1 + 1, M = N * N;
shared flag[N], turn = any in 0..N;
fn other(k) { let r = 1; inner: r = r - k; return r; }
thread P(i in 0..N) {
    let tries;
    again: flag[i] = (tries);
    if (turn == i) { let z; z = 1; } else { let z; z = 2; }
    tries = other(i);
    cs: goto again;
}
never P0@cs && P[1]@cs && P0.tries == 0 && P1.k == turn;
for q in 0..N { never P[q]@again; }
";

#[test]
fn every_use_leads_to_its_declaration() {
    use SymbolKind::*;
    for use_of_n in [1, 2, 3, 4, 5] {
        check(PETERSON, "N", use_of_n, 0, Constant);
    }
    check(PETERSON, "flag", 1, 0, Variable);
    check(PETERSON, "turn", 2, 0, Variable);
    check(PETERSON, "turn", 3, 0, Variable);
    check(PETERSON, "other", 1, 0, Function);
    check(PETERSON, "tries", 1, 0, Register);
    check(PETERSON, "tries", 3, 0, Register);
    check(PETERSON, "again", 1, 0, Label);
    check(PETERSON, "again", 2, 0, Label);
    check(PETERSON, "cs", 1, 0, Label);
    check(PETERSON, "cs", 2, 0, Label);
}

#[test]
fn blocks_have_their_own_registers() {
    let declared: Vec<usize> = PETERSON.match_indices("z;").map(|(at, _)| at).collect();
    let used: Vec<usize> = (0..2).map(|at| meaning(PETERSON, "z =", at).expect("it is declared").2).collect();
    assert_eq!(used, declared);
}

#[test]
fn members_of_a_family_are_uses_of_its_name_only() {
    let index = index(PETERSON, &Options::default());
    let family = index.symbols.iter().position(|s| s.kind == SymbolKind::Thread).expect("a thread");
    let places = index.places(family);
    assert_eq!(places.len(), 6, "{places:?}");
    assert!(places.iter().all(|span| span.end - span.start == 1));
}

#[test]
fn constants_have_values_that_can_be_set_from_outside() {
    let values = |options: &Options| -> Vec<String> {
        let index = index(PETERSON, options);
        index.symbols.iter().filter_map(|s| s.value.as_ref()).map(ToString::to_string).collect()
    };
    assert_eq!(values(&Options::default()), ["2", "4"]);
    let three = Options { defines: vec![("N".to_string(), 3.into())], ..Options::default() };
    assert_eq!(values(&three), ["3", "9"]);
}

#[test]
fn texts_with_errors_have_an_index() {
    let text = "shared x; thread P { x = ; here: x = 1; goto here; never";
    check(text, "x", 2, 0, SymbolKind::Variable);
    check(text, "here", 1, 0, SymbolKind::Label);
    for cut in 0..PETERSON.len() {
        let index = index(&PETERSON[..cut], &Options::default());
        for byte in 0..=cut + 1 {
            let _ = index.at(byte);
        }
    }
    assert!(index("\0", &Options::default()).symbols.is_empty());
}
