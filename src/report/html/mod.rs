//! Answers as one HTML file: for reading, sharing and stepping through.
//!
//! Each answer becomes a [`Piece`], and [`page()`] puts pieces together. What can be shown
//! without a script stands in the page as it is; the script (`report.js`) only adds stepping.
//! Everything that comes from a program or a file name passes through `markup`.

mod certificate;
mod diff;
mod digest;
mod fences;
mod page;
mod picture;
mod source;
mod timeline;

pub use fences::fences;
pub use page::{BEGINNING, Piece, page};

use super::{Answered, Failed, LitmusAnswered, Run, diagnostics, litmus, reason_texts, text, violation_span};
use crate::numbers::{counted, grouped, megabytes};
use crate::report::markup::{escape, prose};
use evidence::{Certificate, Statistics, Task, Verdict, Violated, known};
use frontend::Diagnostic;
use page::Tone;
use program::{Named, Program, Source, Span, Strength};
use source::{Marks, source};
use std::fmt::Write;
use timeline::Timeline;

/// An answer of `verify`.
pub fn answer(answer: &Answered<'_>) -> Piece {
    let program = answer.task.program;
    let facts = facts(answer.engine, &answer.statistics, answer.seconds, answer.peak);
    let (word, tone, mut body) = match answer.checked.verdict() {
        Verdict::Safe(certificate) => {
            let how = text::proof(certificate, &answer.statistics);
            let lead = paragraph("lead", &format!("{}.", capital(&how)));
            ("safe", Tone::Good, lead + &proved(&answer.task, certificate))
        }
        Verdict::Unsafe(_) => {
            ("unsafe", Tone::Bad, answer.checked.violated().map(|v| violated(answer, v)).unwrap_or_default())
        }
        Verdict::Unknown(reasons) => {
            let reasons = reason_texts(program, reasons);
            let items: String = reasons.iter().map(|reason| format!("<li>{}</li>", prose(reason))).collect();
            let shown = section("Source", "", &source(&program.source, &Marks::default()));
            ("unknown", Tone::Open, format!("<ul class=\"lead\">{items}</ul>\n{shown}"))
        }
    };
    let evidence = answer.evidence.map(|path| ("Evidence", path.display().to_string()));
    body += &statistics(facts.into_iter().chain(evidence));
    body += &warnings(&program.source, answer.warnings);
    Piece { file: answer.file.to_string(), model: Some(text::upper(answer.task.model)), word, tone, body }
}

/// An answer about a litmus test.
pub fn litmus(answer: &LitmusAnswered<'_>) -> Piece {
    let (program, found) = (answer.task.program, answer.found);
    let (word, tone) = match found.holds() {
        Some(true) => ("holds", Tone::Good),
        Some(false) => ("does not hold", Tone::Bad),
        None => ("unknown", Tone::Open),
    };
    let mut marks = Marks::default();
    let class = if tone == Tone::Good { "proved" } else { "claim" };
    marks.add(program.source.line(answer.question.span), class, word);
    let observed = format!(
        "The condition is observed {}: in {} of {}.",
        litmus::observation(found),
        grouped(found.positive()),
        counted(found.finals().len(), "final state"),
    );
    let mut body = paragraph("lead", &observed);
    for reason in reason_texts(program, found.missing()) {
        body += &paragraph("", &format!("There may be more final states: {reason}."));
    }
    let columns = beside(&section("Source", "", &source(&program.source, &marks)), &final_states(answer));
    body += &columns;
    body += &statistics(facts(answer.engine, &answer.statistics, answer.seconds, answer.peak));
    body += &warnings(&program.source, answer.warnings);
    Piece { file: answer.file.to_string(), model: Some(text::upper(answer.task.model)), word, tone, body }
}

/// A file without an answer.
pub fn failure(failed: &Failed<'_>) -> Piece {
    let mut body = paragraph("lead", &format!("{}.", capital(&failed.reason)));
    if let Some(source) = failed.source {
        body += &section("What is wrong", "", &diagnostics_html(source, failed.diagnostics));
    }
    let model = failed.model.map(text::upper);
    Piece { file: failed.file.to_string(), model, word: "error", tone: Tone::Failed, body }
}

fn final_states(answer: &LitmusAnswered<'_>) -> String {
    let cells = |texts: &mut dyn Iterator<Item = String>, tag: &str| -> String {
        texts.map(|text| format!("<{tag}>{}</{tag}>", escape(&text))).collect()
    };
    let names = &mut answer.question.observed.iter().map(|(name, _)| name.clone());
    let head = cells(names, "th scope=\"col\"").replace("</th scope=\"col\">", "</th>");
    let row =
        |values: &Vec<i64>| format!("<tr>{}</tr>\n", cells(&mut values.iter().map(i64::to_string), "td"));
    let rows: String = answer.found.finals().iter().map(row).collect();
    let table = format!(
        "<div class=\"scroll\"><table class=\"finals\"><thead><tr>{head}</tr></thead><tbody>\n{rows}</tbody></table></div>\n"
    );
    section("Final states", "", &table)
}

