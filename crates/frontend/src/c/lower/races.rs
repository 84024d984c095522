//! Data races as claims: two threads stand before accesses to one variable, one of them stores, and
//! one of the accesses is plain. That is a race in the sense of the standard; a program without one
//! behaves the same under every memory model that compilers and processors have, so it is enough to
//! ask about SC. Volatile accesses count as atomic: compilers leave them as they are.

use program::{Cond, Edge, Loc, Op, Place, Program, Property, PropertyKind, Span, ThreadId, VarId};
use std::collections::{BTreeMap, BTreeSet};

/// Claims made of pairs of statements at most; further pairs join the last.
const MOST_CLAIMS: usize = 200;

/// An access that a thread may do next.
struct RacingAccess {
    thread: ThreadId,
    at: Loc,
    span: Span,
    stores: bool,
    plain: bool,
}

/// Adds the claims that there are no races; `plain` are the accesses that are neither atomic nor volatile.
pub(super) fn claim_none(program: &mut Program, plain: &BTreeSet<(Span, VarId)>) {
    let mut by_variable: BTreeMap<VarId, Vec<RacingAccess>> = BTreeMap::new();
    for id in program.thread_ids() {
        let thread = program.thread(id);
        for edge in thread.edges().iter().filter(|edge| !thread.in_atomic(edge.from)) {
            for (variable, stores) in touched(edge) {
                let single = !edge.op.waits();
                let plain = single && plain.contains(&(edge.span, variable));
                let access = RacingAccess { thread: id, at: edge.from, span: edge.span, stores, plain };
                by_variable.entry(variable).or_default().push(access);
            }
        }
    }
    let mut claims: BTreeMap<(VarId, Span, Span), Vec<Cond<Place>>> = BTreeMap::new();
    for (variable, accesses) in &by_variable {
        for (index, a) in accesses.iter().enumerate() {
            for b in accesses[index + 1..].iter().filter(|b| b.thread != a.thread) {
                if (a.stores || b.stores) && (a.plain || b.plain) {
                    let (first, second) = if a.span <= b.span { (a.span, b.span) } else { (b.span, a.span) };
                    let both = Cond::and([Cond::at(a.thread, a.at), Cond::at(b.thread, b.at)]);
                    claims.entry((*variable, first, second)).or_default().push(both);
                }
            }
        }
    }
    let mut rest = Vec::new();
    for (at, ((variable, first, second), conds)) in claims.into_iter().enumerate() {
        if at + 1 >= MOST_CLAIMS {
            rest.extend(conds);
            continue;
        }
        let text = described(program, variable, first, second);
        let cond = Cond::or(conds);
        program.properties.push(Property { kind: PropertyKind::Never, cond, span: second, text: Some(text) });
    }
    if !rest.is_empty() {
        let (cond, text) = (Cond::or(rest), Some("no data race".to_string()));
        program.properties.push(Property { kind: PropertyKind::Never, cond, span: Span::NONE, text });
    }
}

/// Whether plain accesses of two threads may meet, one of which stores, if nothing keeps them apart.
pub(super) fn may_race(program: &Program, plain: &BTreeSet<(Span, VarId)>) -> bool {
    let variables: BTreeSet<VarId> = plain.iter().map(|(_, variable)| *variable).collect();
    let mut touching: BTreeMap<VarId, (BTreeSet<ThreadId>, bool)> = BTreeMap::new();
    for id in program.thread_ids() {
        for edge in program.thread(id).edges().iter().filter(|edge| !edge.op.waits()) {
            for (variable, stores) in touched(edge).into_iter().filter(|(v, _)| variables.contains(v)) {
                let (threads, stored) = touching.entry(variable).or_default();
                threads.insert(id);
                *stored |= stores;
            }
        }
    }
    touching.values().any(|(threads, stored)| threads.len() > 1 && *stored)
}

/// The variables that a step touches, and whether it stores them.
fn touched(edge: &Edge) -> Vec<(VarId, bool)> {
    let mut found: BTreeMap<VarId, bool> = BTreeMap::new();
    edge.op.for_each_part(&mut |part| match part {
        Op::Load(_, variable) => drop(found.entry(*variable).or_default()),
        Op::Store(variable, _) => drop(found.insert(*variable, true)),
        _ => {}
    });
    found.into_iter().collect()
}

fn described(program: &Program, variable: VarId, first: Span, second: Span) -> String {
    let place = |span: Span| {
        let line = program.source.line(span).map(|line| format!(" (line {line})")).unwrap_or_default();
        format!("`{}`{line}", program.source.snippet(span))
    };
    let name = &program.variables[variable.index()].name;
    format!("no data race on {name} between {} and {}", place(first), place(second))
}
