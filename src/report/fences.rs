//! Fences as reports name them.

use super::steps::statement;
use crate::input::Loaded;
use engine::{FencePoint, FencesFound, FencesWithin};
use evidence::{Reason, Task};
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
    pub edits: &'a [SpanEdit],
    /// The text with the fences in it, or why there is none; where somebody wants it.
    pub text: Option<&'a Result<String, String>>,
    /// What safety would need, where robustness is asked for.
    pub safety: &'a Safety,
    /// The program's own fences that go, where that is asked for; then the task is about the program without
    /// any of them.
    pub relaxed: Option<WithoutFences<'a>>,
    /// The program's own fences that, each by itself, are not needed once the fences of the answer are there.
    pub not_needed: &'a [Span],
    /// What it takes to keep store buffers within a bound besides, where that is asked for.
    pub within: Option<&'a Result<FencesWithin, Vec<Reason>>>,
}

impl<'a> Fenced<'a> {
    /// An answer about a program that was read, without what it took and what was written.
    pub fn about(loaded: &'a Loaded, task: Task<'a>, found: &'a FencesFound) -> Fenced<'a> {
        Fenced {
            file: &loaded.name,
            task,
            found,
            seconds: 0.0,
            peak: 0,
            evidence: &[],
            warnings: &loaded.warnings,
            edits: &[],
            text: None,
            safety: &Safety::NotAsked,
            relaxed: None,
            not_needed: &[],
            within: None,
        }
    }
}

/// Fences of a program that it does not need.
#[derive(Clone, Copy)]
pub struct WithoutFences<'a> {
    /// The fences.
    pub gone: &'a [FencePoint],
    /// What all fences cost that could have gone.
    pub before: u64,
    /// Other fences of the text, which is not edited there, and why.
    pub fixed: &'a [(Span, String)],
}

/// A piece of a text and what takes its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpanEdit {
    /// The piece; empty where something is only put in.
    pub span: Span,
    /// What takes its place.
    pub text: String,
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

/// The fences that safety needs, beside those that robustness needs.
#[derive(Debug)]
pub enum Safety {
    /// That was not asked: there is no answer to compare with.
    NotAsked,
    /// Nothing is claimed of the program, so it is safe anyway.
    NothingClaimed,
    /// So many, at this cost.
    Needs {
        /// Fences, counted once per thread.
        count: usize,
        /// What they cost.
        cost: u64,
    },
    /// No fence makes it safe: it is unsafe under SC.
    UnsafeUnderSc,
    /// No fence at the points that may be used makes it safe.
    NoCandidate,
    /// Not found out within the limits, and why.
    Unknown(Vec<Reason>),
}

/// How many fences there are, counted once per thread.
pub fn count<'a>(points: impl IntoIterator<Item = &'a FencePoint>) -> usize {
    points.into_iter().map(|point| point.threads().len()).sum()
}
