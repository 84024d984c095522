//! Proofs about another program: *via* a pass that turns the program into one under SC.
//!
//! The checker applies the pass again and checks that the states listed are all that the other program
//! has under SC and that none of them violates anything; what that means for the program itself
//! depends on the pass, and so does what has to be shown in addition.

use super::listed::{read_gaps, write_gaps};
use super::{ClosedSet, Proof};
use crate::check::check_set;
use crate::file::{
    EvidenceKind, FileError, Reading, RecordWriter, check_states, fails_every_attack, read_states_of,
    write_closed,
};
use crate::known::{KnownFacts, known_flat, known_robust};
use crate::numbers::counted;
use crate::obligations::Looking;
use crate::record::Record;
use crate::robust::{Attacks, extended};
use crate::smtlib::unwritten;
use crate::{Certificate, Claim, Monitor, Rejected, Statistics, Stop, Task};
use machine::{Flattened, Gaps, SC, TSO};
use program::{Delay, EdgeId, Program, ThreadId};
use std::io::{self, Write};

/// A pass that turns a program under a model into one under SC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pass {
    /// Stores are delayed, in registers, along these paths, each in the program that the ones
    /// before it give. Safe under SC means safe under TSO if that program is robust, so no
    /// attack from its states may have a witness. Normal forms prove that only where no attack
    /// can matter.
    Delays(Vec<Delay>),
    /// Store buffers are written into the program as registers, up to this many stores per queue.
    /// To need more is a violation, so nothing else has to be shown.
    Flatten {
        /// The most stores.
        buffer: usize,
    },
}

/// A proof about the program that a pass gives.
#[derive(Debug)]
pub struct Via {
    /// The pass.
    pub pass: Pass,
    /// Set if the states are normal forms.
    pub gaps: Option<Gaps>,
    /// The states of the other program under SC.
    pub set: ClosedSet,
}

impl Pass {
    /// The other program.
    pub(crate) fn forward(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Program, Rejected> {
        match self {
            Pass::Delays(delays) => extended(task, delays, monitor),
            Pass::Flatten { buffer } => {
                let flat = Flattened::bounded(task.program, task.model, *buffer);
                flat.map(|flat| flat.program).map_err(|_| Rejected::TooLarge)
            }
        }
    }

    /// The attacks on the other program that must fail besides, if there are any. Normal forms cannot
    /// show that one does.
    fn attacks<'p>(
        &self,
        other: &'p Program,
        gaps: Option<Gaps>,
        monitor: &dyn Monitor,
    ) -> Result<Option<Attacks<'p>>, Rejected> {
        let Pass::Delays(_) = self else { return Ok(None) };
        let attacks = Attacks::of(other, TSO, monitor)?;
        match (gaps, attacks.is_empty()) {
            (_, true) => Ok(None),
            (None, false) => Ok(Some(attacks)),
            (Some(_), false) => Err(Rejected::Attack),
        }
    }
}

pub(crate) const ROBUST_SET: EvidenceKind = EvidenceKind {
    name: "robust-set",
    ending: "robust-set",
    check: |reading| checked(reading, read_delays),
    read: Some(|reading| certificate(reading, read_delays)),
};

pub(crate) const FLAT_SET: EvidenceKind = EvidenceKind {
    name: "flat-set",
    ending: "flat",
    check: |reading| checked(reading, read_flatten),
    read: Some(|reading| certificate(reading, read_flatten)),
};

