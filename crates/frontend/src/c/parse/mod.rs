//! Tokens to a tree: C11 and the GNU forms that occur.
//!
//! A name may be a type or not, so scopes are kept while parsing, with the types of objects too,
//! because `sizeof` and `typeof` may ask for them. Nesting and heights of trees are bounded, so no
//! text makes this or what follows recurse too deep. The first error ends it.

mod constants;
mod declarations;
mod expressions;
mod specifiers;
mod statements;

use super::ast::{CExpr, CExprKind, Unit};
use super::lexer::{Kind, Token, Written};
use super::limits;
use super::pre::CFiles;
use super::types::Type;
use crate::Diagnostic;
use program::Span;
use std::collections::HashMap;
use std::rc::Rc;

/// What a name means.
#[derive(Clone, Debug)]
enum CMeaning {
    Type(Type),
    Constant(i128),
    Object(Type),
}

/// Names of one block.
#[derive(Default)]
struct CScope {
    names: HashMap<Rc<str>, CMeaning>,
    tags: HashMap<Rc<str>, Type>,
}

struct Parser<'t> {
    tokens: &'t [Token],
    files: &'t CFiles,
    at: usize,
    depth: usize,
    scopes: Vec<CScope>,
    unit: Unit,
    /// The function we are in, for `__func__`.
    function: Rc<str>,
    /// The length of the array that was just declared, if it is no constant.
    length: Option<CExpr>,
    end: Token,
}

/// The outcome of something that ends with the first error.
type CParsed<T> = Result<T, Box<Diagnostic>>;

/// Parses a text.
pub(super) fn parse(tokens: &[Token], files: &CFiles, text_end: usize) -> Result<Unit, Diagnostic> {
    let span = Span::new(text_end, text_end);
    let Some(mut end) = tokens.last().cloned() else {
        return Err(Diagnostic::error(Span::NONE, "the text is empty").hint("a program needs a `main`"));
    };
    (end.kind, end.text, end.span, end.trail) = (Kind::Other, "".into(), span, None);
    end.written = Written { file: 0, span };
    let mut parser = Parser {
        tokens,
        files,
        at: 0,
        depth: 0,
        scopes: vec![CScope::default()],
        unit: Unit::default(),
        function: "".into(),
        length: None,
        end,
    };
    // Compilers know this type without a header.
    parser.declare("__builtin_va_list".into(), CMeaning::Type(Type::void().pointer()));
    while parser.at < tokens.len() {
        parser.external().map_err(|error| *error)?;
    }
    Ok(parser.unit)
}

impl<'t> Parser<'t> {
    fn peek(&self) -> &Token {
        self.peek_at(0)
    }

    fn peek_at(&self, ahead: usize) -> &Token {
        self.tokens.get(self.at + ahead).unwrap_or(&self.end)
    }

    fn is(&self, sign: &str) -> bool {
        self.peek().is(sign)
    }

    fn is_word(&self, word: &str) -> bool {
        self.peek().is_name(word)
    }

    fn eat(&mut self, sign: &str) -> bool {
        let found = self.is(sign);
        self.at += usize::from(found);
        found
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, sign: &str) -> CParsed<()> {
        if self.eat(sign) {
            return Ok(());
        }
        Err(self.unexpected(&format!("`{sign}`")))
    }

    fn unexpected(&self, wanted: &str) -> Box<Diagnostic> {
        let token = self.peek();
        let message = match token.text.is_empty() {
            true => format!("the text ends where {wanted} is expected"),
            false => format!("{wanted} is expected here, not `{}`", token.text),
        };
        Box::new(self.files.error(token, message))
    }

    fn error_at(&self, token: usize, message: impl Into<String>) -> Box<Diagnostic> {
        Box::new(self.files.error(self.tokens.get(token).unwrap_or(&self.end), message))
    }

