//! Reading evidence files, and checking them against a program in bounded memory.

use super::{Claim, EvidenceKind, FileError, KINDS, Opener, VERSION, fingerprint};
use crate::record::Record;
use crate::{Certificate, Monitor, Progress, Rejected, Task};
use machine::{Model, model_named};
use program::Program;
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
    let mut reading = Reading::begin(program, open, budget, monitor)?;
    (reading.kind.check)(&mut reading)
}

/// Reads the certificate of a file into memory, without checking it: for [`crate::write_smtlib`],
/// whose output is checked by others. A trace or a witness is none, and neither robustness alone nor
/// a list of final states proves anything safe.
pub fn read_certificate(
    program: &Program,
    open: &Opener<'_>,
    monitor: &dyn Monitor,
) -> Result<Option<(Model, Certificate)>, FileError> {
    let mut reading = Reading::begin(program, open, usize::MAX, monitor)?;
    let Some(read) = reading.kind.read else { return Ok(None) };
    Ok(Some((reading.task.model, read(&mut reading)?)))
}

/// A file that is being read, behind its head.
pub(crate) struct Reading<'a> {
    /// What it is about.
    pub(crate) task: Task<'a>,
    /// What follows.
    pub(crate) records: Records<'a>,
    pub(super) kind: &'static EvidenceKind,
    pub(super) open: RecordSource<'a>,
    /// Bytes that states may take.
    pub(super) budget: usize,
}

impl<'a> Reading<'a> {
    fn begin(
        program: &'a Program,
        open: &'a Opener<'a>,
        budget: usize,
        monitor: &'a dyn Monitor,
    ) -> Result<Reading<'a>, FileError> {
        let open = RecordSource { open, monitor };
        let mut records = open.records()?;
        let (kind, model) = head(program, records.next_record()?)?;
        Ok(Reading { task: Task::safe(program, model), records, kind, open, budget })
    }

    /// Who watches.
    pub(crate) fn monitor(&self) -> &'a dyn Monitor {
        self.open.monitor
    }
}

fn head(program: &Program, record: Option<Record>) -> Result<(&'static EvidenceKind, Model), FileError> {
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
    let Some(kind) = KINDS.iter().find(|known| known.name == kind) else {
        return wrong(format!("unknown kind of evidence `{kind}`"));
    };
    if print != fingerprint(program) {
        return wrong("this is evidence for another program".to_string());
    }
    Ok((kind, model))
}

/// Reads records line by line, checking the closing count.
pub(crate) struct Records<'a> {
    input: Box<dyn BufRead>,
    monitor: &'a dyn Monitor,
    line: usize,
    buffer: Vec<u8>,
    ended: bool,
    /// A record that was read and will be read again.
    again: Option<Record>,
}

/// Where records come from, again and again, and who watches.
#[derive(Clone, Copy)]
pub(super) struct RecordSource<'a> {
    open: &'a Opener<'a>,
    pub(super) monitor: &'a dyn Monitor,
}

impl<'a> RecordSource<'a> {
    pub(super) fn records(&self) -> Result<Records<'a>, FileError> {
        let (input, monitor) = ((self.open)()?, self.monitor);
        Ok(Records { input, monitor, line: 0, buffer: Vec::new(), ended: false, again: None })
    }
}

impl Records<'_> {
    /// The next record before `end`; an error if the file stops without one.
    pub(crate) fn next_record(&mut self) -> Result<Option<Record>, FileError> {
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

    /// Takes back what was read last; it is read again.
    pub(crate) fn read_again(&mut self, record: Option<Record>) {
        self.again = record;
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

    pub(crate) fn wrong(&self, message: &str) -> FileError {
        FileError::Line(self.line, message.to_string())
    }
}
