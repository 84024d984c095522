//! Tokens to statements.

use super::lexer::RmmTokenKind;
use super::parser::{RmmParser, is_keyword};
use super::syntax::{Labelled, MemoryOperand, RmmStatement, WriteStrength};
use crate::{Diagnostic, check_nesting};
use num_traits::ToPrimitive;

impl RmmParser<'_> {
    /// `s; s; …`
    pub(super) fn statements(&mut self, depth: usize) -> Result<Vec<Labelled>, Diagnostic> {
        self.separated(|parser| parser.labelled(depth))
    }

    fn labelled(&mut self, depth: usize) -> Result<Labelled, Diagnostic> {
        check_nesting(depth, self.span())?;
        let mut label = None;
        if self.peek_at(1) == Some(&RmmTokenKind::Sign(":")) {
            let span = self.span();
            if let Some(name) = self.name() {
                label = Some((name.to_string(), span));
                self.skip();
            }
        }
        let first = self.position();
        let head = self.span();
        let statement = self.statement(depth)?;
        let span = match statement {
            RmmStatement::If(..)
            | RmmStatement::While(..)
            | RmmStatement::Either(_)
            | RmmStatement::Sequence(_) => head,
            _ => self.since(first),
        };
        Ok(Labelled { label, statement, span })
    }

    fn statement(&mut self, depth: usize) -> Result<RmmStatement, Diagnostic> {
        if let Some(RmmTokenKind::Register(_)) = self.peek() {
            let register = self.register("a register")?;
            self.expect(":=")?;
            return Ok(RmmStatement::Assign(register, self.expression(0)?));
        }
        if self.sign("{") {
            let inner = self.statements(depth + 1)?;
            self.expect("}")?;
            return Ok(RmmStatement::Sequence(inner));
        }
        let Some(RmmTokenKind::Word(word)) = self.peek() else { return Err(self.unexpected("a statement")) };
        let (word, span) = (*word, self.span());
        if !is_keyword(word) {
            return Err(self
                .unexpected("a statement")
                .hint("a label is followed by `:`, a macro is defined before its use"));
        }
        self.word(word);
        match word {
            "nop" | "llfence" => Ok(RmmStatement::Nop),
            "fence" => Ok(RmmStatement::Fence),
            "ssfence" => Ok(RmmStatement::StoreFence),
            "read" => self.read(),
            "write" => self.write(WriteStrength::Plain),
            "syncrd" => {
                self.foreign(span, word, "a plain read");
                self.read()
            }
            "syncwr" => {
                self.foreign(span, word, "a locked write");
                self.write(WriteStrength::Locked)
            }
            "slocked" => {
                self.expect_word("write")?;
                self.write(WriteStrength::StoreLocked)
            }
            "locked" if self.word("write") => self.write(WriteStrength::Locked),
            "locked" => Ok(RmmStatement::Locked(self.alternatives(depth)?)),
            "either" => Ok(RmmStatement::Either(self.alternatives(depth)?)),
            "cas" => self.cas(),
            "assume" => {
                self.expect(":")?;
                Ok(RmmStatement::Assume(self.condition(0)?))
            }
            "goto" => match self.name() {
                Some(label) => Ok(RmmStatement::Goto(label.to_string())),
                None => Err(self.unexpected("a label")),
            },
            "if" => self.branch(depth),
            "while" => {
                let cond = self.condition(0)?;
                self.expect_word("do")?;
                Ok(RmmStatement::While(cond, Box::new(self.labelled(depth + 1)?)))
            }
            _ => Err(Diagnostic::error(span, format!("expected a statement, found `{word}`"))),
        }
    }

    fn foreign(&mut self, span: program::Span, word: &str, meaning: &str) {
        let message = format!("`{word}` belongs to another memory model and is read as {meaning}");
        if self.warnings.iter().all(|warning| warning.message != message) {
            self.warnings.push(Diagnostic::warning(span, message));
        }
    }

    /// `: $r := x` or `: x = e`
    fn read(&mut self) -> Result<RmmStatement, Diagnostic> {
        self.expect(":")?;
        if let Some(RmmTokenKind::Register(_)) = self.peek() {
            let register = self.register("a register")?;
            self.expect(":=")?;
            return Ok(RmmStatement::Read(register, self.memory()?));
        }
        let memory = self.memory()?;
        self.expect("=")?;
        Ok(RmmStatement::Await(memory, self.expression(0)?))
    }

    /// `: x := e`
    fn write(&mut self, strength: WriteStrength) -> Result<RmmStatement, Diagnostic> {
        self.expect(":")?;
        let memory = self.memory()?;
        self.expect(":=")?;
        Ok(RmmStatement::Write(memory, self.expression(0)?, strength))
    }

    /// `(x, e, e)`
    fn cas(&mut self) -> Result<RmmStatement, Diagnostic> {
        self.expect("(")?;
        let memory = self.memory()?;
        self.expect(",")?;
        let old = self.expression(0)?;
        self.expect(",")?;
        let new = self.expression(0)?;
        self.expect(")")?;
        Ok(RmmStatement::Cas(memory, old, new))
    }

    fn branch(&mut self, depth: usize) -> Result<RmmStatement, Diagnostic> {
        let cond = self.condition(0)?;
        self.expect_word("then")?;
        let yes = Box::new(self.labelled(depth + 1)?);
        let no = if self.word("else") { Some(Box::new(self.labelled(depth + 1)?)) } else { None };
        Ok(RmmStatement::If(cond, yes, no))
    }

    /// `{ … or … }`
    fn alternatives(&mut self, depth: usize) -> Result<Vec<Vec<Labelled>>, Diagnostic> {
        self.expect("{")?;
        let mut found = vec![self.statements(depth + 1)?];
        while self.word("or") {
            found.push(self.statements(depth + 1)?);
        }
        self.expect("}")?;
        Ok(found)
    }

    fn memory(&mut self) -> Result<MemoryOperand, Diagnostic> {
        if self.sign("[") {
            let pointer = self.expression(0)?;
            self.expect("]")?;
            return Ok(MemoryOperand::Pointer(pointer));
        }
        let Some(name) = self.name() else { return Err(self.unexpected("a variable")) };
        let name = name.to_string();
        if !self.sign("[") {
            return Ok(MemoryOperand::Global(name));
        }
        let memory = if self.word("my") {
            MemoryOperand::Mine(name)
        } else {
            let Some(RmmTokenKind::Number(value)) = self.peek() else {
                return Err(self.unexpected("`my` or the number of another process"));
            };
            let Some(owner) = value.to_usize() else {
                return Err(self.unexpected("the number of a process"));
            };
            self.skip();
            MemoryOperand::Other(name, owner)
        };
        self.expect("]")?;
        Ok(memory)
    }
}
