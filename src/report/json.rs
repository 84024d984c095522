//! Reports for scripts: one JSON object per line. Fields are only ever added, never renamed.

mod fences;
mod robust;

use super::diagnostics::position;
use super::steps::{ShownStep, describe_all};
use super::{
    Answered, Claimed, Compared, Failed, Look, Printed, Report, Said, Section, WalkEnd, Walked, litmus, plan,
    reason_texts,
};
use crate::numbers::megabytes;
use evidence::{CheckedOutcomes, Claim, Form, Goal, Reason, Refinements, Statistics, Verdict, Violated};
use frontend::{Diagnostic, Severity};
use machine::{Account, Action};
use num_traits::ToPrimitive;
use program::{Int, Program, Source, VarId};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// The form of all objects, as they name it.
pub const SCHEMA: &str = "fencewright/1";

/// What `verify` or `fence` says about a file under a model.
#[derive(Default, Serialize)]
struct JsonAnswer<'a> {
    schema: &'static str,
    command: &'static str,
    file: &'a str,
    model: Option<&'static str>,
    verdict: &'static str,
    engine: Option<&'static str>,
    reason: Option<String>,
    checked: bool,
    violation: Option<String>,
    sc_violation: Option<bool>,
    trace: Option<Vec<Value>>,
    stats: Option<Stats>,
    /// What the variables without a fixed initial value started with.
    initial: Option<Value>,
    /// Where the violated claim stands.
    violation_line: Option<usize>,
    /// The index that left its array.
    index: Option<Value>,
    cause: Option<String>,
    /// The step (from 0) that SC would not allow.
    cause_step: Option<usize>,
    /// A fence that prevents the run: an entry for each thread that gets it.
    prevented_by: Option<Vec<Value>>,
    evidence: Option<String>,
    diagnostics: Vec<Value>,
    /// Within what nothing is violated, where that is all that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    bound: Option<Value>,
    /// What a proof takes for granted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    assumptions: Vec<Value>,
    /// What only some answers have.
    #[serde(flatten)]
    more: Map<String, Value>,
}

#[derive(Serialize)]
struct Stats {
    seconds: f64,
    states: usize,
    peak_mb: usize,
    k: Option<usize>,
    predicates: Option<usize>,
    refinements: Option<usize>,
    contexts: Option<usize>,
    method: Option<&'static str>,
    /// Questions put to the solver.
    solver_calls: Option<usize>,
    /// What abstract paths to violations turned out to be.
    refined: Option<Value>,
    /// Searches under SC that engine lazy started.
    sc_queries: Option<usize>,
}

impl Stats {
    fn new(seconds: f64, statistics: &Statistics, peak: usize) -> Stats {
        Stats {
            seconds: (seconds * 1000.0).round() / 1000.0,
            states: statistics.states,
            peak_mb: megabytes(peak),
            k: statistics.k,
            predicates: statistics.predicates,
            refinements: statistics.refinements.map(|refinements| refinements.total()),
            contexts: statistics.contexts,
            method: statistics.method,
            solver_calls: statistics.questions,
            refined: statistics.refinements.map(|refinements| {
                let Refinements { sc, model, k, predicates } = refinements;
                json!({"sc": sc, "model": model, "k": k, "predicates": predicates})
            }),
            sc_queries: statistics.sc_queries,
        }
    }
}

/// The report.
pub const JSON: Report = Report {
    name: "json",
    about: "one JSON object per line and file",
    form: Form::Json,
    print,
    document: None,
};

fn print(said: &Said<'_>, _: &Look) -> Printed {
    match said {
        // They are part of the answers.
        Said::Warnings(..) | Said::Remark(_) | Said::Overview(_) | Said::Summary(_) => Printed::default(),
        Said::Bench(name, tables) => super::bench::json(name, tables),
        Said::Answer(answered) => line(&answer(answered)),
        Said::Fences(fenced) => line(&fences::object(fenced)),
        Said::Plan(file, plan) => line(&plan::object(file, plan)),
        Said::Failure(failed) => line(&failure(failed)),
        Said::Claim(claimed) => line(&claim(claimed)),
        Said::Walk(walked) => line(&walk(walked)),
        Said::Registries(sections) => line(&registries(sections)),
        Said::Compared(compared, shown) => line(&comparison(compared, *shown)),
        Said::Outcome(words, shown) => shown
            .found
            .checked
            .violated()
            .map_or_else(Printed::default, |run| line(&outcome(words, shown, run))),
    }
}

