//! A proof whose states are in files.
//!
//! The obligations are those of a closed set. As with evidence files of any size, the states are read again and again: as
//! many successors as there is memory for are collected, then one look at all states must find them.

use super::reduced::{explored, kind_of, write_rules};
use super::{Proof, SpilledProof};
use crate::file::{EvidenceKind, RecordWriter, write_closed_controls, write_packed};
use crate::obligations::{Looking, check_stream};
use crate::smtlib::unwritten;
use crate::{Monitor, Progress, Rejected, SpilledStates, Statistics, Stop, Task};
use machine::{Buffered, DataDomain, OnDomain, State, on_reduced};
use std::fmt;
use std::io::{self, Write};

/// So many states are read between two looks at the monitor.
const STATES_PER_REPORT: usize = 4096;

impl SpilledProof {
    /// How many states there are.
    pub fn states(&self) -> usize {
        self.parts.iter().map(SpilledStates::len).sum()
    }
}

impl From<io::Error> for Rejected {
    fn from(_: io::Error) -> Rejected {
        Rejected::Stopped(Stop::Disk)
    }
}

struct CheckParts<'a> {
    proof: &'a SpilledProof,
    monitor: &'a dyn Monitor,
}

impl OnDomain for CheckParts<'_> {
    type Done = Result<(), Rejected>;

    fn run<'m, 'p: 'm>(self, domain: impl DataDomain<'m, Machine = Buffered<'p>>) -> Self::Done {
        let CheckParts { proof, monitor } = self;
        let threads = proof.controls.locals.len();
        let mut state = State::default();
        let scan = |visit: &mut dyn FnMut(usize, &State) -> Result<(), Rejected>| {
            let mut at = 0;
            let mut look = |packed: &[u8]| {
                if at % STATES_PER_REPORT == 0 {
                    let progress = Progress { phase: "checking", states: at, ..Progress::default() };
                    monitor.observe(&progress).map_err(Rejected::Stopped)?;
                }
                state.unpack(threads, packed).ok_or(Rejected::Malformed(at))?;
                visit(at, &state)?;
                at += 1;
                Ok(())
            };
            proof.parts.iter().try_for_each(|part| part.each(&mut look))
        };
        check_stream(domain, Looking::ForViolations, &proof.controls, proof.budget, scan)
    }
}

impl Proof for SpilledProof {
    fn kind(&self) -> &'static EvidenceKind {
        kind_of(self.rules, &self.renamings)
    }

    fn check(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<(), Rejected> {
        let check = CheckParts { proof: self, monitor };
        on_reduced(&task.machine(), self.rules, &self.renamings, check).ok_or(Rejected::Renaming)?
    }

    fn write(&self, task: &Task<'_>, out: &mut RecordWriter<'_>) -> io::Result<()> {
        write_rules(self.rules, &self.renamings, out)?;
        write_closed_controls(&self.controls, out)?;
        let mut state = State::default();
        let mut write = |packed: &[u8]| write_packed(task.program, packed, &mut state, out);
        self.parts.iter().try_for_each(|part| part.each(&mut write))
    }

    fn write_obligations(&self, _: &Task<'_>, _: &mut dyn Write) -> io::Result<usize> {
        Err(unwritten("there is no room for the states in memory"))
    }

    fn how(&self, statistics: &Statistics) -> String {
        explored(self.states(), self.rules, &self.renamings, statistics)
    }
}

impl fmt::Debug for SpilledProof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SpilledProof({} states)", self.states())
    }
}
