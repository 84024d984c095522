//! JUnit XML, as dashboards of build servers read it: a test suite a file, a test case a model.
//!
//! A test case holds what the text report says, so a trace can be read where the test failed.

use super::document::{Assemble, Ending, notes, plain, read_notes};
use super::markup::entity;
use super::text::Text;
use super::{
    Answered, BenchTable, Claimed, Compared, Failed, Fenced, LitmusAnswered, Look, Printed, Report,
    RobustAnswered, RobustFenced, Section, Status, Subject, Walked, reason_texts, witness,
};
use engine::{FenceAnswer, RobustFences, Robustness};
use evidence::{Claim, Form, Verdict};
use frontend::Diagnostic;
use program::{Program, Source};
use serde::{Deserialize, Serialize};
use std::fmt::Write;

/// The report.
pub struct Junit;

/// How wide texts are.
const LOOK: Look = Look { width: 120, quiet: false, verbose: false };

/// How a test case ended.
#[derive(Clone, Copy, Serialize, Deserialize, PartialEq, Eq)]
enum End {
    Passed,
    Failure,
    Error,
    Skipped,
}

/// A test case.
#[derive(Serialize, Deserialize)]
struct Case {
    file: String,
    name: String,
    seconds: f64,
    end: End,
    /// A word for the kind of failure.
    kind: String,
    message: String,
    /// What the text report says.
    text: String,
}

