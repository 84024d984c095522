//! Happens-before as a Graphviz graph, one cluster per thread.

use super::{Arrow, Picture, PictureNode, abbreviation};
use evidence::Link;
use std::fmt::Write;

/// The graph.
pub fn dot(picture: &Picture, title: &str) -> String {
    let mut out = String::from("digraph happens_before {\n");
    let _ = writeln!(out, "  label={};\n  labelloc=t;", quoted(title));
    out.push_str("  fontname=monospace;\n  node [shape=box, fontname=monospace];\n");
    out.push_str("  edge [fontname=monospace, fontsize=10];\n");
    for (thread, name) in &picture.threads {
        let _ = writeln!(out, "  subgraph cluster_{} {{\n    label={};", thread.index(), quoted(name));
        for (at, node) in picture.nodes.iter().enumerate().filter(|(_, node)| node.thread == *thread) {
            let style = if node.cycle.is_some() { ", color=red, penwidth=2" } else { "" };
            let _ = writeln!(out, "    n{at} [label={}{style}];", quoted(&label(node)));
        }
        out.push_str("  }\n");
    }
    for Arrow { from, to, link, cycle } in &picture.arrows {
        let color = if *cycle { "red" } else { color(*link) };
        let width = if *cycle { ", penwidth=2" } else { "" };
        // Only program order decides who stands above whom; the others may lead upwards.
        let rank = if *link == Link::Program { "" } else { ", constraint=false" };
        let name = abbreviation(*link);
        let _ = writeln!(
            out,
            "  n{from} -> n{to} [label={name}, color={color}, fontcolor={color}{width}{rank}];"
        );
    }
    out.push_str("}\n");
    out
}

fn label(node: &PictureNode) -> String {
    let number = node.cycle.map(|at| format!("({at}) ")).unwrap_or_default();
    let role = node.role.map(|role| format!("\n{role}")).unwrap_or_default();
    format!("{number}{}\n{}{role}", node.title, node.accesses.join(", "))
}

fn color(link: Link) -> &'static str {
    match link {
        Link::Program => "gray40",
        Link::ReadsFrom => "darkgreen",
        Link::StoreOrder => "blue",
        Link::FromRead => "darkorange3",
    }
}

/// A text between quotation marks, whatever is in it.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '"' => out.push_str("\\\""),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_ends_a_quotation_early() {
        assert_eq!(quoted("a\"b\\\n\u{7}<c>"), "\"a\\\"b\\\\\\n <c>\"");
    }
}