type ReadPass = fn(&mut Reading<'_>) -> Result<Pass, FileError>;

fn checked(reading: &mut Reading<'_>, read_pass: ReadPass) -> Result<Claim, FileError> {
    let (task, monitor) = (reading.task, reading.monitor());
    let pass = read_pass(reading)?;
    let gaps = read_gaps(reading)?;
    let other = pass.forward(&task, monitor)?;
    let states = check_states(reading, &Task::safe(&other, SC).machine(), gaps, Looking::ForViolations)?;
    if let Some(attacks) = pass.attacks(&other, gaps, monitor)? {
        fails_every_attack(reading, &attacks, &states)?;
    }
    Ok(Claim::Safe(task.model, states.count()))
}

fn certificate(reading: &mut Reading<'_>, read_pass: ReadPass) -> Result<Certificate, FileError> {
    let pass = read_pass(reading)?;
    let gaps = read_gaps(reading)?;
    let other = pass.forward(&reading.task, reading.monitor())?;
    let set = read_states_of(reading, &other)?;
    Ok(Certificate::Via(Via { pass, gaps, set }))
}

fn read_delays(reading: &mut Reading<'_>) -> Result<Pass, FileError> {
    let mut delays = Vec::new();
    loop {
        match reading.records.next_record()? {
            Some(Record::Extend { thread, complete, path }) => {
                let small = |edge: &usize| u32::try_from(*edge).ok().map(|_| EdgeId::new(*edge));
                let path = path.iter().map(small).collect::<Option<Vec<_>>>();
                let Some(path) = path.filter(|_| thread < reading.task.program.threads.len()) else {
                    return Err(reading.records.wrong("there is no such thread or edge"));
                };
                delays.push(Delay { thread: ThreadId::new(thread), path, complete });
            }
            other => {
                reading.records.read_again(other);
                return Ok(Pass::Delays(delays));
            }
        }
    }
}

fn read_flatten(reading: &mut Reading<'_>) -> Result<Pass, FileError> {
    match reading.records.next_record()? {
        Some(Record::Flatten { buffer }) => Ok(Pass::Flatten { buffer }),
        _ => Err(reading.records.wrong("the bound on buffers is missing")),
    }
}

impl Proof for Via {
    fn kind(&self) -> &'static EvidenceKind {
        match self.pass {
            Pass::Delays(_) => &ROBUST_SET,
            Pass::Flatten { .. } => &FLAT_SET,
        }
    }

    fn check(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<(), Rejected> {
        let other = self.pass.forward(task, monitor)?;
        check_set(&Task::safe(&other, SC), self.gaps, Looking::ForViolations, &self.set, monitor)?;
        let attacks = self.pass.attacks(&other, self.gaps, monitor)?;
        attacks.map_or(Ok(()), |attacks| attacks.fail_from(&self.set, monitor))
    }

    fn write(&self, task: &Task<'_>, out: &mut RecordWriter<'_>) -> io::Result<()> {
        match &self.pass {
            Pass::Delays(delays) => {
                for Delay { thread, path, complete } in delays {
                    let path = path.iter().copied().map(EdgeId::index).collect();
                    out.put(&Record::Extend { thread: thread.index(), complete: *complete, path }, "")?;
                }
            }
            Pass::Flatten { buffer } => out.put(&Record::Flatten { buffer: *buffer }, "")?,
        }
        self.gaps.iter().try_for_each(|gaps| write_gaps(gaps, out))?;
        write_closed(task.program, &self.set, out)
    }

    fn write_obligations(&self, _: &Task<'_>, _: &mut dyn Write) -> io::Result<usize> {
        let message = "a proof about another program has no form in SMT-LIB yet; a closed set has one";
        Err(unwritten(message))
    }

    fn known(&self, _: &Task<'_>, _: &dyn Monitor) -> Result<KnownFacts, Stop> {
        Ok(match &self.pass {
            Pass::Delays(delays) => known_robust(delays.len(), &self.set),
            Pass::Flatten { buffer } => known_flat(*buffer, &self.set),
        })
    }

    fn how(&self, _: &Statistics) -> String {
        let states = match self.gaps {
            None => counted(self.set.states.len(), "state"),
            Some(_) => format!("{} of states, integers of any size", counted(self.set.states.len(), "kind")),
        };
        let instead = match &self.pass {
            Pass::Delays(delays) if delays.is_empty() => "robust, so weak memory does not matter".to_string(),
            Pass::Delays(delays) => {
                format!("robust with {} written into it", counted(delays.len(), "delayed path"))
            }
            Pass::Flatten { buffer } => format!("no queue holds more than {}", counted(*buffer, "store")),
        };
        format!("{instead}, and safe under SC ({states})")
    }
}
