//! Words and signs of an `.rmm` text, with its macros expanded.
//!
//! Macros work on tokens: a call is replaced by the body, parameters by the tokens of the
//! arguments. A token remembers the call it came through, so that a statement that uses a
//! macro is reported where the statement stands, and a statement inside one where the body
//! stands.

use crate::Diagnostic;
use program::{Int, Span};
use std::collections::HashMap;

/// What a token is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RmmTokenKind<'a> {
    /// A name.
    Word(&'a str),
    /// A register, without its `$`.
    Register(&'a str),
    /// A number.
    Number(Int),
    /// Anything else.
    Sign(&'a str),
}

/// A token, its place, and the macro call it came through (0 for none).
#[derive(Clone, Debug)]
pub struct RmmToken<'a> {
    pub kind: RmmTokenKind<'a>,
    pub(super) span: Span,
    pub(super) frame: u32,
}

/// A macro call: the call that it stands in (0 for none), and where.
#[derive(Clone, Copy, Debug)]
pub struct MacroCall {
    pub(super) parent: u32,
    pub(super) call: Span,
}

/// All tokens, macros expanded.
#[derive(Debug)]
pub struct Tokens<'a> {
    pub tokens: Vec<RmmToken<'a>>,
    pub(super) frames: Vec<MacroCall>,
}

/// An expansion that grows beyond this is refused.
const MAX_TOKENS: usize = 1 << 20;
const MAX_DEPTH: usize = 64;
const MAX_DIGITS: usize = 400;
const SIGNS: [&str; 22] = [
    ":=", "||", "&&", "!=", "<=", ">=", "=", "(", ")", ",", "-", "*", ";", ":", "{", "}", "<", ">", "+", "[",
    "]", "@",
];

/// Reads a text into tokens and expands its macros.
pub fn tokens(text: &str) -> Result<Tokens<'_>, Diagnostic> {
    let raw = scan(text)?;
    let mut expander = Expander {
        macros: HashMap::new(),
        out: Tokens { tokens: Vec::new(), frames: vec![MacroCall { parent: 0, call: Span::NONE }] },
        active: Vec::new(),
        work: 0,
    };
    expander.expand(&raw, 0)?;
    Ok(expander.out)
}

/// The words and signs of a text as it stands, macros and all.
pub(super) fn scan(text: &str) -> Result<Vec<RmmToken<'_>>, Diagnostic> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        if let Some(comment) = rest.strip_prefix("/*") {
            let end = comment.find("*/");
            let span = Span::new(at, at + 2);
            at += 4 + end.ok_or_else(|| Diagnostic::error(span, "this comment does not end"))?;
            continue;
        }
        let word_length = |text: &str| text.find(|c| !is_word_char(c)).unwrap_or(text.len());
        let (kind, length) = if first.is_ascii_digit() {
            let length = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            (number(&rest[..length], at)?, length)
        } else if is_word_char(first) {
            let length = word_length(rest);
            (RmmTokenKind::Word(&rest[..length]), length)
        } else if first == '$' && rest[1..].starts_with(is_word_char) {
            let length = word_length(&rest[1..]);
            (RmmTokenKind::Register(&rest[1..1 + length]), 1 + length)
        } else if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            (RmmTokenKind::Sign(&rest[..sign.len()]), sign.len())
        } else {
            let span = Span::new(at, at + first.len_utf8());
            return Err(Diagnostic::error(span, format!("`{first}` means nothing here")));
        };
        found.push(RmmToken { kind, span: Span::new(at, at + length), frame: 0 });
        at += length;
    }
    Ok(found)
}

fn is_word_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn number(digits: &str, at: usize) -> Result<RmmTokenKind<'_>, Diagnostic> {
    let value = Int::parse_bytes(digits.as_bytes(), 10).filter(|_| digits.len() <= MAX_DIGITS);
    let span = Span::new(at, at + digits.len());
    value.map(RmmTokenKind::Number).ok_or_else(|| Diagnostic::error(span, "this number is too long"))
}

struct Macro<'a> {
    parameters: Vec<&'a str>,
    body: Vec<RmmToken<'a>>,
}

struct Expander<'a> {
    macros: HashMap<&'a str, std::rc::Rc<Macro<'a>>>,
    out: Tokens<'a>,
    /// Macros that are being expanded, to notice one that calls itself.
    active: Vec<&'a str>,
    /// How many tokens have been looked at, for macros that work hard and leave nothing.
    work: usize,
}

impl<'a> Expander<'a> {
    fn expand(&mut self, tokens: &[RmmToken<'a>], frame: u32) -> Result<(), Diagnostic> {
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            match &token.kind {
                RmmTokenKind::Word("macro") if self.active.is_empty() => at = self.define(tokens, at)?,
                RmmTokenKind::Word("macro") => {
                    return Err(Diagnostic::error(token.span, "a macro cannot define another"));
                }
                RmmTokenKind::Word(name) if self.macros.contains_key(name) => {
                    at = self.call(tokens, at, frame)?
                }
                _ => {
                    self.push(token.clone())?;
                    at += 1;
                }
            }
        }
        Ok(())
    }

    fn push(&mut self, token: RmmToken<'a>) -> Result<(), Diagnostic> {
        if self.out.tokens.len() >= MAX_TOKENS {
            return Err(Diagnostic::error(token.span, "the macros of this text expand to too much"));
        }
        self.out.tokens.push(token);
        Ok(())
    }

