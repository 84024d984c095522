//! Which fences, for people.

use super::{
    SAFE, UNKNOWN, UNSAFE, assuming, explained, files, proof, prose, robust, unknown_reasons, upper,
    violation,
};
use crate::numbers::counted;
use crate::report::fences::{Fenced, WithoutFences, kind, statement_of, thread_names};
use crate::report::steps::line_before;
use crate::report::{Look, reason_texts};
use engine::{FenceAnswer, FencePoint, FencedRun, NeededFence, Placed};
use evidence::{Checked, Goal, Reason, Task, Verdict};
use machine::SC;
use program::{Program, Span, Strength, ThreadId};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The report.
pub fn text(fenced: &Fenced<'_>, look: &Look) -> String {
    let (file, task) = (fenced.file, fenced.task);
    let goal = aim(&task);
    let mut out = match &fenced.found.answer {
        FenceAnswer::Placed(placed) => placed_text(fenced, placed, look),
        FenceAnswer::UnsafeUnderSc(checked) => {
            let under_sc = Task { model: SC, ..task };
            let head = format!("{file}: {UNSAFE}no fence helps{UNSAFE:#}: unsafe under SC: ");
            head + &violated(&under_sc, checked, true, look)
        }
        FenceAnswer::NoCandidate(found) => no_candidate(fenced, found, look),
        FenceAnswer::Unknown(reasons) => {
            let asked = if task.goal == Goal::Robust { "whether robust " } else { "" };
            let head = format!("{file}: {UNKNOWN}unknown{UNKNOWN:#} {asked}{}: ", goal.1);
            head + &unknown_reasons(&reason_texts(task.program, reasons))
        }
    };
    out += &within_text(fenced);
    files(&mut out, fenced.evidence, look);
    out
}

/// The fences that keep store buffers within a bound besides.
fn within_text(fenced: &Fenced<'_>) -> String {
    let program = fenced.task.program;
    match fenced.within {
        None => String::new(),
        Some(Err(reasons)) => {
            let reasons = reason_texts(program, reasons).join("; ");
            format!("with an overflow of store buffers counted as a violation: unknown: {reasons}\n")
        }
        Some(Ok(within)) => {
            let points: Vec<&FencePoint> = within.fences.iter().collect();
            let k = within.k;
            let bound = format!("so that besides no store buffer holds more than {}", counted(k, "store"));
            if points.is_empty() {
                return format!("{bound}: no fence is needed\n");
            }
            let (fences, _) = counts(program, &points);
            format!("{bound}: {fences} (cost {})\n{}", within.cost, list(program, &points))
        }
    }
}

/// What fences are for: `safe` and `under TSO`.
pub(in crate::report) fn aim(task: &Task<'_>) -> (&'static str, String) {
    match task.goal {
        Goal::Robust => ("robust", format!("against {}", upper(task.model))),
        _ => ("safe", format!("under {}", upper(task.model))),
    }
}

fn placed_text(fenced: &Fenced<'_>, placed: &Placed, look: &Look) -> String {
    let (file, program) = (fenced.file, fenced.task.program);
    let (word, model) = aim(&fenced.task);
    let assuming = assuming(program);
    let points: Vec<&FencePoint> = placed.fences.iter().map(|fence| &fence.point).collect();
    let is_robust = fenced.task.goal == Goal::Robust;
    if let Some(relaxed) = fenced.relaxed {
        let rest = if look.quiet { String::new() } else { needs(fenced, placed, look) };
        return relaxed_text(fenced, placed, &relaxed) + &rest;
    }
    let mut out = if points.is_empty() {
        let checked = if is_robust { robust::checked(fenced.task.model) } else { "" };
        format!("{file}: {SAFE}no fence is needed{SAFE:#}: {word} {model}{assuming}{checked}\n")
    } else {
        let (fences, verb) = counts(program, &points);
        let cost = placed.cost;
        let head = format!("{file}: {SAFE}{fences}{SAFE:#} {verb} it {word} {model}{assuming}");
        head + &format!(" (cost {cost}, optimal)\n")
            + &list(program, &points)
            + &alternatives(program, placed.alternatives.as_deref(), &placed.missing)
    };
    out += &not_needed(program, fenced.not_needed, points.is_empty());
    if is_robust {
        out += &robust::comparison(program, placed, fenced.safety);
    }
    match (look.quiet, is_robust) {
        (true, _) => {}
        (false, true) => out += &robust::needs(program, placed, fenced.found, fenced.task.model, look),
        (false, false) => out += &needs(fenced, placed, look),
    }
    out
}

