//! Writing evidence files.

use super::contexts::write_contexts;
use super::outcomes::{OUTCOMES, write_outcomes};
use super::robust::ROBUST;
use super::states::write_closed;
use super::trace::{TRACE, write_trace};
use super::witness::{WITNESS, write_witness};
use super::{EvidenceKind, Form, VERSION, fingerprint};
use crate::record::Record;
use crate::{Certificate, Outcomes, Task, Verdict};
use std::io::{self, Write};

/// Writes the evidence of a verdict. An unknown has none and writes nothing, nor have final states
/// of which some may be missing.
pub fn write_evidence(task: &Task<'_>, verdict: &Verdict, form: Form, out: &mut dyn Write) -> io::Result<()> {
    let Some(kind) = kind(verdict) else { return Ok(()) };
    let mut writer = RecordWriter::new(form, out);
    // Of a proof in parts, the first begins the file.
    writer.speak(verdict.part().is_none_or(|(part, _)| part == 0));
    let (model, program) = (task.model.name().to_string(), fingerprint(task.program));
    writer.put(&Record::Evidence { version: VERSION, kind: kind.name.to_string(), model, program }, "")?;
    match verdict {
        Verdict::Unknown(_) | Verdict::FinalStates(Outcomes::Some { .. }) => {}
        Verdict::Within(found, _) => write_contexts(task.program, found.proof(), &mut writer)?,
        Verdict::Unsafe(trace) => write_trace(task.program, trace, &mut writer)?,
        Verdict::NotRobust(witness) => write_witness(task.program, witness, &mut writer)?,
        Verdict::Robust(proof) => {
            proof.under_sc.iter().try_for_each(|set| write_closed(task.program, set, &mut writer))?;
        }
        Verdict::FinalStates(Outcomes::All(proof)) => write_outcomes(task, proof, &mut writer)?,
        Verdict::Safe(certificate) => certificate.proof().write(task, &mut writer)?,
    }
    writer.end()
}

/// The kind of file for the evidence of a verdict, if it has any.
fn kind(verdict: &Verdict) -> Option<&'static EvidenceKind> {
    match verdict {
        Verdict::Unknown(_) | Verdict::FinalStates(Outcomes::Some { .. }) => None,
        Verdict::Within(found, _) => Some(found.proof().kind()),
        Verdict::Unsafe(_) => Some(&TRACE),
        Verdict::NotRobust(_) => Some(&WITNESS),
        Verdict::Robust(_) => Some(&ROBUST),
        Verdict::FinalStates(Outcomes::All(_)) => Some(&OUTCOMES),
        Verdict::Safe(certificate) => Some(certificate.proof().kind()),
    }
}

impl Verdict {
    /// Which part of its proof this process has, and of how many; `None` if it has all of it.
    pub fn part(&self) -> Option<(usize, usize)> {
        match self {
            Verdict::Safe(Certificate::Shared(proof)) => Some((proof.process, proof.processes)),
            _ => None,
        }
    }

    /// A word for the names of evidence files, if there is evidence.
    pub fn file_word(&self) -> Option<&'static str> {
        kind(self).map(|kind| kind.ending)
    }
}

/// Writes records line by line.
pub(crate) struct RecordWriter<'a> {
    form: Form,
    out: &'a mut dyn Write,
    lines: usize,
    /// Whether another file has these lines; they count all the same.
    silent: bool,
}

impl<'a> RecordWriter<'a> {
    pub(super) fn new(form: Form, out: &'a mut dyn Write) -> RecordWriter<'a> {
        RecordWriter { form, out, lines: 0, silent: false }
    }

    /// The closing line.
    pub(super) fn end(mut self) -> io::Result<()> {
        let lines = self.lines;
        self.put(&Record::End(lines), "")
    }

    /// Whether what follows belongs to this file.
    pub(crate) fn speak(&mut self, speak: bool) {
        self.silent = !speak;
    }

    /// So many lines are in other files.
    pub(crate) fn count(&mut self, lines: usize) {
        self.lines += lines;
    }

    pub(crate) fn put(&mut self, record: &Record, remark: &str) -> io::Result<()> {
        self.lines += 1;
        if self.silent {
            return Ok(());
        }
        let line = match self.form {
            Form::Text => record.to_text(remark),
            Form::Json => record.to_json(remark),
        };
        writeln!(self.out, "{line}")
    }
}
