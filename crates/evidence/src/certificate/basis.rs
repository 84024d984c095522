//! A finite basis of a set that holds every violation and that no run enters, as a proof.

use super::reduced::{names_of, read_renamings, write_renamings};
use super::{BasisProof, Proof};
use crate::basis::{BasisFlaw, backward, check_basis};
use crate::file::{EvidenceKind, FileError, Reading, RecordWriter};
use crate::known::{KnownFacts, known_backwards};
use crate::numbers::counted;
use crate::record::Record;
use crate::smtlib::unwritten;
use crate::{Certificate, Claim, Ignore, Monitor, Rejected, Statistics, Stop, Stores, Task};
use machine::{Demanded, DemandedView, LocalState};
use program::{Loc, ThreadId, VarId};
use std::io::{self, Write};

pub(crate) const BASIS: EvidenceKind = EvidenceKind {
    name: "basis",
    ending: "basis",
    check: |reading| checked(reading, Stores::InOrder),
    read: Some(|reading| certificate(reading, Stores::InOrder)),
};

pub(crate) const EXPLORED_BASIS: EvidenceKind = EvidenceKind {
    name: "explored-basis",
    ending: "explored",
    check: |reading| checked(reading, Stores::Explored),
    read: Some(|reading| certificate(reading, Stores::Explored)),
};

pub(crate) const MULTISET_BASIS: EvidenceKind = EvidenceKind {
    name: "multiset-basis",
    ending: "multisets",
    check: |reading| checked(reading, Stores::Counted),
    read: Some(|reading| certificate(reading, Stores::Counted)),
};

fn checked(reading: &mut Reading<'_>, stores: Stores) -> Result<Claim, FileError> {
    let (task, monitor) = (reading.task, reading.monitor());
    let proof = read_proof(reading, stores)?;
    check_basis(&task, &proof, monitor)?;
    Ok(Claim::Safe(task.model, proof.elements.len()))
}

fn certificate(reading: &mut Reading<'_>, stores: Stores) -> Result<Certificate, FileError> {
    read_proof(reading, stores).map(Certificate::Basis)
}

fn read_proof(reading: &mut Reading<'_>, stores: Stores) -> Result<BasisProof, FileError> {
    let program = reading.task.program;
    let renamings = read_renamings(reading, program)?;
    let view = backward(&reading.task, stores, &renamings, reading.monitor())?;
    let mut elements = Vec::new();
    while let Some(record) = reading.records.next_record()? {
        let element = demanded(record).and_then(|demanded| view.element(&demanded));
        elements.push(element.ok_or_else(|| reading.records.wrong("this does not fit the program"))?);
    }
    Ok(BasisProof { stores, renamings, elements })
}

/// What a line demands.
fn demanded(record: Record) -> Option<Demanded> {
    let Record::Demand { states, memory, holder, queues, views } = record else { return None };
    let variable = |v: usize| u32::try_from(v).ok().map(|_| VarId::new(v));
    let thread = |t: usize| u32::try_from(t).ok().map(|_| ThreadId::new(t));
    let state = |(loc, registers): (usize, Vec<i64>)| {
        u32::try_from(loc).ok()?;
        Some(LocalState { loc: Loc::new(loc), registers: registers.into() })
    };
    let fact = |(v, value): (usize, i64)| Some((variable(v)?, value));
    let letter = |(own, facts): (bool, Vec<(usize, i64)>)| {
        Some(DemandedView { own, facts: facts.into_iter().map(fact).collect::<Option<_>>()? })
    };
    Some(Demanded {
        states: states
            .into_iter()
            .map(|known| known.map_or(Some(None), |known| state(known).map(Some)))
            .collect::<Option<_>>()?,
        memory: memory.into_iter().map(fact).collect::<Option<_>>()?,
        holder: match holder {
            None => None,
            Some(0) => Some(None),
            Some(number) => Some(Some(thread(number - 1)?)),
        },
        queues: queues
            .into_iter()
            .map(|(t, v, stores)| Some((thread(t)?, variable(v)?, stores)))
            .collect::<Option<_>>()?,
        views: views
            .into_iter()
            .map(|(t, letters)| Some((thread(t)?, letters.into_iter().map(letter).collect::<Option<_>>()?)))
            .collect::<Option<_>>()?,
    })
}

fn record(demanded: Demanded) -> Record {
    let fact = |(variable, value): (VarId, i64)| (variable.index(), value);
    let state = |state: LocalState| (state.loc.index(), state.registers.to_vec());
    let letter = |view: DemandedView| (view.own, view.facts.into_iter().map(fact).collect());
    Record::Demand {
        states: demanded.states.into_iter().map(|known| known.map(state)).collect(),
        memory: demanded.memory.into_iter().map(fact).collect(),
        holder: demanded.holder.map(|holder| holder.map_or(0, |thread| thread.index() + 1)),
        queues: demanded.queues.into_iter().map(|(t, v, stores)| (t.index(), v.index(), stores)).collect(),
        views: demanded
            .views
            .into_iter()
            .map(|(t, letters)| (t.index(), letters.into_iter().map(letter).collect()))
            .collect(),
    }
}

impl Proof for BasisProof {
    fn kind(&self) -> &'static EvidenceKind {
        match self.stores {
            Stores::InOrder => &BASIS,
            Stores::Explored => &EXPLORED_BASIS,
            Stores::Counted => &MULTISET_BASIS,
        }
    }

    fn check(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<(), Rejected> {
        check_basis(task, self, monitor)
    }

    fn write(&self, task: &Task<'_>, out: &mut RecordWriter<'_>) -> io::Result<()> {
        let view = backward(task, self.stores, &self.renamings, &Ignore)
            .map_err(|why| io::Error::other(why.to_string()))?;
        write_renamings(&self.renamings, out)?;
        self.elements.iter().enumerate().try_for_each(|(at, element)| {
            if !view.has(element) {
                return Err(io::Error::other(BasisFlaw::Malformed(at).to_string()));
            }
            out.put(&record(view.describe(element)), "")
        })
    }

    fn write_obligations(&self, _: &Task<'_>, _: &mut dyn Write) -> io::Result<usize> {
        let message = "a proof that goes backwards speaks of buffers of any length, which SMT-LIB's linear \
                       arithmetic does not; lists of states and proofs by cubes have a form there";
        Err(unwritten(message))
    }

    fn known(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<KnownFacts, Stop> {
        match backward(task, self.stores, &self.renamings, monitor) {
            Ok(view) => known_backwards(task, &view, self, monitor),
            Err(Rejected::Stopped(stop)) => Err(stop),
            // A checked proof is one about finite data.
            Err(_) => Ok(KnownFacts::default()),
        }
    }

    fn how(&self, _: &Statistics) -> String {
        let elements = counted(self.elements.len(), "element");
        let counted = match self.stores {
            Stores::InOrder | Stores::Explored => "",
            Stores::Counted => ", which count the stores in them and forget their order",
        };
        let names = names_of(&self.renamings);
        format!(
            "proved backwards for store buffers of any length{counted}, by {elements} that no run starts in{names}"
        )
    }
}
