//! Evidence files: writing them, and checking them against a program in bounded memory.
//!
//! `fencewright-evidence 1 KIND MODEL PROGRAM` opens a file; PROGRAM is a [`fingerprint`], so
//! that evidence for another program is refused with a clear word (it would not pass anyway).
//! A trace follows as `initial`, `step` and `drain` lines and one `property` or `failure`; a
//! closed set as its dictionary (`global`, `local`) and its `state`s. `end N` closes the file
//! and counts the lines before it, so that a cut file is noticed.

use crate::obligations::check_stream;
use crate::record::{Kind, Record};
use crate::{Certificate, ClosedSet, Rejected, Task, Verdict};
use machine::{
    Configuration, Entry, Event, Gaps, Local, Model, State, Trace, TraceStep, Violation, model_named, replay,
};
use program::{EdgeId, Int, Loc, Names, Program, ThreadId, VarId};
use std::fmt;
use std::io::{self, BufRead, Write};

const VERSION: u32 = 1;
/// Lines longer than this are no evidence of ours; a state of 64 KiB takes a third of it.
const MAX_LINE: u64 = 1 << 22;
/// Nor are integers with more digits than this.
const MAX_DIGITS: usize = 4096;

/// The two forms of an evidence file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Words and numbers.
    Text,
    /// One JSON object a line.
    Json,
}

/// What a file proved.
#[derive(Debug)]
pub enum Claim {
    /// The program is safe; this many states.
    Safe(Model, usize),
    /// The program is unsafe, by this trace through these configurations.
    Unsafe(Model, Trace, Vec<Configuration>),
}

/// What is wrong with a file.
#[derive(Debug)]
pub enum FileError {
    /// It could not be read.
    Io(io::Error),
    /// This line (from 1) is not what it should be.
    Line(usize, String),
    /// It is well written but proves nothing.
    Rejected(Rejected),
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FileError::Io(error) => error.fmt(f),
            FileError::Line(line, message) => write!(f, "line {line}: {message}"),
            FileError::Rejected(why) => why.fmt(f),
        }
    }
}

impl std::error::Error for FileError {}

impl From<Rejected> for FileError {
    fn from(why: Rejected) -> FileError {
        FileError::Rejected(why)
    }
}

impl From<io::Error> for FileError {
    fn from(error: io::Error) -> FileError {
        FileError::Io(error)
    }
}

/// A number that tells programs apart: 64-bit FNV-1a of the printed program.
pub fn fingerprint(program: &Program) -> String {
    let text = program::print(program);
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    format!("{:016x}", text.bytes().fold(0xcbf2_9ce4_8422_2325, step))
}

/// Writes the evidence of a verdict; an unknown has none and writes nothing.
pub fn write_evidence(task: &Task<'_>, verdict: &Verdict, form: Form, out: &mut dyn Write) -> io::Result<()> {
    let mut writer = Writer { form, out, lines: 0 };
    let head = |kind| Record::Evidence {
        version: VERSION,
        kind,
        model: task.model.name().to_string(),
        program: fingerprint(task.program),
    };
    match verdict {
        Verdict::Unknown(_) => return Ok(()),
        Verdict::Unsafe(trace) => {
            writer.put(&head(Kind::Trace), "")?;
            write_trace(task.program, trace, &mut writer)?;
        }
        Verdict::Safe(Certificate::Closed(set)) => {
            writer.put(&head(Kind::ClosedSet), "")?;
            write_closed(task.program, set, &mut writer)?;
        }
        Verdict::Safe(Certificate::Gaps(gaps, set)) => {
            writer.put(&head(Kind::GapSet), "")?;
            let Gaps { low, high, precision, modulus } = *gaps;
            writer.put(&Record::Gaps { low, high, precision, modulus }, "")?;
            write_closed(task.program, set, &mut writer)?;
        }
    }
    let lines = writer.lines;
    writer.put(&Record::End(lines), "")
}

