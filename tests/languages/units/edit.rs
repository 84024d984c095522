//! Changes to texts.

use frontend::inside::Edits;
use program::Span;

#[test]
fn edits_keep_what_they_do_not_touch() {
    let mut edits = Edits::default();
    edits.insert(5, "!");
    edits.replace(Span::new(0, 1), "A");
    edits.insert(5, "?");
    assert_eq!(edits.apply("a b c d"), Ok("A b c!? d".to_string()));
    let mut clash = Edits::default();
    clash.replace(Span::new(0, 3), "x");
    clash.replace(Span::new(1, 2), "y");
    assert!(clash.apply("abc").is_err());
}
