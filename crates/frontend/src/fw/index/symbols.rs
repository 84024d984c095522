//! Declarations of a text, and where they are used.

use program::{Int, Span};

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
    /// `struct Node { … }`
    Struct,
    /// A field of a struct.
    Field,
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
