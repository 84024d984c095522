//! Reports: answers as text. A report gets finished, checked results and returns what to
//! print; it never computes a verdict and never prints itself.

mod advice;
mod automata;
mod bench;
mod ci;
mod diagnostics;
mod document;
mod fences;
mod happens_before;
mod html;
mod json;
mod junit;
mod litmus;
mod markup;
mod place;
mod plan;
mod sarif;
mod spot;
mod steps;
mod table;
mod text;
mod trace;
mod witness;

pub use automata::automata;
pub use bench::{BenchCell, BenchTable, Times, markdown};
pub use ci::{Compared, Status, Subject};
pub use diagnostics::range as text_range;
pub use document::{Assemble, Ending, plain};
pub use fences::{Fenced, Safety, SpanEdit, WithoutFences, count, kind, statement_of};
pub use happens_before::{MARKERS, dot, svg};
pub use html::{BEGINNING, Piece, drawing, page, run_parts, run_picture, shown_answer};
pub use json::{JSON, SCHEMA};
pub use place::TextRegion;
pub use spot::standing;
pub use steps::{ShownStep, buffer, describe_all, mentions};
pub use table::cut;
pub use text::{TEXT, fence_name};
pub use trace::{ShownRun, render};
pub use witness::{ToldWitness, sentence};

use crate::input::{Loaded, Unreadable};
use engine::{Explanation, Finding, Plan};
use evidence::{Claim, Reason, Task, Violated};
use frontend::Diagnostic;
use machine::{Account, Model};
use program::{Int, Program, Source, VarId};
use std::path::PathBuf;

/// What to print, and where.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Printed {
    /// For standard output.
    pub out: String,
    /// For standard error.
    pub err: String,
}

impl Printed {
    /// For standard output.
    fn out(out: String) -> Printed {
        Printed { out, err: String::new() }
    }
}

/// How reports may look.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// Columns of the terminal.
    pub width: usize,
    /// Only the answer itself.
    pub quiet: bool,
    /// Also what engines decided on their way.
    pub verbose: bool,
}

/// An answer about a file, with its evidence checked.
pub struct Answered<'a> {
    /// The file, as the user named it.
    pub file: &'a str,
    /// The question.
    pub task: Task<'a>,
    /// The answer.
    pub found: &'a Finding,
    /// How long it took.
    pub seconds: f64,
    /// The most bytes that were allocated.
    pub peak: usize,
    /// The evidence files that were written; the one that `check` reads comes first.
    pub evidence: &'a [PathBuf],
    /// Warnings about the program.
    pub warnings: &'a [Diagnostic],
}

impl<'a> Answered<'a> {
    /// An answer about a program that was read, without what it took and what was written.
    pub fn about(loaded: &'a Loaded, task: Task<'a>, found: &'a Finding) -> Answered<'a> {
        let (file, warnings) = (&loaded.name, &loaded.warnings);
        Answered { file, task, found, seconds: 0.0, peak: 0, evidence: &[], warnings }
    }
}

/// Why there is no answer at all about a file.
pub struct Failed<'a> {
    /// Whether a limit was reached: then nothing is wrong, and nothing is known.
    pub stopped: bool,
    /// Which command.
    pub command: &'static str,
    /// The file, as the user named it.
    pub file: &'a str,
    /// The model, if the failure belongs to one.
    pub model: Option<Model>,
    /// What is wrong, in a sentence without a full stop.
    pub reason: String,
    /// What is wrong with the text, if it was read.
    pub diagnostics: &'a [Diagnostic],
    /// The text that the diagnostics speak of.
    pub source: Option<&'a Source>,
}

impl<'a> Failed<'a> {
    /// Nothing but a sentence is known.
    pub fn new(command: &'static str, file: &'a str, model: Option<Model>, reason: String) -> Failed<'a> {
        Failed { stopped: false, command, file, model, reason, diagnostics: &[], source: None }
    }

    /// The file could not be read.
    pub fn unreadable(command: &'static str, unreadable: &'a Unreadable) -> Failed<'a> {
        Failed {
            diagnostics: &unreadable.diagnostics,
            source: unreadable.source.as_ref(),
            ..Failed::new(command, &unreadable.name, None, unreadable.reason.clone())
        }
    }
}

