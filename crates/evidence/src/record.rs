//! The lines of an evidence file, in two forms.
//!
//! A file is a list of [`Record`]s, one per line. The text form is words and numbers separated
//! by blanks, with a remark for people after `#`; the JSON form is one object per line. Both
//! say the same. Threads, edges, locations and variables are named by number, because names
//! may hold anything.

mod contexts;
mod cubes;
mod demand;
pub(crate) mod renaming;

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::str::FromStr;

/// One line of an evidence file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[doc(hidden)]
pub enum Record {
    /// The first line: what the file is.
    Evidence { version: u32, kind: String, model: String, program: String },
    /// The window, the precision and the modulus of the gap abstraction.
    Gaps { low: i64, high: i64, precision: i64, modulus: i64 },
    /// Runs of at most so many contexts.
    Contexts(u8),
    /// The next shared control there: how many contexts have begun, the active thread and the thread inside an
    /// atomic section, and how many turns are owed.
    Running { context: u8, active: Option<usize>, holder: Option<usize>, owed: u8 },
    /// The next control of a thread there: its location, the turn before which no further store leaves, and the
    /// variables of stores on their way with the turns in which they leave; `null` is never.
    Planned { thread: usize, location: usize, after: Option<u8>, leaving: Vec<(usize, Option<u8>)> },
    /// A thread delays its stores along a path; `complete` if the first store is taken away.
    Extend { thread: usize, complete: bool, path: Vec<usize> },
    /// States are those of the program without the values of these variables.
    Forget(Vec<usize>),
    /// Only states are listed in which every thread has gone as far as it can alone.
    Settled {},
    /// States from which nothing can go wrong any more are not left.
    InReach {},
    /// In every state only the steps of agents that are enough are taken.
    Persistent {},
    /// The same, by the values that threads have.
    Dynamic {},
    /// Agents take several steps at once where nobody else makes a difference in between.
    Cartesian {},
    /// States have values for registers that nothing reads any more.
    DeadRegisters {},
    /// States are listed up to this renaming: what each thread becomes, its locations, and each variable; and how
    /// the values of places (`m0` is a variable, `r0.1@2` a register at a location) are renamed.
    Renaming {
        threads: Vec<usize>,
        locations: Vec<Vec<usize>>,
        variables: Vec<usize>,
        values: BTreeMap<String, Vec<(String, String)>>,
    },
    /// Store buffers are written into the program, up to this many stores per queue.
    Flatten { buffer: usize },
    /// The next shared control: the thread inside an atomic section.
    Global { holder: Option<usize> },
    /// The next control of a thread: its location and the variables in its buffer, oldest
    /// first; `null` is a store fence.
    Local { thread: usize, location: usize, buffer: Vec<Option<usize>> },
    /// A state: the shared control, every thread's control, then the values.
    State(Vec<i64>),
    /// How much the machine recalls of its buffers: `keep` is newest or oldest, `forgotten` pools or
    /// anything.
    Recall { k: usize, keep: String, forgotten: String },
    /// The next predicate: the sum of the terms, each a factor and a slot, and the constant, in
    /// relation to 0.
    Predicate { relation: String, constant: String, terms: Vec<(String, String)> },
    /// The next control of a thread whose order of stores may be forgotten: its location, the variables of the
    /// stores that are kept, `null` for a store fence, and those of forgotten ones, with
    /// whether there may be several.
    Shape { thread: usize, location: usize, kept: Vec<Option<usize>>, forgotten: Vec<(usize, bool)> },
    /// The next control: the thread inside an atomic section, and every thread's by number.
    Control { holder: Option<usize>, shapes: Vec<usize> },
    /// What holds and what fails in a control, by numbers of predicates.
    Cube { control: u32, holds: Vec<u32>, fails: Vec<u32> },
    /// What an element of a basis demands: of every thread a location and the values of its live
    /// registers, of variables their values, who is inside an atomic section (0: nobody, 1: the first
    /// thread), of queues (thread, variable) their stores, and of threads what they find next, each their
    /// own store (true) or what memory held.
    Demand {
        states: Vec<Option<(usize, Vec<i64>)>>,
        memory: Vec<(usize, i64)>,
        holder: Option<usize>,
        queues: Vec<(usize, usize, Vec<i64>)>,
        views: Vec<DemandedLetters>,
    },
    /// What a variable starts with.
    Initial { variable: usize, value: String },
    /// A thread takes an edge, perhaps choosing a value.
    Step { thread: usize, edge: usize, choice: Option<String> },
    /// A store reaches memory.
    Drain { thread: usize, variable: usize },
    /// A property is violated at the end.
    Property(usize),
    /// A thread stands at a failure location at the end.
    Failure { thread: usize, location: usize },
    /// The steps (from 0) that issue the delayed store, load past it, and drain it.
    Delay { store: usize, load: usize, drain: usize },
    /// The values of what is observed in a final state.
    Final(Vec<i64>),
    /// Where threads are in these controls, the steps of these programs and buffers are enough.
    First { controls: Vec<u32>, programs: Vec<usize>, buffers: Vec<usize> },
    /// The last line: how many lines came before it.
    End(usize),
}