/// What is taken for granted about the program, and where.
pub(super) fn assumptions(program: &Program) -> Vec<Value> {
    let assumed = program.assumptions.iter();
    assumed.map(|assumed| json!({"line": program.source.line(assumed.span), "text": assumed.text})).collect()
}

fn answer<'a>(answer: &Answered<'a>) -> JsonAnswer<'a> {
    let (program, found) = (answer.task.program, answer.found);
    let mut out = JsonAnswer {
        schema: SCHEMA,
        command: if answer.task.goal == Goal::Robust { "robust" } else { "verify" },
        file: answer.file,
        model: Some(answer.task.model.name()),
        engine: Some(found.engine),
        checked: true,
        sc_violation: found.why.sc_violation,
        stats: Some(Stats::new(answer.seconds, &found.statistics, answer.peak)),
        evidence: answer.evidence.first().map(|path| path.display().to_string()),
        diagnostics: diagnostics(&program.source, answer.warnings),
        assumptions: assumptions(program),
        reason: reason(program, found.checked.reasons()),
        ..JsonAnswer::default()
    };
    match found.checked.verdict() {
        Verdict::Safe(_) => out.verdict = "safe",
        // Against SC there is nothing to prove.
        Verdict::Robust(_) => (out.verdict, out.checked) = ("robust", !answer.task.model.is_sc()),
        // What was checked is the bound.
        Verdict::Within(found, _) => {
            (out.verdict, out.bound) = ("unknown", Some(json!({"contexts": found.contexts()})));
        }
        Verdict::Unknown(_) => (out.verdict, out.checked) = ("unknown", false),
        Verdict::NotRobust(_) => robust::not_robust(&mut out, program, &found.checked),
        Verdict::Unsafe(_) => {
            if let Some(run) = found.checked.violated() {
                violated(&mut out, answer, run);
            }
        }
        Verdict::FinalStates(_) => {}
    }
    let more = match (answer.task.goal, &program.question, found.checked.outcomes()) {
        (Goal::Robust, ..) => robust::object(answer),
        (_, Some(question), Some(outcomes)) => {
            out.verdict = held(outcomes);
            litmus::object(question, outcomes)
        }
        _ => Value::Null,
    };
    out.more = more.as_object().cloned().unwrap_or_default();
    out
}

fn violated(out: &mut JsonAnswer<'_>, answer: &Answered<'_>, violated: Violated<'_>) {
    let (program, why) = (answer.task.program, &answer.found.why);
    let Violated { trace, account, cause } = violated;
    unsafe_with(out, program, violated);
    let end = account.passed().last();
    out.index = end
        .and_then(|end| trace.violation.index(program, |t, r| end.register(t, r)))
        .map(|index| integer(&index));
    out.cause = cause.map(|cause| cause.text(program));
    out.cause_step = cause.map(|cause| cause.step);
    out.prevented_by = why.prevented_by.as_ref().map(|point| fences::point_objects(program, 0, point));
}

fn unsafe_with(out: &mut JsonAnswer<'_>, program: &Program, violated: Violated<'_>) {
    let Violated { trace, account, .. } = violated;
    out.verdict = "unsafe";
    out.violation = Some(trace.violation.text(program));
    out.violation_line = program.source.line(trace.violation.span(program));
    out.initial = Some(initial(program, &trace.initial));
    out.trace = Some(steps(program, account));
}

fn failure<'a>(failed: &Failed<'a>) -> JsonAnswer<'a> {
    let source = failed.source.cloned().unwrap_or_default();
    JsonAnswer {
        schema: SCHEMA,
        command: failed.command,
        file: failed.file,
        model: failed.model.map(|model| model.name()),
        verdict: if failed.stopped { "unknown" } else { "error" },
        reason: Some(failed.reason.clone()),
        diagnostics: diagnostics(&source, failed.diagnostics),
        ..JsonAnswer::default()
    }
}

