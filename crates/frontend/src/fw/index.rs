//! Where names of a `.fw` text are declared and used, for editors.
//!
//! The index is made from the tree alone, so there is one for texts with errors, too. It follows
//! the language's scopes: what stands outside threads is known everywhere, a register from its
//! declaration to the end of its block, a label in its thread or function. `P0` in a property is
//! the member 0 of the family `P`; only the `P` of it counts as a use, so renaming works.

mod symbols;

use super::ast::{
    Accessor, Atomic, AtomicKind, Block, ExprKind, Fail, Function, FwDeclaration, FwExpr, FwStruct, FwThread,
    Ident, IndexRange, Initial, Item, Rvalue, Stmt, StmtKind, Target, ThreadRef,
};
use super::constants::{ConstantLookup, evaluate};
use super::sink::Sink;
use super::{lexer, parse, unreadable};
use crate::Options;
use program::Span;
use std::collections::HashMap;

pub use symbols::{Index, Symbol, SymbolKind};

/// The index of a text.
///
/// ```
/// let index = frontend::index("shared x; thread P { x = 1; }", &frontend::Options::default());
/// let (symbol, _) = index.at(21).expect("a name stands there");
/// assert_eq!(index.symbols[symbol].detail, "shared x");
/// assert_eq!(index.places(symbol).len(), 2);
/// ```
pub fn index(text: &str, options: &Options) -> Index {
    if unreadable(text).is_some() {
        return Index::default();
    }
    let mut sink = Sink::default();
    let tokens = lexer::tokens(text, &mut sink);
    let keywords = tokens.iter().filter(|token| token.kind == lexer::TokenKind::Keyword);
    let keywords = keywords.map(|token| token.span).collect();
    let (items, _) = parse::parse(text, tokens, &mut sink);
    let mut indexer = Indexer::new(text, options);
    indexer.index.keywords = keywords;
    items.iter().for_each(|item| indexer.declare_item(item));
    items.iter().for_each(|item| indexer.bodies(item));
    items.iter().for_each(|item| indexer.claims(item));
    indexer.index
}

/// What is known of a thread or function from outside.
#[derive(Default)]
struct Body<'a> {
    labels: HashMap<&'a str, usize>,
    registers: HashMap<&'a str, usize>,
}

struct Indexer<'a> {
    text: &'a str,
    options: &'a Options,
    index: Index,
    globals: HashMap<&'a str, usize>,
    functions: HashMap<&'a str, usize>,
    threads: HashMap<&'a str, usize>,
    /// Fields of all structs, by their names.
    fields: HashMap<&'a str, Vec<usize>>,
    bodies: HashMap<usize, Body<'a>>,
    /// Names of the blocks around us, innermost last.
    scopes: Vec<HashMap<&'a str, usize>>,
    /// The thread or function we are in.
    inside: Option<usize>,
}

