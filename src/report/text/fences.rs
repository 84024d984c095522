//! Which fences, for people.

use super::{SAFE, UNKNOWN, UNSAFE, explained, proof, prose, unknown_reasons, upper, violation};
use crate::numbers::counted;
use crate::report::fences::{Fenced, kind, statement_of, thread_names};
use crate::report::{Look, reason_texts};
use engine::{FenceAnswer, FencePoint, NeededFence, Placed};
use evidence::{Checked, Reason, Task, Verdict};
use machine::SC;
use program::{Program, Strength, ThreadId};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The report.
pub fn text(fenced: &Fenced<'_>, look: &Look) -> String {
    let (file, task) = (fenced.file, fenced.task);
    let model = upper(task.model);
    let mut out = match fenced.answer() {
        FenceAnswer::Placed(placed) if placed.fences.is_empty() => needless(fenced, placed, look),
        FenceAnswer::Placed(placed) => placed_text(fenced, placed, look),
        FenceAnswer::UnsafeUnderSc(checked) => {
            let under_sc = Task { model: SC, ..task };
            let head = format!("{file}: {UNSAFE}no fence helps{UNSAFE:#}: unsafe under SC: ");
            head + &violated(&under_sc, checked, true, look)
        }
        FenceAnswer::NoCandidate(found) => {
            let (program, checked) = &**found;
            let head = format!("{file}: {UNSAFE}no fence helps{UNSAFE:#} at these points under {model}: ");
            head + &violated(&Task { program, ..task }, checked, false, look)
        }
        FenceAnswer::Unknown(reasons) => {
            let head = format!("{file}: {UNKNOWN}unknown{UNKNOWN:#} under {model}: ");
            head + &unknown_reasons(&reason_texts(task.program, reasons))
        }
        // A bug is no answer; the command reports it as one.
        FenceAnswer::Rejected(_) => String::new(),
    };
    for path in fenced.evidence.iter().filter(|_| !look.quiet) {
        let _ = writeln!(out, "evidence: {}", path.display());
    }
    out
}

fn needless(fenced: &Fenced<'_>, placed: &Placed, look: &Look) -> String {
    let model = upper(fenced.task.model);
    let mut out = format!("{}: {SAFE}no fence is needed{SAFE:#}: safe under {model}\n", fenced.file);
    if !look.quiet {
        let _ = writeln!(out, "checked: {}", proof_of(fenced, placed));
    }
    out
}

fn placed_text(fenced: &Fenced<'_>, placed: &Placed, look: &Look) -> String {
    let (program, model) = (fenced.task.program, upper(fenced.task.model));
    let points: Vec<&FencePoint> = placed.fences.iter().map(|fence| &fence.point).collect();
    let (fences, verb) = counts(program, &points);
    let mut out = format!(
        "{}: {SAFE}{fences}{SAFE:#} {verb} it safe under {model} (cost {}, optimal)\n",
        fenced.file, placed.cost,
    );
    out.push_str(&list(program, &points));
    out.push_str(&alternatives(program, placed.alternatives.as_deref(), &placed.missing));
    if look.quiet {
        return out;
    }
    for (at, fence) in placed.fences.iter().enumerate() {
        out.push('\n');
        out.push_str(&without(fenced, fence, at == 0, look));
    }
    let asked = counted(fenced.found.questions, "question");
    let _ = writeln!(out, "\nchecked: with the fences, {} ({asked} to the engine)", proof_of(fenced, placed));
    out
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

/// One line a place.
pub fn list(program: &Program, points: &[&FencePoint]) -> String {
    let line = |point: &&FencePoint| {
        let threads = thread_names(program, point).join(", ");
        format!("  {}: {} ({threads})\n", place(program, point), what(point))
    };
    points.iter().map(line).collect()
}

/// Where, like "line 11, after `turn = 1 - i`".
pub(in crate::report) fn place(program: &Program, point: &FencePoint) -> String {
    let line = program.source.line(point.span).map(|line| format!("line {line}, ")).unwrap_or_default();
    format!("{line}{} `{}`", side(point), statement_of(program, point))
}

/// Which fence, like "full fence after `turn = 1 - i` (line 11)".
pub fn name(program: &Program, point: &FencePoint) -> String {
    let noun = match kind(point.strength) {
        "swap" => "exchange",
        "store" => "store fence",
        _ => "full fence",
    };
    let line = program.source.line(point.span).map(|line| format!(" (line {line})")).unwrap_or_default();
    format!("{noun} {} `{}`{line}", side(point), statement_of(program, point))
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
    let name = name(fenced.task.program, &fence.point);
    let Some((program, checked)) = &fence.without else {
        return format!("Without the {name}, no violation was found within the limits.\n");
    };
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

fn proof_of(fenced: &Fenced<'_>, placed: &Placed) -> String {
    match placed.proof.verdict() {
        Verdict::Safe(certificate) => proof(certificate, &fenced.found.statistics),
        _ => String::new(),
    }
}