/// Reasons in a sentence, if there are any.
fn reason(program: &Program, reasons: &[Reason]) -> Option<String> {
    (!reasons.is_empty()).then(|| reason_texts(program, reasons).join("; "))
}

fn claim(claimed: &Claimed<'_>) -> Value {
    let program = claimed.program;
    let mut object = json!({
        "schema": SCHEMA,
        "command": "check",
        "file": claimed.file,
        "evidence": claimed.evidence,
        "checked": true,
        "seconds": (claimed.seconds * 1000.0).round() / 1000.0,
    });
    let (model, added) = match claimed.claim {
        Claim::Safe(model, states) => (model.name(), json!({"verdict": "safe", "states": states})),
        Claim::Within(model, contexts, states) => {
            let bound = json!({"contexts": contexts});
            (model.name(), json!({"verdict": "unknown", "bound": bound, "states": states}))
        }
        Claim::Unsafe(model, checked) => (model.name(), unsafe_claim(program, checked.violated())),
        Claim::Robust(model, states) => (model.name(), json!({"verdict": "robust", "states": states})),
        Claim::NotRobust(model, checked) => (model.name(), robust::claim(program, checked)),
        Claim::Outcomes(model, found) => {
            let mut added = json!({"verdict": held(found), "states": found.states()});
            let asked = program.question.as_ref().map(|question| litmus::object(question, found));
            merge(&mut added, asked.unwrap_or_default());
            (model.name(), added)
        }
    };
    object["model"] = model.into();
    merge(&mut object, added);
    object
}

fn walk(walked: &Walked<'_>) -> Value {
    let end = match walked.end {
        WalkEnd::Ended => "ended",
        WalkEnd::Blocked => "blocked",
        WalkEnd::Cut => "cut",
        WalkEnd::Violated => "violated",
    };
    let violation = walked.violation.map(|violated| violated.trace.violation.text(walked.program));
    json!({
        "schema": SCHEMA,
        "command": "run",
        "file": walked.file,
        "model": walked.model.name(),
        "outcome": end,
        "violation": violation,
        "seed": walked.seed,
        "walks": {"all": walked.walks.all, "ended": walked.walks.ended, "blocked": walked.walks.blocked},
        "initial": initial(walked.program, walked.initial),
        "trace": steps(walked.program, walked.account),
    })
}

/// A run to a final state of a litmus test.
fn outcome(words: &str, shown: &Answered<'_>, run: Violated<'_>) -> Value {
    let program = shown.task.program;
    json!({
        "schema": SCHEMA,
        "command": "outcome",
        "file": shown.file,
        "model": shown.task.model.name(),
        "outcome": words,
        "under_sc": shown.found.why.sc_violation,
        "initial": initial(program, &run.trace.initial),
        "trace": steps(program, run.account),
    })
}

fn registries(sections: &[Section]) -> Value {
    let mut object = json!({"schema": SCHEMA, "command": "list"});
    for section in sections {
        let entry = |(name, about): &(&str, String)| json!({"name": name, "about": about});
        object[section.title] = section.entries.iter().map(entry).collect();
    }
    object
}

fn comparison(compared: &Compared, shown: Option<&Answered<'_>>) -> Value {
    let (config, config_line) = &compared.config;
    json!({
        "schema": SCHEMA,
        "command": "ci",
        "file": compared.file,
        "model": compared.model.map(|model| model.name()),
        "check": compared.subject.name(),
        "status": compared.status.name(),
        "expected": compared.expected,
        "found": compared.found,
        "message": compared.message,
        "line": compared.place.map(|place| place.line),
        "config": config,
        "config_line": config_line,
        "seconds": (compared.seconds * 1000.0).round() / 1000.0,
        "answer": shown.map(answer),
    })
}

fn unsafe_claim(program: &Program, violated: Option<Violated<'_>>) -> Value {
    let Some(Violated { trace, account, .. }) = violated else { return Value::Null };
    json!({
        "verdict": "unsafe",
        "violation": trace.violation.text(program),
        "initial": initial(program, &trace.initial),
        "trace": steps(program, account),
    })
}

