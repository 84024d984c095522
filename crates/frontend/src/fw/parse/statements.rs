//! Statements.

use super::FwParser;
use super::expressions::arithmetic;
use crate::Diagnostic;
use crate::fw::ast::{
    Accessor, Block, ExprKind, Fail, FwDeclaration, FwExpr, Stmt, StmtKind, SwitchCase, Target,
    UpdateOperator,
};
use crate::fw::lexer::{TokenKind, unquoted};
use crate::fw::sink::{OrReported, Reported};
use crate::fw::suggest::did_you_mean;
use program::{Arith, Fence, Int, Span};

/// Words that start a statement, for hints.
const STATEMENTS: &[&str] = &[
    "skip",
    "let",
    "if",
    "while",
    "loop",
    "for",
    "choose",
    "atomic",
    "break",
    "continue",
    "goto",
    "return",
    "await",
    "assume",
    "assert",
    "fence",
    "membarrier",
    "stop",
    "arw",
    "else",
    "switch",
];

impl<'a> FwParser<'a, '_> {
    /// Statements between braces.
    pub(super) fn block(&mut self) -> OrReported<Block<'a>> {
        let open = self.expect(TokenKind::OpenBrace)?.span;
        self.nested(|p| {
            let mut statements = Vec::new();
            while !p.at_close(open)? {
                statements.push(p.whole_statement());
            }
            Ok(Block { statements, close: p.previous() })
        })
    }

    /// A statement; a broken one is reported and skipped.
    fn whole_statement(&mut self) -> Stmt<'a> {
        let before = self.at;
        self.statement().unwrap_or_else(|_| {
            let span = self.tokens[before].span;
            self.skip_statement();
            self.lost(before);
            Stmt { kind: StmtKind::Broken, span }
        })
    }

    /// Takes the closing brace if it is here. Where a declaration or the end of the text
    /// shows that it is missing, that is reported and the blocks around this one end, too.
    pub(super) fn at_close(&mut self, open: Span) -> OrReported<bool> {
        if self.eat(TokenKind::CloseBrace) {
            return Ok(true);
        }
        let ends = self.kind() == TokenKind::End || self.at_declaration() || self.sink.is_full();
        if !ends {
            return Ok(false);
        }
        if !self.unclosed {
            self.not_closed(open);
        }
        self.unclosed = true;
        Ok(true)
    }

    pub(super) fn not_closed(&mut self, open: Span) -> Reported {
        self.unexpected_with("`}`", |error| {
            error.related(open, "this is not closed").hint("is a `}` missing before this?")
        })
    }

    /// A statement that ends with a `;`, given without it.
    fn simple(&mut self, start: Span, kind: StmtKind<'a>) -> OrReported<Stmt<'a>> {
        let span = self.span_from(start);
        if !self.semicolon() {
            let before = self.at;
            self.skip_statement();
            self.lost(before);
        }
        Ok(Stmt { kind, span })
    }

    fn statement(&mut self) -> OrReported<Stmt<'a>> {
        match self.kind() {
            TokenKind::Keyword => self.keyword_statement(),
            TokenKind::Name => self.name_statement(),
            TokenKind::Semicolon => {
                let error = Diagnostic::error(self.token().span, "expected a statement, found `;`");
                Err(self.error(error.hint("write `skip;` for a step that does nothing")))
            }
            _ => Err(self.unexpected("a statement")),
        }
    }

    fn keyword_statement(&mut self) -> OrReported<Stmt<'a>> {
        let start = self.token().span;
        let word = self.word();
        if matches!(word, "cas" | "swap" | "fetch_add") {
            let value = self.expression()?;
            return self.simple(start, StmtKind::Evaluate(value));
        }
        if matches!(word, "const" | "shared") {
            let error = Diagnostic::error(start, format!("`{word}` declarations stand outside threads"));
            return Err(self.error(error.hint("move it to the top, or declare a register with `let`")));
        }
        self.bump();
        match word {
            "skip" => self.simple(start, StmtKind::Skip),
            "break" => self.simple(start, StmtKind::Break),
            "continue" => self.simple(start, StmtKind::Continue),
            "goto" => {
                let label = self.name("a label")?;
                self.simple(start, StmtKind::Goto(label))
            }
            "return" => {
                let value = if self.kind() == TokenKind::Semicolon { None } else { Some(self.source()?) };
                self.simple(start, StmtKind::Return(value))
            }
            "let" => {
                let list = self.declared_list("the register's name")?;
                self.simple(start, StmtKind::Let(list))
            }
            "await" => self.conditional(start, StmtKind::Await),
            "assume" => self.conditional(start, StmtKind::Assume),
            "assert" => self.conditional(start, StmtKind::Assert),
            "fence" => {
                let fence = if self.eat_word("store") { Fence::Store } else { Fence::Full };
                if self.kind() == TokenKind::OpenParen {
                    return Err(
                        self.unexpected_with("`;`", |error| error.hint("write `fence;` or `fence store;`"))
                    );
                }
                self.simple(start, StmtKind::Fence(fence))
            }
            "arw" => self.arw(start),
            _ => self.compound(start, word),
        }
    }

    fn conditional(
        &mut self,
        start: Span,
        kind: impl FnOnce(FwExpr<'a>) -> StmtKind<'a>,
    ) -> OrReported<Stmt<'a>> {
        let cond = self.expression()?;
        self.simple(start, kind(cond))
    }

    fn arw(&mut self, start: Span) -> OrReported<Stmt<'a>> {
        self.expect(TokenKind::OpenParen)?;
        let target = self.target()?;
        self.expect(TokenKind::Comma)?;
        let old = self.expression()?;
        self.expect(TokenKind::Comma)?;
        let new = self.expression()?;
        self.expect(TokenKind::CloseParen)?;
        self.simple(start, StmtKind::Arw(Box::new((target, old, new))))
    }

    /// Statements with a body.
    fn compound(&mut self, start: Span, word: &str) -> OrReported<Stmt<'a>> {
        let head = |p: &Self| p.span_from(start);
        match word {
            "if" => self.if_statement(start),
            "while" => {
                let cond = self.head_condition()?;
                let span = head(self);
                Ok(Stmt { kind: StmtKind::While(cond, self.block()?), span })
            }
            "loop" => Ok(Stmt { kind: StmtKind::Loop(self.block()?), span: start }),
            "atomic" => Ok(Stmt { kind: StmtKind::Atomic(self.block()?), span: start }),
            "choose" => {
                let mut branches = vec![self.block()?];
                while self.eat_word("or") {
                    branches.push(self.block()?);
                }
                Ok(Stmt { kind: StmtKind::Choose(branches), span: start })
            }
            "for" if self.kind() == TokenKind::OpenParen => {
                let hint = "`for i in 0..N { … }` counts with a constant; for other loops there is `while (c) { … }`";
                Err(self.unexpected_with("a counter", |error| error.hint(hint)))
            }
            "for" => {
                let range = Box::new(self.range()?);
                let span = head(self);
                Ok(Stmt { kind: StmtKind::For(range, self.block()?), span })
            }
            _ => {
                self.at -= 1;
                let hint = match word {
                    "else" => "`else` must follow the `}` of an `if`",
                    "or" => "`or` must follow the `}` of a `choose`",
                    _ => "this word is reserved and starts no statement",
                };
                Err(self.unexpected_with("a statement", |error| error.hint(hint)))
            }
        }
    }

    fn if_statement(&mut self, start: Span) -> OrReported<Stmt<'a>> {
        let cond = self.head_condition()?;
        let span = self.span_from(start);
        let mut arms = vec![(cond, self.block()?)];
        let mut otherwise = None;
        while otherwise.is_none() && self.eat_word("else") {
            if self.eat_word("if") {
                let cond = self.head_condition()?;
                arms.push((cond, self.block()?));
            } else {
                otherwise = Some(self.block()?);
            }
        }
        Ok(Stmt { kind: StmtKind::If(arms, otherwise), span })
    }

    /// `(c)`. A broken one is skipped if the block it guards follows.
    fn head_condition(&mut self) -> OrReported<FwExpr<'a>> {
        let start = self.token().span;
        let reported = match self.parenthesised() {
            Ok(cond) if self.kind() == TokenKind::OpenBrace => return Ok(cond),
            Ok(_) => {
                let hint = "the body stands in braces, also if it is one statement";
                self.unexpected_with("`{`", |error| error.hint(hint))
            }
            Err(reported) => reported,
        };
        if self.skip_to_block() { Ok(broken(start)) } else { Err(reported) }
    }

    fn parenthesised(&mut self) -> OrReported<FwExpr<'a>> {
        if !self.eat(TokenKind::OpenParen) {
            let hint = "conditions of `if` and `while` stand in parentheses";
            return Err(self.unexpected_with("`(`", |error| error.hint(hint)));
        }
        let cond = self.expression()?;
        self.expect(TokenKind::CloseParen)?;
        Ok(cond)
    }

    /// Statements that start with a name: labels, assignments, calls, and the words that mean
    /// something only here.
    fn name_statement(&mut self) -> OrReported<Stmt<'a>> {
        let start = self.token().span;
        match self.next_kind() {
            TokenKind::Colon => {
                let label = self.declare("a label")?;
                self.bump();
                Ok(Stmt { kind: StmtKind::Label(label), span: label.span })
            }
            TokenKind::Assign | TokenKind::OpenBracket | TokenKind::Dot => self.assignment(start),
            TokenKind::OpenParen if self.word() == "switch" => self.contextual_statement(start),
            sign if arithmetic(sign).is_some() => self.assignment(start),
            TokenKind::OpenParen => self.call_statement(start),
            _ => self.contextual_statement(start),
        }
    }

    /// `x = e;`, `x += e;` and its like, `x++;`, `x--;`
    fn assignment(&mut self, start: Span) -> OrReported<Stmt<'a>> {
        let target = self.target()?;
        let Some(op) = arithmetic(self.kind()) else {
            self.expect(TokenKind::Assign)?;
            let value = self.source()?;
            return self.simple(start, StmtKind::Assign(target, value));
        };
        let behind = self.at;
        let sign = self.bump();
        let touches = self.token().span.start == sign.span.end;
        let counts = [UpdateOperator::Arith(Arith::Add), UpdateOperator::Arith(Arith::Sub)];
        let steps = counts.contains(&op) && self.kind() == sign.kind;
        if !touches || !(steps || self.kind() == TokenKind::Assign) {
            self.at = behind;
            return Err(self.unexpected("`=`"));
        }
        let last = self.bump().span;
        let other = match steps {
            true => FwExpr { kind: ExprKind::Int(Int::from(1)), span: last, height: 1 },
            false => self.expression()?,
        };
        self.simple(start, StmtKind::Update(target, op, other))
    }

    fn call_statement(&mut self, start: Span) -> OrReported<Stmt<'a>> {
        let word = self.word();
        let call = self.expression()?;
        let is_call = matches!(call.kind, ExprKind::Call(..) | ExprKind::Atomic(_));
        if !is_call {
            return Err(self.unexpected("`=`"));
        }
        if self.kind() == TokenKind::OpenBrace {
            let error = Diagnostic::error(start, format!("`{word}` starts no statement with a block"));
            let hint = did_you_mean(word, STATEMENTS.iter().copied());
            return Err(self.error(Diagnostic { hint, ..error }));
        }
        self.simple(start, StmtKind::Evaluate(call))
    }

    fn contextual_statement(&mut self, start: Span) -> OrReported<Stmt<'a>> {
        match (self.word(), self.next_kind()) {
            ("membarrier", TokenKind::Semicolon) => self.bare(start, StmtKind::Membarrier),
            ("stop", TokenKind::Semicolon) => self.bare(start, StmtKind::Stop),
            ("lock", TokenKind::Semicolon) => self.bare(start, StmtKind::Lock),
            ("unlock", TokenKind::Semicolon) => self.bare(start, StmtKind::Unlock),
            ("do", TokenKind::OpenBrace) => self.do_while(start),
            ("switch", TokenKind::OpenParen) => self.switch(start),
            ("fail", _) => self.fail(start),
            (word @ ("locked" | "together"), TokenKind::OpenBrace) => {
                self.bump();
                let parts = self.block()?;
                let span = self.span_from(start);
                // The printer ends every step with a semicolon.
                self.eat(TokenKind::Semicolon);
                Ok(Stmt { kind: StmtKind::Together { locked: word == "locked", parts }, span })
            }
            ("unchecked", TokenKind::Name | TokenKind::Keyword) => {
                self.bump();
                let inner = self.nested(Self::statement)?;
                Ok(Stmt { span: start.to(inner.span), kind: StmtKind::Unchecked(Box::new(inner)) })
            }
            (word, next) => {
                let types = ["int", "unsigned", "long", "char", "bool", "var", "auto"];
                let hint = match (types.contains(&word), next) {
                    _ if word == "include" && next == TokenKind::Quoted => {
                        Some("`include` stands outside of threads and functions".to_string())
                    }
                    (true, TokenKind::Name) => Some("registers are declared with `let x;`".to_string()),
                    _ => did_you_mean(word, STATEMENTS.iter().copied()),
                };
                self.bump();
                Err(self.unexpected_with("`=`", |error| Diagnostic {
                    hint: hint.or(error.hint.clone()),
                    ..error
                }))
            }
        }
    }

    fn do_while(&mut self, start: Span) -> OrReported<Stmt<'a>> {
        self.bump();
        let body = self.block()?;
        self.expect_word("while")?;
        let cond = self.parenthesised()?;
        let statement = self.simple(start, StmtKind::DoWhile(body, cond))?;
        Ok(Stmt { span: start, ..statement })
    }

    fn bare(&mut self, start: Span, kind: StmtKind<'a>) -> OrReported<Stmt<'a>> {
        self.bump();
        self.simple(start, kind)
    }

    fn fail(&mut self, start: Span) -> OrReported<Stmt<'a>> {
        self.bump();
        let kind = if self.eat_word("division") {
            Fail::Division
        } else if self.eat_word("bounds") {
            let array = self.name("the array's name")?;
            self.expect(TokenKind::OpenBracket)?;
            let length = self.expression()?;
            self.expect(TokenKind::CloseBracket)?;
            self.expect_word("at")?;
            Fail::Bounds(array, Box::new((length, self.expression()?)))
        } else if self.eat_word("error") {
            Fail::Error(self.quoted()?)
        } else if self.eat_word("limit") {
            Fail::Limit(self.quoted()?)
        } else {
            Fail::Assertion
        };
        self.simple(start, StmtKind::Fail(kind))
    }

    /// Words in quotes.
    fn quoted(&mut self) -> OrReported<String> {
        let words = self.word();
        self.expect(TokenKind::Quoted)?;
        Ok(unquoted(words))
    }

    /// `switch (e) { case 1: … default: … }`
    fn switch(&mut self, start: Span) -> OrReported<Stmt<'a>> {
        self.bump();
        let value = self.head_condition()?;
        let span = self.span_from(start);
        let open = self.expect(TokenKind::OpenBrace)?.span;
        let cases = self.nested(|p| {
            let mut cases = Vec::new();
            while !p.at_close(open)? {
                match p.switch_case(open) {
                    Ok(case) => cases.push(case),
                    // The rest of the body belongs to it.
                    Err(_) => p.skip_to_case(),
                }
            }
            Ok(cases)
        })?;
        Ok(Stmt { kind: StmtKind::Switch(value, cases), span })
    }

    fn at_case(&self) -> bool {
        let next = self.next_kind();
        self.is_word("case") && next != TokenKind::Assign
            || self.is_word("default") && next == TokenKind::Colon
    }

    /// Skips to the next case, or to the end of the `switch`.
    fn skip_to_case(&mut self) {
        let before = self.at;
        while !self.at_case() && !matches!(self.kind(), TokenKind::CloseBrace | TokenKind::End) {
            let here = self.at;
            self.skip_statement();
            if self.at == here {
                break;
            }
        }
        self.lost(before);
    }

    fn switch_case(&mut self, open: Span) -> OrReported<SwitchCase<'a>> {
        let start = self.token().span;
        if !self.at_case() {
            let hint = "a `switch` holds `case 1: …` and `default: …`";
            return Err(self.unexpected_with("`case`", |error| error.hint(hint)));
        }
        let (mut values, mut default) = (Vec::new(), false);
        while self.at_case() {
            match self.eat_word("default") {
                true => default = true,
                false => {
                    self.bump();
                    values.extend(self.comma_list(Self::expression)?);
                }
            }
            self.expect(TokenKind::Colon)?;
        }
        let span = self.span_from(start);
        let mut statements = Vec::new();
        let ends = |p: &Self| {
            p.at_case()
                || p.kind() == TokenKind::CloseBrace
                || p.kind() == TokenKind::End
                || p.at_declaration()
        };
        while !ends(self) && !self.sink.is_full() {
            statements.push(self.whole_statement());
        }
        let body = Block { statements, close: self.previous() };
        if self.kind() == TokenKind::End && !self.unclosed {
            self.not_closed(open);
            self.unclosed = true;
        }
        Ok(SwitchCase { values, default, body, span })
    }

    /// `name`, with indices and fields
    pub(super) fn target(&mut self) -> OrReported<Target<'a>> {
        let name = self.name("a variable")?;
        let mut path = Vec::new();
        loop {
            if self.eat(TokenKind::OpenBracket) {
                path.push(Accessor::Index(self.expression()?));
                self.expect(TokenKind::CloseBracket)?;
            } else if self.eat(TokenKind::Dot) {
                path.push(Accessor::Field(self.name("a field or register")?));
            } else {
                return Ok(Target { name, path, span: self.span_from(name.span) });
            }
        }
    }

    /// `let` and `shared`: names, each with lengths and a value to start with. In front of all of them may
    /// stand the name of a struct.
    pub(super) fn declared_list(&mut self, what: &str) -> OrReported<Vec<FwDeclaration<'a>>> {
        let record = match (self.kind(), self.next_kind()) {
            (TokenKind::Name, TokenKind::Name) => Some(self.name("a struct")?),
            _ => None,
        };
        self.comma_list(|p| p.declared(record, what))
    }
}

fn broken<'a>(span: Span) -> FwExpr<'a> {
    FwExpr { kind: ExprKind::Broken, span, height: 0 }
}
