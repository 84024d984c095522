//! Tokens to the tree of `syntax`: declarations, expressions and conditions.

use super::lexer::{MacroCall, RmmToken, RmmTokenKind, Tokens};
use super::syntax::{Declaration, Forbidden, Predicate, Process, RmmFile};
use crate::{Diagnostic, check_nesting, too_deep};
use program::{Arith, Cond, Domain, Expr, Int, RegId, Relation, Span};

/// Higher trees of operators in a row are refused.
const HEIGHT: usize = 200;
const MAX_PROCESSES: usize = 64;

/// Words that cannot name anything.
pub(super) const KEYWORDS: [&str; 34] = [
    "if",
    "then",
    "else",
    "while",
    "do",
    "read",
    "write",
    "locked",
    "slocked",
    "cas",
    "goto",
    "true",
    "false",
    "my",
    "me",
    "other",
    "process",
    "not",
    "nop",
    "text",
    "data",
    "either",
    "or",
    "forbidden",
    "assume",
    "predicates",
    "registers",
    "fence",
    "ssfence",
    "llfence",
    "syncwr",
    "syncrd",
    "macro",
    "endmacro",
];

/// A walk over the tokens, with what is known on the way.
pub(super) struct RmmParser<'a> {
    tokens: Vec<RmmToken<'a>>,
    frames: Vec<MacroCall>,
    at: usize,
    end: Span,
    /// The registers in scope.
    pub(super) registers: Vec<String>,
    /// Whether a register may be met before it is declared (in predicates).
    open: bool,
    pub(super) warnings: Vec<Diagnostic>,
}

