//! SARIF 2.1.0, as code scanning services read it: one document with one run for everything.
//!
//! Only what needs somebody's attention is a result. A violation stands where the violated
//! claim does, with its execution as a flow through the source. What cannot be read at all is a
//! notification of the invocation.

mod locations;
mod rules;

use super::document::{Assemble, Ending, notes, read_notes};
use super::fences::thread_names;
use super::place::line_text;
use super::{
    Answered, BenchTable, Claimed, Compared, Failed, Fenced, LitmusAnswered, Look, Place, Printed, Report,
    RobustAnswered, RobustFenced, Section, Status, Walked, fence_name, litmus, reason_texts, violation_span,
    witness,
};
use engine::{FenceAnswer, Placed, RobustFence, RobustFences, Robustness};
use evidence::{Checked, CheckedOutcomes, CheckedWitness, Claim, Form, Verdict, Violated};
use frontend::{Diagnostic, Severity};
use locations::{Flow, artifact, message, physical, region, remark};
use machine::{Account, Event, Model, Violation};
use program::{Program, Question, Source, Span};
use rules::Rule;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::HashMap;

/// The report.
pub struct Sarif;

/// The fingerprint that code scanning compares.
const FINGERPRINT: &str = "primaryLocationLineHash";

/// What an answer leaves for the document.
#[derive(Serialize, Deserialize, PartialEq)]
enum Note {
    Result(Value),
    /// Something about the invocation.
    Notification(Value),
}

