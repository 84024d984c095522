//! A `.fw` text in the usual layout: four blanks per open brace, one blank around operators, at most one
//! empty line in a row.
//!
//! Where lines end is left to the author, and so are comments and the blanks in front of one that follows
//! code (they are often aligned). The words of the text stay the same, which is seen by reading them again:
//! a text that cannot be taken apart is not formatted.

use super::lexer::{self, FwToken, TokenKind};
use super::sink::Sink;
use crate::Diagnostic;
use program::Span;

/// The text in the usual layout, or what is wrong with it.
pub(super) fn format(text: &str) -> Result<String, Vec<Diagnostic>> {
    let mut sink = Sink::default();
    let tokens = lexer::tokens(text, &mut sink);
    if !sink.is_clean() {
        return Err(sink.errors());
    }
    let formatted = Layouter::new(text, &tokens).text();
    if words(text, &tokens) != words(&formatted, &lexer::tokens(&formatted, &mut sink)) {
        let error = Diagnostic::error(Span::NONE, "this text cannot be formatted without changing it");
        return Err(vec![error.hint("please report this as a bug in fencewright")]);
    }
    Ok(formatted)
}

/// The tokens of a text, and everything in it that is no blank, comments too.
fn words<'a>(text: &'a str, tokens: &[FwToken]) -> (Vec<&'a str>, String) {
    let signs = text.chars().filter(|sign| !sign.is_whitespace() && *sign != '\u{feff}');
    (tokens.iter().map(|token| slice(text, token.span)).collect(), signs.collect())
}

fn slice(text: &str, span: Span) -> &str {
    text.get(span.start as usize..span.end as usize).unwrap_or_default()
}

/// What an open brace is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Brace {
    Block,
    /// Initial values.
    List,
    Switch,
}

struct Layouter<'a> {
    text: &'a str,
    tokens: &'a [FwToken],
    out: String,
    braces: Vec<Brace>,
    /// Open parentheses and brackets.
    open: usize,
    /// Conditions of `? :` whose `:` has not come.
    questions: usize,
    /// How many parentheses were open at the `switch` whose brace has not come.
    switch: Option<usize>,
}