struct Writer<'a> {
    form: Form,
    out: &'a mut dyn Write,
    lines: usize,
}

impl Writer<'_> {
    fn put(&mut self, record: &Record, remark: &str) -> io::Result<()> {
        self.lines += 1;
        let line = match self.form {
            Form::Text => record.to_text(remark),
            Form::Json => record.to_json(remark),
        };
        writeln!(self.out, "{line}")
    }
}

fn write_trace(program: &Program, trace: &Trace, out: &mut Writer<'_>) -> io::Result<()> {
    let names = Names::original(program);
    for (variable, value) in &trace.initial {
        let record = Record::Initial { variable: variable.index(), value: value.to_string() };
        out.put(&record, names.variable(*variable))?;
    }
    for step in &trace.steps {
        let (record, remark) = match step.event {
            Event::Drain { thread, variable } => (
                Record::Drain { thread: thread.index(), variable: variable.index() },
                format!("{}: {} reaches memory", names.thread(thread), names.variable(variable)),
            ),
            Event::Step { thread, edge } => {
                let taken = program.thread(thread).edge(edge);
                let line =
                    program.source.line(taken.span).map(|l| format!(" (line {l})")).unwrap_or_default();
                let choice = step.choice.as_ref().map(Int::to_string);
                (
                    Record::Step { thread: thread.index(), edge: edge.index(), choice },
                    format!("{}: {}{line}", names.thread(thread), names.op(thread, &taken.op)),
                )
            }
        };
        out.put(&record, &remark)?;
    }
    let violation = match trace.violation {
        Violation::Property(at) => Record::Property(at),
        Violation::Failure(thread, loc) => Record::Failure { thread: thread.index(), location: loc.index() },
    };
    out.put(&violation, &trace.violation.text(program))
}

fn write_closed(program: &Program, set: &ClosedSet, out: &mut Writer<'_>) -> io::Result<()> {
    for holder in &set.globals {
        out.put(&Record::Global { holder: holder.map(ThreadId::index) }, "")?;
    }
    for (thread, locals) in set.locals.iter().enumerate() {
        for local in locals {
            let entry = |entry: &Entry| match entry {
                Entry::Store(variable) => Some(variable.index()),
                Entry::Barrier => None,
            };
            let buffer = local.buffer.iter().map(entry).collect();
            out.put(&Record::Local { thread, location: local.loc.index(), buffer }, "")?;
        }
    }
    let mut state = State::default();
    for packed in set.states.iter() {
        if state.unpack(program.threads.len(), packed).is_none() {
            return Err(io::Error::other("a state cannot be unpacked"));
        }
        let control = std::iter::once(state.global).chain(state.locals.iter().copied()).map(i64::from);
        out.put(&Record::State(control.chain(state.values.iter().copied()).collect()), "")?;
    }
    Ok(())
}

/// Opens an evidence file from its beginning; called several times for large certificates.
pub type Opener<'a> = dyn Fn() -> io::Result<Box<dyn BufRead>> + 'a;

/// Checks an evidence file against a program. Memory is bounded by about twice the budget
/// (in bytes), whatever the size of the file.
pub fn check_file(program: &Program, open: &Opener<'_>, budget: usize) -> Result<Claim, FileError> {
    let mut records = Records::new(open()?);
    let (kind, model) = head(program, records.next_record()?)?;
    match kind {
        Kind::Trace => check_trace(program, model, records),
        Kind::ClosedSet => check_states(&Task { program, model }, None, records, open, budget),
        Kind::GapSet => match records.next_record()? {
            Some(Record::Gaps { low, high, precision, modulus }) => {
                let gaps = Gaps { low, high, precision, modulus };
                check_states(&Task { program, model }, Some(gaps), records, open, budget)
            }
            _ => Err(records.wrong("the window and the precision are missing")),
        },
    }
}

