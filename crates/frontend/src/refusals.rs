//! What another format cannot say, collected while a program is written in it.

use crate::Diagnostic;
use program::{Domain, Int, Span};

/// A choice between more values than this is not written out.
const MAX_CHOICES: usize = 64;
/// More errors than this help nobody.
const MAX_ERRORS: usize = 200;

/// What a format refuses.
pub(crate) struct Refusals {
    format: &'static str,
    errors: Vec<Diagnostic>,
}

impl Refusals {
    /// Nothing yet; messages call the format this.
    pub(crate) fn of(format: &'static str) -> Refusals {
        Refusals { format, errors: Vec::new() }
    }

    /// Refuses something.
    pub(crate) fn add(&mut self, span: Span, message: &str) {
        let error = Diagnostic::error(span, format!("{message}, which {} cannot say", self.format));
        if self.errors.len() < MAX_ERRORS && !self.errors.contains(&error) {
            self.errors.push(error);
        }
    }

    /// The values to choose from; refuses if those are too many.
    pub(crate) fn choices(&mut self, domain: &Domain, span: Span) -> Vec<Int> {
        let mut values = Vec::new();
        if let Domain::Range(low, high) = domain {
            let mut value = low.clone();
            while value <= *high && values.len() <= MAX_CHOICES {
                values.push(value.clone());
                value += 1;
            }
        }
        if values.is_empty() || values.len() > MAX_CHOICES {
            self.add(span, "this chooses between too many values");
            values.clear();
        }
        values
    }

    /// Whether nothing was refused.
    pub(crate) fn is_empty(&self) -> bool {
        self.errors.is_empty()
    }

    /// The text, if nothing was refused.
    pub(crate) fn unless_any(self, text: String) -> Result<String, Vec<Diagnostic>> {
        if self.errors.is_empty() { Ok(text) } else { Err(self.errors) }
    }
}