impl<'a> Indexer<'a> {
    fn new(text: &'a str, options: &'a Options) -> Indexer<'a> {
        Indexer {
            text,
            options,
            index: Index::default(),
            globals: HashMap::new(),
            functions: HashMap::new(),
            threads: HashMap::new(),
            fields: HashMap::new(),
            bodies: HashMap::new(),
            scopes: Vec::new(),
            inside: None,
        }
    }

    fn declare(&mut self, name: Ident<'a>, kind: SymbolKind, whole: Span, detail: String) -> usize {
        let parent = self.inside;
        let whole = whole.to(name.span);
        let symbol =
            Symbol { name: name.text.to_string(), kind, span: name.span, whole, parent, detail, value: None };
        self.index.symbols.push(symbol);
        self.index.symbols.len() - 1
    }

    fn use_of(&mut self, span: Span, symbol: Option<usize>) {
        if let Some(symbol) = symbol {
            self.index.uses.push((span, symbol));
        }
    }

    /// A piece of the text on one line.
    fn slice(&self, span: Span) -> String {
        let piece = self.text.get(span.start as usize..span.end as usize).unwrap_or_default();
        piece.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn declare_item(&mut self, item: &Item<'a>) {
        match item {
            Item::Constants(list) => list.iter().for_each(|(name, value)| self.constant(*name, value)),
            Item::Shared(list) => list.iter().for_each(|shared| self.shared(shared)),
            Item::Function(function) => {
                let parameters: Vec<String> = function.parameters.iter().map(parameter_text).collect();
                let detail = format!("fn {}({})", function.name.text, parameters.join(", "));
                let whole = function.name.span.to(function.body.close);
                let symbol = self.declare(function.name, SymbolKind::Function, whole, detail);
                self.functions.entry(function.name.text).or_insert(symbol);
            }
            Item::Thread(thread) => {
                let mut detail = format!("thread {}", thread.name.text);
                if let Some(range) = &thread.range {
                    detail += &format!("({})", self.range_text(range));
                }
                let whole = thread.name.span.to(thread.body.close);
                let symbol = self.declare(thread.name, SymbolKind::Thread, whole, detail);
                self.threads.entry(thread.name.text).or_insert(symbol);
            }
            Item::Struct(record) => self.record(record),
            Item::Include
            | Item::Property { .. }
            | Item::Assume { .. }
            | Item::Predicates(_)
            | Item::For(..) => {}
        }
    }

    fn record(&mut self, record: &FwStruct<'a>) {
        let names: Vec<&str> = record.fields.iter().map(|field| field.name.text).collect();
        let detail = format!("struct {} {{ {} }}", record.name.text, names.join(", "));
        let whole = record.fields.last().map_or(record.name.span, |field| field.span);
        let symbol = self.declare(record.name, SymbolKind::Struct, whole, detail);
        self.globals.entry(record.name.text).or_insert(symbol);
        self.inside = Some(symbol);
        for field in &record.fields {
            let detail = format!("field {} of {}", self.slice(field.span), record.name.text);
            let symbol = self.declare(field.name, SymbolKind::Field, field.span, detail);
            self.fields.entry(field.name.text).or_default().push(symbol);
        }
        self.inside = None;
    }

    fn range_text(&self, range: &IndexRange<'a>) -> String {
        self.slice(range.name.span.to(range.high.span))
    }

    fn constant(&mut self, name: Ident<'a>, expr: &FwExpr<'a>) {
        let detail = format!("const {}", self.slice(name.span.to(expr.span)));
        let symbol = self.declare(name, SymbolKind::Constant, expr.span, detail);
        let given = self.options.defines.iter().rev().find(|(define, _)| define == name.text);
        let known = |name: &str| match self.globals.get(name).map(|at| &self.index.symbols[*at].value) {
            Some(Some(value)) => ConstantLookup::Constant(value.clone()),
            _ => ConstantLookup::Broken,
        };
        let value = given.map(|(_, value)| value.clone()).or_else(|| evaluate(expr, &known).ok());
        self.index.symbols[symbol].value = value;
        self.globals.entry(name.text).or_insert(symbol);
    }

    fn shared(&mut self, shared: &FwDeclaration<'a>) {
        let mut whole = shared.name.span;
        if let Some(length) = shared.lengths.last() {
            whole = whole.to(length.span);
            whole.end += 1;
        }
        let detail = format!("shared {}{}", record_text(shared), self.slice(whole));
        let symbol = self.declare(shared.name, SymbolKind::Variable, whole, detail);
        self.globals.entry(shared.name.text).or_insert(symbol);
    }

    /// What stands around the name of a declaration.
    fn declared(&mut self, declared: &FwDeclaration<'a>) {
        if let Some(record) = declared.record {
            self.use_of(record.span, self.globals.get(record.text).copied());
        }
        declared.lengths.iter().for_each(|length| self.expr(length));
        self.initial(&declared.initial);
    }

    fn initial(&mut self, initial: &Initial<'a>) {
        match initial {
            Initial::Zero => {}
            Initial::Same(source) => self.source(source),
            Initial::List(list, _) => list.iter().for_each(|part| self.initial(part)),
            Initial::For(repeated) => {
                self.for_loop(&repeated.0, |indexer| indexer.initial(&repeated.1));
            }
        }
    }

    /// What stands inside a declaration.
    fn bodies(&mut self, item: &Item<'a>) {
        match item {
            Item::Constants(list) => list.iter().for_each(|(_, value)| self.expr(value)),
            Item::Shared(list) => list.iter().for_each(|shared| self.declared(shared)),
            Item::Struct(record) => record.fields.iter().for_each(|field| self.declared(field)),
            Item::Function(function) => self.function(function),
            Item::Thread(thread) => self.thread(thread),
            Item::Include
            | Item::Property { .. }
            | Item::Assume { .. }
            | Item::Predicates(_)
            | Item::For(..) => {}
        }
    }

    fn function(&mut self, function: &Function<'a>) {
        self.inside(function.name, &function.body, |indexer| {
            for name in function.parameters.iter().map(|parameter| parameter.name) {
                let detail = format!("parameter {} of {}", name.text, function.name.text);
                indexer.local(name, SymbolKind::Parameter, name.span, detail);
            }
        });
    }

    fn thread(&mut self, thread: &FwThread<'a>) {
        if let Some(range) = &thread.range {
            self.expr(&range.low);
            self.expr(&range.high);
        }
        self.inside(thread.name, &thread.body, |indexer| {
            thread.range.iter().for_each(|range| indexer.counter(range));
        });
    }

    /// What stands in the body of a thread or function, with the names that its head declares.
    fn inside(&mut self, name: Ident<'a>, body: &Block<'a>, head: impl FnOnce(&mut Self)) {
        self.inside = self.index.symbols.iter().position(|symbol| symbol.span == name.span);
        self.scopes.push(HashMap::new());
        head(self);
        self.labels(body);
        self.block(body);
        self.scopes.pop();
        self.inside = None;
    }

    fn counter(&mut self, range: &IndexRange<'a>) {
        let detail = self.range_text(range);
        self.local(range.name, SymbolKind::Counter, range.name.span, detail);
    }

    /// Declares a name in the innermost block.
    fn local(&mut self, name: Ident<'a>, kind: SymbolKind, whole: Span, detail: String) {
        let symbol = self.declare(name, kind, whole, detail);
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.text, symbol);
        }
        if let (Some(inside), true) =
            (self.inside, matches!(kind, SymbolKind::Register | SymbolKind::Parameter))
        {
            self.bodies.entry(inside).or_default().registers.entry(name.text).or_insert(symbol);
        }
    }

    fn labels(&mut self, block: &Block<'a>) {
        for statement in &block.statements {
            if let StmtKind::Label(name) = &statement.kind {
                let symbol =
                    self.declare(*name, SymbolKind::Label, name.span, format!("label {}", name.text));
                if let Some(inside) = self.inside {
                    self.bodies.entry(inside).or_default().labels.entry(name.text).or_insert(symbol);
                }
            }
            statement.kind.for_each_block(&mut |inner| self.labels(inner));
        }
    }

    fn block(&mut self, block: &Block<'a>) {
        self.scopes.push(HashMap::new());
        block.statements.iter().for_each(|statement| self.statement(statement));
        self.scopes.pop();
    }

    fn statement(&mut self, statement: &Stmt<'a>) {
        match &statement.kind {
            StmtKind::Let(list) => {
                for register in list {
                    self.declared(register);
                    let detail = format!("let {}{}", record_text(register), self.slice(register.span));
                    self.local(register.name, SymbolKind::Register, register.span, detail);
                }
            }
            StmtKind::Assign(target, source) => {
                self.target(target);
                self.source(source);
            }
            StmtKind::Update(target, _, value) => {
                self.target(target);
                self.expr(value);
            }
            StmtKind::If(arms, _) => arms.iter().for_each(|(cond, _)| self.expr(cond)),
            StmtKind::While(cond, _) | StmtKind::DoWhile(_, cond) => self.expr(cond),
            StmtKind::For(range, block) => return self.for_loop(range, |indexer| indexer.block(block)),
            StmtKind::Goto(name) => {
                let body = self.inside.and_then(|inside| self.bodies.get(&inside));
                let label = body.and_then(|body| body.labels.get(name.text)).copied();
                self.use_of(name.span, label);
            }
            StmtKind::Return(value) => value.iter().for_each(|value| self.source(value)),
            StmtKind::Await(e) | StmtKind::Assume(e) | StmtKind::Assert(e) | StmtKind::Evaluate(e) => {
                self.expr(e)
            }
            StmtKind::Arw(parts) => {
                self.target(&parts.0);
                self.expr(&parts.1);
                self.expr(&parts.2);
            }
            StmtKind::Fail(Fail::Bounds(array, parts)) => {
                self.use_of(array.span, self.globals.get(array.text).copied());
                self.expr(&parts.0);
                self.expr(&parts.1);
            }
            StmtKind::Switch(value, cases) => {
                self.expr(value);
                cases.iter().flat_map(|case| &case.values).for_each(|value| self.expr(value));
            }
            StmtKind::Unchecked(inner) => self.statement(inner),
            _ => {}
        }
        statement.kind.for_each_block(&mut |block| self.block(block));
    }

    fn for_loop(&mut self, range: &IndexRange<'a>, inner: impl FnOnce(&mut Self)) {
        self.expr(&range.low);
        self.expr(&range.high);
        self.scopes.push(HashMap::new());
        self.counter(range);
        inner(self);
        self.scopes.pop();
    }

    fn source(&mut self, source: &Rvalue<'a>) {
        match source {
            Rvalue::Value(value) => self.expr(value),
            Rvalue::Any => {}
            Rvalue::AnyIn(bounds, _) => {
                self.expr(&bounds.0);
                self.expr(&bounds.1);
            }
        }
    }

    fn target(&mut self, target: &Target<'a>) {
        let known = self.scopes.iter().any(|scope| scope.contains_key(target.name.text))
            || self.globals.contains_key(target.name.text);
        let fields = target.path.iter().any(|part| matches!(part, Accessor::Field(_)));
        if fields && !known {
            return self.register(target);
        }
        self.name(target.name);
        target.path.iter().for_each(|part| self.accessor(part));
    }

    fn accessor(&mut self, part: &Accessor<'a>) {
        match part {
            Accessor::Index(index) => self.expr(index),
            // Without types, a field's name says which it is if only one struct has such a field.
            Accessor::Field(name) => {
                if let Some([field]) = self.fields.get(name.text).map(Vec::as_slice) {
                    self.use_of(name.span, Some(*field));
                }
            }
        }
    }

    /// `P.r` or `P[i].r`
    fn register(&mut self, target: &Target<'a>) {
        let fields = target.path.iter().position(|part| matches!(part, Accessor::Field(_))).unwrap_or(0);
        let (before, rest) = target.path.split_at(fields);
        before.iter().for_each(|part| self.accessor(part));
        let thread = self.thread_named(target.name);
        if let Some((Accessor::Field(register), inside)) = rest.split_first() {
            let own = thread.and_then(|thread| self.bodies.get(&thread));
            let own = own.and_then(|body| body.registers.get(register.text)).copied();
            self.use_of(register.span, own.or_else(|| self.inlined_register(register.text)));
            inside.iter().for_each(|part| self.accessor(part));
        }
    }

    /// A name that is a register, a counter, a constant or a variable.
    fn name(&mut self, name: Ident<'a>) {
        let local = self.scopes.iter().rev().find_map(|scope| scope.get(name.text));
        let symbol = local.or_else(|| self.globals.get(name.text)).copied();
        self.use_of(name.span, symbol);
    }

    fn expr(&mut self, expr: &FwExpr<'a>) {
        match &expr.kind {
            ExprKind::Broken | ExprKind::Int(_) | ExprKind::Bool(_) => {}
            ExprKind::Name(text) => {
                // Parentheses belong to the expression, not to the name.
                let piece = self.text.get(expr.span.start as usize..expr.span.end as usize);
                let start = expr.span.start as usize + piece.and_then(|piece| piece.find(text)).unwrap_or(0);
                self.name(Ident { text, span: Span::new(start, start + text.len()) });
            }
            ExprKind::Cell(target) | ExprKind::Reference(target) => self.target(target),
            ExprKind::At(thread, label) => {
                let body = self.thread_ref(thread).and_then(|thread| self.bodies.get(&thread));
                let label_symbol = body.and_then(|body| body.labels.get(label.text)).copied();
                self.use_of(label.span, label_symbol);
            }
            ExprKind::Negative(inner) | ExprKind::Not(inner) => self.expr(inner),
            ExprKind::Binary(_, a, b) | ExprKind::Shift(_, a, b) | ExprKind::Compare(_, a, b) => {
                self.expr(a);
                self.expr(b);
            }
            ExprKind::All(parts) | ExprKind::Some(parts) => parts.iter().for_each(|part| self.expr(part)),
            ExprKind::Conditional(parts) => parts.iter().for_each(|part| self.expr(part)),
            ExprKind::Call(name, arguments) => {
                self.use_of(name.span, self.functions.get(name.text).copied());
                arguments.iter().for_each(|argument| self.expr(argument));
            }
            ExprKind::Atomic(atomic) => self.atomic(atomic),
        }
    }

    fn atomic(&mut self, atomic: &Atomic<'a>) {
        self.target(&atomic.target);
        match &atomic.kind {
            AtomicKind::Cas(old, new) | AtomicKind::CasOld(old, new) => {
                self.expr(old);
                self.expr(new);
            }
            AtomicKind::Swap(value) | AtomicKind::Fetch(_, value) => self.expr(value),
        }
    }

    /// The thread or family that a property names.
    fn thread_ref(&mut self, thread: &ThreadRef<'a>) -> Option<usize> {
        thread.index.iter().for_each(|index| self.expr(index));
        self.thread_named(thread.name)
    }

    fn thread_named(&mut self, name: Ident<'a>) -> Option<usize> {
        let text = name.text;
        let family = text.trim_end_matches(|c: char| c.is_ascii_digit());
        // `P10` may be the member 10 of `P` or the member 0 of `P1`: the longest family wins.
        let lengths = (family.len()..=text.len()).rev();
        let found =
            lengths.map(|length| &text[..length]).find_map(|name| Some((*self.threads.get(name)?, name)));
        let (symbol, family) = found?;
        let start = name.span.start as usize;
        self.use_of(Span::new(start, start + family.len()), Some(symbol));
        Some(symbol)
    }

    /// A register of a function that threads call.
    fn inlined_register(&self, name: &str) -> Option<usize> {
        let functions = self.functions.values().filter_map(|function| self.bodies.get(function));
        functions.filter_map(|body| body.registers.get(name)).copied().min()
    }

    /// Properties and predicates, which speak of labels and registers of threads.
    fn claims(&mut self, item: &Item<'a>) {
        match item {
            Item::Property { cond, .. } | Item::Assume { cond, .. } => self.expr(cond),
            Item::Predicates(list) => list.iter().for_each(|cond| self.expr(cond)),
            Item::For(range, items) => {
                self.for_loop(range, |indexer| items.iter().for_each(|item| indexer.claims(item)));
            }
            _ => {}
        }
    }
}

/// The struct in front of a declared name.
fn record_text(declared: &FwDeclaration<'_>) -> String {
    declared.record.map_or_else(String::new, |record| format!("{} ", record.text))
}

fn parameter_text(parameter: &super::ast::FwParameter<'_>) -> String {
    format!("{}{}", if parameter.reference { "&" } else { "" }, parameter.name.text)
}