fn merge(object: &mut Value, added: Value) {
    if let (Some(object), Value::Object(added)) = (object.as_object_mut(), added) {
        object.extend(added);
    }
}

fn line(object: &impl Serialize) -> Printed {
    // Only maps with keys that are no strings cannot be written, and there are none.
    let text = serde_json::to_string(object).unwrap_or_default();
    Printed::out(text + "\n")
}

/// An integer: a number if it has 64 bits, else its digits as a string.
pub fn integer(value: &Int) -> Value {
    value.to_i64().map_or_else(|| value.to_string().into(), Into::into)
}

fn initial(program: &Program, chosen: &[(VarId, Int)]) -> Value {
    let pair = |(v, value): &(VarId, Int)| (program.variable(*v).name.clone(), integer(value));
    Value::Object(chosen.iter().map(pair).collect())
}

fn steps(program: &Program, account: &Account) -> Vec<Value> {
    describe_all(program, account).iter().map(|step| step_object(program, step)).collect()
}

fn step_object(program: &Program, step: &ShownStep<'_>) -> Value {
    let mut object = json!({"thread": program.thread(step.thread).name, "event": step.kind});
    // The effect that names the event: what a block stored, else what it read, else the first.
    let by_rank = |effect: &&Action| match effect {
        Action::Store(..) | Action::Drain(..) => 0,
        Action::Load(..) => 1,
        _ => 2,
    };
    if let Some(effect) = step.actions.iter().min_by_key(by_rank) {
        merge(&mut object, effect_object(program, step, effect));
    }
    if let Some(line) = step.line {
        object["line"] = line.into();
    }
    if let Some(file) = program.source.place(step.span).and_then(|line| line.file) {
        object["file"] = file.into();
    }
    if !step.calls.is_empty() {
        object["calls"] = step.calls.iter().map(|line| line.number).collect::<Vec<_>>().into();
    }
    if let Some(edge) = step.edge {
        object["text"] = step.text.clone().into();
        object["edge"] = edge.into();
    }
    if step.actions.len() > 1 {
        let effects = step.actions.iter().map(|effect| {
            let event = match effect {
                Action::Load(..) => "load",
                Action::Store(..) => "store",
                Action::Drain(..) => "drain",
                Action::Assign(..) => "assign",
                Action::Choose(..) => "choose",
            };
            let mut object = json!({"event": event});
            merge(&mut object, effect_object(program, step, effect));
            object
        });
        object["effects"] = effects.collect();
    }
    object
}

fn effect_object(program: &Program, step: &ShownStep<'_>, effect: &Action) -> Value {
    let variable = |v: &VarId| &program.variable(*v).name;
    match effect {
        Action::Load(v, value, from) => {
            json!({"variable": variable(v), "value": integer(value), "from_buffer": from.is_own_buffer()})
        }
        Action::Store(v, value, buffered) => {
            json!({"variable": variable(v), "value": integer(value), "buffered": buffered})
        }
        Action::Drain(v, value, _) => json!({"variable": variable(v), "value": integer(value)}),
        Action::Assign(r, value) | Action::Choose(r, value) => {
            let register = &program.thread(step.thread).registers[r.index()];
            json!({"register": register, "value": integer(value)})
        }
    }
}

/// Whether the condition of a litmus test holds, as a verdict.
fn held(found: &CheckedOutcomes) -> &'static str {
    match found.holds() {
        Some(true) => "safe",
        Some(false) => "unsafe",
        None => "unknown",
    }
}

fn diagnostics(source: &Source, diagnostics: &[Diagnostic]) -> Vec<Value> {
    let object = |diagnostic: &Diagnostic| {
        let source = diagnostic.source.as_deref().unwrap_or(source);
        let (line, column) = position(source, diagnostic.span).unzip();
        let mut object = json!({
            "severity": match diagnostic.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
            },
            "line": line,
            "column": column,
            "message": diagnostic.message,
            "label": (!diagnostic.label.is_empty()).then_some(&diagnostic.label),
            "hint": diagnostic.hint,
        });
        if let Some(file) = source.place(diagnostic.span).and_then(|line| line.file) {
            object["file"] = file.into();
        }
        object
    };
    diagnostics.iter().map(object).collect()
}
