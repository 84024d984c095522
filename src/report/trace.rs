//! A run as people read it: a table with one column a thread and one a variable, or, where the
//! terminal is too narrow for that, a list.
//!
//! Steps of one thread that follow each other and belong to one statement share a row. Buffers
//! stand in their thread's column at every row, memory shows what changed.

use super::steps::{Effect, Step, buffer, describe_all, mentions, standing};
use super::table::{Cell, Column, Line, Table, styled, wrap_text};
use anstyle::{AnsiColor, Style};
use evidence::Cause;
use machine::{Configuration, Model, TraceStep, Violation};
use program::{Place, Program, RegId, ThreadId, VarId};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::ops::Range;

/// A run to show.
pub struct Run<'a> {
    /// The program.
    pub program: &'a Program,
    /// The memory model.
    pub model: Model,
    /// Its steps.
    pub steps: &'a [TraceStep],
    /// The configurations it passes: one more than steps.
    pub passed: &'a [Configuration],
    /// What is violated at its end.
    pub violation: Option<Violation>,
    /// The step that SC would not allow.
    pub cause: Option<&'a Cause>,
}

const BUFFER: Style = AnsiColor::Cyan.on_default();
const DRAIN: Style = AnsiColor::Green.on_default();
const FORBIDDEN: Style = AnsiColor::Red.on_default().bold();
const CHANGED: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();

/// Columns of threads and of memory are not made narrower than this; rather a list is shown.
const LEAST_THREAD: usize = 16;
const LEAST_MEMORY: usize = 12;

/// The run within a width.
pub fn render(run: &Run<'_>, width: usize) -> String {
    let view = View::new(run);
    // One column a variable reads best; with many variables one column has to do for all.
    let spread = view.table(true).render(width);
    spread.or_else(|| view.table(false).render(width)).unwrap_or_else(|| view.list(width))
}

struct View<'a> {
    run: &'a Run<'a>,
    steps: Vec<Step>,
    groups: Vec<Range<usize>>,
    variables: Vec<VarId>,
    threads: Vec<ThreadId>,
    /// The width of the line numbers in front of statements.
    margin: usize,
}

