//! Happens-before as a picture: one column per thread, program order going down, arrows between.
//!
//! Everything is laid out here, so the browser computes nothing. Links between threads are
//! curves from side to side; those within a thread that are not program order bend away from the
//! other threads. Colours come from a style sheet by class: pages have it already (and colours for
//! a dark screen), a file of its own brings it along.

use super::{Arrow, Picture, PictureNode, abbreviation};
use crate::report::markup::escape;
use crate::report::table::cut;
use evidence::Link;
use program::ThreadId;
use std::fmt::Write;
use unicode_width::UnicodeWidthStr;

/// The width of a character, and the distance of lines.
const CHAR: f64 = 7.6;
const LINE: f64 = 17.0;
/// Space inside boxes, between boxes of a column, between columns.
const PAD: f64 = 8.0;
const ROW_GAP: f64 = 30.0;
const COLUMN_GAP: f64 = 86.0;
/// Room beside the outer columns, without and with arrows that bulge there.
const NARROW: f64 = 6.0;
const WIDE: f64 = 46.0;
/// Where the boxes begin, below the names of the threads.
const TOP: f64 = 34.0;
/// Around the graph in a file of its own, and above it for the title and the legend.
const EDGE: f64 = 24.0;
const HEAD: f64 = 72.0;
/// Lines in boxes are cut to this many columns; the whole text appears on hovering.
const LONGEST: usize = 40;

/// The heads of arrows.
pub const MARKERS: &str = "<marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" \
    markerHeight=\"7\" orient=\"auto\"><path class=\"head\" d=\"M0 0L8 4L0 8z\"/></marker>\n\
    <marker id=\"arrow-cycle\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"5\" markerHeight=\"5\" \
    orient=\"auto\"><path class=\"head on-cycle\" d=\"M0 0L8 4L0 8z\"/></marker>\n";

/// The style sheet, and what its variables stand for in a file of its own.
const STYLE: &str = include_str!("graph.css");
const LIGHT: [(&str, &str); 6] = [
    ("var(--mono)", "ui-monospace, Menlo, Consolas, monospace"),
    ("var(--text)", "#1f2328"),
    ("var(--muted)", "#57606a"),
    ("var(--soft)", "#f0f2f4"),
    ("var(--bad)", "#a4201a"),
    ("var(--panel)", "#ffffff"),
];

const LEGEND: &str =
    "po: program order · rf: reads from · co: store order · fr: overwrites what was read · red: the cycle";

/// The picture in a page.
pub fn embedded(picture: &Picture) -> String {
    let layout = PictureLayout::of(picture);
    let (width, height) = (layout.width, layout.height);
    let mut out = format!(
        "<svg class=\"graph\" role=\"img\" aria-label=\"Happens-before graph, described below\" \
         width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\">\n"
    );
    layout.draw(&mut out);
    out + "</svg>"
}

/// The picture as a file that needs nothing else.
pub fn svg(picture: &Picture, title: &str) -> String {
    let layout = PictureLayout::of(picture);
    let words = [title, LEGEND].map(|text| text.width() as f64 * CHAR);
    let width = words.into_iter().fold(layout.width, f64::max) + 2.0 * EDGE;
    let height = layout.height + HEAD + EDGE;
    let style = LIGHT.iter().fold(STYLE.to_string(), |style, (name, value)| style.replace(name, value));
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"graph\" role=\"img\" width=\"{width:.0}\" \
         height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\">\n<title>{0}</title>\n\
         <style>\n{style}.graph .left {{ text-anchor: start; }}\n</style>\n<defs>\n{MARKERS}</defs>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n\
         <text class=\"left\" x=\"{EDGE}\" y=\"{EDGE}\" font-weight=\"600\">{0}</text>\n\
         <text class=\"left\" x=\"{EDGE}\" y=\"48\">{LEGEND}</text>\n<g transform=\"translate({EDGE} {HEAD})\">\n",
        escape(title)
    );
    layout.draw(&mut out);
    out + "</g>\n</svg>\n"
}

/// A box on the canvas.
#[derive(Clone, Copy)]
struct Rectangle {
    left: f64,
    top: f64,
    width: f64,
    height: f64,
}

impl Rectangle {
    fn right(self) -> f64 {
        self.left + self.width
    }

    fn bottom(self) -> f64 {
        self.top + self.height
    }

    fn centre(self) -> f64 {
        self.left + self.width / 2.0
    }

    fn middle(self) -> f64 {
        self.top + self.height / 2.0
    }
}

/// Where everything goes.
struct PictureLayout<'a> {
    picture: &'a Picture,
    /// By thread that is shown.
    columns: Vec<Rectangle>,
    /// By node.
    places: Vec<Rectangle>,
    width: f64,
    height: f64,
}

