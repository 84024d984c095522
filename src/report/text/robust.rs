//! Robustness, for people.

use super::fences::{alternatives, counts, list, name};
use super::{SAFE, UNKNOWN, UNSAFE, unknown_reasons, upper};
use crate::numbers::counted;
use crate::report::robust::{RobustAnswered, RobustFenced, Safety, count};
use crate::report::witness::{Told, cycle, drawn, sentence};
use crate::report::{Claimed, Look, reason_texts};
use engine::{FencePoint, MadeRobust, RobustFence, RobustFences, RobustWork, Robustness};
use evidence::CheckedWitness;
use machine::{Model, TSO};
use program::{Program, PropertyKind};
use std::fmt::Write;
use std::path::PathBuf;

/// An answer of `robust`.
pub fn text(answer: &RobustAnswered<'_>, look: &Look) -> String {
    let (file, program) = (answer.file, answer.task.program);
    let against = format!("against {}", upper(answer.task.model));
    let mut out = match answer.robustness {
        Robustness::Robust => {
            let why = why_robust(&answer.work, answer.task.model);
            let checked = if answer.task.model == TSO { "; certificate checked" } else { "" };
            format!("{file}: {SAFE}robust{SAFE:#} {against}: {why}{checked}\n")
        }
        Robustness::NotRobust(checked) => {
            let told = Told::new(program, checked);
            let mut out = format!("{file}: {UNSAFE}not robust{UNSAFE:#} {against}: {}\n", sentence(&told));
            if !look.quiet {
                out.push_str(&explained(&told, look));
            }
            out
        }
        Robustness::Unknown(reasons) => {
            let reasons = unknown_reasons(&reason_texts(program, reasons));
            let mut out = format!("{file}: {UNKNOWN}unknown{UNKNOWN:#} whether robust {against}: {reasons}");
            if !look.quiet {
                let states = counted(answer.work.states, "state");
                let seconds = answer.seconds;
                let _ = writeln!(out, "explored so far: {states} in {seconds:.1} s; no witness among them");
            }
            out
        }
        // A bug is no answer; the command reports it as one.
        Robustness::Rejected(_) => String::new(),
    };
    files(&mut out, answer.evidence, look);
    out
}

fn why_robust(work: &RobustWork, model: Model) -> String {
    if model.is_sc() {
        return "nothing is ever delayed".to_string();
    }
    match (work.delays, work.suspects) {
        (0, _) => "nothing is loaded behind a store, whatever the data".to_string(),
        (_, 0) => "no delay closes a cycle in the program text, whatever the data".to_string(),
        (_, 1) => format!("the only delay that might matter does not, in {}", counted(work.states, "state")),
        (_, suspects) => format!(
            "none of {} that might matter does, in {}",
            counted(suspects, "delay"),
            counted(work.states, "state")
        ),
    }
}

/// The run and the cycle.
fn explained(told: &Told<'_>, look: &Look) -> String {
    let steps = counted(told.steps().len(), "step");
    format!(
        "\n{}\n{}checked: replayed {steps} on the exact machine; the cycle is in their happens-before\n",
        drawn(told, look.width),
        cycle(told, look.width)
    )
}

fn files(out: &mut String, evidence: &[PathBuf], look: &Look) {
    for path in evidence.iter().filter(|_| !look.quiet) {
        let _ = writeln!(out, "evidence: {}", path.display());
    }
}

/// Evidence that a program is not robust, and that holds.
pub fn claim(claimed: &Claimed<'_>, model: Model, checked: &CheckedWitness, look: &Look) -> String {
    let told = Told::new(claimed.program, checked);
    let mut out = format!(
        "{}: the evidence holds: {UNSAFE}not robust{UNSAFE:#} against {}: {}\n",
        claimed.file,
        upper(model),
        sentence(&told)
    );
    if !look.quiet {
        out.push_str(&explained(&told, look));
    }
    out
}