/// A thread, and what it finds next.
type DemandedLetters = (usize, Vec<(bool, Vec<(usize, i64)>)>);

impl Record {
    pub fn to_json(&self, remark: &str) -> String {
        let mut value = serde_json::to_value(self).unwrap_or_default();
        if let (Some(object), false) = (value.as_object_mut(), remark.is_empty()) {
            object.insert("remark".to_string(), remark.into());
        }
        value.to_string()
    }

    pub fn from_json(line: &str) -> Result<Record, String> {
        let mut value: serde_json::Value = serde_json::from_str(line).map_err(|e| e.to_string())?;
        if let Some(object) = value.as_object_mut() {
            object.remove("remark");
        }
        serde_json::from_value(value).map_err(|e| e.to_string())
    }

    pub fn to_text(&self, remark: &str) -> String {
        let words = match self {
            Record::Evidence { version, kind, model, program } => {
                format!("fencewright-evidence {version} {kind} {model} {program}")
            }
            Record::Gaps { low, high, precision, modulus } => {
                format!("gaps {low} {high} {precision} {modulus}")
            }
            Record::Extend { thread, complete, path } => {
                let version = if *complete { "complete" } else { "practical" };
                format!("extend {thread} {version}{}", list(path))
            }
            Record::Global { holder } => format!("global {}", option(holder)),
            Record::Local { thread, location, buffer } => {
                let entries = buffer.iter().map(|entry| format!(" {}", option(entry)));
                format!("local {thread} {location}{}", entries.collect::<String>())
            }
            Record::State(numbers) => format!("state{}", list(numbers)),
            Record::Final(values) => format!("final{}", list(values)),
            Record::First { controls, programs, buffers } => {
                format!("first{} :{} :{}", list(controls), list(programs), list(buffers))
            }
            Record::Recall { .. }
            | Record::Predicate { .. }
            | Record::Shape { .. }
            | Record::Control { .. }
            | Record::Cube { .. } => cubes::words(self),
            Record::Demand { .. } => demand::words(self),
            Record::Contexts(_) | Record::Running { .. } | Record::Planned { .. } => contexts::words(self),
            Record::Initial { variable, value } => format!("initial {variable} {value}"),
            Record::Step { thread, edge, choice: None } => format!("step {thread} {edge}"),
            Record::Step { thread, edge, choice: Some(value) } => format!("step {thread} {edge} {value}"),
            Record::Drain { thread, variable } => format!("drain {thread} {variable}"),
            Record::Property(at) => format!("property {at}"),
            Record::Failure { thread, location } => format!("failure {thread} {location}"),
            Record::Delay { store, load, drain } => format!("delay {store} {load} {drain}"),
            Record::Forget(variables) => format!("forget{}", list(variables)),
            Record::Settled {} => "settled".to_string(),
            Record::InReach {} => "in-reach".to_string(),
            Record::Persistent {} => "persistent".to_string(),
            Record::Dynamic {} => "dynamic".to_string(),
            Record::Cartesian {} => "cartesian".to_string(),
            Record::DeadRegisters {} => "dead-registers".to_string(),
            Record::Renaming { .. } => renaming::words(self),
            Record::Flatten { buffer } => format!("flatten {buffer}"),
            Record::End(count) => format!("end {count}"),
        };
        let remark = remark.replace(['\n', '\r'], " ");
        if remark.is_empty() { words } else { format!("{words}  # {remark}") }
    }

