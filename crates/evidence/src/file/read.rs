//! Reading evidence files, and checking them against a program in bounded memory.

use super::steps::Steps;
use super::witness::check_witness_file;
use super::{Claim, FileError, Opener, VERSION, cubes, fingerprint, outcomes};
use crate::obligations::{Looking, check_stream};
use crate::record::{Kind, Record};
use crate::robust::{Attacks, extended};
use crate::{Certificate, ClosedSet, Controls, Monitor, Progress, Rejected, Task, Verdict, check};
use machine::{
    Entry, GapStepper, Gaps, Local, Model, SC, State, StateSet, Stepper, TSO, Trace, Violation, model_named,
};
use program::{Delay, EdgeId, Loc, Program, ThreadId, VarId};
use std::io::{self, BufRead};

/// Lines longer than this are no evidence of ours; a state of 64 KiB takes a third of it.
const MAX_LINE: u64 = 1 << 22;

/// How many lines pass between two looks at the monitor.
const PATIENCE: usize = 1024;

/// Checks an evidence file against a program. Memory is bounded by about twice the budget
/// (in bytes), whatever the size of the file.
pub fn check_file(
    program: &Program,
    open: &Opener<'_>,
    budget: usize,
    monitor: &dyn Monitor,
) -> Result<Claim, FileError> {
    let open = &Source { open, monitor };
    let mut records = open.records()?;
    let (kind, model) = head(program, records.next_record()?)?;
    let task = Task::safe(program, model);
    let looking = Looking::ForViolations;
    match kind {
        Kind::Trace => check_trace(program, model, records),
        Kind::Witness => check_witness_file(program, model, records),
        Kind::ClosedSet => {
            let states = check_states(&task, None, looking, &mut records, open, budget)?;
            Ok(Claim::Safe(model, states.count))
        }
        Kind::GapSet => {
            let gaps = gaps_record(&mut records)?;
            let states = check_states(&task, Some(gaps), looking, &mut records, open, budget)?;
            Ok(Claim::Safe(model, states.count))
        }
        Kind::CubeSet => {
            let count = cubes::check_rest(&task, records, budget, monitor)?;
            Ok(Claim::Safe(model, count))
        }
        Kind::Robust => {
            let states = check_robust_states(program, records, open, budget)?;
            Ok(Claim::Robust(model, states))
        }
        Kind::Outcomes => outcomes::check_rest(&task, records, budget, monitor),
        Kind::RobustSet => {
            let (delays, gaps) = delays_and_gaps(program, &mut records)?;
            let extended = extended(&task, &delays, monitor)?;
            let under_sc = Task::safe(&extended, SC);
            let states = check_states(&under_sc, gaps, looking, &mut records, open, budget)?;
            match gaps {
                None => no_attack(&extended, &states, open, budget)?,
                Some(_) if Attacks::of(&extended, monitor)?.is_empty() => {}
                Some(_) => return Err(Rejected::Attack.into()),
            }
            Ok(Claim::Safe(model, states.count))
        }
    }
}

/// Checks that a program is robust, from its states under SC or from its text alone.
fn check_robust_states(
    program: &Program,
    mut records: Records<'_>,
    open: &Source<'_>,
    budget: usize,
) -> Result<usize, FileError> {
    let first = records.next_record()?;
    if first.is_none() {
        return if Attacks::of(program, open.monitor)?.is_empty() {
            Ok(0)
        } else {
            Err(Rejected::Attack.into())
        };
    }
    records.again = first;
    let task = Task::safe(program, SC);
    let states = check_states(&task, None, Looking::Away, &mut records, open, budget)?;
    no_attack(program, &states, open, budget)?;
    Ok(states.count)
}

fn no_attack(
    program: &Program,
    states: &Dictionary,
    open: &Source<'_>,
    budget: usize,
) -> Result<(), FileError> {
    let threads = program.threads.len();
    let attacks = Attacks::of(program, open.monitor)?;
    attacks.fail(&states.controls, budget, &mut |visit| scan(threads, open, visit), open.monitor)
}

/// What stands before the states of a program that is robust.
fn delays_and_gaps(
    program: &Program,
    records: &mut Records<'_>,
) -> Result<(Vec<Delay>, Option<Gaps>), FileError> {
    let mut delays = Vec::new();
    loop {
        match records.next_record()? {
            Some(Record::Extend { thread, complete, path }) => {
                let small = |edge: &usize| u32::try_from(*edge).ok().map(|_| EdgeId::new(*edge));
                let path = path.iter().map(small).collect::<Option<Vec<_>>>();
                let Some(path) = path.filter(|_| thread < program.threads.len()) else {
                    return Err(records.wrong("there is no such thread or edge"));
                };
                delays.push(Delay { thread: ThreadId::new(thread), path, complete });
            }
            Some(Record::Gaps { low, high, precision, modulus }) => {
                return Ok((delays, Some(Gaps { low, high, precision, modulus })));
            }
            other => {
                records.again = other;
                return Ok((delays, None));
            }
        }
    }
}

