//! A happens-before graph as a picture: a column a thread, time going down, arrows between.
//!
//! Everything is laid out here, so the browser computes nothing. Colours come from the style
//! sheet by class.

use super::escape::escape;
use super::graph::{Arrow, Graph, Node, names};
use evidence::Link;
use program::{Program, ThreadId};
use std::fmt::Write;

const COLUMN_GAP: f64 = 66.0;
/// Room beside the outer columns, without and with arrows that bulge there.
const NARROW: f64 = 6.0;
const WIDE: f64 = 40.0;
const ROW: f64 = 58.0;
const BOX_HEIGHT: f64 = 30.0;
const TOP: f64 = 34.0;
const CHARACTER: f64 = 7.3;
/// Longer texts are cut.
const LONGEST: usize = 26;
/// Larger graphs are shown by their cycle alone, or not at all.
const MOST: usize = 40;

/// The picture with what it shows in words; empty if there is nothing to see.
pub fn picture(program: &Program, graph: &Graph) -> String {
    if graph.arrows.iter().all(|(.., link)| *link == Link::Program) {
        return String::new();
    }
    let cycle = graph.cycle.as_slice();
    let all = graph.nodes.len() <= MOST;
    let shown = |node: usize| all || cycle.iter().any(|(from, ..)| *from == node);
    let mut out = String::new();
    let layout = Layout::new(program, graph, &shown);
    if layout.places.iter().any(Option::is_some) {
        let arrows: Vec<Arrow> = if all { graph.arrows.clone() } else { cycle.to_vec() };
        layout.draw(&arrows, cycle, &mut out);
        out.push_str(LEGEND);
    }
    if !all {
        let what = if cycle.is_empty() { "so it is not drawn" } else { "so only the cycle is drawn" };
        let _ = writeln!(
            out,
            "<p class=\"muted\">The run touches memory {} times, {what}.</p>",
            graph.nodes.len()
        );
    }
    if graph.completed {
        out.push_str(COMPLETED);
    }
    out.push_str(&in_words(program, graph));
    out
}

const LEGEND: &str = "<p class=\"muted\"><b>po</b> program order · <b>rf</b> a store and a load that reads it · \
    <b>co</b> stores in the order they reach memory · <b>fr</b> a load and the store that overwrites what it read</p>\n";

const COMPLETED: &str = "<p class=\"muted\">Stores that are still buffered at the end are drawn as if they reached \
    memory then, one thread's after the other's.</p>\n";

/// The cycle as a list.
fn in_words(program: &Program, graph: &Graph) -> String {
    let cycle = graph.cycle.as_slice();
    if cycle.is_empty() {
        return "<p>There is no cycle: a run under SC can look like this.</p>\n".to_string();
    }
    let name = |node: &Node| {
        let thread = escape(&program.thread(node.thread).name);
        format!("{thread}: <code>{}</code>", escape(&node.text))
    };
    let mut out =
        "<p>The marked arrows form a cycle: no order of these steps explains what was read, so no run under SC \
         looks like this.</p>\n<ol class=\"cycle\">\n"
            .to_string();
    for (from, to, link) in cycle {
        let (from, to) = (name(&graph.nodes[*from]), name(&graph.nodes[*to]));
        let _ = writeln!(out, "<li>{from} <span class=\"muted\">{}</span> {to}</li>", names(*link).1);
    }
    out + "</ol>\n"
}

struct Layout<'a> {
    program: &'a Program,
    graph: &'a Graph,
    threads: Vec<ThreadId>,
    /// The centre of each node that is shown.
    places: Vec<Option<(f64, f64)>>,
    box_width: f64,
    /// The room on the left.
    left: f64,
    width: f64,
    height: f64,
}

