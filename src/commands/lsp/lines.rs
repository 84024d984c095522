//! Places in a text as the protocol counts them: lines from 0, and in a line the 16-bit units
//! that UTF-16 would need. We count bytes. Lines end with `\n`, `\r\n` or `\r`. Marks at every
//! thousandth byte make long lines as quick as short ones.

use crate::commands::fence::difference;
use crate::report::SpanEdit;
use program::Span;
use serde::{Deserialize, Serialize};

/// A place between two characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Position {
    /// The line, from 0.
    pub line: u32,
    /// 16-bit units before it on the line.
    pub character: u32,
}

/// From one place to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LspRange {
    /// Where it starts.
    pub start: Position,
    /// Where it ends.
    pub end: Position,
}

impl LspRange {
    /// Whether the two share a place, be it their ends.
    pub fn touches(&self, other: &LspRange) -> bool {
        self.start <= other.end && other.start <= self.end
    }
}

/// A change of a text: a piece of it becomes another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextEdit {
    /// The piece.
    pub range: LspRange,
    /// What it becomes.
    #[serde(rename = "newText")]
    pub text: String,
}

/// Bytes between two marks.
const BLOCK: usize = 1024;

/// A text with the starts of its lines.
#[derive(Clone, Debug)]
pub struct IndexedText {
    text: String,
    starts: Vec<usize>,
    /// The 16-bit units before every [`BLOCK`] bytes.
    marks: Vec<usize>,
}

impl IndexedText {
    /// A text.
    pub fn new(text: String) -> IndexedText {
        let starts = line_starts(&text);
        let mut marks = vec![0];
        for block in text.as_bytes().chunks(BLOCK) {
            marks.push(marks[marks.len() - 1] + units(block));
        }
        IndexedText { text, starts, marks }
    }

    /// As a string.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The byte at a position; positions beyond a line or the text mean its end, and one
    /// inside a character the start of it.
    pub fn byte(&self, position: Position) -> usize {
        let Some(start) = self.starts.get(position.line as usize) else { return self.text.len() };
        let end = start + self.line(position.line as usize).len();
        let wanted = self.units_before(*start).saturating_add(position.character as usize);
        let block = self.marks.partition_point(|mark| *mark <= wanted).saturating_sub(1);
        let mut byte = (block * BLOCK).clamp(*start, end);
        let mut passed = self.units_before(byte);
        // A character counts with its first byte, so its other bytes follow for free.
        while byte < end && passed + units(&self.text.as_bytes()[byte..=byte]) <= wanted {
            passed += units(&self.text.as_bytes()[byte..=byte]);
            byte += 1;
        }
        self.boundary(byte)
    }

    /// The 16-bit units before a byte.
    fn units_before(&self, byte: usize) -> usize {
        let block = byte / BLOCK;
        self.marks[block] + units(&self.text.as_bytes()[block * BLOCK..byte])
    }

    /// The start of the character that a byte belongs to.
    fn boundary(&self, mut byte: usize) -> usize {
        byte = byte.min(self.text.len());
        while !self.text.is_char_boundary(byte) {
            byte -= 1;
        }
        byte
    }

    /// The position of a byte; one inside a character means the start of it.
    pub fn position(&self, byte: usize) -> Position {
        let byte = self.boundary(byte);
        let line = self.starts.partition_point(|start| *start <= byte).saturating_sub(1);
        let units = self.units_before(byte) - self.units_before(self.starts[line]);
        let clamp = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        Position { line: clamp(line), character: clamp(units) }
    }

    /// The range of a span; what stands nowhere is told at the first line.
    pub fn range(&self, span: Span) -> LspRange {
        if span.is_none() || span.start > span.end {
            return LspRange { start: Position::default(), end: self.position(self.line(0).len()) };
        }
        LspRange { start: self.position(span.start as usize), end: self.position(span.end as usize) }
    }

    /// The bytes of the line that a byte stands on, with its end.
    pub fn line_around(&self, byte: usize) -> std::ops::Range<usize> {
        let next = self.starts.partition_point(|start| *start <= byte);
        let end = self.starts.get(next).copied().unwrap_or(self.text.len() + 1);
        self.starts[next.saturating_sub(1)]..end
    }

    /// All of it.
    pub fn whole(&self) -> LspRange {
        LspRange { start: Position::default(), end: self.position(self.text.len()) }
    }

    /// A line without its end; empty if there is none.
    pub fn line(&self, line: usize) -> &str {
        let Some(start) = self.starts.get(line) else { return "" };
        let end = self.starts.get(line + 1).copied().unwrap_or(self.text.len());
        self.text[*start..end].trim_end_matches(['\r', '\n'])
    }

    /// The text with a piece replaced, or all of it.
    pub fn replaced(&self, range: Option<LspRange>, with: &str) -> IndexedText {
        let Some(range) = range else { return IndexedText::new(with.to_string()) };
        let start = self.byte(range.start);
        let end = self.byte(range.end).max(start);
        IndexedText::new([&self.text[..start], with, &self.text[end..]].concat())
    }

