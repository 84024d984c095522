//! What is wrong with a text, as values. The binary renders them.

use program::{Invalid, Source, Span};
use std::sync::Arc;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The text is not a program.
    Error,
    /// The text is a program, but perhaps not the one that was meant.
    Warning,
}

/// A message about a place in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, as a sentence without a full stop.
    pub message: String,
    /// The place; [`Span::NONE`] if it concerns the whole text.
    pub span: Span,
    /// A word or two written under the underlined place, if not empty.
    pub label: String,
    /// Other places that matter, each with a remark ("first declared here").
    pub related: Vec<(Span, String)>,
    /// What to do about it.
    pub hint: Option<String>,
    /// The text with all that it includes, if it includes something: places may be in there.
    pub source: Option<Arc<Source>>,
}

impl Diagnostic {
    /// An error at a place.
    pub fn error(span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity: Severity::Error,
            message: message.into(),
            span,
            label: String::new(),
            related: Vec::new(),
            hint: None,
            source: None,
        }
    }

    /// A warning at a place.
    pub fn warning(span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(span, message) }
    }

    /// Adds words under the underlined place.
    pub fn label(mut self, label: impl Into<String>) -> Diagnostic {
        self.label = label.into();
        self
    }

    /// Adds another place that matters.
    pub fn related(mut self, span: Span, remark: impl Into<String>) -> Diagnostic {
        self.related.push((span, remark.into()));
        self
    }

    /// Adds what to do about it.
    pub fn hint(mut self, hint: impl Into<String>) -> Diagnostic {
        self.hint = Some(hint.into());
        self
    }
}

impl From<Invalid> for Diagnostic {
    fn from(invalid: Invalid) -> Diagnostic {
        Diagnostic::error(invalid.span, invalid.message)
    }
}
