//! Reports: answers as text. A report gets finished, checked results and returns what to
//! print; it never computes a verdict and never prints itself.

mod automata;
mod bench;
mod ci;
mod diagnostics;
mod document;
mod fences;
mod happens_before;
pub mod html;
mod json;
mod junit;
mod litmus;
mod markup;
mod place;
mod robust;
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
pub use document::{Assemble, Ending};
pub use fences::{Edit, Fenced, kind, statement_of};
pub use happens_before::{dot, svg};
pub use place::Place;
pub use robust::{RobustAnswered, RobustFenced, Safety};
pub use spot::standing;
pub use steps::{Step, buffer, describe_all, mentions};
pub use text::fence_name;
pub use trace::{Run, render};
pub use witness::{Told, sentence};

use engine::FencePoint;
use evidence::{Checked, CheckedOutcomes, Claim, Reason, Statistics, Task, Violated};
use frontend::Diagnostic;
use machine::{Account, Model, Violation};
use program::{Int, Program, Question, Source, Span, VarId};
use std::path::Path;

/// What to print, and where.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Printed {
    /// For standard output.
    pub out: String,
    /// For standard error.
    pub err: String,
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

/// An answer to `verify`, with its evidence checked.
pub struct Answered<'a> {
    /// The file, as the user named it.
    pub file: &'a str,
    /// The question.
    pub task: Task<'a>,
    /// The answer.
    pub checked: &'a Checked,
    /// Whether SC violates something too, if that is known.
    pub sc_violation: Option<bool>,
    /// A fence that prevents the violating run, if one was found.
    pub prevented_by: Option<&'a FencePoint>,
    /// Who answered.
    pub engine: &'static str,
    /// What it took.
    pub statistics: Statistics,
    /// How long it took.
    pub seconds: f64,
    /// The most bytes that were allocated.
    pub peak: usize,
    /// The evidence file that was written.
    pub evidence: Option<&'a Path>,
    /// Warnings about the program.
    pub warnings: &'a [Diagnostic],
}

/// An answer about a litmus test: its final states, each with its execution checked.
pub struct LitmusAnswered<'a> {
    /// The file, as the user named it.
    pub file: &'a str,
    /// The test and the model.
    pub task: Task<'a>,
    /// What it asks.
    pub question: &'a Question,
    /// The final states.
    pub found: &'a CheckedOutcomes,
    /// The evidence file that was written, if one was.
    pub evidence: Option<&'a Path>,
    /// Who found them.
    pub engine: &'static str,
    /// What it took.
    pub statistics: Statistics,
    /// How long it took.
    pub seconds: f64,
    /// The most bytes that were allocated.
    pub peak: usize,
    /// Warnings about the test.
    pub warnings: &'a [Diagnostic],
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
    /// A fence that prevents the violating run, if one was found.
    pub prevented_by: Option<&'a FencePoint>,
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
    /// The seed of that walk.
    pub seed: u64,
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

/// A way to print answers.
pub trait Report: Sync {
    /// Its name, as in `--format`.
    fn name(&self) -> &'static str;
    /// One line for lists and help.
    fn about(&self) -> &'static str;
    /// The form of evidence files that goes with it.
    fn form(&self) -> evidence::Form;
    /// An answer of `verify`.
    fn answer(&self, answer: &Answered<'_>, look: &Look) -> Printed;
    /// An answer about a litmus test.
    fn litmus(&self, answer: &LitmusAnswered<'_>, look: &Look) -> Printed;
    /// An answer of `fence`.
    fn fences(&self, fenced: &Fenced<'_>, look: &Look) -> Printed;
    /// An answer of `robust`.
    fn robust(&self, answer: &RobustAnswered<'_>, look: &Look) -> Printed;
    /// An answer of `fence --goal robust`.
    fn robust_fences(&self, fenced: &RobustFenced<'_>, look: &Look) -> Printed;
    /// A file without an answer.
    fn failure(&self, failed: &Failed<'_>) -> Printed;
    /// Warnings about a program that was read.
    fn warnings(&self, source: &Source, warnings: &[Diagnostic]) -> Printed;
    /// Evidence that holds.
    fn claim(&self, claimed: &Claimed<'_>, look: &Look) -> Printed;
    /// Walks.
    fn walk(&self, walked: &Walked<'_>, look: &Look) -> Printed;
    /// Registries.
    fn registries(&self, sections: &[Section]) -> Printed;
    /// Measurements of `bench`.
    fn bench(&self, name: &str, tables: &[BenchTable], look: &Look) -> Printed;
    /// A comparison that `ci` made.
    fn compared(&self, compared: &Compared) -> Printed;
    /// All comparisons of `ci` at a glance, after the last.
    fn overview(&self, _: &[Compared], _: &Look) -> Printed {
        Printed::default()
    }
    /// What makes one document of all answers; `None` if each stands for itself.
    fn document(&self) -> Option<Assemble> {
        None
    }
}

/// All reports; the first is the default.
pub const REPORTS: &[&dyn Report] = &[&text::Text, &json::Json, &sarif::Sarif, &junit::Junit];

/// Where the violated claim stands.
fn violation_span(program: &Program, violation: Violation) -> Span {
    match violation {
        Violation::Property(at) => program.properties[at].span,
        Violation::Failure(thread, loc) => {
            let failure = program.thread(thread).location(loc).failure.as_ref();
            failure.map_or(Span::NONE, |failure| failure.span)
        }
    }
}

/// Reasons as sentences, each once: several steps may have the same text.
fn reason_texts(program: &Program, reasons: &[Reason]) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    for reason in reasons {
        let text = reason.text(program);
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    texts
}
