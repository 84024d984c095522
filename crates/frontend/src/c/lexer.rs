//! A C text as preprocessing tokens.
//!
//! Lines that end in a backslash go on in the next one and remarks are blanks, wherever they stand;
//! a token's span covers its bytes in the file all the same. What is no token of C (`@`, a lone
//! quote) is a token of its own, because preprocessing may drop it.

use program::Span;
use std::iter::successors;
use std::rc::Rc;

/// The kinds of preprocessing tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Name,
    Number,
    Char,
    Text,
    Sign,
    /// What is no token of C.
    Other,
}

/// Where a token is written: a file and a byte there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    pub file: u16,
    pub span: Span,
}

/// A macro that a token came out of, and the place where that was called.
#[derive(Debug)]
pub struct Trail {
    pub name: Rc<str>,
    pub called: Written,
    pub outer: Option<Rc<Trail>>,
}

/// A token.
#[derive(Clone, Debug)]
pub struct Token {
    pub kind: Kind,
    pub text: Rc<str>,
    /// Where it is written.
    pub written: Written,
    /// The place in the main text that it stands for: itself, the macro call or the `#include`.
    pub span: Span,
    /// The macros it came from, innermost first.
    pub trail: Option<Rc<Trail>>,
    /// Whether blanks stand before it.
    pub blank: bool,
    /// Whether it is the first of its line.
    pub first: bool,
    /// Macros that must not be expanded in it any more.
    pub hidden: Option<Rc<Hidden>>,
}

/// A set of macro names, as a list.
#[derive(Debug)]
pub struct Hidden {
    pub name: Rc<str>,
    pub more: Option<Rc<Hidden>>,
}

impl Token {
    pub fn is(&self, sign: &str) -> bool {
        self.kind == Kind::Sign && &*self.text == sign
    }

    pub fn is_name(&self, name: &str) -> bool {
        self.kind == Kind::Name && &*self.text == name
    }

    pub fn hides(&self, name: &str) -> bool {
        hidden_names(&self.hidden).any(|hidden| &**hidden == name)
    }

    /// The macros it came from, innermost first.
    pub fn trails(&self) -> impl Iterator<Item = &Trail> {
        successors(self.trail.as_deref(), |trail| trail.outer.as_deref())
    }
}

/// The names in a set of them.
pub(super) fn hidden_names(hidden: &Option<Rc<Hidden>>) -> impl Iterator<Item = &Rc<str>> {
    successors(hidden.as_deref(), |hidden| hidden.more.as_deref()).map(|hidden| &hidden.name)
}

/// Signs, longest first.
const SIGNS: &[&str] = &[
    "%:%:", "...", "<<=", ">>=", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "*=",
    "/=", "%=", "+=", "-=", "&=", "^=", "|=", "##", "<:", ":>", "<%", "%>", "%:",
];
const SINGLE: &str = "[](){}.&*+-~!/%<>^|?:;=,#";

/// The tokens of a file. `inside` is what they stand for in the main text; the main text's own
/// stand for themselves.
pub fn tokens(text: &str, file: u16, inside: Option<Span>) -> Result<Vec<Token>, (Span, &'static str)> {
    CLexer { text, at: 0, file, inside }.all()
}

struct CLexer<'t> {
    text: &'t str,
    at: usize,
    file: u16,
    inside: Option<Span>,
}

fn starts_name(c: char) -> bool {
    c.is_alphabetic() || c == '_' || c == '$'
}

fn in_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

