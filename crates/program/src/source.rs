//! Source texts and spans in them.

use std::fmt;
use std::ops::Range;

/// A range of bytes in a source text. [`Span::NONE`] marks what no text stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// No place in the text.
    pub const NONE: Span = Span { start: u32::MAX, end: u32::MAX };

    /// The bytes from `start` up to `end`. Front ends refuse texts of 4 GiB and more.
    pub fn new(start: usize, end: usize) -> Span {
        let clamp = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Span { start: clamp(start), end: clamp(end) }
    }

    /// The smallest span that covers both.
    pub fn to(self, other: Span) -> Span {
        match (self.is_none(), other.is_none()) {
            (true, _) => other,
            (_, true) => self,
            _ => Span { start: self.start.min(other.start), end: self.end.max(other.end) },
        }
    }

    /// The empty span right before this one.
    pub fn before(self) -> Span {
        Span { start: self.start, end: self.start }
    }

    /// The empty span right behind this one.
    pub fn behind(self) -> Span {
        Span { start: self.end, end: self.end }
    }

    /// Whether this is [`Span::NONE`].
    pub fn is_none(self) -> bool {
        self == Span::NONE
    }
}

/// A program text, with the starts of its lines. Texts that it includes stand behind it, so that a span says which of
/// them it is in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Source {
    name: String,
    text: String,
    lines: Vec<usize>,
    /// Included texts.
    included: Vec<IncludedText>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct IncludedText {
    name: String,
    /// Its first byte.
    start: usize,
    /// Where it is named.
    named: Span,
}

/// A line of a text; it reads like `4`, or like `4 of locks.fw` in a text that is included.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourceLine {
    /// From 1.
    pub number: usize,
    /// The included text.
    pub file: Option<String>,
}

impl fmt::Display for SourceLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.file {
            None => write!(f, "{}", self.number),
            Some(file) => write!(f, "{} of {file}", self.number),
        }
    }
}

impl Source {
    /// A source text under the name it is reported with.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Source {
        let text = text.into();
        let lines = line_starts(&text, 0).collect();
        Source { name: name.into(), text, lines, included: Vec::new() }
    }

    /// Puts a text behind what there is that is included at a place; where it starts.
    pub fn include(&mut self, name: impl Into<String>, text: &str, named: Span) -> usize {
        // On a line of its own, so that it has lines of its own.
        self.text.push('\n');
        let start = self.text.len();
        self.lines.extend(line_starts(text, start));
        self.text += text;
        self.included.push(IncludedText { name: name.into(), start, named });
        start
    }

    /// Whether other texts are included.
    pub fn includes(&self) -> bool {
        !self.included.is_empty()
    }

    /// The text without those that it includes.
    pub fn main(&self) -> &str {
        self.included.first().map_or(&self.text, |first| &self.text[..first.start - 1])
    }

    /// The included text that a span starts in, by number.
    fn included_text(&self, span: Span) -> Option<usize> {
        let at = self.included.partition_point(|text| text.start <= span.start as usize);
        at.checked_sub(1).filter(|_| !span.is_none())
    }

    /// The name and the bytes of the text that a span starts in.
    pub fn file(&self, span: Span) -> (&str, Range<usize>) {
        let Some(at) = self.included_text(span) else { return (&self.name, 0..self.main().len()) };
        let end = self.included.get(at + 1).map_or(self.text.len(), |next| next.start - 1);
        (&self.included[at].name, self.included[at].start..end)
    }

    /// The place itself, or where the text is included that it is in.
    pub fn in_main(&self, mut span: Span) -> Span {
        while let Some(at) = self.included_text(span) {
            span = self.included[at].named;
        }
        span
    }

    /// The name the text is reported with.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The line (from 1) on which a span starts, in the text that it stands in; nothing if it stands in none.
    pub fn line(&self, span: Span) -> Option<usize> {
        let start = span.start as usize;
        let inside = !span.is_none() && start <= self.text.len();
        let before = |at: usize| self.lines.partition_point(|&line| line <= at);
        inside.then(|| before(start) - before(self.file(span).1.start) + 1)
    }

    /// The same with the name of the text, if that is an included one.
    pub fn place(&self, span: Span) -> Option<SourceLine> {
        let number = self.line(span)?;
        let (name, bytes) = self.file(span);
        Some(SourceLine { number, file: (bytes.start > 0).then(|| name.to_string()) })
    }

    /// Where a span stands, to be put behind what is there: ` (line 9)`; nothing if it stands nowhere.
    pub fn line_behind(&self, span: Span) -> String {
        self.place(span).map(|line| format!(" (line {line})")).unwrap_or_default()
    }

    /// The line of a span that does not stand in an included text.
    pub fn main_line(&self, span: Span) -> Option<usize> {
        self.place(span).filter(|line| line.file.is_none()).map(|line| line.number)
    }

    /// The text of a span, with line breaks and runs of blanks folded; empty if it stands nowhere.
    pub fn snippet(&self, span: Span) -> String {
        let piece = self.text.get(span.start as usize..span.end as usize).unwrap_or("");
        piece.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// Where the lines of a text start that begins at a byte.
fn line_starts(text: &str, start: usize) -> impl Iterator<Item = usize> {
    let newlines = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
    std::iter::once(start).chain(newlines.map(move |(at, _)| start + at + 1))
}
