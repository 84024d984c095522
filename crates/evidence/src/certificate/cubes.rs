//! Conditions on values that steps preserve, as a proof.

use super::reduced::names_of;
use super::{CubeProof, Proof};
use crate::cubes::{check_cubes, write_obligations};
use crate::file::{EvidenceKind, RecordWriter, check_cube_file, read_cubes, write_cubes};
use crate::known::{KnownFacts, known_by_cubes};
use crate::numbers::counted;
use crate::smtlib::unwritten;
use crate::{Certificate, Claim, Monitor, Rejected, Statistics, Stop, Task};
use machine::{Forgotten, Keep};
use std::io::{self, Write};

pub(crate) const CUBE_SET: EvidenceKind = EvidenceKind {
    name: "cube-set",
    ending: "cubes",
    check: |reading| Ok(Claim::Safe(reading.task.model, check_cube_file(reading)?)),
    read: Some(|reading| Ok(Certificate::Cubes(read_cubes(reading)?))),
};

impl Proof for CubeProof {
    fn kind(&self) -> &'static EvidenceKind {
        &CUBE_SET
    }

    fn check(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<(), Rejected> {
        check_cubes(task, self, monitor)
    }

    fn write(&self, task: &Task<'_>, out: &mut RecordWriter<'_>) -> io::Result<()> {
        write_cubes(task.program, self, out)
    }

    fn write_obligations(&self, task: &Task<'_>, out: &mut dyn Write) -> io::Result<usize> {
        if !self.renamings.is_empty() {
            let message = "a proof up to the names of threads has no form in SMT-LIB; with --reduce none there is one \
                           about all names, which has";
            return Err(unwritten(message));
        }
        write_obligations(task, self, out)
    }

    fn known(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<KnownFacts, Stop> {
        known_by_cubes(task, self, monitor)
    }

    fn how(&self, _: &Statistics) -> String {
        let forgets = self.controls.iter().any(|(_, shapes)| shapes.iter().any(|s| !s.forgotten.is_empty()));
        let pairs = forgets && self.recall.forgotten == Forgotten::Pairs;
        let kept = match (self.recall.k, self.recall.keep) {
            // Without store buffers there is nothing to forget.
            (0, _) if !forgets || pairs => String::new(),
            (0, _) => ", forgetting the order of buffered stores".to_string(),
            (k, Keep::Newest) => format!(", keeping the newest {k} of every store buffer in order"),
            (k, Keep::Oldest) if !forgets => format!(", with at most {k} in every store buffer"),
            (k, Keep::Oldest) => format!(", keeping the oldest {k} of every store buffer in order"),
        };
        let compared = if pairs { ", comparing older buffered stores with newer ones" } else { "" };
        let cubes = counted(self.cubes.len(), "conjunction");
        let predicates = counted(self.predicates.len(), "predicate");
        format!(
            "proved for integers of any size by {cubes} of {predicates}{kept}{compared}{}",
            names_of(&self.renamings)
        )
    }
}
