//! The steps of a run in terms of the source: for tables, lists and JSON alike.
//!
//! The account of a run knows what every step did; a [`ShownStep`] adds the statement it comes from.

use machine::{Account, Action, Configuration, Entry, Event, Model, ReplayedStep};
use program::{Edge, Fence, Names, Op, Program, SourceLine, Span, ThreadId, VarId};
use std::ops::Range;

/// One step of a run.
#[derive(Clone, Debug)]
pub struct ShownStep<'a> {
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
    /// The lines of the calls that the statement stands in, the innermost first.
    pub calls: Vec<SourceLine>,
    /// What it did, in order.
    pub actions: &'a [Action],
    /// The step that issued the store that it drains.
    pub drained: Option<usize>,
}

impl ShownStep<'_> {
    /// Whether it belongs to the same statement of the same thread as another one.
    pub fn continues(&self, other: &ShownStep<'_>) -> bool {
        let same = self.thread == other.thread && self.span == other.span && self.calls == other.calls;
        same && !self.span.is_none()
    }

    /// From where the function was called that the statement stands in: "called in line 20, that in line 33".
    pub fn called(&self) -> Option<String> {
        let lines: Vec<String> = self.calls.iter().map(|line| format!("in line {line}")).collect();
        (!lines.is_empty()).then(|| format!("called {}", lines.join(", that ")))
    }

    /// Whether it writes a variable's memory.
    pub fn writes(&self, variable: VarId) -> bool {
        self.actions.iter().any(|action| match action {
            Action::Drain(v, ..) | Action::Store(v, _, false) => *v == variable,
            _ => false,
        })
    }
}

/// All threads if there are few, else those that do something.
pub fn shown_threads(program: &Program, steps: &[ShownStep<'_>]) -> Vec<ThreadId> {
    let few = program.threads.len() <= 3;
    program.thread_ids().filter(|t| few || steps.iter().any(|step| step.thread == *t)).collect()
}

/// All steps of a run, described.
pub fn describe_all<'a>(program: &Program, account: &'a Account) -> Vec<ShownStep<'a>> {
    account.steps().iter().map(|step| describe(program, step)).collect()
}

fn describe<'a>(program: &Program, step: &'a ReplayedStep) -> ShownStep<'a> {
    let (thread, actions, drained) = (step.thread(), step.actions.as_slice(), step.drained());
    let Event::Step { edge, .. } = step.event else {
        let (kind, span, text) = ("drain", Span::NONE, String::new());
        let calls = Vec::new();
        return ShownStep { thread, kind, edge: None, span, line: None, text, calls, actions, drained };
    };
    let taken = program.thread(thread).edge(edge);
    ShownStep {
        thread,
        kind: kind(&taken.op),
        edge: Some(edge.index()),
        span: taken.span,
        line: program.source.line(taken.span),
        calls: calling_lines(program, taken),
        text: statement(program, taken.span)
            .unwrap_or_else(|| Names::original(program).op(thread, &taken.op)),
        actions,
        drained,
    }
}

/// The lines of a call and of those that it stands in. What the reader's text does not say, because the function came with us,
/// stands in the line of the call itself.
fn calling_lines(program: &Program, edge: &Edge) -> Vec<SourceLine> {
    let chain = edge.call.iter().flat_map(|call| call.chain()).map(|call| call.span);
    let mut lines: Vec<Option<SourceLine>> =
        std::iter::once(edge.span).chain(chain).map(|span| program.source.place(span)).collect();
    lines.dedup();
    lines.into_iter().skip(1).flatten().collect()
}

/// Neighbouring steps in groups; `joins` says whether a step belongs to the group before it.
pub fn grouped(
    steps: impl IntoIterator<Item = usize>,
    joins: impl Fn(&Range<usize>, usize) -> bool,
) -> Vec<Range<usize>> {
    let mut groups: Vec<Range<usize>> = Vec::new();
    for at in steps {
        match groups.last_mut() {
            Some(group) if joins(group, at) => group.end = at + 1,
            _ => groups.push(at..at + 1),
        }
    }
    groups
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

/// The first line of a statement, without what closes or opens it, and the included text that it stands in.
pub fn statement(program: &Program, span: Span) -> Option<String> {
    let piece = program.source.text().get(span.start as usize..span.end as usize)?;
    let first = piece.lines().next()?;
    let words = first.split("//").next()?.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = words.trim_end_matches(['{', ';', ' ']);
    let file = program.source.place(span).and_then(|line| line.file);
    let file = file.map(|file| format!(" [{file}]")).unwrap_or_default();
    (!text.is_empty()).then(|| format!("{text}{file}"))
}

/// Where a span stands, to be put in front: "line 11, "; nothing if it stands nowhere.
pub fn line_before(program: &Program, span: Span) -> String {
    program.source.place(span).map(|line| format!("line {line}, ")).unwrap_or_default()
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

/// What a step did, for tables: a store as if it were in memory at once. Drains are left to the caller.
pub fn action_text(program: &Program, step: &ShownStep<'_>, action: &Action) -> Option<String> {
    let name = |variable: &VarId| &program.variable(*variable).name;
    match action {
        Action::Load(variable, value, from) => {
            let from = if from.is_own_buffer() { " (own buffer)" } else { "" };
            Some(format!("{} read {value}{from}", name(variable)))
        }
        Action::Store(variable, value, _) => Some(format!("{} = {value} in memory", name(variable))),
        // Registers of the front end's own making mean nothing to the reader.
        Action::Assign(register, value) => {
            let register = program.thread(step.thread).registers[register.index()].as_str();
            let declared = register.split(['[', '.']).next().unwrap_or_default();
            mentions(&step.text, declared).then(|| format!("{register} = {value}"))
        }
        Action::Choose(_, value) => Some(format!("chose {value}")),
        Action::Drain(..) => None,
    }
}

/// Whether a text mentions a name as a word of its own.
pub fn mentions(text: &str, name: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name)
}
