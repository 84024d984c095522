//! `run --interactive`: the user takes the steps.
//!
//! Reads one command per line, from a terminal or a pipe alike ([`CommandLines`]), and shows after each where the
//! threads stand, what their buffers and memory hold, and which steps can be taken.

use super::command_lines::CommandLines;
use super::replay::RecordedRun;
use super::walk::open_variables;
use crate::args::{RunArgs, chosen_models};
use crate::console::Console;
use crate::exit::{CommandError, Exit};
use crate::input::is_stdin;
use crate::numbers::counted;
use crate::report::{REPORTS, ShownRun, buffer, render, standing};
use crate::session::{Session, Told};
use anstyle::{AnsiColor, Style};
use evidence::symbolic::example_start;
use machine::{Account, Buffered, Configuration, Enabled, Event, TraceStep};
use program::{AuthoredRegisters, Domain, Edge, Int, Names, Op, Program, RegId, ThreadId};
use std::fmt::Write;

const BOLD: Style = Style::new().bold();
const BUFFER: Style = AnsiColor::Cyan.on_default();
const VIOLATED: Style = AnsiColor::Red.on_default().bold();
const HELP: &str = "commands:
  N        take step N
  N VALUE  take step N and choose this value
  u        undo the last step
  r        start again
  n        take the next step of the evidence (with --replay)
  e        take all of them
  t        show the steps so far as a table
  q        quit
  ?        this help
On a terminal, lines can be edited, and the arrows bring earlier ones back.
";

/// Runs the command. The exit code says whether the last state shown violates something.
pub fn interactive(args: &RunArgs, console: &Console) -> Result<Exit, CommandError> {
    if is_stdin(&args.file) {
        let message = "standard input cannot be both the program and the commands; name a file";
        return Err(message.to_string().into());
    }
    let session = Session::new("run", &REPORTS[0], console);
    let mut told = Told::default();
    let loaded = session.load(&mut told, &Ok(args.file.clone()), &args.input);
    session.show(&told)?;
    let Some(loaded) = loaded else { return Ok(told.exit) };
    let program = &loaded.program;
    let recorded = match &args.replay {
        Some(evidence) => {
            let watch = session.watch_over(args.resources.budget(), loaded.name.clone());
            Some(RecordedRun::read(program, evidence, &watch)?)
        }
        None => None,
    };
    let model = recorded.as_ref().map_or_else(|| chosen_models(&args.model)[0], |recorded| recorded.model);
    let machine = Buffered::exact(program, model).with_dead_registers();
    let mut steps = Interaction {
        program,
        machine: &machine,
        names: Names::original(program),
        authored: AuthoredRegisters::of(program),
        recorded: recorded.as_ref(),
        console,
        input: CommandLines::new(console),
    };
    steps.walk()
}

struct Interaction<'a> {
    program: &'a Program,
    machine: &'a Buffered<'a>,
    names: Names,
    /// Registers of the front end's own making are not shown.
    authored: AuthoredRegisters,
    /// The run of evidence that can be followed.
    recorded: Option<&'a RecordedRun>,
    console: &'a Console,
    input: CommandLines<'a>,
}

/// What the user wants.
enum Wish {
    Take(usize, Option<Int>),
    Undo,
    /// The next step of the evidence, or all of them.
    Follow {
        all: bool,
    },
    Restart,
    Table,
    Help,
    Quit,
}

