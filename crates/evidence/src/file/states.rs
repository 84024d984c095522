//! States in files: a dictionary of controls, then one state per line.
//!
//! Large sets are never held in memory: the file is read several times instead, each time for the
//! states that fit the budget.

use super::read::{Reading, RecordSource, Records};
use super::write::RecordWriter;
use super::{FileError, location_at, somebody_at, variable_at};
use crate::obligations::{Looking, check_stream, packed_into};
use crate::record::Record;
use crate::robust::Attacks;
use crate::{ClosedSet, Controls, Rejected};
use machine::{DataDomain, Entry, GapStepper, Gaps, Local, Machine, State, StateSet, Stepper};
use program::{Program, ThreadId};
use std::hash::Hash;
use std::io;

/// Checks the states that follow, of a machine. They are read again and again.
pub(crate) fn check_states<M: Machine<Global: SharedLine, Local: LocalLine>>(
    reading: &mut Reading<'_>,
    machine: &M,
    gaps: Option<Gaps>,
    looking: Looking,
) -> Result<Dictionary<M::Global, M::Local>, FileError> {
    match gaps {
        None => check_states_on(reading, Stepper::new(machine), looking),
        Some(gaps) => {
            let domain = GapStepper::with(machine, gaps).ok_or(Rejected::Window)?;
            check_states_on(reading, domain, looking)
        }
    }
}

/// As [`check_states`], as a domain knows them.
pub(crate) fn check_states_on<'m, D, G: SharedLine, L: LocalLine>(
    reading: &mut Reading<'_>,
    domain: D,
    looking: Looking,
) -> Result<Dictionary<G, L>, FileError>
where
    D: DataDomain<'m, Machine: Machine<Global = G, Local = L>>,
{
    let program = domain.stepper().machine().program();
    let threads = program.threads.len();
    let states = dictionary(program, &mut reading.records)?;
    let (open, budget) = (&reading.open, reading.budget);
    let scan = |visit: &mut dyn FnMut(usize, &State) -> _| scan(threads, open, visit);
    check_stream(domain, looking, &states.controls, budget, scan)?;
    Ok(states)
}

/// Reads the states that follow into memory, without checking them.
pub(crate) fn read_states(reading: &mut Reading<'_>) -> Result<ClosedSet, FileError> {
    let program = reading.task.program;
    read_states_of(reading, program)
}

/// As [`read_states`], of another program.
pub(crate) fn read_states_of(reading: &mut Reading<'_>, program: &Program) -> Result<ClosedSet, FileError> {
    let Dictionary { controls, .. } = dictionary(program, &mut reading.records)?;
    let mut states = StateSet::new();
    let mut packed = Vec::new();
    scan(program.threads.len(), &reading.open, &mut |at, state| {
        if !controls.name(state) || states.insert(packed_into(&mut packed, state), None).is_err() {
            return Err(Rejected::Malformed(at).into());
        }
        Ok(())
    })?;
    Ok(ClosedSet { controls, states })
}

/// Checks that none of these attacks from the states that were checked has a witness.
pub(crate) fn fails_every_attack(
    reading: &Reading<'_>,
    attacks: &Attacks<'_>,
    states: &Dictionary,
) -> Result<(), FileError> {
    let (threads, open) = (states.controls.locals.len(), &reading.open);
    attacks.fail(&states.controls, reading.budget, &mut |visit| scan(threads, open, visit), open.monitor)
}

/// The part of a control that threads share, as a line.
pub(crate) trait SharedLine: Clone + Eq {
    /// Whether proofs by cubes have lines for it, so that controls speak of the numbers of these.
    const LISTED: bool = true;

    /// Its line.
    fn line(&self) -> Record;
    /// What a line says, if it is such a line and speaks of what exists.
    fn of(program: &Program, record: &Record) -> Option<Self>;

    /// Its number in the controls of a proof by cubes.
    fn number(&self, listed: &[Self]) -> Option<usize> {
        listed.iter().position(|shared| shared == self)
    }