fn head(program: &Program, record: Option<Record>) -> Result<(Kind, Model), FileError> {
    let wrong = |message: String| Err(FileError::Line(1, message));
    let Some(Record::Evidence { version, kind, model, program: print }) = record else {
        return wrong("this is no evidence file".to_string());
    };
    if version != VERSION {
        return wrong(format!("evidence of version {version}; this program reads version {VERSION}"));
    }
    let Some(model) = model_named(&model) else {
        return wrong(format!("unknown memory model `{model}`"));
    };
    if print != fingerprint(program) {
        return wrong("this is evidence for another program".to_string());
    }
    Ok((kind, model))
}

/// Reads records line by line, checking the closing count.
struct Records {
    input: Box<dyn BufRead>,
    line: usize,
    buffer: Vec<u8>,
    ended: bool,
}

impl Records {
    fn new(input: Box<dyn BufRead>) -> Records {
        Records { input, line: 0, buffer: Vec::new(), ended: false }
    }

    /// The next record before `end`; an error if the file stops without one.
    fn next_record(&mut self) -> Result<Option<Record>, FileError> {
        if self.ended {
            return Ok(None);
        }
        self.buffer.clear();
        let mut limited = io::Read::take(&mut self.input, MAX_LINE);
        limited.read_until(b'\n', &mut self.buffer)?;
        self.line += 1;
        let wrong = |message: &str| FileError::Line(self.line, message.to_string());
        if self.buffer.is_empty() {
            return Err(wrong("the file ends without an `end` line; it was cut"));
        }
        if self.buffer.len() as u64 == MAX_LINE {
            return Err(wrong("the line is too long"));
        }
        let text = std::str::from_utf8(&self.buffer).map_err(|_| wrong("this is not text"))?.trim();
        let parsed = if text.starts_with('{') { Record::from_json(text) } else { Record::from_text(text) };
        let record = parsed.map_err(|message| FileError::Line(self.line, message))?;
        if let Record::End(count) = record {
            if count != self.line - 1 {
                return Err(wrong("lines are missing"));
            }
            self.ended = true;
            return self.nothing_follows().map(|()| None);
        }
        Ok(Some(record))
    }

    /// Reads on to the end of the file; only blanks may be left.
    fn nothing_follows(&mut self) -> Result<(), FileError> {
        loop {
            let rest = self.input.fill_buf()?;
            if rest.is_empty() {
                return Ok(());
            }
            if !rest.trim_ascii().is_empty() {
                return Err(self.wrong("something follows the `end` line"));
            }
            let blanks = rest.len();
            self.input.consume(blanks);
        }
    }

    fn wrong(&self, message: &str) -> FileError {
        FileError::Line(self.line, message.to_string())
    }
}

fn check_trace(program: &Program, model: Model, mut records: Records) -> Result<Claim, FileError> {
    let (mut initial, mut steps, mut violation) = (Vec::new(), Vec::new(), None);
    // Reading a number takes time quadratic in its length, so that is looked at first.
    let integer = |text: &str| (text.len() <= MAX_DIGITS).then(|| text.parse::<Int>().ok())?;
    let thread_id = |at: usize| (at < program.threads.len()).then(|| ThreadId::new(at));
    let variable_id = |at: usize| (at < program.variables.len()).then(|| VarId::new(at));
    while let Some(record) = records.next_record()? {
        if violation.is_some() {
            return Err(records.wrong("nothing may follow the violation"));
        }
        let understood = match record {
            Record::Initial { variable, value } => {
                variable_id(variable).zip(integer(&value)).map(|pair| initial.push(pair))
            }
            Record::Drain { thread, variable } => {
                thread_id(thread).zip(variable_id(variable)).map(|(thread, variable)| {
                    steps.push(TraceStep { event: Event::Drain { thread, variable }, choice: None });
                })
            }
            Record::Step { thread, edge, choice } => thread_id(thread).and_then(|id| {
                let exists = edge < program.thread(id).edges().len();
                let choice = choice.map(|text| integer(&text));
                if !exists || choice == Some(None) {
                    return None;
                }
                let event = Event::Step { thread: id, edge: EdgeId::new(edge) };
                steps.push(TraceStep { event, choice: choice.flatten() });
                Some(())
            }),
            Record::Property(at) => {
                violation = (at < program.properties.len()).then_some(Violation::Property(at));
                violation.map(|_| ())
            }
            Record::Failure { thread, location } => {
                let exists = |id: &ThreadId| location < program.thread(*id).locs().count();
                violation =
                    thread_id(thread).filter(exists).map(|id| Violation::Failure(id, Loc::new(location)));
                violation.map(|_| ())
            }
            _ => None,
        };
        if understood.is_none() {
            return Err(records.wrong("this does not fit a trace of the program"));
        }
    }
    let Some(violation) = violation else { return Err(records.wrong("the trace claims no violation")) };
    let trace = Trace { initial, steps, violation };
    let run = replay(program, model, &trace).map_err(|why| FileError::Rejected(Rejected::Trace(why)))?;
    Ok(Claim::Unsafe(model, trace, run))
}

