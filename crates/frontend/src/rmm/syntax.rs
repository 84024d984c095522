//! What an `.rmm` text says, as a tree. Expressions speak of registers of their process by
//! number already; memory is still named, as owners may follow later.

use program::{Cond, Domain, Expr, Int, RegId, Span};

/// A declared variable or register.
#[derive(Clone, Debug)]
pub(super) struct Declaration {
    pub(super) name: String,
    /// `None` for `*`.
    pub(super) initial: Option<Int>,
    pub(super) domain: Domain,
    pub(super) span: Span,
}

/// A place in memory.
#[derive(Clone, Debug)]
pub(super) enum MemoryOperand {
    Global(String),
    /// A variable of this process.
    Mine(String),
    /// A variable of another process, counted without this one.
    Other(String, usize),
    /// The global variable of this number.
    Pointer(Expr<RegId>),
}

/// How a write reaches memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WriteStrength {
    Plain,
    Locked,
    /// Followed by a store fence.
    StoreLocked,
}

/// A statement.
#[derive(Clone, Debug)]
pub(super) enum RmmStatement {
    Nop,
    Fence,
    StoreFence,
    Read(RegId, MemoryOperand),
    Await(MemoryOperand, Expr<RegId>),
    Write(MemoryOperand, Expr<RegId>, WriteStrength),
    Cas(MemoryOperand, Expr<RegId>, Expr<RegId>),
    Assign(RegId, Expr<RegId>),
    Assume(Cond<RegId>),
    Goto(String),
    If(Cond<RegId>, Box<Labelled>, Option<Box<Labelled>>),
    While(Cond<RegId>, Box<Labelled>),
    Either(Vec<Vec<Labelled>>),
    Locked(Vec<Vec<Labelled>>),
    Sequence(Vec<Labelled>),
}

/// A statement with its label and its place in the text.
#[derive(Clone, Debug)]
pub(super) struct Labelled {
    pub(super) label: Option<(String, Span)>,
    pub(super) statement: RmmStatement,
    pub(super) span: Span,
}

/// A process; `process(n)` gives n of them.
#[derive(Clone, Debug)]
pub(super) struct Process {
    pub(super) data: Vec<Declaration>,
    pub(super) registers: Vec<Declaration>,
    pub(super) text: Vec<Labelled>,
}

/// One bad state: a label for each process, or anywhere.
#[derive(Clone, Debug)]
pub(super) struct Forbidden {
    pub(super) labels: Vec<(Option<String>, Span)>,
    pub(super) span: Span,
}

/// A predicate over registers, which are numbers into `names`.
#[derive(Clone, Debug)]
pub(super) struct Predicate {
    pub(super) cond: Cond<RegId>,
    pub(super) names: Vec<String>,
    pub(super) span: Span,
}

/// A whole text.
#[derive(Clone, Debug, Default)]
pub(super) struct RmmFile {
    pub(super) forbidden: Vec<Forbidden>,
    pub(super) predicates: Vec<Predicate>,
    pub(super) data: Vec<Declaration>,
    pub(super) processes: Vec<Process>,
}
