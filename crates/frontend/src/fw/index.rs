//! Where names of a `.fw` text are declared and used, for editors.
//!
//! The index is made from the tree alone, so there is one for texts with errors, too. It follows
//! the language's scopes: what stands outside threads is known everywhere, a register from its
//! declaration to the end of its block, a label in its thread or function. `P0` in a property is
//! the member 0 of the family `P`; only the `P` of it counts as a use, so renaming works.

use super::ast::{
    Atomic, AtomicKind, Block, ExprKind, Fail, Function, FwExpr, FwThread, Ident, IndexRange, Initial, Item,
    Rvalue, Shared, Stmt, StmtKind, Target, ThreadRef,
};
use super::constants::{ConstantLookup, evaluate};
use super::sink::Sink;
use super::{lexer, parse, unreadable};
use crate::Options;
use program::{Int, Span};
use std::collections::HashMap;

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolKind {
    /// `const N = 2;`
    Constant,
    /// `shared x;`
    Variable,
    /// `fn f() { … }`
    Function,
    /// A parameter of a function.
    Parameter,
    /// `thread P { … }`
    Thread,
    /// `let r;`
    Register,
    /// The `i` of `thread P(i in 0..2)` and of `for i in 0..2`.
    Counter,
    /// `l: …`
    Label,
}

/// A declaration.
#[derive(Clone, Debug)]
pub struct Symbol {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: SymbolKind,
    /// The name where it is declared.
    pub span: Span,
    /// The whole declaration, with its body if it has one.
    pub whole: Span,
    /// The thread or function it stands in, as a number of a symbol.
    pub parent: Option<usize>,
    /// The declaration in short, as one would write it.
    pub detail: String,
    /// The value of a constant, if it has one.
    pub value: Option<Int>,
}

/// All declarations of a text and where they are used.
#[derive(Clone, Debug, Default)]
pub struct Index {
    /// The declarations.
    pub symbols: Vec<Symbol>,
    /// Uses: where, and the number of the symbol.
    pub uses: Vec<(Span, usize)>,
    /// Where keywords stand.
    pub keywords: Vec<Span>,
}

impl Index {
    /// The symbol that is declared or used at a byte, and where exactly.
    pub fn at(&self, byte: usize) -> Option<(usize, Span)> {
        let holds = |span: Span| span.start as usize <= byte && byte <= span.end as usize;
        let used = self.uses.iter().map(|(span, symbol)| (*symbol, *span));
        let declared = self.symbols.iter().enumerate().map(|(at, symbol)| (at, symbol.span));
        used.chain(declared)
            .filter(|(_, span)| holds(*span))
            .min_by_key(|(_, span)| span.end as usize == byte)
    }

    /// The keyword at a byte.
    pub fn keyword_at(&self, byte: usize) -> Option<Span> {
        let next = self.keywords.partition_point(|span| span.start as usize <= byte);
        let span = *self.keywords.get(next.checked_sub(1)?)?;
        (byte <= span.end as usize).then_some(span)
    }