impl<'a> RmmParser<'a> {
    pub(super) fn new(tokens: Tokens<'a>, end: Span) -> RmmParser<'a> {
        let Tokens { tokens, frames } = tokens;
        RmmParser { tokens, frames, at: 0, end, registers: Vec::new(), open: false, warnings: Vec::new() }
    }

    pub(super) fn file(&mut self) -> Result<RmmFile, Diagnostic> {
        let mut file = RmmFile::default();
        self.expect_word("forbidden")?;
        file.forbidden = self.separated(Self::forbidden)?;
        if self.word("predicates") {
            self.open = true;
            file.predicates = self.separated(Self::predicate)?;
            self.open = false;
        }
        if self.word("data") {
            file.data = self.declarations(false)?;
        }
        while self.word("process") {
            self.process(&mut file.processes)?;
        }
        if file.processes.is_empty() {
            return Err(self.unexpected("`process`"));
        }
        if self.at < self.tokens.len() {
            return Err(self.unexpected("`;` or `process`"));
        }
        Ok(file)
    }

    /// One or more, with `;` between them.
    pub(super) fn separated<T>(
        &mut self,
        mut one: impl FnMut(&mut Self) -> Result<T, Diagnostic>,
    ) -> Result<Vec<T>, Diagnostic> {
        let mut found = vec![one(self)?];
        while self.sign(";") {
            found.push(one(self)?);
        }
        Ok(found)
    }

    fn forbidden(&mut self) -> Result<Forbidden, Diagnostic> {
        let (start, first) = (self.span(), self.at);
        let mut labels = Vec::new();
        loop {
            let span = self.span();
            if self.sign("*") {
                labels.push((None, span));
            } else if let Some(name) = self.name() {
                labels.push((Some(name.to_string()), span));
            } else if labels.is_empty() {
                return Err(self.unexpected("a label or `*`"));
            } else {
                return Ok(Forbidden { labels, span: self.since(first).to(start) });
            }
        }
    }

    fn predicate(&mut self) -> Result<Predicate, Diagnostic> {
        let first = self.at;
        let cond = self.condition(0)?;
        let names = std::mem::take(&mut self.registers);
        Ok(Predicate { cond, names, span: self.since(first) })
    }

    /// `x = 0 : [0:3]`, one after the other, at least one.
    fn declarations(&mut self, registers: bool) -> Result<Vec<Declaration>, Diagnostic> {
        let mut found: Vec<Declaration> = Vec::new();
        loop {
            let (first, span) = (self.at, self.span());
            let name = if registers { self.register_name() } else { self.name() };
            let Some(name) = name.map(str::to_string) else {
                let wanted = if registers { "a register like `$r`" } else { "a variable" };
                return if found.is_empty() { Err(self.unexpected(wanted)) } else { Ok(found) };
            };
            if let Some(other) = found.iter().find(|d| d.name == name) {
                let error = Diagnostic::error(span, format!("`{name}` is declared twice"));
                return Err(error.related(other.span, "first declared here"));
            }
            self.expect("=")?;
            let initial = if self.sign("*") { None } else { Some(self.integer()?) };
            let domain = if self.sign(":") { self.domain()? } else { Domain::All };
            let span = self.since(first);
            if initial.as_ref().is_some_and(|value| !domain.contains(value)) {
                return Err(Diagnostic::error(span, format!("`{name}` starts outside its domain")));
            }
            found.push(Declaration { name, initial, domain, span });
        }
    }

    fn domain(&mut self) -> Result<Domain, Diagnostic> {
        let first = self.at;
        if self.word("Z") {
            return Ok(Domain::All);
        }
        self.expect("[")?;
        let low = self.integer()?;
        self.expect(":")?;
        let high = self.integer()?;
        self.expect("]")?;
        if low > high {
            return Err(Diagnostic::error(self.since(first), "this domain is empty"));
        }
        Ok(Domain::Range(low, high))
    }

    fn integer(&mut self) -> Result<Int, Diagnostic> {
        let negative = self.sign("-");
        match self.peek() {
            Some(RmmTokenKind::Number(value)) => {
                let value = value.clone();
                self.at += 1;
                Ok(if negative { -value } else { value })
            }
            _ => Err(self.unexpected("an integer")),
        }
    }

    /// What follows the word `process`.
    fn process(&mut self, processes: &mut Vec<Process>) -> Result<(), Diagnostic> {
        let first = self.at - 1;
        let mut copies = 1;
        if self.sign("(") {
            let span = self.span();
            let count = self.integer()?;
            self.expect(")")?;
            let fits = |count: &usize| (1..=MAX_PROCESSES).contains(count);
            copies = usize::try_from(&count).ok().filter(fits).ok_or_else(|| {
                Diagnostic::error(span, format!("the number of processes is from 1 to {MAX_PROCESSES}"))
            })?;
        }
        let span = self.since(first);
        let data = if self.word("data") { self.declarations(false)? } else { Vec::new() };
        let registers = if self.word("registers") { self.declarations(true)? } else { Vec::new() };
        self.registers = registers.iter().map(|register| register.name.clone()).collect();
        self.expect_word("text")?;
        let text = self.statements(0)?;
        let process = Process { data, registers, text };
        if processes.len() + copies > MAX_PROCESSES {
            return Err(Diagnostic::error(span, format!("there are more than {MAX_PROCESSES} processes")));
        }
        processes.extend(std::iter::repeat_n(process, copies));
        Ok(())
    }

    /// `e + e - e`
    pub(super) fn expression(&mut self, depth: usize) -> Result<Expr<RegId>, Diagnostic> {
        let mut left = self.unit(depth)?;
        let mut parts = 0;
        loop {
            let operation = if self.sign("+") {
                Arith::Add
            } else if self.sign("-") {
                Arith::Sub
            } else {
                return Ok(left);
            };
            parts += 1;
            if parts + depth > HEIGHT {
                return Err(too_deep(self.span()));
            }
            left = Expr::binary(operation, left, self.unit(depth)?);
        }
    }

    fn unit(&mut self, depth: usize) -> Result<Expr<RegId>, Diagnostic> {
        check_nesting(depth, self.span())?;
        if self.sign("(") {
            let inner = self.expression(depth + 1)?;
            self.expect(")")?;
            return Ok(inner);
        }
        if self.sign("-") {
            return Ok(self.unit(depth + 1)?.negative());
        }
        match self.peek() {
            Some(RmmTokenKind::Number(_)) => Ok(self.integer()?.into()),
            _ => Ok(self.register("an expression")?.into()),
        }
    }

    pub(super) fn register(&mut self, wanted: &str) -> Result<RegId, Diagnostic> {
        let span = self.span();
        let Some(name) = self.register_name() else { return Err(self.unexpected(wanted)) };
        if let Some(at) = self.registers.iter().position(|register| register == name) {
            return Ok(RegId::new(at));
        }
        if !self.open {
            return Err(Diagnostic::error(span, format!("the register `${name}` is not declared")));
        }
        self.registers.push(name.to_string());
        Ok(RegId::new(self.registers.len() - 1))
    }

    /// `b || b`, whose parts are `b && b`, whose parts are comparisons, `not` or groups.
    pub(super) fn condition(&mut self, depth: usize) -> Result<Cond<RegId>, Diagnostic> {
        let mut any = Vec::new();
        loop {
            let mut all = vec![self.comparison(depth)?];
            while self.sign("&&") {
                all.push(self.comparison(depth)?);
            }
            any.push(Cond::and(all));
            if !self.sign("||") {
                return Ok(Cond::or(any));
            }
        }
    }

    fn comparison(&mut self, depth: usize) -> Result<Cond<RegId>, Diagnostic> {
        check_nesting(depth, self.span())?;
        if self.word("not") {
            return Ok(self.comparison(depth + 1)?.negate());
        }
        if self.word("true") {
            return Ok(Cond::TRUE);
        }
        if self.word("false") {
            return Ok(Cond::FALSE);
        }
        if self.sign("[") {
            let inner = self.condition(depth + 1)?;
            self.expect("]")?;
            return Ok(inner);
        }
        let left = self.expression(depth)?;
        let signs = [
            ("=", Relation::Eq),
            ("!=", Relation::Ne),
            ("<=", Relation::Le),
            (">=", Relation::Ge),
            ("<", Relation::Lt),
            (">", Relation::Gt),
        ];
        for (sign, relation) in signs {
            if self.sign(sign) {
                return Ok(Cond::compare(relation, left, self.expression(depth)?));
            }
        }
        Err(self.unexpected("a comparison like `=` or `<`"))
    }

    pub(super) fn peek(&self) -> Option<&RmmTokenKind<'a>> {
        self.peek_at(0)
    }

