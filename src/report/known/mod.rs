//! What a certificate knows, in sentences: for every location of every thread what is true
//! whenever the thread stands there.
//!
//! Each kind of certificate has one function that gives a [`Known`]; whoever shows it needs to
//! know nothing else. Sentences are plain text without a full stop.

mod order;
mod states;
mod values;

use evidence::{Certificate, Task};
use program::{Loc, Names, Program, RegId, Span, ThreadId};
use std::collections::HashSet;

/// What is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// What kind of proof this is and how to read it, in a sentence.
    pub about: String,
    /// What is true at all times.
    pub everywhere: Vec<String>,
    /// What is true besides while a thread stands somewhere, in the order of threads and locations.
    pub places: Vec<KnownAt>,
}

/// What is known while a thread stands at a location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownAt {
    /// The thread.
    pub thread: ThreadId,
    /// Where it stands.
    pub loc: Loc,
    /// Whether it can stand there at all.
    pub reached: bool,
    /// What is true then.
    pub sentences: Vec<String>,
}

/// What a certificate knows. It was checked before: nothing here judges it.
pub fn known(task: &Task<'_>, certificate: &Certificate) -> Known {
    match certificate {
        Certificate::Closed(set) => states::known(task, None, set),
        Certificate::Gaps(gaps, set) => states::known(task, Some(*gaps), set),
        Certificate::Robust { .. } | Certificate::Cubes(_) => Known::default(),
    }
}

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

/// The registers that the author of a program named. Those a front end made up mean nothing to
/// a reader, and their names do not occur in the text.
pub struct Named {
    words: HashSet<String>,
}

impl Named {
    /// Reads the program's text.
    pub fn of(program: &Program) -> Named {
        let text = program.source.text();
        let words = text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
        Named { words: words.map(str::to_string).collect() }
    }

    /// Whether the text mentions a register.
    pub fn mentions(&self, program: &Program, thread: ThreadId, register: RegId) -> bool {
        let name = &program.thread(thread).registers[register.index()];
        self.words.is_empty() || self.words.contains(name)
    }
}

#[cfg(test)]
mod tests;
