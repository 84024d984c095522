//! An answer of `fence`: the fences as a difference, and what happens without each.

use super::certificate::certificate as table;
use super::diff::{Change, diff};
use super::page::{Piece, Tone};
use super::source::{Marks, source};
use super::{beside, facts, mark_fences, paragraph, proved, section, shown_run, statistics, warnings};
use crate::numbers::counted;
use crate::report::Run;
use crate::report::fences::{Fenced, thread_names};
use crate::report::markup::{escape, prose};
use crate::report::{reason_texts, text};
use engine::{FenceAnswer, FencePoint, NeededFence, Placed};
use evidence::{Checked, Task, Verdict, known};
use machine::SC;
use program::Program;
use std::fmt::Write;

/// Lines of the source around a change.
const AROUND: usize = 3;

/// The answer. `fenced_text` is the program's text with the fences in it, or why there is none.
pub fn fences(fenced: &Fenced<'_>, fenced_text: Option<&Result<String, String>>) -> Piece {
    let (task, program) = (fenced.task, fenced.task.program);
    let (word, tone, mut body) = match fenced.answer() {
        FenceAnswer::Placed(placed) if placed.fences.is_empty() => {
            let lead = paragraph("lead", "It is safe as it is: no fence is needed.");
            ("no fence is needed", Tone::Good, lead + &proof_of(&task, placed, true))
        }
        FenceAnswer::Placed(placed) => ("fences found", Tone::Good, placed_html(fenced, placed, fenced_text)),
        FenceAnswer::UnsafeUnderSc(checked) => {
            let under_sc = Task { model: SC, ..task };
            let lead = "It is unsafe under SC already, where fences change nothing.";
            ("no fence helps", Tone::Bad, violated(&under_sc, checked, true, lead))
        }
        FenceAnswer::NoCandidate(found) => {
            let (program, checked) = &**found;
            let lead = "Fences at all points that may have one do not prevent this.";
            ("no fence helps", Tone::Bad, violated(&Task { program, ..task }, checked, false, lead))
        }
        FenceAnswer::Unknown(reasons) => {
            let reasons = reason_texts(program, reasons).join("; ");
            let shown = section("Source", "", &source(&program.source, &Marks::default()));
            ("unknown", Tone::Open, paragraph("lead", &reasons) + &shown)
        }
        FenceAnswer::Rejected(why) => ("error", Tone::Failed, paragraph("lead", &why.to_string())),
    };
    let found = fenced.found;
    let mut facts = facts(found.engine, &found.statistics, fenced.seconds, fenced.peak);
    facts.push(("Questions to the engine", found.questions.to_string()));
    facts.extend(fenced.evidence.iter().map(|path| ("Evidence", path.display().to_string())));
    body += &statistics(facts);
    body += &warnings(&program.source, fenced.warnings);
    Piece { file: fenced.file.to_string(), model: Some(text::upper(task.model)), word, tone, body }
}

fn placed_html(fenced: &Fenced<'_>, placed: &Placed, fenced_text: Option<&Result<String, String>>) -> String {
    let program = fenced.task.program;
    let points: Vec<&FencePoint> = placed.fences.iter().map(|fence| &fence.point).collect();
    let (count, verb) = text::fences::counts(program, &points);
    let lead = format!("{count} {verb} it safe. That costs {}, and no cheaper set will do.", placed.cost);
    let mut out = paragraph("lead", &lead) + &list(program, &points);
    if let Some(change) = fenced_text {
        out += &section("Suggested change", "", &difference(program, change));
    }
    out += &alternatives(program, placed);
    out += &without_each(fenced, placed, &points);
    out + &proof_of(&fenced.task, placed, false)
}

/// One item a place.
fn list(program: &Program, points: &[&FencePoint]) -> String {
    let item = |point: &&FencePoint| {
        let place = text::fences::place(program, point);
        let threads = thread_names(program, point).join(", ");
        format!("<li>{}</li>", prose(&format!("{place}: {} ({threads})", text::fences::what(point))))
    };
    format!("<ul>{}</ul>\n", points.iter().map(item).collect::<String>())
}

fn alternatives(program: &Program, placed: &Placed) -> String {
    let Some(sets) = &placed.alternatives else { return String::new() };
    let mut out = String::new();
    for (at, set) in sets.iter().enumerate() {
        let _ = write!(out, "<h4>Set {}</h4>\n{}", at + 2, list(program, &set.iter().collect::<Vec<_>>()));
    }
    if sets.is_empty() {
        out += &paragraph("", "There is no other set at this cost.");
    }
    for reason in reason_texts(program, &placed.missing) {
        out += &paragraph("muted", &format!("There may be more sets at this cost: {reason}."));
    }
    section("Other sets at the same cost", "", &out)
}

