//! Conditions of `#if`: integers of 64 bits, signed or unsigned, as the standard has it.

use super::Preprocessor;
use crate::Diagnostic;
use crate::c::ast::operator;
use crate::c::constant::{CConstant, binary};
use crate::c::lexer::{Kind, Token};
use crate::c::limits;
use crate::c::literals;
use crate::c::types::Type;

/// A value of a condition; nothing where it divides by zero, which only matters if it is used.
type Number = Option<CConstant>;

fn number(value: i128, signed: bool) -> Number {
    Some(CConstant { value, ty: Type::integer(64, signed) })
}

fn truth(value: bool) -> Number {
    number(i128::from(value), true)
}

/// A condition being read.
struct Reader<'t> {
    tokens: &'t [Token],
    at: usize,
    depth: usize,
    directive: &'t Token,
}

/// What is wrong, and where.
type Fault<'t> = (&'t Token, String);

impl Preprocessor<'_> {
    /// Whether the condition of an `#if` holds.
    pub(super) fn condition(&mut self, directive: &Token, line: &[Token]) -> Result<bool, Diagnostic> {
        let known = self.questions_answered(directive, line)?;
        let tokens = self.expand_all(known)?;
        let mut reader = Reader { tokens: &tokens, at: 0, depth: 0, directive };
        let value = reader.conditional().and_then(|value| match reader.peek() {
            None => Ok(value),
            Some(token) => Err((token, format!("`{}` is not expected here", token.text))),
        });
        match value {
            Ok(Some(known)) => Ok(known.value != 0),
            Ok(None) => Err(self
                .files
                .error(directive, "this condition has no value: it divides by zero or shifts too far")),
            Err((token, message)) => Err(self.files.error(token, message)),
        }
    }

    /// The line with `defined X` and `__has_include` replaced by 0 or 1.
    fn questions_answered(&self, directive: &Token, line: &[Token]) -> Result<Vec<Token>, Diagnostic> {
        let mut out = Vec::new();
        let mut at = 0;
        while let Some(token) = line.get(at) {
            at += 1;
            let open = line.get(at).is_some_and(|next| next.is("("));
            let mut answer = |value: bool| {
                let text = if value { "1" } else { "0" };
                out.push(Token { kind: Kind::Number, text: text.into(), ..token.clone() });
            };
            if token.is_name("defined") {
                at += usize::from(open);
                let name = self.name_of(line.get(at), directive)?;
                answer(self.is_defined(&name.text));
                at += 1 + usize::from(open);
            } else if token.is_name("__has_include") && open {
                let inside: Vec<&Token> = line[at + 1..].iter().take_while(|t| !t.is(")")).collect();
                at += inside.len() + 2;
                let text: String = inside.iter().map(|token| &*token.text).collect();
                let name = text.trim_matches(['"', '<', '>']);
                answer(self.find(directive, name, text.starts_with('"'))?.is_some());
            } else if token.text.starts_with("__has_") && token.kind == Kind::Name && open {
                at += 2 + line[at + 1..].iter().take_while(|t| !t.is(")")).count();
                answer(false);
            } else {
                out.push(token.clone());
            }
        }
        Ok(out)
    }
}

impl<'t> Reader<'t> {
    fn peek(&self) -> Option<&'t Token> {
        self.tokens.get(self.at)
    }

    fn eat(&mut self, sign: &str) -> bool {
        let found = self.peek().is_some_and(|token| token.is(sign));
        self.at += usize::from(found);
        found
    }

    fn here(&self) -> &'t Token {
        self.peek().or(self.tokens.last()).unwrap_or(self.directive)
    }

    fn expect(&mut self, sign: &str) -> Result<(), Fault<'t>> {
        if self.eat(sign) {
            Ok(())
        } else {
            Err((self.here(), format!("`{sign}` is missing in this condition")))
        }
    }

    fn deeper<T>(&mut self, inner: impl FnOnce(&mut Self) -> Result<T, Fault<'t>>) -> Result<T, Fault<'t>> {
        self.depth += 1;
        if self.depth > limits::NESTING {
            return Err((self.here(), "this condition is nested too deeply".to_string()));
        }
        let result = inner(self);
        self.depth -= 1;
        result
    }

    fn conditional(&mut self) -> Result<Number, Fault<'t>> {
        self.deeper(|r| {
            let cond = r.binary(1)?;
            if !r.eat("?") {
                return Ok(cond);
            }
            let yes = r.conditional()?;
            r.expect(":")?;
            let no = r.conditional()?;
            let Some(cond) = cond else { return Ok(None) };
            let (chosen, other) = if cond.value != 0 { (yes, no) } else { (no, yes) };
            let common = |chosen: CConstant| match other {
                Some(other) => chosen.converted(&Type::common(&chosen.ty, &other.ty)),
                None => chosen,
            };
            Ok(chosen.map(common))
        })
    }

    fn binary(&mut self, least: u8) -> Result<Number, Fault<'t>> {
        let mut left = self.unary()?;
        while let Some(sign) = self.peek().filter(|token| token.kind == Kind::Sign) {
            let Some((binding, op)) = operator(&sign.text).filter(|(binding, _)| *binding >= least) else {
                break;
            };
            self.at += 1;
            let right = self.deeper(|r| r.binary(binding + 1))?;
            left = match op {
                Some(op) => left.zip(right).and_then(|(a, b)| binary(op, &a, &b)).map(wide),
                None => left.and_then(|a| lazy(sign.is("&&"), &a, right)),
            };
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Number, Fault<'t>> {
        let Some(token) = self.peek() else {
            return Err((self.here(), "this condition is not complete".to_string()));
        };
        self.at += 1;
        match (token.kind, &*token.text) {
            (Kind::Sign, "(") => {
                let value = self.conditional()?;
                self.expect(")")?;
                Ok(value)
            }
            (Kind::Sign, "!") => self.deeper(Self::unary).map(|n| n.and_then(|n| truth(n.value == 0))),
            (Kind::Sign, "~") => self.deeper(Self::unary).map(|n| n.map(|n| n.with(!n.value))),
            (Kind::Sign, "-") => self.deeper(Self::unary).map(|n| n.map(|n| n.with(-n.value))),
            (Kind::Sign, "+") => self.deeper(Self::unary),
            (Kind::Number, text) => {
                let read = literals::number(text).map_err(|why| (token, why.to_string()))?;
                Ok(number(i128::from(read.value), !read.unsigned && read.value <= i64::MAX as u64))
            }
            (Kind::Char, text) => {
                let value = literals::character(text).ok_or((token, "this is no character".to_string()))?;
                Ok(number(i128::from(value), true))
            }
            (Kind::Name, "true") => Ok(truth(true)),
            (Kind::Name, _) => Ok(truth(false)),
            _ => Err((token, format!("`{}` is not expected here", token.text))),
        }
    }
}

/// `&&` or `||`: the right side only counts if the left one does not decide.
fn lazy(and: bool, left: &CConstant, right: Number) -> Number {
    let decided = (left.value != 0) != and;
    if decided { truth(!and) } else { right.and_then(|right| truth(right.value != 0)) }
}

/// Comparisons give an `int`; here everything has 64 bits.
fn wide(value: CConstant) -> CConstant {
    let ty = Type::common(&value.ty, &Type::integer(64, true));
    CConstant { ty, ..value }
}
