//! Expressions and conditions, by precedence climbing.
//!
//! From weak to strong: `? :`, `||`, `&&`, comparisons (which do not chain), `|`, `^`, `&`,
//! `+ -`, `* / %`, and the signs `-` and `!`. Chains of `&&` and `||` become one node; chains
//! of the others lean to the left, and their height is bounded because everything that walks
//! or drops a tree recurses into it.

use super::FwParser;
use crate::Diagnostic;
use crate::fw::ast::{Atomic, AtomicKind, ExprKind, FwExpr, Ident, ThreadRef};
use crate::fw::lexer::{TokenKind, hexadecimal};
use crate::fw::limits;
use crate::fw::sink::OrReported;
use program::{Arith, Int, Relation, Span};

/// A binary operator that is not `&&` or `||`.
#[derive(Clone, Copy)]
enum Operator {
    Arith(Arith),
    Compare(Relation),
}

/// How strongly comparisons bind; arithmetic binds more strongly.
const COMPARISON: u8 = 1;

/// Atomic operations whose names are no keywords: only in front of `(` they mean this.
const ATOMIC_NAMES: &[&str] = &["cmpxchg", "fetch_sub", "fetch_and", "fetch_or", "fetch_xor"];

pub(super) fn arithmetic(kind: TokenKind) -> Option<Arith> {
    match operator(kind) {
        Some((Operator::Arith(op), _)) => Some(op),
        _ => None,
    }
}

fn operator(kind: TokenKind) -> Option<(Operator, u8)> {
    let compare = |relation| Some((Operator::Compare(relation), COMPARISON));
    let arith = |op, strength| Some((Operator::Arith(op), strength));
    match kind {
        TokenKind::Equal => compare(Relation::Eq),
        TokenKind::NotEqual => compare(Relation::Ne),
        TokenKind::Less => compare(Relation::Lt),
        TokenKind::AtMost => compare(Relation::Le),
        TokenKind::Greater => compare(Relation::Gt),
        TokenKind::AtLeast => compare(Relation::Ge),
        TokenKind::Or => arith(Arith::Or, 2),
        TokenKind::Xor => arith(Arith::Xor, 3),
        TokenKind::And => arith(Arith::And, 4),
        TokenKind::Plus => arith(Arith::Add, 5),
        TokenKind::Minus => arith(Arith::Sub, 5),
        TokenKind::Star => arith(Arith::Mul, 6),
        TokenKind::Slash => arith(Arith::Div, 6),
        TokenKind::Percent => arith(Arith::Rem, 6),
        _ => None,
    }
}