impl Report for Sarif {
    fn name(&self) -> &'static str {
        "sarif"
    }

    fn about(&self) -> &'static str {
        "one SARIF 2.1.0 document, for code scanning"
    }

    fn form(&self) -> Form {
        Form::Json
    }

    fn answer(&self, answer: &Answered<'_>, _: &Look) -> Printed {
        let subject = Subject::new(answer.file, answer.task.program, answer.task.model);
        let mut found = subject.warnings(answer.warnings);
        match answer.checked.verdict() {
            Verdict::Safe(_) => {}
            Verdict::Unknown(reasons) => {
                found.push(subject.unknown(&reason_texts(subject.program, reasons)));
            }
            Verdict::Unsafe(_) => found.extend(subject.unsafe_with(answer.checked, answer.sc_violation)),
        }
        notes(&found)
    }

    fn litmus(&self, answer: &LitmusAnswered<'_>, _: &Look) -> Printed {
        let subject = Subject::new(answer.file, answer.task.program, answer.task.model);
        let mut found = subject.warnings(answer.warnings);
        match answer.found.holds() {
            Some(true) => {}
            None => found.push(subject.unknown(&reason_texts(subject.program, answer.found.missing()))),
            Some(false) => found.push(subject.does_not_hold(answer.question, answer.found)),
        }
        notes(&found)
    }

    fn fences(&self, fenced: &Fenced<'_>, _: &Look) -> Printed {
        let subject = Subject::new(fenced.file, fenced.task.program, fenced.task.model);
        let mut found = subject.warnings(fenced.warnings);
        match fenced.answer() {
            FenceAnswer::Placed(placed) => found.extend(subject.needed(fenced, placed)),
            FenceAnswer::UnsafeUnderSc(checked) => found.extend(subject.unsafe_with(checked, Some(true))),
            FenceAnswer::NoCandidate(with) => {
                let subject = Subject::new(fenced.file, &with.0, fenced.task.model);
                found.extend(subject.unsafe_with(&with.1, Some(false)));
            }
            FenceAnswer::Unknown(reasons) => {
                found.push(subject.unknown(&reason_texts(subject.program, reasons)));
            }
            FenceAnswer::Rejected(why) => found.push(notification(fenced.file, &why.to_string())),
        }
        notes(&found)
    }

    fn robust(&self, answer: &RobustAnswered<'_>, _: &Look) -> Printed {
        let subject = Subject::new(answer.file, answer.task.program, answer.task.model);
        let mut found = subject.warnings(answer.warnings);
        match answer.robustness {
            Robustness::Robust => {}
            Robustness::NotRobust(checked) => found.push(subject.not_robust(checked)),
            Robustness::Unknown(reasons) => {
                found.push(subject.unknown(&reason_texts(subject.program, reasons)));
            }
            Robustness::Rejected(why) => found.push(notification(answer.file, &why.to_string())),
        }
        notes(&found)
    }

    fn robust_fences(&self, fenced: &RobustFenced<'_>, _: &Look) -> Printed {
        let subject = Subject::new(fenced.file, fenced.task.program, fenced.task.model);
        let mut found = subject.warnings(fenced.warnings);
        match fenced.found {
            RobustFences::Placed(placed) => {
                found.extend(placed.fences.iter().map(|fence| subject.needed_for_robustness(fence)));
            }
            RobustFences::NoCandidate(with) => {
                found.push(Subject::new(fenced.file, &with.0, fenced.task.model).not_robust(&with.1));
            }
            RobustFences::Unknown(reasons) => {
                found.push(subject.unknown(&reason_texts(subject.program, reasons)));
            }
            RobustFences::Rejected(why) => found.push(notification(fenced.file, &why.to_string())),
        }
        notes(&found)
    }

    fn failure(&self, failed: &Failed<'_>) -> Printed {
        match failed.source {
            Some(source) if !failed.diagnostics.is_empty() => {
                let each = failed.diagnostics.iter();
                notes(&each.map(|d| diagnostic(failed.file, source, d)).collect::<Vec<_>>())
            }
            _ => notes(&[notification(failed.file, &failed.reason)]),
        }
    }

    /// They are part of the answers.
    fn warnings(&self, _: &Source, _: &[Diagnostic]) -> Printed {
        Printed::default()
    }

    fn claim(&self, claimed: &Claimed<'_>, _: &Look) -> Printed {
        match claimed.claim {
            Claim::Safe(..) | Claim::Robust(..) => Printed::default(),
            Claim::NotRobust(model, checked) => {
                let subject = Subject::new(claimed.file, claimed.program, *model);
                notes(&[subject.not_robust(checked)])
            }
            Claim::Outcomes(model, found) => match (&claimed.program.question, found.holds()) {
                (Some(question), Some(false)) => {
                    let subject = Subject::new(claimed.file, claimed.program, *model);
                    notes(&[subject.does_not_hold(question, found)])
                }
                _ => Printed::default(),
            },
            Claim::Unsafe(model, checked) => {
                let subject = Subject::new(claimed.file, claimed.program, *model);
                notes(&subject.unsafe_with(checked, None).into_iter().collect::<Vec<_>>())
            }
        }
    }

    fn walk(&self, walked: &Walked<'_>, _: &Look) -> Printed {
        let Some(violated) = walked.violation else { return Printed::default() };
        let subject = Subject::new(walked.file, walked.program, walked.model);
        notes(&[subject.violated(violated, None)])
    }

    /// Rules are all that a document without results can list.
    fn registries(&self, _: &[Section]) -> Printed {
        Printed::default()
    }

    /// Measurements are no answers.
    fn bench(&self, _: &str, _: &[BenchTable], _: &Look) -> Printed {
        Printed::default()
    }

    fn compared(&self, compared: &Compared) -> Printed {
        let rule = match compared.status {
            Status::Ok => return Printed::default(),
            Status::Error => return notes(&[notification(&compared.file, &compared.message)]),
            Status::Changed if !compared.detail.is_empty() => None,
            Status::Changed => Some(Rule::VerdictChanged),
            Status::Missing => Some(Rule::MissingFence),
            Status::Redundant => Some(Rule::RedundantFence),
            Status::Unknown => Some(Rule::Unknown),
        };
        let about = rule.map(|rule| expectation(rule, compared));
        let mut printed = notes(about.as_slice());
        printed.out.insert_str(0, &compared.detail);
        printed
    }

    fn document(&self) -> Option<Assemble> {
        Some(document)
    }
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
                "informationUri": env!("CARGO_PKG_REPOSITORY"),
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
        Severity::Error => Rule::InputError,
        Severity::Warning => Rule::InputWarning,
    };
    let hint = diagnostic.hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default();
    let text = format!("{}{hint}", diagnostic.message);
    let mut result = result(rule, file, source, Place::of(source, diagnostic.span), &text, "");
    let related = diagnostic.related.iter();
    let related = related.map(|(span, text)| remark(file, Place::of(source, *span), text));
    if !diagnostic.related.is_empty() {
        result["relatedLocations"] = related.collect();
    }
    Note::Result(result)
}

/// A result at a place. `key` and the text of the line tell it from others of its rule.
fn result(rule: Rule, file: &str, source: &Source, place: Option<Place>, text: &str, key: &str) -> Value {
    let line = place.map(|place| line_text(source, place.line).trim()).unwrap_or_default();
    located(rule, file, place, text, &[line, key])
}

