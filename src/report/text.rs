//! Reports for people.

mod ci;
pub(super) mod fences;
pub(super) mod robust;

pub use fences::name as fence_name;

use super::advice::what_to_try;
use super::{
    Answered, Claimed, Failed, Look, Printed, Report, Said, Section, ShownRun, WalkEnd, Walked, diagnostics,
    litmus, plan, reason_texts, render, table::wrap_text,
};
use crate::numbers::{counted, grouped};
use anstyle::{AnsiColor, Style};
use engine::Explanation;
use evidence::{
    Certificate, CheckedOutcomes, Claim, Form, Goal, Reason, Statistics, Task, Verdict, Violated,
    WithinContexts,
};
use machine::{Model, Violation};
use program::Program;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::PathBuf;

const SAFE: Style = AnsiColor::Green.on_default().bold();
const UNSAFE: Style = AnsiColor::Red.on_default().bold();
const UNKNOWN: Style = AnsiColor::Yellow.on_default().bold();
const ERROR: Style = UNSAFE;
const BOLD: Style = Style::new().bold();

/// The report.
pub const TEXT: Report = Report {
    name: "text",
    about: "for people: a table for every violation",
    form: Form::Text,
    print,
    document: None,
};

pub(super) fn print(said: &Said<'_>, look: &Look) -> Printed {
    Printed::out(match said {
        Said::Failure(failed) => return failure(failed),
        Said::Remark(remark) => return Printed { out: String::new(), err: format!("note: {remark}\n") },
        Said::Warnings(source, warnings) => {
            return Printed { out: String::new(), err: diagnostics::render(source, warnings) };
        }
        Said::Bench(_, tables) => super::bench::text(tables, look),
        Said::Answer(answered) => answer(answered, look),
        Said::Outcome(words, shown) => outcome(words, shown, look),
        Said::Fences(fenced) => fences::text(fenced, look),
        Said::Plan(file, plan) => plan::text(file, plan),
        Said::Claim(claimed) => claim(claimed, look),
        Said::Walk(walked) => walk(walked, look),
        Said::Registries(sections) => registries(sections),
        Said::Compared(compared, shown) => {
            ci::unexpected(compared, &shown.map(|shown| answer(shown, look)).unwrap_or_default())
        }
        Said::Overview(all) => ci::table(all, look),
        Said::Summary(counts) => summary(counts, look),
    })
}

fn answer(answer: &Answered<'_>, look: &Look) -> String {
    let checked = &answer.found.checked;
    let mut out = match (checked.verdict(), checked.outcomes()) {
        (_, Some(found)) => held_text(answer, found, look),
        (Verdict::Safe(certificate), _) => safe(answer, certificate),
        (Verdict::Unsafe(_), _) => {
            checked.violated().map(|run| violated(answer, run, look)).unwrap_or_default()
        }
        (Verdict::Robust(_), _) => robust::robust(answer),
        (Verdict::NotRobust(_), _) => robust::not_robust(answer, look),
        (Verdict::Within(found, _), _) => within(answer, found, look),
        (Verdict::Unknown(_) | Verdict::FinalStates(_), _) => unknown(answer, look),
    };
    files(&mut out, answer.evidence, look);
    out
}

