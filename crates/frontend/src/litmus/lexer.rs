//! Words and signs of a litmus test, after its header. Comments are `(* … *)` and nest.

use crate::Diagnostic;
use program::{Int, Span};

/// What a token is. Signs are kept as text, `/\` and `=>` as one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LitmusToken<'a> {
    /// A name: letters, digits, `_` and `.`, not starting with a digit.
    Word(&'a str),
    /// A number, decimal or hexadecimal.
    Number(Int),
    /// Anything else.
    Sign(&'a str),
}

/// Numbers longer than this are refused: no register holds them.
const MAX_DIGITS: usize = 80;

const SIGNS: &str = "{}()[]<>;|,:=~$%&*+-";
const LONG_SIGNS: [&str; 5] = ["/\\", "\\/", "=>", "<<", ">>"];

/// The tokens of `text` from `start` on, with their spans in the whole text.
pub fn tokens(text: &str, start: usize) -> Result<Vec<(LitmusToken<'_>, Span)>, Diagnostic> {
    let mut found = Vec::new();
    let mut at = start;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let first = rest.chars().next().unwrap_or(' ');
        let length = if rest.starts_with("(*") {
            at = skip_comment(text, at)?;
            continue;
        } else if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        } else if first.is_ascii_digit() {
            rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len())
        } else if is_word_char(first) {
            rest.find(|c| !is_word_char(c)).unwrap_or(rest.len())
        } else if let Some(sign) = LONG_SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            sign.len()
        } else if SIGNS.contains(first) {
            first.len_utf8()
        } else {
            let span = Span::new(at, at + first.len_utf8());
            let error = Diagnostic::error(span, format!("`{first}` means nothing in a litmus test"));
            return Err(error.hint("remarks are written `(* … *)`"));
        };
        let (piece, span) = (&rest[..length], Span::new(at, at + length));
        let token = if first.is_ascii_digit() {
            LitmusToken::Number(number(piece, span)?)
        } else if is_word_char(first) {
            LitmusToken::Word(piece)
        } else {
            LitmusToken::Sign(piece)
        };
        found.push((token, span));
        at += length;
    }
    Ok(found)
}

fn is_word_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '.'
}

fn number(piece: &str, span: Span) -> Result<Int, Diagnostic> {
    let (digits, radix) = match piece.strip_prefix("0x").or_else(|| piece.strip_prefix("0X")) {
        Some(digits) => (digits, 16),
        None => (piece, 10),
    };
    if digits.len() > MAX_DIGITS {
        return Err(Diagnostic::error(span, "this number is too long for any register"));
    }
    let value = Int::parse_bytes(digits.as_bytes(), radix);
    value.ok_or_else(|| Diagnostic::error(span, format!("`{piece}` is not a number")))
}

/// The position after the comment that starts at `start`.
pub(super) fn skip_comment(text: &str, start: usize) -> Result<usize, Diagnostic> {
    let bytes = text.as_bytes();
    let (mut at, mut depth) = (start, 0usize);
    while at + 1 < bytes.len() {
        match &bytes[at..at + 2] {
            b"(*" => (depth, at) = (depth + 1, at + 2),
            b"*)" => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return Ok(at);
        }
    }
    Err(Diagnostic::error(Span::new(start, start + 2), "this comment does not end")
        .hint("close it with `*)`"))
}

/// A walk over tokens.
#[derive(Clone, Debug)]
pub(super) struct Cursor<'t, 'a> {
    tokens: &'t [(LitmusToken<'a>, Span)],
    at: usize,
    /// Where the tokens end, for messages about what is missing there.
    end: Span,
}

impl<'t, 'a> Cursor<'t, 'a> {
    pub(super) fn new(tokens: &'t [(LitmusToken<'a>, Span)], end: Span) -> Cursor<'t, 'a> {
        Cursor { tokens, at: 0, end }
    }

    pub(super) fn peek(&self) -> Option<&'t LitmusToken<'a>> {
        self.peek_at(0)
    }

    pub(super) fn peek_at(&self, ahead: usize) -> Option<&'t LitmusToken<'a>> {
        self.tokens.get(self.at + ahead).map(|(token, _)| token)
    }

    pub(super) fn done(&self) -> bool {
        self.at >= self.tokens.len()
    }

    /// The span of the next token.
    pub(super) fn span(&self) -> Span {
        self.tokens.get(self.at).map_or(self.end, |(_, span)| *span)
    }

    /// The span from a token that was met before up to the last one taken.
    pub(super) fn since(&self, start: Span) -> Span {
        match self.at.checked_sub(1).and_then(|at| self.tokens.get(at)) {
            Some((_, last)) if last.start >= start.start => start.to(*last),
            _ => start,
        }
    }

    /// Takes the next token.
    pub(super) fn skip(&mut self) {
        self.at += 1;
    }

    /// Takes the sign if it is next.
    pub(super) fn sign(&mut self, sign: &str) -> bool {
        let met = matches!(self.peek(), Some(LitmusToken::Sign(s)) if *s == sign);
        self.at += usize::from(met);
        met
    }

    /// Takes the word if it is next, in any case.
    pub(super) fn keyword(&mut self, word: &str) -> bool {
        let met = matches!(self.peek(), Some(LitmusToken::Word(w)) if w.eq_ignore_ascii_case(word));
        self.at += usize::from(met);
        met
    }

    pub(super) fn expect(&mut self, sign: &str) -> Result<(), Diagnostic> {
        if self.sign(sign) { Ok(()) } else { Err(self.unexpected(&format!("`{sign}`"))) }
    }

    pub(super) fn word(&mut self, what: &str) -> Result<(&'a str, Span), Diagnostic> {
        match self.peek() {
            Some(LitmusToken::Word(word)) => {
                let span = self.span();
                self.at += 1;
                Ok((word, span))
            }
            _ => Err(self.unexpected(what)),
        }
    }

    /// A number with an optional minus sign.
    pub(super) fn integer(&mut self) -> Result<Int, Diagnostic> {
        let negative = self.sign("-");
        match self.peek() {
            Some(LitmusToken::Number(value)) => {
                self.at += 1;
                Ok(if negative { -value } else { value.clone() })
            }
            _ => Err(self.unexpected("a number")),
        }
    }

    /// What stands between signs `;`, up to a closing sign.
    pub(super) fn list(
        &mut self,
        close: &str,
        mut item: impl FnMut(&mut Self) -> Result<(), Diagnostic>,
    ) -> Result<(), Diagnostic> {
        while !self.sign(close) {
            if self.sign(";") {
                continue;
            }
            item(self)?;
            if !matches!(self.peek(), Some(LitmusToken::Sign(sign)) if [";", close].contains(sign)) {
                return Err(self.unexpected(&format!("`;` or `{close}`")));
            }
        }
        Ok(())
    }

    /// An error that says what was wanted here.
    pub(super) fn unexpected(&self, wanted: &str) -> Diagnostic {
        let found = match self.peek() {
            Some(LitmusToken::Word(text) | LitmusToken::Sign(text)) => format!("`{text}`"),
            Some(LitmusToken::Number(value)) => format!("`{value}`"),
            None => "the end".to_string(),
        };
        Diagnostic::error(self.span(), format!("expected {wanted}, found {found}"))
    }
}