impl Report for Junit {
    fn name(&self) -> &'static str {
        "junit"
    }

    fn about(&self) -> &'static str {
        "one JUnit XML document, for dashboards"
    }

    fn form(&self) -> Form {
        Form::Text
    }

    fn answer(&self, answer: &Answered<'_>, _: &Look) -> Printed {
        let program = answer.task.program;
        let (end, kind, message) = match answer.checked.verdict() {
            Verdict::Safe(_) => (End::Passed, "", String::new()),
            Verdict::Unsafe(trace) => (End::Failure, "unsafe", trace.violation.text(program)),
            Verdict::Unknown(reasons) => (End::Skipped, "unknown", reason_texts(program, reasons).join("; ")),
        };
        let text = warned(program, answer.warnings, &Text.answer(answer, &LOOK));
        case(answer.file, answer.task.model.name(), answer.seconds, end, (kind, message), text)
    }

    fn litmus(&self, answer: &LitmusAnswered<'_>, _: &Look) -> Printed {
        let program = answer.task.program;
        let condition = || super::litmus::condition(program, answer.question);
        let (end, kind, message) = match answer.found.holds() {
            Some(true) => (End::Passed, "", String::new()),
            Some(false) => (End::Failure, "unsafe", format!("does not hold: {}", condition())),
            None => (End::Skipped, "unknown", reason_texts(program, answer.found.missing()).join("; ")),
        };
        let text = warned(program, answer.warnings, &Text.litmus(answer, &LOOK));
        case(answer.file, answer.task.model.name(), answer.seconds, end, (kind, message), text)
    }

    fn fences(&self, fenced: &Fenced<'_>, _: &Look) -> Printed {
        let program = fenced.task.program;
        let (end, kind, message) = match fenced.answer() {
            FenceAnswer::Placed(_) => (End::Passed, "", String::new()),
            FenceAnswer::UnsafeUnderSc(_) => {
                (End::Failure, "unsafe", "no fence helps: unsafe under SC".into())
            }
            FenceAnswer::NoCandidate(_) => (End::Failure, "unsafe", "no fence at these points helps".into()),
            FenceAnswer::Unknown(reasons) => {
                (End::Skipped, "unknown", reason_texts(program, reasons).join("; "))
            }
            FenceAnswer::Rejected(why) => (End::Error, "error", why.to_string()),
        };
        let text = warned(program, fenced.warnings, &Text.fences(fenced, &LOOK));
        let name = format!("{} fences", fenced.task.model.name());
        case(fenced.file, &name, fenced.seconds, end, (kind, message), text)
    }

    fn robust(&self, answer: &RobustAnswered<'_>, _: &Look) -> Printed {
        let program = answer.task.program;
        let (end, kind, message) = match answer.robustness {
            Robustness::Robust => (End::Passed, "", String::new()),
            Robustness::NotRobust(checked) => {
                (End::Failure, "not_robust", witness::sentence(&witness::Told::new(program, checked)))
            }
            Robustness::Unknown(reasons) => {
                (End::Skipped, "unknown", reason_texts(program, reasons).join("; "))
            }
            Robustness::Rejected(why) => (End::Error, "error", why.to_string()),
        };
        let text = warned(program, answer.warnings, &Text.robust(answer, &LOOK));
        let name = format!("{} robust", answer.task.model.name());
        case(answer.file, &name, answer.seconds, end, (kind, message), text)
    }

    fn robust_fences(&self, fenced: &RobustFenced<'_>, _: &Look) -> Printed {
        let program = fenced.task.program;
        let (end, kind, message) = match fenced.found {
            RobustFences::Placed(_) => (End::Passed, "", String::new()),
            RobustFences::NoCandidate(_) => {
                (End::Failure, "not_robust", "no fence at these points helps".into())
            }
            RobustFences::Unknown(reasons) => {
                (End::Skipped, "unknown", reason_texts(program, reasons).join("; "))
            }
            RobustFences::Rejected(why) => (End::Error, "error", why.to_string()),
        };
        let text = warned(program, fenced.warnings, &Text.robust_fences(fenced, &LOOK));
        let name = format!("{} robust fences", fenced.task.model.name());
        case(fenced.file, &name, fenced.seconds, end, (kind, message), text)
    }

    fn failure(&self, failed: &Failed<'_>) -> Printed {
        let name = failed.model.map_or(failed.command, |model| model.name());
        let Printed { out, err } = Text.failure(failed);
        let (end, kind) = if failed.stopped { (End::Skipped, "unknown") } else { (End::Error, "error") };
        case(failed.file, name, 0.0, end, (kind, failed.reason.clone()), plain(&(out + &err)))
    }

    /// They are part of the answers.
    fn warnings(&self, _: &Source, _: &[Diagnostic]) -> Printed {
        Printed::default()
    }

    /// Evidence that holds passes, whatever it proves.
    fn claim(&self, claimed: &Claimed<'_>, _: &Look) -> Printed {
        let model = match claimed.claim {
            Claim::Safe(model, _) | Claim::Unsafe(model, ..) | Claim::Outcomes(model, _) => model.name(),
            Claim::Robust(..) | Claim::NotRobust(..) => "robust",
        };
        let name = format!("{model} evidence");
        let text = plain(&Text.claim(claimed, &LOOK).out);
        case(claimed.file, &name, claimed.seconds, End::Passed, ("", String::new()), text)
    }

    fn walk(&self, walked: &Walked<'_>, _: &Look) -> Printed {
        let (end, kind, message) = match walked.violation {
            None => (End::Passed, "", String::new()),
            Some(violated) => (End::Failure, "violated", violated.trace.violation.text(walked.program)),
        };
        let name = format!("{} walk", walked.model.name());
        let text = plain(&Text.walk(walked, &LOOK).out);
        case(walked.file, &name, 0.0, end, (kind, message), text)
    }

    /// Nothing was tested.
    fn registries(&self, _: &[Section]) -> Printed {
        Printed::default()
    }

    /// Measurements are no answers.
    fn bench(&self, _: &str, _: &[BenchTable], _: &Look) -> Printed {
        Printed::default()
    }

    fn compared(&self, compared: &Compared) -> Printed {
        let end = match compared.status {
            Status::Ok => End::Passed,
            Status::Changed | Status::Missing | Status::Redundant => End::Failure,
            Status::Unknown => End::Skipped,
            Status::Error => End::Error,
        };
        let model = compared.model.map_or("all models", |model| model.name());
        let name = match (compared.subject, compared.place) {
            (Subject::Verdict, _) => model.to_string(),
            (Subject::Fence, Some(place)) => format!("fence in line {}", place.line),
            (Subject::Fence | Subject::Fences, _) => format!("{model} fences"),
        };
        let mut text: String = read_notes(&compared.detail).into_iter().map(|case: Case| case.text).collect();
        if text.is_empty() {
            text = format!("{}\n", compared.message);
        }
        let why = (compared.status.name(), compared.message.clone());
        case(&compared.file, &name, compared.seconds, end, why, text)
    }

    fn document(&self) -> Option<Assemble> {
        Some(document)
    }
}

