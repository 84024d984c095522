//! Declarators, initial values, functions.

use super::specifiers::Specifiers;
use super::{CMeaning, CParsed, CScope, Parser};
use crate::c::ast::{CDeclaration, CExpr, CExprKind, CFunction, CInit, Designator, Storage};
use crate::c::constant::fold;
use crate::c::lexer::Kind;
use crate::c::limits;
use crate::c::literals;
use crate::c::types::{CRecords, Signature, Type, TypeKind};
use std::rc::Rc;

/// A step from a type to the declared one.
enum Derived {
    Pointer { volatile: bool, atomic: bool },
    Array(Option<u64>),
    Function(Vec<(Option<Rc<str>>, Type)>),
}

/// A declared name and its token.
type CNamed = Option<(Rc<str>, usize)>;

impl Parser<'_> {
    /// A declarator, with or without a name, on top of a type.
    pub(super) fn declarator(&mut self, base: Type) -> CParsed<(CNamed, Type)> {
        self.length = None;
        let mut steps = Vec::new();
        let name = self.derived(&mut steps)?;
        let mut ty = base;
        for step in steps {
            ty = match step {
                Derived::Pointer { volatile, atomic } => Type { volatile, atomic, ..ty.pointer() },
                Derived::Array(length) => {
                    let (atomic, volatile) = (ty.atomic, ty.volatile);
                    Type { atomic, volatile, ..Type::new(TypeKind::Array(ty, length)) }
                }
                Derived::Function(parameters) => {
                    Type::new(TypeKind::Function(Signature { result: ty, parameters }))
                }
            };
        }
        Ok((name, ty))
    }

    /// Collects the steps in the order in which they apply.
    fn derived(&mut self, steps: &mut Vec<Derived>) -> CParsed<CNamed> {
        self.deeper(|p| {
            p.skip_attributes()?;
            while p.eat("*") || p.eat("^") {
                let (mut volatile, mut atomic) = (false, false);
                loop {
                    match &*p.peek().text {
                        "volatile" | "__volatile__" | "__volatile" => volatile = true,
                        "_Atomic" => atomic = true,
                        "const" | "restrict" | "__restrict" | "__restrict__" | "__const"
                        | "__extension__" => {}
                        "__attribute__" | "__attribute" => {
                            p.skip_attributes()?;
                            continue;
                        }
                        _ => break,
                    }
                    p.at += 1;
                }
                steps.push(Derived::Pointer { volatile, atomic });
            }
            let (mut inner, mut name) = (Vec::new(), None);
            let nested = p.is("(")
                && !p.peek_at(1).is(")")
                && (!p.starts_type(1) || p.peek_at(1).is_name("__attribute__"));
            if nested {
                p.at += 1;
                name = p.derived(&mut inner)?;
                p.expect(")")?;
            } else if p.peek().kind == Kind::Name && !super::is_keyword(&p.peek().text) {
                let at = p.at;
                name = Some((p.name()?, at));
            }
            let mut suffixes = Vec::new();
            p.suffixes(&mut suffixes)?;
            steps.extend(suffixes.into_iter().rev());
            steps.extend(inner);
            Ok(name)
        })
    }

    fn suffixes(&mut self, suffixes: &mut Vec<Derived>) -> CParsed<()> {
        loop {
            self.skip_attributes()?;
            if self.eat("[") {
                while matches!(
                    &*self.peek().text,
                    "static" | "const" | "restrict" | "volatile" | "__restrict"
                ) {
                    self.at += 1;
                }
                let length = if self.is("]") || self.is("*") && self.peek_at(1).is("]") {
                    self.at += usize::from(self.is("*"));
                    None
                } else {
                    self.array_length(suffixes.is_empty())?
                };
                self.expect("]")?;
                suffixes.push(Derived::Array(length));
            } else if self.is("(") {
                let parameters = self.parameters()?;
                suffixes.push(Derived::Function(parameters));
            } else {
                return Ok(());
            }
            if suffixes.len() > limits::NESTING {
                return Err(self.error_at(self.at, "this declarator is too long"));
            }
        }
    }

    /// The length of an array; the first one of a local array may be found out later.
    fn array_length(&mut self, first: bool) -> CParsed<Option<u64>> {
        let start = self.at;
        let expr = self.deeper(Self::conditional)?;
        match fold(&expr) {
            Some(length) => match u64::try_from(length.value) {
                Ok(length) => Ok(Some(length)),
                Err(_) => Err(self.error_at(start, "an array cannot have a negative length")),
            },
            None if first && self.scopes.len() > 1 => {
                self.length = Some(expr);
                Ok(None)
            }
            None => {
                let hint = "arrays need a length that is known when the program is read";
                Err(Box::new(self.error_at(start, "this is no constant").hint(hint)))
            }
        }
    }

    fn parameters(&mut self) -> CParsed<Vec<(Option<Rc<str>>, Type)>> {
        self.expect("(")?;
        let mut parameters = Vec::new();
        if self.eat(")") {
            return Ok(parameters);
        }
        if self.is_word("void") && self.peek_at(1).is(")") {
            self.at += 2;
            return Ok(parameters);
        }
        loop {
            if self.eat("...") {
                break;
            }
            if self.starts_type(0) {
                let specifiers = self.specifiers()?;
                let (name, ty) = self.declarator(specifiers.ty)?;
                self.skip_attributes()?;
                parameters.push((name.map(|(name, _)| name), adjusted(ty)));
            } else {
                // An old list of names; their types follow.
                parameters.push((Some(self.name()?), Type::int()));
            }
            if !self.eat(",") {
                break;
            }
        }
        self.expect(")")?;
        Ok(parameters)
    }

    /// A declaration or function outside functions.
    pub(super) fn external(&mut self) -> CParsed<()> {
        if self.eat(";") {
            return Ok(());
        }
        if self.is_word("_Static_assert") {
            return self.static_assertion();
        }
        if self.is_asm() {
            self.at += 1;
            self.skip_parentheses()?;
            return self.expect(";");
        }
        let start = self.at;
        let specifiers = self.specifiers()?;
        if self.at == start && !(self.peek().kind == Kind::Name && self.peek_at(1).is("(")) && !self.is("*") {
            return Err(self.unexpected("a declaration"));
        }
        if self.eat(";") {
            return Ok(());
        }
        let (name, ty, token) = self.first_declarator(&specifiers)?;
        if ty.is_function() && (self.is("{") || self.starts_type(0)) {
            return self.function(name, &ty, token);
        }
        let declared = self.rest_of_declaration(&specifiers, start, (name, ty, token))?;
        self.unit.globals.extend(declared);
        Ok(())
    }

    /// A declaration in a block.
    pub(super) fn declaration(&mut self) -> CParsed<Vec<CDeclaration>> {
        if self.is_word("_Static_assert") {
            self.static_assertion()?;
            return Ok(Vec::new());
        }
        let start = self.at;
        let specifiers = self.specifiers()?;
        if self.eat(";") {
            return Ok(Vec::new());
        }
        let first = self.first_declarator(&specifiers)?;
        self.rest_of_declaration(&specifiers, start, first)
    }

    fn first_declarator(&mut self, specifiers: &Specifiers) -> CParsed<(Rc<str>, Type, usize)> {
        let at = self.at;
        let (name, ty) = self.declarator(specifiers.ty.clone())?;
        let Some((name, token)) = name else { return Err(self.error_at(at, "a name is missing here")) };
        self.skip_asm_name()?;
        Ok((name, ty, token))
    }

    /// Initial values and further declarators, up to the semicolon.
    fn rest_of_declaration(
        &mut self,
        specifiers: &Specifiers,
        mut start: usize,
        (mut name, mut ty, mut token): (Rc<str>, Type, usize),
    ) -> CParsed<Vec<CDeclaration>> {
        let mut out = Vec::new();
        loop {
            if specifiers.storage == Storage::Typedef {
                self.declare(name, CMeaning::Type(ty));
            } else {
                out.extend(self.declared(specifiers, start, (name, ty, token))?);
            }
            if !self.eat(",") {
                self.expect(";")?;
                return Ok(out);
            }
            start = self.at;
            let (next, next_ty) = self.declarator(specifiers.ty.clone())?;
            let Some((next, at)) = next else { return Err(self.unexpected("a name")) };
            self.skip_asm_name()?;
            (name, ty, token) = (next, next_ty, at);
        }
    }

    fn declared(
        &mut self,
        specifiers: &Specifiers,
        start: usize,
        (name, mut ty, token): (Rc<str>, Type, usize),
    ) -> CParsed<Option<CDeclaration>> {
        self.declare(Rc::clone(&name), CMeaning::Object(ty.clone()));
        if ty.is_function() {
            self.unit.declared.insert(name, ty);
            return Ok(None);
        }
        let length = self.length.take();
        let init = if self.eat("=") { Some(self.initial()?) } else { None };
        if let (TypeKind::Array(inner, None), Some(init)) = (&*ty.kind, &init) {
            let length = Some(listed(&self.unit.records, init, inner));
            ty = Type { kind: Rc::new(TypeKind::Array(inner.clone(), length)), ..ty };
            self.declare(Rc::clone(&name), CMeaning::Object(ty.clone()));
        }
        let (storage, span) = (specifiers.storage, self.span_from(start));
        Ok(Some(CDeclaration { name, ty, storage, init, length, span, token: token as u32 }))
    }

    pub(super) fn initial(&mut self) -> CParsed<CInit> {
        if !self.is("{") {
            return Ok(CInit::Value(self.assignment()?));
        }
        self.deeper(|p| {
            p.expect("{")?;
            let mut list = Vec::new();
            while !p.eat("}") {
                let mut designators = Vec::new();
                loop {
                    if p.eat(".") {
                        designators.push(Designator::Member(p.name()?));
                    } else if p.is("[") {
                        designators.push(p.index_designator()?);
                    } else {
                        break;
                    }
                }
                if p.peek().kind == Kind::Name && p.peek_at(1).is(":") && designators.is_empty() {
                    designators.push(Designator::Member(p.name()?));
                    p.at += 1;
                } else if !designators.is_empty() {
                    p.expect("=")?;
                }
                let init = p.initial()?;
                list.push((designators, p.listed_initial(init)));
                if !p.eat(",") && !p.is("}") {
                    return Err(p.unexpected("`,` or `}`"));
                }
            }
            Ok(CInit::List(list))
        })
    }

    /// An initial value in a list: a structure is one for a whole part.
    fn listed_initial(&self, init: CInit) -> CInit {
        let CInit::Value(value) = init else { return init };
        match self.type_of(&value).map(|ty| ty.kind) {
            Ok(kind) if let TypeKind::Record(id) = *kind => CInit::Whole(id, value),
            _ => CInit::Value(value),
        }
    }

    fn index_designator(&mut self) -> CParsed<Designator> {
        let start = self.at;
        self.expect("[")?;
        let low = self.constant_expression()?;
        let high = if self.eat("...") { self.constant_expression()? } else { low };
        self.expect("]")?;
        match (u64::try_from(low), u64::try_from(high)) {
            (Ok(low), Ok(high)) if low <= high => Ok(Designator::Index(low, high)),
            _ => Err(self.error_at(start, "this names no element")),
        }
    }

    /// A function's body, with the declarations of an old parameter list before it.
    fn function(&mut self, name: Rc<str>, ty: &Type, token: usize) -> CParsed<()> {
        let TypeKind::Function(signature) = &*ty.kind else { return Ok(()) };
        let mut parameters = signature.parameters.clone();
        self.declare(Rc::clone(&name), CMeaning::Object(ty.clone()));
        while !self.is("{") {
            for declared in self.declaration()? {
                let wanted =
                    |(known, _): &&mut (Option<Rc<str>>, Type)| known.as_ref() == Some(&declared.name);
                match parameters.iter_mut().find(wanted) {
                    Some((_, ty)) => *ty = adjusted(declared.ty),
                    None => return Err(self.error_at(declared.token as usize, "this is no parameter")),
                }
            }
        }
        if self.unit.functions.contains_key(&name) {
            return Err(self.error_at(token, format!("the function `{name}` is defined twice")));
        }
        let mut scope = CScope::default();
        for (name, ty) in &parameters {
            if let Some(name) = name {
                scope.names.insert(Rc::clone(name), CMeaning::Object(ty.clone()));
            }
        }
        self.scopes.push(scope);
        self.function = Rc::clone(&name);
        let body = self.block()?;
        self.scopes.pop();
        let function = CFunction {
            name: Rc::clone(&name),
            result: signature.result.clone(),
            parameters,
            body,
            token: token as u32,
        };
        self.unit.declared.insert(Rc::clone(&name), ty.clone());
        self.unit.functions.insert(name, Rc::new(function));
        Ok(())
    }
}

