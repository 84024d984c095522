//! Text to tokens. Blanks and comments go; what cannot start a token becomes one
//! [`TokenKind::Invalid`] token for the whole run of such characters, reported here, so that
//! the parser need not complain again.

use super::limits;
use super::sink::Sink;
use crate::Diagnostic;
use program::Span;

macro_rules! kinds {
    ($($name:ident $text:literal),* $(,)?) => {
        /// What a token is.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum TokenKind {
            Name,
            Keyword,
            Number,
            /// Words in quotes.
            Quoted,
            /// Already reported.
            Invalid,
            /// The end of the text.
            End,
            $($name),*
        }

        /// Signs, longer ones before their prefixes.
        const SIGNS: &[(&str, TokenKind)] = &[$(($text, TokenKind::$name)),*];

        impl TokenKind {
            /// How messages call it.
            pub fn describe(self) -> &'static str {
                match self {
                    TokenKind::Name => "a name",
                    TokenKind::Keyword => "a keyword",
                    TokenKind::Number => "a number",
                    TokenKind::Quoted => "words in quotes",
                    TokenKind::Invalid => "something unreadable",
                    TokenKind::End => "the end of the text",
                    $(TokenKind::$name => concat!("`", $text, "`")),*
                }
            }
        }
    };
}

kinds! {
    ShiftLeft "<<", ShiftRight ">>", Equal "==", NotEqual "!=", AtMost "<=", AtLeast ">=", AndAnd "&&", OrOr "||", DotDot "..",
    OpenParen "(", CloseParen ")", OpenBrace "{", CloseBrace "}", OpenBracket "[", CloseBracket "]",
    Semicolon ";", Comma ",", Colon ":", Assign "=", Less "<", Greater ">", Plus "+", Minus "-", Star "*",
    Slash "/", Percent "%", And "&", Or "|", Xor "^", Not "!", Dot ".", At "@", Question "?",
}

/// A token and where it stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct FwToken {
    pub kind: TokenKind,
    pub span: Span,
}

/// The tokens of a text; the last is [`TokenKind::End`].
pub(super) fn tokens(text: &str, sink: &mut Sink) -> Vec<FwToken> {
    tokens_from(text, 0, sink)
}

/// The same from a byte on.
pub(super) fn tokens_from(text: &str, start: usize, sink: &mut Sink) -> Vec<FwToken> {
    let mark = if text[start..].starts_with('\u{feff}') { 3 } else { 0 };
    let mut lexer = Lexer { text, at: start + mark, sink };
    let mut tokens = Vec::new();
    while let Some(token) = lexer.next_token() {
        tokens.push(token);
        if tokens.len() >= limits::TOKENS {
            let message = format!("the text has more than {} tokens", limits::TOKENS);
            lexer.sink.error(Diagnostic::error(token.span, message).hint("split the program"));
            lexer.sink.text_is_incomplete();
            break;
        }
    }
    tokens.push(FwToken { kind: TokenKind::End, span: Span::new(text.len(), text.len()) });
    tokens
}

struct Lexer<'a, 's> {
    text: &'a str,
    at: usize,
    sink: &'s mut Sink,
}

