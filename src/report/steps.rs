//! The steps of a run in terms of the source: for tables, lists and JSON alike.
//!
//! The account of a run knows what every step did; a [`Step`] adds the statement it comes from.

use machine::{Account, Action, Configuration, Entry, Event, Model, ReplayedStep};
use program::{Fence, Names, Op, Program, Span, ThreadId, VarId};

/// One step of a run.
#[derive(Clone, Debug)]
pub struct Step<'a> {
    /// Who took it.
    pub thread: ThreadId,
    /// What kind of event it is, as JSON reports name it.
    pub kind: &'static str,
    /// The edge, unless a store drained.
    pub edge: Option<usize>,
    /// The statement.
    pub span: Span,
    /// The line of the statement.
    pub line: Option<usize>,
    /// The text of the statement, on one line.
    pub text: String,
    /// What it did, in order.
    pub actions: &'a [Action],
    /// The step that issued the store that it drains.
    pub drained: Option<usize>,
}

/// All steps of a run, described.
pub fn describe_all<'a>(program: &Program, account: &'a Account) -> Vec<Step<'a>> {
    account.steps().iter().map(|step| describe(program, step)).collect()
}

fn describe<'a>(program: &Program, step: &'a ReplayedStep) -> Step<'a> {
    let (thread, actions, drained) = (step.thread(), step.actions.as_slice(), step.drained());
    let Event::Step { edge, .. } = step.event else {
        let (kind, span, text) = ("drain", Span::NONE, String::new());
        return Step { thread, kind, edge: None, span, line: None, text, actions, drained };
    };
    let taken = program.thread(thread).edge(edge);
    Step {
        thread,
        kind: kind(&taken.op),
        edge: Some(edge.index()),
        span: taken.span,
        line: program.source.line(taken.span),
        text: statement(program, taken.span)
            .unwrap_or_else(|| Names::original(program).op(thread, &taken.op)),
        actions,
        drained,
    }
}

/// The kind of event that an operation makes, as JSON reports name it.
pub fn kind(op: &Op) -> &'static str {
    match op {
        Op::Skip => "skip",
        Op::Assign(..) => "assign",
        Op::Havoc(..) => "choose",
        Op::Assume(_) => "assume",
        Op::Load(..) => "load",
        Op::Store(..) => "store",
        Op::Fence(Fence::Full) => "fence",
        Op::Fence(Fence::Store) => "store_fence",
        Op::Lock => "lock",
        Op::Unlock => "unlock",
        Op::Block { locked: true, .. } => "locked",
        Op::Block { locked: false, .. } => "block",
    }
}

/// The first line of a statement, without what closes or opens it.
pub fn statement(program: &Program, span: Span) -> Option<String> {
    let piece = program.source.text().get(span.start as usize..span.end as usize)?;
    let first = piece.lines().next()?;
    let words = first.split("//").next()?.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = words.trim_end_matches(['{', ';', ' ']);
    (!text.is_empty()).then(|| text.to_string())
}

/// A thread's buffer as text, oldest store first; `None` if it is empty. Where every variable
/// has a buffer of its own, a bar stands between what belongs to different ones.
pub fn buffer(program: &Program, model: Model, at: &Configuration, thread: ThreadId) -> Option<String> {
    let entries = at.buffer(thread);
    let (one, other) = (VarId::new(0), VarId::new(1));
    let separate = model.queued(&[Entry::Store(one)], other) == 0;
    let mut text = String::new();
    let mut last = None;
    for (entry, value) in &entries {
        if last.is_some() {
            text += if separate && last != Some(*entry) { " | " } else { ", " };
        }
        last = Some(*entry);
        text += &match (entry, value) {
            (Entry::Store(variable), Some(value)) => format!("{}={value}", program.variable(*variable).name),
            _ => "fence".to_string(),
        };
    }
    let word = if separate { "buffers" } else { "buffer" };
    (!entries.is_empty()).then(|| format!("{word}: {text}"))
}

/// Whether a text mentions a name as a word of its own.
pub fn mentions(text: &str, name: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name)
}

/// Where a thread stands: the statement that comes next, or its label, and the line of that.
pub struct Standing {
    /// The line.
    pub line: Option<usize>,
    /// In words.
    pub text: String,
}

/// Where a thread stands in a configuration.
pub fn standing(program: &Program, at: &Configuration, thread: ThreadId) -> Standing {
    let automaton = program.thread(thread);
    let loc = at.local(thread).loc;
    let location = automaton.location(loc);
    if automaton.is_end(loc) {
        return Standing { line: None, text: "ended".to_string() };
    }
    if let Some(failure) = &location.failure {
        return Standing { line: program.source.line(failure.span), text: "fails".to_string() };
    }
    // The step that comes next says more than the statement around it, if there is only one.
    let mut next = automaton.outgoing(loc).map(|(_, edge)| edge.span);
    let first = next.next().unwrap_or(Span::NONE);
    let only = next.all(|span| span == first) || location.span.is_none();
    let span = if only { first } else { location.span };
    let text = match location.labels.first() {
        Some(label) => format!("at {label}"),
        None => {
            format!("before: {}", statement(program, span).unwrap_or_else(|| format!("L{}", loc.index())))
        }
    };
    Standing { line: program.source.line(span), text }
}
