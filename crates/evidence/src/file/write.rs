//! Writing evidence files.

use super::cubes::write_cubes;
use super::steps::write_steps;
use super::{Form, VERSION, fingerprint};
use crate::record::{Kind, Record};
use crate::{Certificate, ClosedSet, RobustProof, Task, Verdict};
use machine::{Entry, Gaps, Local, State, TSO, Trace, Violation};
use program::{Delay, EdgeId, Program, ThreadId};
use std::io::{self, Write};

/// Writes the evidence of a verdict; an unknown has none and writes nothing.
pub fn write_evidence(task: &Task<'_>, verdict: &Verdict, form: Form, out: &mut dyn Write) -> io::Result<()> {
    let mut writer = Writer::new(form, out);
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
            write_gaps(gaps, &mut writer)?;
            write_closed(task.program, set, &mut writer)?;
        }
        Verdict::Safe(Certificate::Robust { delays, gaps, set }) => {
            writer.put(&head(Kind::RobustSet), "")?;
            for Delay { thread, path, complete } in delays {
                let path = path.iter().copied().map(EdgeId::index).collect();
                writer.put(&Record::Extend { thread: thread.index(), complete: *complete, path }, "")?;
            }
            gaps.iter().try_for_each(|gaps| write_gaps(gaps, &mut writer))?;
            write_closed(task.program, set, &mut writer)?;
        }
        Verdict::Safe(Certificate::Cubes(proof)) => {
            writer.put(&head(Kind::CubeSet), "")?;
            write_cubes(task.program, proof, &mut writer)?;
        }
    }
    writer.end()
}

/// Writes a proof that a program is robust.
pub fn write_robust(
    program: &Program,
    proof: &RobustProof,
    form: Form,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut writer = Writer::new(form, out);
    let (model, print) = (TSO.name().to_string(), fingerprint(program));
    writer.put(&Record::Evidence { version: VERSION, kind: Kind::Robust, model, program: print }, "")?;
    proof.under_sc.iter().try_for_each(|set| write_closed(program, set, &mut writer))?;
    writer.end()
}

fn write_gaps(gaps: &Gaps, out: &mut Writer<'_>) -> io::Result<()> {
    let Gaps { low, high, precision, modulus } = *gaps;
    out.put(&Record::Gaps { low, high, precision, modulus }, "")
}

pub(super) struct Writer<'a> {
    form: Form,
    out: &'a mut dyn Write,
    lines: usize,
}

impl<'a> Writer<'a> {
    pub(super) fn new(form: Form, out: &'a mut dyn Write) -> Writer<'a> {
        Writer { form, out, lines: 0 }
    }

    /// The closing line.
    pub(super) fn end(mut self) -> io::Result<()> {
        let lines = self.lines;
        self.put(&Record::End(lines), "")
    }

    pub(super) fn put(&mut self, record: &Record, remark: &str) -> io::Result<()> {
        self.lines += 1;
        let line = match self.form {
            Form::Text => record.to_text(remark),
            Form::Json => record.to_json(remark),
        };
        writeln!(self.out, "{line}")
    }
}

fn write_trace(program: &Program, trace: &Trace, out: &mut Writer<'_>) -> io::Result<()> {
    write_steps(program, &trace.initial, &trace.steps, out)?;
    let violation = match trace.violation {
        Violation::Property(at) => Record::Property(at),
        Violation::Failure(thread, loc) => Record::Failure { thread: thread.index(), location: loc.index() },
    };
    out.put(&violation, &trace.violation.text(program))
}

/// The kept stores of a control by the numbers of their variables; a fence has none.
pub(super) fn kept_numbers(local: &Local) -> Vec<Option<usize>> {
    let number = |entry: &Entry| match entry {
        Entry::Store(variable) => Some(variable.index()),
        Entry::Barrier => None,
    };
    local.kept.iter().map(number).collect()
}

pub(super) fn write_closed(program: &Program, set: &ClosedSet, out: &mut Writer<'_>) -> io::Result<()> {
    for holder in &set.controls.globals {
        out.put(&Record::Global { holder: holder.map(ThreadId::index) }, "")?;
    }
    for (thread, locals) in set.controls.locals.iter().enumerate() {
        for local in locals {
            if !local.forgotten.is_empty() {
                return Err(io::Error::other("a closed set forgets no stores"));
            }
            let buffer = kept_numbers(local);
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
