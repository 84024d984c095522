//! Source texts and spans in them.

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

/// A program text, with the starts of its lines.
#[derive(Clone, Debug, Default)]
pub struct Source {
    name: String,
    text: String,
    lines: Vec<usize>,
}

impl Source {
    /// A source text under the name it is reported with.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Source {
        let text = text.into();
        let newlines = text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(at, _)| at + 1);
        let lines = std::iter::once(0).chain(newlines).collect();
        Source { name: name.into(), text, lines }
    }

    /// The name the text is reported with.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The line (from 1) on which a span starts, if it stands in this text.
    pub fn line(&self, span: Span) -> Option<usize> {
        let start = span.start as usize;
        let inside = !span.is_none() && start <= self.text.len();
        inside.then(|| self.lines.partition_point(|&line| line <= start))
    }

    /// The text of a span, with line breaks and runs of blanks folded; empty if it stands nowhere.
    pub fn snippet(&self, span: Span) -> String {
        let piece = self.text.get(span.start as usize..span.end as usize).unwrap_or("");
        piece.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
