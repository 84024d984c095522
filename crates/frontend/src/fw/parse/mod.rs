//! Tokens to tree, by recursive descent.
//!
//! A function that meets an error reports it and returns `Err`; the nearest list of
//! statements or declarations catches it, skips to where the next one starts and goes on.
//! One mistake gives one message: a token that the lexer reported already is passed over
//! in silence, and a block that is not closed is reported once, for the outermost place that
//! notices it.

mod expressions;
mod items;
mod recover;
mod statements;

use super::ast::{Ident, Item};
use super::lexer::{FwToken, TokenKind};
use super::limits;
use super::sink::{OrReported, Reported, Sink};
use crate::Diagnostic;
use program::Span;
use std::collections::HashSet;

/// Reads declarations until the end of the text. The set holds every name that is declared
/// somewhere, so that made-up names can keep clear of them.
pub(super) fn parse<'a>(
    text: &'a str,
    tokens: Vec<FwToken>,
    sink: &mut Sink,
) -> (Vec<Item<'a>>, HashSet<&'a str>) {
    let mut parser = FwParser {
        text,
        tokens,
        at: 0,
        sink,
        nesting: 0,
        unclosed: false,
        abandoned: false,
        declared: HashSet::new(),
    };
    let items = parser.items();
    (items, parser.declared)
}

struct FwParser<'a, 's> {
    text: &'a str,
    tokens: Vec<FwToken>,
    at: usize,
    sink: &'s mut Sink,
    nesting: usize,
    /// Set while leaving blocks of which one was not closed, until the next declaration.
    unclosed: bool,
    /// Set after an error that ends the reading.
    abandoned: bool,
    declared: HashSet<&'a str>,
}

impl<'a> FwParser<'a, '_> {
    fn token(&self) -> FwToken {
        self.tokens[self.at]
    }

    fn kind(&self) -> TokenKind {
        self.token().kind
    }

    /// The kind of the token after the current one.
    fn next_kind(&self) -> TokenKind {
        self.tokens.get(self.at + 1).map_or(TokenKind::End, |token| token.kind)
    }

    fn text_of(&self, token: FwToken) -> &'a str {
        &self.text[token.span.start as usize..token.span.end as usize]
    }

    /// The current token's text.
    fn word(&self) -> &'a str {
        self.text_of(self.token())
    }

    fn bump(&mut self) -> FwToken {
        let token = self.token();
        if token.kind != TokenKind::End {
            self.at += 1;
        }
        token
    }

    fn previous(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].span
    }

    /// From a start to the end of the last token taken.
    fn span_from(&self, start: Span) -> Span {
        start.to(self.previous())
    }

    fn eat(&mut self, kind: TokenKind) -> bool {
        let found = self.kind() == kind;
        if found {
            self.bump();
        }
        found
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.kind(), TokenKind::Keyword | TokenKind::Name) && self.word() == word
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.bump();
        }
        found
    }

    fn expect(&mut self, kind: TokenKind) -> OrReported<FwToken> {
        if self.kind() == kind { Ok(self.bump()) } else { Err(self.unexpected(kind.describe())) }
    }

    fn expect_word(&mut self, word: &str) -> OrReported<()> {
        if self.eat_word(word) { Ok(()) } else { Err(self.unexpected(&format!("`{word}`"))) }
    }

    /// A name that is used.
    fn name(&mut self, what: &str) -> OrReported<Ident<'a>> {
        if self.kind() != TokenKind::Name {
            let reserved = self.kind() == TokenKind::Keyword;
            let word = self.word();
            return Err(self.unexpected_with(what, |error| {
                if reserved { error.hint(format!("`{word}` is a reserved word")) } else { error }
            }));
        }
        let token = self.bump();
        Ok(Ident { text: self.text_of(token), span: token.span })
    }

    /// A name that is declared here.
    fn declare(&mut self, what: &str) -> OrReported<Ident<'a>> {
        let name = self.name(what)?;
        self.declared.insert(name.text);
        Ok(name)
    }

    /// Reports that something else was expected here.
    fn unexpected(&mut self, expected: &str) -> Reported {
        self.unexpected_with(expected, |error| error)
    }

    fn unexpected_with(
        &mut self,
        expected: &str,
        explain: impl FnOnce(Diagnostic) -> Diagnostic,
    ) -> Reported {
        let token = self.token();
        let after_invalid = self.at > 0 && self.tokens[self.at - 1].kind == TokenKind::Invalid;
        if token.kind == TokenKind::Invalid || token.kind == TokenKind::End && after_invalid || self.abandoned
        {
            return Reported;
        }
        let found = match token.kind {
            TokenKind::Name | TokenKind::Keyword | TokenKind::Number => {
                format!("`{}`", shortened(self.text_of(token)))
            }
            other => other.describe().to_string(),
        };
        let message = format!("expected {expected}, found {found}");
        let mut error = Diagnostic::error(token.span, message).label(format!("expected {expected}"));
        if matches!(token.kind, TokenKind::Assign | TokenKind::Equal) {
            error = error.hint("`=` assigns, `==` compares");
        }
        self.sink.error(explain(error))
    }

    fn error(&mut self, error: Diagnostic) -> Reported {
        self.sink.error(error)
    }

    /// Runs `inner` one level deeper, or reports that this is too deep and reads no further:
    /// what follows is hardly written by hand, and closes what we did not open.
    fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> OrReported<T>) -> OrReported<T> {
        if self.nesting >= limits::NESTING {
            let message = format!("this is nested more than {} levels deep", limits::NESTING);
            let error = Diagnostic::error(self.token().span, message);
            let reported = self.error(error.hint("name a part of it, as a register or a function"));
            self.sink.text_is_incomplete();
            self.abandoned = true;
            self.at = self.tokens.len() - 1;
            return Err(reported);
        }
        self.nesting += 1;
        let result = inner(self);
        self.nesting -= 1;
        result
    }

    /// Items separated by commas: one or more.
    fn comma_list<T>(&mut self, mut item: impl FnMut(&mut Self) -> OrReported<T>) -> OrReported<Vec<T>> {
        let mut list = vec![item(self)?];
        while self.eat(TokenKind::Comma) {
            list.push(item(self)?);
        }
        Ok(list)
    }
}

/// Long words are cut in messages.
fn shortened(word: &str) -> String {
    const LONGEST: usize = 40;
    if word.len() <= LONGEST { word.to_string() } else { format!("{}…", &word[..LONGEST]) }
}
