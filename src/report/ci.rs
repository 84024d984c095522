//! What `ci` compared.

use super::TextRegion;
use crate::exit::Exit;
use machine::Model;

/// What something is expected of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// The verdict about a program.
    Verdict,
    /// A fence that is written in a program.
    Fence,
    /// A set of fences for a program.
    Fences,
    /// Whether a program only behaves as under SC.
    Robustness,
}

impl Subject {
    /// As JSON reports name it.
    pub fn name(self) -> &'static str {
        match self {
            Subject::Verdict => "verdict",
            Subject::Fence => "fence",
            Subject::Fences => "fences",
            Subject::Robustness => "robustness",
        }
    }
}

/// How it compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// As expected.
    Ok,
    /// Another verdict.
    Changed,
    /// A violation that a fence would prevent.
    Missing,
    /// A fence that nothing needs.
    Redundant,
    /// No answer.
    Unknown,
    /// It could not be asked.
    Error,
}

impl Status {
    /// As reports name it.
    pub fn name(self) -> &'static str {
        match self {
            Status::Ok => "ok",
            Status::Changed => "changed",
            Status::Missing => "missing",
            Status::Redundant => "redundant",
            Status::Unknown => "unknown",
            Status::Error => "error",
        }
    }

    /// What it means for the exit code.
    pub fn exit(self) -> Exit {
        match self {
            Status::Ok => Exit::Holds,
            Status::Changed | Status::Missing | Status::Redundant => Exit::Violated,
            Status::Unknown => Exit::Unknown,
            Status::Error => Exit::Error,
        }
    }
}

/// One comparison.
#[derive(Clone)]
pub struct Compared {
    /// The program's file.
    pub file: String,
    /// The model, if it is about one.
    pub model: Option<Model>,
    /// What is compared.
    pub subject: Subject,
    /// How it compares.
    pub status: Status,
    /// What was expected, in a word or two.
    pub expected: String,
    /// What was found, in a word or two.
    pub found: String,
    /// Both in a sentence without a full stop.
    pub message: String,
    /// Where in the program, if at one place.
    pub place: Option<TextRegion>,
    /// The file that says what is expected, and the line.
    pub config: (String, usize),
    /// How long it took.
    pub seconds: f64,
}
