//! The text as a tree. Nothing here is resolved: a name may be a constant, a register, a
//! shared variable or nothing at all.

use program::{Arith, Fence, Int, PropertyKind, Relation, Span};

/// A word of the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ident<'a> {
    pub text: &'a str,
    pub span: Span,
}

/// A declaration or claim outside threads.
#[derive(Debug)]
pub(super) enum Item<'a> {
    /// `include "locks.fw";`; what is included follows.
    Include,
    /// `const N = 2;`
    Constants(Vec<(Ident<'a>, FwExpr<'a>)>),
    /// `shared x, y = 1;`
    Shared(Vec<FwDeclaration<'a>>),
    /// `struct Node { value, next[2] }`
    Struct(FwStruct<'a>),
    /// `fn f(a, b) { … }`
    Function(Function<'a>),
    /// `thread P(i in 0..N) { … }`
    Thread(FwThread<'a>),
    /// `never c;` or `finally c;`, perhaps with a name: `never mutex: c;`
    Property { kind: PropertyKind, name: Option<Ident<'a>>, cond: FwExpr<'a>, span: Span },
    /// `assume c;`, about initial values
    Assume { cond: FwExpr<'a>, span: Span },
    /// `predicates { … }`
    Predicates(Vec<FwExpr<'a>>),
    /// `for i in 0..N { … }` around properties and assumptions
    For(IndexRange<'a>, Vec<Item<'a>>),
}

/// A shared variable, a register, an array of either, or a field of a struct.
#[derive(Debug)]
pub(super) struct FwDeclaration<'a> {
    /// The struct that it (or each of its cells) is.
    pub record: Option<Ident<'a>>,
    pub name: Ident<'a>,
    /// Of an array, how many there are for each index.
    pub lengths: Vec<FwExpr<'a>>,
    pub initial: Initial<'a>,
    /// From its name to the end of its initial value.
    pub span: Span,
}

/// A struct: numbers that have a name together.
#[derive(Debug)]
pub(super) struct FwStruct<'a> {
    pub name: Ident<'a>,
    pub fields: Vec<FwDeclaration<'a>>,
}

/// What variables and registers start with.
#[derive(Debug)]
pub(super) enum Initial<'a> {
    /// Nothing was said.
    Zero,
    /// One value, or one choice, for all cells.
    Same(Rvalue<'a>),
    /// One for each cell or field.
    List(Vec<Initial<'a>>, Span),
    /// `for i in lo..hi: …`, only in lists: one for each number.
    For(Box<(IndexRange<'a>, Initial<'a>)>),
}

/// A right-hand side.
#[derive(Debug)]
pub(super) enum Rvalue<'a> {
    /// A value.
    Value(FwExpr<'a>),
    /// `any`
    Any,
    /// `any in lo..hi`
    AnyIn(Box<(FwExpr<'a>, FwExpr<'a>)>, Span),
}

/// `i in lo..hi`, without `hi`.
#[derive(Debug)]
pub(super) struct IndexRange<'a> {
    pub name: Ident<'a>,
    pub low: FwExpr<'a>,
    pub high: FwExpr<'a>,
}

/// A function, inlined where it is called.
#[derive(Debug)]
pub(super) struct Function<'a> {
    pub name: Ident<'a>,
    pub parameters: Vec<FwParameter<'a>>,
    pub body: Block<'a>,
}

/// A parameter: a value, or with `&` a name for a place of the caller.
#[derive(Debug)]
pub(super) struct FwParameter<'a> {
    pub name: Ident<'a>,
    pub reference: bool,
}

/// A thread or a family of threads.
#[derive(Debug)]
pub(super) struct FwThread<'a> {
    pub name: Ident<'a>,
    pub range: Option<IndexRange<'a>>,
    pub body: Block<'a>,
}

/// Statements between braces.
#[derive(Debug)]
pub(super) struct Block<'a> {
    pub statements: Vec<Stmt<'a>>,
    /// The closing brace.
    pub close: Span,
}

/// A statement.
#[derive(Debug)]
pub(super) struct Stmt<'a> {
    pub kind: StmtKind<'a>,
    /// The statement without its semicolon; of a statement with a body, only its head.
    pub span: Span,
}

/// `name`, `name[index]`, `name.field`, `name[index].field[index]`: where a value is stored or what an
/// atomic expression works on. In properties, `P.r` and `P[i].r` are registers of threads.
#[derive(Debug)]
pub(super) struct Target<'a> {
    pub name: Ident<'a>,
    pub path: Vec<Accessor<'a>>,
    pub span: Span,
}

/// One part of the way from a name to a number.
#[derive(Debug)]
pub(super) enum Accessor<'a> {
    /// `[index]`
    Index(FwExpr<'a>),
    /// `.field`
    Field(Ident<'a>),
}

impl<'a> Accessor<'a> {
    /// The index, if it is one.
    pub fn index(&self) -> Option<&FwExpr<'a>> {
        match self {
            Accessor::Index(index) => Some(index),
            Accessor::Field(_) => None,
        }
    }
}

impl Target<'_> {
    /// Of its highest index.
    pub fn height(&self) -> u16 {
        self.path.iter().filter_map(Accessor::index).map(|index| index.height).max().unwrap_or(0)
    }
}