    /// `macro name(a, b) … endmacro`; the position behind it.
    fn define(&mut self, tokens: &[RmmToken<'a>], start: usize) -> Result<usize, Diagnostic> {
        let missing = |at: usize, what: &str| {
            let span = tokens.get(at).map_or(tokens[start].span, |token| token.span);
            Diagnostic::error(span, format!("expected {what} in this macro"))
        };
        let word = |at: usize| match tokens.get(at).map(|token| &token.kind) {
            Some(RmmTokenKind::Word(word)) => Some(*word),
            _ => None,
        };
        let sign =
            |at: usize, sign: &str| matches!(tokens.get(at), Some(t) if t.kind == RmmTokenKind::Sign(sign));
        let name = word(start + 1).ok_or_else(|| missing(start + 1, "a name"))?;
        if self.macros.contains_key(name) {
            return Err(Diagnostic::error(
                tokens[start + 1].span,
                format!("the macro `{name}` is defined twice"),
            ));
        }
        if !sign(start + 2, "(") {
            return Err(missing(start + 2, "`(`"));
        }
        let (mut parameters, mut at) = (Vec::new(), start + 3);
        while !sign(at, ")") {
            let parameter = word(at).ok_or_else(|| missing(at, "a parameter or `)`"))?;
            if parameters.contains(&parameter) {
                return Err(Diagnostic::error(
                    tokens[at].span,
                    format!("the parameter `{parameter}` appears twice"),
                ));
            }
            parameters.push(parameter);
            at += 1;
            if sign(at, ",") {
                at += 1;
            }
        }
        let body_start = at + 1;
        let length = tokens[body_start..].iter().position(|t| t.kind == RmmTokenKind::Word("endmacro"));
        let Some(length) = length else { return Err(missing(tokens.len(), "`endmacro`")) };
        let body = tokens[body_start..body_start + length].to_vec();
        self.macros.insert(name, std::rc::Rc::new(Macro { parameters, body }));
        Ok(body_start + length + 1)
    }

    /// `name(x, y)`; the position behind it.
    fn call(&mut self, tokens: &[RmmToken<'a>], start: usize, frame: u32) -> Result<usize, Diagnostic> {
        let RmmTokenKind::Word(name) = tokens[start].kind else { return Ok(start + 1) };
        let span = tokens[start].span;
        if self.active.contains(&name) || self.active.len() >= MAX_DEPTH {
            return Err(Diagnostic::error(span, format!("the macro `{name}` calls itself")));
        }
        let (arguments, end) = arguments(tokens, start)?;
        let definition = self.macros[name].clone();
        if arguments.len() != definition.parameters.len() {
            let (wanted, given) = (definition.parameters.len(), arguments.len());
            return Err(Diagnostic::error(span, format!("`{name}` takes {wanted} arguments, not {given}")));
        }
        let inner = u32::try_from(self.out.frames.len()).unwrap_or(u32::MAX);
        self.out.frames.push(MacroCall { parent: frame, call: span.to(tokens[end - 1].span) });
        let mut body = Vec::new();
        for token in &definition.body {
            let parameter = match &token.kind {
                RmmTokenKind::Word(word) => definition.parameters.iter().position(|p| p == word),
                _ => None,
            };
            match parameter {
                Some(at) => {
                    // The argument stands in the call, but belongs to the statement in the body.
                    let moved = arguments[at].iter().map(|t| RmmToken {
                        span: token.span,
                        frame: inner,
                        ..t.clone()
                    });
                    body.extend(moved);
                }
                None => body.push(RmmToken { frame: inner, ..token.clone() }),
            }
            if self.work + body.len() > 4 * MAX_TOKENS {
                return Err(Diagnostic::error(span, "the macros of this text expand to too much"));
            }
        }
        self.work += body.len() + 1;
        self.active.push(name);
        self.expand(&body, inner)?;
        self.active.pop();
        Ok(end)
    }
}

type Arguments<'t, 'a> = (Vec<&'t [RmmToken<'a>]>, usize);

fn arguments<'t, 'a>(tokens: &'t [RmmToken<'a>], start: usize) -> Result<Arguments<'t, 'a>, Diagnostic> {
    let error = |message: &str| Err(Diagnostic::error(tokens[start].span, message));
    if !matches!(tokens.get(start + 1), Some(t) if t.kind == RmmTokenKind::Sign("(")) {
        return error("this is a macro; its arguments must follow in parentheses");
    }
    let (mut depth, mut from, mut found) = (0usize, start + 2, Vec::new());
    for at in start + 1..tokens.len() {
        match &tokens[at].kind {
            RmmTokenKind::Sign("(") => depth += 1,
            RmmTokenKind::Sign(")") => depth -= 1,
            _ => {}
        }
        let ends = depth == 0;
        if ends || (depth == 1 && tokens[at].kind == RmmTokenKind::Sign(",")) {
            if at > from || !(ends && found.is_empty()) {
                if at == from {
                    return error("an argument of this macro call is empty");
                }
                found.push(&tokens[from..at]);
            }
            from = at + 1;
        }
        if ends {
            return Ok((found, at + 1));
        }
    }
    error("the arguments of this macro call do not end")
}
