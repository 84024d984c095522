//! The page around the answers: one file that needs nothing else.
//!
//! The style sheet and the script stand in the page and are named by their digests in its
//! Content-Security-Policy; nothing else may run or be fetched, whatever stands in a program.

use super::digest::{base64, sha256};
use super::navigation::navigation;
use crate::report::happens_before::MARKERS;
use crate::report::markup::escape;

const TEMPLATE: &str = include_str!("report.html");
const STYLE: &str = concat!(include_str!("report.css"), include_str!("../happens_before/graph.css"));
const SCRIPT: &str = concat!(include_str!("player.js"), "\n", include_str!("report.js"));

/// How every report begins; a file that begins so may be replaced by a new report.
pub const BEGINNING: &str = "<!DOCTYPE html>\n<!-- A report by fencewright -->\n";

/// What an answer means for whoever asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// It holds.
    Good,
    /// It is violated.
    Bad,
    /// Nobody knows.
    Open,
    /// There is no answer.
    Failed,
}

impl Tone {
    /// Whether what was asked holds, if that is known.
    pub(super) fn of(holds: Option<bool>) -> Tone {
        match holds {
            Some(true) => Tone::Good,
            Some(false) => Tone::Bad,
            None => Tone::Open,
        }
    }

    /// How style sheets call it.
    pub fn class(self) -> &'static str {
        match self {
            Tone::Good => "good",
            Tone::Bad => "bad",
            Tone::Open => "open",
            Tone::Failed => "failed",
        }
    }
}

/// An answer, ready to stand in a page.
#[derive(Clone, Debug)]
pub struct Piece {
    /// The file, as the user named it.
    pub file: String,
    /// The model, in capitals.
    pub model: Option<String>,
    /// Whether that is what the answer is against, and not under.
    pub against: bool,
    /// The answer in a word or two.
    pub word: String,
    /// What that means.
    pub tone: Tone,
    /// Everything about it, as HTML.
    pub body: String,
}

/// A whole page.
pub fn page(pieces: &[Piece]) -> String {
    let title = match pieces {
        [only] => format!("{}: {}", only.file, only.word),
        _ => format!("{} answers", pieces.len()),
    };
    let answers: String = pieces.iter().enumerate().map(|(at, piece)| answer(at, piece)).collect();
    let source = |text: &str| format!("'sha256-{}'", base64(&sha256(text)));
    let policy = format!(
        "default-src 'none'; script-src {}; style-src {}; base-uri 'none'; form-action 'none'",
        source(SCRIPT),
        source(STYLE)
    );
    let parts = [
        ("policy", policy.as_str()),
        ("title", &escape(&title)),
        ("style", STYLE),
        ("markers", MARKERS),
        ("script", SCRIPT),
        ("navigation", &navigation(pieces)),
        ("answers", &answers),
        ("version", env!("CARGO_PKG_VERSION")),
    ];
    BEGINNING.to_string() + &fill(TEMPLATE, &parts)
}

fn answer(at: usize, piece: &Piece) -> String {
    let number = at + 1;
    let name = escape(&piece.file);
    let relation = if piece.against { "against" } else { "under" };
    let model = piece.model.as_ref().map(|model| format!(" {relation} {model}")).unwrap_or_default();
    format!(
        "<section class=\"answer\" id=\"answer-{number}\" aria-label=\"{name}{model}\">\n\
         <header><h2>{name}</h2><p class=\"verdict {}\">{}{model}</p></header>\n{}</section>\n",
        piece.tone.class(),
        piece.word,
        piece.body
    )
}

/// Puts parts where a template names them, in one pass: what is put in is not looked at again.
fn fill(template: &str, parts: &[(&str, &str)]) -> String {
    let mut out = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        out.push_str(before);
        let (name, after) = after.split_once("}}").unwrap_or((after, ""));
        out.push_str(parts.iter().find(|(part, _)| *part == name).map_or("", |(_, text)| text));
        rest = after;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_into_a_template_is_not_looked_at_again() {
        assert_eq!(fill("<{{a}}|{{b}}>", &[("a", "{{b}}"), ("b", "2")]), "<{{b}}|2>");
    }

    #[test]
    fn a_page_names_its_own_script_and_asks_for_nothing_else() {
        let piece = Piece {
            file: "</title><script>alert(1)</script>".to_string(),
            model: Some("TSO".to_string()),
            against: false,
            word: "safe".to_string(),
            tone: Tone::Good,
            body: String::new(),
        };
        let page = page(&[piece.clone(), piece]);
        assert!(page.starts_with(BEGINNING));
        assert!(!page.contains("<script>alert") && !page.contains("{{"), "{page}");
        assert!(!page.contains("http:") && !page.contains("https:"), "a page needs no network");
        assert_eq!(page.matches("<script").count(), 1);
    }
}
