//! Places in a text as machines want them.

use super::diagnostics::range;
use program::{Source, Span};

/// From where to where, lines and columns from 1. Columns count UTF-16 units, as editors and
/// SARIF do; the end is the column behind the last character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextRegion {
    /// The first line.
    pub line: usize,
    /// The first column.
    pub column: usize,
    /// The last line.
    pub end_line: usize,
    /// The column behind the last.
    pub end_column: usize,
}

impl TextRegion {
    /// The place of a span; `None` if it stands nowhere in the text. For what stands in an included text it is where
    /// that is included.
    pub fn of(source: &Source, span: Span) -> Option<TextRegion> {
        let range = range(source, source.in_main(span))?;
        let (line, column) = position(source.text(), range.start);
        let (end_line, end_column) = position(source.text(), range.end);
        Some(TextRegion { line, column, end_line, end_column })
    }
}

fn position(text: &str, at: usize) -> (usize, usize) {
    let before = &text[..at];
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
    (line, before[start..].encode_utf16().count() + 1)
}

/// The text of a line, from 1.
pub fn line_text(source: &Source, line: usize) -> &str {
    source.text().lines().nth(line.saturating_sub(1)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_utf16_units_and_ends_stand_behind() {
        let source = Source::new("a.fw", "x\n𝔸 = ö;\ny\n");
        let place = |start, end| TextRegion::of(&source, Span::new(start, end));
        // Before: a newline, and one character of four bytes and two units.
        assert_eq!(place(2, 6), Some(TextRegion { line: 2, column: 1, end_line: 2, end_column: 3 }));
        assert_eq!(place(9, 12), Some(TextRegion { line: 2, column: 6, end_line: 2, end_column: 8 }));
        assert_eq!(place(0, 14), Some(TextRegion { line: 1, column: 1, end_line: 3, end_column: 2 }));
        assert_eq!(place(900, 901), None);
        assert_eq!(TextRegion::of(&source, Span::NONE), None);
        assert_eq!(line_text(&source, 3), "y");
    }
}