fn gaps_record(records: &mut Records<'_>) -> Result<Gaps, FileError> {
    match records.next_record()? {
        Some(Record::Gaps { low, high, precision, modulus }) => Ok(Gaps { low, high, precision, modulus }),
        _ => Err(records.wrong("the window and the precision are missing")),
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
    if matches!(kind, Kind::Robust | Kind::RobustSet | Kind::Witness) && model != TSO {
        let (known, other) = (TSO.name().to_uppercase(), model.name().to_uppercase());
        return wrong(format!("robustness is about {known}; this claims it of {other}"));
    }
    if print != fingerprint(program) {
        return wrong("this is evidence for another program".to_string());
    }
    Ok((kind, model))
}

/// Reads records line by line, checking the closing count.
pub(super) struct Records<'a> {
    input: Box<dyn BufRead>,
    monitor: &'a dyn Monitor,
    line: usize,
    buffer: Vec<u8>,
    ended: bool,
    /// A record that was read and will be read again.
    again: Option<Record>,
}

/// Where records come from, again and again, and who watches.
struct Source<'a> {
    open: &'a Opener<'a>,
    monitor: &'a dyn Monitor,
}

impl<'a> Source<'a> {
    fn records(&self) -> Result<Records<'a>, FileError> {
        let (input, monitor) = ((self.open)()?, self.monitor);
        Ok(Records { input, monitor, line: 0, buffer: Vec::new(), ended: false, again: None })
    }
}

