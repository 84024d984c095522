//! All reachable states of a machine that forgets the order of stores, with sets of values, as a proof.

use super::{PoolProof, Proof};
use crate::basis::seen;
use crate::check::check_closed;
use crate::file::{
    EvidenceKind, FileError, Reading, RecordWriter, check_states_on, read_recall, read_states, write_closed,
    write_recall,
};
use crate::known::{KnownFacts, known_pools};
use crate::numbers::counted;
use crate::obligations::Looking;
use crate::smtlib::{unwritten, write_listed_on};
use crate::{Certificate, Claim, Ignore, Monitor, Rejected, Statistics, Stop, Task};
use machine::{Forgotten, Keep, Pooled, Recall, Stepper};
use std::io::{self, Write};

pub(crate) const POOL_SET: EvidenceKind = EvidenceKind {
    name: "pool-set",
    ending: "pools",
    check: |reading| {
        let k = read_k(reading)?;
        let task = reading.task;
        let machine = machine(&task, k, reading.monitor())?;
        let states = check_states_on(reading, Stepper::new(&machine), Looking::ForViolations)?;
        Ok(Claim::Safe(task.model, states.count()))
    },
    read: Some(|reading| {
        let k = read_k(reading)?;
        Ok(Certificate::Pools(PoolProof { k, set: read_states(reading)? }))
    }),
};

fn machine<'p>(task: &Task<'p>, k: usize, monitor: &dyn Monitor) -> Result<Pooled<'p>, Rejected> {
    seen(monitor, |go_on| Pooled::new(task.program, task.model, k, go_on))
}

fn read_k(reading: &mut Reading<'_>) -> Result<usize, FileError> {
    match read_recall(reading)? {
        Some(Recall { k, keep: Keep::Oldest, forgotten: Forgotten::Pools }) => Ok(k),
        _ => Err(reading.records.wrong("it is missing how many stores are kept in order")),
    }
}

impl Proof for PoolProof {
    fn kind(&self) -> &'static EvidenceKind {
        &POOL_SET
    }

    fn check(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<(), Rejected> {
        let machine = machine(task, self.k, monitor)?;
        check_closed(Stepper::new(&machine), Looking::ForViolations, &self.set, monitor)
    }

    fn write(&self, task: &Task<'_>, out: &mut RecordWriter<'_>) -> io::Result<()> {
        write_recall(Recall { k: self.k, keep: Keep::Oldest, forgotten: Forgotten::Pools }, out)?;
        write_closed(task.program, &self.set, out)
    }

    fn write_obligations(&self, task: &Task<'_>, out: &mut dyn Write) -> io::Result<usize> {
        let machine = machine(task, self.k, &Ignore).map_err(|why| unwritten(&why.to_string()))?;
        write_listed_on(task, &machine, None, &self.set, out)
    }

    fn known(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<KnownFacts, Stop> {
        match machine(task, self.k, monitor) {
            Ok(pools) => known_pools(task, (self.k, &pools), &self.set, monitor),
            Err(Rejected::Stopped(stop)) => Err(stop),
            // A checked proof is one about finite data.
            Err(_) => Ok(KnownFacts::default()),
        }
    }

    fn how(&self, _: &Statistics) -> String {
        let states = counted(self.set.states.len(), "state");
        let kept = match self.k {
            0 => "store buffers as sets".to_string(),
            k => format!("the oldest {k} of every store buffer in order and the others as sets"),
        };
        format!("proved for store buffers of any length, with {kept}: {states}")
    }
}
