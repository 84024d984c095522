//! Which fences, for scripts.

use super::{
    JsonAnswer, SCHEMA, Stats, assumptions, diagnostics, initial, merge, reason, robust, steps, unsafe_with,
};
use crate::report::fences::{Fenced, kind, statement_of};
use crate::report::reason_texts;
use engine::{FenceAnswer, FencePoint, FencedRun, FencesWithin, NeededFence, Placed};
use evidence::{Checked, Goal, Reason, Statistics, Violated};
use program::{Program, Span};
use serde_json::{Value, json};

/// The report.
pub fn object<'a>(fenced: &Fenced<'a>) -> JsonAnswer<'a> {
    let (program, found) = (fenced.task.program, fenced.found);
    let is_robust = fenced.task.goal == Goal::Robust;
    // Of robustness the questions are counted, not their states.
    let statistics = if is_robust { Statistics::default() } else { found.statistics };
    let mut out = JsonAnswer {
        schema: SCHEMA,
        command: "fence",
        file: fenced.file,
        model: Some(fenced.task.model.name()),
        engine: Some(found.engine),
        checked: true,
        stats: Some(Stats::new(fenced.seconds, &statistics, fenced.peak)),
        diagnostics: diagnostics(&program.source, fenced.warnings),
        assumptions: assumptions(program),
        ..JsonAnswer::default()
    };
    let mut more = json!({
        "goal": if is_robust { "robust" } else { "safe" },
        "fences": null, "cost": null, "optimal": null, "alternatives": null, "alternatives_reason": null,
        "questions": found.questions,
    });
    if is_robust {
        let placed = matches!(found.answer, FenceAnswer::Placed(_));
        let questions = placed.then_some(found.questions);
        merge(
            &mut more,
            json!({"questions": questions, "witness": null, "safety": robust::safety(program, fenced.safety)}),
        );
    }
    match &found.answer {
        FenceAnswer::Placed(placed) if is_robust => {
            out.verdict = "robust";
            // Against SC there is nothing to prove.
            out.checked = !fenced.task.model.is_sc();
            merge(&mut more, placed_object(program, placed, &robust::without_object));
        }
        FenceAnswer::Placed(placed) => {
            out.verdict = "safe";
            out.sc_violation = Some(false);
            merge(&mut more, placed_object(program, placed, &without_object));
        }
        FenceAnswer::UnsafeUnderSc(checked) => {
            out.sc_violation = Some(true);
            violated(&mut out, program, checked);
        }
        FenceAnswer::NoCandidate(run) if is_robust => {
            robust::not_robust(&mut out, &run.program, &run.checked);
            let witness = run.checked.witness();
            more["witness"] =
                witness.map(|witness| robust::witness(&run.program, witness)).unwrap_or_default();
        }
        FenceAnswer::NoCandidate(run) => {
            out.sc_violation = Some(false);
            violated(&mut out, &run.program, &run.checked);
        }
        FenceAnswer::Unknown(reasons) => {
            out.verdict = "unknown";
            out.checked = false;
            out.reason = reason(program, reasons).or(Some(String::new()));
        }
    }
    if let Some(relaxed) = fenced.relaxed {
        let points = relaxed.gone.iter().enumerate();
        let gone: Vec<Value> = points.flat_map(|(at, point)| point_objects(program, at, point)).collect();
        merge(&mut more, json!({"not_needed": gone, "cost_before": relaxed.before}));
        let stays = |(place, why): &(Span, String)| json!({"line": program.source.line(*place), "why": why});
        let fixed: Vec<Value> = relaxed.fixed.iter().map(stays).collect();
        if !fixed.is_empty() {
            merge(&mut more, json!({"not_edited": fixed}));
        }
    }
    if let Some(within) = fenced.within {
        merge(&mut more, json!({"within": within_object(program, within)}));
    }
    if !fenced.not_needed.is_empty() {
        let lines: Vec<_> = fenced.not_needed.iter().map(|place| program.source.line(*place)).collect();
        merge(&mut more, json!({"not_needed_lines": lines}));
    }
    merge(&mut more, json!({"evidence_files": robust::names(fenced.evidence)}));
    out.more = more.as_object().cloned().unwrap_or_default();
    out
}

fn violated(out: &mut JsonAnswer<'_>, program: &Program, checked: &Checked) {
    if let Some(violated) = checked.violated() {
        unsafe_with(out, program, violated);
    }
}

/// A cheapest set of fences, each with what happens without it.
fn placed_object(program: &Program, placed: &Placed, without: &dyn Fn(Option<&FencedRun>) -> Value) -> Value {
    let objects = |(at, fence): (usize, &NeededFence)| {
        let without = without(fence.without.as_ref());
        let mut objects = point_objects(program, at, &fence.point);
        objects.iter_mut().for_each(|object| merge(object, without.clone()));
        objects
    };
    json!({
        "fences": placed.fences.iter().enumerate().flat_map(objects).collect::<Vec<_>>(),
        "cost": placed.cost,
        "optimal": true,
        "alternatives": placed.alternatives.as_ref().map(|sets| alternatives(program, sets)),
        "alternatives_reason": reason_texts(program, &placed.missing).first(),
    })
}

/// Fences that keep store buffers within a bound besides.
fn within_object(program: &Program, within: &Result<FencesWithin, Vec<Reason>>) -> Value {
    match within {
        Ok(FencesWithin { k, fences, cost }) => {
            let fences = alternatives(program, std::slice::from_ref(fences)).pop();
            json!({"buffer": k, "fences": fences, "cost": cost, "reason": null})
        }
        Err(reasons) => {
            json!({"buffer": null, "fences": null, "cost": null, "reason": reason(program, reasons)})
        }
    }
}

/// Other sets of the same cost.
fn alternatives(program: &Program, sets: &[Vec<FencePoint>]) -> Vec<Value> {
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
fn without_object(without: Option<&FencedRun>) -> Value {
    let nothing = json!({"needed_because": null, "violation": null, "initial": null, "cause": null});
    let Some(FencedRun { program, checked }) = without else { return nothing };
    let Some(Violated { trace, account, cause }) = checked.violated() else { return nothing };
    json!({
        "needed_because": steps(program, account),
        "violation": trace.violation.text(program),
        "initial": initial(program, &trace.initial),
        "cause": cause.map(|cause| cause.text(program)),
    })
}