    pub fn from_text(line: &str) -> Result<Record, String> {
        let line = line.split('#').next().unwrap_or("");
        let mut words = line.split_ascii_whitespace();
        let kind = words.next().unwrap_or("");
        let record = match kind {
            "state" => Record::State(numbers(words.by_ref())?),
            "final" => Record::Final(numbers(words.by_ref())?),
            "first" => {
                let all: Vec<&str> = words.by_ref().collect();
                let parts: Vec<&[&str]> = all.split(|word| *word == ":").collect();
                let [controls, programs, buffers] = parts[..] else {
                    return Err("three lists are expected here".to_string());
                };
                Record::First {
                    controls: numbers(controls.iter().copied())?,
                    programs: numbers(programs.iter().copied())?,
                    buffers: numbers(buffers.iter().copied())?,
                }
            }
            "local" => Record::Local {
                thread: number(&mut words)?,
                location: number(&mut words)?,
                buffer: words.by_ref().map(optional).collect::<Result<_, _>>()?,
            },
            "extend" => Record::Extend {
                thread: number(&mut words)?,
                complete: match word(&mut words)? {
                    "complete" => true,
                    "practical" => false,
                    other => return Err(bad(other)),
                },
                path: numbers(words.by_ref())?,
            },
            "gaps" => Record::Gaps {
                low: number(&mut words)?,
                high: number(&mut words)?,
                precision: number(&mut words)?,
                modulus: number(&mut words)?,
            },
            "global" => Record::Global { holder: optional(word(&mut words)?)? },
            "initial" => {
                Record::Initial { variable: number(&mut words)?, value: word(&mut words)?.to_string() }
            }
            "step" => Record::Step {
                thread: number(&mut words)?,
                edge: number(&mut words)?,
                choice: words.next().map(str::to_string),
            },
            "drain" => Record::Drain { thread: number(&mut words)?, variable: number(&mut words)? },
            "property" => Record::Property(number(&mut words)?),
            "failure" => Record::Failure { thread: number(&mut words)?, location: number(&mut words)? },
            "delay" => Record::Delay {
                store: number(&mut words)?,
                load: number(&mut words)?,
                drain: number(&mut words)?,
            },
            "flatten" => Record::Flatten { buffer: number(&mut words)? },
            "end" => Record::End(number(&mut words)?),
            "fencewright-evidence" => Record::Evidence {
                version: number(&mut words)?,
                kind: word(&mut words)?.to_string(),
                model: word(&mut words)?.to_string(),
                program: word(&mut words)?.to_string(),
            },
            "forget" => Record::Forget(numbers(words.by_ref())?),
            "settled" => Record::Settled {},
            "in-reach" => Record::InReach {},
            "persistent" => Record::Persistent {},
            "dynamic" => Record::Dynamic {},
            "cartesian" => Record::Cartesian {},
            "dead-registers" => Record::DeadRegisters {},
            "renaming" => renaming::read(&mut words)?,
            "demand" => demand::read(&mut words)?,
            "contexts" | "running" | "planned" => contexts::read(kind, &mut words)?,
            "recall" | "predicate" | "shape" | "control" | "cube" => cubes::read(kind, &mut words)?,
            other => return Err(format!("unknown line `{other}`")),
        };
        match words.next() {
            None => Ok(record),
            Some(extra) => Err(bad(extra)),
        }
    }
}

fn option<N: ToString>(value: &Option<N>) -> String {
    value.as_ref().map_or("-".to_string(), N::to_string)
}

fn list<N: ToString>(numbers: &[N]) -> String {
    numbers.iter().map(|number| format!(" {}", number.to_string())).collect()
}

fn bad(word: &str) -> String {
    format!("`{word}` is not expected here")
}

fn word<'a>(words: &mut impl Iterator<Item = &'a str>) -> Result<&'a str, String> {
    words.next().ok_or_else(|| "the line ends too early".to_string())
}

fn number<'a, N: FromStr>(words: &mut impl Iterator<Item = &'a str>) -> Result<N, String> {
    parsed(word(words)?)
}

fn parsed<N: FromStr>(word: &str) -> Result<N, String> {
    word.parse().map_err(|_| bad(word))
}

fn numbers<'a, N: FromStr>(words: impl Iterator<Item = &'a str>) -> Result<Vec<N>, String> {
    words.map(parsed).collect()
}

fn optional<N: FromStr>(word: &str) -> Result<Option<N>, String> {
    if word == "-" { Ok(None) } else { parsed(word).map(Some) }
}