/// The kinds of statements.
#[derive(Debug)]
pub(super) enum StmtKind<'a> {
    /// What could not be read; reported.
    Broken,
    Label(Ident<'a>),
    Skip,
    Let(Vec<FwDeclaration<'a>>),
    Assign(Target<'a>, Rvalue<'a>),
    /// `x += e;` and its like, `x++;`: what is there now, combined with a value.
    Update(Target<'a>, UpdateOperator, FwExpr<'a>),
    If(Vec<(FwExpr<'a>, Block<'a>)>, Option<Block<'a>>),
    While(FwExpr<'a>, Block<'a>),
    /// `do { … } while (c);`
    DoWhile(Block<'a>, FwExpr<'a>),
    Loop(Block<'a>),
    For(Box<IndexRange<'a>>, Block<'a>),
    Switch(FwExpr<'a>, Vec<SwitchCase<'a>>),
    Choose(Vec<Block<'a>>),
    Atomic(Block<'a>),
    Break,
    Continue,
    Goto(Ident<'a>),
    Return(Option<Rvalue<'a>>),
    Await(FwExpr<'a>),
    Assume(FwExpr<'a>),
    Assert(FwExpr<'a>),
    Fence(Fence),
    Membarrier,
    Arw(Box<(Target<'a>, FwExpr<'a>, FwExpr<'a>)>),
    /// A call or an atomic expression whose value is not used.
    Evaluate(FwExpr<'a>),
    Stop,
    Fail(Fail<'a>),
    Lock,
    Unlock,
    /// `locked { … }` or `together { … }`
    Together {
        locked: bool,
        parts: Block<'a>,
    },
    /// A statement whose divisions are not guarded.
    Unchecked(Box<Stmt<'a>>),
}

/// `case 1: case 2: …` or `default: …`, up to the next one.
#[derive(Debug)]
pub(super) struct SwitchCase<'a> {
    /// The values it is for, all constants.
    pub values: Vec<FwExpr<'a>>,
    /// Whether it is for all other values, too.
    pub default: bool,
    pub body: Block<'a>,
    pub span: Span,
}

/// What a `fail` statement claims.
#[derive(Debug)]
pub(super) enum Fail<'a> {
    Assertion,
    Division,
    /// The array, its length, and the index.
    Bounds(Ident<'a>, Box<(FwExpr<'a>, FwExpr<'a>)>),
    /// Something else, in words.
    Error(String),
    /// What follows was not read, for a reason in words.
    Limit(String),
}

/// An expression or condition.
#[derive(Debug)]
pub(super) struct FwExpr<'a> {
    pub kind: ExprKind<'a>,
    pub span: Span,
    /// Of its tree.
    pub height: u16,
}

/// The kinds of expressions.
#[derive(Debug)]
pub(super) enum ExprKind<'a> {
    /// What could not be read; reported.
    Broken,
    Int(Int),
    Bool(bool),
    Name(&'a str),
    /// A cell or field; in properties also `P0.register`.
    Cell(Box<Target<'a>>),
    /// `&place`, the argument for a parameter `&name`.
    Reference(Box<Target<'a>>),
    /// `P0@label`
    At(ThreadRef<'a>, Ident<'a>),
    Negative(Box<FwExpr<'a>>),
    Not(Box<FwExpr<'a>>),
    Binary(Arith, Box<FwExpr<'a>>, Box<FwExpr<'a>>),
    Shift(Shift, Box<FwExpr<'a>>, Box<FwExpr<'a>>),
    Compare(Relation, Box<FwExpr<'a>>, Box<FwExpr<'a>>),
    /// `a && b && …`
    All(Vec<FwExpr<'a>>),
    /// `a || b || …`
    Some(Vec<FwExpr<'a>>),
    /// `c ? a : b`
    Conditional(Box<[FwExpr<'a>; 3]>),
    Call(Ident<'a>, Vec<FwExpr<'a>>),
    Atomic(Box<Atomic<'a>>),
}

/// `<<` multiplies by a power of two, `>>` divides by one and rounds down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shift {
    Left,
    Right,
}

/// What stands before the `=` of `x += e;` and its like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UpdateOperator {
    Arith(Arith),
    Shift(Shift),
}

/// `P0`, or `P[0]` for a member of a family.
#[derive(Debug)]
pub(super) struct ThreadRef<'a> {
    pub name: Ident<'a>,
    pub index: Option<Box<FwExpr<'a>>>,
}

/// `cas(x, old, new)`, `cmpxchg(x, old, new)`, `swap(x, value)`, `fetch_add(x, value)` and its like.
#[derive(Debug)]
pub(super) struct Atomic<'a> {
    pub target: Target<'a>,
    pub kind: AtomicKind<'a>,
}

/// The kinds of atomic expressions, with what they take besides the variable.
#[derive(Debug)]
pub(super) enum AtomicKind<'a> {
    /// Whether it stored.
    Cas(FwExpr<'a>, FwExpr<'a>),
    /// What was there before.
    CasOld(FwExpr<'a>, FwExpr<'a>),
    Swap(FwExpr<'a>),
    /// Stores the old value combined with another.
    Fetch(Arith, FwExpr<'a>),
}

impl<'a> StmtKind<'a> {
    /// Calls `visit` on every block that is part of this statement.
    pub fn for_each_block<'t>(&'t self, visit: &mut impl FnMut(&'t Block<'a>)) {
        match self {
            StmtKind::If(arms, otherwise) => {
                arms.iter().map(|(_, block)| block).chain(otherwise).for_each(visit);
            }
            StmtKind::Choose(branches) => branches.iter().for_each(visit),
            StmtKind::Switch(_, cases) => cases.iter().map(|case| &case.body).for_each(visit),
            StmtKind::While(_, block) | StmtKind::DoWhile(block, _) | StmtKind::For(_, block) => visit(block),
            StmtKind::Loop(block) | StmtKind::Atomic(block) => visit(block),
            StmtKind::Together { parts, .. } => visit(parts),
            _ => {}
        }
    }
}