impl<'a> PictureLayout<'a> {
    fn of(picture: &'a Picture) -> PictureLayout<'a> {
        let threads = &picture.threads;
        let bends = |thread: Option<&(ThreadId, String)>| {
            picture.arrows.iter().any(|arrow| {
                let [from, to] = [arrow.from, arrow.to].map(|node| picture.nodes[node].thread);
                arrow.link != Link::Program && from == to && thread.is_some_and(|(own, _)| *own == from)
            })
        };
        let room = |thread: Option<&(ThreadId, String)>| if bends(thread) { WIDE } else { NARROW };
        let mut left = room(threads.first().filter(|_| threads.len() > 1));
        let mut columns = Vec::new();
        for (thread, name) in threads {
            let mine = picture.nodes.iter().filter(|node| node.thread == *thread);
            let texts = mine.flat_map(lines).map(|(_, line)| line).chain([name.clone()]);
            let widest = texts.map(|line| short(&line).width()).max().unwrap_or(0);
            let width = widest as f64 * CHAR + 2.0 * PAD;
            columns.push(Rectangle { left, top: TOP, width, height: 0.0 });
            left += width + COLUMN_GAP;
        }
        let width = left - COLUMN_GAP + room(threads.last());
        let mut bottom = vec![TOP; columns.len()];
        let mut places = Vec::new();
        for node in &picture.nodes {
            let column = threads.iter().position(|(thread, _)| *thread == node.thread).unwrap_or(0);
            let height = lines(node).len() as f64 * LINE + PAD;
            places.push(Rectangle { top: bottom[column], height, ..columns[column] });
            bottom[column] += height + ROW_GAP;
        }
        let height = bottom.into_iter().fold(TOP, f64::max) - ROW_GAP + NARROW;
        PictureLayout { picture, columns, places, width, height }
    }

    fn draw(&self, out: &mut String) {
        for ((_, name), column) in self.picture.threads.iter().zip(&self.columns) {
            let name = escape(&short(name));
            let _ =
                writeln!(out, "<text class=\"column\" x=\"{:.1}\" y=\"20\">{name}</text>", column.centre());
        }
        // The cycle last, so that nothing covers it.
        let arrows = |cycle: bool| self.picture.arrows.iter().filter(move |arrow| arrow.cycle == cycle);
        arrows(false).for_each(|arrow| self.arrow(arrow, out));
        for (node, place) in self.picture.nodes.iter().zip(&self.places) {
            draw_node(node, *place, out);
        }
        arrows(true).for_each(|arrow| self.arrow(arrow, out));
    }

    fn arrow(&self, arrow: &Arrow, out: &mut String) {
        let name = abbreviation(arrow.link);
        let class = if arrow.cycle { " on-cycle" } else { "" };
        let curve = self.curve(arrow);
        let [(x0, y0), (x1, y1), (x2, y2), (x3, y3)] = curve;
        let (x, y) = match arrow.link {
            Link::Program => (x0 + 13.0, (y0 + y3) / 2.0),
            _ => along(curve, 0.28),
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
    fn curve(&self, arrow: &Arrow) -> [(f64, f64); 4] {
        let (from, to) = (self.places[arrow.from], self.places[arrow.to]);
        if arrow.link == Link::Program {
            let (x, start, end) = (from.centre(), from.bottom(), to.top - 2.0);
            let third = (end - start) / 3.0;
            return [(x, start), (x, start + third), (x, end - third), (x, end)];
        }
        let (start, end) = (from.middle() + 5.0, to.middle() - 5.0);
        if self.picture.nodes[arrow.from].thread == self.picture.nodes[arrow.to].thread {
            let is_first = self.columns.len() > 1 && from.left <= self.columns[0].left;
            let (edge, side) = if is_first { (from.left, -1.0) } else { (from.right(), 1.0) };
            let out = edge + side * (20.0 + (start - end).abs() / 8.0).min(WIDE - 8.0);
            return [(edge, start), (out, start), (out, end), (edge + side * 2.0, end)];
        }
        let (x, to_x, side) = match from.left < to.left {
            true => (from.right(), to.left - 2.0, 1.0),
            false => (from.left, to.right() + 2.0, -1.0),
        };
        let reach = side * COLUMN_GAP / 2.0;
        [(x, start), (x + reach, start), (to_x - reach, end), (to_x, end)]
    }
}

/// The lines of a box, with their classes.
fn lines(node: &PictureNode) -> Vec<(&'static str, String)> {
    let number = node.cycle.map(|at| format!("({at}) ")).unwrap_or_default();
    let mut lines = vec![("title", format!("{number}{}", node.title))];
    lines.extend(node.accesses.iter().map(|access| ("access", access.clone())));
    lines.extend(node.role.map(|role| ("role", role.to_string())));
    lines
}

fn draw_node(node: &PictureNode, place: Rectangle, out: &mut String) {
    let lines = lines(node);
    let class = if node.cycle.is_some() { "event on-cycle" } else { "event" };
    let steps: Vec<String> = node.steps.iter().map(usize::to_string).collect();
    let texts: Vec<String> = lines.iter().map(|(_, line)| escape(line)).collect();
    let Rectangle { left, top, width, height } = place;
    let _ = write!(
        out,
        "<g class=\"{class}\" data-steps=\"{}\"><title>{}</title><rect x=\"{left:.1}\" y=\"{top:.1}\" \
         width=\"{width:.1}\" height=\"{height:.1}\" rx=\"5\"/>",
        steps.join(" "),
        texts.join("\n"),
    );
    for (at, (class, line)) in lines.iter().enumerate() {
        let (x, y) = (place.centre(), top + PAD / 2.0 + LINE * (at as f64 + 0.75));
        let _ =
            write!(out, "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escape(&short(line)));
    }
    out.push_str("</g>\n");
}

/// A point of a cubic curve.
fn along(curve: [(f64, f64); 4], t: f64) -> (f64, f64) {
    let s = 1.0 - t;
    let weights = [s * s * s, 3.0 * s * s * t, 3.0 * s * t * t, t * t * t];
    let sum = |part: fn(&(f64, f64)) -> f64| curve.iter().zip(weights).map(|(p, w)| part(p) * w).sum();
    (sum(|p| p.0), sum(|p| p.1))
}

/// A text that is not too long.
fn short(text: &str) -> String {
    cut(text, LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_at_a_width_not_at_a_byte() {
        assert_eq!(short("short"), "short");
        let long = "宽".repeat(100);
        assert!(short(&long).width() <= LONGEST);
        assert!(short(&long).ends_with('…'));
    }
}
