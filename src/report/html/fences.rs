//! An answer of `fence`: the fences as a difference, and what happens without each.

use super::certificate::certificate as table;
use super::diff::{DiffLine, diff};
use super::page::{Piece, Tone};
use super::source::Marks;
use super::{
    beside, facts, mark_fences, marked_source, not_robust, paragraph, piece, plain_source, proved, section,
    shown_run, shown_witness, statistics, unknown, warnings,
};
use crate::numbers::counted;
use crate::report::ShownRun;
use crate::report::fences::{Fenced, thread_names};
use crate::report::markup::{escape, prose};
use crate::report::witness::{ToldWitness, sentence};
use crate::report::{reason_texts, text};
use engine::{FenceAnswer, FencePoint, FencedRun, NeededFence, Placed};
use evidence::{Checked, Goal, Task, Verdict, known};
use machine::SC;
use program::Program;
use std::fmt::Write;

/// Lines of the source around a change.
const AROUND: usize = 3;

/// The answer.
pub fn fences(fenced: &Fenced<'_>) -> Piece {
    let (task, program, found) = (fenced.task, fenced.task.program, fenced.found);
    let (word, tone, mut body) = match &found.answer {
        FenceAnswer::Placed(placed) if placed.fences.is_empty() => {
            let assuming = text::assuming(program);
            let lead =
                format!("It is {} as it is{assuming}: no fence is needed.", text::fences::aim(&task).0);
            let lead = paragraph("lead", &lead);
            ("no fence is needed", Tone::Good, lead + &proof_of(&task, placed, true))
        }
        FenceAnswer::Placed(placed) => ("fences found", Tone::Good, placed_html(fenced, placed)),
        FenceAnswer::UnsafeUnderSc(checked) => {
            let under_sc = Task { model: SC, ..task };
            let lead = "It is unsafe under SC already, where fences change nothing.";
            ("no fence helps", Tone::Bad, violated(&under_sc, checked, lead))
        }
        FenceAnswer::NoCandidate(run) => {
            let FencedRun { program, checked } = &**run;
            let task = Task { program, ..task };
            let lead = "Fences at all points that may have one do not prevent this.";
            let body = match checked.witness() {
                Some(witness) => paragraph("lead", lead) + &not_robust(&task, witness),
                None => violated(&task, checked, lead),
            };
            ("no fence helps", Tone::Bad, body)
        }
        FenceAnswer::Unknown(reasons) => ("unknown", Tone::Open, unknown(program, reasons)),
    };
    let mut facts = facts((found.engine, &found.statistics), fenced.seconds, fenced.peak);
    facts.push(("Questions to the engine", found.questions.to_string()));
    facts.extend(fenced.evidence.iter().map(|path| ("Evidence", path.display().to_string())));
    body += &statistics(facts);
    body += &warnings(&program.source, fenced.warnings);
    Piece { against: false, ..piece(fenced.file, &task, word, tone, body) }
}

fn placed_html(fenced: &Fenced<'_>, placed: &Placed) -> String {
    let program = fenced.task.program;
    let points: Vec<&FencePoint> = placed.fences.iter().map(|fence| &fence.point).collect();
    let (count, verb) = text::fences::counts(program, &points);
    let ((aim, _), cost) = (text::fences::aim(&fenced.task), placed.cost);
    let assuming = text::assuming(program);
    let lead = format!("{count} {verb} it {aim}{assuming}. That costs {cost}, and no cheaper set will do.");
    let mut out = paragraph("lead", &lead) + &list(program, &points);
    if fenced.task.goal == Goal::Robust {
        out += &paragraph("", text::robust::comparison(program, placed, fenced.safety).trim_end());
    }
    if let Some(change) = fenced.text {
        out += &section("Suggested change", "", &difference(program, change));
    }
    out += &alternatives(program, placed);
    out += &without_each(fenced, placed, &points);
    out + &proof_of(&fenced.task, placed, false)
}

/// One item per place.
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
    for change in diff(program.source.main(), text, AROUND) {
        let (class, sign, number, line) = match change {
            DiffLine::Same(_, number, line) => ("same", " ", number, line),
            DiffLine::Gone(number, line) => ("gone", "−", number, line),
            DiffLine::New(number, line) => ("new", "+", number, line),
            DiffLine::Skipped(count) => {
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
    let columns = beside(&marked_source(program, &marks), &shown);
    format!("<div class=\"choices\">\n{columns}{graphs}</div>\n")
}

fn without(fenced: &Fenced<'_>, fence: &NeededFence, marks: &mut Marks) -> (String, String) {
    let nothing = || (paragraph("", "Nothing was found within the limits."), String::new());
    let Some(FencedRun { program, checked }) = &fence.without else { return nothing() };
    let task = Task { program, ..fenced.task };
    let title = format!("without the {}", text::fences::name(program, &fence.point));
    let (out, shown) = match (checked.violated(), checked.witness()) {
        (_, Some(witness)) => {
            let said = sentence(&ToldWitness::new(program, witness));
            (paragraph("", &format!("{said}.")), shown_witness(&task, witness, &title, marks))
        }
        (Some(violated), _) => {
            let claim = text::violation(program, violated);
            let mut out = paragraph("", &format!("Violated: {claim}"));
            if let Some(cause) = violated.cause {
                out += &paragraph("", &format!("{}.", cause.text(program)));
            }
            (out, shown_run(&ShownRun::of(&task, violated), &title, marks))
        }
        _ => return nothing(),
    };
    (out + &shown.player, shown.graph)
}

fn violated(task: &Task<'_>, checked: &Checked, lead: &str) -> String {
    let Some(violated) = checked.violated() else { return String::new() };
    let program = task.program;
    let claim = text::violation(program, violated);
    let mut marks = Marks::default();
    let shown = shown_run(&ShownRun::of(task, violated), "the violation", &mut marks);
    let lead = paragraph("lead", lead) + &paragraph("", &format!("Violated: {claim}"));
    lead + &shown.beside(program, &marks)
}

/// What is known of the program with the fences in it, perhaps beside its source.
fn proof_of(task: &Task<'_>, placed: &Placed, with_source: bool) -> String {
    let task = Task { program: &placed.program, ..*task };
    match (placed.proof.verdict(), with_source) {
        (Verdict::Safe(certificate), true) => proved(&task, certificate),
        (Verdict::Safe(certificate), false) => {
            let known = known(&task, certificate);
            section("Certificate, with the fences", "certificate", &table(task.program, &known))
        }
        (_, true) => plain_source(task.program),
        _ => String::new(),
    }
}
