//! All reachable states, or all kinds of states, as a proof.

use super::reduced::{no_bound, same_gaps};
use super::{ClosedSet, Listed, Proof};
use crate::check::check_set;
use crate::file::{EvidenceKind, FileError, Reading, RecordWriter, check_states, read_states, write_closed};
use crate::known::{KnownFacts, known_listed};
use crate::numbers::counted;
use crate::obligations::Looking;
use crate::record::Record;
use crate::smtlib::write_listed;
use crate::{Certificate, Claim, Monitor, Rejected, Statistics, Stop, Task};
use machine::Gaps;
use std::io::{self, Write};

pub(crate) const CLOSED_SET: EvidenceKind = EvidenceKind {
    name: "closed-set",
    ending: "closed",
    check: |reading| checked(reading, None),
    read: Some(|reading| Ok(certificate(None, read_states(reading)?))),
};

pub(crate) const GAP_SET: EvidenceKind = EvidenceKind {
    name: "gap-set",
    ending: "gaps",
    check: |reading| {
        let gaps = needed_gaps(reading)?;
        checked(reading, Some(gaps))
    },
    read: Some(|reading| {
        let gaps = needed_gaps(reading)?;
        Ok(certificate(Some(gaps), read_states(reading)?))
    }),
};

fn certificate(gaps: Option<Gaps>, set: ClosedSet) -> Certificate {
    Certificate::Listed(Listed { gaps, set })
}

fn checked(reading: &mut Reading<'_>, gaps: Option<Gaps>) -> Result<Claim, FileError> {
    let task = reading.task;
    let states = check_states(reading, &task.machine(), gaps, Looking::ForViolations)?;
    Ok(Claim::Safe(task.model, states.count()))
}

/// The window and the precision, if the states are normal forms.
pub(crate) fn read_gaps(reading: &mut Reading<'_>) -> Result<Option<Gaps>, FileError> {
    match reading.records.next_record()? {
        Some(Record::Gaps { low, high, precision, modulus }) => {
            Ok(Some(Gaps { low, high, precision, modulus }))
        }
        other => {
            reading.records.read_again(other);
            Ok(None)
        }
    }
}

fn needed_gaps(reading: &mut Reading<'_>) -> Result<Gaps, FileError> {
    let gaps = read_gaps(reading)?;
    gaps.ok_or_else(|| reading.records.wrong("the window and the precision are missing"))
}

/// Writes a window and a precision.
pub(crate) fn write_gaps(gaps: &Gaps, out: &mut RecordWriter<'_>) -> io::Result<()> {
    let Gaps { low, high, precision, modulus } = *gaps;
    out.put(&Record::Gaps { low, high, precision, modulus }, "")
}

impl Proof for Listed {
    fn kind(&self) -> &'static EvidenceKind {
        if self.gaps.is_some() { &GAP_SET } else { &CLOSED_SET }
    }

    fn check(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<(), Rejected> {
        check_set(task, self.gaps, Looking::ForViolations, &self.set, monitor)
    }

    fn write(&self, task: &Task<'_>, out: &mut RecordWriter<'_>) -> io::Result<()> {
        self.gaps.iter().try_for_each(|gaps| write_gaps(gaps, out))?;
        write_closed(task.program, &self.set, out)
    }

    fn write_obligations(&self, task: &Task<'_>, out: &mut dyn Write) -> io::Result<usize> {
        write_listed(task, self.gaps, &self.set, out)
    }

    fn known(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<KnownFacts, Stop> {
        known_listed(task, self.gaps, &self.set, monitor)
    }

    fn how(&self, statistics: &Statistics) -> String {
        match self.gaps {
            None => {
                format!("all {} explored{}", counted(statistics.states, "state"), no_bound(statistics))
            }
            Some(gaps) => format!(
                "proved for integers of any size by {} of states (same order{})",
                counted(self.set.states.len(), "kind"),
                same_gaps(gaps),
            ),
        }
    }
}
