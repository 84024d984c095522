//! Witnesses in files: the steps of the run, and which of them are the store, its overtaker and the
//! drain. Everything else, the chain and the cycle above all, the checker finds for itself.

use super::read::Reading;
use super::steps::{StepsRead, write_steps};
use super::write::RecordWriter;
use super::{Claim, EvidenceKind, FileError};
use crate::record::Record;
use crate::witness::check_witness;
use crate::{Rejected, Task, Witness};
use program::Program;
use std::io;

pub(crate) const WITNESS: EvidenceKind =
    EvidenceKind { name: "witness", ending: "witness", check: checked, read: None };

/// Writes a witness that a program is not robust, behind the head.
pub(super) fn write_witness(
    program: &Program,
    witness: &Witness,
    writer: &mut RecordWriter<'_>,
) -> io::Result<()> {
    write_steps(program, &witness.initial, &witness.steps, writer)?;
    let Witness { store, overtaker, drain, .. } = *witness;
    let delay = Record::Delay { store, load: overtaker, drain };
    writer.put(&delay, "the store, the access it is delayed past, its drain")
}

/// Reads a witness and checks it.
fn checked(reading: &mut Reading<'_>) -> Result<Claim, FileError> {
    let (Task { program, model, .. }, records) = (reading.task, &mut reading.records);
    let (mut taken, mut roles) = (StepsRead::default(), None);
    while let Some(record) = records.next_record()? {
        if roles.is_some() {
            return Err(records.wrong("nothing may follow the delay"));
        }
        let understood = match record {
            Record::Delay { store, load, drain } => {
                roles = Some((store, load, drain));
                roles.map(|_| ())
            }
            record => taken.read(program, record),
        };
        if understood.is_none() {
            return Err(records.wrong("this does not fit a witness about the program"));
        }
    }
    let Some((store, load, drain)) = roles else {
        return Err(records.wrong("the witness names no delay"));
    };
    let witness = Witness { initial: taken.initial, steps: taken.steps, store, overtaker: load, drain };
    let checked = check_witness(program, model, witness).map_err(Rejected::Witness)?;
    Ok(Claim::NotRobust(model, Box::new(checked)))
}