/// Evidence from a file that holds.
pub struct Claimed<'a> {
    /// The program's file.
    pub file: &'a str,
    /// The evidence's file.
    pub evidence: &'a str,
    /// The program.
    pub program: &'a Program,
    /// What the evidence proves.
    pub claim: &'a Claim,
    /// Of a violation, why it can happen.
    pub why: &'a Explanation,
    /// How long checking took.
    pub seconds: f64,
}

/// How a walk ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WalkEnd {
    /// All threads ended, all buffers are empty.
    Ended,
    /// Nobody can take a step, but not all have ended.
    Blocked,
    /// It has as many steps as it may have.
    Cut,
    /// It violates something.
    Violated,
}

/// Random walks.
pub struct Walked<'a> {
    /// The program's file.
    pub file: &'a str,
    /// The program.
    pub program: &'a Program,
    /// The model.
    pub model: Model,
    /// What the variables without a fixed initial value started with in the last walk.
    pub initial: &'a [(VarId, Int)],
    /// What happened in the last walk.
    pub account: &'a Account,
    /// How it ended.
    pub end: WalkEnd,
    /// The last walk as a violation, if it is one; it was replayed.
    pub violation: Option<Violated<'a>>,
    /// The seed of that walk; nothing if evidence says which steps were taken.
    pub seed: Option<u64>,
    /// How many walks there were: all of them, ended and blocked ones.
    pub walks: Walks,
}

/// How many walks ended how.
#[derive(Clone, Copy, Debug, Default)]
pub struct Walks {
    /// All.
    pub all: usize,
    /// Those in which all threads ended.
    pub ended: usize,
    /// Those in which nobody could take a step.
    pub blocked: usize,
}

/// A registry: its name, and the name and description of every entry.
pub struct Section {
    /// Its name.
    pub title: &'static str,
    /// Its entries.
    pub entries: Vec<(&'static str, String)>,
}

/// What there is to say.
pub enum Said<'a> {
    /// An answer of `verify` or `robust`.
    Answer(&'a Answered<'a>),
    /// A run to a final state of a litmus test, which it is said of in words.
    Outcome(&'a str, &'a Answered<'a>),
    /// An answer of `fence`.
    Fences(&'a Fenced<'a>),
    /// Which engines would be asked about a file.
    Plan(&'a str, &'a Plan<'a>),
    /// A file without an answer.
    Failure(&'a Failed<'a>),
    /// Warnings about a program that was read.
    Warnings(&'a Source, &'a [Diagnostic]),
    /// What is said once for all programs of a language.
    Remark(&'static str),
    /// Evidence that holds.
    Claim(&'a Claimed<'a>),
    /// Walks.
    Walk(&'a Walked<'a>),
    /// Registries.
    Registries(&'a [Section]),
    /// Measurements of the `bench` of this name.
    Bench(&'a str, &'a [BenchTable]),
    /// A comparison that `ci` made, with the answer if it is not the expected one.
    Compared(&'a Compared, Option<&'a Answered<'a>>),
    /// All comparisons of `ci` at a glance, after the last.
    Overview(&'a [Compared]),
    /// After many files: how many answers there were of each kind, in the order in which they came first.
    Summary(&'a [(&'static str, usize)]),
}

/// A way to print answers.
pub struct Report {
    /// Its name, as in `--format`.
    pub name: &'static str,
    /// One line for lists and help.
    pub about: &'static str,
    /// The form of evidence files that goes with it.
    pub form: evidence::Form,
    /// Something that was said; nothing where the report has no words for it.
    pub print: fn(&Said<'_>, &Look) -> Printed,
    /// What makes one document of all that was printed; `None` if each stands for itself.
    pub document: Option<Assemble>,
}

/// All reports; the first is the default.
pub const REPORTS: &[Report] = &[text::TEXT, json::JSON, sarif::SARIF, junit::JUNIT];

/// Reasons as sentences, each once: several steps may have the same text.
fn reason_texts(program: &Program, reasons: &[Reason]) -> Vec<String> {
    distinct(reasons.iter().map(|reason| reason.text(program)))
}

/// Each once, in the order in which it comes first.
fn distinct<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    let mut found = Vec::new();
    for one in all {
        if !found.contains(&one) {
            found.push(one);
        }
    }
    found
}

/// A sentence with a capital at its start.
fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}