    fn deeper<T>(&mut self, inner: impl FnOnce(&mut Self) -> CParsed<T>) -> CParsed<T> {
        if self.depth >= limits::NESTING {
            let message = format!("this is nested more than {} deep", limits::NESTING);
            return Err(Box::new(self.files.error(self.peek(), message)));
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    /// The main text's span of the tokens from `start` up to here.
    fn span_from(&self, start: usize) -> Span {
        let tokens = &self.tokens[start.min(self.tokens.len())..self.at.min(self.tokens.len())];
        match (tokens.first(), tokens.last()) {
            (Some(first), Some(last)) => {
                let both = first.span.to(last.span);
                if both.start <= both.end { both } else { first.span }
            }
            _ => self.peek().span,
        }
    }

    fn expr(&self, kind: CExprKind, start: usize, token: usize) -> CParsed<CExpr> {
        let mut height = 0;
        let mut expr = CExpr { kind, span: self.span_from(start), token: token as u32, height: 0 };
        expr.for_each_part(&mut |part| height = height.max(part.height), &mut |_| {});
        expr.height = height + 1;
        if expr.height > limits::HEIGHT {
            return Err(self.error_at(token, "this expression is too long; compute it in several steps"));
        }
        Ok(expr)
    }

    fn meaning(&self, name: &str) -> Option<&CMeaning> {
        self.scopes.iter().rev().find_map(|scope| scope.names.get(name))
    }

    fn declare(&mut self, name: Rc<str>, meaning: CMeaning) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.names.insert(name, meaning);
        }
    }

    fn name(&mut self) -> CParsed<Rc<str>> {
        let token = self.peek();
        if token.kind != Kind::Name || is_keyword(&token.text) {
            return Err(self.unexpected("a name"));
        }
        let name = Rc::clone(&token.text);
        self.at += 1;
        Ok(name)
    }

    /// Steps over something between parentheses.
    fn skip_parentheses(&mut self) -> CParsed<()> {
        self.expect("(")?;
        let mut open = 1usize;
        while open > 0 {
            let token = self.peek();
            if token.text.is_empty() {
                return Err(self.unexpected("`)`"));
            }
            open += usize::from(token.is("("));
            open -= usize::from(token.is(")"));
            self.at += 1;
        }
        Ok(())
    }

    /// Steps over `__attribute__((…))` and `__extension__`.
    fn skip_attributes(&mut self) -> CParsed<()> {
        loop {
            match &*self.peek().text {
                "__attribute__" | "__attribute" | "__declspec" | "_Alignas" => {
                    self.at += 1;
                    self.skip_parentheses()?;
                }
                "__extension__" => self.at += 1,
                _ => return Ok(()),
            }
        }
    }

    /// Steps over the name that a declarator has for the assembler, and attributes.
    fn skip_asm_name(&mut self) -> CParsed<()> {
        if self.is_asm() {
            self.at += 1;
            self.skip_parentheses()?;
        }
        self.skip_attributes()
    }

    fn is_asm(&self) -> bool {
        matches!(&*self.peek().text, "asm" | "__asm__" | "__asm")
    }
}

/// Words that cannot name anything.
fn is_keyword(word: &str) -> bool {
    const WORDS: &[&str] = &[
        "auto",
        "break",
        "case",
        "char",
        "const",
        "continue",
        "default",
        "do",
        "double",
        "else",
        "enum",
        "extern",
        "float",
        "for",
        "goto",
        "if",
        "inline",
        "int",
        "long",
        "register",
        "restrict",
        "return",
        "short",
        "signed",
        "sizeof",
        "static",
        "struct",
        "switch",
        "typedef",
        "union",
        "unsigned",
        "void",
        "volatile",
        "while",
        "_Alignas",
        "_Alignof",
        "_Atomic",
        "_Bool",
        "_Complex",
        "_Generic",
        "_Imaginary",
        "_Noreturn",
        "_Static_assert",
        "_Thread_local",
    ];
    WORDS.contains(&word)
}
