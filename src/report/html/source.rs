//! A program's text with lines marked.

use crate::report::markup::escape;
use program::Source;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Longer texts are shown only around the lines that are marked, or from the start if none is.
const LONG: usize = 1000;
const AROUND: usize = 12;

/// What is marked in a text: for lines (from 1), classes and words beside them.
#[derive(Default)]
pub struct Marks {
    lines: BTreeMap<usize, Vec<(&'static str, String)>>,
}

impl Marks {
    /// Marks a line; the words may be empty.
    pub fn add(&mut self, line: Option<usize>, class: &'static str, words: impl Into<String>) {
        let Some(line) = line else { return };
        let mark = (class, words.into());
        let marks = self.lines.entry(line).or_default();
        if !marks.contains(&mark) {
            marks.push(mark);
        }
    }
}

/// The text.
pub fn source(source: &Source, marks: &Marks) -> String {
    let lines: Vec<&str> = source.main().lines().collect();
    let mut out = "<div class=\"source\" role=\"region\" aria-label=\"Source\" tabindex=\"0\">\n".to_string();
    let mut hidden = 0;
    for (at, line) in lines.iter().enumerate() {
        let number = at + 1;
        let near = number.saturating_sub(AROUND)..=number + AROUND;
        let shown = match marks.lines.is_empty() {
            true => number <= LONG,
            false => lines.len() <= LONG || marks.lines.range(near).next().is_some(),
        };
        if !shown {
            hidden += 1;
            continue;
        }
        push_hidden(&mut out, &mut hidden);
        push_line(&mut out, number, line, marks.lines.get(&number).map_or(&[], Vec::as_slice));
    }
    push_hidden(&mut out, &mut hidden);
    out + "</div>\n"
}

fn push_hidden(out: &mut String, hidden: &mut usize) {
    if *hidden > 0 {
        let lines = crate::numbers::counted(*hidden, "line");
        let _ = writeln!(out, "<div class=\"omitted muted\">{lines} not shown</div>");
        *hidden = 0;
    }
}

fn push_line(out: &mut String, number: usize, line: &str, marks: &[(&'static str, String)]) {
    let mut classes = vec!["line"];
    classes.extend(marks.iter().map(|(class, _)| *class));
    classes.dedup();
    let notes: String = marks
        .iter()
        .filter(|(_, words)| !words.is_empty())
        .map(|(class, words)| format!("<span class=\"note {class}\">{}</span>", escape(words)))
        .collect();
    let _ = writeln!(
        out,
        "<div class=\"{}\" data-line=\"{number}\"><span class=\"line-number\">{number}</span>\
         <code>{}</code><span class=\"notes\">{notes}<span class=\"here\"></span></span></div>",
        classes.join(" "),
        escape(line)
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_shown_around_their_marks() {
        let text = Source::new("long", "x\n".repeat(5000));
        let mut marks = Marks::default();
        marks.add(Some(2500), "claim", "<violated>");
        let shown = super::source(&text, &marks);
        assert_eq!(shown.matches("data-line").count(), 2 * AROUND + 1);
        assert!(shown.contains("2,487 lines not shown") && shown.contains("&lt;violated&gt;"), "{shown}");
        let unmarked = super::source(&text, &Marks::default());
        assert_eq!(unmarked.matches("data-line").count(), LONG);
        let short = super::source(&Source::new("short", "x\n".repeat(50)), &marks);
        assert_eq!(short.matches("data-line").count(), 50);
    }
}
