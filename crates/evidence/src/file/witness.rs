//! Witnesses in files: the steps of the run, and which of them are the store, the load and the
//! drain. Everything else, the chain and the cycle above all, the checker finds for itself.

use super::read::Records;
use super::steps::{Steps, write_steps};
use super::write::Writer;
use super::{Claim, FileError, Form, VERSION, fingerprint};
use crate::record::{Kind, Record};
use crate::{Witness, check_witness};
use machine::{Model, TSO};
use program::Program;
use std::io::{self, Write};

/// Writes a witness that a program is not robust against TSO.
pub fn write_witness(
    program: &Program,
    witness: &Witness,
    form: Form,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut writer = Writer::new(form, out);
    let head = Record::Evidence {
        version: VERSION,
        kind: Kind::Witness,
        model: TSO.name().to_string(),
        program: fingerprint(program),
    };
    writer.put(&head, "")?;
    write_steps(program, &witness.initial, &witness.steps, &mut writer)?;
    let Witness { store, load, drain, .. } = *witness;
    writer.put(&Record::Delay { store, load, drain }, "the store, the load it is delayed past, its drain")?;
    writer.end()
}

/// Reads a witness and checks it.
pub(super) fn check_witness_file(
    program: &Program,
    model: Model,
    mut records: Records<'_>,
) -> Result<Claim, FileError> {
    let (mut taken, mut roles) = (Steps::default(), None);
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
    let witness = Witness { initial: taken.initial, steps: taken.steps, store, load, drain };
    let checked = check_witness(program, witness).map_err(FileError::Witness)?;
    Ok(Claim::NotRobust(model, Box::new(checked)))
}
