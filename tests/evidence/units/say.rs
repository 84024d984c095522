//! How facts become sentences.

use evidence::inside::{PlaceFacts, SaidFact, SlotKind, VerbPhrase, sentences};
use std::collections::HashSet;

#[test]
fn names_of_which_the_same_is_true_share_a_sentence() {
    let of = |kind, name: &str, value: i64| SaidFact::Of(kind, name.to_string(), VerbPhrase::is(value));
    let facts = [
        of(SlotKind::Variable, "x", 1),
        of(SlotKind::Variable, "y", 2),
        of(SlotKind::Variable, "z", 1),
        of(SlotKind::Register, "r", 1),
        SaidFact::That("a < b".to_string()),
    ];
    assert_eq!(sentences(&facts), ["x and z are 1", "y is 2", "r is 1", "a < b"]);
    let place = PlaceFacts::new(&facts, &HashSet::from([facts[2].clone(), facts[4].clone()]));
    assert_eq!(place.besides, ["x is 1", "y is 2", "r is 1"]);
}
