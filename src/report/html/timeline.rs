//! A run to step through: a table that can be read as it is, and the same as data for the
//! script, which shows the state after each row.
//!
//! A row is one step, together with the local steps of the same statement around it. Of every
//! row the data holds only what it changed: the acting thread and the memory it wrote.

use crate::report::ShownRun;
use crate::report::markup::{escape, json, visible};
use crate::report::spot::standing;
use crate::report::steps::{ShownStep, describe_all, grouped};
use machine::{Action, Configuration, Entry, ReadFrom};
use program::{AuthoredRegisters, RegId, ThreadId, VarId};
use serde_json::{Value, json};
use std::fmt::Write;
use std::ops::Range;

/// All threads and variables are shown if there are no more of them than this, else those that
/// take part.
const FEW_THREADS: usize = 4;
const FEW_VARIABLES: usize = 12;
/// Tables with more rows than this scroll by themselves.
const TALL: usize = 40;

/// A run, ready to be shown.
pub struct Timeline<'a> {
    run: &'a ShownRun<'a>,
    named: AuthoredRegisters,
    steps: Vec<ShownStep<'a>>,
    rows: Vec<Range<usize>>,
    threads: Vec<ThreadId>,
    variables: Vec<VarId>,
}

impl<'a> Timeline<'a> {
    /// Describes a run.
    pub fn new(run: &'a ShownRun<'a>) -> Timeline<'a> {
        let steps = describe_all(run.program, run.account);
        let rows = rows(&steps);
        let program = run.program;
        let acts = |thread: &ThreadId| steps.iter().any(|step| step.thread == *thread);
        let threads = program.thread_ids();
        let threads = threads.filter(|t| program.threads.len() <= FEW_THREADS || acts(t)).collect();
        let touched = run.touched();
        let variables = program.variable_ids();
        let few = program.variables.len() <= FEW_VARIABLES;
        let variables = variables.filter(|v| few || touched.contains(v)).collect();
        Timeline { run, named: AuthoredRegisters::of(program), steps, rows, threads, variables }
    }

    /// The lines of the source where something happens, with what to write beside them.
    pub fn lines(&self) -> Vec<(usize, &'static str)> {
        let program = self.run.program;
        let touched =
            self.steps.iter().filter_map(|step| program.source.main_line(step.span)).map(|line| (line, ""));
        let mut lines: Vec<(usize, &'static str)> = touched.collect();
        if let Some(cause) = self.run.cause {
            let line = self.steps.get(cause.step).and_then(|step| program.source.main_line(step.span));
            lines.extend(line.map(|line| (line, "overtakes")));
            let store = program.thread(cause.thread).edge(cause.store).span;
            lines.extend(program.source.main_line(store).map(|line| (line, "is delayed")));
        }
        lines
    }

    /// The controls, the table and the data.
    pub fn html(&self, title: &str) -> String {
        let mut out = String::new();
        let last = self.rows.len();
        let _ = writeln!(
            out,
            "<div class=\"player\" role=\"group\" aria-label=\"Step through: {}\" hidden>\n\
             <div class=\"controls\">\n{}\
             <input type=\"range\" min=\"0\" max=\"{last}\" value=\"0\" step=\"1\" aria-label=\"Step\">\n\
             <output class=\"count\">0 / {last}</output>\n</div>\n\
             <p class=\"now\" aria-live=\"polite\"></p>\n<div class=\"state\"></div>\n\
             <p class=\"keys muted\">Keys: <kbd>←</kbd> <kbd>→</kbd> or <kbd>k</kbd> <kbd>j</kbd> step, \
             <kbd>Home</kbd> <kbd>End</kbd> jump. Rows, source lines and graph nodes can be clicked.</p>\n</div>",
            escape(title),
            buttons(),
        );
        self.table(&mut out);
        let _ =
            writeln!(out, "<script type=\"application/json\" class=\"data\">{}</script>", json(&self.data()));
        out
    }

    fn table(&self, out: &mut String) {
        let program = self.run.program;
        let scrolls = match self.rows.len() > TALL {
            true => "scroll tall\" role=\"region\" aria-label=\"All steps\" tabindex=\"0",
            false => "scroll",
        };
        let _ = writeln!(
            out,
            "<div class=\"{scrolls}\"><table class=\"timeline\">\n<caption class=\"hidden-text\">All steps</caption>"
        );
        out.push_str("<thead><tr><th scope=\"col\">Step</th>");
        for thread in &self.threads {
            let _ = write!(out, "<th scope=\"col\">{}</th>", escape(&program.thread(*thread).name));
        }
        out.push_str("<th scope=\"col\">Memory</th></tr></thead>\n<tbody>\n");
        self.row(0, "start", None, out);
        for (at, row) in self.rows.iter().enumerate() {
            self.row(at + 1, &(at + 1).to_string(), Some(row), out);
        }
        out.push_str("</tbody></table></div>\n");
    }

    fn row(&self, at: usize, number: &str, row: Option<&Range<usize>>, out: &mut String) {
        let acting = row.map(|row| self.steps[row.start].thread);
        let forbidden = row.is_some_and(|row| self.mark(row).is_some());
        let class = if forbidden { " class=\"forbidden\"" } else { "" };
        let _ = write!(
            out,
            "<tr data-row=\"{at}\"{class}><th scope=\"row\"><button type=\"button\" tabindex=\"-1\" \
             aria-label=\"Go to step {number}\">{number}</button></th>"
        );
        for thread in &self.threads {
            let name = escape(&self.run.program.thread(*thread).name);
            let mut cell = String::new();
            if let Some(row) = row.filter(|_| acting == Some(*thread)) {
                self.action(row, &mut cell);
            }
            let passed = self.run.account.passed();
            let buffer = self.buffer_text(&passed[row.map_or(0, |row| row.end)], *thread);
            let before = row.map(|row| self.buffer_text(&passed[row.start], *thread));
            if !buffer.is_empty() && before.as_ref() == Some(&buffer) {
                cell += "<div class=\"buffer\" title=\"the buffer is as before\">⋯</div>";
            } else if !buffer.is_empty() {
                let _ = write!(cell, "<div class=\"buffer\">{}</div>", escape(&buffer));
            }
            let class = if acting == Some(*thread) { " class=\"acting\"" } else { "" };
            let _ = write!(out, "<td{class} data-name=\"{name}\">{cell}</td>");
        }
        let changes = self.changes(row).into_iter();
        let texts: Vec<String> =
            changes.map(|(v, value)| escape(&format!("{}={value}", self.variable(v)))).collect();
        let spans: Vec<String> =
            texts.iter().map(|text| format!("<span class=\"value\">{text}</span>")).collect();
        let _ = writeln!(out, "<td class=\"memory\" data-name=\"Memory\">{}</td></tr>", spans.join(" "));
    }

    fn action(&self, row: &Range<usize>, cell: &mut String) {
        let first = &self.steps[row.start];
        if !first.text.is_empty() {
            let line = first.line.map(|line| format!("<span class=\"line-number\">{line}</span> "));
            let _ =
                write!(cell, "<div>{}<code>{}</code></div>", line.unwrap_or_default(), escape(&first.text));
        }
        for sentence in self.says(row) {
            let _ = write!(cell, "<div class=\"effect\">{}</div>", escape(&sentence));
        }
        if let Some(mark) = self.mark(row) {
            let _ = write!(cell, "<div class=\"mark\">{mark}</div>");
        }
    }

    /// What the steps of a row did, in words.
    fn says(&self, row: &Range<usize>) -> Vec<String> {
        let called = self.steps[row.start].called();
        let steps = self.steps[row.clone()].iter();
        let effects =
            steps.flat_map(|step| step.actions.iter().filter_map(|effect| self.effect(step, effect)));
        called.into_iter().chain(effects).collect()
    }

    fn effect(&self, step: &ShownStep<'_>, effect: &Action) -> Option<String> {
        let register = |r: &RegId| &self.run.program.thread(step.thread).registers[r.index()];
        Some(match effect {
            Action::Load(v, value, ReadFrom::OwnBuffer(_)) => {
                format!("reads {} = {value} from its own buffer", self.variable(*v))
            }
            Action::Load(v, value, _) => format!("reads {} = {value} from memory", self.variable(*v)),
            Action::Store(v, value, true) => format!("puts {} = {value} into its buffer", self.variable(*v)),
            Action::Store(v, value, false) => format!("writes {} = {value} to memory", self.variable(*v)),
            Action::Drain(v, value, _) => format!("{} = {value} reaches memory", self.variable(*v)),
            Action::Choose(_, value) => format!("chooses {value}"),
            Action::Assign(r, value) if self.named.mentions(self.run.program, step.thread, *r) => {
                format!("{} becomes {value}", register(r))
            }
            Action::Assign(..) => return None,
        })
    }

    fn mark(&self, row: &Range<usize>) -> Option<&'static str> {
        let forbidden = self.run.cause.is_some_and(|cause| row.contains(&cause.step));
        forbidden.then_some("not under SC")
    }

    fn variable(&self, variable: VarId) -> &str {
        &self.run.program.variable(variable).name
    }

    /// What a row wrote to memory; at the start, everything.
    fn changes(&self, row: Option<&Range<usize>>) -> Vec<(VarId, String)> {
        let after = &self.run.account.passed()[row.map_or(0, |row| row.end)];
        let changed =
            |v: &VarId| row.is_none_or(|row| self.steps[row.clone()].iter().any(|step| step.writes(*v)));
        let shown = self.variables.iter().copied().filter(changed);
        shown.map(|v| (v, after.memory(v).to_string())).collect()
    }

    fn buffer_text(&self, at: &Configuration, thread: ThreadId) -> String {
        crate::report::buffer(self.run.program, self.run.model, at, thread).unwrap_or_default()
    }

    fn data(&self) -> Value {
        let program = self.run.program;
        let thread = |t: &ThreadId| {
            let registers = self.registers(*t).into_iter();
            let names = registers.map(|r| visible(&program.thread(*t).registers[r.index()]));
            json!({"name": visible(&program.thread(*t).name), "registers": names.collect::<Vec<_>>()})
        };
        let start = &self.run.account.passed()[0];
        let violation = self.run.violation.map(|violation| visible(&violation.text(program)));
        json!({
            "threads": self.threads.iter().map(thread).collect::<Vec<_>>(),
            "variables": self.variables.iter().map(|v| visible(self.variable(*v))).collect::<Vec<_>>(),
            "start": {
                "memory": self.variables.iter().map(|v| start.memory(*v).to_string()).collect::<Vec<_>>(),
                "threads": self.threads.iter().map(|t| self.thread_data(start, *t)).collect::<Vec<_>>(),
            },
            "rows": self.rows.iter().map(|row| self.row_data(row)).collect::<Vec<_>>(),
            "violation": violation,
        })
    }

    fn row_data(&self, row: &Range<usize>) -> Value {
        let first = &self.steps[row.start];
        let after = &self.run.account.passed()[row.end];
        let place = |v: VarId| self.variables.iter().position(|shown| *shown == v);
        let changes = self.changes(Some(row)).into_iter();
        let says: Vec<String> = self.says(row).iter().map(|text| visible(text)).collect();
        json!({
            "thread": self.threads.iter().position(|t| *t == first.thread),
            "line": first.line,
            "text": visible(&first.text),
            "says": says,
            "mark": self.mark(row),
            "steps": row.clone().collect::<Vec<_>>(),
            "memory": changes.map(|(v, value)| json!([place(v), value])).collect::<Vec<_>>(),
            "after": self.thread_data(after, first.thread),
        })
    }

    fn thread_data(&self, at: &Configuration, thread: ThreadId) -> Value {
        let program = self.run.program;
        let (line, standing) = standing(program, at, thread);
        let registers = self.registers(thread).into_iter().map(|r| at.register(thread, r).to_string());
        let entry = |(entry, value): (Entry, Option<_>)| match (entry, value) {
            (Entry::Store(v), Some(value)) => json!([visible(self.variable(v)), format!("{value}")]),
            _ => json!(["fence", null]),
        };
        json!({
            "line": line,
            "at": visible(&standing),
            "registers": registers.collect::<Vec<_>>(),
            "buffer": at.buffer(thread).into_iter().map(entry).collect::<Vec<_>>(),
        })
    }

    fn registers(&self, thread: ThreadId) -> Vec<RegId> {
        let program = self.run.program;
        let all = (0..program.thread(thread).registers.len()).map(RegId::new);
        all.filter(|register| self.named.mentions(program, thread, *register)).collect()
    }
}

fn buttons() -> String {
    let button = |(go, label, sign): (&str, &str, &str)| {
        format!(
            "<button type=\"button\" data-go=\"{go}\" aria-label=\"{label}\" title=\"{label}\">{sign}</button>\n"
        )
    };
    let all = [
        ("first", "First step", "⇤"),
        ("back", "Step back", "←"),
        ("on", "Step on", "→"),
        ("last", "Last step", "⇥"),
    ];
    all.into_iter().map(button).collect()
}

/// Steps of one thread and one statement share a row, unless two of them touch memory.
fn rows(steps: &[ShownStep<'_>]) -> Vec<Range<usize>> {
    let is_local = |step: &ShownStep<'_>| matches!(step.kind, "skip" | "assign" | "assume");
    grouped(0..steps.len(), |row, at| {
        let one_access = is_local(&steps[at]) || steps[row.clone()].iter().all(is_local);
        steps[at].continues(&steps[row.start]) && one_access
    })
}
