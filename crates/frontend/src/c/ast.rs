//! A C text as a tree. Types are resolved and constant expressions of types and labels computed, because
//! parsing C needs that; names of objects are not.

use super::types::{CRecords, Type};
use program::Span;
use std::collections::HashMap;
use std::rc::Rc;

/// An expression.
#[derive(Debug)]
pub(super) struct CExpr {
    pub kind: CExprKind,
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
pub(super) enum CExprKind {
    Int(i128, Type),
    Float,
    Text(Rc<str>),
    Name(Rc<str>),
    Unary(Unary, Box<CExpr>),
    Binary(Binary, Box<CExpr>, Box<CExpr>),
    /// `&&` (true) or `||`.
    Lazy(bool, Box<CExpr>, Box<CExpr>),
    /// `a = b`, or `a += b` with the operator.
    Assign(Option<Binary>, Box<CExpr>, Box<CExpr>),
    /// `++` (1) and `--` (-1), and whether it stands before.
    Step(i8, bool, Box<CExpr>),
    Conditional(Box<CExpr>, Option<Box<CExpr>>, Box<CExpr>),
    Call(Box<CExpr>, Vec<CExpr>),
    Index(Box<CExpr>, Box<CExpr>),
    Member(Box<CExpr>, Rc<str>),
    Cast(Type, Box<CExpr>),
    Compound(Type, Box<CInit>),
    Comma(Box<CExpr>, Box<CExpr>),
    /// `({ … })`
    Block(Vec<CStmt>),
}

/// An initial value.
#[derive(Debug)]
pub(super) enum CInit {
    Value(CExpr),
    /// A structure of this kind in a list, for a part that is one.
    Whole(usize, CExpr),
    List(Vec<(Vec<Designator>, CInit)>),
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
pub(super) struct CDeclaration {
    pub name: Rc<str>,
    pub ty: Type,
    pub storage: Storage,
    pub init: Option<CInit>,
    /// The length of an array, if it is no constant.
    pub length: Option<CExpr>,
    pub span: Span,
    pub token: u32,
}

/// A statement.
#[derive(Debug)]
pub(super) struct CStmt {
    pub kind: CStmtKind,
    pub span: Span,
    pub token: u32,
}

/// The kinds of statements.
#[derive(Debug)]
pub(super) enum CStmtKind {
    Expr(CExpr),
    Empty,
    Block(Vec<CStmt>),
    If(CExpr, Box<CStmt>, Option<Box<CStmt>>),
    While(CExpr, Box<CStmt>),
    DoWhile(Box<CStmt>, CExpr),
    For(Box<For>),
    Switch(CExpr, Box<CStmt>),
    /// The least and greatest value of the case.
    Case(i128, i128, Box<CStmt>),
    Default(Box<CStmt>),
    Label(Rc<str>, Box<CStmt>),
    Goto(Rc<str>),
    Break,
    Continue,
    Return(Option<CExpr>),
    Declare(Vec<CDeclaration>),
    /// The text of an `asm`.
    Asm(String),
}

/// `for (init; cond; step) body`
#[derive(Debug)]
pub(super) struct For {
    pub init: Option<CStmt>,
    pub cond: Option<CExpr>,
    pub step: Option<CExpr>,
    pub body: CStmt,
}

/// A function with a body.
#[derive(Debug)]
pub(super) struct CFunction {
    pub name: Rc<str>,
    pub result: Type,
    pub parameters: Vec<(Option<Rc<str>>, Type)>,
    pub body: Vec<CStmt>,
    pub token: u32,
}

/// A whole text.
#[derive(Debug, Default)]
pub(super) struct Unit {
    /// Objects outside functions, in order.
    pub globals: Vec<CDeclaration>,
    pub functions: HashMap<Rc<str>, Rc<CFunction>>,
    /// Functions that are declared, with or without a body.
    pub declared: HashMap<Rc<str>, Type>,
    pub records: CRecords,
}

/// How strongly an operator binds, and what it is; `None` for the lazy ones.
pub(super) fn operator(sign: &str) -> Option<(u8, Option<Binary>)> {
    Some(match sign {
        "||" => (1, None),
        "&&" => (2, None),
        "|" => (3, Some(Binary::Or)),
        "^" => (4, Some(Binary::Xor)),
        "&" => (5, Some(Binary::And)),
        "==" => (6, Some(Binary::Eq)),
        "!=" => (6, Some(Binary::Ne)),
        "<" => (7, Some(Binary::Lt)),
        ">" => (7, Some(Binary::Gt)),
        "<=" => (7, Some(Binary::Le)),
        ">=" => (7, Some(Binary::Ge)),
        "<<" => (8, Some(Binary::Shl)),
        ">>" => (8, Some(Binary::Shr)),
        "+" => (9, Some(Binary::Add)),
        "-" => (9, Some(Binary::Sub)),
        "*" => (10, Some(Binary::Mul)),
        "/" => (10, Some(Binary::Div)),
        "%" => (10, Some(Binary::Rem)),
        _ => return None,
    })
}

impl CExpr {
    /// Calls `visit` on every expression directly inside this one, and `block` on statements inside.
    pub fn for_each_part<'t>(&'t self, visit: &mut dyn FnMut(&'t CExpr), block: &mut dyn FnMut(&'t CStmt)) {
        match &self.kind {
            CExprKind::Int(..) | CExprKind::Float | CExprKind::Text(_) | CExprKind::Name(_) => {}
            CExprKind::Unary(_, a)
            | CExprKind::Step(_, _, a)
            | CExprKind::Member(a, _)
            | CExprKind::Cast(_, a) => visit(a),
            CExprKind::Binary(_, a, b)
            | CExprKind::Lazy(_, a, b)
            | CExprKind::Assign(_, a, b)
            | CExprKind::Index(a, b)
            | CExprKind::Comma(a, b) => {
                visit(a);
                visit(b);
            }
            CExprKind::Conditional(a, b, c) => {
                visit(a);
                b.iter().for_each(|b| visit(b));
                visit(c);
            }
            CExprKind::Call(function, arguments) => {
                visit(function);
                arguments.iter().for_each(visit);
            }
            CExprKind::Compound(_, init) => init.for_each_value(visit),
            CExprKind::Block(statements) => statements.iter().for_each(block),
        }
    }
}

impl CInit {
    /// Calls `visit` on every value in it.
    pub fn for_each_value<'t>(&'t self, visit: &mut dyn FnMut(&'t CExpr)) {
        match self {
            CInit::Value(value) | CInit::Whole(_, value) => visit(value),
            CInit::List(list) => list.iter().for_each(|(_, init)| init.for_each_value(visit)),
        }
    }
}

impl CStmt {
    /// Calls `visit` on every expression directly in this statement, and `block` on statements inside.
    pub fn for_each_part<'t>(&'t self, visit: &mut dyn FnMut(&'t CExpr), block: &mut dyn FnMut(&'t CStmt)) {
        match &self.kind {
            CStmtKind::Expr(expr) | CStmtKind::Return(Some(expr)) => visit(expr),
            CStmtKind::Block(list) => list.iter().for_each(block),
            CStmtKind::If(cond, yes, no) => {
                visit(cond);
                block(yes);
                no.iter().for_each(|no| block(no));
            }
            CStmtKind::While(cond, body) | CStmtKind::DoWhile(body, cond) | CStmtKind::Switch(cond, body) => {
                visit(cond);
                block(body);
            }
            CStmtKind::For(parts) => {
                parts.init.iter().for_each(&mut *block);
                parts.cond.iter().chain(&parts.step).for_each(visit);
                block(&parts.body);
            }
            CStmtKind::Case(_, _, inner) | CStmtKind::Default(inner) | CStmtKind::Label(_, inner) => {
                block(inner)
            }
            CStmtKind::Declare(list) => {
                list.iter()
                    .filter_map(|declared| declared.init.as_ref())
                    .for_each(|init| init.for_each_value(visit));
            }
            _ => {}
        }
    }
}