impl Records<'_> {
    /// The next record before `end`; an error if the file stops without one.
    pub(super) fn next_record(&mut self) -> Result<Option<Record>, FileError> {
        if self.ended || self.again.is_some() {
            return Ok(self.again.take());
        }
        if self.line.is_multiple_of(PATIENCE) {
            let progress = Progress { phase: "reading", states: self.line, ..Progress::default() };
            self.monitor.observe(&progress).map_err(Rejected::Stopped)?;
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

    pub(super) fn wrong(&self, message: &str) -> FileError {
        FileError::Line(self.line, message.to_string())
    }
}

fn check_trace(program: &Program, model: Model, mut records: Records) -> Result<Claim, FileError> {
    let (mut taken, mut violation) = (Steps::default(), None);
    while let Some(record) = records.next_record()? {
        if violation.is_some() {
            return Err(records.wrong("nothing may follow the violation"));
        }
        let thread_id = |at: usize| (at < program.threads.len()).then(|| ThreadId::new(at));
        let understood = match record {
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
            record => taken.read(program, record),
        };
        if understood.is_none() {
            return Err(records.wrong("this does not fit a trace of the program"));
        }
    }
    let Some(violation) = violation else { return Err(records.wrong("the trace claims no violation")) };
    let trace = Trace { initial: taken.initial, steps: taken.steps, violation };
    let task = Task::safe(program, model);
    let checked = check(&task, Verdict::Unsafe(trace), records.monitor)?;
    Ok(Claim::Unsafe(model, Box::new(checked.explained(&task, records.monitor))))
}

fn check_states(
    task: &Task<'_>,
    gaps: Option<Gaps>,
    looking: Looking,
    records: &mut Records<'_>,
    open: &Source<'_>,
    budget: usize,
) -> Result<Dictionary, FileError> {
    let threads = task.program.threads.len();
    let states = dictionary(task.program, records)?;
    let (machine, controls) = (task.machine(), &states.controls);
    let scan = |visit: &mut dyn FnMut(usize, &State) -> _| scan(threads, open, visit);
    match gaps {
        None => check_stream(Stepper::new(&machine), looking, controls, budget, scan)?,
        Some(gaps) => {
            let domain = GapStepper::with(&machine, gaps).ok_or(Rejected::Window)?;
            check_stream(domain, looking, controls, budget, scan)?;
        }
    }
    Ok(states)
}

/// Reads the certificate of a file into memory, without checking it: for [`crate::write_smtlib`],
/// whose output is checked by others. A trace or a witness is none, and neither robustness alone nor
/// a list of final states proves anything safe.
pub fn read_certificate(
    program: &Program,
    open: &Opener<'_>,
    monitor: &dyn Monitor,
) -> Result<Option<(Model, Certificate)>, FileError> {
    let open = &Source { open, monitor };
    let mut records = open.records()?;
    let (kind, model) = head(program, records.next_record()?)?;
    let (mut delays, mut gaps) = (Vec::new(), None);
    match kind {
        Kind::Trace | Kind::Witness | Kind::Robust | Kind::Outcomes => return Ok(None),
        Kind::ClosedSet => {}
        Kind::GapSet => gaps = Some(gaps_record(&mut records)?),
        Kind::CubeSet => {
            let proof = cubes::read_rest(program, records, usize::MAX)?;
            return Ok(Some((model, Certificate::Cubes(proof))));
        }
        Kind::RobustSet => (delays, gaps) = delays_and_gaps(program, &mut records)?,
    }
    let extended = match kind {
        Kind::RobustSet => Some(extended(&Task::safe(program, model), &delays, monitor)?),
        _ => None,
    };
    let program = extended.as_ref().unwrap_or(program);
    let Dictionary { controls, .. } = dictionary(program, &mut records)?;
    let mut states = StateSet::new();
    let mut packed = Vec::new();
    scan(program.threads.len(), open, &mut |at, state| {
        packed.clear();
        state.pack(&mut packed);
        if !controls.name(state) || states.insert(&packed, None).is_err() {
            return Err(Rejected::Malformed(at).into());
        }
        Ok(())
    })?;
    let set = ClosedSet { controls, states };
    let certificate = match gaps {
        gaps if kind == Kind::RobustSet => Certificate::Robust { delays, gaps, set },
        None => Certificate::Closed(set),
        Some(gaps) => Certificate::Gaps(gaps, set),
    };
    Ok(Some((model, certificate)))
}

/// The controls that a file names, and how many states follow.
pub(super) struct Dictionary {
    pub(super) controls: Controls,
    count: usize,
}

fn dictionary(program: &Program, records: &mut Records<'_>) -> Result<Dictionary, FileError> {
    let mut dictionary = Dictionary::new(program.threads.len());
    while let Some(record) = records.next_record()? {
        match record {
            Record::State(_) => dictionary.count += 1,
            _ if dictionary.count > 0 => {
                return Err(records.wrong("the dictionary must come before the states"));
            }
            record => dictionary.read(program, record, records)?,
        }
    }
    Ok(dictionary)
}

impl Dictionary {
    /// Names nothing yet.
    pub(super) fn new(threads: usize) -> Dictionary {
        Dictionary { controls: Controls { globals: Vec::new(), locals: vec![Vec::new(); threads] }, count: 0 }
    }

    /// Takes up a control, if the record is one.
    pub(super) fn read(
        &mut self,
        program: &Program,
        record: Record,
        records: &Records<'_>,
    ) -> Result<(), FileError> {
        let Controls { globals, locals } = &mut self.controls;
        match record {
            Record::Global { holder } if holder.is_none_or(|t| t < locals.len()) => {
                globals.push(holder.map(ThreadId::new));
            }
            Record::Local { thread, location, buffer } => {
                match local(program, thread, location, &buffer, &[]) {
                    Some(local) => locals[thread].push(local),
                    None => return Err(records.wrong("this control does not exist in the program")),
                }
            }
            _ => return Err(records.wrong("this does not fit states of the program")),
        }
        Ok(())
    }
}

/// A thread's control, if its location and variables exist.
pub(super) fn local(
    program: &Program,
    thread: usize,
    location: usize,
    kept: &[Option<usize>],
    forgotten: &[(usize, bool)],
) -> Option<Local> {
    let exists = location < program.threads.get(thread)?.locs().count();
    let mut local = Local::at(exists.then(|| Loc::new(location))?);
    let variable = |v: usize| (v < program.variables.len()).then(|| VarId::new(v));
    let entry = |entry: &Option<usize>| match *entry {
        Some(v) => variable(v).map(Entry::Store),
        None => Some(Entry::Barrier),
    };
    local.kept = kept.iter().map(entry).collect::<Option<_>>()?;
    let summary = |(v, several): &(usize, bool)| Some((variable(*v)?, *several));
    local.forgotten = forgotten.iter().map(summary).collect::<Option<_>>()?;
    Some(local)
}

/// One pass over the states of a file.
fn scan(
    threads: usize,
    open: &Source<'_>,
    visit: &mut dyn FnMut(usize, &State) -> Result<(), FileError>,
) -> Result<(), FileError> {
    let mut records = open.records()?;
    let mut state = State::default();
    let mut at = 0;
    while let Some(record) = records.next_record()? {
        let Record::State(numbers) = record else { continue };
        if state_of(&numbers, threads, &mut state).is_none() {
            return Err(records.wrong("a state needs the number of a control for every thread"));
        }
        visit(at, &state)?;
        at += 1;
    }
    Ok(())
}

/// Reads a state from numbers; `None` if there are too few, or some cannot be controls.
pub(super) fn state_of(numbers: &[i64], threads: usize, state: &mut State) -> Option<()> {
    let (global, rest) = numbers.split_first()?;
    let (locals, values) = rest.split_at_checked(threads)?;
    state.global = u32::try_from(*global).ok()?;
    state.locals.clear();
    for local in locals {
        state.locals.push(u32::try_from(*local).ok()?);
    }
    state.values.clear();
    state.values.extend(values);
    Some(())
}
