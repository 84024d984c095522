//! A witness as text: a table with one column per thread, from the store over its overtaker and the
//! chain to the drain, and the cycle in sentences.

use super::{ARRIVAL, ToldWitness};
use crate::report::steps::{ShownStep, action_text, grouped, shown_threads};
use crate::report::table::{Cell, Column, Line, TextTable, hanging, styled, wrap_text};
use anstyle::{AnsiColor, Style};
use evidence::Link;
use machine::Action;
use program::ThreadId;
use std::fmt::Write;
use std::ops::Range;

const CYCLE: Style = AnsiColor::Red.on_default().bold();
const DRAIN: Style = AnsiColor::Green.on_default();
const BUFFER: Style = AnsiColor::Cyan.on_default();

/// Columns of threads are not made narrower than this; rather a list is shown.
const LEAST: usize = 16;

/// What happens, in a sentence without a full stop.
pub fn sentence(told: &ToldWitness<'_>) -> String {
    let witness = told.witness();
    let thread = told.thread(told.attacker());
    format!("{thread} can delay {} past {}", told.place(witness.store), told.place(witness.overtaker))
}

/// The run within a width.
pub fn drawn(told: &ToldWitness<'_>, width: usize) -> String {
    let view = WitnessView::new(told);
    view.table().render(width).unwrap_or_else(|| view.list(width))
}

/// The cycle, numbered as in the table.
pub fn cycle(told: &ToldWitness<'_>, width: usize) -> String {
    let cycle = &told.related.cycle;
    let mut out = String::from("No run under SC looks like this, for happens-before has a cycle:\n");
    let mut put = |first: &str, text: &str, style: Style| {
        for (at, line) in wrap_text(text, width.saturating_sub(6).max(20)).iter().enumerate() {
            let margin = if at == 0 { first } else { "" };
            let _ = writeln!(out, "{margin:>4}  {}", styled(line, style));
        }
    };
    for (at, (node, link)) in cycle.iter().enumerate() {
        let line = told.steps()[*node].line.map(|line| format!(" (line {line})")).unwrap_or_default();
        let thread = told.thread(told.steps()[*node].thread);
        let accesses = told.related.accesses(*node).join(" and ");
        put(&(at + 1).to_string(), &format!("{thread} {accesses}{line}"), CYCLE);
        let next = (at + 1) % cycle.len() + 1;
        put("", &format!("before {next}{}", why(*link)), Style::new());
    }
    out
}

fn why(link: Link) -> &'static str {
    match link {
        Link::Program => " in program order",
        Link::ReadsFrom => ", which reads that",
        Link::StoreOrder => ", which overwrites that",
        Link::FromRead => ", which overwrites what was read",
    }
}

struct WitnessView<'a> {
    told: &'a ToldWitness<'a>,
    groups: Vec<Range<usize>>,
    cycle: Vec<usize>,
    threads: Vec<ThreadId>,
    /// The width of the line numbers in front of statements.
    margin: usize,
}