fn located(rule: Rule, file: &str, place: Option<Place>, text: &str, keys: &[&str]) -> Value {
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
fn expectation(rule: Rule, compared: &Compared) -> Note {
    let model = compared.model.map_or("", |model| model.name());
    let keys = [compared.subject.name(), model, &compared.expected, &compared.found];
    let mut result = located(rule, &compared.file, compared.place, &compared.message, &keys);
    let (config, line) = &compared.config;
    let place = Place { line: *line, column: 1, end_line: *line, end_column: 1 };
    result["relatedLocations"] = json!([remark(config, Some(place), "what is expected stands here")]);
    Note::Result(result)
}

/// What results are about.
struct Subject<'a> {
    file: &'a str,
    program: &'a Program,
    model: Model,
}

impl<'a> Subject<'a> {
    fn new(file: &'a str, program: &'a Program, model: Model) -> Subject<'a> {
        Subject { file, program, model }
    }

    fn model(&self) -> String {
        self.model.name().to_uppercase()
    }

    fn place(&self, span: Span) -> Option<Place> {
        Place::of(&self.program.source, span)
    }

    fn at(&self, rule: Rule, span: Span, text: &str) -> Value {
        let source = &self.program.source;
        result(rule, self.file, source, self.place(span), text, self.model.name())
    }

    fn result(&self, rule: Rule, span: Span, text: &str) -> Note {
        Note::Result(self.at(rule, span, text))
    }

    fn does_not_hold(&self, question: &Question, found: &CheckedOutcomes) -> Note {
        let (condition, observed) = (litmus::condition(self.program, question), litmus::observation(found));
        let text = format!("does not hold under {}: {condition} (observed: {observed})", self.model());
        self.result(Rule::Violation, question.span, &text)
    }

    fn unknown(&self, reasons: &[String]) -> Note {
        let text = format!("unknown under {}: {}", self.model(), reasons.join("; "));
        self.result(Rule::Unknown, Span::NONE, &text)
    }

    fn warnings(&self, warnings: &[Diagnostic]) -> Vec<Note> {
        warnings.iter().map(|warning| diagnostic(self.file, &self.program.source, warning)).collect()
    }

    fn unsafe_with(&self, checked: &Checked, sc_violation: Option<bool>) -> Option<Note> {
        checked.violated().map(|violated| self.violated(violated, sc_violation))
    }

    /// A violation, with its execution.
    fn violated(&self, violated: Violated<'_>, sc_violation: Option<bool>) -> Note {
        let (program, trace) = (self.program, violated.trace);
        let rule = match trace.violation {
            Violation::Property(_) => Rule::Violation,
            Violation::Failure(..) => Rule::Failure,
        };
        let cause = violated.cause.filter(|_| sc_violation != Some(true));
        let why = match (cause, sc_violation) {
            (_, Some(true)) => ". This happens under SC as well: no fence helps.".to_string(),
            (Some(cause), _) => format!(". {}.", cause.text(program)),
            (None, _) => String::new(),
        };
        let text = format!("unsafe under {}: {}{why}", self.model(), trace.violation.text(program));
        let mut result = self.at(rule, violation_span(program, trace.violation), &text);
        self.add_flow(&mut result, violated.account, cause.map(|cause| cause.step));
        Note::Result(result)
    }

    fn add_flow(&self, result: &mut Value, account: &Account, cause: Option<usize>) {
        let flow = Flow::new(self.file, self.program, account);
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
        let told = witness::Told::new(self.program, checked);
        let text = format!("not robust against {}: {}", self.model(), witness::sentence(&told));
        let mut result = self.at(Rule::NotRobust, span, &text);
        self.add_flow(&mut result, checked.account(), Some(witness.load));
        Note::Result(result)
    }

    fn needed_for_robustness(&self, fence: &RobustFence) -> Note {
        let point = &fence.point;
        let (name, threads) = (fence_name(self.program, point), thread_names(self.program, point).join(", "));
        let text = format!("needed for robustness against {}: {name} in {threads}", self.model());
        self.result(Rule::MissingFence, point.span, &text)
    }

    /// A result for every fence, with the way to write it and what happens without it.
    fn needed(&self, fenced: &Fenced<'_>, placed: &Placed) -> Vec<Note> {
        let each = placed.fences.iter().enumerate();
        let note = |(at, fence): (usize, &engine::NeededFence)| {
            let point = &fence.point;
            let text = format!(
                "needed under {}: {} in {}",
                self.model(),
                fence_name(self.program, point),
                thread_names(self.program, point).join(", "),
            );
            let mut result = self.at(Rule::MissingFence, point.span, &text);
            if let Some((program, checked)) = &fence.without
                && let Some(violated) = checked.violated()
            {
                let without = Subject::new(self.file, program, self.model);
                without.add_flow(&mut result, violated.account, violated.cause.map(|cause| cause.step));
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
