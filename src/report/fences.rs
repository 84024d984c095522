//! Fences as reports name them.

use super::steps::statement;
use engine::{FenceAnswer, FencePoint, FencesFound};
use evidence::Task;
use frontend::Diagnostic;
use program::{Fence, Program, Span, Strength};
use std::path::PathBuf;

/// An answer to `fence`.
pub struct Fenced<'a> {
    /// The file, as the user named it.
    pub file: &'a str,
    /// The question.
    pub task: Task<'a>,
    /// The answer, checked.
    pub found: &'a FencesFound,
    /// How long it took.
    pub seconds: f64,
    /// The most bytes that were allocated.
    pub peak: usize,
    /// The evidence files that were written.
    pub evidence: &'a [PathBuf],
    /// Warnings about the program.
    pub warnings: &'a [Diagnostic],
    /// How to write each fence into the text, in the order of the answer's fences; empty where
    /// the text cannot say it.
    pub edits: &'a [Edit],
}

/// A piece of a text and what takes its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The piece; empty where something is only put in.
    pub span: Span,
    /// What takes its place.
    pub text: String,
}

impl Fenced<'_> {
    /// The answer.
    pub fn answer(&self) -> &FenceAnswer {
        &self.found.answer
    }
}

/// What kind of fence, as `--cost` and JSON reports name it.
pub fn kind(strength: Strength) -> &'static str {
    match strength {
        Strength::Fence(Fence::Full) => "full",
        Strength::Fence(Fence::Store) => "store",
        Strength::Exchange => "swap",
    }
}

/// The statement that a fence belongs to.
pub fn statement_of(program: &Program, point: &FencePoint) -> String {
    statement(program, point.span).unwrap_or_default()
}

/// The names of the threads that get a fence.
pub fn thread_names(program: &Program, point: &FencePoint) -> Vec<String> {
    point.threads().into_iter().map(|thread| program.thread(thread).name.clone()).collect()
}
