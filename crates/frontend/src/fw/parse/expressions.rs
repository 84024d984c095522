//! Expressions and conditions, by precedence climbing.
//!
//! From weak to strong: `? :`, `||`, `&&`, comparisons (which do not chain), `|`, `^`, `&`,
//! `<< >>`, `+ -`, `* / %`, and the signs `-` and `!`. Chains of `&&` and `||` become one node; chains
//! of the others lean to the left, and their height is bounded because everything that walks
//! or drops a tree recurses into it.

use super::FwParser;
use crate::Diagnostic;
use crate::fw::ast::{
    Accessor, Atomic, AtomicKind, ExprKind, FwExpr, Ident, Shift, Target, ThreadRef, UpdateOperator,
};
use crate::fw::lexer::{TokenKind, hexadecimal};
use crate::fw::limits;
use crate::fw::sink::OrReported;
use program::{Arith, Int, Relation, Span};

/// A binary operator that is not `&&` or `||`.
#[derive(Clone, Copy)]
enum Operator {
    /// Gives a number.
    Update(UpdateOperator),
    Compare(Relation),
}

impl Operator {
    fn node<'a>(self, a: FwExpr<'a>, b: FwExpr<'a>) -> ExprKind<'a> {
        let (a, b) = (Box::new(a), Box::new(b));
        match self {
            Operator::Update(UpdateOperator::Arith(op)) => ExprKind::Binary(op, a, b),
            Operator::Update(UpdateOperator::Shift(shift)) => ExprKind::Shift(shift, a, b),
            Operator::Compare(relation) => ExprKind::Compare(relation, a, b),
        }
    }
}

/// How strongly comparisons bind; arithmetic binds more strongly.
const COMPARISON: u8 = 1;

/// Atomic operations whose names are no keywords: only in front of `(` they mean this.
const ATOMIC_NAMES: &[&str] = &["cmpxchg", "fetch_sub", "fetch_and", "fetch_or", "fetch_xor"];

/// The operator that gives a number.
pub(super) fn arithmetic(kind: TokenKind) -> Option<UpdateOperator> {
    match operator(kind)?.0 {
        Operator::Update(op) => Some(op),
        Operator::Compare(_) => None,
    }
}

fn operator(kind: TokenKind) -> Option<(Operator, u8)> {
    let compare = |relation| Some((Operator::Compare(relation), COMPARISON));
    let arith = |op, strength| Some((Operator::Update(UpdateOperator::Arith(op)), strength));
    let shift = |shift| Some((Operator::Update(UpdateOperator::Shift(shift)), 5));
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
        TokenKind::ShiftLeft => shift(Shift::Left),
        TokenKind::ShiftRight => shift(Shift::Right),
        TokenKind::Plus => arith(Arith::Add, 6),
        TokenKind::Minus => arith(Arith::Sub, 6),
        TokenKind::Star => arith(Arith::Mul, 7),
        TokenKind::Slash => arith(Arith::Div, 7),
        TokenKind::Percent => arith(Arith::Rem, 7),
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
            // The tree is too high to keep, but not too high to drop.
            return Err(self.error(Diagnostic::error(span, message).hint("compute it in several steps")));
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
            left = self.node(operator.node(left, right), span, height)?;
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

    fn primary(&mut self) -> OrReported<FwExpr<'a>> {
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
        let mut height = first.height.max(target.height());
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
        if self.next_kind() == TokenKind::OpenParen {
            let name = self.name("a name")?;
            return self.call(name);
        }
        let mut place = self.target()?;
        let height = place.height();
        if self.kind() == TokenKind::At {
            return self.location_of(place);
        }
        match place.path.is_empty() {
            true => self.node(ExprKind::Name(place.name.text), place.name.span, 0),
            false => {
                place.span = self.span_from(place.name.span);
                let span = place.span;
                self.node(ExprKind::Cell(Box::new(place)), span, height)
            }
        }
    }

    /// `P@label` or `P[i]@label`
    fn location_of(&mut self, place: Target<'a>) -> OrReported<FwExpr<'a>> {
        let (name, height, mut path) = (place.name, place.height(), place.path.into_iter());
        let index = match (path.next(), path.next()) {
            (None, _) => None,
            (Some(Accessor::Index(index)), None) => Some(Box::new(index)),
            _ => return Err(self.unexpected("an expression")),
        };
        self.bump();
        let kind = ExprKind::At(ThreadRef { name, index }, self.name("a label")?);
        self.node(kind, self.span_from(name.span), height)
    }

    fn call(&mut self, name: Ident<'a>) -> OrReported<FwExpr<'a>> {
        self.bump();
        let mut arguments = Vec::new();
        if self.kind() != TokenKind::CloseParen {
            arguments = self.comma_list(Self::argument)?;
        }
        self.expect(TokenKind::CloseParen)?;
        let height = arguments.iter().map(|argument| argument.height).max().unwrap_or(0);
        self.node(ExprKind::Call(name, arguments), self.span_from(name.span), height)
    }

    /// A value, or `&place` for a parameter `&name`.
    fn argument(&mut self) -> OrReported<FwExpr<'a>> {
        let start = self.token().span;
        if !self.eat(TokenKind::And) {
            return self.expression();
        }
        let place = self.nested(Self::target)?;
        let height = place.height();
        self.node(ExprKind::Reference(Box::new(place)), self.span_from(start), height)
    }
}
