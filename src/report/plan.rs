//! `--explain-plan`: which engines would be asked, in which order and why.

use crate::numbers::counted;
use engine::{Facts, Plan, PlanEntry};
use program::Program;
use serde_json::{Value, json};
use std::fmt::Write;

/// The plan for people.
pub fn text(file: &str, plan: &Plan<'_>) -> String {
    let Facts { task, locations, .. } = plan.facts;
    let model = task.model.name().to_uppercase();
    let mut out = format!(
        "{file}: plan under {model}: {} with {}, {}; {}\n",
        counted(task.program.threads.len(), "thread"),
        counted(locations, "location"),
        counted(task.program.variables.len(), "variable"),
        numbers(plan),
    );
    if task.program.question.is_some() {
        out.push_str("  a litmus test: all its final states are listed, and engines are not asked\n");
        return out;
    }
    let name = |entry: &PlanEntry| entry.engine.name();
    let width = plan.entries.iter().map(|entry| name(entry).len()).max().unwrap_or(0);
    for (at, entry) in plan.entries.iter().enumerate() {
        let share = format!("{} %", entry.share);
        let _ = writeln!(out, "  {}. {:<width$}  {share:>5}  {}", at + 1, name(entry), entry.why);
    }
    for (engine, why) in &plan.left_out {
        let _ = writeln!(out, "  not {engine}: {why}");
    }
    if plan.entries.len() > 1 {
        out.push_str(
            "  They take turns, with these shares of the work; the first that knows the answer gives it.\n",
        );
    }
    out
}

fn numbers(plan: &Plan<'_>) -> String {
    match plan.facts.growing {
        Some(span) => {
            let line = plan.facts.task.program.source.line(span);
            let line = line.map(|line| format!(" (line {line})")).unwrap_or_default();
            format!("numbers may grow without end{line}")
        }
        None => "numbers stay small, as far as can be seen".to_string(),
    }
}

/// The plan for scripts.
pub fn object(file: &str, plan: &Plan<'_>) -> Value {
    let Facts { task, locations, buffers, growing, piling_up, .. } = plan.facts;
    let program: &Program = task.program;
    let entry = |entry: &PlanEntry| json!({"engine": entry.engine.name(), "share": entry.share, "states": null, "why": entry.why});
    let left_out = |(engine, why): &(&str, String)| json!({"engine": engine, "why": why});
    // The final states of a litmus test are listed, and engines are not asked.
    let (entries, others) = match program.question {
        Some(_) => (&[][..], &[][..]),
        None => (&plan.entries[..], &plan.left_out[..]),
    };
    json!({
        "schema": super::SCHEMA,
        "command": "plan",
        "file": file,
        "model": task.model.name(),
        "facts": {
            "threads": program.threads.len(),
            "locations": locations,
            "variables": program.variables.len(),
            "buffers": buffers,
            "piling_up": piling_up.is_some(),
            "growing": growing.is_some(),
            "growing_line": growing.and_then(|span| program.source.line(span)),
        },
        "entries": entries.iter().map(entry).collect::<Vec<Value>>(),
        "left_out": others.iter().map(left_out).collect::<Vec<Value>>(),
    })
}