/// Fences of the program that could go.
fn not_needed(program: &Program, places: &[Span], alone: bool) -> String {
    let with = if alone { "" } else { "with these, " };
    let line = |place: &Span| {
        let line = program.source.place(*place).map(|line| format!(" in line {line}")).unwrap_or_default();
        format!("{with}the fence{line} is not needed\n")
    };
    let more =
        if places.len() > 1 { "each by itself: `fence --relax` tells which can go together\n" } else { "" };
    places.iter().map(line).collect::<String>() + more
}

/// Which of its own fences a program needs.
fn relaxed_text(fenced: &Fenced<'_>, placed: &Placed, relaxed: &WithoutFences<'_>) -> String {
    let (file, program) = (fenced.file, fenced.task.program);
    let (word, model) = aim(&fenced.task);
    let (kept, gone) = (placed.fences.len(), relaxed.gone.len());
    let head = match (kept, gone) {
        (0, 0) if relaxed.fixed.is_empty() => {
            format!("{file}: {SAFE}there is no fence{SAFE:#} that could go: {word} {model}\n")
        }
        (0, 0) => format!("{file}: {SAFE}no fence can be taken out{SAFE:#} of this text: {word} {model}\n"),
        (1, 0) => format!("{file}: {SAFE}the one fence is needed{SAFE:#} {model}"),
        (_, 0) => format!("{file}: {SAFE}all {} are needed{SAFE:#} {model}", counted(kept, "fence")),
        (0, _) => {
            format!("{file}: {SAFE}none of {} is needed{SAFE:#}: {word} {model}", counted(gone, "fence"))
        }
        _ => format!(
            "{file}: {SAFE}{kept} of {} {} needed{SAFE:#}: {word} {model} without the others",
            counted(kept + gone, "fence"),
            if kept == 1 { "is" } else { "are" }
        ),
    };
    if kept + gone == 0 {
        return head + &not_edited(program, relaxed.fixed);
    }
    let assuming = assuming(program);
    let mut out = format!("{head}{assuming} (cost {} of {}, optimal)\n", placed.cost, relaxed.before);
    let mut all: Vec<(&FencePoint, &str)> =
        placed.fences.iter().map(|fence| (&fence.point, "needed")).collect();
    all.extend(relaxed.gone.iter().map(|point| (point, "not needed")));
    all.sort_by_key(|(point, _)| (point.span, point.strength));
    for (point, what) in all {
        let line = line_before(program, point.span);
        let threads = thread_names(program, point).join(", ");
        let _ = writeln!(out, "  {line}`{}`: {what} ({threads})", statement_of(program, point));
    }
    out + &not_edited(program, relaxed.fixed)
}

/// Fences that stay because of where they are written.
fn not_edited(program: &Program, fences: &[(Span, String)]) -> String {
    let line = |(place, why): &(Span, String)| {
        format!("  {}`{}`: kept, {why}\n", line_before(program, *place), program.source.snippet(*place))
    };
    fences.iter().map(line).collect()
}

/// What happens without each fence, and the proof that with all of them nothing does.
fn needs(fenced: &Fenced<'_>, placed: &Placed, look: &Look) -> String {
    let Verdict::Safe(certificate) = placed.proof.verdict() else { return String::new() };
    let proof = proof(certificate, &fenced.found.statistics);
    if placed.fences.is_empty() {
        return format!("checked: {proof}\n");
    }
    let mut out = String::new();
    for (at, fence) in placed.fences.iter().enumerate() {
        let _ = write!(out, "\n{}", without(fenced, fence, at == 0, look));
    }
    let asked = counted(fenced.found.questions, "question");
    let _ = writeln!(out, "\nchecked: with the fences, {proof} ({asked} to the engine)");
    out
}

fn no_candidate(fenced: &Fenced<'_>, found: &FencedRun, look: &Look) -> String {
    let (_, model) = aim(&fenced.task);
    let head = format!("{}: {UNSAFE}no fence helps{UNSAFE:#} at these points {model}", fenced.file);
    if let Some(witness) = found.checked.witness() {
        return robust::shown(&head, &found.program, witness, look);
    }
    let task = Task { program: &found.program, ..fenced.task };
    format!("{head}: {}", violated(&task, &found.checked, false, look))
}