/// An answer of `fence --goal robust`.
pub fn fences(fenced: &RobustFenced<'_>, look: &Look) -> String {
    let (file, program) = (fenced.file, fenced.task.program);
    let against = format!("against {}", upper(fenced.task.model));
    let mut out = match fenced.found {
        RobustFences::Placed(placed) if placed.fences.is_empty() => {
            let checked = if placed.proof.is_some() { "; certificate checked" } else { "" };
            format!("{file}: {SAFE}no fence is needed{SAFE:#}: robust {against}{checked}\n")
        }
        RobustFences::Placed(placed) => placed_text(fenced, placed, &against),
        RobustFences::NoCandidate(found) => {
            let told = Told::new(&found.0, &found.1);
            let mut out = format!(
                "{file}: {UNSAFE}no fence helps{UNSAFE:#} at these points {against}: {}\n",
                sentence(&told)
            );
            if !look.quiet {
                out.push_str(&explained(&told, look));
            }
            out
        }
        RobustFences::Unknown(reasons) => {
            let reasons = unknown_reasons(&reason_texts(program, reasons));
            format!("{file}: {UNKNOWN}unknown{UNKNOWN:#} whether robust {against}: {reasons}")
        }
        // A bug is no answer; the command reports it as one.
        RobustFences::Rejected(_) => String::new(),
    };
    if let RobustFences::Placed(placed) = fenced.found {
        out.push_str(&comparison(program, placed, fenced.safety));
        if !look.quiet {
            out.push_str(&needs(program, placed, look));
        }
    }
    files(&mut out, fenced.evidence, look);
    out
}

fn placed_text(fenced: &RobustFenced<'_>, placed: &MadeRobust, against: &str) -> String {
    let program = fenced.task.program;
    let points: Vec<&FencePoint> = placed.fences.iter().map(|fence| &fence.point).collect();
    let (fences, verb) = counts(program, &points);
    let mut out = format!(
        "{}: {SAFE}{fences}{SAFE:#} {verb} it robust {against} (cost {}, optimal)\n",
        fenced.file, placed.cost,
    );
    out.push_str(&list(program, &points));
    out.push_str(&alternatives(program, placed.alternatives.as_deref(), &placed.missing));
    out
}

/// How robustness compares with safety.
fn comparison(program: &Program, placed: &MadeRobust, safety: &Safety) -> String {
    let own = count(placed.fences.iter().map(|fence| &fence.point));
    let robust = match own {
        0 => "Robustness needs no fence".to_string(),
        own => format!("Robustness needs {}", counted(own, "fence")),
    };
    let (claims, need) = claims(program);
    match safety {
        Safety::NotAsked => String::new(),
        Safety::NothingClaimed => {
            format!("{robust}; nothing is claimed of the program, so safety needs none.\n")
        }
        Safety::Needs { count: 0, .. } if own == 0 => String::new(),
        Safety::Needs { count: 0, .. } => format!("{robust}, {claims} {need} none.\n"),
        Safety::Needs { count, cost } => {
            let price = if *cost == placed.cost { String::new() } else { format!(" (cost {cost})") };
            format!("{robust}, {claims} {need} {count}{price}.\n")
        }
        Safety::UnsafeUnderSc => {
            format!("{robust}; no fence makes the program safe, for {claims} {} under SC too.\n", fail(need))
        }
        Safety::NoCandidate => format!("{robust}; at these points no fence makes the program safe.\n"),
        Safety::Unknown(reasons) => {
            let reasons = reason_texts(program, reasons).join("; ");
            format!("{robust}; how many {claims} {need} is not known: {reasons}.\n")
        }
    }
}

/// What is claimed of a program, and the verb that goes with it.
fn claims(program: &Program) -> (&'static str, &'static str) {
    let is_question = |text: &str| ["~exists", "forall"].iter().any(|word| text.starts_with(word));
    let finals = program.properties.iter().filter(|property| property.kind == PropertyKind::Finally);
    let mut texts = finals.filter_map(|property| property.text.as_deref());
    match program.properties.len() {
        0 => ("your assertions", "need"),
        1 if texts.any(is_question) => ("your condition", "needs"),
        1 => ("your property", "needs"),
        _ => ("your properties", "need"),
    }
}

fn fail(need: &str) -> &'static str {
    if need == "needs" { "fails" } else { "fail" }
}

/// What happens without each fence: the first as a table, others in a sentence.
fn needs(program: &Program, placed: &MadeRobust, look: &Look) -> String {
    let mut out = String::new();
    for (at, RobustFence { point, without }) in placed.fences.iter().enumerate() {
        let name = name(program, point);
        out.push('\n');
        let Some((weaker, checked)) = without else {
            let _ = writeln!(out, "Without the {name}, no witness was found within the limits.");
            continue;
        };
        let told = Told::new(weaker, checked);
        let end = if at == 0 { ":" } else { "." };
        let _ = writeln!(out, "Without the {name}, {}{end}", sentence(&told));
        if at == 0 {
            out.push_str(&explained(&told, look));
        }
    }
    if let Some(checked) = &placed.proof {
        let proof = match checked.states() {
            0 => "no delay closes a cycle in the program text".to_string(),
            states => format!("no delayed store shows in {}", counted(states, "state")),
        };
        let asked = counted(placed.questions, "question");
        let _ = writeln!(out, "\nchecked: with the fences, {proof} ({asked} about robustness)");
    }
    out
}