fn check_states(
    task: &Task<'_>,
    gaps: Option<Gaps>,
    mut records: Records,
    open: &Opener<'_>,
    budget: usize,
) -> Result<Claim, FileError> {
    let program = task.program;
    let (mut globals, mut locals) = (Vec::new(), vec![Vec::new(); program.threads.len()]);
    let mut count = 0;
    while let Some(record) = records.next_record()? {
        match record {
            Record::State(_) => count += 1,
            _ if count > 0 => return Err(records.wrong("the dictionary must come before the states")),
            Record::Global { holder } if holder.is_none_or(|t| t < locals.len()) => {
                globals.push(holder.map(ThreadId::new));
            }
            Record::Local { thread, location, buffer } => match local(program, thread, location, &buffer) {
                Some(local) => locals[thread].push(local),
                None => return Err(records.wrong("this control does not exist in the program")),
            },
            _ => return Err(records.wrong("this does not fit a closed set of the program")),
        }
    }
    check_stream(task, gaps, (&globals, &locals), budget, |visit| scan(program.threads.len(), open, visit))?;
    Ok(Claim::Safe(task.model, count))
}

/// A thread's control, if its location and variables exist.
fn local(program: &Program, thread: usize, location: usize, buffer: &[Option<usize>]) -> Option<Local> {
    let automaton = program.threads.get(thread)?;
    let entry = |entry: &Option<usize>| match *entry {
        Some(variable) => (variable < program.variables.len()).then(|| Entry::Store(VarId::new(variable))),
        None => Some(Entry::Barrier),
    };
    let buffer = buffer.iter().map(entry).collect::<Option<_>>()?;
    (location < automaton.locs().count()).then(|| Local { loc: Loc::new(location), buffer })
}

/// One pass over the states of a file.
fn scan(
    threads: usize,
    open: &Opener<'_>,
    visit: &mut dyn FnMut(usize, &State) -> Result<(), FileError>,
) -> Result<(), FileError> {
    let mut records = Records::new(open()?);
    let mut state = State::default();
    let mut at = 0;
    while let Some(record) = records.next_record()? {
        let Record::State(numbers) = record else { continue };
        let id = |n: &i64| u32::try_from(*n).ok();
        let control: Option<Vec<u32>> = numbers.iter().take(threads + 1).map(id).collect();
        match control {
            Some(control) if control.len() == threads + 1 => {
                state.global = control[0];
                state.locals.clear();
                state.locals.extend(&control[1..]);
            }
            _ => return Err(records.wrong("a state needs the number of a control for every thread")),
        }
        state.values.clear();
        state.values.extend(&numbers[threads + 1..]);
        visit(at, &state)?;
        at += 1;
    }
    Ok(())
}