    /// What has this number there.
    fn numbered(_: &Program, listed: &[Self], number: Option<usize>) -> Option<Self> {
        listed.get(number?).cloned()
    }
}

/// A thread's part of a control, as a line.
pub(crate) trait LocalLine: Clone + Eq + Hash {
    /// Its line.
    fn line(&self, thread: usize) -> Record;
    /// What a line says, if it is such a line: the thread and its control, if there is such a control.
    fn of(program: &Program, record: &Record) -> Option<Option<(usize, Self)>>;
    /// Bytes in memory, roughly.
    fn bytes(&self) -> usize;

    /// Its line in a proof by cubes.
    fn shape(&self, thread: usize) -> Record {
        self.line(thread)
    }
}

/// The controls that a file names, and how many states follow.
pub(crate) struct Dictionary<G = Option<ThreadId>, L = Local> {
    pub(super) controls: Controls<G, L>,
    count: usize,
}

fn dictionary<G: SharedLine, L: LocalLine>(
    program: &Program,
    records: &mut Records<'_>,
) -> Result<Dictionary<G, L>, FileError> {
    let mut dictionary = Dictionary::new(program.threads.len());
    while let Some(record) = records.next_record()? {
        match record {
            Record::State(_) => dictionary.count += 1,
            _ if dictionary.count > 0 => {
                return Err(records.wrong("the dictionary must come before the states"));
            }
            record => dictionary.read(program, record, records)?,
        }
    }
    Ok(dictionary)
}

impl<G: SharedLine, L: LocalLine> Dictionary<G, L> {
    /// Names nothing yet.
    pub(super) fn new(threads: usize) -> Dictionary<G, L> {
        Dictionary { controls: Controls { globals: Vec::new(), locals: vec![Vec::new(); threads] }, count: 0 }
    }

    /// How many states follow.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Takes up a control, if the record is one.
    pub(super) fn read(
        &mut self,
        program: &Program,
        record: Record,
        records: &Records<'_>,
    ) -> Result<(), FileError> {
        let Controls { globals, locals } = &mut self.controls;
        match (G::of(program, &record), L::of(program, &record)) {
            (Some(global), _) => globals.push(global),
            (_, Some(Some((thread, local)))) => locals[thread].push(local),
            (_, Some(None)) => return Err(records.wrong("this control does not exist in the program")),
            (None, None) => return Err(records.wrong("this does not fit states of the program")),
        }
        Ok(())
    }
}

impl SharedLine for Option<ThreadId> {
    const LISTED: bool = false;

    fn line(&self) -> Record {
        Record::Global { holder: self.map(ThreadId::index) }
    }

    fn of(program: &Program, record: &Record) -> Option<Option<ThreadId>> {
        let Record::Global { holder } = record else { return None };
        somebody_at(program, *holder)
    }

    fn number(&self, _: &[Self]) -> Option<usize> {
        self.map(ThreadId::index)
    }

    fn numbered(program: &Program, _: &[Self], number: Option<usize>) -> Option<Option<ThreadId>> {
        somebody_at(program, number)
    }
}

impl LocalLine for Local {
    fn shape(&self, thread: usize) -> Record {
        let forgotten = self.forgotten.iter().map(|(v, several)| (v.index(), *several)).collect();
        Record::Shape { thread, location: self.loc.index(), kept: kept_numbers(self), forgotten }
    }

    fn bytes(&self) -> usize {
        128 + 8 * (self.kept.len() + self.forgotten.len())
    }

    fn line(&self, thread: usize) -> Record {
        match self.forgotten.is_empty() {
            true => Record::Local { thread, location: self.loc.index(), buffer: kept_numbers(self) },
            false => self.shape(thread),
        }
    }

    fn of(program: &Program, record: &Record) -> Option<Option<(usize, Local)>> {
        let (thread, local) = match record {
            Record::Local { thread, location, buffer } => {
                (*thread, local(program, *thread, *location, buffer, &[]))
            }
            Record::Shape { thread, location, kept, forgotten } => {
                (*thread, local(program, *thread, *location, kept, forgotten))
            }
            _ => return None,
        };
        Some(local.map(|local| (thread, local)))
    }
}