/// The type of a parameter: arrays and functions become pointers.
fn adjusted(ty: Type) -> Type {
    match &*ty.kind {
        TypeKind::Array(..) | TypeKind::Function(_) => ty.decayed(),
        _ => ty,
    }
}

/// How many elements a list of initial values gives an array. Braces around an element may be left out, so
/// several numbers may be one.
pub(super) fn listed(records: &CRecords, init: &CInit, element: &Type) -> u64 {
    let list = match init {
        CInit::Value(CExpr { kind: CExprKind::Text(text), .. }) => {
            return literals::string(text).map_or(1, |chars| chars.len() as u64 + 1);
        }
        CInit::Value(_) | CInit::Whole(..) => return 1,
        CInit::List(list) => list,
    };
    let scalars = records.cells(element).unwrap_or(1).max(1);
    // Where the next value goes: the element, and how many of its scalars it has by then.
    let (mut at, mut begun, mut most) = (0u64, 0u64, 0u64);
    for (designators, init) in list {
        if let Some(Designator::Index(_, high)) = designators.first() {
            (at, begun) = (*high, 0);
        }
        let taken = match init {
            CInit::Whole(id, _) if !matches!(*element.kind, TypeKind::Record(own) if own == *id) => {
                records.cells(&Type::new(TypeKind::Record(*id))).unwrap_or(1)
            }
            CInit::Value(CExpr { kind: CExprKind::Text(_), .. })
                if matches!(*element.kind, TypeKind::Array(..)) =>
            {
                scalars
            }
            CInit::Value(_) => 1,
            _ => scalars - begun,
        };
        most = most.max(at.saturating_add(1));
        begun += taken;
        if begun >= scalars {
            (at, begun) = (at.saturating_add(1), 0);
        }
    }
    most
}
