//! What a certificate knows, as tables: one a thread, a row a location.

use super::escape::escape;
use crate::numbers::counted;
use crate::report::known::{Known, KnownAt, spot};
use program::Program;
use std::fmt::Write;

/// More locations of a thread than this are not listed.
const MOST: usize = 400;

/// What is known of a program.
pub fn certificate(program: &Program, known: &Known) -> String {
    let mut out = format!("<p>{}</p>\n", escape(&known.about));
    if !known.everywhere.is_empty() {
        let _ = writeln!(out, "<h4>At all times</h4>\n{}", list(&known.everywhere));
    }
    for (at, id) in program.thread_ids().enumerate() {
        let places: Vec<&KnownAt> = known.places.iter().filter(|place| place.thread == id).collect();
        let reached = places.iter().filter(|place| place.reached).count();
        let open = if at < 2 { " open" } else { "" };
        let _ = writeln!(
            out,
            "<details{open}><summary>While <b>{}</b> is … <span class=\"muted\">({})</span></summary>\n\
             <table class=\"known\"><thead><tr><th scope=\"col\">Line</th><th scope=\"col\">Before or at</th>\
             <th scope=\"col\">Known</th></tr></thead><tbody>",
            escape(&program.thread(id).name),
            counted(reached, "location"),
        );
        places.iter().take(MOST).for_each(|place| row(program, place, &mut out));
        out.push_str("</tbody></table>\n");
        if places.len() > MOST {
            let _ = writeln!(out, "<p class=\"muted\">{} more are not listed.</p>", places.len() - MOST);
        }
        out.push_str("</details>\n");
    }
    out
}

fn row(program: &Program, place: &KnownAt, out: &mut String) {
    let spot = spot(program, place.thread, place.loc);
    let line = match spot.line {
        Some(line) => {
            format!(
                "<button type=\"button\" class=\"to-line\" data-line=\"{line}\" aria-label=\"Show line {line}\">{line}</button>"
            )
        }
        None => String::new(),
    };
    let label = spot.label.map(|label| format!("<b>{}:</b> ", escape(&label))).unwrap_or_default();
    let known = match (place.reached, place.sentences.is_empty()) {
        (false, _) => "<span class=\"muted\">never here</span>".to_string(),
        (true, true) => "<span class=\"muted\">nothing more</span>".to_string(),
        (true, false) => list(&place.sentences),
    };
    let _ = writeln!(
        out,
        "<tr><td>{line}</td><td>{label}<code>{}</code></td><td>{known}</td></tr>",
        escape(&spot.text)
    );
}

fn list(sentences: &[String]) -> String {
    let items: String = sentences.iter().map(|sentence| format!("<li>{}</li>", escape(sentence))).collect();
    format!("<ul class=\"facts\">{items}</ul>")
}
