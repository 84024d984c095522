//! SARIF 2.1.0, as code scanning services read it: one document with one run for everything.
//!
//! Only what needs somebody's attention is a result. A violation stands where the violated
//! claim does, with its execution as a flow through the source. What cannot be read at all is a
//! notification of the invocation.

mod locations;
mod rules;

use super::document::{Ending, notes, read_notes};
use super::fences::thread_names;
use super::place::line_text;
use super::{
    Answered, Claimed, Compared, Failed, Fenced, Look, Printed, Report, Said, Status, TextRegion, fence_name,
    litmus, reason_texts, witness,
};
use engine::{FenceAnswer, FencedRun, Placed};
use evidence::{CheckedOutcomes, CheckedWitness, Claim, Form, Goal, Reason, Violated};
use frontend::{Diagnostic, Severity};
use locations::{CodeFlow, artifact, message, physical, region, remark};
use machine::{Account, Event, Model, Violation};
use program::{Program, Source, Span};
use rules::SarifRule;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::HashMap;

/// The fingerprint that code scanning compares.
const FINGERPRINT: &str = "primaryLocationLineHash";

/// What an answer leaves for the document.
#[derive(Serialize, Deserialize, PartialEq)]
enum Note {
    Result(Value),
    /// Something about the invocation.
    Notification(Value),
}

/// The report.
pub const SARIF: Report = Report {
    name: "sarif",
    about: "one SARIF 2.1.0 document, for code scanning",
    form: Form::Json,
    print,
    document: Some(document),
};

/// Warnings are part of the answers, and measurements and registries are none.
fn print(said: &Said<'_>, _: &Look) -> Printed {
    match said {
        Said::Answer(answered) => notes(&answer(answered)),
        Said::Fences(fenced) => notes(&fences(fenced)),
        Said::Failure(failed) => notes(&failure(failed)),
        Said::Claim(claimed) => notes(&claim(claimed)),
        Said::Walk(walked) => {
            let subject = SarifSubject::new(walked.file, walked.program, walked.model);
            let note = |violated| subject.violated(violated, None);
            notes(&walked.violation.map(note).into_iter().collect::<Vec<_>>())
        }
        Said::Compared(compared, shown) => {
            let mut found = shown.map(answer).unwrap_or_default();
            found.extend(comparison(compared, shown.is_some()));
            notes(&found)
        }
        Said::Plan(..)
        | Said::Warnings(..)
        | Said::Remark(_)
        | Said::Registries(_)
        | Said::Bench(..)
        | Said::Overview(_)
        | Said::Outcome(..)
        | Said::Summary(_) => Printed::default(),
    }
}

fn answer(answer: &Answered<'_>) -> Vec<Note> {
    let subject = SarifSubject::new(answer.file, answer.task.program, answer.task.model);
    let checked = &answer.found.checked;
    let mut found = subject.warnings(answer.warnings);
    match checked.holds() {
        Some(true) => {}
        None => found.push(subject.unknown(checked.reasons())),
        _ => {
            let under_sc = answer.found.why.sc_violation;
            found.extend(checked.violated().map(|violated| subject.violated(violated, under_sc)));
            found.extend(checked.witness().map(|witness| subject.not_robust(witness)));
            found.extend(checked.outcomes().and_then(|outcomes| subject.does_not_hold(outcomes)));
        }
    }
    found
}

fn fences(fenced: &Fenced<'_>) -> Vec<Note> {
    let subject = SarifSubject::new(fenced.file, fenced.task.program, fenced.task.model);
    let mut found = subject.warnings(fenced.warnings);
    match &fenced.found.answer {
        FenceAnswer::Placed(placed) => found.extend(subject.needed(fenced, placed)),
        FenceAnswer::UnsafeUnderSc(checked) => {
            found.extend(checked.violated().map(|violated| subject.violated(violated, Some(true))));
        }
        FenceAnswer::NoCandidate(run) => {
            let FencedRun { program, checked } = &**run;
            let subject = SarifSubject::new(fenced.file, program, fenced.task.model);
            found.extend(checked.violated().map(|violated| subject.violated(violated, Some(false))));
            found.extend(checked.witness().map(|witness| subject.not_robust(witness)));
        }
        FenceAnswer::Unknown(reasons) => found.push(subject.unknown(reasons)),
    }
    found
}

fn failure(failed: &Failed<'_>) -> Vec<Note> {
    match failed.source {
        Some(source) if !failed.diagnostics.is_empty() => {
            failed.diagnostics.iter().map(|d| diagnostic(failed.file, source, d)).collect()
        }
        _ => vec![notification(failed.file, &failed.reason)],
    }
}

fn claim(claimed: &Claimed<'_>) -> Vec<Note> {
    let subject = |model: &Model| SarifSubject::new(claimed.file, claimed.program, *model);
    let note = match claimed.claim {
        Claim::Safe(..) | Claim::Robust(..) | Claim::Within(..) => None,
        Claim::NotRobust(model, checked) => Some(subject(model).not_robust(checked)),
        Claim::Outcomes(model, found) if found.holds() == Some(false) => subject(model).does_not_hold(found),
        Claim::Outcomes(..) => None,
        Claim::Unsafe(model, checked) => {
            checked.violated().map(|violated| subject(model).violated(violated, None))
        }
    };
    note.into_iter().collect()
}