impl Interaction<'_> {
    fn walk(&mut self) -> Result<Exit, CommandError> {
        let Some(first) = self.first()? else { return Ok(Exit::Holds) };
        let mut passed = vec![first];
        let mut steps: Vec<TraceStep> = Vec::new();
        let mut show = true;
        loop {
            let now = passed[passed.len() - 1].clone();
            let enabled = now.enabled(self.machine);
            if show {
                self.show(&now, &enabled, steps.len())?;
            }
            show = match self.wish()? {
                Some(Wish::Take(number, value)) => {
                    let taken = self.take(&now, &enabled, number, value)?;
                    taken.is_some_and(|(step, next)| {
                        steps.push(step);
                        passed.push(next);
                        true
                    })
                }
                Some(Wish::Follow { all }) => self.follow(&mut steps, &mut passed, all)?,
                Some(Wish::Undo) if steps.pop().is_some() => passed.pop().is_some(),
                Some(Wish::Undo) => self.only_say("this is the start; there is nothing to undo\n")?,
                Some(Wish::Restart) => {
                    steps.clear();
                    passed.truncate(1);
                    true
                }
                Some(Wish::Table) => {
                    let violation = now.violation(self.program);
                    let (program, model) = (self.program, self.machine.model());
                    let account = Account::of(program, &steps, passed.clone());
                    let run = ShownRun { program, model, account: &account, violation, cause: None };
                    self.only_say(&render(&run, self.console.look().width))?
                }
                Some(Wish::Help) => self.only_say(HELP)?,
                Some(Wish::Quit) | None => {
                    let violated = now.violation(self.program).is_some();
                    return Ok(if violated { Exit::Violated } else { Exit::Holds });
                }
            };
        }
    }

    /// Takes the next step of the evidence, or all of them; says why if there is none. Whether something was
    /// done.
    fn follow(
        &mut self,
        steps: &mut Vec<TraceStep>,
        passed: &mut Vec<Configuration>,
        all: bool,
    ) -> Result<bool, CommandError> {
        let Some(recorded) = self.recorded.map(RecordedRun::steps) else {
            return self.only_say("there is no run to follow: name evidence with --replay\n");
        };
        if !recorded.starts_with(steps) {
            let message = "this is not the way of the evidence any more: `u` goes back, `r` to the start\n";
            return self.only_say(message);
        }
        let mut taken = false;
        while let Some(step) = recorded.get(steps.len()).filter(|_| all || !taken) {
            let now = &passed[passed.len() - 1];
            let Some(next) = now.take(self.machine, step.event, step.choice.as_ref()) else { break };
            steps.push(step.clone());
            passed.push(next);
            taken = true;
        }
        if taken { Ok(true) } else { self.only_say("this is the end of the evidence\n") }
    }

    /// The first configuration; asks for initial values that are open. `None` at the end of input.
    fn first(&mut self) -> Result<Option<Configuration>, CommandError> {
        if let Some(recorded) = self.recorded {
            return Ok(Configuration::initial(self.machine, recorded.initial()));
        }
        let examples = match example_start(self.program) {
            Ok(None) => {
                self.say("no initial values satisfy what is assumed\n")?;
                return Ok(None);
            }
            Ok(Some(values)) if !self.program.starts.is_empty() => values,
            _ => Vec::new(),
        };
        loop {
            let mut chosen = Vec::new();
            for v in open_variables(self.program) {
                let variable = self.program.variable(v);
                let question = format!("{} starts at", variable.name);
                let initial = variable.initial.clone();
                let example = examples.get(v.index()).map_or(initial.example(), |(_, value)| value.clone());
                let Some(value) = self.ask(&question, &initial, example)? else { return Ok(None) };
                chosen.push((v, value));
            }
            let first = Configuration::initial(self.machine, &chosen);
            if first.is_some() {
                return Ok(first);
            }
            for start in &self.program.starts {
                let text = self.names.cond(&start.cond);
                self.say(&format!("the program assumes {text}\n"))?;
            }
        }
    }

    /// A value of a domain; an empty line takes the default. `None` at the end of input, or if the
    /// user wants to quit.
    fn ask(&mut self, question: &str, domain: &Domain, example: Int) -> Result<Option<Int>, CommandError> {
        loop {
            let question = format!("{question} ({}) [{example}]? ", domain_text(domain));
            let Some(line) = self.input.next(&question)? else { return Ok(None) };
            if line.is_empty() {
                return Ok(Some(example));
            }
            if line == "q" {
                return Ok(None);
            }
            match line.parse::<Int>() {
                Ok(value) if domain.contains(&value) => return Ok(Some(value)),
                _ => self.say(&format!("not one of these values: {}\n", start(&line)))?,
            }
        }
    }

    /// The step of this number; says why if it cannot be taken.
    fn take(
        &mut self,
        now: &Configuration,
        enabled: &[Enabled],
        number: usize,
        value: Option<Int>,
    ) -> Result<Option<(TraceStep, Configuration)>, CommandError> {
        let Some(wanted) = number.checked_sub(1).and_then(|at| enabled.get(at)) else {
            self.say(&format!("there is no step {number}\n"))?;
            return Ok(None);
        };
        let choice = match (&wanted.choice, value) {
            (None, None) => None,
            (None, Some(_)) => {
                self.say("this step chooses no value\n")?;
                return Ok(None);
            }
            (Some(_), Some(value)) => Some(value),
            (Some(domain), None) => match self.ask("choose", domain, domain.example())? {
                Some(value) => Some(value),
                None => return Ok(None),
            },
        };
        match now.take(self.machine, wanted.event, choice.as_ref()) {
            Some(next) => Ok(Some((TraceStep { event: wanted.event, choice }, next))),
            None => {
                self.say("the step cannot be taken with this value\n")?;
                Ok(None)
            }
        }
    }

    /// The next command; `None` at the end of input.
    fn wish(&mut self) -> Result<Option<Wish>, CommandError> {
        loop {
            let Some(line) = self.input.next("> ")? else {
                self.say("\n")?;
                return Ok(None);
            };
            let words: Vec<&str> = line.split_whitespace().collect();
            let number = words.first().and_then(|word| word.parse::<usize>().ok());
            let wish = match (words.as_slice(), number) {
                (["u"], _) => Wish::Undo,
                (["n"], _) => Wish::Follow { all: false },
                (["e"], _) => Wish::Follow { all: true },
                (["r"], _) => Wish::Restart,
                (["t"], _) => Wish::Table,
                (["q"], _) => Wish::Quit,
                (["?" | "h" | "help"], _) => Wish::Help,
                ([_], Some(number)) => Wish::Take(number, None),
                ([_, value], Some(number)) if value.parse::<Int>().is_ok() => {
                    Wish::Take(number, value.parse().ok())
                }
                ([], _) => continue,
                _ => {
                    self.say(&format!("not understood: {} (? for help)\n", start(&line)))?;
                    continue;
                }
            };
            return Ok(Some(wish));
        }
    }

    fn say(&self, text: &str) -> Result<(), CommandError> {
        Ok(self.console.print_text(text)?)
    }

    /// The same where nothing was done, so that nothing else is to be shown.
    fn only_say(&self, text: &str) -> Result<bool, CommandError> {
        self.say(text).map(|()| false)
    }

    fn show(&self, now: &Configuration, enabled: &[Enabled], steps: usize) -> Result<(), CommandError> {
        let program = self.program;
        let mut out = format!("\n{BOLD}after {}{BOLD:#}\n", counted(steps, "step"));
        let wide = program.threads.iter().map(|t| t.name.len()).max().unwrap_or(0).max("memory".len());
        let memory = program.variable_ids().map(|v| format!("{}={}", self.names.variable(v), now.memory(v)));
        let _ = writeln!(out, "  {:<wide$}  {}", "memory", memory.collect::<Vec<_>>().join(" "));
        for thread in program.thread_ids() {
            let _ = writeln!(out, "  {:<wide$}  {}", self.names.thread(thread), self.place(now, thread));
            let registers = self.registers(now, thread);
            if !registers.is_empty() {
                let _ = writeln!(out, "  {:<wide$}  {registers}", "");
            }
            if let Some(buffer) = buffer(program, self.machine.model(), now, thread) {
                let _ = writeln!(out, "  {:<wide$}  {BUFFER}{buffer}{BUFFER:#}", "");
            }
        }
        for violation in now.violations(program) {
            let _ = writeln!(out, "{VIOLATED}violated{VIOLATED:#}: {}", violation.text(program));
        }
        if let Some(holder) = now.holder() {
            let _ = writeln!(out, "{} is inside an atomic section", self.names.thread(holder));
        }
        for (at, step) in enabled.iter().enumerate() {
            let thread = self.names.thread(step.event.thread());
            let text = enabled_text(program, &self.names, &self.authored, now, step);
            let _ = writeln!(out, "{:>4}  {thread}  {text}", at + 1);
        }
        if enabled.is_empty() {
            let end = now.is_final(program);
            out.push_str(if end { "all threads have ended\n" } else { "no thread can take a step\n" });
        }
        self.say(&out)
    }

    /// Where a thread stands.
    fn place(&self, now: &Configuration, thread: ThreadId) -> String {
        let (line, text) = standing(self.program, now, thread);
        let line = line.map(|line| format!("line {line}, ")).unwrap_or_default();
        format!("{line}{text}")
    }

    fn registers(&self, now: &Configuration, thread: ThreadId) -> String {
        let registers = (0..self.program.thread(thread).registers.len()).map(RegId::new);
        let shown = registers.filter(|register| self.authored.mentions(self.program, thread, *register));
        let value = |register: RegId| {
            format!("{}={}", self.names.register(thread, register), now.register(thread, register))
        };
        shown.map(value).collect::<Vec<_>>().join(" ")
    }
}