impl<'a> Layouter<'a> {
    fn new(text: &'a str, tokens: &'a [FwToken]) -> Layouter<'a> {
        Layouter { text, tokens, out: String::new(), braces: Vec::new(), open: 0, questions: 0, switch: None }
    }

    fn text(mut self) -> String {
        let start = if self.text.starts_with('\u{feff}') { 3 } else { 0 };
        let mut before = start;
        for at in 0..self.tokens.len() {
            let token = self.tokens[at];
            self.gap(&self.text[before..token.span.start as usize], at);
            if token.kind == TokenKind::End {
                break;
            }
            self.out += slice(self.text, token.span);
            self.follow(at);
            before = token.span.end as usize;
        }
        let text = self.out.trim_end();
        if text.is_empty() { String::new() } else { format!("{text}\n") }
    }

    /// What stands between two tokens: blanks, lines and comments.
    fn gap(&mut self, gap: &str, next: usize) {
        let mut rest = gap;
        let mut first = true;
        loop {
            let blanks = rest.len() - rest.trim_start().len();
            let (space, behind) = rest.split_at(blanks);
            let lines = space.matches('\n').count();
            let comment = comment_length(behind);
            if comment == 0 {
                return self.space(lines, next, first);
            }
            let (comment, after) = behind.split_at(comment);
            self.before_comment(space, lines, first);
            self.out += comment.trim_end();
            rest = after;
            // A comment to the end of its line leaves that end in what follows.
            first = false;
        }
    }

    fn before_comment(&mut self, space: &str, lines: usize, first: bool) {
        if self.out.is_empty() {
            return;
        }
        match lines {
            0 if first && !space.is_empty() => self.out += &space.replace('\t', "    "),
            0 => self.out.push(' '),
            _ => {
                self.out.push_str(if lines > 1 { "\n\n" } else { "\n" });
                let depth = self.depth(None);
                self.out += &"    ".repeat(depth);
            }
        }
    }

    /// The blanks in front of a token.
    fn space(&mut self, lines: usize, next: usize, first: bool) {
        if self.tokens[next].kind == TokenKind::End || self.out.is_empty() {
            return;
        }
        if lines == 0 {
            if !first || self.apart(next) {
                self.out.push(' ');
            }
            return;
        }
        self.out.push_str(if lines > 1 { "\n\n" } else { "\n" });
        let depth = self.depth(Some(next)) + usize::from(self.continues(next));
        self.out += &"    ".repeat(depth);
    }

    /// How deep a line is that begins with this token.
    fn depth(&self, next: Option<usize>) -> usize {
        let token = next.map(|next| self.tokens[next]);
        let closes = token.is_some_and(|token| token.kind == TokenKind::CloseBrace);
        let braces = self.braces.len().saturating_sub(usize::from(closes));
        // Statements stand one deeper than their `case`.
        let switches = self.braces[..braces].iter().filter(|brace| **brace == Brace::Switch).count();
        let case = next.is_some_and(|next| self.is_case(next)) && self.braces.last() == Some(&Brace::Switch);
        braces + switches - usize::from(case)
    }

    fn is_case(&self, at: usize) -> bool {
        let next = self.tokens.get(at + 1).map(|token| token.kind);
        match slice(self.text, self.tokens[at].span) {
            "case" => next != Some(TokenKind::Assign),
            "default" => next == Some(TokenKind::Colon),
            _ => false,
        }
    }

    /// Whether a line that begins with this token goes on with the statement of the line before.
    fn continues(&self, next: usize) -> bool {
        let Some(last) = next.checked_sub(1).map(|at| self.tokens[at].kind) else { return false };
        let ends = match last {
            TokenKind::Semicolon | TokenKind::OpenBrace | TokenKind::CloseBrace => true,
            TokenKind::Colon => self.questions == 0,
            TokenKind::Comma => self.braces.last() == Some(&Brace::List) && self.open == 0,
            _ => false,
        };
        !ends
            && self.tokens[next].kind != TokenKind::CloseBrace
            && self.tokens[next].kind != TokenKind::OpenBrace
    }

    /// Notes what a token opens or closes.
    fn follow(&mut self, at: usize) {
        match self.tokens[at].kind {
            TokenKind::OpenParen | TokenKind::OpenBracket => self.open += 1,
            TokenKind::CloseParen | TokenKind::CloseBracket => self.open = self.open.saturating_sub(1),
            TokenKind::OpenBrace => {
                let brace = match self.switch.take_if(|open| *open == self.open) {
                    Some(_) => Brace::Switch,
                    None if self.opens_list(at) => Brace::List,
                    None => Brace::Block,
                };
                self.braces.push(brace);
            }
            TokenKind::CloseBrace => drop(self.braces.pop()),
            TokenKind::Question => self.questions += 1,
            TokenKind::Colon => self.questions = self.questions.saturating_sub(1),
            TokenKind::Semicolon => self.questions = 0,
            TokenKind::Name if slice(self.text, self.tokens[at].span) == "switch" => {
                let opens = self.tokens.get(at + 1).is_some_and(|token| token.kind == TokenKind::OpenParen);
                self.switch = opens.then_some(self.open);
            }
            _ => {}
        }
    }

    fn opens_list(&self, at: usize) -> bool {
        let before = at.checked_sub(1).map(|before| self.tokens[before].kind);
        match before {
            Some(TokenKind::Assign) => true,
            Some(TokenKind::OpenBrace | TokenKind::Comma | TokenKind::Colon) => {
                self.braces.last() == Some(&Brace::List)
            }
            _ => false,
        }
    }

    /// Whether a blank stands between a token and the one before it, on one line.
    fn apart(&self, next: usize) -> bool {
        let Some(last) = next.checked_sub(1) else { return false };
        let (a, b) = (self.tokens[last], self.tokens[next]);
        let word = |kind| {
            matches!(kind, TokenKind::Name | TokenKind::Keyword | TokenKind::Number | TokenKind::Quoted)
        };
        let list = self.braces.last() == Some(&Brace::List);
        match (a.kind, b.kind) {
            // `+=`, `++` and so on are written in two tokens, which must touch.
            _ if self.is_compound(last) => false,
            (_, TokenKind::Assign) if self.is_compound_sign(last, next) => false,
            (
                _,
                TokenKind::Semicolon | TokenKind::Comma | TokenKind::CloseParen | TokenKind::CloseBracket,
            ) => false,
            (_, TokenKind::Dot | TokenKind::At | TokenKind::DotDot | TokenKind::OpenBracket) => false,
            (TokenKind::OpenParen | TokenKind::OpenBracket, _) => false,
            (TokenKind::Dot | TokenKind::At | TokenKind::DotDot | TokenKind::Not, _) => false,
            (TokenKind::OpenBrace, _) | (_, TokenKind::CloseBrace) => !list,
            (_, TokenKind::Colon) => self.questions > 0,
            (_, TokenKind::OpenParen) if word(a.kind) => self.is_head(last),
            (TokenKind::Minus | TokenKind::And, _) if self.is_sign(last) => false,
            (_, TokenKind::Plus | TokenKind::Minus) if self.counts(next) => false,
            _ => true,
        }
    }

    /// `if (`, `while (` and so on; calls have no blank.
    fn is_head(&self, at: usize) -> bool {
        let heads = [
            "if", "while", "switch", "return", "await", "assume", "assert", "never", "finally", "in", "case",
        ];
        heads.contains(&slice(self.text, self.tokens[at].span))
    }

    /// Whether `-` or `&` stands before its operand, not between two.
    fn is_sign(&self, at: usize) -> bool {
        let Some(before) = at.checked_sub(1).map(|before| self.tokens[before]) else { return true };
        match before.kind {
            TokenKind::Name | TokenKind::Number | TokenKind::CloseParen | TokenKind::CloseBracket => false,
            TokenKind::Keyword => !matches!(slice(self.text, before.span), "true" | "false"),
            _ => true,
        }
    }

    /// Whether the sign here and the one behind it count up or down: `x++;`
    fn counts(&self, at: usize) -> bool {
        let sign = self.tokens[at];
        let Some([next, after]) = self.tokens.get(at + 1..at + 3) else { return false };
        let touches = next.kind == sign.kind && next.span.start == sign.span.end;
        touches && after.kind == TokenKind::Semicolon
    }

    /// Whether the token here is the first sign of `++` or `--`.
    fn is_compound(&self, at: usize) -> bool {
        matches!(self.tokens[at].kind, TokenKind::Plus | TokenKind::Minus) && self.counts(at)
    }

    /// Whether an operator and the `=` behind it are one: `x += 1;`
    fn is_compound_sign(&self, operator: usize, sign: usize) -> bool {
        let touches = self.tokens[operator].span.end == self.tokens[sign].span.start;
        let operators = [
            TokenKind::Plus,
            TokenKind::Minus,
            TokenKind::Star,
            TokenKind::Slash,
            TokenKind::Percent,
            TokenKind::And,
            TokenKind::Or,
            TokenKind::Xor,
            TokenKind::ShiftLeft,
            TokenKind::ShiftRight,
        ];
        touches && operators.contains(&self.tokens[operator].kind)
    }
}

/// The length of the comment that a text begins with; 0 if it begins with none.
fn comment_length(text: &str) -> usize {
    if text.starts_with("//") {
        text.find('\n').unwrap_or(text.len())
    } else if text.starts_with("/*") {
        text.find("*/").map_or(text.len(), |end| end + 2)
    } else {
        0
    }
}
