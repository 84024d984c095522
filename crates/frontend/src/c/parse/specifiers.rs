//! Declaration specifiers: storage, qualifiers, and what the type is made of.

use super::{CMeaning, CParsed, Parser};
use crate::c::ast::Storage;
use crate::c::lexer::Kind;
use crate::c::types::{CRecord, Field, Type, TypeKind};
use std::rc::Rc;

/// What was said before the declarators.
pub(super) struct Specifiers {
    pub ty: Type,
    pub storage: Storage,
    /// Whether a type was named at all.
    pub typed: bool,
}

/// The words a type is made of, counted.
#[derive(Default)]
struct Words {
    short: u8,
    long: u8,
    signed: bool,
    unsigned: bool,
    base: Option<&'static str>,
}

impl Words {
    fn any(&self) -> bool {
        self.short + self.long > 0 || self.signed || self.unsigned || self.base.is_some()
    }

    fn take(&mut self, word: &str) -> bool {
        match word {
            "short" => self.short += 1,
            "long" => self.long += 1,
            "signed" | "__signed__" | "__signed" => self.signed = true,
            "unsigned" => self.unsigned = true,
            "int" => self.base = self.base.or(Some("int")),
            "void" => self.base = Some("void"),
            "char" => self.base = Some("char"),
            "_Bool" => self.base = Some("_Bool"),
            "float" | "_Float32" => self.base = Some("float"),
            "double" | "_Float64" | "_Float128" | "__float128" => self.base = Some("double"),
            "__int128" | "__int128_t" | "__uint128_t" => self.base = Some("__int128"),
            _ => return false,
        }
        true
    }

    fn ty(&self) -> Option<Type> {
        Some(match self.base {
            Some("void") => Type::void(),
            Some("_Bool") => Type::new(TypeKind::Bool),
            Some("char") => Type::integer(8, !self.unsigned),
            Some("float") => Type::new(TypeKind::Float(4)),
            Some("double") => Type::new(TypeKind::Float(8)),
            Some("__int128") => return None,
            _ if self.short > 0 => Type::integer(16, !self.unsigned),
            _ if self.long > 0 => Type::integer(64, !self.unsigned),
            _ => Type::integer(32, !self.unsigned),
        })
    }
}

