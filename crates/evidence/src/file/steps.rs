//! The steps of a run, in files: as traces and witnesses have them.

use super::write::RecordWriter;
use super::{thread_at, variable_at};
use crate::record::Record;
use machine::{Event, TraceStep};
use program::{EdgeId, Int, Names, Program, VarId};
use std::io;
use std::str::FromStr;

/// Integers with more digits than this are no evidence of ours.
const MAX_DIGITS: usize = 4096;

/// The steps read so far.
#[derive(Default)]
pub(super) struct StepsRead {
    pub(super) initial: Vec<(VarId, Int)>,
    pub(super) steps: Vec<TraceStep>,
}

impl StepsRead {
    /// Takes up a record; `None` if it is no step of the program.
    pub(super) fn read(&mut self, program: &Program, record: Record) -> Option<()> {
        match record {
            Record::Initial { variable, value } => {
                self.initial.push((variable_at(program, variable)?, integer(&value)?));
            }
            Record::Drain { thread, variable } => {
                let (thread, variable) = (thread_at(program, thread)?, variable_at(program, variable)?);
                let event = Event::Drain { thread, variable };
                self.steps.push(TraceStep { event, choice: None });
            }
            Record::Step { thread, edge, choice } => {
                let thread = thread_at(program, thread)?;
                let choice = choice.map_or(Some(None), |text| integer(&text).map(Some))?;
                if edge >= program.thread(thread).edges().len() {
                    return None;
                }
                let event = Event::Step { thread, edge: EdgeId::new(edge) };
                self.steps.push(TraceStep { event, choice });
            }
            _ => return None,
        }
        Some(())
    }
}

/// Reading a number takes time quadratic in its length, so that is looked at first.
pub(super) fn integer<N: FromStr>(text: &str) -> Option<N> {
    if text.len() <= MAX_DIGITS { text.parse().ok() } else { None }
}

/// Writes what a run starts with, and its steps.
pub(super) fn write_steps(
    program: &Program,
    initial: &[(VarId, Int)],
    steps: &[TraceStep],
    out: &mut RecordWriter<'_>,
) -> io::Result<()> {
    let names = Names::original(program);
    for (variable, value) in initial {
        let record = Record::Initial { variable: variable.index(), value: value.to_string() };
        out.put(&record, names.variable(*variable))?;
    }
    for step in steps {
        let (record, remark) = match step.event {
            Event::Drain { thread, variable } => (
                Record::Drain { thread: thread.index(), variable: variable.index() },
                format!("{}: {} reaches memory", names.thread(thread), names.variable(variable)),
            ),
            Event::Step { thread, edge } => {
                let taken = program.thread(thread).edge(edge);
                let line = program.source.line_behind(taken.span);
                let choice = step.choice.as_ref().map(Int::to_string);
                (
                    Record::Step { thread: thread.index(), edge: edge.index(), choice },
                    format!("{}: {}{line}", names.thread(thread), names.op(thread, &taken.op)),
                )
            }
        };
        out.put(&record, &remark)?;
    }
    Ok(())
}
