//! Which fences, for scripts.

use super::{Answer, SCHEMA, Stats, diagnostics, initial, line, merge, steps, violation_line};
use crate::report::fences::{Fenced, kind, statement_of};
use crate::report::{Printed, reason_texts};
use engine::{FenceAnswer, FencePoint, NeededFence, Placed};
use evidence::{Checked, Reason, Violated};
use program::Program;
use serde_json::{Value, json};

/// The report.
pub fn json(fenced: &Fenced<'_>) -> Printed {
    let program = fenced.task.program;
    let found = fenced.found;
    let mut out = Answer {
        schema: SCHEMA,
        command: "fence",
        file: fenced.file,
        model: Some(fenced.task.model.name()),
        engine: Some(found.engine),
        checked: true,
        stats: Some(Stats::new(fenced.seconds, &found.statistics, fenced.peak)),
        diagnostics: diagnostics(&program.source, fenced.warnings),
        ..Answer::default()
    };
    let mut more = json!({
        "goal": "safe", "fences": null, "cost": null, "optimal": null, "alternatives": null,
        "alternatives_reason": null,
    });
    match fenced.answer() {
        FenceAnswer::Placed(placed) => {
            out.verdict = "safe";
            out.sc_violation = Some(false);
            merge(&mut more, placed_object(program, placed));
        }
        FenceAnswer::UnsafeUnderSc(checked) => {
            out.sc_violation = Some(true);
            violated(&mut out, program, checked);
        }
        FenceAnswer::NoCandidate(unsafe_with) => {
            out.sc_violation = Some(false);
            violated(&mut out, &unsafe_with.0, &unsafe_with.1);
        }
        FenceAnswer::Unknown(reasons) => {
            out.verdict = "unknown";
            out.checked = false;
            out.reason = Some(reason_texts(program, reasons).join("; "));
        }
        FenceAnswer::Rejected(why) => {
            out.verdict = "error";
            out.checked = false;
            out.reason = Some(why.to_string());
        }
    }
    let files: Vec<String> = fenced.evidence.iter().map(|path| path.display().to_string()).collect();
    merge(&mut more, json!({"questions": found.questions, "evidence_files": files}));
    out.more = more.as_object().cloned().unwrap_or_default();
    line(&out)
}

fn violated(out: &mut Answer<'_>, program: &Program, checked: &Checked) {
    let Some(Violated { trace, account, .. }) = checked.violated() else { return };
    out.verdict = "unsafe";
    out.violation = Some(trace.violation.text(program));
    out.violation_line = violation_line(program, trace.violation);
    out.initial = Some(initial(program, &trace.initial));
    out.trace = Some(steps(program, account));
}

fn placed_object(program: &Program, placed: &Placed) -> Value {
    let fences = placed.fences.iter().map(|fence| (&fence.point, without_object(fence)));
    set_object(program, fences, placed.cost, placed.alternatives.as_deref(), &placed.missing)
}

/// A cheapest set of fences, each with what happens without it.
pub fn set_object<'a>(
    program: &Program,
    fences: impl Iterator<Item = (&'a FencePoint, Value)>,
    cost: u64,
    others: Option<&[Vec<FencePoint>]>,
    missing: &[Reason],
) -> Value {
    let objects = |(at, (point, without)): (usize, (&FencePoint, Value))| {
        let mut objects = point_objects(program, at, point);
        objects.iter_mut().for_each(|object| merge(object, without.clone()));
        objects
    };
    json!({
        "fences": fences.enumerate().flat_map(objects).collect::<Vec<_>>(),
        "cost": cost,
        "optimal": true,
        "alternatives": others.map(|sets| alternatives(program, sets)),
        "alternatives_reason": reason_texts(program, missing).first(),
    })
}

/// Other sets of the same cost.
pub fn alternatives(program: &Program, sets: &[Vec<FencePoint>]) -> Vec<Value> {
    let set = |points: &Vec<FencePoint>| {
        let each = points.iter().enumerate();
        Value::Array(each.flat_map(|(at, point)| point_objects(program, at, point)).collect())
    };
    sets.iter().map(set).collect()
}

/// A fence in each thread that gets it; `place` is the same for those that are one in the source.
pub fn point_objects(program: &Program, place: usize, point: &FencePoint) -> Vec<Value> {
    let word = if point.before { "before" } else { "after" };
    let object = |thread| {
        json!({
            "thread": program.thread(thread).name,
            "line": program.source.line(point.span),
            word: statement_of(program, point),
            "kind": kind(point.strength),
            "place": place,
        })
    };
    point.threads().into_iter().map(object).collect()
}

/// What happens without a fence; null where that was not found out.
fn without_object(fence: &NeededFence) -> Value {
    let nothing = json!({"needed_because": null, "violation": null, "initial": null, "cause": null});
    let Some((program, checked)) = &fence.without else { return nothing };
    let Some(Violated { trace, account, cause }) = checked.violated() else { return nothing };
    json!({
        "needed_because": steps(program, account),
        "violation": trace.violation.text(program),
        "initial": initial(program, &trace.initial),
        "cause": cause.map(|cause| cause.text(program)),
    })
}