/// How many answers there were of each kind.
fn summary(counts: &[(&'static str, usize)], look: &Look) -> String {
    if look.quiet || counts.is_empty() {
        return String::new();
    }
    let style = |word: &str| match word {
        "safe" | "robust" | "condition holds" | "fences found" | "no fence needed" => SAFE,
        "unknown" => UNKNOWN,
        _ => UNSAFE,
    };
    let count = |(word, count): &(&'static str, usize)| {
        let style = style(word);
        format!("{style}{} {word}{style:#}", grouped(*count))
    };
    let all: usize = counts.iter().map(|(_, count)| count).sum();
    let answers = counts.iter().map(count).collect::<Vec<_>>().join(", ");
    format!("\n{}: {answers}\n", counted(all, "answer"))
}

fn files(out: &mut String, evidence: &[PathBuf], look: &Look) {
    for path in evidence.iter().filter(|_| !look.quiet) {
        let _ = writeln!(out, "evidence: {}", path.display());
    }
}

/// A run to a final state.
fn outcome(words: &str, shown: &Answered<'_>, look: &Look) -> String {
    let Some(violated) = shown.found.checked.violated().filter(|_| !look.quiet) else { return String::new() };
    let mut out = format!("\n{BOLD}{words}{BOLD:#} under {}\n", upper(shown.task.model));
    out.push_str(&explained(&shown.task, violated, None, look));
    if let (Some(under_sc), false) = (shown.found.why.sc_violation, shown.task.model.is_sc()) {
        out.push_str(if under_sc {
            "SC has this outcome, too.\n"
        } else {
            "SC does not have this outcome.\n"
        });
    }
    out
}

/// The final states of a litmus test, and whether its condition holds.
fn held_text(answer: &Answered<'_>, found: &CheckedOutcomes, look: &Look) -> String {
    let program = answer.task.program;
    let (style, word) = held(found);
    let mut out = format!("{}: {style}{word}{style:#} under {}\n", answer.file, upper(answer.task.model));
    if let (Some(question), false) = (&program.question, look.quiet) {
        out.push_str(&litmus::text(program, question, found));
    }
    out
}

fn failure(failed: &Failed<'_>) -> Printed {
    let mut err = failed.source.map(|s| diagnostics::render(s, failed.diagnostics)).unwrap_or_default();
    let model = failed.model.map(|model| format!(" under {}", upper(model))).unwrap_or_default();
    if failed.stopped {
        let out = format!("{}: {UNKNOWN}unknown{UNKNOWN:#}{model}: {}\n", failed.file, failed.reason);
        return Printed { out, err };
    }
    let _ = writeln!(err, "{ERROR}error{ERROR:#}: {}{model}: {}", failed.file, failed.reason);
    Printed { out: String::new(), err }
}

fn claim(claimed: &Claimed<'_>, look: &Look) -> String {
    let (file, program) = (claimed.file, claimed.program);
    let proved = |answer: String, states: usize, and: &str| {
        let states = counted(states, "state");
        format!("{file}: the evidence holds: {answer}\nchecked: {states}, {and}\n")
    };
    match claimed.claim {
        Claim::Safe(model, states) => proved(
            format!("{SAFE}safe{SAFE:#} under {}{}", upper(*model), assuming(program)),
            *states,
            "none violates anything and every successor is among them",
        ),
        Claim::Within(model, contexts, states) => {
            let contexts = counted(*contexts, "context");
            proved(
                format!("{UNKNOWN}no violation within {contexts}{UNKNOWN:#} under {}", upper(*model)),
                *states,
                "none violates anything and every successor within that bound is among them",
            )
        }
        Claim::Robust(model, states) => proved(
            format!("{SAFE}robust{SAFE:#} against {}{}", upper(*model), assuming(program)),
            *states,
            "and no delayed store shows in any of them",
        ),
        Claim::Unsafe(model, checked) => {
            let Some(violated) = checked.violated() else { return String::new() };
            let (task, claim) = (Task::safe(program, *model), violation(program, violated));
            let model = upper(*model);
            let mut out =
                format!("{file}: the evidence holds: {UNSAFE}unsafe{UNSAFE:#} under {model}: {claim}\n");
            if !look.quiet {
                out.push_str(&explained(&task, violated, claimed.why.sc_violation, look));
                out.push_str(&advice(&task, claimed.why, look));
            }
            out
        }
        Claim::NotRobust(model, checked) => robust::claim(claimed, *model, checked, look),
        Claim::Outcomes(model, found) => {
            let (style, word) = held(found);
            let mut out = proved(
                format!("the condition {style}{word}{style:#} under {}", upper(*model)),
                found.states(),
                "and none that a final state needs is missing",
            );
            if let (Some(question), false) = (&program.question, look.quiet) {
                out.push_str(&litmus::text(program, question, found));
            }
            out
        }
    }
}

fn walk(walked: &Walked<'_>, look: &Look) -> String {
    let mut out = String::new();
    let shown = walked.walks.all == 1 || walked.violation.is_some();
    if shown && !look.quiet {
        let (program, model, account) = (walked.program, walked.model, walked.account);
        let violation = walked.violation.map(|violated| violated.trace.violation);
        let run = ShownRun { program, model, account, violation, cause: None };
        let _ = writeln!(out, "{}", render(&run, look.width));
    }
    let steps = counted(walked.account.steps().len(), "step");
    let model = upper(walked.model);
    let file = walked.file;
    let walks = &walked.walks;
    let _ = match (walked.violation, walked.end) {
        (Some(violated), _) => {
            let by = match walked.seed {
                Some(seed) => format!("by walk {}, with seed {seed}", grouped(walks.all)),
                None => "by the evidence".to_string(),
            };
            writeln!(
                out,
                "{file}: {UNSAFE}violated{UNSAFE:#} under {model}: {}\n{by}: {steps}, replayed on the exact machine",
                violation(walked.program, violated),
            )
        }
        (None, _) if walks.all > 1 => writeln!(
            out,
            "{file}: {} under {model}, nothing violated: {} ended, {} blocked, {} cut short",
            counted(walks.all, "walk"),
            grouped(walks.ended),
            grouped(walks.blocked),
            grouped(walks.all - walks.ended - walks.blocked),
        ),
        (None, end) => writeln!(
            out,
            "{file}: {}: {}; nothing violated",
            match walked.seed {
                Some(seed) => format!("a walk of {steps} under {model} with seed {seed}"),
                None => format!("the run of the evidence, {steps} under {model}"),
            },
            match end {
                WalkEnd::Ended => "all threads ended",
                WalkEnd::Blocked => "no thread can take a step",
                WalkEnd::Cut | WalkEnd::Violated => "cut short",
            }
        ),
    };
    out
}

fn registries(sections: &[Section]) -> String {
    let mut out = String::new();
    let width = |s: &Section| s.entries.iter().map(|(name, _)| name.len()).max();
    let width = sections.iter().filter_map(width).max().unwrap_or(0);
    for (at, section) in sections.iter().enumerate() {
        let gap = if at > 0 { "\n" } else { "" };
        let _ = writeln!(out, "{gap}{BOLD}{}{BOLD:#}", section.title);
        for (name, about) in &section.entries {
            let _ = writeln!(out, "  {name:<width$}  {about}");
        }
    }
    out
}

/// Whether the condition of a litmus test holds, and how that looks.
fn held(found: &CheckedOutcomes) -> (Style, &'static str) {
    match found.holds() {
        Some(true) => (SAFE, "holds"),
        Some(false) => (UNSAFE, "does not hold"),
        None => (UNKNOWN, "unknown"),
    }
}

pub(super) fn upper(model: Model) -> String {
    model.name().to_uppercase()
}

fn safe(answer: &Answered<'_>, certificate: &Certificate) -> String {
    let (file, found) = (answer.file, answer.found);
    let how = proof(certificate, &found.statistics);
    let model = upper(answer.task.model);
    let assuming = assuming(answer.task.program);
    format!("{file}: {SAFE}safe{SAFE:#} under {model}{assuming}: {how} (engine: {})\n", found.engine)
}

/// What a proof takes for granted, each thing once with its lines; nothing for most programs.
pub(super) fn assuming(program: &Program) -> String {
    let mut assumed: Vec<(&str, BTreeSet<usize>)> = Vec::new();
    for assumption in &program.assumptions {
        let text = assumption.text.as_str();
        let line = program.source.line(assumption.span);
        match assumed.iter_mut().find(|(known, _)| *known == text) {
            Some((_, lines)) => lines.extend(line),
            None => assumed.push((text, line.into_iter().collect())),
        }
    }
    let mut out = String::new();
    for (text, lines) in assumed {
        let word = if lines.len() == 1 { "line" } else { "lines" };
        let lines: Vec<String> = lines.iter().map(usize::to_string).collect();
        let _ = write!(out, ", assuming {text} in {word} {}", lines.join(", "));
    }
    out
}

/// How a program was proved safe.
pub(super) fn proof(certificate: &Certificate, statistics: &Statistics) -> String {
    let how = certificate.how(statistics);
    format!("{how}; certificate checked")
}

fn violated(answer: &Answered<'_>, violated: Violated<'_>, look: &Look) -> String {
    let (program, found) = (answer.task.program, answer.found);
    let (claim, model) = (violation(program, violated), upper(answer.task.model));
    let mut out = format!("{}: {UNSAFE}unsafe{UNSAFE:#} under {model}: {claim}\n", answer.file);
    if !look.quiet {
        out.push_str(&explained(&answer.task, violated, found.why.sc_violation, look));
        out.push_str(&advice(&answer.task, &found.why, look));
        if found.why.sc_violation.is_none() {
            out.push_str(&prose("Whether SC allows a violation as well is not known.", look));
        }
        let steps = counted(violated.trace.steps.len(), "step");
        let engine = found.engine;
        out.push_str(&prose(
            &format!("checked: replayed {steps} on the exact machine (engine: {engine})"),
            look,
        ));
    }
    out
}

/// The run as a table, and in a sentence why it can happen.
fn explained(task: &Task<'_>, violated: Violated<'_>, sc_violation: Option<bool>, look: &Look) -> String {
    let shown = ShownRun::of(task, violated);
    let mut out = format!("\n{}\n", render(&shown, look.width));
    match (shown.cause, sc_violation) {
        (_, Some(true)) if task.model.is_sc() => {
            out.push_str(&prose("Under SC nothing is delayed: no fence helps.", look));
        }
        (_, Some(true)) => out.push_str(&prose("This happens under SC as well: no fence helps.", look)),
        (Some(cause), _) => out.push_str(&prose(&format!("{}.", cause.text(task.program)), look)),
        (None, _) => {}
    }
    out
}

/// Which fence would have prevented the run.
fn advice(task: &Task<'_>, why: &Explanation, look: &Look) -> String {
    let sentence = |point| format!("A {} prevents this run.", fences::name(task.program, point));
    why.prevented_by.as_ref().map(|point| prose(&sentence(point), look)).unwrap_or_default()
}

/// A sentence in lines. What belongs together stays together: `(line 9)`, `x = 1`.
fn prose(text: &str, look: &Look) -> String {
    let tied = text.replace("(line ", "(line\u{a0}").replace(" = ", "\u{a0}=\u{a0}");
    wrap_text(&tied, look.width.max(20)).join("\n").replace('\u{a0}', " ") + "\n"
}

/// The violated claim, with its place if it stands inside a thread.
pub(super) fn violation(program: &Program, violated: Violated<'_>) -> String {
    let violation = violated.trace.violation;
    let mut text = violation.text(program);
    let Violation::Failure(thread, _) = violation else { return text };
    let end = violated.account.passed().last();
    if let Some(index) = end.and_then(|end| violation.index(program, |t, r| end.register(t, r))) {
        let _ = write!(text, ": the index is {index}");
    }
    let thread = &program.thread(thread).name;
    match program.source.place(violation.span(program)) {
        Some(line) => format!("{text} ({thread}, line {line})"),
        None => format!("{text} ({thread})"),
    }
}

/// No violation within a number of contexts; what is beyond is not known.
fn within(answer: &Answered<'_>, found: &WithinContexts, look: &Look) -> String {
    let (program, model) = (answer.task.program, upper(answer.task.model));
    let contexts = counted(found.contexts(), "context");
    let mut out = format!(
        "{}: {UNKNOWN}unknown{UNKNOWN:#} under {model}, but no violation within {contexts}{}, {}; \
         certificate checked (engine: {})\n",
        answer.file,
        assuming(program),
        found.how(),
        answer.found.engine,
    );
    let beyond = |reason: &&Reason| !matches!(reason, Reason::ContextsBeyond(_));
    let beyond: Vec<Reason> = answer.found.checked.reasons().iter().filter(beyond).copied().collect();
    if !look.quiet && !beyond.is_empty() {
        let _ = write!(out, "beyond that bound: {}", unknown_reasons(&reason_texts(program, &beyond)));
    }
    out
}

fn unknown(answer: &Answered<'_>, look: &Look) -> String {
    let (model, statistics) = (upper(answer.task.model), &answer.found.statistics);
    let reasons = unknown_reasons(&reason_texts(answer.task.program, answer.found.checked.reasons()));
    let (asked, nothing) = match answer.task.goal {
        Goal::Robust => (format!("whether robust against {model}"), "no witness among them"),
        _ => (format!("under {model}"), "none of them violates anything"),
    };
    let mut out = format!("{}: {UNKNOWN}unknown{UNKNOWN:#} {asked}: {reasons}", answer.file);
    if !look.quiet {
        let bound = match statistics.k {
            Some(bound) => format!(", store buffers up to {}", entries(bound)),
            None => String::new(),
        };
        let states = counted(statistics.states, "state");
        let _ = writeln!(out, "explored so far: {states} in {:.1} s{bound}; {nothing}", answer.seconds);
        for text in what_to_try(answer.found.checked.reasons()) {
            let _ = writeln!(out, "try: {text}");
        }
    }
    out
}

/// Reasons, the first on the line that was begun.
fn unknown_reasons(reasons: &[String]) -> String {
    let (first, rest) = match reasons.split_first() {
        Some((first, rest)) => (first.as_str(), rest),
        None => ("no reason is known", &[][..]),
    };
    let rest: String = rest.iter().map(|reason| format!("  and {reason}\n")).collect();
    format!("{first}\n{rest}")
}

fn entries(count: usize) -> String {
    if count == 1 { "1 entry".to_string() } else { format!("{} entries", grouped(count)) }
}