impl<'a> Lexer<'a, '_> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn next_token(&mut self) -> Option<FwToken> {
        if let Some(cut) = self.skip_blanks() {
            return Some(cut);
        }
        let rest = self.rest();
        let first = *rest.as_bytes().first()?;
        if first.is_ascii_alphabetic() || first == b'_' {
            let word = &rest[..word_length(rest)];
            let kind = if program::is_keyword(word) { TokenKind::Keyword } else { TokenKind::Name };
            return Some(self.take(kind, word.len()));
        }
        if first.is_ascii_digit() {
            return Some(self.number());
        }
        if first == b'"' {
            return Some(self.quoted());
        }
        match SIGNS.iter().find(|(sign, _)| rest.starts_with(sign)) {
            Some((sign, kind)) => Some(self.take(*kind, sign.len())),
            None => Some(self.invalid()),
        }
    }

    fn take(&mut self, kind: TokenKind, length: usize) -> FwToken {
        let start = self.at;
        self.at += length;
        FwToken { kind, span: Span::new(start, self.at) }
    }

    /// Skips blanks and comments; a comment that does not end takes the rest of the text.
    fn skip_blanks(&mut self) -> Option<FwToken> {
        loop {
            self.at = self.text.len() - self.rest().trim_start_matches([' ', '\t', '\r', '\n']).len();
            let rest = self.rest();
            if rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if let Some(comment) = rest.strip_prefix("/*") {
                match comment.find("*/") {
                    Some(length) => self.at += length + 4,
                    None => return Some(self.open_comment()),
                }
            } else {
                return None;
            }
        }
    }

    fn open_comment(&mut self) -> FwToken {
        let span = Span::new(self.at, self.at + 2);
        let error = Diagnostic::error(span, "this comment does not end").label("starts here");
        self.sink.error(error.hint("close it with `*/`; comments do not nest"));
        self.sink.text_is_incomplete();
        self.take(TokenKind::Invalid, self.rest().len())
    }

    fn number(&mut self) -> FwToken {
        let rest = self.rest();
        let length = word_length(rest);
        let digits = match hexadecimal(&rest[..length]) {
            Some(digits) => 2 + digits.bytes().take_while(u8::is_ascii_hexdigit).count(),
            None => rest.bytes().take_while(u8::is_ascii_digit).count(),
        };
        let span = Span::new(self.at, self.at + length);
        if length > digits || length == 2 && hexadecimal(rest).is_some() {
            let error = Diagnostic::error(span, "a number cannot be followed by letters");
            let hint = "numbers are decimal, or hexadecimal behind `0x`; names start with a letter or `_`";
            self.sink.error(error.hint(hint));
            return self.take(TokenKind::Invalid, length);
        }
        if digits > limits::DIGITS {
            let message = format!("this number has {digits} digits; {} are the limit", limits::DIGITS);
            self.sink.error(Diagnostic::error(span, message).hint("use a smaller number"));
            return self.take(TokenKind::Invalid, length);
        }
        self.take(TokenKind::Number, digits)
    }

    /// `"…"` on one line; `\\` before a sign takes its meaning away.
    fn quoted(&mut self) -> FwToken {
        let line = self.rest().lines().next().unwrap_or_default();
        let (mut length, mut escaped) = (1, false);
        for sign in line[1..].chars() {
            length += sign.len_utf8();
            if sign == '"' && !escaped {
                return self.take(TokenKind::Quoted, length);
            }
            escaped = sign == '\\' && !escaped;
        }
        let error = Diagnostic::error(Span::new(self.at, self.at + 1), "these words do not end");
        self.sink.error(error.hint("close them with `\"` on the same line"));
        self.take(TokenKind::Invalid, length)
    }

    /// One token for all characters up to the next that could start a token.
    fn invalid(&mut self) -> FwToken {
        let rest = self.rest();
        let stray = |c: char| {
            !c.is_ascii() || c.is_ascii_control() && !c.is_ascii_whitespace() || "#$'\\`~".contains(c)
        };
        let length = rest.find(|c: char| !stray(c)).unwrap_or(rest.len());
        let length = length.max(rest.chars().next().map_or(1, char::len_utf8));
        let first: String = rest.chars().take(1).flat_map(char::escape_debug).collect();
        let span = Span::new(self.at, self.at + length);
        let error = Diagnostic::error(span, format!("unexpected character `{first}`"));
        let hint = match rest.as_bytes().first() {
            Some(b'#') => "there is no preprocessor: write `const N = 2;`, and comments behind `//`",
            Some(first) if first.is_ascii() => "no sign of the language starts with it",
            _ => "outside comments, programs are written in plain ASCII",
        };
        self.sink.error(error.hint(hint));
        self.take(TokenKind::Invalid, length)
    }
}

/// What follows the `0x` of a number.
pub(super) fn hexadecimal(number: &str) -> Option<&str> {
    number.strip_prefix("0x").or_else(|| number.strip_prefix("0X"))
}

/// What stands between quotes.
pub(super) fn unquoted(quoted: &str) -> String {
    let inside = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(quoted);
    let mut words = String::with_capacity(inside.len());
    let mut signs = inside.chars();
    while let Some(sign) = signs.next() {
        words.extend(if sign == '\\' { signs.next() } else { Some(sign) });
    }
    words
}

/// Letters, digits and `_` at the start of a text.
fn word_length(text: &str) -> usize {
    text.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count()
}

/// Whether a text looks like `.fw`: after blanks and comments, it starts like a declaration.
pub(super) fn recognises(text: &str) -> bool {
    let mut sink = Sink::default();
    let mut lexer = Lexer { text, at: 0, sink: &mut sink };
    let Some(first) = lexer.next_token() else { return false };
    let name = lexer.next_token().map(|token| token.kind);
    let third = lexer.next_token().map(|token| token.kind);
    let opens = |kinds: &[TokenKind]| {
        name == Some(TokenKind::Name) && third.is_some_and(|kind| kinds.contains(&kind))
    };
    match &text[first.span.start as usize..first.span.end as usize] {
        "const" => opens(&[TokenKind::Assign]),
        "shared" => opens(&[
            TokenKind::Assign,
            TokenKind::Comma,
            TokenKind::Semicolon,
            TokenKind::OpenBracket,
            TokenKind::Name,
        ]),
        "thread" => opens(&[TokenKind::OpenBrace, TokenKind::OpenParen]),
        "fn" => opens(&[TokenKind::OpenParen]),
        _ => false,
    }
}
