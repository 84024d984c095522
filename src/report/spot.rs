//! Locations as people find them in the source.

use program::{Loc, Names, Program, Span, ThreadId};

/// A location as people find it: its line, its label, and the statement that comes next.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Spot {
    /// The line of the statement.
    pub line: Option<usize>,
    /// The first label.
    pub label: Option<String>,
    /// The statement, or what else there is to say.
    pub text: String,
}

impl Spot {
    /// What a thread does that stands there.
    pub fn standing(&self) -> String {
        match &self.label {
            Some(label) => format!("at {label}"),
            None => format!("before: {}", self.text),
        }
    }
}

/// Where a location is in the source.
pub fn spot(program: &Program, thread: ThreadId, loc: Loc) -> Spot {
    let automaton = program.thread(thread);
    let location = automaton.location(loc);
    let label = location.labels.first().cloned();
    if automaton.is_end(loc) {
        return Spot { line: None, label, text: "the end".to_string() };
    }
    if let Some(failure) = &location.failure {
        let text = format!("a violation of {}", program.source.snippet(failure.span));
        return Spot { line: program.source.line(failure.span), label, text };
    }
    let mut next = automaton.outgoing(loc).map(|(_, edge)| edge.span);
    let first = next.next().unwrap_or(Span::NONE);
    let only = next.all(|span| span == first) || location.span.is_none();
    let span = if only { first } else { location.span };
    let text = super::steps::statement(program, span).or_else(|| {
        // What was put in, like a fence, has no text of its own.
        let (_, edge) = automaton.outgoing(loc).next()?;
        Some(Names::original(program).op(thread, &edge.op))
    });
    let text = text.unwrap_or_else(|| format!("L{}", loc.index()));
    Spot { line: program.source.line(span), label, text }
}