impl Parser<'_> {
    /// Whether a type or a declaration starts at a token.
    pub(super) fn starts_type(&self, ahead: usize) -> bool {
        let token = self.peek_at(ahead);
        if token.kind != Kind::Name {
            return false;
        }
        match &*token.text {
            "struct" | "union" | "enum" | "const" | "volatile" | "restrict" | "_Atomic" | "typeof"
            | "__typeof__" | "__typeof" | "__const" | "__volatile__" | "__volatile" | "__restrict"
            | "__restrict__" | "__const__" | "static" | "extern" | "typedef" | "register" | "auto"
            | "inline" | "__inline" | "__inline__" | "_Noreturn" | "_Thread_local" | "__thread"
            | "__attribute__" | "__extension__" | "_Alignas" | "__auto_type" | "_Static_assert" => true,
            word => {
                let named = matches!(self.meaning(word), Some(CMeaning::Type(_)));
                named || Words::default().take(word)
            }
        }
    }

    pub(super) fn specifiers(&mut self) -> CParsed<Specifiers> {
        let start = self.at;
        let mut storage = Storage::Auto;
        let (mut atomic, mut volatile, mut per_thread) = (false, false, false);
        let mut words = Words::default();
        let mut named: Option<Type> = None;
        loop {
            let token = self.peek();
            if token.kind != Kind::Name {
                break;
            }
            let text = Rc::clone(&token.text);
            match &*text {
                "typedef" => storage = Storage::Typedef,
                "extern" => storage = Storage::Extern,
                "static" => storage = Storage::Static,
                "_Thread_local" | "__thread" => per_thread = true,
                "register" | "auto" | "inline" | "__inline" | "__inline__" | "_Noreturn" | "restrict"
                | "__restrict" | "__restrict__" | "const" | "__const" | "__const__" | "__extension__" => {}
                "volatile" | "__volatile__" | "__volatile" => volatile = true,
                "__attribute__" | "__attribute" | "_Alignas" => {
                    self.at += 1;
                    self.skip_parentheses()?;
                    continue;
                }
                "_Atomic" => {
                    atomic = true;
                    if self.peek_at(1).is("(") {
                        self.at += 2;
                        named = Some(self.type_name()?);
                        self.expect(")")?;
                        continue;
                    }
                }
                "struct" | "union" => {
                    named = Some(self.record()?);
                    continue;
                }
                "enum" => {
                    named = Some(self.enumeration()?);
                    continue;
                }
                "typeof" | "__typeof__" | "__typeof" => {
                    named = Some(self.type_of_something()?);
                    continue;
                }
                _ if words.take(&text) => {}
                _ => match self.meaning(&text) {
                    Some(CMeaning::Type(ty)) if named.is_none() && !words.any() => named = Some(ty.clone()),
                    _ => break,
                },
            }
            self.at += 1;
        }
        let typed = named.is_some() || words.any();
        let found = match named {
            Some(ty) => ty,
            None => words.ty().ok_or_else(|| self.error_at(start, "integers of 128 bits are not read"))?,
        };
        if per_thread {
            storage = Storage::PerThread;
        }
        let ty = Type { atomic: atomic || found.atomic, volatile: volatile || found.volatile, ..found };
        Ok(Specifiers { ty, storage, typed })
    }

    /// A type between parentheses: specifiers and a declarator without a name.
    pub(super) fn type_name(&mut self) -> CParsed<Type> {
        self.deeper(|p| {
            let specifiers = p.specifiers()?;
            if !specifiers.typed {
                return Err(p.unexpected("a type"));
            }
            let (name, ty) = p.declarator(specifiers.ty)?;
            match name {
                Some((_, token)) => Err(p.error_at(token, "a type has no name here")),
                None => Ok(ty),
            }
        })
    }

    fn type_of_something(&mut self) -> CParsed<Type> {
        self.at += 1;
        self.expect("(")?;
        let ty = if self.starts_type(0) {
            self.type_name()?
        } else {
            let expr = self.expression()?;
            self.type_of(&expr)?
        };
        self.expect(")")?;
        Ok(ty)
    }

    fn record(&mut self) -> CParsed<Type> {
        let start = self.at;
        let union = self.is_word("union");
        self.at += 1;
        self.skip_attributes()?;
        let tag = if self.peek().kind == Kind::Name { Some(self.name()?) } else { None };
        self.skip_attributes()?;
        let defines = self.is("{");
        let known = tag.as_ref().and_then(|tag| match (defines, self.scopes.last()) {
            (true, Some(scope)) => scope.tags.get(tag).cloned(),
            _ => self.scopes.iter().rev().find_map(|scope| scope.tags.get(tag).cloned()),
        });
        let ty = known.unwrap_or_else(|| {
            let id = self.unit.records.list.len();
            self.unit.records.list.push(CRecord { union, fields: None });
            Type::new(TypeKind::Record(id))
        });
        if let (Some(tag), Some(scope)) = (tag, self.scopes.last_mut()) {
            // A tag that is only mentioned belongs to the scope around, which is good enough here.
            scope.tags.entry(tag).or_insert_with(|| ty.clone());
        }
        if !defines {
            return Ok(ty);
        }
        let fields = self.deeper(Self::fields)?;
        self.skip_attributes()?;
        let TypeKind::Record(id) = *ty.kind else { return Err(self.error_at(start, "this is no structure")) };
        if self.unit.records.list[id].fields.is_some() {
            return Err(self.error_at(start, "this structure is defined twice"));
        }
        self.unit.records.list[id].fields = Some(fields);
        Ok(ty)
    }

    fn fields(&mut self) -> CParsed<Vec<Field>> {
        self.expect("{")?;
        let mut fields = Vec::new();
        while !self.eat("}") {
            if self.eat(";") {
                continue;
            }
            if self.is_word("_Static_assert") {
                self.static_assertion()?;
                continue;
            }
            let specifiers = self.specifiers()?;
            if !specifiers.typed {
                return Err(self.unexpected("a member"));
            }
            if self.is(";") && matches!(*specifiers.ty.kind, TypeKind::Record(_)) {
                fields.push(Field { name: None, ty: specifiers.ty.clone(), bits: None });
            }
            while !self.is(";") {
                let at = self.at;
                let (name, ty) = match self.is(":") {
                    true => (None, specifiers.ty.clone()),
                    false => self.declarator(specifiers.ty.clone())?,
                };
                let bits = if self.eat(":") { Some(self.constant_expression()?) } else { None };
                let bits = bits.map(|bits| u8::try_from(bits).ok().filter(|bits| *bits <= 64));
                if bits == Some(None) {
                    return Err(self.error_at(at, "a bit-field has at most 64 bits"));
                }
                self.skip_attributes()?;
                if self.unit.records.cells(&ty).is_none() && !matches!(*ty.kind, TypeKind::Array(_, None)) {
                    return Err(self.error_at(at, "this member's type is not complete"));
                }
                if bits != Some(Some(0)) && (name.is_some() || bits.is_none()) {
                    let ty = match &*ty.kind {
                        TypeKind::Array(element, None) => {
                            Type::new(TypeKind::Array(element.clone(), Some(0)))
                        }
                        _ => ty,
                    };
                    fields.push(Field { name: name.map(|(name, _)| name), ty, bits: bits.flatten() });
                }
                if !self.eat(",") {
                    break;
                }
            }
            self.expect(";")?;
        }
        Ok(fields)
    }

    fn enumeration(&mut self) -> CParsed<Type> {
        self.at += 1;
        self.skip_attributes()?;
        if self.peek().kind == Kind::Name {
            self.name()?;
        }
        if !self.eat("{") {
            return Ok(Type::int());
        }
        let mut next = 0i128;
        while !self.eat("}") {
            let name = self.name()?;
            self.skip_attributes()?;
            if self.eat("=") {
                next = self.constant_expression()?;
            }
            self.declare(name, CMeaning::Constant(next));
            next += 1;
            if !self.eat(",") && !self.is("}") {
                return Err(self.unexpected("`,` or `}`"));
            }
        }
        self.skip_attributes()?;
        Ok(Type::int())
    }

    pub(super) fn static_assertion(&mut self) -> CParsed<()> {
        let start = self.at;
        self.at += 1;
        self.expect("(")?;
        let holds = self.constant_expression()?;
        if self.eat(",") {
            self.at += usize::from(self.peek().kind == Kind::Text);
        }
        self.expect(")")?;
        self.expect(";")?;
        if holds == 0 { Err(self.error_at(start, "this static assertion fails")) } else { Ok(()) }
    }
}