/// The text as it is and as it should be.
fn difference(program: &Program, fenced: &Result<String, String>) -> String {
    let text = match fenced {
        Ok(text) => text,
        Err(why) => return paragraph("muted", &format!("{why}.")),
    };
    let mut out =
        "<div class=\"diff\" role=\"region\" aria-label=\"Suggested change\" tabindex=\"0\">\n".to_string();
    for change in diff(program.source.text(), text, AROUND) {
        let (class, sign, number, line) = match change {
            Change::Same(_, number, line) => ("same", " ", number, line),
            Change::Gone(number, line) => ("gone", "−", number, line),
            Change::New(number, line) => ("new", "+", number, line),
            Change::Skipped(count) => {
                let _ =
                    writeln!(out, "<div class=\"omitted muted\">{}</div>", counted(count, "unchanged line"));
                continue;
            }
        };
        let _ = writeln!(
            out,
            "<div class=\"line {class}\"><span class=\"line-number\">{number}</span>\
             <span class=\"sign\">{sign}</span><code>{}</code></div>",
            escape(line)
        );
    }
    out + "</div>\n"
}

/// For each fence the run that becomes possible without it, to be chosen by buttons.
fn without_each(fenced: &Fenced<'_>, placed: &Placed, points: &[&FencePoint]) -> String {
    let program = fenced.task.program;
    let mut marks = Marks::default();
    mark_fences(program, points, &mut marks);
    let (mut tabs, mut runs, mut graphs) = (String::new(), String::new(), String::new());
    for (at, fence) in placed.fences.iter().enumerate() {
        let name = prose(&text::fences::name(program, &fence.point));
        let _ = writeln!(tabs, "<button type=\"button\" data-choice=\"{at}\">Without the {name}</button>");
        let (run, graph) = without(fenced, fence, &mut marks);
        let _ = writeln!(
            runs,
            "<div class=\"choice\" data-choice=\"{at}\">\n<h4>Without the {name}</h4>\n{run}</div>"
        );
        let _ = writeln!(graphs, "<div class=\"choice\" data-choice=\"{at}\">{graph}</div>");
    }
    let tabs = match placed.fences.len() {
        1 => String::new(),
        _ => format!(
            "<div class=\"tabs\" role=\"group\" aria-label=\"Which fence is missing\" hidden>\n{tabs}</div>\n"
        ),
    };
    let shown = section("Why each is needed", "", &(tabs + &runs));
    let source = section("Source", "", &source(&program.source, &marks));
    format!("<div class=\"choices\">\n{}{graphs}</div>\n", beside(&source, &shown))
}

fn without(fenced: &Fenced<'_>, fence: &NeededFence, marks: &mut Marks) -> (String, String) {
    let nothing = || (paragraph("", "No violation was found within the limits."), String::new());
    let Some((program, checked)) = &fence.without else { return nothing() };
    let Some(violated) = checked.violated() else { return nothing() };
    let claim = text::violation(program, violated);
    let mut out = paragraph("", &format!("Violated: {claim}"));
    if let Some(cause) = violated.cause {
        out += &paragraph("", &format!("{}.", cause.text(program)));
    }
    let task = Task { program, ..fenced.task };
    let title = format!("without the {}", text::fences::name(program, &fence.point));
    let shown = shown_run(&Run::of(&task, violated, None), &title, marks);
    (out + &shown.player, shown.graph)
}

fn violated(task: &Task<'_>, checked: &Checked, under_sc: bool, lead: &str) -> String {
    let Some(violated) = checked.violated() else { return String::new() };
    let program = task.program;
    let claim = text::violation(program, violated);
    let mut marks = Marks::default();
    let shown = shown_run(&Run::of(task, violated, Some(under_sc)), "the violation", &mut marks);
    let source = section("Source", "", &source(&program.source, &marks));
    let columns = beside(&source, &section("Time line", "", &shown.player));
    paragraph("lead", lead) + &paragraph("", &format!("Violated: {claim}")) + &columns + &shown.graph
}

/// What is known of the program with the fences in it, perhaps beside its source.
fn proof_of(task: &Task<'_>, placed: &Placed, with_source: bool) -> String {
    let Verdict::Safe(certificate) = placed.proof.verdict() else { return String::new() };
    let task = Task { program: &placed.program, ..*task };
    if with_source {
        return proved(&task, certificate);
    }
    let known = known(&task, certificate);
    section("Certificate, with the fences", "certificate", &table(task.program, &known))
}
