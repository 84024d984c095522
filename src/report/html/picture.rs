//! The happens-before of a violating run in a page: the picture, and what it shows in words.

use crate::report::ShownRun;
use crate::report::happens_before::{Picture, Related, completed, embedded, svg};
use crate::report::markup::escape;
use evidence::Link;
use std::fmt::Write;

/// Larger graphs are shown by their cycle alone, or not at all.
const MOST: usize = 40;

/// The picture of a run alone; nothing if it shows nothing, or too much.
pub fn run_picture(run: &ShownRun<'_>) -> Option<Picture> {
    let (graph, cycle, _) = completed(run.program, run.account, run.cause.map(|cause| cause.step));
    let related = Related::new(run.program, run.account, &graph, &cycle, &[]);
    let picture = related.picture(MOST, &|_| None);
    (!picture.nodes.is_empty() && picture.all <= MOST).then_some(picture)
}

/// The picture with what it shows in words; empty if no step of a thread depends on another's.
pub fn picture(run: &ShownRun<'_>) -> String {
    with_picture(run, in_page).unwrap_or_default()
}

/// The picture as a file of its own, if there is something to draw.
pub fn drawing(run: &ShownRun<'_>, title: &str) -> Option<String> {
    with_picture(run, |drawn| (!drawn.picture.nodes.is_empty()).then(|| svg(&drawn.picture, title))).flatten()
}

/// What there is to draw.
struct Drawn<'a> {
    picture: Picture,
    related: Related<'a>,
    is_completed: bool,
}

/// Draws the happens-before of a run for whoever uses it, unless no step of a thread depends on another's.
fn with_picture<T>(run: &ShownRun<'_>, then: impl FnOnce(&Drawn<'_>) -> T) -> Option<T> {
    let (graph, cycle, is_completed) = completed(run.program, run.account, run.cause.map(|cause| cause.step));
    if graph.links().all(|(.., link)| link == Link::Program) {
        return None;
    }
    let delayed = run.cause.map(|cause| graph.node(cause.issued));
    let forbidden = run.cause.filter(|cause| !cause.is_claim).map(|cause| graph.node(cause.step));
    let stay: Vec<usize> = delayed.into_iter().chain(forbidden).collect();
    let related = Related::new(run.program, run.account, &graph, &cycle, &stay);
    let picture = related.picture(MOST, &|node| match node {
        node if delayed == Some(node) => Some("delayed store"),
        node if forbidden == Some(node) => Some("not under SC"),
        _ => None,
    });
    Some(then(&Drawn { picture, related, is_completed }))
}

fn in_page(Drawn { picture, related, is_completed }: &Drawn<'_>) -> String {
    let mut out = String::new();
    if !picture.nodes.is_empty() {
        let _ = writeln!(
            out,
            "<div class=\"scroll\" role=\"region\" aria-label=\"Happens-before graph\" tabindex=\"0\">{}</div>\n{LEGEND}",
            embedded(picture)
        );
    }
    if picture.all > MOST {
        let what = if related.cycle.is_empty() { "so it is not drawn" } else { "so only the cycle is drawn" };
        let _ = writeln!(out, "<p class=\"muted\">The run touches memory {} times, {what}.</p>", picture.all);
    }
    if *is_completed {
        out.push_str(COMPLETED);
    }
    out + &in_words(related)
}

const LEGEND: &str = "<p class=\"muted\"><b>po</b> program order · <b>rf</b> a store and a load that reads it · \
    <b>co</b> stores in the order they reach memory · <b>fr</b> a load and the store that overwrites what it read</p>";

const COMPLETED: &str = "<p class=\"muted\">Stores that are still buffered at the end are drawn as if they reached \
    memory then, one thread's after the other's.</p>\n";

/// The cycle as a list.
fn in_words(related: &Related<'_>) -> String {
    let cycle = &related.cycle;
    if cycle.is_empty() {
        return "<p>There is no cycle: a run under SC can look like this.</p>\n".to_string();
    }
    let name = |node: usize| {
        let thread = escape(&related.program.thread(related.steps[node].thread).name);
        format!("{thread} <code>{}</code>", escape(&related.accesses(node).join(", ")))
    };
    let mut out =
        "<p>The marked arrows form a cycle: no order of these steps explains what was read, so no run under SC \
         looks like this.</p>\n<ol class=\"cycle\">\n"
            .to_string();
    for (at, (from, link)) in cycle.iter().enumerate() {
        let (from, to) = (name(*from), name(cycle[(at + 1) % cycle.len()].0));
        let _ = writeln!(out, "<li>{from} <span class=\"muted\">{}</span> {to}</li>", words(*link));
    }
    out + "</ol>\n"
}

fn words(link: Link) -> &'static str {
    match link {
        Link::Program => "comes before in the program",
        Link::StoreOrder => "reaches memory before",
        Link::ReadsFrom => "is read by",
        Link::FromRead => "reads what is overwritten by",
    }
}