/// What `ci` did not expect, if an answer does not say it.
fn comparison(compared: &Compared, is_shown: bool) -> Option<Note> {
    let rule = match compared.status {
        Status::Ok => return None,
        Status::Error => return Some(notification(&compared.file, &compared.message)),
        Status::Changed if is_shown => return None,
        Status::Changed => SarifRule::VerdictChanged,
        Status::Missing => SarifRule::MissingFence,
        Status::Redundant => SarifRule::RedundantFence,
        Status::Unknown => SarifRule::Unknown,
    };
    Some(expectation(rule, compared))
}

/// Everything in one document.
fn document(text: &str, ending: &Ending<'_>) -> String {
    let (mut results, mut notifications) = (Vec::new(), Vec::new());
    for note in read_notes(text) {
        let (list, value) = match note {
            Note::Result(result) => (&mut results, result),
            Note::Notification(notification) => (&mut notifications, notification),
        };
        // A warning about a program is the same under every model.
        if !list.contains(&value) {
            list.push(value);
        }
    }
    number_alike(&mut results);
    if let Some(trouble) = ending.trouble {
        notifications.push(json!({"level": "error", "message": message(trouble)}));
    }
    let document = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "fencewright",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules::descriptors(),
            }},
            "columnKind": "utf16CodeUnits",
            "invocations": [{
                "executionSuccessful": notifications.is_empty(),
                "exitCode": ending.exit.code(),
                "toolExecutionNotifications": notifications,
            }],
            "results": results,
        }],
    });
    serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
}

/// Tells results of a file with the same fingerprint apart, by their order.
fn number_alike(results: &mut [Value]) {
    let mut seen: HashMap<String, usize> = HashMap::new();
    for result in results {
        let file = &result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
        let hash = &result["partialFingerprints"][FINGERPRINT];
        let count = seen.entry(format!("{file} {hash}")).or_default();
        *count += 1;
        result["partialFingerprints"][FINGERPRINT] =
            format!("{}:{count}", hash.as_str().unwrap_or_default()).into();
    }
}

/// Something about a file as a whole, which perhaps does not exist.
fn notification(file: &str, reason: &str) -> Note {
    Note::Notification(json!({"level": "error", "message": message(&format!("{file}: {reason}"))}))
}

/// A message about a text.
fn diagnostic(file: &str, source: &Source, diagnostic: &Diagnostic) -> Note {
    let rule = match diagnostic.severity {
        Severity::Error => SarifRule::InputError,
        Severity::Warning => SarifRule::InputWarning,
    };
    let hint = diagnostic.hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default();
    let text = format!("{}{hint}", diagnostic.message);
    let mut result = result(rule, file, source, TextRegion::of(source, diagnostic.span), &text, "");
    let related = diagnostic.related.iter();
    let related = related.map(|(span, text)| remark(file, TextRegion::of(source, *span), text));
    if !diagnostic.related.is_empty() {
        result["relatedLocations"] = related.collect();
    }
    Note::Result(result)
}

/// A result at a place. `key` and the text of the line tell it from others of its rule.
fn result(
    rule: SarifRule,
    file: &str,
    source: &Source,
    place: Option<TextRegion>,
    text: &str,
    key: &str,
) -> Value {
    let line = place.map(|place| line_text(source, place.line).trim()).unwrap_or_default();
    located(rule, file, place, text, &[line, key])
}

fn located(rule: SarifRule, file: &str, place: Option<TextRegion>, text: &str, keys: &[&str]) -> Value {
    let mut result = rule.result();
    result["message"] = message(text);
    result["locations"] = json!([{"physicalLocation": physical(file, place)}]);
    let fingerprint = fingerprint(&[&[rule.id()], keys].concat());
    result["partialFingerprints"] = json!({FINGERPRINT: fingerprint});
    result
}

/// The same for the same problem, wherever in its file it moves (FNV-1a).
fn fingerprint(parts: &[&str]) -> String {
    let bytes = parts.iter().flat_map(|part| part.bytes().chain([0]));
    let hash = bytes
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    format!("{hash:016x}")
}

/// What `ci` did not expect.
fn expectation(rule: SarifRule, compared: &Compared) -> Note {
    let model = compared.model.map_or("", |model| model.name());
    let keys = [compared.subject.name(), model, &compared.expected, &compared.found];
    let mut result = located(rule, &compared.file, compared.place, &compared.message, &keys);
    let (config, line) = &compared.config;
    let place = TextRegion { line: *line, column: 1, end_line: *line, end_column: 1 };
    result["relatedLocations"] = json!([remark(config, Some(place), "what is expected stands here")]);
    Note::Result(result)
}

/// What results are about.
struct SarifSubject<'a> {
    file: &'a str,
    program: &'a Program,
    model: Model,
}

