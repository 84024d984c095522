//! Locations as people find them in the source.

use machine::Configuration;
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

/// Where a thread stands: the line, and in words the statement that comes next, or its label.
pub fn standing(program: &Program, at: &Configuration, thread: ThreadId) -> (Option<usize>, String) {
    let (loc, automaton) = (at.local(thread).loc, program.thread(thread));
    let spot = spot(program, thread, loc);
    let text = match (automaton.is_end(loc), automaton.location(loc).failure.is_some(), spot.label) {
        (true, ..) => "ended".to_string(),
        (_, true, _) => "fails".to_string(),
        (.., Some(label)) => format!("at {label}"),
        _ => format!("before: {}", spot.text),
    };
    (spot.line, text)
}
