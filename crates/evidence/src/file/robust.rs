//! Robustness in files: all states under SC, or nothing where the text says it.

use super::read::Reading;
use super::states::{check_states, fails_every_attack};
use super::{Claim, EvidenceKind, FileError};
use crate::obligations::Looking;
use crate::robust::Attacks;
use crate::{Rejected, Task};
use machine::SC;

pub(crate) const ROBUST: EvidenceKind =
    EvidenceKind { name: "robust", ending: "robust", check: checked, read: None };

/// Checks that a program is robust, from its states under SC or from its text alone.
fn checked(reading: &mut Reading<'_>) -> Result<Claim, FileError> {
    let Task { program, model, .. } = reading.task;
    let deciding = program.deciding_part();
    let attacks = Attacks::of(&deciding, model, reading.monitor())?;
    let first = reading.records.next_record()?;
    if first.is_none() {
        return match attacks.is_empty() {
            true => Ok(Claim::Robust(model, 0)),
            false => Err(Rejected::Attack.into()),
        };
    }
    reading.records.read_again(first);
    let states = check_states(reading, &Task::safe(&deciding, SC).machine(), None, Looking::Away)?;
    fails_every_attack(reading, &attacks, &states)?;
    Ok(Claim::Robust(model, states.count()))
}
