//! All final states of a litmus test, in files: what is claimed, a dictionary of controls, whose
//! steps are enough in which controls, and the states.

use super::read::{Reading, Records};
use super::states::{Dictionary, state_of, write_closed};
use super::write::RecordWriter;
use super::{Claim, EvidenceKind, FileError};
use crate::obligations::packed_into;
use crate::outcomes::{check_outcomes, finals_of};
use crate::record::Record;
use crate::{ClosedSet, Outcomes, Reason, ReducedSet, Rejected, Stop, Task};
use machine::{Agents, Full, State, StateSet};
use std::io;

pub(crate) const OUTCOMES: EvidenceKind =
    EvidenceKind { name: "outcomes", ending: "outcomes", check: checked, read: None };

/// Writes the final states of a program and the proof that those are all, behind the head.
pub(super) fn write_outcomes(
    task: &Task<'_>,
    proof: &ReducedSet,
    writer: &mut RecordWriter<'_>,
) -> io::Result<()> {
    let finals = finals_of(task, &proof.set).map_err(io::Error::other)?;
    let names = task.program.question.iter().flat_map(|question| &question.observed);
    let names: Vec<&String> = names.map(|(name, _)| name).collect();
    for values in &finals {
        let pairs = names.iter().zip(values).map(|(name, value)| format!("{name}={value};"));
        writer.put(&Record::Final(values.clone()), &pairs.collect::<Vec<_>>().join(" "))?;
    }
    for (controls, agents) in &proof.first {
        let (programs, buffers) = (members(agents.programs), members(agents.buffers));
        writer.put(&Record::First { controls: controls.clone(), programs, buffers }, "")?;
    }
    write_closed(task.program, &proof.set, writer)
}

fn members(set: u64) -> Vec<usize> {
    (0..Agents::MOST_THREADS).filter(|thread| set >> thread & 1 == 1).collect()
}

/// Reads final states and checks that they are all, with up to so many bytes of states.
fn checked(reading: &mut Reading<'_>) -> Result<Claim, FileError> {
    let (task, monitor) = (&reading.task, reading.monitor());
    if task.program.question.is_none() {
        return Err(reading.records.wrong("the program asks for no final states"));
    }
    let (claimed, proof) = read_rest(task, &mut reading.records, reading.budget)?;
    let found = check_outcomes(task, &Outcomes::All(proof), monitor)?;
    if let Some(Reason::Stopped(stop)) = found.missing().first() {
        return Err(Rejected::Stopped(*stop).into());
    }
    if claimed != found.finals() {
        return Err(Rejected::FinalStates.into());
    }
    Ok(Claim::Outcomes(task.model, Box::new(found)))
}

/// The values claimed and the proof.
fn read_rest(
    task: &Task<'_>,
    records: &mut Records<'_>,
    budget: usize,
) -> Result<(Vec<Vec<i64>>, ReducedSet), FileError> {
    let threads = task.program.threads.len();
    let (mut finals, mut first, mut states) = (Vec::new(), Vec::new(), StateSet::new());
    let mut dictionary = Dictionary::new(threads);
    let (mut state, mut packed, mut bytes) = (State::default(), Vec::new(), 0);
    while let Some(record) = records.next_record()? {
        match record {
            Record::State(numbers) => {
                let known = state_of(&numbers, threads, &mut state);
                known
                    .ok_or_else(|| records.wrong("a state needs the number of a control for every thread"))?;
                let packed = packed_into(&mut packed, &state);
                let (_, new) = states.insert(packed, None).map_err(|Full| Rejected::TooLarge)?;
                if !new {
                    return Err(records.wrong("this state is listed twice"));
                }
            }
            _ if !states.is_empty() => return Err(records.wrong("the states must come last")),
            Record::Final(values) => {
                bytes += size_of_val(&values[..]);
                finals.push(values);
            }
            Record::First { controls, programs, buffers } => {
                bytes += size_of_val(&controls[..]);
                let agents = set(&programs).zip(set(&buffers));
                let (programs, buffers) =
                    agents.ok_or_else(|| records.wrong("there are not so many threads"))?;
                first.push((controls, Agents { programs, buffers }));
            }
            record => dictionary.read(task.program, record, records)?,
        }
        // The walk through the states keeps as many again.
        if bytes + 2 * states.bytes() > budget {
            return Err(Rejected::Stopped(Stop::Memory).into());
        }
    }
    let set = ClosedSet { controls: dictionary.controls, states };
    Ok((finals, ReducedSet { set, first }))
}

fn set(members: &[usize]) -> Option<u64> {
    let with = |set: u64, member: &usize| (*member < Agents::MOST_THREADS).then(|| set | 1 << member);
    members.iter().try_fold(0, with)
}
