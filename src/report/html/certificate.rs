//! What a certificate knows, as tables: one per thread, a row per location.

use crate::numbers::counted;
use crate::report::markup::escape;
use crate::report::spot::{Spot, spot};
use evidence::KnownFacts;
use program::{Program, ThreadId};
use std::collections::HashMap;
use std::fmt::Write;

/// More locations of a thread than this are not listed.
const MOST: usize = 400;

/// What is known of a program.
pub fn certificate(program: &Program, known: &KnownFacts) -> String {
    let mut out = format!("<p>{}</p>\n", escape(known.about()));
    if !known.everywhere().is_empty() {
        let _ = writeln!(out, "<h4>At all times</h4>\n{}", list(known.everywhere()));
    }
    let threads = program.thread_ids().filter(|_| !known.is_empty());
    // Tables are folded: nobody reads all of them.
    for id in threads {
        let places = program.thread(id).locs().filter(|loc| known.at(id, *loc).is_some());
        let reached = places.count();
        let _ = writeln!(
            out,
            "<details><summary>While <b>{}</b> is … <span class=\"muted\">({})</span></summary>\n\
             <table class=\"known\"><thead><tr><th scope=\"col\">Line</th><th scope=\"col\">Before or at</th>\
             <th scope=\"col\">Known</th></tr></thead><tbody>",
            escape(&program.thread(id).name),
            counted(reached, "location"),
        );
        let rows = merged(program, known, id);
        rows.iter().take(MOST).for_each(|row| row.html(&mut out));
        out.push_str("</tbody></table>\n");
        if rows.len() > MOST {
            let _ = writeln!(out, "<p class=\"muted\">{} more are not listed.</p>", rows.len() - MOST);
        }
        out.push_str("</details>\n");
    }
    out
}

/// What is known at one or several locations of a statement.
struct InvariantRow<'a> {
    spot: Spot,
    /// None if nobody comes there.
    known: Option<&'a [String]>,
    locations: usize,
}

/// Within a statement there are several locations; where the same is known they share a row.
fn merged<'a>(program: &Program, known: &'a KnownFacts, thread: ThreadId) -> Vec<InvariantRow<'a>> {
    let mut rows: Vec<InvariantRow<'a>> = Vec::new();
    let mut found: HashMap<(Spot, Option<&[String]>), usize> = HashMap::new();
    for loc in program.thread(thread).locs() {
        let (spot, known) = (spot(program, thread, loc), known.besides_at(thread, loc));
        let at = *found.entry((spot.clone(), known)).or_insert(rows.len());
        match rows.get_mut(at) {
            Some(row) => row.locations += 1,
            None => rows.push(InvariantRow { spot, known, locations: 1 }),
        }
    }
    rows
}

impl InvariantRow<'_> {
    fn html(&self, out: &mut String) {
        let line = self.spot.line.map(|line| {
            format!(
                "<button type=\"button\" class=\"to-line\" data-line=\"{line}\" \
                 aria-label=\"Show line {line}\">{line}</button>"
            )
        });
        let label = self.spot.label.as_ref().map(|label| format!("<b>{}:</b> ", escape(label)));
        let times = match self.locations {
            1 => String::new(),
            count => format!(" <span class=\"muted\">({count} places)</span>"),
        };
        let known = match self.known {
            None => "<span class=\"muted\">never here</span>".to_string(),
            Some([]) => "<span class=\"muted\">nothing more</span>".to_string(),
            Some(sentences) => list(sentences),
        };
        let _ = writeln!(
            out,
            "<tr><td>{}</td><td>{}<code>{}</code>{times}</td><td>{known}</td></tr>",
            line.unwrap_or_default(),
            label.unwrap_or_default(),
            escape(&self.spot.text)
        );
    }
}

fn list(sentences: &[String]) -> String {
    let items: String = sentences.iter().map(|sentence| format!("<li>{}</li>", escape(sentence))).collect();
    format!("<ul class=\"facts\">{items}</ul>")
}
