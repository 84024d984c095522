//! Answers as one HTML file: for reading, sharing and stepping through.
//!
//! Each answer becomes a [`Piece`], and [`page`] puts pieces together. What can be shown
//! without a script stands in the page as it is; the script (`player.js`, `report.js`) only adds stepping.
//! Everything that comes from a program or a file name passes through `markup`.

mod certificate;
mod diff;
mod digest;
mod fences;
mod navigation;
mod page;
mod picture;
mod source;
mod timeline;

pub use page::{BEGINNING, Piece, page};
pub use picture::{drawing, run_picture};

use super::advice::what_to_try;
use super::document::plain;
use super::witness::{ToldWitness, sentence};
use super::{
    Answered, Compared, Failed, Said, ShownRun, Status, capital, diagnostics, litmus, plan, reason_texts,
    text,
};
use crate::numbers::{counted, grouped, megabytes};
use crate::report::markup::{escape, prose};
use engine::Plan;
use evidence::{
    Certificate, Checked, CheckedOutcomes, CheckedWitness, Goal, Reason, Statistics, Task, Verdict, Violated,
    known,
};
use frontend::Diagnostic;
use page::Tone;
use picture::picture;
use program::{FailureKind, Program, Quantifier, Question, Source, Strength};
use source::{Marks, source};
use std::fmt::Write;
use timeline::Timeline;

/// What is said, ready to stand in a page. Warnings are part of the answers.
pub fn shown_answer(said: &Said<'_>) -> Option<Piece> {
    Some(match said {
        Said::Answer(answered) => answer(answered),
        Said::Outcome(words, shown) => outcome(words, shown),
        Said::Fences(fenced) => fences::fences(fenced),
        Said::Plan(file, plan) => planned(file, plan),
        Said::Failure(failed) => failure(failed),
        Said::Compared(compared, shown) => comparison(compared, *shown),
        Said::Warnings(..)
        | Said::Remark(_)
        | Said::Claim(_)
        | Said::Walk(_)
        | Said::Registries(_)
        | Said::Bench(..)
        | Said::Overview(_)
        | Said::Summary(_) => return None,
    })
}

/// An answer of `verify` or `robust`.
fn answer(answer: &Answered<'_>) -> Piece {
    let (task, program, found) = (&answer.task, answer.task.program, answer.found);
    let checked = &found.checked;
    let (word, mut body) = match (checked.verdict(), checked.outcomes(), &program.question) {
        (_, Some(outcomes), Some(question)) => held(program, question, outcomes),
        (Verdict::Safe(certificate), ..) => {
            let how = text::proof(certificate, &found.statistics);
            let assuming = text::assuming(program);
            let lead = paragraph("lead", &format!("{}{assuming}.", capital(&how)));
            ("safe", lead + &proved(task, certificate))
        }
        (Verdict::Unsafe(_), ..) => {
            ("unsafe", checked.violated().map(|run| violated(answer, run)).unwrap_or_default())
        }
        (Verdict::Robust(_), ..) => {
            let why = text::robust::why_robust(&found.statistics, task.model);
            let assuming = text::assuming(program);
            let lead = format!("Every execution looks like one under SC: {why}{assuming}.");
            let lead = paragraph("lead", &lead);
            ("robust", lead + &plain_source(program))
        }
        (Verdict::NotRobust(_), ..) => {
            let shown = checked.witness().map(|witness| not_robust(task, witness));
            ("not robust", shown.unwrap_or_default())
        }
        (Verdict::Within(..) | Verdict::Unknown(_) | Verdict::FinalStates(_), ..) => {
            ("unknown", unknown(program, checked.reasons()))
        }
    };
    let facts = facts((found.engine, &found.statistics), answer.seconds, answer.peak).into_iter();
    let evidence = answer.evidence.iter().map(|path| ("Evidence", path.display().to_string()));
    body += &statistics(facts.chain(evidence));
    body += &warnings(&program.source, answer.warnings);
    piece(answer.file, task, word, tone(program, checked), body)
}

/// Whether an answer is good. That an outcome can be observed is neither good nor bad by itself: most tests ask
/// about one that nobody wants.
fn tone(program: &Program, checked: &Checked) -> Tone {
    let exists = |question: &Question| question.quantifier == Quantifier::Exists;
    match (&program.question, checked.outcomes()) {
        (Some(question), Some(_)) if exists(question) => Tone::Open,
        _ => Tone::of(checked.holds()),
    }
}

