//! Texts, their lines and what they include.

use program::{Source, Span};

#[test]
fn included_texts_have_lines_of_their_own() {
    let mut source = Source::new("a.fw", "one\ntwo");
    assert_eq!(source.include("b.fw", "three\nfour\n", Span::new(4, 5)), 8);
    let start = source.include("c.fw", "five", Span::new(9, 10));
    let place = |start: usize| source.place(Span::new(start, start + 1)).map(|line| line.to_string());
    let places = [0, 4, 8, 14, start].map(|at| place(at).unwrap_or_default());
    assert_eq!(places, ["1", "2", "1 of b.fw", "2 of b.fw", "1 of c.fw"]);
    assert_eq!(source.main(), "one\ntwo");
    assert_eq!(source.file(Span::new(9, 10)), ("b.fw", 8..19));
    assert_eq!(source.file(Span::new(start, start)), ("c.fw", start..start + 4));
    assert_eq!((source.main_line(Span::new(4, 5)), source.main_line(Span::new(9, 10))), (Some(2), None));
    assert_eq!(source.file(Span::NONE).0, "a.fw");
    assert_eq!(source.in_main(Span::new(start, start + 1)), Span::new(4, 5));
}

#[test]
fn lines_count_from_one_and_snippets_fold_blanks() {
    let source = Source::new("a.fw", "one\ntwo\n  three");
    assert_eq!(source.line(Span::new(0, 3)), Some(1));
    assert_eq!(source.line(Span::new(4, 5)), Some(2));
    assert_eq!(source.line(Span::new(8, 15)), Some(3));
    assert_eq!(source.line(Span::NONE), None);
    assert_eq!(source.snippet(Span::new(0, 15)), "one two three");
    assert_eq!(source.snippet(Span::NONE), "");
}
