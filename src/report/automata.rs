//! A program as JSON: its automata, one object.

use super::json::{SCHEMA, integer};
use super::steps::{kind, statement};
use program::{Domain, FailureKind, Loc, Names, Place, Program, ThreadId};
use serde_json::{Value, json};

/// The program.
pub fn automata(program: &Program) -> Value {
    let names = Names::original(program);
    let variable = |v: &program::Variable| json!({"name": v.name, "initial": domain(&v.initial), "line": program.source.line(v.span)});
    let property = |p: &program::Property| {
        json!({
            "kind": p.kind.word(),
            "condition": names.cond(&p.cond),
            "line": program.source.line(p.span),
        })
    };
    let question = program.question.as_ref().map(|question| {
        let observed = |(name, place): &(String, Place)| json!({"name": name, "place": names.place(place)});
        json!({
            "quantifier": super::litmus::quantifier(question),
            "condition": names.cond(&question.cond),
            "filter": names.cond(&question.filter),
            "observed": question.observed.iter().map(observed).collect::<Vec<_>>(),
            "line": program.source.line(question.span),
        })
    });
    json!({
        "schema": SCHEMA,
        "command": "show",
        "name": program.name,
        "file": program.source.name(),
        "variables": program.variables.iter().map(variable).collect::<Vec<_>>(),
        "threads": program.thread_ids().map(|t| thread(program, &names, t)).collect::<Vec<_>>(),
        "properties": program.properties.iter().map(property).collect::<Vec<_>>(),
        "question": question,
        "predicates": program.hints.iter().map(|hint| names.cond(&hint.cond)).collect::<Vec<_>>(),
    })
}

fn thread(program: &Program, names: &Names, id: ThreadId) -> Value {
    let thread = program.thread(id);
    let edge = |(at, edge): (usize, &program::Edge)| {
        json!({
            "edge": at,
            "from": edge.from.index(),
            "to": edge.to.index(),
            "event": kind(&edge.op),
            "operation": names.op(id, &edge.op),
            "line": program.source.line(edge.span),
            "text": statement(program, edge.span),
        })
    };
    json!({
        "name": thread.name,
        "registers": thread.registers,
        "entry": thread.entry().index(),
        "locations": thread.locs().map(|loc| location(program, names, id, loc)).collect::<Vec<_>>(),
        "edges": thread.edges().iter().enumerate().map(edge).collect::<Vec<_>>(),
    })
}

fn location(program: &Program, names: &Names, id: ThreadId, loc: Loc) -> Value {
    let thread = program.thread(id);
    let location = thread.location(loc);
    let failure = location.failure.as_ref().map(|failure| {
        let line = program.source.line(failure.span);
        match &failure.kind {
            FailureKind::Assertion => json!({"kind": "assertion", "line": line}),
            FailureKind::Error(what) => json!({"kind": "error", "what": what, "line": line}),
            FailureKind::Limit(what) => json!({"kind": "limit", "what": what, "line": line}),
            FailureKind::Division => json!({"kind": "division", "line": line}),
            FailureKind::Bounds { array, length, index } => json!({
                "kind": "bounds",
                "array": array,
                "length": length,
                "index": names.expr(id, index),
                "line": line,
            }),
        }
    });
    json!({
        "location": loc.index(),
        "labels": location.labels,
        "line": program.source.line(location.span),
        "atomic": thread.in_atomic(loc),
        "end": thread.is_end(loc),
        "failure": failure,
    })
}

fn domain(domain: &Domain) -> Value {
    match domain {
        Domain::All => json!("any"),
        Domain::Range(low, high) if low == high => integer(low),
        Domain::Range(low, high) => json!({"from": integer(low), "to": integer(high)}),
    }
}