impl CLexer<'_> {
    fn all(mut self) -> Result<Vec<Token>, (Span, &'static str)> {
        let mut tokens = Vec::new();
        let mut first = true;
        loop {
            let (blank, newline) = self.skip_blanks()?;
            first |= newline;
            let start = self.at;
            if self.peek().is_none() {
                return Ok(tokens);
            }
            let (kind, text) = self.token();
            let span = Span::new(start, self.at);
            tokens.push(Token {
                kind,
                text: text.into(),
                written: Written { file: self.file, span },
                span: self.inside.unwrap_or(span),
                trail: None,
                blank,
                first,
                hidden: None,
            });
            first = false;
        }
    }

    /// Steps over backslashes at line ends.
    fn splice(&mut self) {
        while let Some(rest) = self.text[self.at..].strip_prefix('\\') {
            let blanks = rest.len() - rest.trim_start_matches([' ', '\t', '\r']).len();
            match rest[blanks..].starts_with('\n') {
                true => self.at += blanks + 2,
                false => return,
            }
        }
    }

    fn peek(&mut self) -> Option<char> {
        self.splice();
        self.text[self.at..].chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    /// Steps over a sign, if it is next.
    fn eat(&mut self, sign: &str) -> bool {
        let start = self.at;
        for wanted in sign.chars() {
            if self.peek() != Some(wanted) {
                self.at = start;
                return false;
            }
            self.at += wanted.len_utf8();
        }
        true
    }

    /// Whether there were blanks, and whether a line ended in them.
    fn skip_blanks(&mut self) -> Result<(bool, bool), (Span, &'static str)> {
        let (mut blank, mut newline) = (false, false);
        loop {
            let start = self.at;
            if self.eat("//") {
                while self.peek().is_some_and(|c| c != '\n') {
                    self.next();
                }
            } else if self.eat("/*") {
                while !self.eat("*/") {
                    if self.next().is_none() {
                        return Err((Span::new(start, start + 2), "this remark does not end"));
                    }
                }
            } else {
                match self.peek() {
                    Some('\n') => newline = true,
                    Some(c) if c.is_whitespace() || c == '\u{feff}' => {}
                    _ => return Ok((blank, newline)),
                }
                self.next();
            }
            blank = true;
        }
    }

    fn token(&mut self) -> (Kind, String) {
        let mut text = String::new();
        let start = self.at;
        let Some(c) = self.next() else { return (Kind::Other, text) };
        text.push(c);
        if starts_name(c) {
            self.take_while(&mut text, in_name);
            if matches!(&*text, "L" | "u" | "U" | "u8") && matches!(self.peek(), Some('"' | '\'')) {
                let quote = self.next().unwrap_or('"');
                text.push(quote);
                return self.quoted(quote, text);
            }
            return (Kind::Name, text);
        }
        let number = c.is_ascii_digit() || c == '.' && self.peek().is_some_and(|c| c.is_ascii_digit());
        if number {
            return self.number(text);
        }
        if c == '"' || c == '\'' {
            return self.quoted(c, text);
        }
        self.at = start;
        if let Some(sign) = SIGNS.iter().find(|sign| self.eat(sign)) {
            return (Kind::Sign, standard(sign).to_string());
        }
        self.next();
        (if SINGLE.contains(c) { Kind::Sign } else { Kind::Other }, text)
    }

    fn take_while(&mut self, text: &mut String, belongs: fn(char) -> bool) {
        while let Some(c) = self.peek().filter(|c| belongs(*c)) {
            text.push(c);
            self.next();
        }
    }

    fn number(&mut self, mut text: String) -> (Kind, String) {
        while let Some(c) = self.peek() {
            let exponent = text.ends_with(['e', 'E', 'p', 'P']);
            match c {
                '+' | '-' if exponent => {}
                _ if in_name(c) || c == '.' => {}
                _ => break,
            }
            text.push(c);
            self.next();
        }
        (Kind::Number, text)
    }

    /// A string or character; one that does not end in its line is no token.
    fn quoted(&mut self, quote: char, mut text: String) -> (Kind, String) {
        let after = (self.at, text.len());
        loop {
            match self.peek() {
                None | Some('\n') => {
                    self.at = after.0;
                    text.truncate(after.1);
                    return (Kind::Other, text);
                }
                Some('\\') => {
                    text.push('\\');
                    self.next();
                    text.extend(self.next());
                }
                Some(c) => {
                    text.push(c);
                    self.next();
                    if c == quote {
                        return (if quote == '"' { Kind::Text } else { Kind::Char }, text);
                    }
                }
            }
        }
    }
}

/// Other spellings of signs.
fn standard(sign: &'static str) -> &'static str {
    match sign {
        "<:" => "[",
        ":>" => "]",
        "<%" => "{",
        "%>" => "}",
        "%:" => "#",
        "%:%:" => "##",
        _ => sign,
    }
}