/// How many fences, and where: `1 fence in each of 2 threads`, and the verb that goes with it.
pub(in crate::report) fn counts(program: &Program, points: &[&FencePoint]) -> (String, &'static str) {
    let mut threads: BTreeMap<ThreadId, BTreeMap<Strength, usize>> = BTreeMap::new();
    let mut sum: BTreeMap<Strength, usize> = BTreeMap::new();
    for point in points {
        for thread in point.threads() {
            *threads.entry(thread).or_default().entry(point.strength).or_default() += 1;
            *sum.entry(point.strength).or_default() += 1;
        }
    }
    let first = threads.iter().next();
    let each = first.map(|(_, kinds)| kinds).filter(|first| threads.values().all(|kinds| kinds == *first));
    let verb = if each.unwrap_or(&sum).values().sum::<usize>() == 1 { "makes" } else { "make" };
    let count = counted(threads.len(), "thread");
    let phrase = match (first, each) {
        (Some((thread, kinds)), _) if threads.len() == 1 => {
            format!("{} in {}", nouns(kinds), program.thread(*thread).name)
        }
        (_, Some(each)) => format!("{} in each of {count}", nouns(each)),
        _ => format!("{} in {count}", nouns(&sum)),
    };
    (phrase, verb)
}

/// `1 full fence and 2 store fences`
fn nouns(kinds: &BTreeMap<Strength, usize>) -> String {
    let mixed = kinds.len() > 1;
    let noun = |strength: &Strength| match kind(*strength) {
        "swap" => "locked exchange",
        "store" => "store fence",
        _ if mixed => "full fence",
        _ => "fence",
    };
    let words: Vec<String> = kinds.iter().map(|(kind, count)| counted(*count, noun(kind))).collect();
    words.join(" and ")
}

/// One line per place.
pub fn list(program: &Program, points: &[&FencePoint]) -> String {
    let line = |point: &&FencePoint| {
        let threads = thread_names(program, point).join(", ");
        format!("  {}: {} ({threads})\n", place(program, point), what(point))
    };
    points.iter().map(line).collect()
}

/// Where, like "line 11, after `turn = 1 - i`".
pub(in crate::report) fn place(program: &Program, point: &FencePoint) -> String {
    format!("{}{} `{}`", line_before(program, point.span), side(point), statement_of(program, point))
}

/// Which fence, like "full fence after `turn = 1 - i` (line 11)".
pub fn name(program: &Program, point: &FencePoint) -> String {
    let noun = match kind(point.strength) {
        "swap" => "exchange",
        "store" => "store fence",
        _ => "full fence",
    };
    let line = program.source.line_behind(point.span);
    format!("{noun} {} `{}`{line}", side(point), statement_of(program, point))
}

/// A fence that the program has itself, like "fence of `x = 1` (line 11)".
fn own_name(program: &Program, point: &FencePoint) -> String {
    format!("{} of `{}`{}", what(point), statement_of(program, point), program.source.line_behind(point.span))
}

pub(in crate::report) fn side(point: &FencePoint) -> &'static str {
    match point.strength {
        Strength::Exchange => "in place of",
        _ if point.before => "before",
        _ => "after",
    }
}

pub(in crate::report) fn what(point: &FencePoint) -> &'static str {
    match kind(point.strength) {
        "swap" => "a locked exchange",
        "store" => "fence store",
        _ => "fence",
    }
}

pub fn alternatives(program: &Program, sets: Option<&[Vec<FencePoint>]>, missing: &[Reason]) -> String {
    let mut out = String::new();
    for set in sets.unwrap_or_default() {
        let _ = write!(out, "or, at the same cost:\n{}", list(program, &set.iter().collect::<Vec<_>>()));
    }
    for reason in reason_texts(program, missing) {
        let _ = writeln!(out, "there may be more sets at this cost: {reason}");
    }
    out
}

/// What happens without a fence: the first as a table, others in a sentence.
fn without(fenced: &Fenced<'_>, fence: &NeededFence, whole: bool, look: &Look) -> String {
    let name = match fenced.relaxed {
        Some(_) => own_name(fenced.task.program, &fence.point),
        None => name(fenced.task.program, &fence.point),
    };
    let Some(run) = &fence.without else {
        return format!("Without the {name}, no violation was found within the limits.\n");
    };
    let FencedRun { program, checked } = run;
    let Some(violated) = checked.violated() else { return String::new() };
    let claim = violation(program, violated);
    let steps = counted(violated.trace.steps.len(), "step");
    let mut out = format!("Without the {name}, {steps} violate {claim}");
    if whole {
        let task = Task { program, ..fenced.task };
        return out + ":\n" + &explained(&task, violated, Some(false), look);
    }
    if let Some(cause) = violated.cause {
        let _ = write!(out, ": {}", cause.text(program));
    }
    prose(&format!("{out}."), look)
}

fn violated(task: &Task<'_>, checked: &Checked, under_sc: bool, look: &Look) -> String {
    let Some(violated) = checked.violated() else { return String::new() };
    let mut out = violation(task.program, violated) + "\n";
    if !look.quiet {
        out.push_str(&explained(task, violated, Some(under_sc), look));
        let steps = counted(violated.trace.steps.len(), "step");
        let _ = writeln!(out, "checked: replayed {steps} on the exact machine");
    }
    out
}