impl<'a> View<'a> {
    fn new(run: &'a Run<'a>) -> View<'a> {
        let steps = describe_all(run.program, run.steps, run.passed);
        let groups = groups(run.program, &steps);
        let end = run.passed.last();
        let ends = end.map(|end| run.program.thread_ids().map(|t| standing(run.program, end, t).line));
        let lines = steps.iter().map(|step| step.line).chain(ends.into_iter().flatten());
        let last_line = lines.flatten().max().unwrap_or(0);
        let variables = touched(run, &steps);
        let threads = shown_threads(run.program, &steps);
        View { run, steps, groups, variables, threads, margin: last_line.to_string().len() + 1 }
    }

    fn table(&self, spread: bool) -> Table {
        let program = self.run.program;
        let names: Vec<&str> = self.variables.iter().map(|v| program.variable(*v).name.as_str()).collect();
        let column = |title: &str, least| Column { title: vec![title.to_string()], joined: false, least };
        let mut table = Table { columns: vec![column("step", None)], rows: Vec::new() };
        let threads = self.threads.iter().map(|t| column(&program.thread(*t).name, Some(LEAST_THREAD)));
        table.columns.extend(threads);
        match spread {
            true => table.columns.extend(names.iter().enumerate().map(|(at, name)| {
                let over = if at == 0 { "memory" } else { "" };
                Column { title: vec![over.to_string(), name.to_string()], joined: at > 0, least: None }
            })),
            false => table.columns.push(column("memory", Some(LEAST_MEMORY))),
        }
        let mut first = vec![vec![Line::plain("start")]];
        first.extend(self.threads.iter().map(|_| Cell::new()));
        first.extend(self.memory(None, spread));
        table.rows.push(first);
        for group in &self.groups {
            let mut row = vec![vec![Line::plain(number(group))]];
            row.extend(self.threads.iter().map(|thread| self.cell(group, *thread)));
            row.extend(self.memory(Some(group), spread));
            table.rows.push(row);
        }
        if self.run.violation.is_some() {
            let mut row = vec![vec![Line::plain("end")]];
            row.extend(self.threads.iter().map(|thread| self.standing(*thread)));
            row.resize(table.columns.len(), Cell::new());
            table.rows.push(row);
        }
        table
    }

    /// What a thread does in a group of steps, and what its buffer holds afterwards.
    fn cell(&self, group: &Range<usize>, thread: ThreadId) -> Cell {
        let blank = " ".repeat(self.margin);
        let mut cell = Cell::new();
        if self.steps[group.start].thread == thread {
            cell.push(self.headline(group.start));
            cell.extend(self.effects(group).into_iter().map(|line| line.margin(&blank)));
        }
        if let Some(buffer) = self.buffer(group.end, thread) {
            cell.push(Line::plain(buffer).style(BUFFER).margin(&blank));
        }
        cell
    }

    fn buffer(&self, at: usize, thread: ThreadId) -> Option<String> {
        buffer(self.run.program, self.run.model, &self.run.passed[at], thread)
    }

    /// The statement of a step, or the drain it is.
    fn headline(&self, at: usize) -> Line {
        let step = &self.steps[at];
        let mark = self.mark(at);
        if let Some(Effect::Drain(variable, value)) = step.effects.first() {
            let name = &self.run.program.variable(*variable).name;
            let style = if mark.is_empty() { DRAIN } else { FORBIDDEN };
            let arrow = format!("{:<width$}", "→", width = self.margin);
            return Line::plain(format!("{name} = {value} reaches memory{mark}")).style(style).margin(arrow);
        }
        let line = step.line.map(|line| line.to_string()).unwrap_or_default();
        let margin = format!("{line:>width$} ", width = self.margin - 1);
        Line::plain(&step.text).margin(margin)
    }

    /// What the steps of a group did that neither the buffers nor memory show.
    fn effects(&self, group: &Range<usize>) -> Vec<Line> {
        let mut lines = Vec::new();
        for at in group.clone() {
            let step = &self.steps[at];
            for effect in &step.effects {
                let Some(text) = self.effect(step, effect) else { continue };
                let mark = if matches!(effect, Effect::Load(..)) { self.mark(at) } else { "" };
                let style = if mark.is_empty() { Style::new() } else { FORBIDDEN };
                lines.push(Line::plain(format!("{text}{mark}")).style(style));
            }
        }
        lines
    }

    fn effect(&self, step: &Step, effect: &Effect) -> Option<String> {
        let name = |variable: &VarId| &self.run.program.variable(*variable).name;
        let register = |r: &RegId| self.run.program.thread(step.thread).registers[r.index()].as_str();
        match effect {
            Effect::Load(variable, value, false) => Some(format!("{} read {value}", name(variable))),
            Effect::Load(variable, value, true) => {
                Some(format!("{} read {value} (own buffer)", name(variable)))
            }
            Effect::Store(variable, value, false) => Some(format!("{} = {value} in memory", name(variable))),
            // Registers of the front end's own making mean nothing to the reader.
            Effect::Assign(r, value) if mentions(&step.text, register(r)) => {
                Some(format!("{} = {value}", register(r)))
            }
            Effect::Choose(_, value) => Some(format!("chose {value}")),
            Effect::Assign(..) | Effect::Store(..) | Effect::Drain(..) => None,
        }
    }

    fn mark(&self, at: usize) -> &'static str {
        let forbidden = self.run.cause.is_some_and(|cause| cause.step == at);
        if forbidden { "  ◀ not under SC" } else { "" }
    }

    /// The cells of memory: all values at the start, later what a group of steps wrote.
    fn memory(&self, group: Option<&Range<usize>>, spread: bool) -> Vec<Cell> {
        let program = self.run.program;
        let after = &self.run.passed[group.map_or(0, |group| group.end)];
        let value = |variable: &VarId| after.memory(*variable);
        let same = |variable: &VarId| group.is_some_and(|group| !self.writes(group, *variable));
        let style = if group.is_none() { Style::new() } else { CHANGED };
        if spread {
            let cell = |v: &VarId| match same(v) {
                true => vec![Line::plain("·").style(DIM)],
                false => vec![Line::plain(value(v).to_string()).style(style)],
            };
            return self.variables.iter().map(cell).collect();
        }
        let text = |v: &VarId| format!("{}={}", program.variable(*v).name, value(v));
        let changed: Vec<String> = self.variables.iter().filter(|v| !same(v)).map(text).collect();
        vec![if changed.is_empty() { Cell::new() } else { vec![Line::plain(changed.join(" ")).style(style)] }]
    }

    /// Whether a group of steps writes a variable's memory.
    fn writes(&self, group: &Range<usize>, variable: VarId) -> bool {
        let mut effects = self.steps[group.clone()].iter().flat_map(|step| &step.effects);
        effects.any(|effect| match effect {
            Effect::Drain(v, _) | Effect::Store(v, _, false) => *v == variable,
            _ => false,
        })
    }

    /// Where a thread stands at the end, and what the violated property asks of its registers.
    fn standing(&self, thread: ThreadId) -> Cell {
        let (program, end) = (self.run.program, &self.run.passed[self.run.passed.len() - 1]);
        let standing = standing(program, end, thread);
        let line = standing.line.map(|line| line.to_string()).unwrap_or_default();
        let margin = format!("{line:>width$} ", width = self.margin - 1);
        let mut cell = vec![Line::plain(standing.text).margin(margin)];
        for place in asked(self.run) {
            if let Place::Register(t, register) = place
                && t == thread
            {
                let value = end.register(t, register);
                let text = format!("{} = {value}", program.thread(thread).registers[register.index()]);
                cell.push(Line::plain(text).margin(" ".repeat(self.margin)));
            }
        }
        cell
    }

    /// The same, one line after the other.
    fn list(&self, width: usize) -> String {
        let program = self.run.program;
        let mut out = String::new();
        let mut put = |indent: usize, text: &str, style: Style| {
            for (at, line) in wrap_text(text, width.saturating_sub(indent + 2).max(10)).iter().enumerate() {
                let indent = if at == 0 { indent } else { indent + 2 };
                let _ = writeln!(out, "{}{}", " ".repeat(indent), styled(line, style));
            }
        };
        put(0, &format!("start: {}", self.changes(None).join(" ")), Style::new());
        for group in &self.groups {
            let head = self.headline(group.start);
            let thread = &program.thread(self.steps[group.start].thread).name;
            let text = format!("{} {thread}: {} {}", number(group), head.margin.trim(), head.text);
            put(0, &text, head.style);
            self.effects(group).iter().for_each(|line| put(4, &line.text, line.style));
            for t in &self.threads {
                if let Some(buffer) = self.buffer(group.end, *t) {
                    put(4, &format!("{} {buffer}", program.thread(*t).name), BUFFER);
                }
            }
            let changes = self.changes(Some(group));
            if !changes.is_empty() {
                put(4, &format!("memory: {}", changes.join(" ")), CHANGED);
            }
        }
        let ended = self.threads.iter().filter(|_| self.run.violation.is_some());
        for thread in ended {
            let lines = self.standing(*thread);
            let words: Vec<String> = lines.iter().map(|l| format!("{} {}", l.margin, l.text)).collect();
            let words = words.join(", ").split_whitespace().collect::<Vec<_>>().join(" ").replace(" ,", ",");
            put(0, &format!("end {}: {words}", program.thread(*thread).name), Style::new());
        }
        out
    }

    fn changes(&self, group: Option<&Range<usize>>) -> Vec<String> {
        let cells = self.memory(group, false);
        cells.into_iter().flatten().map(|line| line.text).collect()
    }
}

