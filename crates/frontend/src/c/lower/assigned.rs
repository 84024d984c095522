//! What can be seen in the text without lowering it: which names a function or loop assigns to or
//! takes the address of, and whether something starts or awaits threads.

use super::world::World;
use crate::c::ast::{CExpr, CExprKind, CFunction, CStmt, CStmtKind, Unary, Unit};
use rustc_hash::FxHashSet;
use std::rc::Rc;

/// The names that a function assigns to or takes the address of.
pub(super) fn of(world: &mut World<'_>, function: &Rc<CFunction>) -> Rc<FxHashSet<Rc<str>>> {
    if let Some(known) = world.assigned.get(&function.name) {
        return Rc::clone(known);
    }
    let mut names = FxHashSet::default();
    function.body.iter().for_each(|statement| in_statement(statement, &mut names));
    let names = Rc::new(names);
    world.assigned.insert(Rc::clone(&function.name), Rc::clone(&names));
    names
}

/// The names that a statement may change, itself or in functions that it calls, and all names that it
/// mentions there.
pub(super) fn by(world: &mut World<'_>, statement: &CStmt) -> (FxHashSet<Rc<str>>, FxHashSet<Rc<str>>) {
    let mut names = FxHashSet::default();
    in_statement(statement, &mut names);
    let unit = world.unit;
    let seen = reached(unit, statement, mentioned);
    for function in seen.iter().filter_map(|name| unit.functions.get(name)) {
        names.extend(of(world, function).iter().cloned());
    }
    (names, seen)
}

/// The names that a way to name things finds in a statement and in the functions of these names.
fn reached(unit: &Unit, statement: &CStmt, named: fn(&CExpr) -> Option<&Rc<str>>) -> FxHashSet<Rc<str>> {
    let (mut seen, mut waiting) = (FxHashSet::default(), Vec::new());
    walk(statement, &mut |expr| waiting.extend(named(expr).cloned()));
    while let Some(name) = waiting.pop() {
        if seen.insert(Rc::clone(&name))
            && let Some(function) = unit.functions.get(&name)
        {
            let mut note = |expr: &CExpr| waiting.extend(named(expr).cloned());
            function.body.iter().for_each(|inner| walk(inner, &mut note));
        }
    }
    seen
}

fn mentioned(expr: &CExpr) -> Option<&Rc<str>> {
    if let CExprKind::Name(name) = &expr.kind { Some(name) } else { None }
}

fn called(expr: &CExpr) -> Option<&Rc<str>> {
    if let CExprKind::Call(function, _) = &expr.kind { mentioned(function) } else { None }
}

fn in_statement(statement: &CStmt, names: &mut FxHashSet<Rc<str>>) {
    walk(statement, &mut |expr| match &expr.kind {
        // An array that is passed on may be changed through the pointer.
        CExprKind::Call(_, arguments) => names.extend(arguments.iter().filter_map(root)),
        _ => names.extend(changed(expr)),
    });
}

/// Whether a statement assigns to a name itself, or takes its address.
pub(super) fn changes(statement: &CStmt, name: &Rc<str>) -> bool {
    let mut found = false;
    walk(statement, &mut |expr| found |= changed(expr).as_ref() == Some(name));
    found
}

/// The name that an expression itself assigns to or takes the address of.
fn changed(expr: &CExpr) -> Option<Rc<str>> {
    match &expr.kind {
        CExprKind::Assign(_, target, _)
        | CExprKind::Step(_, _, target)
        | CExprKind::Unary(Unary::Address, target) => root(target),
        _ => None,
    }
}

/// The object that an expression is a part of.
fn root(expr: &CExpr) -> Option<Rc<str>> {
    match &expr.kind {
        CExprKind::Name(name) => Some(Rc::clone(name)),
        CExprKind::Index(inner, _) | CExprKind::Member(inner, _) | CExprKind::Cast(_, inner) => root(inner),
        _ => None,
    }
}

fn walk(statement: &CStmt, visit: &mut dyn FnMut(&CExpr)) {
    let (mut statements, mut expressions) = (vec![statement], Vec::new());
    loop {
        if let Some(expr) = expressions.pop() {
            visit(expr);
            expr.for_each_part(&mut |part| expressions.push(part), &mut |inner| statements.push(inner));
        } else if let Some(statement) = statements.pop() {
            statement.for_each_part(&mut |part| expressions.push(part), &mut |inner| statements.push(inner));
        } else {
            return;
        }
    }
}

/// Whether a statement starts or awaits threads, itself or in functions that it calls.
pub(super) fn handles_threads(unit: &Unit, statement: &CStmt) -> bool {
    calls(unit, statement, &["pthread_create", "pthread_join", "thrd_create", "thrd_join"])
}

/// Whether a statement allocates memory, itself or in functions that it calls.
pub(super) fn allocates(unit: &Unit, statement: &CStmt) -> bool {
    calls(unit, statement, &["malloc", "calloc", "__VERIFIER_malloc"])
}

/// Whether a statement calls one of these functions, itself or in functions that it calls.
fn calls(unit: &Unit, statement: &CStmt, wanted: &[&str]) -> bool {
    reached(unit, statement, called).iter().any(|name| wanted.contains(&&**name))
}

/// Whether a function other than itself mentions a function.
pub(super) fn is_mentioned(unit: &Unit, function: &str) -> bool {
    let mut found = false;
    let mut note = |expr: &CExpr| found |= mentioned(expr).is_some_and(|name| &**name == function);
    for other in unit.functions.values().filter(|other| &*other.name != function) {
        other.body.iter().for_each(|statement| walk(statement, &mut note));
    }
    found
}

/// The labels in a statement.
pub(super) fn labels(statement: &CStmt) -> Vec<Rc<str>> {
    let label = |statement: &CStmt| match &statement.kind {
        CStmtKind::Label(name, _) => Some(Rc::clone(name)),
        _ => None,
    };
    statements(statement).filter_map(label).collect()
}

/// A statement and those inside of it.
fn statements(statement: &CStmt) -> impl Iterator<Item = &CStmt> {
    let mut stack = vec![statement];
    std::iter::from_fn(move || {
        let statement = stack.pop()?;
        statement.for_each_part(&mut |_| {}, &mut |inner| stack.push(inner));
        Some(statement)
    })
}

/// Whether a statement holds a label, so that something may jump into it.
pub(super) fn holds_label(statement: &CStmt) -> bool {
    let jumped_to =
        |kind: &CStmtKind| matches!(kind, CStmtKind::Label(..) | CStmtKind::Case(..) | CStmtKind::Default(_));
    statements(statement).any(|statement| jumped_to(&statement.kind))
}
