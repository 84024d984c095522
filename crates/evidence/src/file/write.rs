//! Writing evidence files.

use super::cubes::write_cubes;
use super::outcomes::write_outcomes;
use super::steps::write_steps;
use super::witness::write_witness;
use super::{Form, VERSION, fingerprint};
use crate::record::{Kind, Record};
use crate::{Certificate, ClosedSet, Outcomes, Task, Verdict};
use machine::{Entry, Gaps, Local, State, Trace, Violation};
use program::{Delay, EdgeId, Program, ThreadId};
use std::io::{self, Write};

/// Writes the evidence of a verdict. An unknown has none and writes nothing, nor have final states
/// of which some may be missing.
pub fn write_evidence(task: &Task<'_>, verdict: &Verdict, form: Form, out: &mut dyn Write) -> io::Result<()> {
    let Some(kind) = kind(verdict) else { return Ok(()) };
    let mut writer = Writer::new(form, out);
    let (model, program) = (task.model.name().to_string(), fingerprint(task.program));
    writer.put(&Record::Evidence { version: VERSION, kind, model, program }, "")?;
    match verdict {
        Verdict::Unknown(_) | Verdict::FinalStates(Outcomes::Some { .. }) => {}
        Verdict::Unsafe(trace) => write_trace(task.program, trace, &mut writer)?,
        Verdict::NotRobust(witness) => write_witness(task.program, witness, &mut writer)?,
        Verdict::Robust(proof) => {
            proof.under_sc.iter().try_for_each(|set| write_closed(task.program, set, &mut writer))?;
        }
        Verdict::FinalStates(Outcomes::All(proof)) => write_outcomes(task, proof, &mut writer)?,
        Verdict::Safe(Certificate::Closed(set)) => write_closed(task.program, set, &mut writer)?,
        Verdict::Safe(Certificate::Gaps(gaps, set)) => {
            write_gaps(gaps, &mut writer)?;
            write_closed(task.program, set, &mut writer)?;
        }
        Verdict::Safe(Certificate::Robust { delays, gaps, set }) => {
            for Delay { thread, path, complete } in delays {
                let path = path.iter().copied().map(EdgeId::index).collect();
                writer.put(&Record::Extend { thread: thread.index(), complete: *complete, path }, "")?;
            }
            gaps.iter().try_for_each(|gaps| write_gaps(gaps, &mut writer))?;
            write_closed(task.program, set, &mut writer)?;
        }
        Verdict::Safe(Certificate::Cubes(proof)) => write_cubes(task.program, proof, &mut writer)?,
    }
    writer.end()
}

/// The kind of file for the evidence of a verdict, if it has any.
fn kind(verdict: &Verdict) -> Option<Kind> {
    match verdict {
        Verdict::Unknown(_) | Verdict::FinalStates(Outcomes::Some { .. }) => None,
        Verdict::Unsafe(_) => Some(Kind::Trace),
        Verdict::NotRobust(_) => Some(Kind::Witness),
        Verdict::Robust(_) => Some(Kind::Robust),
        Verdict::FinalStates(Outcomes::All(_)) => Some(Kind::Outcomes),
        Verdict::Safe(Certificate::Closed(_)) => Some(Kind::ClosedSet),
        Verdict::Safe(Certificate::Gaps(..)) => Some(Kind::GapSet),
        Verdict::Safe(Certificate::Robust { .. }) => Some(Kind::RobustSet),
        Verdict::Safe(Certificate::Cubes(_)) => Some(Kind::CubeSet),
    }
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
