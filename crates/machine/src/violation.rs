//! What can go wrong in a configuration.

use program::{FailureKind, Int, Loc, Names, Program, RegId, Span, ThreadId};

/// A violated claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Violation {
    /// A thread stands at a failure location.
    Failure(ThreadId, Loc),
    /// The property of this number is violated.
    Property(usize),
}

impl Violation {
    /// The violated claim as text: the property, the assertion or the access.
    pub fn text(self, program: &Program) -> String {
        match self {
            Violation::Property(at) => {
                let property = &program.properties[at];
                let printed = || Names::original(program).property(property);
                property.text.clone().unwrap_or_else(printed)
            }
            Violation::Failure(thread, loc) => {
                let Some(failure) = &program.thread(thread).location(loc).failure else {
                    return String::new();
                };
                let snippet = program.source.snippet(failure.span);
                match &failure.kind {
                    FailureKind::Assertion if snippet.is_empty() => "assertion".to_string(),
                    FailureKind::Assertion => snippet,
                    FailureKind::Error(what) | FailureKind::Limit(what) => format!("{what} in `{snippet}`"),
                    FailureKind::Division => format!("division by zero in `{snippet}`"),
                    FailureKind::Bounds { array, length, .. } => {
                        format!("index out of bounds of {array}[{length}]")
                    }
                }
            }
        }
    }

    /// Whether this only says that the program was not read any further.
    pub fn is_limit(self, program: &Program) -> bool {
        let Violation::Failure(thread, loc) = self else { return false };
        let thread = program.threads.get(thread.index()).filter(|thread| loc.index() < thread.locs().count());
        let failure = thread.and_then(|thread| thread.location(loc).failure.as_ref());
        failure.is_some_and(|failure| matches!(failure.kind, FailureKind::Limit(_)))
    }

    /// Where the violated claim is written.
    pub fn span(self, program: &Program) -> Span {
        match self {
            Violation::Property(at) => program.properties[at].span,
            Violation::Failure(thread, loc) => {
                let failure = program.thread(thread).location(loc).failure.as_ref();
                failure.map_or(Span::NONE, |failure| failure.span)
            }
        }
    }

    /// The index that left its array, with the registers' values of the violating configuration.
    pub fn index(self, program: &Program, register: impl Fn(ThreadId, RegId) -> Int) -> Option<Int> {
        let Violation::Failure(thread, loc) = self else { return None };
        match &program.thread(thread).location(loc).failure.as_ref()?.kind {
            FailureKind::Bounds { index, .. } => index.eval(&|r| register(thread, *r)).ok(),
            _ => None,
        }
    }
}