    pub(super) fn peek_at(&self, ahead: usize) -> Option<&RmmTokenKind<'a>> {
        self.tokens.get(self.at + ahead).map(|token| &token.kind)
    }

    pub(super) fn skip(&mut self) {
        self.at += 1;
    }

    pub(super) fn position(&self) -> usize {
        self.at
    }

    pub(super) fn span(&self) -> Span {
        self.tokens.get(self.at).map_or(self.end, |token| token.span)
    }

    /// The span of the tokens from `first` up to here, as far as they stand where the first
    /// one stands: what came out of a macro call counts as that call.
    pub(super) fn since(&self, first: usize) -> Span {
        let Some(start) = self.tokens.get(first) else { return self.end };
        let mut whole = start.span;
        for token in &self.tokens[first..self.at] {
            let (mut frame, mut span) = (token.frame, token.span);
            while frame != start.frame && frame != 0 {
                let call = self.frames[frame as usize];
                (frame, span) = (call.parent, call.call);
            }
            if frame == start.frame && span.start >= whole.start {
                whole = whole.to(span);
            }
        }
        whole
    }

    pub(super) fn sign(&mut self, sign: &str) -> bool {
        let met = matches!(self.peek(), Some(RmmTokenKind::Sign(s)) if *s == sign);
        self.at += usize::from(met);
        met
    }

    pub(super) fn word(&mut self, word: &str) -> bool {
        let met = matches!(self.peek(), Some(RmmTokenKind::Word(w)) if *w == word);
        self.at += usize::from(met);
        met
    }

    /// A word that is no keyword.
    pub(super) fn name(&mut self) -> Option<&'a str> {
        let Some(RmmTokenKind::Word(name)) = self.peek() else { return None };
        let name = Some(*name).filter(|name| !is_keyword(name));
        self.at += usize::from(name.is_some());
        name
    }

    fn register_name(&mut self) -> Option<&'a str> {
        let Some(RmmTokenKind::Register(name)) = self.peek() else { return None };
        let name = *name;
        self.at += 1;
        Some(name)
    }

    pub(super) fn expect(&mut self, sign: &str) -> Result<(), Diagnostic> {
        if self.sign(sign) { Ok(()) } else { Err(self.unexpected(&format!("`{sign}`"))) }
    }

    pub(super) fn expect_word(&mut self, word: &str) -> Result<(), Diagnostic> {
        if self.word(word) { Ok(()) } else { Err(self.unexpected(&format!("`{word}`"))) }
    }

    pub(super) fn unexpected(&self, wanted: &str) -> Diagnostic {
        let found = match self.peek() {
            Some(RmmTokenKind::Word(text) | RmmTokenKind::Sign(text)) => format!("`{text}`"),
            Some(RmmTokenKind::Register(name)) => format!("`${name}`"),
            Some(RmmTokenKind::Number(value)) => format!("`{value}`"),
            None => "the end".to_string(),
        };
        Diagnostic::error(self.span(), format!("expected {wanted}, found {found}"))
    }
}

pub(super) fn is_keyword(word: &str) -> bool {
    KEYWORDS.contains(&word)
}
