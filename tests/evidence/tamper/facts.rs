//! Evidence files read and written by other code than the checker's: lines as plain facts that
//! a test can tamper with, in both forms.

use program::Int;
use serde_json::{Value, json};

/// One line of an evidence file. The closing line is left out: writing adds the right one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    Head { kind: String, model: String, program: String },
    Global(Option<usize>),
    Local { thread: usize, location: usize, buffer: Vec<Option<usize>> },
    State(Vec<i64>),
    Initial { variable: usize, value: Int },
    Step { thread: usize, edge: usize, choice: Option<Int> },
    Drain { thread: usize, variable: usize },
    Property(usize),
    Failure { thread: usize, location: usize },
}

/// The file in words and numbers.
pub fn text(facts: &[Fact]) -> Vec<u8> {
    let lines = facts.iter().map(words).chain([format!("end {}", facts.len())]);
    lines.map(|line| line + "\n").collect::<String>().into_bytes()
}

/// The file as JSON objects.
pub fn json(facts: &[Fact]) -> Vec<u8> {
    let lines = facts.iter().map(object).chain([json!({ "end": facts.len() })]);
    lines.map(|line| format!("{line}\n")).collect::<String>().into_bytes()
}

fn words(fact: &Fact) -> String {
    let optional = |at: &Option<usize>| at.map_or("-".to_string(), |at| at.to_string());
    match fact {
        Fact::Head { kind, model, program } => format!("fencewright-evidence 1 {kind} {model} {program}"),
        Fact::Global(holder) => format!("global {}", optional(holder)),
        Fact::Local { thread, location, buffer } => {
            let entries: String = buffer.iter().map(|entry| format!(" {}", optional(entry))).collect();
            format!("local {thread} {location}{entries}")
        }
        Fact::State(numbers) => {
            format!("state{}", numbers.iter().map(|n| format!(" {n}")).collect::<String>())
        }
        Fact::Initial { variable, value } => format!("initial {variable} {value}"),
        Fact::Step { thread, edge, choice } => {
            let choice = choice.as_ref().map(|value| format!(" {value}")).unwrap_or_default();
            format!("step {thread} {edge}{choice}")
        }
        Fact::Drain { thread, variable } => format!("drain {thread} {variable}"),
        Fact::Property(at) => format!("property {at}"),
        Fact::Failure { thread, location } => format!("failure {thread} {location}"),
    }
}

fn object(fact: &Fact) -> Value {
    match fact {
        Fact::Head { kind, model, program } => {
            json!({ "evidence": { "version": 1, "kind": kind, "model": model, "program": program } })
        }
        Fact::Global(holder) => json!({ "global": { "holder": holder } }),
        Fact::Local { thread, location, buffer } => {
            json!({ "local": { "thread": thread, "location": location, "buffer": buffer } })
        }
        Fact::State(numbers) => json!({ "state": numbers }),
        Fact::Initial { variable, value } => {
            json!({ "initial": { "variable": variable, "value": value.to_string() } })
        }
        Fact::Step { thread, edge, choice } => {
            let choice = choice.as_ref().map(Int::to_string);
            json!({ "step": { "thread": thread, "edge": edge, "choice": choice } })
        }
        Fact::Drain { thread, variable } => json!({ "drain": { "thread": thread, "variable": variable } }),
        Fact::Property(at) => json!({ "property": at }),
        Fact::Failure { thread, location } => {
            json!({ "failure": { "thread": thread, "location": location } })
        }
    }
}

/// What a file says; `None` if it is not written as it should be.
pub fn parse(file: &[u8]) -> Option<Vec<Fact>> {
    let mut facts = Vec::new();
    let mut lines = std::str::from_utf8(file).ok()?.lines();
    for line in lines.by_ref().map(str::trim) {
        match if line.starts_with('{') { from_object(line)? } else { from_words(line)? } {
            Line::Fact(fact) => facts.push(fact),
            Line::End(count) if count == facts.len() => {
                return lines.all(|line| line.trim().is_empty()).then_some(facts);
            }
            Line::End(_) => return None,
        }
    }
    None
}

