//! Automata as pictures: Graphviz text, one cluster per thread.

use crate::{Loc, Names, Program, ThreadId};
use std::fmt::Write;

/// The program's threads as a Graphviz graph.
pub fn dot(program: &Program) -> String {
    let names = Names::original(program);
    let mut out = String::from("digraph program {\n  node [shape=circle, fontname=monospace];\n");
    for id in program.thread_ids() {
        let _ =
            writeln!(out, "  subgraph cluster_{} {{\n    label={};", id.index(), quoted(names.thread(id)));
        for loc in program.thread(id).locs() {
            let _ = writeln!(out, "    {}", node(program, id, loc, &names));
        }
        for edge in program.thread(id).edges() {
            let label = quoted(&names.op(id, &edge.op));
            let (from, to) = (node_name(id, edge.from), node_name(id, edge.to));
            let _ = writeln!(out, "    {from} -> {to} [label={label}];");
        }
        out.push_str("  }\n");
    }
    out.push_str("}\n");
    out
}

fn node(program: &Program, id: ThreadId, loc: Loc, names: &Names) -> String {
    let thread = program.thread(id);
    let shape = match () {
        () if thread.location(loc).failure.is_some() => ", shape=octagon, color=red",
        () if thread.is_end(loc) => ", shape=doublecircle",
        () if thread.in_atomic(loc) => ", style=filled, fillcolor=lightgrey",
        () => "",
    };
    format!("{} [label={}{shape}];", node_name(id, loc), quoted(names.label(id, loc)))
}

fn node_name(id: ThreadId, loc: Loc) -> String {
    format!("t{}_{}", id.index(), loc.index())
}

/// A text in quotes.
pub(crate) fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
