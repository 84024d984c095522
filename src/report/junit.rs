//! JUnit XML, as dashboards of build servers read it: a test suite per file, a test case per model.
//!
//! A test case holds what the text report says, so a trace can be read where the test failed.

use super::diagnostics;
use super::document::{Ending, notes, plain, read_notes};
use super::markup::entity;
use super::{
    Answered, Compared, Failed, Fenced, Look, Printed, Report, Said, Status, Subject, Walked, reason_texts,
    text, witness,
};
use engine::FenceAnswer;
use evidence::{Claim, Form, Goal, Verdict};
use serde::{Deserialize, Serialize};
use std::fmt::Write;

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
struct TestCase {
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

/// The report.
pub const JUNIT: Report = Report {
    name: "junit",
    about: "one JUnit XML document, for dashboards",
    form: Form::Text,
    print,
    document: Some(document),
};

/// Warnings are part of the answers, and nothing else was tested.
fn print(said: &Said<'_>, _: &Look) -> Printed {
    let case = match said {
        Said::Answer(answered) => answer(answered),
        Said::Fences(fenced) => fences(fenced),
        Said::Failure(failed) => failure(failed),
        Said::Claim(claimed) => {
            let model = match claimed.claim {
                Claim::Robust(..) | Claim::NotRobust(..) => "robust",
                Claim::Safe(model, _)
                | Claim::Within(model, ..)
                | Claim::Unsafe(model, _)
                | Claim::Outcomes(model, _) => model.name(),
            };
            // Evidence that holds passes, whatever it proves.
            TestCase::passed(claimed.file, format!("{model} evidence"), claimed.seconds)
        }
        Said::Walk(walked) => walk(walked),
        Said::Compared(compared, shown) => return notes(&[comparison(compared, *shown)]),
        Said::Plan(..)
        | Said::Warnings(..)
        | Said::Remark(_)
        | Said::Registries(_)
        | Said::Bench(..)
        | Said::Overview(_)
        | Said::Outcome(..)
        | Said::Summary(_) => {
            return Printed::default();
        }
    };
    notes(&[case.saying(said)])
}

impl TestCase {
    /// A test case that passed.
    fn passed(file: &str, name: String, seconds: f64) -> TestCase {
        TestCase {
            file: file.to_string(),
            name,
            seconds,
            end: End::Passed,
            kind: String::new(),
            message: String::new(),
            text: String::new(),
        }
    }

    /// The same, ended otherwise.
    fn ended(self, end: End, kind: &str, message: String) -> TestCase {
        TestCase { end, kind: kind.to_string(), message, ..self }
    }

    /// With what the text report says, behind the warnings.
    fn saying(self, said: &Said<'_>) -> TestCase {
        let warnings = match said {
            Said::Answer(Answered { task, warnings, .. }) => {
                diagnostics::render(&task.program.source, warnings)
            }
            Said::Fences(Fenced { task, warnings, .. }) => {
                diagnostics::render(&task.program.source, warnings)
            }
            _ => String::new(),
        };
        let Printed { out, err } = text::print(said, &LOOK);
        TestCase { text: plain(&(warnings + &out + &err)), ..self }
    }
}

fn answer(answer: &Answered<'_>) -> TestCase {
    let (program, checked, model) = (answer.task.program, &answer.found.checked, answer.task.model.name());
    let name = if answer.task.goal == Goal::Robust { format!("{model} robust") } else { model.to_string() };
    let case = TestCase::passed(answer.file, name, answer.seconds);
    let condition = || program.question.as_ref().map(|question| super::litmus::condition(program, question));
    match (checked.holds(), checked.verdict(), checked.witness()) {
        (Some(true), ..) => case,
        (None, ..) => {
            case.ended(End::Skipped, "unknown", reason_texts(program, checked.reasons()).join("; "))
        }
        (_, Verdict::Unsafe(trace), _) => case.ended(End::Failure, "unsafe", trace.violation.text(program)),
        (_, _, Some(witness)) => {
            let told = witness::ToldWitness::new(program, witness);
            case.ended(End::Failure, "not_robust", witness::sentence(&told))
        }
        _ => {
            let message = format!("does not hold: {}", condition().unwrap_or_default());
            case.ended(End::Failure, "unsafe", message)
        }
    }
}

fn fences(fenced: &Fenced<'_>) -> TestCase {
    let (program, model) = (fenced.task.program, fenced.task.model.name());
    let (kind, name) = match fenced.task.goal {
        Goal::Robust => ("not_robust", format!("{model} robust fences")),
        _ => ("unsafe", format!("{model} fences")),
    };
    let case = TestCase::passed(fenced.file, name, fenced.seconds);
    match &fenced.found.answer {
        FenceAnswer::Placed(_) => case,
        FenceAnswer::UnsafeUnderSc(_) => {
            case.ended(End::Failure, kind, "no fence helps: unsafe under SC".to_string())
        }
        FenceAnswer::NoCandidate(_) => {
            case.ended(End::Failure, kind, "no fence at these points helps".to_string())
        }
        FenceAnswer::Unknown(reasons) => {
            case.ended(End::Skipped, "unknown", reason_texts(program, reasons).join("; "))
        }
    }
}

fn failure(failed: &Failed<'_>) -> TestCase {
    let name = failed.model.map_or(failed.command, |model| model.name()).to_string();
    let (end, kind) = if failed.stopped { (End::Skipped, "unknown") } else { (End::Error, "error") };
    TestCase::passed(failed.file, name, 0.0).ended(end, kind, failed.reason.clone())
}

fn walk(walked: &Walked<'_>) -> TestCase {
    let case = TestCase::passed(walked.file, format!("{} walk", walked.model.name()), 0.0);
    match walked.violation {
        None => case,
        Some(violated) => case.ended(End::Failure, "violated", violated.trace.violation.text(walked.program)),
    }
}

fn comparison(compared: &Compared, shown: Option<&Answered<'_>>) -> TestCase {
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
        (Subject::Robustness, _) => format!("{model} robustness"),
    };
    let case = TestCase::passed(&compared.file, name, compared.seconds);
    let case = match shown {
        Some(answered) => case.saying(&Said::Answer(answered)),
        None => TestCase { text: format!("{}\n", compared.message), ..case },
    };
    case.ended(end, compared.status.name(), compared.message.clone())
}

/// Everything in one document.
fn document(text: &str, ending: &Ending<'_>) -> String {
    let mut cases: Vec<TestCase> = read_notes(text);
    if let Some(trouble) = ending.trouble {
        let case = TestCase::passed("fencewright", "invocation".to_string(), 0.0);
        cases.push(case.ended(End::Error, "error", trouble.to_string()));
    }
    let all: Vec<&TestCase> = cases.iter().collect();
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
fn suites<'a>(cases: &[&'a TestCase]) -> Vec<Vec<&'a TestCase>> {
    let mut suites: Vec<Vec<&TestCase>> = Vec::new();
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

fn totals(cases: &[&TestCase]) -> String {
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

fn test_case(case: &TestCase) -> String {
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
