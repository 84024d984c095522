//! What a litmus test found, in the shape that users of herd7 know.

use evidence::{CheckedOutcomes, Observation};
use program::{Program, Quantifier, Question};
use serde_json::{Value, json};
use std::fmt::Write;

/// The report in text. With more final states possible than were found, it says so instead
/// of `Ok` or `No` where they could decide.
pub fn text(program: &Program, question: &Question, found: &CheckedOutcomes) -> String {
    let name = &program.name;
    let kind = match question.quantifier {
        Quantifier::Exists => "Allowed",
        Quantifier::NotExists => "Forbidden",
        Quantifier::ForAll => "Required",
    };
    let mut out = format!("Test {name} {kind}\nStates {}\n", found.finals().len());
    for values in found.finals() {
        let pair = |((name, _), value): (&(String, _), &i64)| format!("{name}={value};");
        let pairs: Vec<String> = question.observed.iter().zip(values).map(pair).collect();
        let _ = writeln!(out, "{}", pairs.join(" "));
    }
    let _ = match found.holds() {
        Some(true) => writeln!(out, "Ok"),
        Some(false) => writeln!(out, "No"),
        None => writeln!(out, "Unknown"),
    };
    let (positive, negative) = (found.positive(), found.finals().len() - found.positive());
    let _ = writeln!(out, "Witnesses\nPositive: {positive} Negative: {negative}");
    let _ = writeln!(out, "Condition {}", condition(program, question));
    let observation = super::capital(observation(found));
    let _ = writeln!(out, "Observation {name} {observation} {positive} {negative}");
    for reason in super::reason_texts(program, found.missing()) {
        let _ = writeln!(out, "Incomplete: {reason}");
    }
    out
}

/// The condition as it is written, quantifier included.
pub fn condition(program: &Program, question: &Question) -> String {
    let written = program.source.snippet(question.span);
    let word = quantifier(question);
    if written.is_empty() || written.starts_with(word) { written } else { format!("{word} {written}") }
}

/// The quantifier as tests write it.
pub fn quantifier(question: &Question) -> &'static str {
    match question.quantifier {
        Quantifier::Exists => "exists",
        Quantifier::NotExists => "~exists",
        Quantifier::ForAll => "forall",
    }
}

/// The observation as JSON reports name it.
pub fn observation(found: &CheckedOutcomes) -> &'static str {
    match found.observation() {
        Observation::Always => "always",
        Observation::Sometimes => "sometimes",
        Observation::Never => "never",
    }
}

/// The answer as JSON.
pub fn object(question: &Question, found: &CheckedOutcomes) -> Value {
    json!({
        "condition": quantifier(question),
        "observed": observation(found),
        "holds": found.holds(),
        "complete": found.missing().is_empty(),
        "outcomes": outcomes(question, found),
    })
}

/// The final states as JSON: one object each, by name.
fn outcomes(question: &Question, found: &CheckedOutcomes) -> Vec<Value> {
    let outcome = |values: &Vec<i64>| {
        let pairs = question.observed.iter().zip(values);
        Value::Object(pairs.map(|((name, _), value)| (name.clone(), (*value).into())).collect())
    };
    found.finals().iter().map(outcome).collect()
}