impl<'a> FwParser<'a, '_> {
    /// An expression or condition.
    pub(super) fn expression(&mut self) -> OrReported<FwExpr<'a>> {
        self.nested(|p| {
            let first = p.junction(TokenKind::OrOr, ExprKind::Some, Self::conjunction)?;
            if p.eat(TokenKind::Question) { p.conditional_value(first) } else { Ok(first) }
        })
    }

    /// The rest of `c ? a : b`.
    fn conditional_value(&mut self, cond: FwExpr<'a>) -> OrReported<FwExpr<'a>> {
        let start = cond.span;
        let yes = self.expression()?;
        self.expect(TokenKind::Colon)?;
        let no = self.expression()?;
        let height = cond.height.max(yes.height).max(no.height);
        self.node(ExprKind::Conditional(Box::new([cond, yes, no])), self.span_from(start), height)
    }

    fn conjunction(&mut self) -> OrReported<FwExpr<'a>> {
        self.junction(TokenKind::AndAnd, ExprKind::All, |p| p.operation(COMPARISON))
    }

    /// `lo..hi`
    pub(super) fn bounds(&mut self) -> OrReported<(FwExpr<'a>, FwExpr<'a>)> {
        self.nested(|p| {
            let low = p.operation(COMPARISON + 1)?;
            p.expect(TokenKind::DotDot)?;
            Ok((low, p.operation(COMPARISON + 1)?))
        })
    }

    fn junction(
        &mut self,
        sign: TokenKind,
        node: fn(Vec<FwExpr<'a>>) -> ExprKind<'a>,
        part: impl Fn(&mut Self) -> OrReported<FwExpr<'a>>,
    ) -> OrReported<FwExpr<'a>> {
        let first = part(self)?;
        if self.kind() != sign {
            return Ok(first);
        }
        let start = first.span;
        let mut height = first.height;
        let mut parts = vec![first];
        while self.eat(sign) {
            let next = part(self)?;
            height = height.max(next.height);
            parts.push(next);
        }
        self.node(node(parts), self.span_from(start), height)
    }

    /// A node one higher than its highest child.
    pub(super) fn node(&mut self, kind: ExprKind<'a>, span: Span, height: u16) -> OrReported<FwExpr<'a>> {
        if height >= limits::HEIGHT {
            let message = format!("this expression is more than {} operations deep", limits::HEIGHT);
            let error = Diagnostic::error(span, message).hint("compute it in several steps");
            let reported = self.error(error);
            // The tree is too high to keep, but not too high to drop.
            drop(kind);
            return Err(reported);
        }
        Ok(FwExpr { kind, span, height: height + 1 })
    }

    fn operation(&mut self, weakest: u8) -> OrReported<FwExpr<'a>> {
        let mut left = self.operand()?;
        let mut compared = false;
        while let Some((operator, strength)) = operator(self.kind())
            && strength >= weakest
        {
            let sign = self.bump().span;
            if compared && strength == COMPARISON {
                let error = Diagnostic::error(sign, "comparisons do not chain");
                return Err(self.error(error.hint("join two comparisons with `&&`, or use parentheses")));
            }
            compared |= strength == COMPARISON;
            let right = self.operation(strength + 1)?;
            let (span, height) = (left.span.to(right.span), left.height.max(right.height));
            let (a, b) = (Box::new(left), Box::new(right));
            let kind = match operator {
                Operator::Arith(op) => ExprKind::Binary(op, a, b),
                Operator::Compare(relation) => ExprKind::Compare(relation, a, b),
            };
            left = self.node(kind, span, height)?;
        }
        Ok(left)
    }

    fn operand(&mut self) -> OrReported<FwExpr<'a>> {
        let start = self.token().span;
        let sign = self.kind();
        if !matches!(sign, TokenKind::Minus | TokenKind::Not) {
            return self.primary();
        }
        self.bump();
        let inner = self.nested(Self::operand)?;
        let (span, height) = (self.span_from(start), inner.height);
        let inner = Box::new(inner);
        let kind = if sign == TokenKind::Minus { ExprKind::Negative(inner) } else { ExprKind::Not(inner) };
        self.node(kind, span, height)
    }

    pub(super) fn primary(&mut self) -> OrReported<FwExpr<'a>> {
        let token = self.token();
        match token.kind {
            TokenKind::Number => {
                self.bump();
                let text = self.text_of(token);
                let (digits, radix) = hexadecimal(text).map_or((text, 10), |digits| (digits, 16));
                let value = Int::parse_bytes(digits.as_bytes(), radix).unwrap_or_default();
                self.node(ExprKind::Int(value), token.span, 0)
            }
            TokenKind::OpenParen => {
                self.bump();
                let inner = self.expression()?;
                self.expect(TokenKind::CloseParen)?;
                Ok(FwExpr { span: self.span_from(token.span), ..inner })
            }
            TokenKind::Name => self.named(),
            TokenKind::Keyword => self.keyword_operand(),
            _ => Err(self.unexpected("an expression")),
        }
    }

    fn keyword_operand(&mut self) -> OrReported<FwExpr<'a>> {
        let start = self.token().span;
        match self.word() {
            word @ ("true" | "false") => {
                self.bump();
                self.node(ExprKind::Bool(word == "true"), start, 0)
            }
            word @ ("cas" | "swap" | "fetch_add") => self.atomic(start, word),
            "any" => Err(self.unexpected_with("an expression", |error| {
                error.hint("`any` stands alone: `r = any;`; give it to a register first")
            })),
            "arw" => Err(self.unexpected_with("an expression", |error| {
                error.hint("`arw(…);` is a statement; `cas` gives a value")
            })),
            _ => Err(self.unexpected("an expression")),
        }
    }

    fn atomic(&mut self, start: Span, word: &str) -> OrReported<FwExpr<'a>> {
        self.bump();
        self.expect(TokenKind::OpenParen)?;
        let target = self.nested(Self::target)?;
        self.expect(TokenKind::Comma)?;
        let first = self.expression()?;
        let mut height = first.height.max(target.index.as_ref().map_or(0, |index| index.height));
        let kind = match word {
            "cas" | "cmpxchg" => {
                self.expect(TokenKind::Comma)?;
                let new = self.expression()?;
                height = height.max(new.height);
                if word == "cas" { AtomicKind::Cas(first, new) } else { AtomicKind::CasOld(first, new) }
            }
            "swap" => AtomicKind::Swap(first),
            "fetch_sub" => AtomicKind::Fetch(Arith::Sub, first),
            "fetch_and" => AtomicKind::Fetch(Arith::And, first),
            "fetch_or" => AtomicKind::Fetch(Arith::Or, first),
            "fetch_xor" => AtomicKind::Fetch(Arith::Xor, first),
            _ => AtomicKind::Fetch(Arith::Add, first),
        };
        self.expect(TokenKind::CloseParen)?;
        let span = self.span_from(start);
        self.node(ExprKind::Atomic(Box::new(Atomic { target, kind })), span, height)
    }

    /// What starts with a name: a name, a cell, a call, or a place of a thread.
    fn named(&mut self) -> OrReported<FwExpr<'a>> {
        let (start, word) = (self.token().span, self.word());
        if self.next_kind() == TokenKind::OpenParen && ATOMIC_NAMES.contains(&word) {
            return self.atomic(start, word);
        }
        let name = self.name("a name")?;
        match self.kind() {
            TokenKind::OpenParen => self.call(name),
            TokenKind::OpenBracket => {
                self.bump();
                let index = self.expression()?;
                self.expect(TokenKind::CloseBracket)?;
                let height = index.height;
                let index = Box::new(index);
                if matches!(self.kind(), TokenKind::At | TokenKind::Dot) {
                    return self.place(ThreadRef { name, index: Some(index) }, height);
                }
                self.node(ExprKind::Cell(name, index), self.span_from(name.span), height)
            }
            TokenKind::At | TokenKind::Dot => self.place(ThreadRef { name, index: None }, 0),
            _ => self.node(ExprKind::Name(name.text), name.span, 0),
        }
    }

    fn place(&mut self, thread: ThreadRef<'a>, height: u16) -> OrReported<FwExpr<'a>> {
        let start = thread.name.span;
        let kind = if self.eat(TokenKind::At) {
            ExprKind::At(thread, self.name("a label")?)
        } else {
            self.bump();
            ExprKind::Register(thread, self.name("a register")?)
        };
        self.node(kind, self.span_from(start), height)
    }

    fn call(&mut self, name: Ident<'a>) -> OrReported<FwExpr<'a>> {
        self.bump();
        let mut arguments = Vec::new();
        if self.kind() != TokenKind::CloseParen {
            arguments = self.comma_list(Self::expression)?;
        }
        self.expect(TokenKind::CloseParen)?;
        let height = arguments.iter().map(|argument| argument.height).max().unwrap_or(0);
        self.node(ExprKind::Call(name, arguments), self.span_from(name.span), height)
    }
}
