//! Violations in files: the steps of a run, and what it violates.

use super::read::Reading;
use super::steps::{StepsRead, write_steps};
use super::write::RecordWriter;
use super::{Claim, EvidenceKind, FileError, location_at};
use crate::record::Record;
use crate::{Verdict, check};
use machine::{Trace, Violation};
use program::{Program, ThreadId};
use std::io;

pub(crate) const TRACE: EvidenceKind =
    EvidenceKind { name: "trace", ending: "trace", check: checked, read: None };

/// Writes a violation, behind the head.
pub(super) fn write_trace(program: &Program, trace: &Trace, out: &mut RecordWriter<'_>) -> io::Result<()> {
    write_steps(program, &trace.initial, &trace.steps, out)?;
    let violation = match trace.violation {
        Violation::Property(at) => Record::Property(at),
        Violation::Failure(thread, loc) => Record::Failure { thread: thread.index(), location: loc.index() },
    };
    out.put(&violation, &trace.violation.text(program))
}

fn checked(reading: &mut Reading<'_>) -> Result<Claim, FileError> {
    let (task, monitor) = (reading.task, reading.monitor());
    let (program, records) = (task.program, &mut reading.records);
    let (mut taken, mut violation) = (StepsRead::default(), None);
    while let Some(record) = records.next_record()? {
        if violation.is_some() {
            return Err(records.wrong("nothing may follow the violation"));
        }
        let understood = match record {
            Record::Property(at) => {
                violation = (at < program.properties.len()).then_some(Violation::Property(at));
                violation.map(|_| ())
            }
            Record::Failure { thread, location } => {
                let loc = location_at(program, thread, location);
                violation = loc.map(|loc| Violation::Failure(ThreadId::new(thread), loc));
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
    let mut checked = check(&task, Verdict::Unsafe(trace), monitor)?;
    checked.explain(&task, monitor);
    Ok(Claim::Unsafe(task.model, Box::new(checked)))
}