enum Line {
    Fact(Fact),
    End(usize),
}

fn from_words(line: &str) -> Option<Line> {
    let mut words = line.split('#').next()?.split_ascii_whitespace();
    let kind = words.next()?;
    let words: Vec<&str> = words.collect();
    let number = |at: usize| words.get(at)?.parse().ok();
    let optional = |word: &&str| if *word == "-" { Some(None) } else { word.parse().ok().map(Some) };
    let counts = |expected: &[usize]| expected.contains(&words.len()).then_some(());
    let fact = match kind {
        "end" => {
            counts(&[1])?;
            return number(0).map(Line::End);
        }
        "state" => Fact::State(words.iter().map(|word| word.parse().ok()).collect::<Option<_>>()?),
        "local" => {
            let buffer = words.get(2..)?.iter().map(optional).collect::<Option<_>>()?;
            Fact::Local { thread: number(0)?, location: number(1)?, buffer }
        }
        "global" => {
            counts(&[1])?;
            Fact::Global(optional(&words[0])?)
        }
        "fencewright-evidence" => {
            counts(&[4])?;
            let [kind, model, program] = [1, 2, 3].map(|at| words[at].to_string());
            (number(0)? == 1).then_some(Fact::Head { kind, model, program })?
        }
        "initial" => {
            counts(&[2])?;
            Fact::Initial { variable: number(0)?, value: words[1].parse().ok()? }
        }
        "step" => {
            counts(&[2, 3])?;
            let choice = words.get(2).map(|word| word.parse().ok());
            Fact::Step {
                thread: number(0)?,
                edge: number(1)?,
                choice: choice.map_or(Some(None), |c| c.map(Some))?,
            }
        }
        "drain" => {
            counts(&[2])?;
            Fact::Drain { thread: number(0)?, variable: number(1)? }
        }
        "property" => {
            counts(&[1])?;
            Fact::Property(number(0)?)
        }
        "failure" => {
            counts(&[2])?;
            Fact::Failure { thread: number(0)?, location: number(1)? }
        }
        _ => return None,
    };
    Some(Line::Fact(fact))
}

fn from_object(line: &str) -> Option<Line> {
    let object: Value = serde_json::from_str(line).ok()?;
    let (kind, value) = object.as_object()?.iter().find(|(key, _)| *key != "remark")?;
    let unsigned = |value: &Value| usize::try_from(value.as_u64()?).ok();
    let field = |name: &str| unsigned(&value[name]);
    let word = |name: &str| value[name].as_str().map(str::to_string);
    let integer = |name: &str| value[name].as_str()?.parse::<Int>().ok();
    let optional = |value: &Value| if value.is_null() { Some(None) } else { unsigned(value).map(Some) };
    let fact = match kind.as_str() {
        "end" => return unsigned(value).map(Line::End),
        "evidence" => {
            (field("version")? == 1).then_some(())?;
            Fact::Head { kind: word("kind")?, model: word("model")?, program: word("program")? }
        }
        "state" => Fact::State(value.as_array()?.iter().map(Value::as_i64).collect::<Option<_>>()?),
        "global" => Fact::Global(optional(&value["holder"])?),
        "local" => {
            let buffer = value["buffer"].as_array()?.iter().map(optional).collect::<Option<_>>()?;
            Fact::Local { thread: field("thread")?, location: field("location")?, buffer }
        }
        "initial" => Fact::Initial { variable: field("variable")?, value: integer("value")? },
        "step" => {
            let choice = if value["choice"].is_null() { None } else { Some(integer("choice")?) };
            Fact::Step { thread: field("thread")?, edge: field("edge")?, choice }
        }
        "drain" => Fact::Drain { thread: field("thread")?, variable: field("variable")? },
        "property" => Fact::Property(unsigned(value)?),
        "failure" => Fact::Failure { thread: field("thread")?, location: field("location")? },
        _ => return None,
    };
    Some(Line::Fact(fact))
}