    /// Edits that turn this text into another: line by line if both have as many, else one.
    pub fn edits_to(&self, new: &str) -> Vec<TextEdit> {
        let new = IndexedText::new(new.to_string());
        let span = |text: &IndexedText, line: usize| {
            text.starts[line]..text.starts.get(line + 1).copied().unwrap_or(text.text.len())
        };
        if self.starts.len() != new.starts.len() {
            return self.edit(0..self.text.len(), &new.text).into_iter().collect();
        }
        let lines = 0..self.starts.len();
        lines.filter_map(|line| self.edit(span(self, line), &new.text[span(&new, line)])).collect()
    }

    /// The smallest edit that turns a piece of the text into another; none if they are the same.
    fn edit(&self, bytes: std::ops::Range<usize>, new: &str) -> Option<TextEdit> {
        let old = &self.text[bytes.clone()];
        if old == new {
            return None;
        }
        let SpanEdit { span, text } = difference(old, new);
        let at = |byte: u32| self.position(bytes.start + byte as usize);
        Some(TextEdit { range: LspRange { start: at(span.start), end: at(span.end) }, text })
    }
}

/// The 16-bit units of the characters that start in some bytes of UTF-8.
fn units(bytes: &[u8]) -> usize {
    let of = |byte: &u8| usize::from(byte & 0xc0 != 0x80) + usize::from(*byte >= 0xf0);
    bytes.iter().map(of).sum()
}

fn line_starts(text: &str) -> Vec<usize> {
    let bytes = text.as_bytes();
    let ends = |at: &usize| match bytes[*at] {
        b'\n' => true,
        b'\r' => bytes.get(at + 1) != Some(&b'\n'),
        _ => false,
    };
    std::iter::once(0).chain((0..bytes.len()).filter(ends).map(|at| at + 1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(line: u32, character: u32) -> Position {
        Position { line, character }
    }

    #[test]
    fn positions_count_utf16_and_all_line_ends() {
        let text = IndexedText::new("a\r\nb😀c\rd\n".to_string());
        for (byte, position) in
            [(0, at(0, 0)), (3, at(1, 0)), (4, at(1, 1)), (8, at(1, 3)), (10, at(2, 0)), (12, at(3, 0))]
        {
            assert_eq!(text.position(byte), position, "byte {byte}");
            assert_eq!(text.byte(position), byte, "{position:?}");
        }
        assert_eq!(text.byte(at(1, 2)), 4, "inside a pair of units");
        assert_eq!(text.position(6), at(1, 1), "inside a character");
    }

    #[test]
    fn long_lines_of_any_characters_agree_with_counting() {
        let line = "aä😀漢 ".repeat(500);
        let text = IndexedText::new(format!("{line}\r\n{line}"));
        for (row, start) in [(0, 0), (1, line.len() + 2)] {
            let mut units = 0;
            for (at, character) in line.char_indices() {
                assert_eq!(text.position(start + at), Position { line: row, character: units });
                assert_eq!(text.byte(Position { line: row, character: units }), start + at);
                units += character.len_utf16() as u32;
            }
            assert_eq!(text.byte(Position { line: row, character: units + 7 }), start + line.len());
        }
    }

    #[test]
    fn positions_beyond_the_text_mean_its_end() {
        let text = IndexedText::new("ab\ncd".to_string());
        assert_eq!(text.byte(at(0, 99)), 2);
        assert_eq!(text.byte(at(u32::MAX, u32::MAX)), 5);
        assert_eq!(text.byte(at(1, u32::MAX)), 5);
        assert_eq!(text.position(usize::MAX), at(1, 2));
        assert_eq!(text.range(Span::NONE), LspRange { start: at(0, 0), end: at(0, 2) });
        let backwards = LspRange { start: at(1, 1), end: at(0, 1) };
        assert_eq!(text.replaced(Some(backwards), "X").as_str(), "ab\ncXd");
    }

    #[test]
    fn edits_give_the_other_text() {
        for (old, new, count) in [
            ("a;\nb;\n", "a; fence;\nb;\n", 1),
            ("a;\nb;\n", "a; f;\nb; f;\n", 2),
            ("a;\nb;", "a;\n  fence;\nb;", 1),
            ("äöü", "äü", 1),
            ("aa", "aaa", 1),
            ("x", "x", 0),
            ("", "x\n", 1),
        ] {
            let text = IndexedText::new(old.to_string());
            let edits = text.edits_to(new);
            assert_eq!(edits.len(), count, "{old:?} to {new:?}");
            let edited = edits.iter().rev().fold(text, |text, e| text.replaced(Some(e.range), &e.text));
            assert_eq!(edited.as_str(), new);
        }
    }
}
