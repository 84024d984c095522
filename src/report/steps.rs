//! What the steps of a run did, in terms of the source: for tables, lists and JSON alike.
//!
//! A trace names events only. Beside the configurations a replay passed, every event becomes
//! a [`Step`]: the statement it comes from and its effects with their values.

use machine::{Configuration, Entry, Event, Model, TraceStep};
use program::{Fence, Int, Names, Op, Program, RegId, Span, ThreadId, VarId};
use std::collections::BTreeMap;

/// One step of a run.
#[derive(Clone, Debug)]
pub struct Step {
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
    pub effects: Vec<Effect>,
}

/// Something a step did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Read a variable: its value, and whether it came from the thread's own buffer.
    Load(VarId, Int, bool),
    /// Wrote a variable: its value, and whether the store went to the buffer.
    Store(VarId, Int, bool),
    /// A buffered store reached memory.
    Drain(VarId, Int),
    /// Computed a register.
    Assign(RegId, Int),
    /// Chose a value for a register.
    Choose(RegId, Int),
}

/// A trace step between two configurations, described.
pub fn describe(program: &Program, step: &TraceStep, before: &Configuration, after: &Configuration) -> Step {
    let thread = step.event.thread();
    let edge = match step.event {
        Event::Drain { variable, .. } => {
            let effects = vec![Effect::Drain(variable, after.memory(variable))];
            let text = String::new();
            return Step { thread, kind: "drain", edge: None, span: Span::NONE, line: None, text, effects };
        }
        Event::Step { edge, .. } => edge,
    };
    let taken = program.thread(thread).edge(edge);
    let entries = |at: &Configuration| at.local(thread).stores().count();
    let mut scene = Scene {
        thread,
        before,
        choice: step.choice.as_ref(),
        buffered: entries(after) > entries(before),
        registers: BTreeMap::new(),
        memory: BTreeMap::new(),
        effects: Vec::new(),
    };
    taken.op.for_each_part(&mut |part| scene.perform(part));
    Step {
        thread,
        kind: kind(&taken.op),
        edge: Some(edge.index()),
        span: taken.span,
        line: program.source.line(taken.span),
        text: statement(program, taken.span)
            .unwrap_or_else(|| Names::original(program).op(thread, &taken.op)),
        effects: scene.effects,
    }
}

/// All steps of a run, described. There is one configuration more than there are steps.
pub fn describe_all(program: &Program, steps: &[TraceStep], run: &[Configuration]) -> Vec<Step> {
    let pairs = run.windows(2).zip(steps);
    pairs.map(|(pair, step)| describe(program, step, &pair[0], &pair[1])).collect()
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

/// A step while its parts are performed one after the other on values.
struct Scene<'a> {
    thread: ThreadId,
    before: &'a Configuration,
    choice: Option<&'a Int>,
    buffered: bool,
    registers: BTreeMap<RegId, Int>,
    memory: BTreeMap<VarId, Int>,
    effects: Vec<Effect>,
}

impl Scene<'_> {
    fn perform(&mut self, op: &Op) {
        match op {
            Op::Assign(register, value) => {
                if let Ok(value) = value.eval(&|r| self.register(*r)) {
                    self.effects.push(Effect::Assign(*register, value.clone()));
                    self.registers.insert(*register, value);
                }
            }
            Op::Havoc(register, _) => {
                let value = self.choice.cloned().unwrap_or_default();
                self.effects.push(Effect::Choose(*register, value.clone()));
                self.registers.insert(*register, value);
            }
            Op::Load(register, variable) => {
                let (value, own) = self.variable(*variable);
                self.effects.push(Effect::Load(*variable, value.clone(), own));
                self.registers.insert(*register, value);
            }
            Op::Store(variable, value) => {
                if let Ok(value) = value.eval(&|r| self.register(*r)) {
                    self.effects.push(Effect::Store(*variable, value.clone(), self.buffered));
                    self.memory.insert(*variable, value);
                }
            }
            _ => {}
        }
    }

    fn register(&self, register: RegId) -> Int {
        let now = self.registers.get(&register).cloned();
        now.unwrap_or_else(|| self.before.register(self.thread, register))
    }

    /// What a load sees, and whether that comes from the thread's own buffer.
    fn variable(&self, variable: VarId) -> (Int, bool) {
        if let Some(value) = self.memory.get(&variable) {
            return (value.clone(), false);
        }
        let buffer = self.before.buffer(self.thread);
        let newest = buffer.into_iter().rev().find(|(entry, _)| entry.stores_to(variable));
        match newest {
            Some((_, Some(value))) => (value, true),
            _ => (self.before.memory(variable), false),
        }
    }
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
