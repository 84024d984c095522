//! States that cover all others, as a proof.

use super::{CLOSED_SET, Proof, ReducedProof, read_gaps, subject, write_gaps};
use crate::check::{SetPiece, check_piece, in_pieces};
use crate::file::{
    EvidenceKind, FileError, Reading, RecordWriter, check_states_on, read_states_of, write_closed,
};
use crate::known::{KnownFacts, known_reduced};
use crate::numbers::counted;
use crate::obligations::Looking;
use crate::record::Record;
use crate::record::renaming::{renaming_of, renaming_record};
use crate::smtlib::unwritten;
use crate::{Certificate, Claim, Monitor, Rejected, Statistics, Stop, Task};
use machine::{Acting, Buffered, DataDomain, Gaps, OnDomain, Rules, on_kinds, on_reduced};
use program::{Program, Renaming, VarId};
use std::io::{self, Write};

pub(crate) const REDUCED_SET: EvidenceKind = EvidenceKind {
    name: "reduced-set",
    ending: "reduced",
    check: |reading| {
        let forgotten = read_forgotten(reading)?;
        let (program, model) = (reading.task.program, reading.task.model);
        let program = subject(program, &forgotten).ok_or(Rejected::Forgotten)?;
        let (gaps, rules, renamings) = head(reading, &program)?;
        let machine = Task::safe(&program, model).machine();
        let count = with_domain(&machine, gaps, rules, &renamings, CheckFile { reading })??;
        Ok(Claim::Safe(model, count))
    },
    read: Some(|reading| {
        let forgotten = read_forgotten(reading)?;
        let program = subject(reading.task.program, &forgotten).ok_or(Rejected::Forgotten)?;
        let (gaps, rules, renamings) = head(reading, &program)?;
        let set = read_states_of(reading, &program)?;
        let proof = ReducedProof { forgotten, gaps, rules, renamings, set };
        Ok(Certificate::Reduced(Box::new(proof)))
    }),
};

/// The variables whose values are forgotten.
fn read_forgotten(reading: &mut Reading<'_>) -> Result<Vec<VarId>, FileError> {
    match reading.records.next_record()? {
        Some(Record::Forget(variables)) => {
            let small = |at: &usize| u32::try_from(*at).ok().map(|_| VarId::new(*at));
            let variables = variables.iter().map(small).collect::<Option<_>>();
            variables.ok_or_else(|| reading.records.wrong("there is no such variable"))
        }
        other => {
            reading.records.read_again(other);
            Ok(Vec::new())
        }
    }
}

/// What is known of values, the rules, and the renamings up to which states are listed.
fn head(
    reading: &mut Reading<'_>,
    program: &Program,
) -> Result<(Option<Gaps>, Rules, Vec<Renaming>), FileError> {
    let gaps = read_gaps(reading)?;
    let mut rules = Rules::default();
    loop {
        match reading.records.next_record()? {
            Some(Record::Settled {}) => rules.settled = true,
            Some(Record::InReach {}) => rules.acting = Acting::InReach,
            Some(Record::Persistent {}) => rules.acting = Acting::ByText,
            Some(Record::Dynamic {}) => rules.acting = Acting::ByValues,
            Some(Record::Cartesian {}) => rules.runs = true,
            Some(Record::DeadRegisters {}) => rules.dead_registers = true,
            other => {
                reading.records.read_again(other);
                return Ok((gaps, rules, read_renamings(reading, program)?));
            }
        }
    }
}

/// The renamings whose lines come next.
pub(crate) fn read_renamings(
    reading: &mut Reading<'_>,
    program: &Program,
) -> Result<Vec<Renaming>, FileError> {
    let mut renamings = Vec::new();
    loop {
        match reading.records.next_record()? {
            Some(record @ Record::Renaming { .. }) => {
                let renaming = renaming_of(program, &record);
                let wrong = || reading.records.wrong("this does not rename what the program has");
                renamings.push(renaming.ok_or_else(wrong)?);
            }
            other => {
                reading.records.read_again(other);
                return Ok(renamings);
            }
        }
    }
}

pub(crate) fn write_renamings(renamings: &[Renaming], out: &mut RecordWriter<'_>) -> io::Result<()> {
    renamings.iter().try_for_each(|renaming| out.put(&renaming_record(renaming), ""))
}

/// Writes by which rules, and up to which renamings, states are listed.
pub(super) fn write_rules(
    rules: Rules,
    renamings: &[Renaming],
    out: &mut RecordWriter<'_>,
) -> io::Result<()> {
    if rules.settled {
        out.put(&Record::Settled {}, "")?;
    }
    match rules.acting {
        Acting::Everybody => {}
        Acting::InReach => out.put(&Record::InReach {}, "")?,
        Acting::ByText => out.put(&Record::Persistent {}, "")?,
        Acting::ByValues => out.put(&Record::Dynamic {}, "")?,
    }
    if rules.runs {
        out.put(&Record::Cartesian {}, "")?;
    }
    if rules.dead_registers {
        out.put(&Record::DeadRegisters {}, "")?;
    }
    write_renamings(renamings, out)
}

