//! Expressions, by climbing precedences.

use super::declarations::listed;
use super::{CMeaning, CParsed, Parser};
use crate::c::ast::{CExpr, CExprKind, CInit, Unary, operator};
use crate::c::lexer::Kind;
use crate::c::literals;
use crate::c::types::{Type, TypeKind};
use std::rc::Rc;

impl Parser<'_> {
    /// An expression, with commas.
    pub(super) fn expression(&mut self) -> CParsed<CExpr> {
        let start = self.at;
        let mut left = self.assignment()?;
        while self.is(",") {
            let token = self.at;
            self.at += 1;
            let right = self.assignment()?;
            left = self.expr(CExprKind::Comma(Box::new(left), Box::new(right)), start, token)?;
        }
        Ok(left)
    }

    /// An expression without commas.
    pub(super) fn assignment(&mut self) -> CParsed<CExpr> {
        self.deeper(|p| {
            let start = p.at;
            let left = p.conditional()?;
            let token = p.at;
            if p.peek().kind != Kind::Sign {
                return Ok(left);
            }
            let sign = Rc::clone(&p.peek().text);
            let op = match &*sign {
                "=" => None,
                "*=" | "/=" | "%=" | "+=" | "-=" | "<<=" | ">>=" | "&=" | "^=" | "|=" => {
                    operator(&sign[..sign.len() - 1]).and_then(|(_, op)| op)
                }
                _ => return Ok(left),
            };
            p.at += 1;
            let right = p.assignment()?;
            p.expr(CExprKind::Assign(op, Box::new(left), Box::new(right)), start, token)
        })
    }

    pub(super) fn conditional(&mut self) -> CParsed<CExpr> {
        let start = self.at;
        let cond = self.binary(1)?;
        let token = self.at;
        if !self.eat("?") {
            return Ok(cond);
        }
        let mut yes = if self.is(":") { None } else { Some(Box::new(self.deeper(Self::expression)?)) };
        self.expect(":")?;
        let mut no = self.deeper(Self::conditional)?;
        if let Some(unlike) = yes {
            let alike = self.alike(*unlike, no);
            (yes, no) = (Some(Box::new(alike.0)), alike.1);
        }
        self.expr(CExprKind::Conditional(Box::new(cond), yes, Box::new(no)), start, token)
    }

    /// Two integers as their common type, whichever of them is chosen.
    fn alike(&self, a: CExpr, b: CExpr) -> (CExpr, CExpr) {
        let (Ok(x), Ok(y)) = (self.type_of(&a), self.type_of(&b)) else { return (a, b) };
        if !x.is_integer() || !y.is_integer() {
            return (a, b);
        }
        let common = Type::common(&x, &y);
        let cast = |expr: CExpr, ty: &Type| {
            let same = ty.bits() == common.bits() && ty.range() == common.range();
            let (span, token, height) = (expr.span, expr.token, expr.height);
            match same {
                true => expr,
                false => CExpr { kind: CExprKind::Cast(common.clone(), Box::new(expr)), span, token, height },
            }
        };
        (cast(a, &x), cast(b, &y))
    }

    fn binary(&mut self, least: u8) -> CParsed<CExpr> {
        let start = self.at;
        let mut left = self.cast()?;
        while self.peek().kind == Kind::Sign {
            let sign = Rc::clone(&self.peek().text);
            let Some((binding, op)) = operator(&sign).filter(|(binding, _)| *binding >= least) else { break };
            let token = self.at;
            self.at += 1;
            let right = Box::new(self.deeper(|p| p.binary(binding + 1))?);
            let left_box = Box::new(left);
            let kind = match op {
                Some(op) => CExprKind::Binary(op, left_box, right),
                None => CExprKind::Lazy(&*sign == "&&", left_box, right),
            };
            left = self.expr(kind, start, token)?;
        }
        Ok(left)
    }

    fn cast(&mut self) -> CParsed<CExpr> {
        self.deeper(|p| {
            let start = p.at;
            if !(p.is("(") && p.starts_type(1)) {
                return p.unary();
            }
            p.at += 1;
            let ty = p.type_name()?;
            p.expect(")")?;
            if p.is("{") {
                let literal = p.compound_literal(ty, start)?;
                return p.postfix(literal, start);
            }
            let inner = p.cast()?;
            p.expr(CExprKind::Cast(ty, Box::new(inner)), start, start)
        })
    }

    fn compound_literal(&mut self, mut ty: Type, start: usize) -> CParsed<CExpr> {
        let init = self.initial()?;
        if let (TypeKind::Array(inner, None), CInit::List(_)) = (&*ty.kind, &init) {
            let length = listed(&self.unit.records, &init, inner);
            ty = Type::new(TypeKind::Array(inner.clone(), Some(length)));
        }
        self.expr(CExprKind::Compound(ty, Box::new(init)), start, start)
    }

    fn unary(&mut self) -> CParsed<CExpr> {
        let start = self.at;
        let token = self.peek();
        let text = Rc::clone(&token.text);
        if token.kind == Kind::Name {
            match &*text {
                "sizeof" | "_Alignof" | "__alignof__" | "__alignof" => return self.size_of(&text),
                "__extension__" => {
                    self.at += 1;
                    return self.cast();
                }
                _ => return self.primary_and_postfix(),
            }
        }
        let op = match &*text {
            "-" => Unary::Negative,
            "+" => Unary::Plus,
            "~" => Unary::Complement,
            "!" => Unary::Not,
            "&" => Unary::Address,
            "*" => Unary::Deref,
            "++" | "--" if token.kind == Kind::Sign => {
                self.at += 1;
                let inner = self.deeper(Self::unary)?;
                let by = if &*text == "++" { 1 } else { -1 };
                return self.expr(CExprKind::Step(by, true, Box::new(inner)), start, start);
            }
            "&&" => return Err(self.error_at(start, "addresses of labels are not read")),
            _ => return self.primary_and_postfix(),
        };
        if token.kind != Kind::Sign {
            return self.primary_and_postfix();
        }
        self.at += 1;
        let inner = self.cast()?;
        self.expr(CExprKind::Unary(op, Box::new(inner)), start, start)
    }

    fn size_of(&mut self, word: &str) -> CParsed<CExpr> {
        let start = self.at;
        self.at += 1;
        let ty = if self.is("(") && self.starts_type(1) {
            self.at += 1;
            let ty = self.type_name()?;
            self.expect(")")?;
            ty
        } else {
            let inner = self.deeper(Self::unary)?;
            self.type_of(&inner)?
        };
        let Some((size, align)) = self.unit.records.size(&ty) else {
            return Err(self.error_at(start, "the size of this type is not known"));
        };
        let value = if word == "sizeof" { size } else { align };
        self.expr(CExprKind::Int(i128::from(value), Type::integer(64, false)), start, start)
    }

    fn primary_and_postfix(&mut self) -> CParsed<CExpr> {
        let start = self.at;
        let primary = self.primary()?;
        self.postfix(primary, start)
    }

    fn primary(&mut self) -> CParsed<CExpr> {
        let start = self.at;
        let token = self.peek();
        let text = Rc::clone(&token.text);
        match token.kind {
            Kind::Number => {
                self.at += 1;
                match literals::number(&text) {
                    Ok(number) => self.expr(integer(number), start, start),
                    Err(why) if why.contains("floating") => self.expr(CExprKind::Float, start, start),
                    Err(why) => Err(self.error_at(start, why)),
                }
            }
            Kind::Char => {
                self.at += 1;
                let value =
                    literals::character(&text).ok_or_else(|| self.error_at(start, "this is no character"))?;
                self.expr(CExprKind::Int(i128::from(value), Type::int()), start, start)
            }
            Kind::Text => {
                let mut whole = String::from("\"");
                while self.peek().kind == Kind::Text {
                    let piece = Rc::clone(&self.peek().text);
                    let inside = piece.find('"').and_then(|at| piece.get(at + 1..piece.len() - 1));
                    whole += inside.unwrap_or_default();
                    self.at += 1;
                }
                whole.push('"');
                self.expr(CExprKind::Text(whole.into()), start, start)
            }
            Kind::Sign if &*text == "(" => self.parenthesised(),
            Kind::Name if !super::is_keyword(&text) => self.named(&text),
            Kind::Name if &*text == "_Generic" => self.generic(),
            _ => Err(self.unexpected("an expression")),
        }
    }

    fn parenthesised(&mut self) -> CParsed<CExpr> {
        let start = self.at;
        self.at += 1;
        if self.is("{") {
            let block = self.deeper(Self::block)?;
            self.expect(")")?;
            return self.expr(CExprKind::Block(block), start, start);
        }
        let mut inner = self.deeper(Self::expression)?;
        self.expect(")")?;
        inner.span = self.span_from(start);
        Ok(inner)
    }

    fn named(&mut self, name: &Rc<str>) -> CParsed<CExpr> {
        let start = self.at;
        self.at += 1;
        let kind = match &**name {
            "__func__" | "__FUNCTION__" | "__PRETTY_FUNCTION__" => {
                CExprKind::Text(format!("\"{}\"", self.function).into())
            }
            "__builtin_offsetof" => return self.offset_of(start),
            "__builtin_types_compatible_p" => {
                self.expect("(")?;
                let a = self.type_name()?;
                self.expect(",")?;
                let b = self.type_name()?;
                self.expect(")")?;
                CExprKind::Int(i128::from(a.plain() == b.plain()), Type::int())
            }
            "__builtin_va_arg" => return Err(self.error_at(start, "variable argument lists are not read")),
            _ => match self.meaning(name) {
                Some(CMeaning::Constant(value)) => CExprKind::Int(*value, Type::int()),
                Some(CMeaning::Type(_)) => return Err(self.error_at(start, format!("`{name}` is a type"))),
                _ => CExprKind::Name(Rc::clone(name)),
            },
        };
        self.expr(kind, start, start)
    }

    fn offset_of(&mut self, start: usize) -> CParsed<CExpr> {
        self.expect("(")?;
        let ty = self.type_name()?;
        self.expect(",")?;
        let name = self.name()?;
        self.expect(")")?;
        let mut at = 0u64;
        for field in self.unit.records.fields(&ty).unwrap_or_default() {
            let Some((size, align)) = self.unit.records.size(&field.ty) else { break };
            at = at.next_multiple_of(align.max(1));
            if field.name.as_ref() == Some(&name) {
                return self.expr(CExprKind::Int(i128::from(at), Type::integer(64, false)), start, start);
            }
            at += size;
        }
        Err(self.error_at(start, format!("the type has no member `{name}`")))
    }

    /// `_Generic(e, type: a, …)` is the alternative of the type of `e`.
    fn generic(&mut self) -> CParsed<CExpr> {
        let start = self.at;
        self.at += 1;
        self.expect("(")?;
        let selector = self.assignment()?;
        let ty = self.type_of(&selector)?.decayed();
        let (mut chosen, mut otherwise) = (None, None);
        while self.eat(",") {
            let named = if self.eat_word("default") { None } else { Some(self.type_name()?) };
            self.expect(":")?;
            let value = self.assignment()?;
            match named {
                Some(named) if named.plain() == ty => chosen = chosen.or(Some(value)),
                None => otherwise = Some(value),
                _ => {}
            }
        }
        self.expect(")")?;
        chosen.or(otherwise).ok_or_else(|| self.error_at(start, "no alternative has this type"))
    }

    fn postfix(&mut self, mut left: CExpr, start: usize) -> CParsed<CExpr> {
        loop {
            let token = self.at;
            if self.peek().kind != Kind::Sign {
                return Ok(left);
            }
            let sign = Rc::clone(&self.peek().text);
            let kind = match &*sign {
                "[" => {
                    self.at += 1;
                    let index = self.deeper(Self::expression)?;
                    self.expect("]")?;
                    CExprKind::Index(Box::new(left), Box::new(index))
                }
                "(" => {
                    self.at += 1;
                    let arguments = self.call_arguments()?;
                    CExprKind::Call(Box::new(left), arguments)
                }
                "." | "->" => {
                    self.at += 1;
                    let name = self.name()?;
                    let object = match &*sign {
                        "." => left,
                        _ => self.expr(CExprKind::Unary(Unary::Deref, Box::new(left)), start, token)?,
                    };
                    CExprKind::Member(Box::new(object), name)
                }
                "++" | "--" => {
                    self.at += 1;
                    CExprKind::Step(if &*sign == "++" { 1 } else { -1 }, false, Box::new(left))
                }
                _ => return Ok(left),
            };
            left = self.expr(kind, start, token)?;
        }
    }

    fn call_arguments(&mut self) -> CParsed<Vec<CExpr>> {
        let mut arguments = Vec::new();
        if self.eat(")") {
            return Ok(arguments);
        }
        loop {
            // A type is an argument of some builtins; as a value it is its size.
            if self.starts_type(0) && !self.is_word("__extension__") {
                let start = self.at;
                let ty = self.type_name()?;
                let size = self.unit.records.size(&ty).map_or(0, |(size, _)| size);
                arguments.push(self.expr(CExprKind::Int(i128::from(size), Type::int()), start, start)?);
            } else {
                arguments.push(self.assignment()?);
            }
            if !self.eat(",") {
                break;
            }
        }
        self.expect(")")?;
        Ok(arguments)
    }
}

/// The type of an integer is the first that holds it.
fn integer(number: literals::Literal) -> CExprKind {
    let fits = |ty: &Type| ty.range().is_some_and(|(_, high)| i128::from(number.value) <= high);
    let mut ty = Type::integer(if number.long { 64 } else { 32 }, !number.unsigned);
    if !fits(&ty) && !number.long && !number.decimal && !number.unsigned {
        ty = Type::integer(32, false);
    }
    if !fits(&ty) {
        ty = Type::integer(64, !number.unsigned);
    }
    if !fits(&ty) {
        ty = Type::integer(64, false);
    }
    CExprKind::Int(i128::from(number.value), ty)
}