/// A thread's control, if its location and variables exist.
fn local(
    program: &Program,
    thread: usize,
    location: usize,
    kept: &[Option<usize>],
    forgotten: &[(usize, bool)],
) -> Option<Local> {
    let mut local = Local::at(location_at(program, thread, location)?);
    let entry = |entry: &Option<usize>| match *entry {
        Some(v) => variable_at(program, v).map(Entry::Store),
        None => Some(Entry::Barrier),
    };
    local.kept = kept.iter().map(entry).collect::<Option<_>>()?;
    let summary = |(v, several): &(usize, bool)| Some((variable_at(program, *v)?, *several));
    local.forgotten = forgotten.iter().map(summary).collect::<Option<_>>()?;
    Some(local)
}

/// One pass over the states of a file.
fn scan(
    threads: usize,
    open: &RecordSource<'_>,
    visit: &mut dyn FnMut(usize, &State) -> Result<(), FileError>,
) -> Result<(), FileError> {
    let mut records = open.records()?;
    let mut state = State::default();
    let mut at = 0;
    while let Some(record) = records.next_record()? {
        let Record::State(numbers) = record else { continue };
        if state_of(&numbers, threads, &mut state).is_none() {
            return Err(records.wrong("a state needs the number of a control for every thread"));
        }
        visit(at, &state)?;
        at += 1;
    }
    Ok(())
}

/// Reads a state from numbers; `None` if there are too few, or some cannot be controls.
pub(super) fn state_of(numbers: &[i64], threads: usize, state: &mut State) -> Option<()> {
    let (global, rest) = numbers.split_first()?;
    let (locals, values) = rest.split_at_checked(threads)?;
    state.global = u32::try_from(*global).ok()?;
    state.locals.clear();
    for local in locals {
        state.locals.push(u32::try_from(*local).ok()?);
    }
    state.values.clear();
    state.values.extend(values);
    Some(())
}

/// The kept stores of a control by the numbers of their variables; a fence has none.
fn kept_numbers(local: &Local) -> Vec<Option<usize>> {
    let number = |entry: &Entry| match entry {
        Entry::Store(variable) => Some(variable.index()),
        Entry::Barrier => None,
    };
    local.kept.iter().map(number).collect()
}

pub(crate) fn write_closed<G: SharedLine, L: LocalLine>(
    program: &Program,
    set: &ClosedSet<G, L>,
    out: &mut RecordWriter<'_>,
) -> io::Result<()> {
    write_closed_controls(&set.controls, out)?;
    write_closed_states(program, &set.states, out)
}

/// The dictionary of a closed set.
pub(crate) fn write_closed_controls<G: SharedLine, L: LocalLine>(
    controls: &Controls<G, L>,
    out: &mut RecordWriter<'_>,
) -> io::Result<()> {
    controls.globals.iter().try_for_each(|global| out.put(&global.line(), ""))?;
    for (thread, locals) in controls.locals.iter().enumerate() {
        locals.iter().try_for_each(|local| out.put(&local.line(thread), ""))?;
    }
    Ok(())
}

/// The states of a closed set.
pub(crate) fn write_closed_states(
    program: &Program,
    states: &StateSet,
    out: &mut RecordWriter<'_>,
) -> io::Result<()> {
    let mut state = State::default();
    states.iter().try_for_each(|packed| write_packed(program, packed, &mut state, out))
}

/// One of the states of a closed set; `state` is working memory.
pub(crate) fn write_packed(
    program: &Program,
    packed: &[u8],
    state: &mut State,
    out: &mut RecordWriter<'_>,
) -> io::Result<()> {
    if state.unpack(program.threads.len(), packed).is_none() {
        return Err(io::Error::other("a state cannot be unpacked"));
    }
    let control = std::iter::once(state.global).chain(state.locals.iter().copied()).map(i64::from);
    out.put(&Record::State(control.chain(state.values.iter().copied()).collect()), "")
}