/// A run to a final state of a litmus test.
fn outcome(words: &str, shown: &Answered<'_>) -> Piece {
    let (task, under_sc) = (&shown.task, shown.found.why.sc_violation);
    let mut body = String::new();
    if let Some(violated) = shown.found.checked.violated() {
        let run = ShownRun::of(task, violated);
        if let Some(cause) = run.cause {
            body += &paragraph("lead", &format!("{}.", cause.text(task.program)));
        }
        if let (Some(under_sc), false) = (under_sc, task.model.is_sc()) {
            let text = if under_sc { "SC has this outcome, too." } else { "SC does not have this outcome." };
            body += &paragraph("", text);
        }
        let mut marks = Marks::default();
        let shown = shown_markup(&run, &format!("a run to {words}"), &mut marks);
        body += &shown.beside(task.program, &marks);
    }
    // An outcome that only weak memory has is what one looks for.
    let tone = if under_sc == Some(false) { Tone::Bad } else { Tone::Open };
    piece(shown.file, task, &escape(words), tone, body)
}

/// What is said of a file under a model.
fn piece(file: &str, task: &Task<'_>, word: &str, tone: Tone, body: String) -> Piece {
    let (model, against) = (Some(text::upper(task.model)), task.goal == Goal::Robust);
    Piece { file: file.to_string(), model, against, word: word.to_string(), tone, body }
}

fn unknown(program: &Program, given: &[Reason]) -> String {
    let reasons = reason_texts(program, given);
    let items: String = reasons.iter().map(|reason| format!("<li>{}</li>", prose(reason))).collect();
    let tries: String = what_to_try(given).iter().map(|text| format!("<li>{}</li>", prose(text))).collect();
    let tries =
        if tries.is_empty() { tries } else { section("What to try", "", &format!("<ul>{tries}</ul>")) };
    format!("<ul class=\"lead\">{items}</ul>\n{tries}{}", plain_source(program))
}

/// The source with nothing marked.
fn plain_source(program: &Program) -> String {
    marked_source(program, &Marks::default())
}

/// The source with its marks.
fn marked_source(program: &Program, marks: &Marks) -> String {
    section("Source", "", &source(&program.source, marks))
}

/// The final states of a litmus test, beside its source.
fn held(program: &Program, question: &Question, found: &CheckedOutcomes) -> (&'static str, String) {
    let (word, class) = match found.holds() {
        Some(true) => ("holds", "proved"),
        Some(false) => ("does not hold", "claim"),
        None => ("unknown", "claim"),
    };
    let mut marks = Marks::default();
    marks.add(program.source.main_line(question.span), class, word);
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
    (word, body + &beside(&marked_source(program, &marks), &final_states(question, found)))
}

/// A witness: the run beside the source, and its happens-before.
fn not_robust(task: &Task<'_>, checked: &CheckedWitness) -> String {
    let told = ToldWitness::new(task.program, checked);
    let lead = paragraph("lead", &format!("{}.", capital(&sentence(&told))));
    let mut marks = Marks::default();
    let shown = shown_witness(task, checked, "the witness", &mut marks);
    lead + &shown.beside(task.program, &marks)
}

/// A file without an answer.
fn failure(failed: &Failed<'_>) -> Piece {
    let mut body = paragraph("lead", &format!("{}.", capital(&failed.reason)));
    if let Some(source) = failed.source {
        body += &section("What is wrong", "", &diagnostics_html(source, failed.diagnostics));
    }
    let model = failed.model.map(text::upper);
    let (file, word) = (failed.file.to_string(), "error".to_string());
    Piece { file, model, against: false, word, tone: Tone::Failed, body }
}

/// Which engines would be asked.
fn planned(file: &str, plan: &Plan<'_>) -> Piece {
    piece(file, &plan.facts.task, "plan", Tone::Open, preformatted("Plan", &plan::text(file, plan)))
}

/// A comparison that `ci` made: what was expected, and the answer if it is another.
fn comparison(compared: &Compared, shown: Option<&Answered<'_>>) -> Piece {
    let tone = match compared.status {
        Status::Ok => Tone::Good,
        Status::Changed | Status::Missing | Status::Redundant => Tone::Bad,
        Status::Unknown => Tone::Open,
        Status::Error => Tone::Failed,
    };
    let (config, line) = &compared.config;
    let mut body = paragraph("lead", &format!("{}.", capital(&compared.message)));
    body += &paragraph("muted", &format!("What is expected stands in {config}, line {line}."));
    body += &shown.map(|shown| answer(shown).body).unwrap_or_default();
    let (model, word) = (compared.model.map(text::upper), compared.status.name().to_string());
    Piece { file: compared.file.clone(), model, against: false, word, tone, body }
}

fn final_states(question: &Question, found: &CheckedOutcomes) -> String {
    let names = question.observed.iter();
    let head: String = names.map(|(name, _)| format!("<th scope=\"col\">{}</th>", escape(name))).collect();
    let cell = |value: &i64| format!("<td>{value}</td>");
    let row = |values: &Vec<i64>| format!("<tr>{}</tr>\n", values.iter().map(cell).collect::<String>());
    let rows: String = found.finals().iter().map(row).collect();
    let table = format!(
        "<div class=\"scroll\"><table class=\"finals\"><thead><tr>{head}</tr></thead><tbody>\n{rows}</tbody></table></div>\n"
    );
    section("Final states", "", &table)
}