    /// Where a symbol is declared and used, in the order of the text.
    pub fn places(&self, symbol: usize) -> Vec<Span> {
        let used = self.uses.iter().filter(|(_, used)| *used == symbol).map(|(span, _)| *span);
        let mut places: Vec<Span> =
            self.symbols.get(symbol).map(|s| s.span).into_iter().chain(used).collect();
        places.sort_unstable();
        places.dedup();
        places
    }
}

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
                let parameters: Vec<&str> = function.parameters.iter().map(|name| name.text).collect();
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
            Item::Property { .. } | Item::Predicates(_) | Item::For(..) => {}
        }
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

    fn shared(&mut self, shared: &Shared<'a>) {
        let mut whole = shared.name.span;
        let bracket = u32::from(shared.length.is_some());
        if let Some(length) = &shared.length {
            whole = whole.to(length.span);
        }
        whole.end += bracket;
        let detail = format!("shared {}", self.slice(whole));
        let symbol = self.declare(shared.name, SymbolKind::Variable, whole, detail);
        self.globals.entry(shared.name.text).or_insert(symbol);
    }

    /// What stands inside a declaration.
    fn bodies(&mut self, item: &Item<'a>) {
        match item {
            Item::Constants(list) => list.iter().for_each(|(_, value)| self.expr(value)),
            Item::Shared(list) => {
                for shared in list {
                    shared.length.iter().for_each(|length| self.expr(length));
                    match &shared.initial {
                        Initial::Zero => {}
                        Initial::Same(source) => self.source(source),
                        Initial::List(list, _) => list.iter().for_each(|source| self.source(source)),
                    }
                }
            }
            Item::Function(function) => self.function(function),
            Item::Thread(thread) => self.thread(thread),
            Item::Property { .. } | Item::Predicates(_) | Item::For(..) => {}
        }
    }

    fn function(&mut self, function: &Function<'a>) {
        self.inside = self.symbol_at(function.name);
        self.scopes.push(HashMap::new());
        for name in &function.parameters {
            let detail = format!("parameter {} of {}", name.text, function.name.text);
            self.local(*name, SymbolKind::Parameter, name.span, detail);
        }
        self.body(&function.body);
        self.scopes.pop();
        self.inside = None;
    }

    fn thread(&mut self, thread: &FwThread<'a>) {
        if let Some(range) = &thread.range {
            self.expr(&range.low);
            self.expr(&range.high);
        }
        self.inside = self.symbol_at(thread.name);
        self.scopes.push(HashMap::new());
        if let Some(range) = &thread.range {
            self.counter(range);
        }
        self.body(&thread.body);
        self.scopes.pop();
        self.inside = None;
    }

    fn symbol_at(&self, name: Ident<'a>) -> Option<usize> {
        self.index.symbols.iter().position(|symbol| symbol.span == name.span)
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

    fn body(&mut self, block: &Block<'a>) {
        self.labels(block);
        self.block(block);
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
                for (name, value, whole) in list {
                    value.iter().for_each(|value| self.source(value));
                    let detail = format!("let {}", self.slice(*whole));
                    self.local(*name, SymbolKind::Register, *whole, detail);
                }
            }
            StmtKind::Assign(target, source) => {
                self.target(target);
                self.source(source);
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
        self.name(target.name);
        target.index.iter().for_each(|index| self.expr(index));
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
            ExprKind::Cell(name, index) => {
                self.name(*name);
                self.expr(index);
            }
            ExprKind::At(thread, label) => {
                let body = self.thread_ref(thread).and_then(|thread| self.bodies.get(&thread));
                let label_symbol = body.and_then(|body| body.labels.get(label.text)).copied();
                self.use_of(label.span, label_symbol);
            }
            ExprKind::Register(thread, register) => {
                let thread = self.thread_ref(thread);
                let own = thread.and_then(|thread| self.bodies.get(&thread));
                let own = own.and_then(|body| body.registers.get(register.text)).copied();
                self.use_of(register.span, own.or_else(|| self.inlined_register(register.text)));
            }
            ExprKind::Negative(inner) | ExprKind::Not(inner) => self.expr(inner),
            ExprKind::Binary(_, a, b) | ExprKind::Compare(_, a, b) => {
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
        let text = thread.name.text;
        let family = text.trim_end_matches(|c: char| c.is_ascii_digit());
        // `P10` may be the member 10 of `P` or the member 0 of `P1`: the longest family wins.
        let lengths = (family.len()..=text.len()).rev();
        let found =
            lengths.map(|length| &text[..length]).find_map(|name| Some((*self.threads.get(name)?, name)));
        let (symbol, name) = found?;
        let start = thread.name.span.start as usize;
        self.use_of(Span::new(start, start + name.len()), Some(symbol));
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
            Item::Property { cond, .. } => self.expr(cond),
            Item::Predicates(list) => list.iter().for_each(|cond| self.expr(cond)),
            Item::For(range, items) => {
                self.for_loop(range, |indexer| items.iter().for_each(|item| indexer.claims(item)));
            }
            _ => {}
        }
    }
}