impl<'a> Layout<'a> {
    fn new(program: &'a Program, graph: &'a Graph, shown: &dyn Fn(usize) -> bool) -> Layout<'a> {
        let visible = || graph.nodes.iter().enumerate().filter(|(at, _)| shown(*at));
        let longest = visible().map(|(_, node)| cut(&node.text).chars().count()).max().unwrap_or(0);
        let box_width = (longest as f64 * CHARACTER + 18.0).max(84.0);
        let acts = |thread: &ThreadId| visible().any(|(_, node)| node.thread == *thread);
        let threads: Vec<ThreadId> = program.thread_ids().filter(acts).collect();
        // Arrows within a column bulge away from the others: on the left in the first, else on the right.
        let bulges = |thread: Option<&ThreadId>| {
            graph.arrows.iter().any(|(from, to, link)| {
                let within = graph.nodes[*from].thread == graph.nodes[*to].thread;
                *link != Link::Program && within && thread == Some(&graph.nodes[*from].thread)
            })
        };
        let room = |thread: Option<&ThreadId>| if bulges(thread) { WIDE } else { NARROW };
        let left = room(threads.first().filter(|_| threads.len() > 1));
        let mut rows = vec![0usize; threads.len()];
        let mut places = vec![None; graph.nodes.len()];
        for (at, node) in visible() {
            let column = threads.iter().position(|thread| *thread == node.thread).unwrap_or(0);
            let x = left + box_width / 2.0 + column as f64 * (box_width + COLUMN_GAP);
            places[at] = Some((x, TOP + BOX_HEIGHT + rows[column] as f64 * ROW));
            rows[column] += 1;
        }
        let columns = threads.len() as f64 * (box_width + COLUMN_GAP) - COLUMN_GAP;
        let width = left + columns + room(threads.last());
        let height = TOP + BOX_HEIGHT + rows.into_iter().max().unwrap_or(0) as f64 * ROW - 16.0;
        Layout { program, graph, threads, places, box_width, left, width, height }
    }

    fn draw(&self, arrows: &[Arrow], cycle: &[Arrow], out: &mut String) {
        let (width, height) = (self.width, self.height);
        let _ = writeln!(
            out,
            "<div class=\"scroll\" role=\"region\" aria-label=\"Happens-before graph\" tabindex=\"0\">\
             <svg class=\"graph\" role=\"img\" aria-label=\"Happens-before graph, described below\" \
             width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\">"
        );
        for (column, thread) in self.threads.iter().enumerate() {
            let x = self.left + self.box_width / 2.0 + column as f64 * (self.box_width + COLUMN_GAP);
            let name = escape(&cut(&self.program.thread(*thread).name));
            let _ = writeln!(out, "<text class=\"column\" x=\"{x:.0}\" y=\"20\">{name}</text>");
        }
        for arrow in arrows.iter().filter(|arrow| !cycle.contains(arrow)) {
            self.arrow(arrow, "", out);
        }
        for (at, node) in self.graph.nodes.iter().enumerate() {
            let on_cycle = cycle.iter().any(|(from, ..)| *from == at);
            self.node(at, node, on_cycle, out);
        }
        cycle.iter().for_each(|arrow| self.arrow(arrow, " on-cycle", out));
        out.push_str("</svg></div>\n");
    }

    fn node(&self, at: usize, node: &Node, on_cycle: bool, out: &mut String) {
        let Some((x, y)) = self.places[at] else { return };
        let class = if on_cycle { "event on-cycle" } else { "event" };
        let (left, top) = (x - self.box_width / 2.0, y - BOX_HEIGHT / 2.0);
        let _ = writeln!(
            out,
            "<g class=\"{class}\" data-steps=\"{}\"><title>{}</title><rect x=\"{left:.1}\" y=\"{top:.1}\" \
             width=\"{:.1}\" height=\"{BOX_HEIGHT}\" rx=\"5\"/><text x=\"{x:.1}\" y=\"{:.1}\">{}</text></g>",
            self.steps_of(at),
            escape(&node.text),
            self.box_width,
            y + 4.5,
            escape(&cut(&node.text)),
        );
    }

    /// The numbers of all steps that belong to a node: a store's own and its drain's.
    fn steps_of(&self, node: usize) -> String {
        let steps = self.graph.node_of.iter().enumerate().filter(|(_, n)| **n == Some(node));
        steps.map(|(step, _)| step.to_string()).collect::<Vec<_>>().join(" ")
    }

    fn arrow(&self, (from, to, link): &Arrow, class: &str, out: &mut String) {
        let (Some(a), Some(b)) = (self.places[*from], self.places[*to]) else { return };
        let name = names(*link).0;
        let curve = self.curve(a, b, *link == Link::Program);
        let [(x0, y0), (x1, y1), (x2, y2), (x3, y3)] = curve;
        let (x, y) = match link {
            Link::Program => (x0 + 13.0, (y0 + y3) / 2.0),
            _ => at(curve, 0.28),
        };
        let _ = writeln!(
            out,
            "<g class=\"arrow {name}{class}\"><path d=\"M{x0:.1} {y0:.1}C{x1:.1} {y1:.1} {x2:.1} {y2:.1} \
             {x3:.1} {y3:.1}\"/><text x=\"{x:.1}\" y=\"{:.1}\">{name}</text></g>",
            y + 4.0
        );
    }

    /// A cubic curve between two boxes. What leaves a box does so a little below its middle, what
    /// arrives does a little above, so that opposite arrows do not cover each other.
    fn curve(&self, a: (f64, f64), b: (f64, f64), program_order: bool) -> [(f64, f64); 4] {
        let (half, down) = (self.box_width / 2.0, BOX_HEIGHT / 2.0);
        if program_order {
            let (start, end) = ((a.0, a.1 + down), (b.0, b.1 - down - 2.0));
            let third = (end.1 - start.1) / 3.0;
            return [start, (start.0, start.1 + third), (end.0, end.1 - third), end];
        }
        if (a.0 - b.0).abs() < 1.0 {
            let first = self.threads.len() > 1 && a.0 < self.left + self.box_width;
            let side = if first { -1.0 } else { 1.0 };
            let bulge = side * (20.0 + (a.1 - b.1).abs() / 8.0).min(WIDE - 6.0);
            let (start, end) = ((a.0 + side * half, a.1 + 5.0), (b.0 + side * (half + 2.0), b.1 - 5.0));
            return [start, (start.0 + bulge, start.1), (end.0 + bulge, end.1), end];
        }
        let side = if b.0 > a.0 { 1.0 } else { -1.0 };
        let (start, end) = ((a.0 + side * half, a.1 + 5.0), (b.0 - side * (half + 2.0), b.1 - 5.0));
        let reach = side * COLUMN_GAP / 2.0;
        [start, (start.0 + reach, start.1), (end.0 - reach, end.1), end]
    }
}

/// A point of a cubic curve.
fn at(curve: [(f64, f64); 4], t: f64) -> (f64, f64) {
    let s = 1.0 - t;
    let weights = [s * s * s, 3.0 * s * s * t, 3.0 * s * t * t, t * t * t];
    let sum = |part: fn(&(f64, f64)) -> f64| curve.iter().zip(weights).map(|(p, w)| part(p) * w).sum();
    (sum(|p| p.0), sum(|p| p.1))
}

fn cut(text: &str) -> String {
    match text.chars().count() {
        count if count > LONGEST => text.chars().take(LONGEST - 1).chain(['…']).collect(),
        _ => text.to_string(),
    }
}