/// A violation: the run beside the source, why it can happen, and what to do.
fn violated(answer: &Answered<'_>, violated: Violated<'_>) -> String {
    let (task, why) = (answer.task, &answer.found.why);
    let run = ShownRun::of(&task, violated);
    let mut out = paragraph("lead", &format!("Violated: {}", text::violation(task.program, violated)));
    if let Some(cause) = run.cause {
        out += &paragraph("", &format!("{}.", cause.text(task.program)));
    }
    out += &match why.sc_violation {
        Some(true) => paragraph("", "Something is violated under SC as well: no fence helps."),
        Some(false) => hint(answer, ""),
        None => hint(answer, "Whether SC allows a violation as well is not known. "),
    };
    let mut marks = Marks::default();
    let shown = shown_run(&run, "the violation", &mut marks);
    out + &shown.beside(task.program, &marks)
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
struct RunMarkup {
    player: String,
    graph: String,
}

impl RunMarkup {
    /// Its time line beside the marked source, and its graph.
    fn beside(&self, program: &Program, marks: &Marks) -> String {
        let timeline = section("Time line", "", &self.player);
        beside(&marked_source(program, marks), &timeline) + &self.graph
    }
}

/// A violation with its graph; the lines that matter are marked.
fn shown_run(run: &ShownRun<'_>, title: &str, marks: &mut Marks) -> RunMarkup {
    let shown = shown_markup(run, title, marks);
    let claim = run.violation.map(|violation| violation.span(run.program));
    marks.add(claim.and_then(|span| run.program.source.main_line(span)), "claim", "violated");
    shown
}

/// A witness with its graph; the delayed store and the load that it is delayed past are marked.
fn shown_witness(task: &Task<'_>, checked: &CheckedWitness, title: &str, marks: &mut Marks) -> RunMarkup {
    let (program, witness) = (task.program, checked.witness());
    let account = checked.account();
    let run = ShownRun { program, model: task.model, account, violation: None, cause: None };
    let shown = shown_markup(&run, title, marks);
    let told = ToldWitness::new(program, checked);
    let line = |step: usize| program.source.main_line(told.steps()[step].span);
    marks.add(line(witness.store), "cause", "is delayed");
    marks.add(line(witness.overtaker), "cause", "overtakes");
    shown
}

/// The time line of a run, and its happens-before.
pub fn run_parts(run: &ShownRun<'_>, title: &str) -> String {
    let RunMarkup { player, graph } = shown_markup(run, title, &mut Marks::default());
    section("Time line", "", &player) + &graph
}

fn shown_markup(run: &ShownRun<'_>, title: &str, marks: &mut Marks) -> RunMarkup {
    let timeline = Timeline::new(run);
    for (line, words) in timeline.lines() {
        marks.add(Some(line), if words.is_empty() { "touched" } else { "cause" }, words);
    }
    let graph = picture(run);
    let steps = counted(run.account.steps().len(), "step");
    let about = paragraph("muted", &format!("Replayed on the exact machine: {steps}."));
    RunMarkup {
        player: timeline.html(title) + &about,
        graph: if graph.is_empty() { graph } else { section("Happens before", "happens-before", &graph) },
    }
}

/// The source beside what the certificate knows.
fn proved(task: &Task<'_>, certificate: &Certificate) -> String {
    let program = task.program;
    let mut marks = Marks::default();
    for property in &program.properties {
        marks.add(program.source.main_line(property.span), "proved", "holds");
    }
    let claims = program
        .threads
        .iter()
        .flat_map(|thread| thread.locs().filter_map(|loc| thread.location(loc).failure.as_ref()));
    for failure in claims.filter(|failure| matches!(failure.kind, FailureKind::Assertion)) {
        marks.add(program.source.main_line(failure.span), "proved", "holds");
    }
    let known = certificate::certificate(program, &known(task, certificate));
    beside(&marked_source(program, &marks), &section("Certificate", "certificate", &known))
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

/// What an engine did, by name.
fn facts(
    (engine, statistics): (&str, &Statistics),
    seconds: f64,
    peak: usize,
) -> Vec<(&'static str, String)> {
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
    preformatted("Messages", &plain(&diagnostics::render(source, list)))
}

/// Text with its own line breaks.
fn preformatted(label: &str, text: &str) -> String {
    format!(
        "<div class=\"scroll\" role=\"region\" aria-label=\"{label}\" tabindex=\"0\"><pre>{}</pre></div>\n",
        escape(text.trim_end())
    )
}

/// The lines where fences go, marked.
fn mark_fences(program: &Program, points: &[&engine::FencePoint], marks: &mut Marks) {
    for point in points {
        let words = match point.strength {
            Strength::Exchange => "make it a locked exchange".to_string(),
            _ => format!("add {} {}", text::fences::what(point), text::fences::side(point)),
        };
        marks.add(program.source.main_line(point.span), "fence", words);
    }
}
