//! States that cover all others, as a proof.

use super::{Proof, ReducedProof, read_gaps, write_gaps};
use crate::check::{SetPiece, check_piece, in_pieces};
use crate::file::{
    EvidenceKind, FileError, Reading, RecordWriter, check_states_on, read_states, write_closed,
};
use crate::known::{KnownFacts, known_reduced};
use crate::numbers::counted;
use crate::obligations::Looking;
use crate::record::Record;
use crate::record::renaming::{renaming_of, renaming_record};
use crate::{Certificate, Claim, Monitor, Rejected, Statistics, Stop, Task};
use machine::{Buffered, DataDomain, GapStepper, Gaps, OnDomain, Symmetric, on_reduced};
use program::Renaming;
use std::io::{self, Write};

pub(crate) const REDUCED_SET: EvidenceKind = EvidenceKind {
    name: "reduced-set",
    ending: "reduced",
    only_tso: false,
    check: |reading| {
        let reduced = head(reading)?;
        let task = reading.task;
        let machine = task.machine();
        let count = with_domain(&machine, &reduced, CheckFile { reading })??;
        Ok(Claim::Safe(task.model, count))
    },
    read: Some(|reading| {
        let (gaps, settled, renamings) = head(reading)?;
        let set = read_states(reading)?;
        Ok(Certificate::Reduced(ReducedProof { gaps, settled, renamings, set }))
    }),
};

/// What is known of values, whether states are settled, and the renamings up to which they are listed.
type Reduced = (Option<Gaps>, bool, Vec<Renaming>);

fn head(reading: &mut Reading<'_>) -> Result<Reduced, FileError> {
    let gaps = read_gaps(reading)?;
    let (mut settled, mut renamings) = (false, Vec::new());
    loop {
        match reading.records.next_record()? {
            Some(Record::Settled {}) => settled = true,
            Some(record @ Record::Renaming { .. }) => {
                let renaming = renaming_of(reading.task.program, &record);
                let wrong = || reading.records.wrong("this does not rename what the program has");
                renamings.push(renaming.ok_or_else(wrong)?);
            }
            other => {
                reading.records.read_again(other);
                return Ok((gaps, settled, renamings));
            }
        }
    }
}

struct CheckFile<'a, 'r> {
    reading: &'a mut Reading<'r>,
}

impl OnDomain for CheckFile<'_, '_> {
    type Done = Result<usize, FileError>;

    fn run<'m, 'p: 'm>(self, domain: impl DataDomain<'m, Machine = Buffered<'p>>) -> Self::Done {
        Ok(check_states_on(self.reading, domain, Looking::ForViolations)?.count())
    }
}

struct CheckProof<'a> {
    proof: &'a ReducedProof,
    piece: SetPiece,
    monitor: &'a dyn Monitor,
}

impl OnDomain for CheckProof<'_> {
    type Done = Result<(), Rejected>;

    fn run<'m, 'p: 'm>(self, domain: impl DataDomain<'m, Machine = Buffered<'p>>) -> Self::Done {
        check_piece(domain, Looking::ForViolations, &self.proof.set, self.piece, self.monitor)
    }
}

/// Makes the domain that a proof is about; renamings that do not preserve the program are refused.
fn with_domain<W: OnDomain>(
    machine: &Buffered<'_>,
    (gaps, settled, renamings): &Reduced,
    work: W,
) -> Result<W::Done, Rejected> {
    let Some(gaps) = gaps else {
        return on_reduced(machine, *settled, renamings, work).ok_or(Rejected::Renaming);
    };
    let domain = GapStepper::with(machine, *gaps).filter(|_| !settled).ok_or(Rejected::Window)?;
    Ok(work.run(Symmetric::new(domain, renamings).ok_or(Rejected::Renaming)?))
}

impl Proof for ReducedProof {
    fn kind(&self) -> &'static EvidenceKind {
        &REDUCED_SET
    }

    fn check(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<(), Rejected> {
        let machine = task.machine();
        let reduced = (self.gaps, self.settled, self.renamings.clone());
        in_pieces(&self.set.states, monitor, &|piece| {
            with_domain(&machine, &reduced, CheckProof { proof: self, piece, monitor })?
        })
    }

    fn write(&self, task: &Task<'_>, out: &mut RecordWriter<'_>) -> io::Result<()> {
        self.gaps.iter().try_for_each(|gaps| write_gaps(gaps, out))?;
        if self.settled {
            out.put(&Record::Settled {}, "")?;
        }
        self.renamings.iter().try_for_each(|renaming| out.put(&renaming_record(renaming), ""))?;
        write_closed(task.program, &self.set, out)
    }

    fn write_obligations(&self, _: &Task<'_>, _: &mut dyn Write) -> io::Result<usize> {
        let message = "which steps may be left out of a reduced search has no form in SMT-LIB; \
                       with --reduce none there is a closed set, which has one";
        Err(io::Error::new(io::ErrorKind::InvalidInput, message))
    }

    fn known(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<KnownFacts, Stop> {
        known_reduced(task, self, monitor)
    }

    fn how(&self, statistics: &Statistics) -> String {
        let bound = statistics.k.map_or("", |_| ", no store buffer bound was reached");
        let states = counted(self.set.states.len(), "state");
        let settled =
            if self.settled { " in which every thread has gone as far as it can alone" } else { "" };
        let names = if self.renamings.is_empty() { "" } else { ", up to the names of threads" };
        match self.gaps {
            None => format!("all {states} explored{settled}{names}{bound}"),
            Some(gaps) => format!(
                "proved for integers of any size by {} of states (same order, same gaps up to {}{names})",
                counted(self.set.states.len(), "kind"),
                gaps.precision,
            ),
        }
    }
}
