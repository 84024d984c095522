//! Happens-before as a picture that needs nothing else: one column a thread, time downwards.
//!
//! Every node has a row of its own, in the order of the run, so program order goes straight
//! down and links between threads are curves from side to side. Links within one thread that
//! are not program order bend out to the right. What belongs to the cycle is red.

use super::abbreviation;
use super::picture::{Arrow, Node, Picture};
use crate::report::markup::entity;
use evidence::Link;
use std::fmt::Write;
use unicode_width::UnicodeWidthStr;

/// The width of a character, and the distance of lines.
const CHAR: f64 = 7.3;
const LINE: f64 = 16.0;
/// Space inside boxes, between rows, between columns, and around everything.
const PAD: f64 = 8.0;
const ROW_GAP: f64 = 26.0;
const COLUMN_GAP: f64 = 90.0;
const EDGE: f64 = 24.0;
/// Where the boxes begin: below the title and the names of the threads.
const TOP: f64 = 96.0;
/// Lines in boxes are cut to this many columns; the whole text appears on hovering.
const LONGEST: usize = 44;

/// The colours of the links, and of what is in the cycle.
const CYCLE: &str = "#c62828";

fn color(link: Link) -> &'static str {
    match link {
        Link::Program => "#757575",
        Link::ReadsFrom => "#2e7d32",
        Link::StoreOrder => "#1565c0",
        Link::FromRead => "#e65100",
    }
}

/// A box on the canvas.
#[derive(Clone, Copy)]
struct Place {
    left: f64,
    top: f64,
    width: f64,
    height: f64,
}

impl Place {
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

/// The picture.
pub fn svg(picture: &Picture, title: &str) -> String {
    let layout = Layout::of(picture);
    let title_width = columns(title) as f64 * CHAR + 2.0 * EDGE;
    let (width, height) = (layout.width.max(title_width).max(LEGEND_WIDTH), layout.height);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.0} {height:.0}\" font-family=\"ui-monospace, Menlo, Consolas, monospace\" \
         font-size=\"12\" role=\"img\">\n<title>{}</title>\n",
        escaped(title)
    );
    out.push_str(&markers());
    let _ = writeln!(out, "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>");
    text(&mut out, EDGE, EDGE, title, "font-weight=\"bold\"");
    legend(&mut out);
    for ((_, name), place) in picture.threads.iter().zip(&layout.heads) {
        let attributes = "font-weight=\"bold\" text-anchor=\"middle\"";
        text(&mut out, place.centre(), TOP - 14.0, &cut(name), attributes);
    }
    // The cycle last, so that nothing covers it.
    for in_cycle in [false, true] {
        for arrow in picture.arrows.iter().filter(|arrow| arrow.cycle == in_cycle) {
            draw_arrow(&mut out, picture, &layout, arrow);
        }
    }
    for (node, place) in picture.nodes.iter().zip(&layout.places) {
        draw_node(&mut out, node, *place);
    }
    out + "</svg>\n"
}

/// Where everything goes.
struct Layout {
    /// By node.
    places: Vec<Place>,
    /// By thread that is shown.
    heads: Vec<Place>,
    width: f64,
    height: f64,
}

impl Layout {
    fn of(picture: &Picture) -> Layout {
        let mut heads = Vec::new();
        let mut left = EDGE;
        for (thread, name) in &picture.threads {
            let mine = picture.nodes.iter().filter(|node| node.thread == *thread);
            let widest = mine.flat_map(lines).chain([name.clone()]).map(|line| columns(&cut(&line))).max();
            let width = widest.unwrap_or(0) as f64 * CHAR + 2.0 * PAD;
            heads.push(Place { left, top: TOP, width, height: 0.0 });
            left += width + COLUMN_GAP;
        }
        let mut top = TOP;
        let mut places = Vec::new();
        for node in &picture.nodes {
            let column = picture.threads.iter().position(|(thread, _)| *thread == node.thread);
            let head = heads[column.unwrap_or(0)];
            let height = lines(node).len() as f64 * LINE + 2.0 * PAD;
            places.push(Place { top, height, ..head });
            top += height + ROW_GAP;
        }
        Layout { places, heads, width: left - COLUMN_GAP / 2.0 + EDGE, height: top - ROW_GAP + EDGE }
    }
}

