//! Robustness, for people.

use super::fences::name;
use super::{SAFE, UNSAFE, assuming, upper};
use crate::numbers::counted;
use crate::report::fences::{Safety, count};
use crate::report::witness::{ToldWitness, cycle, drawn, sentence};
use crate::report::{Answered, Claimed, Look, reason_texts};
use engine::{FencesFound, NeededFence, Placed};
use evidence::{CheckedWitness, Statistics, Verdict};
use machine::Model;
use program::{Program, PropertyKind};
use std::fmt::Write;

/// A robust program.
pub fn robust(answer: &Answered<'_>) -> String {
    let model = answer.task.model;
    let (file, why) = (answer.file, why_robust(&answer.found.statistics, model));
    let assuming = assuming(answer.task.program);
    format!("{file}: {SAFE}robust{SAFE:#} against {}{assuming}: {why}{}\n", upper(model), checked(model))
}

/// Against SC there is nothing to prove.
pub fn checked(model: Model) -> &'static str {
    if model.is_sc() { "" } else { "; certificate checked" }
}

/// A program that is not robust.
pub fn not_robust(answer: &Answered<'_>, look: &Look) -> String {
    let against = format!("against {}", upper(answer.task.model));
    let head = format!("{}: {UNSAFE}not robust{UNSAFE:#} {against}", answer.file);
    answer.found.checked.witness().map(|w| shown(&head, answer.task.program, w, look)).unwrap_or_default()
}

/// A witness behind what is said of it.
pub fn shown(head: &str, program: &Program, witness: &CheckedWitness, look: &Look) -> String {
    let told = ToldWitness::new(program, witness);
    let table = if look.quiet { String::new() } else { explained(&told, look) };
    format!("{head}: {}\n{table}", sentence(&told))
}

/// Why a program is robust.
pub(in crate::report) fn why_robust(work: &Statistics, model: Model) -> String {
    if model.is_sc() {
        return "nothing is ever delayed".to_string();
    }
    match (work.delays.unwrap_or_default(), work.suspects.unwrap_or_default()) {
        (0, _) if model.reorders_stores() => {
            "nothing is loaded or stored behind a store, whatever the data".to_string()
        }
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
fn explained(told: &ToldWitness<'_>, look: &Look) -> String {
    let steps = counted(told.steps().len(), "step");
    format!(
        "\n{}\n{}checked: replayed {steps} on the exact machine; the cycle is in their happens-before\n",
        drawn(told, look.width),
        cycle(told, look.width)
    )
}

/// Evidence that a program is not robust, and that holds.
pub fn claim(claimed: &Claimed<'_>, model: Model, witness: &CheckedWitness, look: &Look) -> String {
    let against = format!("against {}", upper(model));
    let head = format!("{}: the evidence holds: {UNSAFE}not robust{UNSAFE:#} {against}", claimed.file);
    shown(&head, claimed.program, witness, look)
}

/// How robustness compares with safety.
pub fn comparison(program: &Program, placed: &Placed, safety: &Safety) -> String {
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
            let fail = if need == "needs" { "fails" } else { "fail" };
            format!("{robust}; no fence makes the program safe, for {claims} {fail} under SC too.\n")
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

/// What happens without each fence: the first as a table, others in a sentence.
pub fn needs(program: &Program, placed: &Placed, found: &FencesFound, model: Model, look: &Look) -> String {
    let mut out = String::new();
    for (at, NeededFence { point, without }) in placed.fences.iter().enumerate() {
        let name = name(program, point);
        out.push('\n');
        let shown =
            without.as_ref().and_then(|run| Some(ToldWitness::new(&run.program, run.checked.witness()?)));
        let Some(told) = shown else {
            let _ = writeln!(out, "Without the {name}, no witness was found within the limits.");
            continue;
        };
        let end = if at == 0 { ":" } else { "." };
        let _ = writeln!(out, "Without the {name}, {}{end}", sentence(&told));
        if at == 0 {
            out.push_str(&explained(&told, look));
        }
    }
    if let (Verdict::Robust(proof), true) = (placed.proof.verdict(), !model.is_sc()) {
        let proof = match proof.states() {
            0 => "no delay closes a cycle in the program text".to_string(),
            states => format!("no delayed store shows in {}", counted(states, "state")),
        };
        let asked = counted(found.questions, "question");
        let _ = writeln!(out, "\nchecked: with the fences, {proof} ({asked} about robustness)");
    }
    out
}
