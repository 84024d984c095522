//! A run as people read it: a table with one column per thread and one per variable, or, where the
//! terminal is too narrow for that, a list.
//!
//! What happens stands on the left, one column per thread; what is true afterwards on the right:
//! the buffers that are not empty, and what changed in memory. Which steps share a row is said
//! in `rows`. There are several ways to draw this within a width: buffers in columns of their own
//! or below the statements, memory in one column or one per variable. Of those whose words fit, the
//! one with the fewest lines is taken; if none fits, or not without breaking most lines, a list.

mod rows;

use super::spot::standing;
use super::steps::{ShownStep, action_text, buffer, describe_all, shown_threads};
use super::table::{Cell, Column, Line, TextTable, hanging};
use anstyle::{AnsiColor, Style};
use evidence::{Cause, Task, Violated};
use machine::{Account, Action, Model, Violation};
use program::{Place, Program, ThreadId, VarId};
use rows::{TraceRow, rows};
use std::collections::BTreeSet;
use std::ops::Range;
use unicode_width::UnicodeWidthStr;

/// A run to show.
pub struct ShownRun<'a> {
    /// The program.
    pub program: &'a Program,
    /// The memory model.
    pub model: Model,
    /// What happens in it.
    pub account: &'a Account,
    /// What is violated at its end.
    pub violation: Option<Violation>,
    /// The step that SC would not allow.
    pub cause: Option<&'a Cause>,
}

impl<'a> ShownRun<'a> {
    /// A violation.
    pub fn of(task: &Task<'a>, violated: Violated<'a>) -> ShownRun<'a> {
        let Violated { trace, account, cause } = violated;
        ShownRun {
            program: task.program,
            model: task.model,
            account,
            violation: Some(trace.violation),
            cause,
        }
    }

    /// What the violated property speaks of.
    fn asked(&self) -> BTreeSet<Place> {
        let mut places = BTreeSet::new();
        if let Some(Violation::Property(at)) = self.violation {
            self.program.properties[at].cond.for_each_leaf(&mut |place| {
                places.insert(*place);
            });
        }
        places
    }

    /// The variables that it reads or writes, that the violated property asks for, or about whose initial values the
    /// program assumes something.
    pub fn touched(&self) -> BTreeSet<VarId> {
        let actions = self.account.steps().iter().flat_map(|step| &step.actions);
        let accessed = actions.filter_map(|action| match action {
            Action::Load(variable, ..) | Action::Store(variable, ..) | Action::Drain(variable, ..) => {
                Some(*variable)
            }
            Action::Assign(..) | Action::Choose(..) => None,
        });
        let asked = self.asked().into_iter().filter_map(|place| match place {
            Place::Memory(variable) => Some(variable),
            _ => None,
        });
        accessed.chain(asked).chain(self.program.assumed()).collect()
    }
}

const BUFFER: Style = AnsiColor::Cyan.on_default();
const DRAIN: Style = AnsiColor::Green.on_default();
const FORBIDDEN: Style = AnsiColor::Red.on_default().bold();
const CHANGED: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();

/// Columns of threads, of memory and of buffers are not made narrower than this, nor than their
/// longest word, unless that is beyond `LONG`; rather a list is shown.
const LEAST_THREAD: usize = 16;
const LEAST_STATE: usize = 10;
const LONG: usize = 24;
/// How far the second line of a piece of a list is set in.
const HANG: usize = 6;

/// Ways to draw a table.
#[derive(Clone, Copy)]
struct TableLayout {
    /// Buffers have columns of their own.
    buffers: bool,
    /// Every variable has a column of its own.
    memory: bool,
}

/// All of them; of two that are equally high, the first is better.
const LAYOUTS: [TableLayout; 4] = [
    TableLayout { buffers: true, memory: true },
    TableLayout { buffers: false, memory: true },
    TableLayout { buffers: true, memory: false },
    TableLayout { buffers: false, memory: false },
];

/// The run within a width.
pub fn render(run: &ShownRun<'_>, width: usize) -> String {
    let view = TraceView::new(run);
    let tables = LAYOUTS.iter().filter_map(|layout| view.table(*layout).render(width));
    // Titles of two lines do not make a table worse.
    let height = |table: &String| table.lines().skip_while(|line| !line.contains('┼')).count();
    let list = view.list(width);
    // A table whose cells are mostly broken lines is worse than a list.
    let readable = |table: &String| height(table) * 4 <= list.lines().count() * 5;
    tables.min_by_key(height).filter(readable).unwrap_or(list)
}

