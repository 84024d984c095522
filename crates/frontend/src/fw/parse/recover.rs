//! Going on after an error.

use super::FwParser;
use crate::fw::lexer::TokenKind;
use program::Span;

/// Words that start a declaration and can stand nowhere else.
const DECLARATIONS: &[&str] = &["thread", "fn", "never", "finally", "predicates"];

/// Words that declare names.
const DECLARING: &[&str] = &["const", "shared", "thread", "fn", "let"];

impl FwParser<'_, '_> {
    /// Whether a declaration starts here that cannot stand inside a block.
    pub(super) fn at_declaration(&self) -> bool {
        self.kind() == TokenKind::Keyword && DECLARATIONS.contains(&self.word())
    }

    /// Whether any declaration starts here.
    fn at_item(&self) -> bool {
        self.at_declaration() || self.is_word("const") || self.is_word("shared")
    }

    /// Notes that nothing was made of the tokens from `start` to here. If they declare
    /// something, it will seem to be missing.
    pub(super) fn lost(&mut self, start: usize) {
        let declares = |at: usize| {
            let next = self.tokens.get(at + 1).map(|token| token.kind);
            match self.tokens[at].kind {
                TokenKind::Keyword => DECLARING.contains(&self.text_of(self.tokens[at])),
                TokenKind::Name => next == Some(TokenKind::Colon),
                _ => false,
            }
        };
        if (start..self.at).any(declares) {
            self.sink.text_is_incomplete();
        }
    }

    /// As [`FwParser::lost`], for something outside threads; nobody knows what it was meant to be.
    pub(super) fn lost_item(&mut self, start: usize) {
        let claims = ["never", "finally", "assume", "predicates", "for"];
        if claims.contains(&self.text_of(self.tokens[start])) {
            self.lost(start);
        } else {
            self.sink.text_is_incomplete();
        }
    }

    /// Skips the rest of a declaration: up to the next one outside braces.
    pub(super) fn skip_item(&mut self) {
        let mut open = 0usize;
        loop {
            match self.kind() {
                TokenKind::End => return,
                TokenKind::OpenBrace => open += 1,
                TokenKind::CloseBrace => open = open.saturating_sub(1),
                // Inside braces, too: a declaration there means that a brace is missing.
                _ if self.at_declaration() || open == 0 && self.at_item() => return,
                _ => {}
            }
            self.bump();
        }
    }

    /// Skips the rest of a statement: through its `;` or its block, or up to the brace that
    /// closes the block around it.
    pub(super) fn skip_statement(&mut self) {
        let mut open = 0usize;
        loop {
            match self.kind() {
                TokenKind::End => return,
                TokenKind::Semicolon if open == 0 => {
                    self.bump();
                    return;
                }
                TokenKind::OpenBrace => open += 1,
                TokenKind::CloseBrace if open == 0 => return,
                TokenKind::CloseBrace => {
                    open -= 1;
                    let goes_on = matches!(self.next_kind(), TokenKind::Keyword)
                        && matches!(self.text_of(self.tokens[self.at + 1]), "else" | "or");
                    if open == 0 && !goes_on {
                        self.bump();
                        return;
                    }
                }
                _ if self.at_declaration() => return,
                _ => {}
            }
            self.bump();
        }
    }

    /// Skips a broken head up to the block it belongs to; false if there is none.
    pub(super) fn skip_to_block(&mut self) -> bool {
        loop {
            match self.kind() {
                TokenKind::OpenBrace => return true,
                TokenKind::End | TokenKind::Semicolon | TokenKind::CloseBrace => return false,
                _ if self.at_declaration() => return false,
                _ => self.bump(),
            };
        }
    }

    /// Takes the `;` after a statement. A forgotten one at the end of a line is reported where
    /// it belongs, and nothing is skipped.
    pub(super) fn semicolon(&mut self) -> bool {
        if self.eat(TokenKind::Semicolon) {
            return true;
        }
        let before = self.previous();
        let here = self.token().span;
        let between = self.text.get(before.end as usize..here.start as usize).unwrap_or("");
        let forgotten = between.contains('\n') || self.kind() == TokenKind::CloseBrace;
        if forgotten && self.kind() != TokenKind::Invalid && !self.abandoned {
            let at = Span::new(before.end.saturating_sub(1) as usize, before.end as usize);
            let error = crate::Diagnostic::error(at, "expected `;` after this").label("`;` is missing here");
            self.error(error);
            return true;
        }
        self.unexpected("`;`");
        false
    }
}