fn lines(node: &Node) -> Vec<String> {
    let number = node.cycle.map(|at| format!("({at}) ")).unwrap_or_default();
    let mut lines = vec![format!("{number}{}", node.title)];
    lines.extend(node.accesses.iter().cloned());
    lines.extend(node.role.map(str::to_string));
    lines
}

fn draw_node(out: &mut String, node: &Node, place: Place) {
    let (stroke, width) = if node.cycle.is_some() { (CYCLE, 2.0) } else { ("#9e9e9e", 1.0) };
    let Place { left, top, width: wide, height: high } = place;
    let _ = writeln!(
        out,
        "<g><title>{}</title><rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{wide:.1}\" height=\"{high:.1}\" \
         rx=\"4\" fill=\"#fafafa\" stroke=\"{stroke}\" stroke-width=\"{width}\"/>",
        escaped(&lines(node).join("\n"))
    );
    for (at, line) in lines(node).iter().enumerate() {
        let y = top + PAD + LINE * (at as f64 + 0.75);
        let attributes = match at {
            0 => "font-weight=\"bold\"",
            _ if Some(line.as_str()) == node.role => "font-style=\"italic\" fill=\"#c62828\"",
            _ => "fill=\"#424242\"",
        };
        text(out, left + PAD, y, &cut(line), attributes);
    }
    out.push_str("</g>\n");
}

fn draw_arrow(out: &mut String, picture: &Picture, layout: &Layout, arrow: &Arrow) {
    let (from, to) = (layout.places[arrow.from], layout.places[arrow.to]);
    let same = picture.nodes[arrow.from].thread == picture.nodes[arrow.to].thread;
    let (path, x, y) = match arrow.link {
        Link::Program => straight(from, to),
        _ if same => bent(from, to),
        _ => across(from, to),
    };
    let name = abbreviation(arrow.link);
    let (stroke, width) = if arrow.cycle { (CYCLE, 2.4) } else { (color(arrow.link), 1.2) };
    let head = if arrow.cycle { "cycle" } else { name };
    let _ = writeln!(
        out,
        "<path d=\"{path}\" fill=\"none\" stroke=\"{stroke}\" stroke-width=\"{width}\" \
         marker-end=\"url(#{head})\"/>"
    );
    // A white border keeps the letters readable where lines cross.
    let attributes = format!(
        "fill=\"{stroke}\" stroke=\"#ffffff\" stroke-width=\"3\" paint-order=\"stroke\" text-anchor=\"middle\""
    );
    text(out, x, y, name, &attributes);
}

/// Down within a column; the line and where its name goes.
fn straight(from: Place, to: Place) -> (String, f64, f64) {
    let (x, y, end) = (from.centre(), from.bottom(), to.top);
    (format!("M{x:.1} {y:.1} L{x:.1} {:.1}", end - 2.0), x + 13.0, (y + end) / 2.0 + 4.0)
}

/// Out to the right and back, within a column.
fn bent(from: Place, to: Place) -> (String, f64, f64) {
    let (x, y, end) = (from.right(), from.middle() + 4.0, to.middle() - 4.0);
    let out = x + COLUMN_GAP * 0.45;
    curve([(x, y), (out, y), (out, end), (x + 2.0, end)], 0.5)
}

/// From one column to another.
fn across(from: Place, to: Place) -> (String, f64, f64) {
    let rightwards = from.left < to.left;
    let (x, end, sign) =
        if rightwards { (from.right(), to.left - 2.0, 1.0) } else { (from.left, to.right() + 2.0, -1.0) };
    // What leaves and what arrives on one side of a box shall not lie on one point.
    let (y, arrival) = (from.middle() + 5.0, to.middle() - 5.0);
    let pull = COLUMN_GAP * 0.6 * sign;
    // The name stands near the start, for links that cross meet in the middle.
    curve([(x, y), (x + pull, y), (end - pull, arrival), (end, arrival)], 0.3)
}

