//! Fences written into a text, which otherwise stays as it is.
//!
//! Each language turns [`Insertion`]s into [`Edits`]: pieces of text that go somewhere or
//! replace something. Nothing is parsed and printed again, so comments and layout stay. Whether
//! the new text means what it should is for the caller to see, by reading it.

use crate::Diagnostic;
use program::{Span, Strength};

/// A fence to write into a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Insertion {
    /// The statement it belongs to, as the program's edges name it.
    pub span: Span,
    /// Whether it goes before the statement instead of behind it.
    pub before: bool,
    /// What to write: a fence, or the statement's store as an exchange.
    pub strength: Strength,
}

/// Changes to a text.
#[derive(Debug, Default)]
pub struct Edits {
    pieces: Vec<(Span, String)>,
}

impl Edits {
    /// Writes something between what ends and what starts at a byte.
    pub fn insert(&mut self, at: u32, text: impl Into<String>) {
        self.replace(Span { start: at, end: at }, text);
    }

    /// Writes something in place of what is there.
    pub fn replace(&mut self, span: Span, text: impl Into<String>) {
        self.pieces.push((span, text.into()));
    }

    /// The text with all changes made; those at the same place in the order they were asked for.
    pub fn apply(mut self, text: &str) -> Result<String, Diagnostic> {
        self.pieces.sort_by_key(|(span, _)| span.start);
        let mut out = String::with_capacity(text.len() + 16 * self.pieces.len());
        let mut at = 0;
        for (span, piece) in &self.pieces {
            let clash = || Diagnostic::error(*span, "two changes meet in this place");
            out += text.get(at..span.start as usize).ok_or_else(clash)?;
            out += piece;
            at = span.end as usize;
        }
        out += text.get(at..).unwrap_or_default();
        Ok(out)
    }
}

/// The error for a fence that a language cannot express.
pub(crate) fn cannot_write(insertion: &Insertion, why: &str) -> Diagnostic {
    Diagnostic::error(insertion.span, format!("a fence cannot be written here: {why}"))
}

/// Where a line on its own can go behind what ends at a byte: at the end of that line if only
/// blanks or a remark follow there (`is_remark` tells), else right there.
pub(crate) fn line_end(text: &str, at: u32, is_remark: impl Fn(&str) -> bool) -> u32 {
    let rest = text.get(at as usize..).unwrap_or_default();
    let line = rest.split('\n').next().unwrap_or_default().trim_end();
    let quiet = line.trim().is_empty() || is_remark(line.trim());
    if quiet { at + line.len() as u32 } else { at }
}

/// A piece of text that is to go, with its whole line if nothing else is there, else with the blanks
/// before it.
pub(crate) fn with_line(text: &str, span: Span) -> Span {
    let (start, end) = (span.start as usize, span.end as usize);
    let before = text.get(..start).unwrap_or_default();
    let blanks = before.len() - before.trim_end_matches([' ', '\t']).len();
    let first = start - blanks;
    let rest = text.get(end..).unwrap_or_default();
    let behind = rest.len() - rest.trim_start_matches([' ', '\t', '\r']).len();
    let alone = (first == 0 || before[..first].ends_with('\n')) && rest[behind..].starts_with('\n');
    if alone { Span::new(first, end + behind + 1) } else { Span::new(first, end) }
}

/// The blanks that the line of a byte starts with.
pub(crate) fn indentation(text: &str, at: u32) -> &str {
    let before = text.get(..at as usize).unwrap_or_default();
    let line = &before[before.rfind('\n').map_or(0, |newline| newline + 1)..];
    &line[..line.len() - line.trim_start().len()]
}