/// A violation: the run beside the source, why it can happen, and what to do.
fn violated(answer: &Answered<'_>, violated: Violated<'_>) -> String {
    let task = answer.task;
    let mut out = paragraph("lead", &format!("Violated: {}", text::violation(task.program, violated)));
    let run = Run::of(&task, violated, answer.sc_violation);
    if let Some(cause) = run.cause {
        out += &paragraph("", &format!("{}.", cause.text(task.program)));
    }
    out += &match answer.sc_violation {
        Some(true) => paragraph("", "Something is violated under SC as well: no fence helps."),
        Some(false) => hint(answer, ""),
        None => hint(answer, "Whether SC allows a violation as well is not known. "),
    };
    let mut marks = Marks::default();
    let shown = shown_run(&run, "the violation", &mut marks);
    let source = section("Source", "", &source(&task.program.source, &marks));
    out + &beside(&source, &section("Time line", "", &shown.player)) + &shown.graph
}

/// How to find the fences.
fn hint(answer: &Answered<'_>, before: &str) -> String {
    let command = format!("fencewright fence --model {} {}", answer.task.model.name(), quoted(answer.file));
    format!(
        "<p>{before}Which fences would prevent it? Ask with <code class=\"command\">{}</code></p>\n",
        escape(&command)
    )
}

/// A word as shells take it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:@%,".contains(c);
    match word {
        "<stdin>" => "-".to_string(),
        word if word.chars().all(plain) && !word.is_empty() => word.to_string(),
        word => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// A run as it is shown.
struct Shown {
    player: String,
    graph: String,
}

/// A run with its graph; the lines that matter are marked.
fn shown_run(run: &Run<'_>, title: &str, marks: &mut Marks) -> Shown {
    let program = run.program;
    let named = Named::of(program);
    let timeline = Timeline::new(run, &named);
    for (line, words) in timeline.lines() {
        marks.add(Some(line), if words.is_empty() { "touched" } else { "cause" }, words);
    }
    let violated = run.violation.map_or(Span::NONE, |violation| violation_span(program, violation));
    marks.add(program.source.line(violated), "claim", "violated");
    let graph = timeline.graph();
    let about = paragraph(
        "muted",
        &format!("Replayed on the exact machine: {}.", counted(run.account.steps().len(), "step")),
    );
    Shown {
        player: timeline.html(title) + &about,
        graph: if graph.is_empty() { graph } else { section("Happens before", "happens-before", &graph) },
    }
}

/// The source beside what the certificate knows.
fn proved(task: &Task<'_>, certificate: &Certificate) -> String {
    let program = task.program;
    let mut marks = Marks::default();
    for property in &program.properties {
        marks.add(program.source.line(property.span), "proved", "holds");
    }
    let source = section("Source", "", &source(&program.source, &marks));
    let known = certificate::certificate(program, &known(task, certificate));
    beside(&source, &section("Certificate", "certificate", &known))
}

fn beside(left: &str, right: &str) -> String {
    format!("<div class=\"columns\">\n<div>{left}</div>\n<div>{right}</div>\n</div>\n")
}

fn section(title: &str, class: &str, body: &str) -> String {
    format!("<section class=\"part {class}\"><h3>{}</h3>\n{body}</section>\n", escape(title))
}

fn paragraph(class: &str, text: &str) -> String {
    let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
    format!("<p{class}>{}</p>\n", prose(text))
}

/// A sentence with a capital at its start.
fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// What an engine did, by name.
fn facts(engine: &str, statistics: &Statistics, seconds: f64, peak: usize) -> Vec<(&'static str, String)> {
    let mut facts = vec![("Engine", engine.to_string()), ("States", grouped(statistics.states))];
    facts.extend(statistics.k.map(|k| ("Longest buffers tried", grouped(k))));
    facts.extend(statistics.method.map(|method| ("Method", method.to_string())));
    facts.push(("Time", format!("{seconds:.3} s")));
    facts.push(("Memory", format!("{} MB", grouped(megabytes(peak)))));
    facts
}

fn statistics(facts: impl IntoIterator<Item = (&'static str, String)>) -> String {
    let mut body = "<dl class=\"statistics\">\n".to_string();
    for (name, value) in facts {
        let _ = writeln!(body, "<div><dt>{name}</dt><dd>{}</dd></div>", escape(&value));
    }
    section("Statistics", "", &(body + "</dl>\n"))
}

fn warnings(source: &Source, warnings: &[Diagnostic]) -> String {
    if warnings.is_empty() {
        return String::new();
    }
    section("Warnings", "", &diagnostics_html(source, warnings))
}

fn diagnostics_html(source: &Source, list: &[Diagnostic]) -> String {
    let text = diagnostics::render(source, list);
    let plain = anstream::adapter::strip_str(&text).to_string();
    format!(
        "<div class=\"scroll\" role=\"region\" aria-label=\"Messages\" tabindex=\"0\"><pre>{}</pre></div>\n",
        escape(plain.trim_end())
    )
}

/// The lines where fences go, marked.
fn mark_fences(program: &Program, points: &[&engine::FencePoint], marks: &mut Marks) {
    for point in points {
        let words = match point.strength {
            Strength::Exchange => "make it a locked exchange".to_string(),
            _ => format!("add {} {}", text::fences::what(point), text::fences::side(point)),
        };
        marks.add(program.source.line(point.span), "fence", words);
    }
}
