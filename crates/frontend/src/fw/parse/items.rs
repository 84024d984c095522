//! Declarations and properties.

use super::FwParser;
use crate::Diagnostic;
use crate::fw::ast::{
    Function, FwDeclaration, FwParameter, FwStruct, FwThread, Ident, IndexRange, Initial, Item, Rvalue,
};
use crate::fw::lexer::TokenKind;
use crate::fw::sink::OrReported;
use program::{PropertyKind, Span};

impl<'a> FwParser<'a, '_> {
    /// Everything up to the end of the text.
    pub(super) fn items(&mut self) -> Vec<Item<'a>> {
        let mut items = Vec::new();
        while self.kind() != TokenKind::End && !self.sink.is_full() {
            self.unclosed = false;
            let before = self.at;
            match self.item() {
                Ok(item) => items.push(item),
                Err(_) => {
                    if self.at == before {
                        self.bump();
                    }
                    self.skip_item();
                    self.lost_item(before);
                }
            }
        }
        items
    }

    fn item(&mut self) -> OrReported<Item<'a>> {
        let word = if self.kind() == TokenKind::Keyword { self.word() } else { "" };
        match word {
            "const" => self.constants(),
            "shared" => self.shared(),
            "fn" => self.function(),
            "thread" => self.thread(),
            "never" => self.property(PropertyKind::Never),
            "finally" => self.property(PropertyKind::Finally),
            "assume" => self.assumption(),
            "predicates" => self.predicates(),
            "for" => self.item_loop(),
            _ if self.is_word("include") && self.next_kind() == TokenKind::Quoted => {
                self.bump();
                self.bump();
                self.end_item();
                Ok(Item::Include)
            }
            _ if self.is_word("struct") && self.next_kind() == TokenKind::Name => self.record(),
            _ if self.kind() == TokenKind::CloseBrace => {
                let error = Diagnostic::error(self.token().span, "this `}` closes nothing");
                Err(self.error(error.hint("remove it, or look for a `}` too many before it")))
            }
            _ => Err(self.unexpected_with("a declaration", |error| {
                error.hint("a program consists of `const`, `shared`, `fn`, `thread`, `never` and `finally`")
            })),
        }
    }

    /// Ends a declaration; what is between it and the next one is skipped.
    fn end_item(&mut self) {
        if !self.semicolon() {
            let before = self.at;
            self.skip_item();
            self.lost(before);
        }
    }

    fn constants(&mut self) -> OrReported<Item<'a>> {
        self.bump();
        let list = self.comma_list(|p| {
            let name = p.declare("the constant's name")?;
            p.expect(TokenKind::Assign)?;
            Ok((name, p.expression()?))
        })?;
        self.end_item();
        Ok(Item::Constants(list))
    }

    fn shared(&mut self) -> OrReported<Item<'a>> {
        self.bump();
        let list = self.declared_list("the variable's name")?;
        self.end_item();
        Ok(Item::Shared(list))
    }

    /// `struct Node { value = -1, next[2] }`
    fn record(&mut self) -> OrReported<Item<'a>> {
        self.bump();
        let name = self.declare("the struct's name")?;
        self.expect(TokenKind::OpenBrace)?;
        let mut fields = Vec::new();
        while self.kind() != TokenKind::CloseBrace {
            let record = match (self.kind(), self.next_kind()) {
                (TokenKind::Name, TokenKind::Name) => Some(self.name("a struct")?),
                _ => None,
            };
            fields.push(self.declared(record, "the field's name")?);
            // Both are common, and neither can mean anything else.
            if !self.eat(TokenKind::Comma) && !self.eat(TokenKind::Semicolon) {
                break;
            }
        }
        self.expect(TokenKind::CloseBrace)?;
        self.eat(TokenKind::Semicolon);
        Ok(Item::Struct(FwStruct { name, fields }))
    }

    /// A name, with lengths and a value to start with.
    pub(super) fn declared(
        &mut self,
        record: Option<Ident<'a>>,
        what: &str,
    ) -> OrReported<FwDeclaration<'a>> {
        let name = self.declare(what)?;
        let mut lengths = Vec::new();
        while self.eat(TokenKind::OpenBracket) {
            lengths.push(self.expression()?);
            self.expect(TokenKind::CloseBracket)?;
        }
        let initial = match self.eat(TokenKind::Assign) {
            false => Initial::Zero,
            true => self.initial()?,
        };
        Ok(FwDeclaration { record, name, lengths, initial, span: self.span_from(name.span) })
    }

    fn initial(&mut self) -> OrReported<Initial<'a>> {
        if self.kind() != TokenKind::OpenBrace {
            return Ok(Initial::Same(self.source()?));
        }
        self.nested(|p| {
            let open = p.bump().span;
            let mut list = Vec::new();
            while p.kind() != TokenKind::CloseBrace {
                list.push(p.initial_part()?);
                if !p.eat(TokenKind::Comma) {
                    break;
                }
            }
            p.expect(TokenKind::CloseBrace)?;
            Ok(Initial::List(list, p.span_from(open)))
        })
    }

    /// One value of a list, or one for each number of a range.
    fn initial_part(&mut self) -> OrReported<Initial<'a>> {
        if !self.eat_word("for") {
            return self.initial();
        }
        let range = self.range()?;
        self.expect(TokenKind::Colon)?;
        Ok(Initial::For(Box::new((range, self.initial()?))))
    }

    /// A right-hand side: a value, `any`, or `any in lo..hi`.
    pub(super) fn source(&mut self) -> OrReported<Rvalue<'a>> {
        let start = self.token().span;
        if !self.eat_word("any") {
            return Ok(Rvalue::Value(self.expression()?));
        }
        if !self.eat_word("in") {
            if !matches!(self.kind(), TokenKind::Semicolon | TokenKind::Comma | TokenKind::CloseBrace) {
                let hint = "`any` stands alone; give it to a register and compute with that";
                return Err(self.unexpected_with("`;`", |error| error.hint(hint)));
            }
            return Ok(Rvalue::Any);
        }
        let bounds = Box::new(self.bounds()?);
        Ok(Rvalue::AnyIn(bounds, self.span_from(start)))
    }

    /// `i in lo..hi`
    pub(super) fn range(&mut self) -> OrReported<IndexRange<'a>> {
        let name = self.declare("a name that counts")?;
        self.expect_word("in")?;
        let (low, high) = self.bounds()?;
        Ok(IndexRange { name, low, high })
    }

    fn function(&mut self) -> OrReported<Item<'a>> {
        self.bump();
        let name = self.declare("the function's name")?;
        self.expect(TokenKind::OpenParen)?;
        let mut parameters = Vec::new();
        if self.kind() != TokenKind::CloseParen {
            parameters = self.comma_list(|p| {
                let reference = p.eat(TokenKind::And);
                Ok(FwParameter { name: p.declare("a parameter's name")?, reference })
            })?;
        }
        self.expect(TokenKind::CloseParen)?;
        let body = self.block()?;
        Ok(Item::Function(Function { name, parameters, body }))
    }

    fn thread(&mut self) -> OrReported<Item<'a>> {
        self.bump();
        let name = self.declare("the thread's name")?;
        let mut range = None;
        if self.eat(TokenKind::OpenParen) {
            range = Some(self.range()?);
            self.expect(TokenKind::CloseParen)?;
        }
        let body = self.block()?;
        if body.statements.is_empty() && !self.unclosed {
            let message = format!("the thread `{}` has no statements", name.text);
            let error = Diagnostic::error(name.span, message);
            self.error(error.hint("write `skip;` if it is meant to do nothing"));
        }
        Ok(Item::Thread(FwThread { name, range, body }))
    }

    fn property(&mut self, kind: PropertyKind) -> OrReported<Item<'a>> {
        let start = self.bump().span;
        let name = match (self.kind(), self.next_kind()) {
            (TokenKind::Name, TokenKind::Colon) => {
                let name = self.name("a name")?;
                self.bump();
                Some(name)
            }
            _ => None,
        };
        let cond = self.expression()?;
        let span = self.span_from(start);
        self.end_item();
        Ok(Item::Property { kind, name, cond, span })
    }

    /// `assume n > 0;` about initial values
    fn assumption(&mut self) -> OrReported<Item<'a>> {
        let start = self.bump().span;
        let cond = self.expression()?;
        let span = self.span_from(start);
        self.end_item();
        Ok(Item::Assume { cond, span })
    }

    fn predicates(&mut self) -> OrReported<Item<'a>> {
        self.bump();
        let open = self.expect(TokenKind::OpenBrace)?.span;
        let mut list = Vec::new();
        while !self.at_close(open)? {
            match self.expression() {
                Ok(cond) => {
                    list.push(cond);
                    if !self.semicolon() {
                        self.skip_statement();
                    }
                }
                Err(_) => self.skip_statement(),
            }
        }
        Ok(Item::Predicates(list))
    }

    /// `for i in lo..hi { … }` around properties and assumptions.
    fn item_loop(&mut self) -> OrReported<Item<'a>> {
        self.bump();
        let range = self.range()?;
        let open = self.expect(TokenKind::OpenBrace)?.span;
        let mut items = Vec::new();
        self.nested(|p| {
            while !p.at_close_of_items(open)? {
                let before = p.at;
                match p.looped_item() {
                    Ok(item) => items.push(item),
                    Err(_) => {
                        if p.at == before {
                            p.bump();
                        }
                        p.skip_statement();
                        p.lost(before);
                    }
                }
            }
            Ok(())
        })?;
        Ok(Item::For(range, items))
    }

    fn looped_item(&mut self) -> OrReported<Item<'a>> {
        let allowed =
            ["never", "finally", "assume", "predicates", "for"].iter().any(|word| self.is_word(word));
        if allowed {
            return self.item();
        }
        Err(self.unexpected_with("`never`, `finally`, `assume`, `predicates` or `for`", |error| {
            error.hint("outside threads, only properties and assumptions can be repeated")
        }))
    }

    /// Takes the closing brace if it is here.
    fn at_close_of_items(&mut self, open: Span) -> OrReported<bool> {
        match self.kind() {
            TokenKind::End => Err(self.not_closed(open)),
            _ => Ok(self.eat(TokenKind::CloseBrace)),
        }
    }
}