impl<'a> SarifSubject<'a> {
    fn new(file: &'a str, program: &'a Program, model: Model) -> SarifSubject<'a> {
        SarifSubject { file, program, model }
    }

    fn model(&self) -> String {
        self.model.name().to_uppercase()
    }

    fn place(&self, span: Span) -> Option<TextRegion> {
        TextRegion::of(&self.program.source, span)
    }

    fn at(&self, rule: SarifRule, span: Span, text: &str) -> Value {
        let source = &self.program.source;
        result(rule, self.file, source, self.place(span), text, self.model.name())
    }

    fn result(&self, rule: SarifRule, span: Span, text: &str) -> Note {
        Note::Result(self.at(rule, span, text))
    }

    fn does_not_hold(&self, found: &CheckedOutcomes) -> Option<Note> {
        let question = self.program.question.as_ref()?;
        let (condition, observed) = (litmus::condition(self.program, question), litmus::observation(found));
        let text = format!("does not hold under {}: {condition} (observed: {observed})", self.model());
        Some(self.result(SarifRule::Violation, question.span, &text))
    }

    fn unknown(&self, reasons: &[Reason]) -> Note {
        let reasons = reason_texts(self.program, reasons);
        let text = format!("unknown under {}: {}", self.model(), reasons.join("; "));
        self.result(SarifRule::Unknown, Span::NONE, &text)
    }

    fn warnings(&self, warnings: &[Diagnostic]) -> Vec<Note> {
        warnings.iter().map(|warning| diagnostic(self.file, &self.program.source, warning)).collect()
    }

    /// A violation, with its execution.
    fn violated(&self, violated: Violated<'_>, sc_violation: Option<bool>) -> Note {
        let (program, trace) = (self.program, violated.trace);
        let rule = match trace.violation {
            Violation::Property(_) => SarifRule::Violation,
            Violation::Failure(..) => SarifRule::Failure,
        };
        let why = match (violated.cause, sc_violation) {
            (_, Some(true)) => ". This happens under SC as well: no fence helps.".to_string(),
            (Some(cause), _) => format!(". {}.", cause.text(program)),
            (None, _) => String::new(),
        };
        let text = format!("unsafe under {}: {}{why}", self.model(), trace.violation.text(program));
        let mut result = self.at(rule, trace.violation.span(program), &text);
        self.add_flow(&mut result, violated.account, violated.cause.map(|cause| cause.step));
        Note::Result(result)
    }

    fn add_flow(&self, result: &mut Value, account: &Account, cause: Option<usize>) {
        let flow = CodeFlow::new(self.file, self.program, account);
        if let Some(step) = cause {
            let remark = remark(self.file, flow.place(step), "SC would not allow this step here");
            result["relatedLocations"] = json!([remark]);
        }
        if !account.steps().is_empty() {
            result["codeFlows"] = flow.json(cause);
        }
    }

    /// A witness, at the store that is delayed.
    fn not_robust(&self, checked: &CheckedWitness) -> Note {
        let witness = checked.witness();
        let span = match witness.steps.get(witness.store).map(|step| step.event) {
            Some(Event::Step { thread, edge }) => self.program.thread(thread).edge(edge).span,
            _ => Span::NONE,
        };
        let told = witness::ToldWitness::new(self.program, checked);
        let text = format!("not robust against {}: {}", self.model(), witness::sentence(&told));
        let mut result = self.at(SarifRule::NotRobust, span, &text);
        self.add_flow(&mut result, checked.account(), Some(witness.overtaker));
        Note::Result(result)
    }

    /// A result for every fence, with the way to write it and what happens without it.
    fn needed(&self, fenced: &Fenced<'_>, placed: &Placed) -> Vec<Note> {
        let each = placed.fences.iter().enumerate();
        let note = |(at, fence): (usize, &engine::NeededFence)| {
            let point = &fence.point;
            let goal = match fenced.task.goal {
                Goal::Robust => format!("for robustness against {}", self.model()),
                _ => format!("under {}", self.model()),
            };
            let (name, threads) = (fence_name(self.program, point), thread_names(self.program, point));
            let text = format!("needed {goal}: {name} in {}", threads.join(", "));
            let mut result = self.at(SarifRule::MissingFence, point.span, &text);
            if let Some(FencedRun { program, checked }) = &fence.without
                && let Some(Violated { account, cause, .. }) = checked.violated()
            {
                let without = SarifSubject::new(self.file, program, self.model);
                without.add_flow(&mut result, account, cause.map(|cause| cause.step));
            }
            if let Some((edit, place)) =
                fenced.edits.get(at).and_then(|edit| Some((edit, self.place(edit.span)?)))
            {
                result["fixes"] = json!([{
                    "description": {"text": "write the fence"},
                    "artifactChanges": [{
                        "artifactLocation": artifact(self.file),
                        "replacements": [
                            {"deletedRegion": region(place), "insertedContent": {"text": edit.text}}
                        ],
                    }],
                }]);
            }
            Note::Result(result)
        };
        each.map(note).collect()
    }
}