/// That so many states were explored, by which rules and up to which names.
pub(super) fn explored(
    states: usize,
    rules: Rules,
    renamings: &[Renaming],
    statistics: &Statistics,
) -> String {
    let states = counted(states, "state");
    let (names, bound) = (names_of(renamings), no_bound(statistics));
    let settled = if rules.settled { " in which every thread has gone as far as it can alone" } else { "" };
    let acting = match rules.acting {
        Acting::Everybody => "",
        Acting::InReach => {
            return format!(
                "{states} explored{settled}, beyond which nothing can go wrong as the program is written{names}{bound}"
            );
        }
        Acting::ByText => ", by the steps of a few agents where they are enough",
        Acting::ByValues => ", by the steps of a few agents where, with these values, they are enough",
    };
    let runs = if rules.runs { ", several at once where nobody makes a difference in between" } else { "" };
    let dead = if rules.dead_registers { ", with registers that nothing reads any more" } else { "" };
    format!("all {states} explored{settled}{acting}{runs}{dead}{names}{bound}")
}

/// That the search had bounds on store buffers and none was reached, if so.
pub(super) fn no_bound(statistics: &Statistics) -> &'static str {
    statistics.k.map_or("", |_| ", no store buffer bound was reached")
}

/// What kind of file states are written to that may be reduced.
pub(super) fn kind_of(rules: Rules, renamings: &[Renaming]) -> &'static EvidenceKind {
    if rules.is_none() && renamings.is_empty() { &CLOSED_SET } else { &REDUCED_SET }
}

/// That small gaps are the same, if they are.
pub(crate) fn same_gaps(gaps: Gaps) -> String {
    if gaps.precision > 0 { format!(", same gaps up to {}", gaps.precision) } else { String::new() }
}

/// That states are those up to names, if they are.
pub(super) fn names_of(renamings: &[Renaming]) -> &'static str {
    if renamings.is_empty() { "" } else { ", up to the names of threads" }
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
    gaps: Option<Gaps>,
    rules: Rules,
    renamings: &[Renaming],
    work: W,
) -> Result<W::Done, Rejected> {
    let done = match gaps {
        None => on_reduced(machine, rules, renamings, work),
        Some(gaps) => on_kinds(machine, gaps, rules, renamings, work).ok_or(Rejected::Window)?,
    };
    done.ok_or(Rejected::Renaming)
}

impl Proof for ReducedProof {
    fn kind(&self) -> &'static EvidenceKind {
        &REDUCED_SET
    }

    fn check(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<(), Rejected> {
        let program = self.subject(task.program).ok_or(Rejected::Forgotten)?;
        let machine = Task { program: &program, ..*task }.machine();
        in_pieces(&self.set.states, monitor, &|piece| {
            let check = CheckProof { proof: self, piece, monitor };
            with_domain(&machine, self.gaps, self.rules, &self.renamings, check)?
        })
    }

    fn write(&self, task: &Task<'_>, out: &mut RecordWriter<'_>) -> io::Result<()> {
        if !self.forgotten.is_empty() {
            let names = self.forgotten.iter().map(|v| task.program.variable(*v).name.as_str());
            let remark = names.collect::<Vec<_>>().join(", ");
            out.put(&Record::Forget(self.forgotten.iter().map(|v| v.index()).collect()), &remark)?;
        }
        self.gaps.iter().try_for_each(|gaps| write_gaps(gaps, out))?;
        write_rules(self.rules, &self.renamings, out)?;
        write_closed(task.program, &self.set, out)
    }

    fn write_obligations(&self, _: &Task<'_>, _: &mut dyn Write) -> io::Result<usize> {
        let message = "which steps may be left out of a reduced search has no form in SMT-LIB; \
                       with --reduce none there is a closed set, which has one";
        Err(unwritten(message))
    }

    fn known(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<KnownFacts, Stop> {
        known_reduced(task, self, monitor)
    }

    fn how(&self, statistics: &Statistics) -> String {
        let states = self.set.states.len();
        if let Some(gaps) = self.gaps {
            return format!(
                "proved for integers of any size by {} of states (same order{}{}{})",
                counted(states, "kind"),
                same_gaps(gaps),
                if self.rules.settled { ", threads as far as they can go alone" } else { "" },
                names_of(&self.renamings),
            );
        }
        let explored = explored(states, self.rules, &self.renamings, statistics);
        if self.forgotten.is_empty() {
            return explored;
        }
        let without = counted(self.forgotten.len(), "variable");
        format!("proved for integers of any size, whatever {without} may hold: {explored}")
    }
}
