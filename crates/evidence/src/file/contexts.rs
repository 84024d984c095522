//! Files that say that nothing is violated within some number of contexts, by states or by cubes.

use super::cubes::{Within, read_cubes_of, write_cubes_of};
use super::read::Reading;
use super::states::{LocalLine, SharedLine, check_states, write_closed};
use super::write::RecordWriter;
use super::{Claim, EvidenceKind, FileError, location_at, somebody_at, variable_at};
use crate::certificate::{read_gaps, write_gaps};
use crate::cubes::check_cubes_on;
use crate::obligations::Looking;
use crate::record::Record;
use crate::{ContextCubes, ContextProof, ContextStates, Monitor};
use machine::{Contexts, NEVER, Planned, Turns};
use program::{Program, ThreadId};
use std::io;

pub(super) const CONTEXT_SET: EvidenceKind =
    EvidenceKind { name: "context-set", ending: "contexts", check: checked, read: None };

pub(super) const CONTEXT_CUBES: EvidenceKind =
    EvidenceKind { name: "context-cubes", ending: "contexts", check: checked_cubes, read: None };

impl ContextProof {
    /// The kind of file it is written to.
    pub(super) fn kind(&self) -> &'static EvidenceKind {
        match self.reached {
            ContextStates::Listed { .. } => &CONTEXT_SET,
            ContextStates::Cubes(_) => &CONTEXT_CUBES,
        }
    }
}

fn how_many(reading: &mut Reading<'_>) -> Result<u8, FileError> {
    match reading.records.next_record()? {
        Some(Record::Contexts(contexts)) if contexts <= Contexts::MOST => Ok(contexts),
        _ => Err(reading.records.wrong("it is missing how many contexts there are")),
    }
}

fn checked_cubes(reading: &mut Reading<'_>) -> Result<Claim, FileError> {
    let contexts = how_many(reading)?;
    let proof: ContextCubes = read_cubes_of(reading, ())?;
    let task = reading.task;
    let machine = Contexts::new(task.program, task.model, contexts);
    let monitor: (&dyn Monitor, &dyn Monitor) = (reading.monitor(), &Within(reading.budget));
    check_cubes_on(task.program, machine, &proof, &monitor)?;
    Ok(Claim::Within(task.model, usize::from(contexts), proof.cubes.len()))
}

fn checked(reading: &mut Reading<'_>) -> Result<Claim, FileError> {
    let contexts = how_many(reading)?;
    let gaps = read_gaps(reading)?;
    let task = reading.task;
    let machine = Contexts::new(task.program, task.model, contexts);
    let states = check_states(reading, &machine, gaps, Looking::ForViolations)?;
    Ok(Claim::Within(task.model, usize::from(contexts), states.count()))
}

pub(super) fn write_contexts(
    program: &Program,
    proof: &ContextProof,
    out: &mut RecordWriter<'_>,
) -> io::Result<()> {
    out.put(&Record::Contexts(proof.contexts), "")?;
    match &proof.reached {
        ContextStates::Listed { gaps, set } => {
            gaps.iter().try_for_each(|gaps| write_gaps(gaps, out))?;
            write_closed(program, set, out)
        }
        ContextStates::Cubes(cubes) => write_cubes_of(program, cubes, out),
    }
}

impl SharedLine for Turns {
    fn line(&self) -> Record {
        let Turns { context, active, holder, owed } = *self;
        let (active, holder) = (active.map(ThreadId::index), holder.map(ThreadId::index));
        Record::Running { context, active, holder, owed }
    }

    fn of(program: &Program, record: &Record) -> Option<Turns> {
        let Record::Running { context, active, holder, owed } = record else { return None };
        let (active, holder) = (somebody_at(program, *active)?, somebody_at(program, *holder)?);
        Some(Turns { context: *context, active, holder, owed: *owed })
    }
}

impl LocalLine for Planned {
    fn bytes(&self) -> usize {
        128 + 8 * self.leaving.len()
    }

    fn line(&self, thread: usize) -> Record {
        let turn = |turn: u8| (turn != NEVER).then_some(turn);
        let leaving = self.leaving.iter().map(|(variable, t)| (variable.index(), turn(*t))).collect();
        Record::Planned { thread, location: self.loc.index(), after: turn(self.after), leaving }
    }

    fn of(program: &Program, record: &Record) -> Option<Option<(usize, Planned)>> {
        let Record::Planned { thread, location, after, leaving } = record else { return None };
        let turn = |turn: Option<u8>| turn.unwrap_or(NEVER);
        let planned = || {
            let loc = location_at(program, *thread, *location)?;
            let leaving =
                leaving.iter().map(|(variable, t)| Some((variable_at(program, *variable)?, turn(*t))));
            Some((*thread, Planned { loc, leaving: leaving.collect::<Option<_>>()?, after: turn(*after) }))
        };
        Some(planned())
    }
}