/// A text report with the warnings in front of it.
fn warned(program: &Program, warnings: &[Diagnostic], said: &Printed) -> String {
    plain(&(Text.warnings(&program.source, warnings).err + &said.out))
}

fn case(file: &str, name: &str, seconds: f64, end: End, why: (&str, String), text: String) -> Printed {
    let (kind, message) = why;
    let (file, name, kind) = (file.to_string(), name.to_string(), kind.to_string());
    notes(&[Case { file, name, seconds, end, kind, message, text }])
}

/// Everything in one document.
fn document(text: &str, ending: &Ending<'_>) -> String {
    let mut cases: Vec<Case> = read_notes(text);
    if let Some(trouble) = ending.trouble {
        cases.push(Case {
            file: "fencewright".to_string(),
            name: "invocation".to_string(),
            seconds: 0.0,
            end: End::Error,
            kind: "error".to_string(),
            message: trouble.to_string(),
            text: String::new(),
        });
    }
    let all: Vec<&Case> = cases.iter().collect();
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(out, "<testsuites name=\"fencewright\" {}>", totals(&all));
    for suite in suites(&all) {
        let name = attribute(&suite[0].file);
        let _ = writeln!(out, "  <testsuite name=\"{name}\" {}>", totals(&suite));
        suite.iter().for_each(|case| out += &test_case(case));
        out += "  </testsuite>\n";
    }
    out + "</testsuites>\n"
}

/// Cases by file, in the order in which the files came first.
fn suites<'a>(cases: &[&'a Case]) -> Vec<Vec<&'a Case>> {
    let mut suites: Vec<Vec<&Case>> = Vec::new();
    let mut known = std::collections::HashMap::new();
    for case in cases {
        let at = *known.entry(case.file.as_str()).or_insert(suites.len());
        if at == suites.len() {
            suites.push(Vec::new());
        }
        suites[at].push(case);
    }
    suites
}

fn totals(cases: &[&Case]) -> String {
    let ended = |end: End| cases.iter().filter(|case| case.end == end).count();
    let seconds: f64 = cases.iter().map(|case| case.seconds).sum();
    format!(
        "tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{seconds:.3}\"",
        cases.len(),
        ended(End::Failure),
        ended(End::Error),
        ended(End::Skipped)
    )
}

fn test_case(case: &Case) -> String {
    let (file, name) = (attribute(&case.file), attribute(&case.name));
    let (kind, message) = (attribute(&case.kind), attribute(&case.message));
    let mut out =
        format!("    <testcase classname=\"{file}\" name=\"{name}\" time=\"{:.3}\">\n", case.seconds);
    let _ = match case.end {
        End::Passed => Ok(()),
        End::Failure => writeln!(out, "      <failure type=\"{kind}\" message=\"{message}\"/>"),
        End::Error => writeln!(out, "      <error type=\"{kind}\" message=\"{message}\"/>"),
        End::Skipped => writeln!(out, "      <skipped message=\"{message}\"/>"),
    };
    if !case.text.is_empty() {
        let _ = writeln!(out, "      <system-out>{}</system-out>", escaped(&case.text));
    }
    out + "    </testcase>\n"
}

/// Text inside an element.
fn escaped(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut out, c| {
        match (entity(c), c) {
            (Some(entity), _) => out += entity,
            (None, '\r') => out += "&#13;",
            (None, '\n' | '\t') => out.push(c),
            // XML has no way to write these; their pictures say which they were.
            (None, '\0'..='\x1f') => out.push(char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{fffd}')),
            (None, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            (None, c) => out.push(c),
        }
        out
    })
}

/// Text inside an attribute, where bare line breaks would become blanks.
fn attribute(text: &str) -> String {
    escaped(text).replace('\n', "&#10;").replace('\t', "&#9;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_escaped() {
        assert_eq!(escaped("a < b && \"c\"\n]]>"), "a &lt; b &amp;&amp; &quot;c&quot;\n]]&gt;");
        assert_eq!(escaped("\0\x1b[1m\u{ffff}\r"), "\u{2400}\u{241b}[1m\u{fffd}&#13;");
        assert_eq!(attribute("a\n\tb"), "a&#10;&#9;b");
    }
}