impl<'a> WitnessView<'a> {
    fn new(told: &'a ToldWitness<'a>) -> WitnessView<'a> {
        let last_line = told.steps().iter().filter_map(|step| step.line).max().unwrap_or(0);
        WitnessView {
            told,
            groups: groups(told),
            cycle: told.related.cycle.iter().map(|(node, _)| *node).collect(),
            threads: shown_threads(told.related.program, told.steps()),
            margin: last_line.to_string().len() + 1,
        }
    }

    fn table(&self) -> TextTable {
        let threads = self.threads.iter().map(|thread| Column::new(self.told.thread(*thread), Some(LEAST)));
        let columns = std::iter::once(Column::new("", None)).chain(threads).collect();
        let mut table = TextTable { columns, rows: Vec::new() };
        let mut last = None;
        for group in &self.groups {
            let part = self.told.part(group.start);
            let name = if last == Some(part) { "" } else { part };
            last = Some(part);
            let mut row = vec![vec![Line::plain(name)]];
            row.extend(self.threads.iter().map(|thread| self.cell(group, *thread)));
            table.rows.push(row);
        }
        table
    }

    fn cell(&self, group: &Range<usize>, thread: ThreadId) -> Cell {
        if self.told.steps()[group.start].thread != thread {
            return Cell::new();
        }
        let blank = " ".repeat(self.margin);
        let effects = self.effects(group).into_iter().map(|line| line.margin(&blank));
        std::iter::once(self.headline(group)).chain(effects).collect()
    }

    /// The statement of a group, or the drain it is.
    fn headline(&self, group: &Range<usize>) -> Line {
        let step = &self.told.steps()[group.start];
        if let Some(Action::Drain(variable, value, _)) = step.actions.first() {
            let store = format!("{} = {value}", self.told.variable(*variable));
            return Line::arrival(&store, self.margin, "").style(DRAIN);
        }
        let marks: Vec<String> = group.clone().filter_map(|at| self.mark(at)).collect();
        if marks.is_empty() {
            return Line::numbered(step.line, self.margin, &step.text);
        }
        let text = format!("{}  ◀ {}", step.text, marks.join(", "));
        Line::numbered(step.line, self.margin, &text).style(CYCLE)
    }

    /// The number of a step in the cycle.
    fn mark(&self, step: usize) -> Option<String> {
        let at = self.cycle.iter().position(|node| *node == step)?;
        Some((at + 1).to_string())
    }

    fn effects(&self, group: &Range<usize>) -> Vec<Line> {
        let called = self.told.steps()[group.start].called();
        let mut lines: Vec<Line> = called.map(Line::plain).into_iter().collect();
        for at in group.clone() {
            let step = &self.told.steps()[at];
            lines.extend(step.actions.iter().filter_map(|effect| self.effect(at, step, effect)));
        }
        lines
    }

    fn effect(&self, at: usize, step: &ShownStep<'_>, effect: &Action) -> Option<Line> {
        let told = self.told;
        let drain = told.checked.account().steps()[at].drain;
        match effect {
            Action::Store(variable, value, true) if drain >= Some(told.witness().drain) => {
                let text = format!("{} = {value} stays in the buffer", told.variable(*variable));
                Some(Line::plain(text).style(BUFFER))
            }
            _ => action_text(told.related.program, step, effect).map(Line::plain),
        }
    }

    /// The same, one line after the other.
    fn list(&self, width: usize) -> String {
        let mut out = String::new();
        let mut put = |indent, text: &str, style: Style| out += &hanging(text, width, (indent, 2), style);
        for group in &self.groups {
            let head = self.headline(group);
            let thread = self.told.thread(self.told.steps()[group.start].thread);
            let part = self.told.part(group.start);
            put(0, &format!("{part} {thread}: {} {}", head.margin.trim(), head.text), head.style);
            self.effects(group).iter().for_each(|line| put(4, &line.text, line.style));
        }
        out
    }
}

/// Neighbouring steps of one thread, statement and part, unless they start it anew. A drain
/// that directly follows its store needs no line of its own.
fn groups(told: &ToldWitness<'_>) -> Vec<Range<usize>> {
    let steps = told.steps();
    let shown = |at: &usize| steps[*at].edge.is_some() || told.part(*at) == ARRIVAL;
    grouped((0..steps.len()).filter(shown), |group, at| {
        let anew = group.clone().any(|earlier| steps[earlier].edge == steps[at].edge);
        let same_part = told.part(group.start) == told.part(at);
        steps[at].continues(&steps[group.start]) && group.end == at && same_part && !anew
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::{ENGINES, Run, decide};
    use evidence::Task;
    use machine::TSO;

    /// The witness of a program within a width, without colours.
    fn witness_of(text: &str, width: usize) -> String {
        let program = crate::read("test.fw", text).expect("it is a program");
        let task = Task::robust(&program, TSO);
        let found = decide(&task, ENGINES[0], &Run::default()).expect("no bug");
        let told = ToldWitness::new(&program, found.checked.witness().expect("it is not robust"));
        let shown = drawn(&told, width) + &cycle(&told, width) + &sentence(&told);
        anstream::adapter::strip_str(&shown).to_string()
    }

    const SB: &str = "shared x, y;
thread P { let a; x = 1; a = y; }
thread Q { let b; y = 1; b = x; }";

    #[test]
    fn a_narrow_terminal_gets_a_list_with_the_same_in_it() {
        let (table, list) = (witness_of(SB, 100), witness_of(SB, 36));
        assert!(table.contains('│') && !list.contains('│'), "{table}\n{list}");
        for part in ["x = 1 stays in the buffer", "y read 0", "x = 1 reaches memory"] {
            assert!(table.contains(part) && list.contains(part), "`{part}` is missing:\n{table}\n{list}");
        }
        for part in ["store P: 2 x = 1  ◀ 1", "chain Q: 3 b = x  ◀ 4"] {
            assert!(list.contains(part), "`{part}` is missing:\n{list}");
        }
        for width in 0..40 {
            witness_of(SB, width);
        }
    }

    #[test]
    fn what_comes_before_the_delay_is_in_memory_at_once() {
        let text = "shared x, y;
thread P { let a; y = 2; fence; x = 1; x = 3; a = y; }
thread Q { let b; await y == 2; y = 1; b = x; }";
        let table = witness_of(text, 100);
        for part in ["before │ 2 y = 2", "y = 2 in memory", "delay  │ 2 x = 3", "x = 3 reaches memory"] {
            assert!(table.contains(part), "`{part}` is missing:\n{table}");
        }
        assert!(!table.contains("y = 2 reaches memory"), "a drain at once has no line of its own:\n{table}");
    }
}