/// A cubic curve, and the point so far along it where its name goes.
fn curve(points: [(f64, f64); 4], along: f64) -> (String, f64, f64) {
    let [a, b, c, d] = points;
    let rest = 1.0 - along;
    let weights = [rest.powi(3), 3.0 * rest.powi(2) * along, 3.0 * rest * along.powi(2), along.powi(3)];
    let sum = |coordinate: fn(&(f64, f64)) -> f64| -> f64 {
        points.iter().zip(weights).map(|(point, weight)| coordinate(point) * weight).sum()
    };
    let path =
        format!("M{:.1} {:.1} C{:.1} {:.1} {:.1} {:.1} {:.1} {:.1}", a.0, a.1, b.0, b.1, c.0, c.1, d.0, d.1);
    (path, sum(|point| point.0), sum(|point| point.1) + 4.0)
}

fn markers() -> String {
    let links = [Link::Program, Link::ReadsFrom, Link::StoreOrder, Link::FromRead];
    let named = links.iter().map(|link| (abbreviation(*link), color(*link)));
    let marker = |(name, color): (&str, &str)| {
        format!(
            "<marker id=\"{name}\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerWidth=\"9\" \
             markerHeight=\"9\" markerUnits=\"userSpaceOnUse\" orient=\"auto-start-reverse\">\
             <path d=\"M0 0 L10 5 L0 10 z\" fill=\"{color}\"/></marker>\n"
        )
    };
    let all: String = named.chain([("cycle", CYCLE)]).map(marker).collect();
    format!("<defs>\n{all}</defs>\n")
}

const LEGEND_WIDTH: f64 = 760.0;

/// What the colours mean.
fn legend(out: &mut String) {
    let entries = [
        (CYCLE, "the cycle"),
        (color(Link::Program), "po: program order"),
        (color(Link::ReadsFrom), "rf: reads from"),
        (color(Link::StoreOrder), "co: store order"),
        (color(Link::FromRead), "fr: overwrites what was read"),
    ];
    let mut x = EDGE;
    for (color, words) in entries {
        text(out, x, EDGE + 24.0, words, &format!("fill=\"{color}\""));
        x += (columns(words) + 2) as f64 * CHAR;
    }
}

fn text(out: &mut String, x: f64, y: f64, words: &str, attributes: &str) {
    let _ = writeln!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\" {attributes}>{}</text>", escaped(words));
}

fn columns(text: &str) -> usize {
    text.width()
}

/// A text that is not too long.
fn cut(text: &str) -> String {
    if columns(text) <= LONGEST {
        return text.to_string();
    }
    let mut kept = String::new();
    for c in text.chars() {
        kept.push(c);
        if columns(&kept) + 1 > LONGEST {
            kept.pop();
            break;
        }
    }
    kept + "…"
}

/// A text as XML may hold it.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match (entity(c), c) {
            (Some(entity), _) => out.push_str(entity),
            (None, '\'') => out.push_str("&#39;"),
            (None, '\n') => out.push('\n'),
            // XML has no place for these, not even escaped.
            (None, c) if c.is_control() || ('\u{fffe}'..='\u{ffff}').contains(&c) => out.push(' '),
            (None, c) => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_escapes_from_a_text() {
        let nasty = "</text><script>alert('\"&\")</script>\u{0}\u{1b}\u{ffff}";
        let safe = escaped(nasty);
        assert!(!safe.contains(['<', '>', '"', '\'', '\u{0}', '\u{1b}', '\u{ffff}']), "{safe}");
        assert_eq!(safe.matches('&').count(), nasty.matches(['<', '>', '"', '\'', '&']).count());
    }

    #[test]
    fn long_texts_are_cut_at_a_width_not_at_a_byte() {
        assert_eq!(cut("short"), "short");
        let long = "宽".repeat(100);
        assert!(columns(&cut(&long)) <= LONGEST);
        assert!(cut(&long).ends_with('…'));
    }
}
