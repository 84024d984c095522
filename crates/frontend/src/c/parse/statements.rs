//! Statements.

use super::{CParsed, CScope, Parser};
use crate::c::ast::{CExpr, CStmt, CStmtKind, For};
use crate::c::lexer::Kind;

impl Parser<'_> {
    /// Statements between braces.
    pub(super) fn block(&mut self) -> CParsed<Vec<CStmt>> {
        self.expect("{")?;
        self.scopes.push(CScope::default());
        let mut list = Vec::new();
        while !self.eat("}") {
            if self.peek().text.is_empty() {
                return Err(self.unexpected("`}`"));
            }
            list.push(self.statement()?);
        }
        self.scopes.pop();
        Ok(list)
    }

    pub(super) fn statement(&mut self) -> CParsed<CStmt> {
        self.deeper(|p| {
            let start = p.at;
            let kind = p.statement_kind()?;
            Ok(CStmt { kind, span: p.span_from(start), token: start as u32 })
        })
    }

    fn boxed(&mut self) -> CParsed<Box<CStmt>> {
        self.statement().map(Box::new)
    }

    fn statement_kind(&mut self) -> CParsed<CStmtKind> {
        if self.is("{") {
            return self.block().map(CStmtKind::Block);
        }
        if self.eat(";") {
            return Ok(CStmtKind::Empty);
        }
        let token = self.peek();
        if token.kind != Kind::Name {
            return self.expression_statement();
        }
        let word = token.text.clone();
        if self.peek_at(1).is(":") && !matches!(&*word, "default" | "case") {
            let name = self.name()?;
            self.at += 1;
            self.skip_attributes()?;
            return Ok(CStmtKind::Label(name, self.labelled()?));
        }
        match &*word {
            "if" | "while" | "do" | "for" | "switch" => self.compound(&word),
            "case" | "default" => self.case(&word),
            "goto" | "break" | "continue" | "return" => {
                self.at += 1;
                let kind = match &*word {
                    "goto" if self.is("*") => {
                        return Err(self.error_at(self.at, "`goto` to a computed place is not read"));
                    }
                    "goto" => CStmtKind::Goto(self.name()?),
                    "break" => CStmtKind::Break,
                    "continue" => CStmtKind::Continue,
                    _ if self.is(";") => CStmtKind::Return(None),
                    _ => CStmtKind::Return(Some(self.expression()?)),
                };
                self.expect(";")?;
                Ok(kind)
            }
            "asm" | "__asm__" | "__asm" => self.asm(),
            "__label__" => {
                while !self.eat(";") {
                    self.at += 1;
                    if self.peek().text.is_empty() {
                        return Err(self.unexpected("`;`"));
                    }
                }
                Ok(CStmtKind::Empty)
            }
            "__attribute__" if self.peek_at(1).is("(") => {
                self.skip_attributes()?;
                self.statement_kind()
            }
            _ if self.starts_type(0) => self.declaration().map(CStmtKind::Declare),
            _ => self.expression_statement(),
        }
    }

    fn expression_statement(&mut self) -> CParsed<CStmtKind> {
        let expr = self.expression()?;
        self.expect(";")?;
        Ok(CStmtKind::Expr(expr))
    }

    fn compound(&mut self, word: &str) -> CParsed<CStmtKind> {
        self.at += 1;
        match word {
            "do" => {
                let body = self.boxed()?;
                if !self.eat_word("while") {
                    return Err(self.unexpected("`while`"));
                }
                let cond = self.condition()?;
                self.expect(";")?;
                Ok(CStmtKind::DoWhile(body, cond))
            }
            "for" => {
                self.scopes.push(CScope::default());
                let kind = self.for_loop()?;
                self.scopes.pop();
                Ok(kind)
            }
            _ => {
                let cond = self.condition()?;
                let body = self.boxed()?;
                match word {
                    "while" => Ok(CStmtKind::While(cond, body)),
                    "switch" => Ok(CStmtKind::Switch(cond, body)),
                    _ => {
                        let otherwise = if self.eat_word("else") { Some(self.boxed()?) } else { None };
                        Ok(CStmtKind::If(cond, body, otherwise))
                    }
                }
            }
        }
    }

    fn condition(&mut self) -> CParsed<CExpr> {
        self.expect("(")?;
        let cond = self.expression()?;
        self.expect(")")?;
        Ok(cond)
    }

    fn for_loop(&mut self) -> CParsed<CStmtKind> {
        self.expect("(")?;
        let start = self.at;
        let init = if self.eat(";") {
            None
        } else {
            let kind = match self.starts_type(0) {
                true => CStmtKind::Declare(self.declaration()?),
                false => self.expression_statement()?,
            };
            Some(CStmt { kind, span: self.span_from(start), token: start as u32 })
        };
        let cond = if self.is(";") { None } else { Some(self.expression()?) };
        self.expect(";")?;
        let step = if self.is(")") { None } else { Some(self.expression()?) };
        self.expect(")")?;
        let body = self.statement()?;
        Ok(CStmtKind::For(Box::new(For { init, cond, step, body })))
    }

    fn case(&mut self, word: &str) -> CParsed<CStmtKind> {
        self.at += 1;
        if word == "default" {
            self.expect(":")?;
            return self.labelled().map(CStmtKind::Default);
        }
        let low = self.constant_expression()?;
        let high = if self.eat("...") { self.constant_expression()? } else { low };
        self.expect(":")?;
        Ok(CStmtKind::Case(low, high, self.labelled()?))
    }

    /// The statement behind a label or a `case`; there may be none at the end of the block.
    fn labelled(&mut self) -> CParsed<Box<CStmt>> {
        if self.is("}") {
            let span = self.peek().span.before();
            return Ok(Box::new(CStmt { kind: CStmtKind::Empty, span, token: self.at as u32 }));
        }
        self.boxed()
    }

    /// `asm("…" : … : … : …);` as its text, and whether it has outputs, which get values that its text says.
    fn asm(&mut self) -> CParsed<CStmtKind> {
        self.at += 1;
        while matches!(&*self.peek().text, "volatile" | "__volatile__" | "__volatile" | "goto" | "inline") {
            self.at += 1;
        }
        self.expect("(")?;
        let mut text = String::new();
        while self.peek().kind == Kind::Text {
            text += self.peek().text.trim_matches('"');
            self.at += 1;
        }
        let back = self.at - 1;
        // What is between the text and the closing parenthesis: clobbers and operands.
        let mut open = 1usize;
        let mut outputs = false;
        while open > 0 {
            let token = self.peek();
            if token.text.is_empty() {
                self.at = back;
                return Err(self.unexpected("`)`"));
            }
            outputs |= token.kind == Kind::Text && token.text.contains('=');
            open += usize::from(token.is("("));
            open -= usize::from(token.is(")"));
            self.at += 1;
        }
        self.expect(";")?;
        if outputs {
            text += " with outputs";
        }
        Ok(CStmtKind::Asm(text))
    }
}
