//! Robustness, for scripts.

use super::{JsonAnswer, initial, steps};
use crate::report::Answered;
use crate::report::fences::Safety;
use crate::report::happens_before::abbreviation;
use crate::report::reason_texts;
use crate::report::witness::{ToldWitness, sentence};
use engine::FencedRun;
use evidence::{Checked, CheckedWitness, Link};
use program::Program;
use serde_json::{Value, json};
use std::path::PathBuf;

/// What only an answer about robustness has.
pub fn object(answer: &Answered<'_>) -> Value {
    let (found, program) = (answer.found, answer.task.program);
    json!({
        "witness": found.checked.witness().map(|checked| witness(program, checked)),
        "delays": found.statistics.delays.unwrap_or_default(),
        "suspects": found.statistics.suspects.unwrap_or_default(),
        "evidence_files": names(answer.evidence),
    })
}

/// A program that is not robust, by the run of the witness.
pub fn not_robust(out: &mut JsonAnswer<'_>, program: &Program, checked: &Checked) {
    let Some(checked) = checked.witness() else { return };
    let witness = checked.witness();
    out.verdict = "not_robust";
    out.checked = true;
    out.initial = Some(initial(program, &witness.initial));
    out.trace = Some(steps(program, checked.account()));
    out.cause = Some(sentence(&ToldWitness::new(program, checked)));
    out.cause_step = Some(witness.overtaker);
}

/// Who delays what past what, the chain and the cycle; numbers are steps of the trace, from 0.
pub fn witness(program: &Program, checked: &CheckedWitness) -> Value {
    let told = ToldWitness::new(program, checked);
    let witness = checked.witness();
    let entry = |(step, link): (usize, Link)| {
        json!({
            "step": step,
            "thread": told.thread(told.steps()[step].thread),
            "line": told.steps()[step].line,
            "text": told.steps()[step].text,
            "does": told.related.accesses(step),
            "link": abbreviation(link),
        })
    };
    json!({
        "thread": told.thread(told.attacker()),
        "store": witness.store,
        "load": witness.overtaker,
        "drain": witness.drain,
        "chain": witness.chain().collect::<Vec<_>>(),
        "cycle": told.related.cycle.iter().copied().map(entry).collect::<Vec<_>>(),
    })
}

/// Evidence that a program is not robust, and that holds.
pub fn claim(program: &Program, checked: &CheckedWitness) -> Value {
    json!({
        "verdict": "not_robust",
        "initial": initial(program, &checked.witness().initial),
        "trace": steps(program, checked.account()),
        "witness": witness(program, checked),
    })
}

/// The witness that appears without a fence; null where that was not found out.
pub fn without_object(without: Option<&FencedRun>) -> Value {
    let Some((run, checked)) = without.and_then(|run| Some((run, run.checked.witness()?))) else {
        return json!({"needed_because": null, "initial": null, "cause": null, "witness": null});
    };
    let program = &run.program;
    json!({
        "needed_because": steps(program, checked.account()),
        "initial": initial(program, &checked.witness().initial),
        "cause": sentence(&ToldWitness::new(program, checked)),
        "witness": witness(program, checked),
    })
}

/// What safety would need.
pub fn safety(program: &Program, safety: &Safety) -> Value {
    let object = |verdict: &str, fences: Option<usize>, cost: Option<u64>, reason: Option<String>| json!({"verdict": verdict, "fences": fences, "cost": cost, "reason": reason});
    match safety {
        Safety::NotAsked => Value::Null,
        Safety::NothingClaimed => {
            object("safe", Some(0), Some(0), Some("nothing is claimed of this program".to_string()))
        }
        Safety::Needs { count, cost } => object("safe", Some(*count), Some(*cost), None),
        Safety::UnsafeUnderSc => object("unsafe", None, None, Some("unsafe under SC".to_string())),
        Safety::NoCandidate => {
            object("unsafe", None, None, Some("no fence helps at these points".to_string()))
        }
        Safety::Unknown(reasons) => {
            object("unknown", None, None, Some(reason_texts(program, reasons).join("; ")))
        }
    }
}

/// The names of files.
pub fn names(files: &[PathBuf]) -> Vec<String> {
    files.iter().map(|path| path.display().to_string()).collect()
}
