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
    let (mut seen, mut waiting): (FxHashSet<Rc<str>>, Vec<Rc<str>>) = (FxHashSet::default(), Vec::new());
    walk(statement, &mut |expr| mentioned(expr, &mut waiting));
    while let Some(name) = waiting.pop() {
        if seen.insert(Rc::clone(&name))
            && let Some(function) = unit.functions.get(&name)
        {
            names.extend(of(world, function).iter().cloned());
            function.body.iter().for_each(|inner| walk(inner, &mut |expr| mentioned(expr, &mut waiting)));
        }
    }
    (names, seen)
}

fn mentioned(expr: &CExpr, names: &mut Vec<Rc<str>>) {
    if let CExprKind::Name(name) = &expr.kind {
        names.push(Rc::clone(name));
    }
}

pub(super) fn in_statement(statement: &CStmt, names: &mut FxHashSet<Rc<str>>) {
    walk(statement, &mut |expr| {
        let changed = match &expr.kind {
            CExprKind::Assign(_, target, _) | CExprKind::Step(_, _, target) => target,
            CExprKind::Unary(Unary::Address, target) => target,
            // An array that is passed on may be changed through the pointer.
            CExprKind::Call(_, arguments) => {
                names.extend(arguments.iter().filter_map(root));
                return;
            }
            _ => return,
        };
        names.extend(root(changed));
    });
}

/// Whether a statement assigns to a name itself, or takes its address.
pub(super) fn changes(statement: &CStmt, name: &Rc<str>) -> bool {
    let mut found = false;
    walk(statement, &mut |expr| {
        if let CExprKind::Assign(_, target, _)
        | CExprKind::Step(_, _, target)
        | CExprKind::Unary(Unary::Address, target) = &expr.kind
        {
            found |= root(target).as_ref() == Some(name);
        }
    });
    found
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
    let (mut seen, mut waiting): (FxHashSet<Rc<str>>, Vec<Rc<str>>) = (FxHashSet::default(), Vec::new());
    let mut found = false;
    let mut visit = |expr: &CExpr, waiting: &mut Vec<Rc<str>>| {
        if let CExprKind::Call(function, _) = &expr.kind
            && let CExprKind::Name(name) = &function.kind
        {
            found |= wanted.contains(&&**name);
            waiting.push(Rc::clone(name));
        }
    };
    walk(statement, &mut |expr| visit(expr, &mut waiting));
    while let Some(name) = waiting.pop() {
        if seen.insert(Rc::clone(&name))
            && let Some(function) = unit.functions.get(&name)
        {
            let mut more = Vec::new();
            function.body.iter().for_each(|inner| walk(inner, &mut |expr| visit(expr, &mut more)));
            waiting.extend(more);
        }
    }
    found
}

/// Whether a function other than itself mentions a function.
pub(super) fn is_mentioned(unit: &Unit, function: &str) -> bool {
    let mut names = Vec::new();
    for other in unit.functions.values().filter(|other| &*other.name != function) {
        other.body.iter().for_each(|statement| walk(statement, &mut |expr| mentioned(expr, &mut names)));
    }
    names.iter().any(|name| &**name == function)
}

/// The labels in a statement.
pub(super) fn labels(statement: &CStmt) -> Vec<Rc<str>> {
    let (mut found, mut stack) = (Vec::new(), vec![statement]);
    while let Some(statement) = stack.pop() {
        if let CStmtKind::Label(name, _) = &statement.kind {
            found.push(Rc::clone(name));
        }
        statement.for_each_part(&mut |_| {}, &mut |inner| stack.push(inner));
    }
    found
}

/// Whether a statement holds a label, so that something may jump into it.
pub(super) fn holds_label(statement: &CStmt) -> bool {
    let mut stack = vec![statement];
    while let Some(statement) = stack.pop() {
        if matches!(statement.kind, CStmtKind::Label(..) | CStmtKind::Case(..) | CStmtKind::Default(_)) {
            return true;
        }
        statement.for_each_part(&mut |_| {}, &mut |inner| stack.push(inner));
    }
    false
}
