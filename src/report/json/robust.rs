//! Robustness, for scripts.

use super::fences::set_object;
use super::{Answer, SCHEMA, Stats, diagnostics, initial, line, merge, steps};
use crate::report::happens_before::abbreviation;
use crate::report::robust::{RobustAnswered, RobustFenced, Safety};
use crate::report::witness::{Told, sentence};
use crate::report::{Printed, reason_texts};
use engine::{MadeRobust, RobustFence, RobustFences, Robustness};
use evidence::{CheckedWitness, Link, Statistics, Task};
use machine::TSO;
use program::Program;
use serde_json::{Value, json};
use std::path::PathBuf;

const ENGINE: &str = "robust";

/// An answer of `robust`.
pub fn json(answer: &RobustAnswered<'_>) -> Printed {
    let program = answer.task.program;
    let statistics = Statistics { states: answer.work.states, ..Statistics::default() };
    let mut out = begun(answer.file, &answer.task, "robust");
    out.stats = Some(Stats::new(answer.seconds, &statistics, answer.peak));
    out.diagnostics = diagnostics(&program.source, answer.warnings);
    out.evidence = answer.evidence.first().map(|path| path.display().to_string());
    let mut more = json!({"witness": null});
    match answer.robustness {
        Robustness::Robust => {
            out.verdict = "robust";
            // Against SC there is nothing to prove.
            out.checked = answer.task.model == TSO;
        }
        Robustness::NotRobust(checked) => {
            not_robust(&mut out, program, checked);
            more["witness"] = witness(program, checked);
        }
        Robustness::Unknown(reasons) => {
            out.verdict = "unknown";
            out.reason = Some(reason_texts(program, reasons).join("; "));
        }
        Robustness::Rejected(why) => {
            out.verdict = "error";
            out.reason = Some(why.to_string());
        }
    }
    let (delays, suspects) = (answer.work.delays, answer.work.suspects);
    merge(
        &mut more,
        json!({"delays": delays, "suspects": suspects, "evidence_files": names(answer.evidence)}),
    );
    out.more = more.as_object().cloned().unwrap_or_default();
    line(&out)
}

fn begun<'a>(file: &'a str, task: &Task<'_>, command: &'static str) -> Answer<'a> {
    Answer {
        schema: SCHEMA,
        command,
        file,
        model: Some(task.model.name()),
        engine: Some(ENGINE),
        ..Answer::default()
    }
}

fn not_robust(out: &mut Answer<'_>, program: &Program, checked: &CheckedWitness) {
    let witness = checked.witness();
    out.verdict = "not_robust";
    out.checked = true;
    out.initial = Some(initial(program, &witness.initial));
    out.trace = Some(steps(program, checked.account()));
    out.cause = Some(sentence(&Told::new(program, checked)));
    out.cause_step = Some(witness.load);
}

/// Who delays what past what, the chain and the cycle; numbers are steps of the trace, from 0.
fn witness(program: &Program, checked: &CheckedWitness) -> Value {
    let told = Told::new(program, checked);
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
        "load": witness.load,
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

/// An answer of `fence --goal robust`.
pub fn fences(fenced: &RobustFenced<'_>) -> Printed {
    let program = fenced.task.program;
    let mut out = begun(fenced.file, &fenced.task, "fence");
    out.stats = Some(Stats::new(fenced.seconds, &Statistics::default(), fenced.peak));
    out.diagnostics = diagnostics(&program.source, fenced.warnings);
    let mut more = json!({
        "goal": "robust", "fences": null, "cost": null, "optimal": null, "alternatives": null,
        "alternatives_reason": null, "questions": null, "witness": null,
    });
    match fenced.found {
        RobustFences::Placed(placed) => {
            out.verdict = "robust";
            out.checked = placed.proof.is_some();
            merge(&mut more, placed_object(program, placed));
        }
        RobustFences::NoCandidate(found) => {
            not_robust(&mut out, &found.0, &found.1);
            more["witness"] = witness(&found.0, &found.1);
        }
        RobustFences::Unknown(reasons) => {
            out.verdict = "unknown";
            out.reason = Some(reason_texts(program, reasons).join("; "));
        }
        RobustFences::Rejected(why) => {
            out.verdict = "error";
            out.reason = Some(why.to_string());
        }
    }
    let safety = safety(program, fenced.safety);
    merge(&mut more, json!({"safety": safety, "evidence_files": names(fenced.evidence)}));
    out.more = more.as_object().cloned().unwrap_or_default();
    line(&out)
}

fn placed_object(program: &Program, placed: &MadeRobust) -> Value {
    let fences = placed.fences.iter().map(|fence| (&fence.point, without_object(fence)));
    let mut object =
        set_object(program, fences, placed.cost, placed.alternatives.as_deref(), &placed.missing);
    merge(&mut object, json!({"questions": placed.questions}));
    object
}

/// The witness that appears without a fence; null where that was not found out.
fn without_object(fence: &RobustFence) -> Value {
    let Some((program, checked)) = &fence.without else {
        return json!({"needed_because": null, "initial": null, "cause": null, "witness": null});
    };
    json!({
        "needed_because": steps(program, checked.account()),
        "initial": initial(program, &checked.witness().initial),
        "cause": sentence(&Told::new(program, checked)),
        "witness": witness(program, checked),
    })
}

fn safety(program: &Program, safety: &Safety) -> Value {
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

fn names(files: &[PathBuf]) -> Vec<String> {
    files.iter().map(|path| path.display().to_string()).collect()
}