/// The number of the steps in a group, from 1.
fn number(group: &Range<usize>) -> String {
    match group.len() {
        1 => format!("{}", group.end),
        _ => format!("{}-{}", group.start + 1, group.end),
    }
}

/// Neighbouring steps of one thread and one statement, unless they start it anew.
fn groups(program: &Program, steps: &[Step]) -> Vec<Range<usize>> {
    let mut groups: Vec<Range<usize>> = Vec::new();
    let from = |at: usize| {
        let step = &steps[at];
        step.edge.map(|edge| program.thread(step.thread).edges()[edge].from)
    };
    for (at, step) in steps.iter().enumerate() {
        let joins = groups.last().is_some_and(|group| {
            let first = &steps[group.start];
            let same = first.thread == step.thread && first.span == step.span && !step.span.is_none();
            same && group.clone().all(|earlier| from(earlier) != from(at))
        });
        match groups.last_mut() {
            Some(group) if joins => group.end = at + 1,
            _ => groups.push(at..at + 1),
        }
    }
    groups
}

/// What the violated property speaks of.
fn asked(run: &Run<'_>) -> Vec<Place> {
    let mut places = BTreeSet::new();
    if let Some(Violation::Property(at)) = run.violation {
        run.program.properties[at].cond.for_each_leaf(&mut |place| {
            places.insert(*place);
        });
    }
    places.into_iter().collect()
}

