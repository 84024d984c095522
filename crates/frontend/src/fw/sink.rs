//! Where diagnostics collect: each once, and not more than a reader wants to see.

use super::limits;
use crate::{Diagnostic, Parsed};
use program::{Program, Span};
use std::collections::HashSet;

/// Says that an error was reported, so that nobody reports what follows from it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reported;

/// The outcome of something that reports its errors itself.
pub(super) type OrReported<T> = Result<T, Reported>;

/// Collects errors and warnings of one text.
#[derive(Debug, Default)]
pub(super) struct Sink {
    errors: Vec<Diagnostic>,
    warnings: Vec<Diagnostic>,
    seen: HashSet<(Span, String)>,
    incomplete: bool,
}

impl Sink {
    /// Reports an error, unless the same was said of the same place (a loop was unrolled, a
    /// function inlined).
    pub fn error(&mut self, error: Diagnostic) -> Reported {
        if !self.is_full() && self.seen.insert((error.span, error.message.clone())) {
            self.errors.push(error);
        }
        Reported
    }

    /// Reports that something does not exist. Where parts of the text could not be read, it
    /// may well exist there, so then nothing is said.
    pub fn missing(&mut self, error: Diagnostic) -> Reported {
        if self.wants_missing() { self.error(error) } else { Reported }
    }

    /// Reports a warning.
    pub fn warning(&mut self, warning: Diagnostic) {
        if self.warnings.len() < limits::ERRORS {
            self.warnings.push(warning);
        }
    }

    /// Whether [`Sink::missing`] would say anything; finding a good hint takes time.
    pub fn wants_missing(&self) -> bool {
        !self.incomplete && !self.is_full()
    }

    /// Notes that parts of the text could not be read.
    pub fn text_is_incomplete(&mut self) {
        self.incomplete = true;
    }

    /// Whether so much was reported that looking further serves nobody.
    pub fn is_full(&self) -> bool {
        self.errors.len() >= limits::ERRORS
    }

    /// Whether there is no error so far.
    pub fn is_clean(&self) -> bool {
        self.errors.is_empty()
    }

    /// The errors, in the order of the text.
    pub fn errors(mut self) -> Vec<Diagnostic> {
        self.errors.sort_by_key(|error| error.span);
        self.errors
    }

    /// The program if nothing was wrong, else the errors in the order of the text.
    pub fn finish(mut self, program: Program) -> Result<Parsed, Vec<Diagnostic>> {
        if self.errors.is_empty() {
            self.warnings.sort_by_key(|warning| warning.span);
            return Ok(Parsed { program, warnings: self.warnings, remark: None, settled: false });
        }
        Err(self.errors())
    }
}
