//! What reports get to know about robustness.

use engine::{FencePoint, RobustFences, RobustWork, Robustness};
use evidence::{Reason, Task};
use frontend::Diagnostic;
use std::path::PathBuf;

/// An answer to `robust`.
pub struct RobustAnswered<'a> {
    /// The file, as the user named it.
    pub file: &'a str,
    /// The program and the model.
    pub task: Task<'a>,
    /// The answer; a witness is checked.
    pub robustness: &'a Robustness,
    /// What it took.
    pub work: RobustWork,
    /// How long it took.
    pub seconds: f64,
    /// The most bytes that were allocated.
    pub peak: usize,
    /// The evidence files that were written.
    pub evidence: &'a [PathBuf],
    /// Warnings about the program.
    pub warnings: &'a [Diagnostic],
}

/// An answer to `fence --goal robust`.
pub struct RobustFenced<'a> {
    /// The file, as the user named it.
    pub file: &'a str,
    /// The program and the model.
    pub task: Task<'a>,
    /// The answer.
    pub found: &'a RobustFences,
    /// What safety would need.
    pub safety: &'a Safety,
    /// How long it took.
    pub seconds: f64,
    /// The most bytes that were allocated.
    pub peak: usize,
    /// The evidence files that were written.
    pub evidence: &'a [PathBuf],
    /// Warnings about the program.
    pub warnings: &'a [Diagnostic],
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
        /// Fences, counted once a thread.
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

/// How many fences there are, counted once a thread.
pub fn count<'a>(points: impl IntoIterator<Item = &'a FencePoint>) -> usize {
    points.into_iter().map(|point| point.threads().len()).sum()
}