/// The variables that a run reads or writes or that the violated property asks for.
fn touched(run: &Run<'_>, steps: &[Step]) -> Vec<VarId> {
    let effects = steps.iter().flat_map(|step| &step.effects);
    let mut variables: BTreeSet<VarId> = effects
        .filter_map(|effect| match effect {
            Effect::Load(variable, ..) | Effect::Store(variable, ..) | Effect::Drain(variable, _) => {
                Some(*variable)
            }
            Effect::Assign(..) | Effect::Choose(..) => None,
        })
        .collect();
    variables.extend(asked(run).into_iter().filter_map(|place| match place {
        Place::Memory(variable) => Some(variable),
        _ => None,
    }));
    variables.into_iter().collect()
}

/// All threads if there are few, else those that do something.
fn shown_threads(program: &Program, steps: &[Step]) -> Vec<ThreadId> {
    let few = program.threads.len() <= 3;
    program.thread_ids().filter(|t| few || steps.iter().any(|step| step.thread == *t)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::Engine;
    use evidence::{Ignore, Task, Verdict, cause, check};
    use machine::model_named;
    use program::Source;

    const SB: &str = "shared x, y;
thread P0 { let a; x = 1; a = y; }
thread P1 { let b; y = 1; b = x; }
finally !(P0.a == 0 && P1.b == 0);";

    /// Four threads, long names and long statements.
    const WIDE: &str = "shared first_variable, second_variable, third_variable, fourth_variable;
thread Writer(i in 0..2) { first_variable = i + 1; second_variable = i + 1; third_variable = i + 1; }
thread Reader(i in 0..2) { let one, two; one = third_variable; two = first_variable; fourth_variable = one; }
never Reader0.one == 1 && Reader0.two == 0 && Reader1.one == 2;";

    /// The shortest violation of a program, drawn within a width.
    fn drawn(text: &str, model: &str, width: usize) -> String {
        let source = Source::new("test.fw", text);
        let frontend = frontend::choose(Some("fw"), "", "").expect("there is such a language");
        let parsed = (frontend.read)(source, &frontend::Options::default()).expect("it is a program");
        let task =
            Task { program: &parsed.program, model: model_named(model).expect("there is such a model") };
        let answer = engine::Explicit.verify(&task, &engine::Run::default());
        let checked = check(&task, answer.verdict, &Ignore).expect("the evidence holds");
        let Verdict::Unsafe(trace) = checked.verdict() else { panic!("it is unsafe") };
        let cause = cause(task.program, trace, checked.run());
        let run = Run {
            program: task.program,
            model: task.model,
            steps: &trace.steps,
            passed: checked.run(),
            violation: Some(trace.violation),
            cause: cause.as_ref(),
        };
        anstream::adapter::strip_str(&render(&run, width)).to_string()
    }

    #[test]
    fn a_table_shows_buffers_values_drains_and_the_forbidden_step() {
        let table = drawn(SB, "tso", 100);
        let parts = ["2 x = 1", "buffer: x=1", "y read 0  ◀ not under SC", "→ x = 1 reaches memory", "a = 0"];
        for part in parts {
            assert!(table.contains(part), "`{part}` is missing:\n{table}");
        }
        assert_eq!(table.matches("not under SC").count(), 1, "{table}");
    }

    #[test]
    fn four_threads_fit_into_a_hundred_columns_as_a_table() {
        for width in [100, 120] {
            let table = drawn(WIDE, "pso", width);
            assert!(table.contains('│'), "{table}");
            assert!(table.lines().all(|line| line.chars().count() <= width), "{table}");
        }
    }

    #[test]
    fn a_narrow_terminal_gets_a_list_with_the_same_in_it() {
        let list = drawn(SB, "tso", 30);
        assert!(!list.contains('│'), "{list}");
        for part in [
            "P0: 2 x = 1",
            "P0 buffer: x=1",
            "◀ not under SC",
            "reaches memory",
            "memory: x=1",
            "end P0: ended, a = 0",
        ] {
            assert!(list.contains(part), "`{part}` is missing:\n{list}");
        }
        for width in 0..30 {
            drawn(SB, "tso", width);
        }
    }

    #[test]
    fn buffers_of_different_variables_are_apart_under_pso() {
        let text = "shared x, y; thread P { x = 1; y = 1; x = 2; fence store; y = 2; l: skip; } never P@l;";
        assert!(drawn(text, "pso", 100).contains("buffers: x=1, x=2 | y=1 | fence | y=2"));
        assert!(drawn(text, "tso", 100).contains("buffer: x=1, y=1, x=2, y=2"));
    }
}