/// What taking a step would do.
pub fn enabled_text(
    program: &Program,
    names: &Names,
    authored: &AuthoredRegisters,
    now: &Configuration,
    step: &Enabled,
) -> String {
    match step.event {
        Event::Drain { thread, variable } => {
            let oldest = now.buffer(thread).into_iter().find(|(entry, _)| entry.stores_to(variable));
            let value = oldest.and_then(|(_, value)| value).unwrap_or_default();
            format!("→ {} = {value} reaches memory", names.variable(variable))
        }
        Event::Step { thread, edge } => {
            let edge = program.thread(thread).edge(edge);
            let op = deed(program, names, authored, thread, edge);
            let line = program.source.line(edge.span).map(|line| format!("line {line}: "));
            let choice = step.choice.as_ref().map(|domain| format!(" ({})", domain_text(domain)));
            format!("{}{op}{}", line.unwrap_or_default(), choice.unwrap_or_default())
        }
    }
}

/// What a step does: as it was lowered, or, where that speaks of registers of the front end's own making,
/// as the statement is written.
fn deed(
    program: &Program,
    names: &Names,
    authored: &AuthoredRegisters,
    thread: ThreadId,
    edge: &Edge,
) -> String {
    let mut made_up = false;
    let mut look = |register: &RegId| made_up |= !authored.mentions(program, thread, *register);
    edge.op.for_each_part(&mut |part| {
        part.writes().iter().for_each(&mut look);
        part.for_each_read(&mut |register| look(register));
    });
    let written = program.source.snippet(edge.span);
    if !made_up || written.is_empty() {
        return names.op(thread, &edge.op);
    }
    let part = match &edge.op {
        Op::Load(_, variable) => format!(" (reads {})", names.variable(*variable)),
        Op::Store(variable, _) => format!(" (writes {})", names.variable(*variable)),
        Op::Assume(_) => " (decides)".to_string(),
        Op::Assign(..) => " (computes)".to_string(),
        Op::Block { locked: true, .. } => " (at once)".to_string(),
        _ => String::new(),
    };
    format!("{written}{part}")
}

/// The values of a domain, in words.
pub fn domain_text(domain: &Domain) -> String {
    match domain {
        Domain::All => "any integer".to_string(),
        Domain::Range(low, high) => format!("{low} to {high}"),
    }
}

/// The start of a line, for messages.
fn start(line: &str) -> String {
    line.chars().take(40).collect()
}