struct TraceView<'a> {
    run: &'a ShownRun<'a>,
    steps: Vec<ShownStep<'a>>,
    rows: Vec<TraceRow>,
    variables: Vec<VarId>,
    /// The threads that have something in their buffer after some row.
    buffering: Vec<ThreadId>,
    threads: Vec<ThreadId>,
    /// The width of the line numbers in front of statements.
    margin: usize,
}

impl<'a> TraceView<'a> {
    fn new(run: &'a ShownRun<'a>) -> TraceView<'a> {
        let steps = describe_all(run.program, run.account);
        let rows = rows(run.program, &steps);
        let passed = run.account.passed();
        let end = passed.last();
        let ends = end.map(|end| run.program.thread_ids().map(|t| standing(run.program, end, t).0));
        let lines = steps.iter().map(|step| step.line).chain(ends.into_iter().flatten());
        let last_line = lines.flatten().max().unwrap_or(0);
        let variables = run.touched().into_iter().collect();
        let threads = shown_threads(run.program, &steps);
        let buffers = |t: &ThreadId| rows.iter().any(|row| !passed[row.steps.end].local(*t).drained());
        let buffering = threads.iter().copied().filter(buffers).collect();
        TraceView { run, steps, rows, variables, buffering, threads, margin: last_line.to_string().len() + 1 }
    }

    fn table(&self, layout: TableLayout) -> TextTable {
        let program = self.run.program;
        let thread_name = |t: &ThreadId| program.thread(*t).name.clone();
        let mut table = TextTable { columns: vec![Column::new("step", None)], rows: Vec::new() };
        table.columns.extend(self.threads.iter().map(|t| Column::new(&thread_name(t), Some(LEAST_THREAD))));
        if layout.buffers {
            table.columns.extend(family("buffer", self.buffering.iter().map(thread_name), Some(LEAST_STATE)));
        }
        match layout.memory {
            true => {
                let names = self.variables.iter().map(|v| program.variable(*v).name.clone());
                table.columns.extend(family("memory", names, None));
            }
            false => table.columns.push(Column::new("memory", Some(LEAST_STATE))),
        }
        let mut first = vec![vec![Line::plain("start")]];
        first.resize(table.columns.len() - self.memory(None, layout.memory).len(), Cell::new());
        first.extend(self.memory(None, layout.memory));
        table.rows.push(first);
        for row in &self.rows {
            let mut cells = vec![vec![Line::plain(row.number())]];
            cells.extend(self.threads.iter().map(|thread| self.cell(row, *thread, !layout.buffers)));
            if layout.buffers {
                let buffer =
                    |t: &ThreadId| self.buffer(row.steps.end, *t).map(|b| Line::plain(b.1).style(BUFFER));
                cells.extend(self.buffering.iter().map(|thread| Cell::from_iter(buffer(thread))));
            }
            cells.extend(self.memory(Some(&row.steps), layout.memory));
            table.rows.push(cells);
        }
        if self.run.violation.is_some() {
            let mut row = vec![vec![Line::plain("end")]];
            row.extend(self.threads.iter().map(|thread| self.standing(*thread)));
            row.resize(table.columns.len(), Cell::new());
            table.rows.push(row);
        }
        keep_words_whole(&mut table);
        table
    }

    /// What a thread does in a row, and what its buffer holds afterwards if that is wanted here.
    fn cell(&self, row: &TraceRow, thread: ThreadId, with_buffer: bool) -> Cell {
        let blank = " ".repeat(self.margin);
        let mut cell = Cell::new();
        if self.steps[row.steps.start].thread == thread {
            for statement in &row.statements {
                cell.push(self.headline(statement.start));
                cell.extend(self.effects(statement).into_iter().map(|line| line.margin(&blank)));
            }
        }
        if let Some((word, entries)) = self.buffer(row.steps.end, thread).filter(|_| with_buffer) {
            cell.push(Line::plain(format!("{word}: {entries}")).style(BUFFER).margin(&blank));
        }
        cell
    }

    /// The buffer of a thread, if something is in it: what it is called, and its entries.
    fn buffer(&self, at: usize, thread: ThreadId) -> Option<(String, String)> {
        let text = buffer(self.run.program, self.run.model, &self.run.account.passed()[at], thread)?;
        text.split_once(": ").map(|(word, entries)| (word.to_string(), entries.to_string()))
    }

    /// The statement of a step, or the drain it is.
    fn headline(&self, at: usize) -> Line {
        let step = &self.steps[at];
        let mark = self.mark(at);
        if let Some(Action::Drain(variable, value, _)) = step.actions.first() {
            let name = &self.run.program.variable(*variable).name;
            let style = if mark.is_empty() { DRAIN } else { FORBIDDEN };
            return Line::arrival(&format!("{name} = {value}"), self.margin, mark).style(style);
        }
        Line::numbered(step.line, self.margin, &step.text)
    }

    /// What the steps of a group did that neither the buffers nor memory show.
    fn effects(&self, group: &Range<usize>) -> Vec<Line> {
        let mut lines: Vec<Line> = self.steps[group.start].called().map(Line::plain).into_iter().collect();
        for at in group.clone() {
            let step = &self.steps[at];
            for effect in step.actions {
                let Some(text) = self.effect(at, effect) else { continue };
                let mark =
                    if matches!(effect, Action::Load(..) | Action::Drain(..)) { self.mark(at) } else { "" };
                let style = if mark.is_empty() { Style::new() } else { FORBIDDEN };
                lines.push(Line::plain(format!("{text}{mark}")).style(style));
            }
        }
        lines
    }

    fn effect(&self, at: usize, effect: &Action) -> Option<String> {
        match effect {
            // Memory shows what drains at once; only what SC forbids has to be said.
            Action::Drain(variable, ..) => {
                let said = !self.mark(at).is_empty() && self.is_behind_its_store(at);
                said.then(|| format!("{} reaches memory", self.run.program.variable(*variable).name))
            }
            Action::Store(_, _, true) => None,
            _ => action_text(self.run.program, &self.steps[at], effect),
        }
    }

    /// Whether a drain stands in the row of its store.
    fn is_behind_its_store(&self, at: usize) -> bool {
        let mut statements = self.rows.iter().flat_map(|row| &row.statements);
        statements.any(|statement| statement.start < at && at < statement.end)
    }

    fn mark(&self, at: usize) -> &'static str {
        let forbidden = self.run.cause.is_some_and(|cause| cause.step == at && !cause.is_claim);
        // Blanks that do not break keep the mark in one piece.
        if forbidden { "  ◀\u{a0}not\u{a0}under\u{a0}SC" } else { "" }
    }

    /// The cells of memory: all values at the start, later what a group of steps wrote.
    fn memory(&self, group: Option<&Range<usize>>, spread: bool) -> Vec<Cell> {
        let program = self.run.program;
        let after = &self.run.account.passed()[group.map_or(0, |group| group.end)];
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
        self.steps[group.clone()].iter().any(|step| step.writes(variable))
    }

    /// Where a thread stands at the end, and what the violated property asks of its registers.
    fn standing(&self, thread: ThreadId) -> Cell {
        let program = self.run.program;
        let Some(end) = self.run.account.passed().last() else { return Cell::new() };
        let (line, text) = standing(program, end, thread);
        let mut cell = vec![Line::numbered(line, self.margin, &text)];
        for place in self.run.asked() {
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
        let mut put = |indent, text: &str, style: Style| out += &hanging(text, width, (indent, HANG), style);
        put(0, &format!("start: {}", self.changes(None).join(" ")), Style::new());
        for row in &self.rows {
            let thread = &program.thread(self.steps[row.steps.start].thread).name;
            for (at, statement) in row.statements.iter().enumerate() {
                let head = self.headline(statement.start);
                let text = format!("{} {}", head.margin.trim(), head.text);
                match at {
                    0 => put(0, &format!("{} {thread}: {}", row.number(), text.trim()), head.style),
                    _ => put(2, text.trim(), head.style),
                }
                self.effects(statement).iter().for_each(|line| put(4, &line.text, line.style));
            }
            for t in &self.threads {
                if let Some((word, entries)) = self.buffer(row.steps.end, *t) {
                    put(4, &format!("{} {word}: {entries}", program.thread(*t).name), BUFFER);
                }
            }
            let changes = self.changes(Some(&row.steps));
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

/// Columns under one title.
fn family(
    title: &str,
    names: impl Iterator<Item = String>,
    least: Option<usize>,
) -> impl Iterator<Item = Column> {
    names.enumerate().map(move |(at, name)| {
        let over = if at == 0 { title } else { "" };
        Column { title: vec![over.to_string(), name], joined: at > 0, least }
    })
}

/// Lets no column become narrower than its longest word, unless that is very long.
fn keep_words_whole(table: &mut TextTable) {
    for (at, column) in table.columns.iter_mut().enumerate() {
        let lines = table.rows.iter().filter_map(|row| row.get(at)).flatten();
        let word = |line: &Line| {
            let longest = line.text.split(' ').map(|word| word.width()).max().unwrap_or(0);
            line.margin.width() + longest
        };
        let longest = lines.map(word).max().unwrap_or(0).min(LONG);
        column.least = column.least.map(|least| least.max(longest));
    }
}

#[cfg(test)]
mod tests;
