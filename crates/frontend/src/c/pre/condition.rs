//! Conditions of `#if`: integers of 64 bits, signed or unsigned, as the standard has it.

use super::Preprocessor;
use crate::Diagnostic;
use crate::c::lexer::{Kind, Token};
use crate::c::limits;
use crate::c::literals;

/// A value of a condition.
#[derive(Clone, Copy)]
struct Number {
    value: i64,
    unsigned: bool,
}

impl Number {
    fn truth(value: bool) -> Number {
        Number { value: i64::from(value), unsigned: false }
    }
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
            Ok(value) => Ok(value.value != 0),
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
                answer(self.has_include(directive, name, text.starts_with('"'))?);
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

/// How strongly operators bind, and which they are.
fn precedence(sign: &str) -> Option<u8> {
    Some(match sign {
        "||" => 1,
        "&&" => 2,
        "|" => 3,
        "^" => 4,
        "&" => 5,
        "==" | "!=" => 6,
        "<" | ">" | "<=" | ">=" => 7,
        "<<" | ">>" => 8,
        "+" | "-" => 9,
        "*" | "/" | "%" => 10,
        _ => return None,
    })
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
            let chosen = if cond.value != 0 { yes } else { no };
            Ok(Number { unsigned: yes.unsigned || no.unsigned, ..chosen })
        })
    }

    fn binary(&mut self, least: u8) -> Result<Number, Fault<'t>> {
        let mut left = self.unary()?;
        while let Some(sign) = self.peek().filter(|token| token.kind == Kind::Sign) {
            let Some(binding) = precedence(&sign.text).filter(|binding| *binding >= least) else { break };
            self.at += 1;
            let right = self.deeper(|r| r.binary(binding + 1))?;
            left = combine(&sign.text, left, right).ok_or((sign, "this divides by zero".to_string()))?;
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
            (Kind::Sign, "!") => self.deeper(Self::unary).map(|n| Number::truth(n.value == 0)),
            (Kind::Sign, "~") => self.deeper(Self::unary).map(|n| Number { value: !n.value, ..n }),
            (Kind::Sign, "-") => {
                self.deeper(Self::unary).map(|n| Number { value: n.value.wrapping_neg(), ..n })
            }
            (Kind::Sign, "+") => self.deeper(Self::unary),
            (Kind::Number, text) => match literals::number(text) {
                Ok(number) => Ok(Number {
                    value: number.value as i64,
                    unsigned: number.unsigned || number.value > i64::MAX as u64,
                }),
                Err(why) => Err((token, why.to_string())),
            },
            (Kind::Char, text) => match literals::character(text) {
                Some(value) => Ok(Number { value, unsigned: false }),
                None => Err((token, "this is no character".to_string())),
            },
            (Kind::Name, "true") => Ok(Number::truth(true)),
            (Kind::Name, _) => Ok(Number::truth(false)),
            _ => Err((token, format!("`{}` is not expected here", token.text))),
        }
    }
}

fn combine(sign: &str, a: Number, b: Number) -> Option<Number> {
    let unsigned = a.unsigned || b.unsigned;
    let number = |value| Some(Number { value, unsigned });
    let (x, y) = (a.value, b.value);
    let (u, v) = (x as u64, y as u64);
    let order = if unsigned { u.cmp(&v) } else { x.cmp(&y) };
    match sign {
        "||" => Some(Number::truth(x != 0 || y != 0)),
        "&&" => Some(Number::truth(x != 0 && y != 0)),
        "|" => number(x | y),
        "^" => number(x ^ y),
        "&" => number(x & y),
        "==" => Some(Number::truth(x == y)),
        "!=" => Some(Number::truth(x != y)),
        "<" => Some(Number::truth(order.is_lt())),
        ">" => Some(Number::truth(order.is_gt())),
        "<=" => Some(Number::truth(order.is_le())),
        ">=" => Some(Number::truth(order.is_ge())),
        "<<" => Some(Number { value: x.wrapping_shl(y as u32), ..a }),
        ">>" if a.unsigned => Some(Number { value: u.wrapping_shr(y as u32) as i64, ..a }),
        ">>" => Some(Number { value: x.wrapping_shr(y as u32), ..a }),
        "+" => number(x.wrapping_add(y)),
        "-" => number(x.wrapping_sub(y)),
        "*" => number(x.wrapping_mul(y)),
        _ if y == 0 => None,
        "/" if unsigned => number((u / v) as i64),
        "/" => number(x.wrapping_div(y)),
        _ if unsigned => number((u % v) as i64),
        _ => number(x.wrapping_rem(y)),
    }
}
