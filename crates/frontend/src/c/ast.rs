//! A C text as a tree. Types are resolved and constant expressions of types and labels computed, because
//! parsing C needs that; names of objects are not.

use super::types::{Records, Type};
use program::Span;
use std::collections::HashMap;
use std::rc::Rc;

/// An expression.
#[derive(Debug)]
pub(super) struct Expr {
    pub kind: ExprKind,
    /// What it stands for in the main text.
    pub span: Span,
    /// A token of it, for messages.
    pub token: u32,
    /// Of its tree.
    pub height: u16,
}

/// Operators with one operand that do not store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unary {
    Negative,
    Plus,
    Complement,
    Not,
    Address,
    Deref,
}

/// Operators with two operands that do not store and are not lazy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Shl,
    Shr,
    And,
    Or,
    Xor,
    Lt,
    Gt,
    Le,
    Ge,
    Eq,
    Ne,
}

/// The kinds of expressions.
#[derive(Debug)]
pub(super) enum ExprKind {
    Int(i128, Type),
    Float,
    Text(Rc<str>),
    Name(Rc<str>),
    Unary(Unary, Box<Expr>),
    Binary(Binary, Box<Expr>, Box<Expr>),
    /// `&&` (true) or `||`.
    Lazy(bool, Box<Expr>, Box<Expr>),
    /// `a = b`, or `a += b` with the operator.
    Assign(Option<Binary>, Box<Expr>, Box<Expr>),
    /// `++` (1) and `--` (-1), and whether it stands before.
    Step(i8, bool, Box<Expr>),
    Conditional(Box<Expr>, Option<Box<Expr>>, Box<Expr>),
    Call(Box<Expr>, Vec<Expr>),
    Index(Box<Expr>, Box<Expr>),
    Member(Box<Expr>, Rc<str>),
    Cast(Type, Box<Expr>),
    Compound(Type, Box<Init>),
    Comma(Box<Expr>, Box<Expr>),
    /// `({ … })`
    Block(Vec<Stmt>),
}

/// An initial value.
#[derive(Debug)]
pub(super) enum Init {
    Value(Expr),
    List(Vec<(Vec<Designator>, Init)>),
}

/// `.name` or `[3]` in a list of initial values.
#[derive(Debug)]
pub(super) enum Designator {
    Member(Rc<str>),
    Index(u64, u64),
}

/// How long an object lives and who sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Storage {
    Auto,
    Static,
    Extern,
    Typedef,
    PerThread,
}

/// A declared object or function.
#[derive(Debug)]
pub(super) struct Declaration {
    pub name: Rc<str>,
    pub ty: Type,
    pub storage: Storage,
    pub init: Option<Init>,
    pub span: Span,
    pub token: u32,
}

/// A statement.
#[derive(Debug)]
pub(super) struct Stmt {
    pub kind: StmtKind,
    pub span: Span,
    pub token: u32,
}

/// The kinds of statements.
#[derive(Debug)]
pub(super) enum StmtKind {
    Expr(Expr),
    Empty,
    Block(Vec<Stmt>),
    If(Expr, Box<Stmt>, Option<Box<Stmt>>),
    While(Expr, Box<Stmt>),
    DoWhile(Box<Stmt>, Expr),
    For(Box<For>),
    Switch(Expr, Box<Stmt>),
    /// The least and greatest value of the case.
    Case(i128, i128, Box<Stmt>),
    Default(Box<Stmt>),
    Label(Rc<str>, Box<Stmt>),
    Goto(Rc<str>),
    Break,
    Continue,
    Return(Option<Expr>),
    Declare(Vec<Declaration>),
    /// The text of an `asm`.
    Asm(String),
}

/// `for (init; cond; step) body`
#[derive(Debug)]
pub(super) struct For {
    pub init: Option<Stmt>,
    pub cond: Option<Expr>,
    pub step: Option<Expr>,
    pub body: Stmt,
}

/// A function with a body.
#[derive(Debug)]
pub(super) struct Function {
    pub name: Rc<str>,
    pub result: Type,
    pub parameters: Vec<(Option<Rc<str>>, Type)>,
    pub body: Vec<Stmt>,
    pub token: u32,
}

/// A whole text.
#[derive(Debug, Default)]
pub(super) struct Unit {
    /// Objects outside functions, in order.
    pub globals: Vec<Declaration>,
    pub functions: HashMap<Rc<str>, Rc<Function>>,
    /// Functions that are declared, with or without a body.
    pub declared: HashMap<Rc<str>, Type>,
    pub records: Records,
}

impl Expr {
    /// Calls `visit` on every expression directly inside this one, and `block` on statements inside.
    pub fn for_each_part<'t>(&'t self, visit: &mut dyn FnMut(&'t Expr), block: &mut dyn FnMut(&'t Stmt)) {
        match &self.kind {
            ExprKind::Int(..) | ExprKind::Float | ExprKind::Text(_) | ExprKind::Name(_) => {}
            ExprKind::Unary(_, a)
            | ExprKind::Step(_, _, a)
            | ExprKind::Member(a, _)
            | ExprKind::Cast(_, a) => visit(a),
            ExprKind::Binary(_, a, b)
            | ExprKind::Lazy(_, a, b)
            | ExprKind::Assign(_, a, b)
            | ExprKind::Index(a, b)
            | ExprKind::Comma(a, b) => {
                visit(a);
                visit(b);
            }
            ExprKind::Conditional(a, b, c) => {
                visit(a);
                b.iter().for_each(|b| visit(b));
                visit(c);
            }
            ExprKind::Call(function, arguments) => {
                visit(function);
                arguments.iter().for_each(visit);
            }
            ExprKind::Compound(_, init) => init.for_each_value(visit),
            ExprKind::Block(statements) => statements.iter().for_each(block),
        }
    }
}

impl Init {
    /// Calls `visit` on every value in it.
    pub fn for_each_value<'t>(&'t self, visit: &mut dyn FnMut(&'t Expr)) {
        match self {
            Init::Value(value) => visit(value),
            Init::List(list) => list.iter().for_each(|(_, init)| init.for_each_value(visit)),
        }
    }
}

impl Stmt {
    /// Calls `visit` on every expression directly in this statement, and `block` on statements inside.
    pub fn for_each_part<'t>(&'t self, visit: &mut dyn FnMut(&'t Expr), block: &mut dyn FnMut(&'t Stmt)) {
        match &self.kind {
            StmtKind::Expr(expr) | StmtKind::Return(Some(expr)) => visit(expr),
            StmtKind::Block(list) => list.iter().for_each(block),
            StmtKind::If(cond, yes, no) => {
                visit(cond);
                block(yes);
                no.iter().for_each(|no| block(no));
            }
            StmtKind::While(cond, body) | StmtKind::DoWhile(body, cond) | StmtKind::Switch(cond, body) => {
                visit(cond);
                block(body);
            }
            StmtKind::For(parts) => {
                parts.init.iter().for_each(&mut *block);
                parts.cond.iter().chain(&parts.step).for_each(visit);
                block(&parts.body);
            }
            StmtKind::Case(_, _, inner) | StmtKind::Default(inner) | StmtKind::Label(_, inner) => {
                block(inner)
            }
            StmtKind::Declare(list) => {
                list.iter()
                    .filter_map(|declared| declared.init.as_ref())
                    .for_each(|init| init.for_each_value(visit));
            }
            _ => {}
        }
    }
}
