//! Proofs by cubes in files.
//!
//! A slot is a letter and numbers: `m1` is variable 1 in memory, `r0.2` register 2 of thread 0,
//! `q0.1.2` its kept store 2 to variable 1, `l0.1` its newest forgotten store to variable 1, `p0.1` the
//! pool of the older ones and `n0.1` a forgotten one newer than that of the pool.

use super::FileError;
use super::read::Reading;
use super::states::{LocalLine, SharedLine};
use super::steps::integer;
use super::write::RecordWriter;
use crate::certificate::{read_renamings, write_renamings};
use crate::cubes::check_cubes;
use crate::record::Record;
use crate::symbolic::Vocabulary;
use crate::{Cube, CubeProof, Monitor, Progress, Rejected, Stop};
use logic::{Atom, Linear, Relation, Var};
use machine::{Forgotten, Keep, Recall, Slot};
use program::{Names, Program, RegId, ThreadId, VarId};
use std::collections::HashMap;
use std::io;

const KEEP: [(Keep, &str); 2] = [(Keep::Newest, "newest"), (Keep::Oldest, "oldest")];
const FORGOTTEN: [(Forgotten, &str); 3] =
    [(Forgotten::Pools, "pools"), (Forgotten::Pairs, "pairs"), (Forgotten::Anything, "anything")];

fn word_of<T: PartialEq>(known: &[(T, &'static str)], value: T) -> &'static str {
    known.iter().find(|(v, _)| *v == value).map_or("", |(_, word)| word)
}

fn named<T: Copy>(known: &[(T, &str)], name: &str) -> Option<T> {
    known.iter().find(|(_, word)| *word == name).map(|(value, _)| *value)
}

/// Writes how much a machine recalls.
pub(crate) fn write_recall(
    Recall { k, keep, forgotten }: Recall,
    out: &mut RecordWriter<'_>,
) -> io::Result<()> {
    let (keep, forgotten) = (word_of(&KEEP, keep), word_of(&FORGOTTEN, forgotten));
    out.put(&Record::Recall { k, keep: keep.to_string(), forgotten: forgotten.to_string() }, "")
}

/// How much a machine recalls, if the next line says so.
pub(crate) fn read_recall(reading: &mut Reading<'_>) -> Result<Option<Recall>, FileError> {
    let Some(Record::Recall { k, keep, forgotten }) = reading.records.next_record()? else { return Ok(None) };
    let named = named(&KEEP, &keep).zip(named(&FORGOTTEN, &forgotten));
    Ok(named.map(|(keep, forgotten)| Recall { k, keep, forgotten }))
}

pub(crate) fn write_cubes(
    program: &Program,
    proof: &CubeProof,
    out: &mut RecordWriter<'_>,
) -> io::Result<()> {
    write_recall(proof.recall, out)?;
    write_renamings(&proof.renamings, out)?;
    write_cubes_of(program, proof, out)
}

/// Writes all but what the machine recalls.
pub(super) fn write_cubes_of<R, G: SharedLine, L: LocalLine>(
    program: &Program,
    proof: &CubeProof<R, G, L>,
    out: &mut RecordWriter<'_>,
) -> io::Result<()> {
    let speaking = speaking_names(program, &proof.vocabulary);
    for predicate in &proof.predicates {
        let record = predicate_record(&proof.vocabulary, predicate)
            .ok_or_else(|| io::Error::other("a predicate does not speak of slots"))?;
        out.put(&record, &speaking.show(predicate).to_string())?;
    }
    let mut listed: Vec<G> = Vec::new();
    for (shared, _) in proof.controls.iter().filter(|_| G::LISTED) {
        if !listed.contains(shared) {
            listed.push(shared.clone());
        }
    }
    listed.iter().try_for_each(|shared| out.put(&shared.line(), ""))?;
    let mut numbers: HashMap<(usize, &L), usize> = HashMap::new();
    let mut counts = vec![0; program.threads.len()];
    for (thread, shape) in proof.controls.iter().flat_map(|(_, shapes)| shapes.iter().enumerate()) {
        let Some(count) = counts.get_mut(thread) else {
            return Err(io::Error::other("a control has too many threads"));
        };
        if let std::collections::hash_map::Entry::Vacant(entry) = numbers.entry((thread, shape)) {
            entry.insert(*count);
            *count += 1;
            out.put(&shape.shape(thread), "")?;
        }
    }
    for (shared, shapes) in &proof.controls {
        let shapes = shapes.iter().enumerate().map(|key| numbers[&key]).collect();
        out.put(&Record::Control { holder: shared.number(&listed), shapes }, "")?;
    }
    for cube in &proof.cubes {
        let signed = |sign: bool| cube.literals.iter().filter(move |l| l.1 == sign).map(|l| l.0).collect();
        out.put(&Record::Cube { control: cube.control, holds: signed(true), fails: signed(false) }, "")?;
    }
    Ok(())
}

fn predicate_record(vocabulary: &Vocabulary, atom: &Atom) -> Option<Record> {
    let relation = match atom.relation() {
        Relation::Le => "le".to_string(),
        Relation::Eq => "eq".to_string(),
        Relation::Ne => "ne".to_string(),
        Relation::Divides(by) => format!("divides:{by}"),
        Relation::NotDivides(by) => format!("not-divides:{by}"),
    };
    let mut terms = Vec::new();
    for (var, factor) in atom.expr().terms() {
        terms.push((factor.to_string(), slot_word(vocabulary.slot_of(*var)?)));
    }
    Some(Record::Predicate { relation, constant: atom.expr().constant().to_string(), terms })
}

/// Names for people, at the numbers that atoms know their variables by.
fn speaking_names(program: &Program, vocabulary: &Vocabulary) -> logic::Terms {
    let names = Names::original(program);
    let mut terms = logic::Terms::new();
    for index in 0..vocabulary.len() {
        let slot = vocabulary.slot_of(Var::at(index)).filter(|slot| slot_exists(program, *slot));
        let text = slot.map(|slot| slot_text(&names, slot)).unwrap_or_default();
        let taken = text.is_empty() || terms.find(&text).is_some();
        terms.var(&if taken { format!("{text}#{index}") } else { text });
    }
    terms
}

fn slot_text(names: &Names, slot: Slot) -> String {
    match slot {
        Slot::Memory(v) => names.variable(v).to_string(),
        Slot::Register(t, r) => format!("{}.{}", names.thread(t), names.register(t, r)),
        Slot::Queued(t, v, entry) => format!("{}.kept({}, {entry})", names.thread(t), names.variable(v)),
        Slot::Last(t, v) => format!("{}.last({})", names.thread(t), names.variable(v)),
        Slot::Pool(t, v) => format!("{}.older({})", names.thread(t), names.variable(v)),
        Slot::Newer(t, v) => format!("{}.newer({})", names.thread(t), names.variable(v)),
    }
}

/// Whether the program has the threads, variables and registers of a slot.
pub(crate) fn slot_exists(program: &Program, slot: Slot) -> bool {
    let variable = |v: VarId| v.index() < program.variables.len();
    let thread = |t: ThreadId| t.index() < program.threads.len();
    match slot {
        Slot::Memory(v) => variable(v),
        Slot::Register(t, r) => thread(t) && r.index() < program.thread(t).registers.len(),
        Slot::Queued(t, v, _) | Slot::Last(t, v) | Slot::Pool(t, v) | Slot::Newer(t, v) => {
            thread(t) && variable(v)
        }
    }
}

/// A slot as a letter and numbers.
pub(crate) fn slot_word(slot: Slot) -> String {
    match slot {
        Slot::Memory(v) => format!("m{}", v.index()),
        Slot::Register(t, r) => format!("r{}.{}", t.index(), r.index()),
        Slot::Queued(t, v, entry) => format!("q{}.{}.{entry}", t.index(), v.index()),
        Slot::Last(t, v) => format!("l{}.{}", t.index(), v.index()),
        Slot::Pool(t, v) => format!("p{}.{}", t.index(), v.index()),
        Slot::Newer(t, v) => format!("n{}.{}", t.index(), v.index()),
    }
}

fn slot_named(program: &Program, word: &str) -> Option<Slot> {
    let (kind, numbers) = word.split_at_checked(1)?;
    let numbers: Vec<u32> = numbers.split('.').map(|digits| digits.parse().ok()).collect::<Option<_>>()?;
    let (thread, variable) = (|t: u32| ThreadId::new(t as usize), |v: u32| VarId::new(v as usize));
    let slot = match (kind, &numbers[..]) {
        ("m", [v]) => Slot::Memory(variable(*v)),
        ("r", [t, r]) => Slot::Register(thread(*t), RegId::new(*r as usize)),
        ("q", [t, v, entry]) => Slot::Queued(thread(*t), variable(*v), *entry),
        ("l", [t, v]) => Slot::Last(thread(*t), variable(*v)),
        ("p", [t, v]) => Slot::Pool(thread(*t), variable(*v)),
        ("n", [t, v]) => Slot::Newer(thread(*t), variable(*v)),
        _ => return None,
    };
    slot_exists(program, slot).then_some(slot)
}

/// Checks the rest of a file. All of it is held in memory, and what the checker works out as
/// well: any cube may cover what any step leads to.
pub(crate) fn check_cube_file(reading: &mut Reading<'_>) -> Result<usize, FileError> {
    let proof = read_cubes(reading)?;
    let monitor: (&dyn Monitor, &dyn Monitor) = (reading.monitor(), &Within(reading.budget));
    check_cubes(&reading.task, &proof, &monitor)?;
    Ok(proof.cubes.len())
}

/// Stops the checker when it needs more bytes than this.
pub(super) struct Within(pub(super) usize);

impl Monitor for Within {
    fn observe(&self, progress: &Progress) -> Result<(), Stop> {
        if progress.bytes > self.0 { Err(Stop::Memory) } else { Ok(()) }
    }
}

/// Reads the rest of a file, as far as the budget goes.
pub(crate) fn read_cubes(reading: &mut Reading<'_>) -> Result<CubeProof, FileError> {
    let Some(recall) = read_recall(reading)? else {
        return Err(reading.records.wrong("what the machine remembers is missing"));
    };
    let program = reading.task.program;
    let renamings = read_renamings(reading, program)?;
    let proof = read_cubes_of(reading, recall)?;
    Ok(CubeProof { renamings: renamings.into(), ..proof })
}

/// Reads what follows what the machine recalls, as far as the budget goes.
pub(super) fn read_cubes_of<R, G: SharedLine, L: LocalLine>(
    reading: &mut Reading<'_>,
    recall: R,
) -> Result<CubeProof<R, G, L>, FileError> {
    let (program, records) = (reading.task.program, &mut reading.records);
    let mut reader = CubesReader::new(program, recall);
    while let Some(record) = records.next_record()? {
        reader.record(record).map_err(|message| records.wrong(message))?;
        if reader.bytes > reading.budget {
            return Err(Rejected::Stopped(Stop::Memory).into());
        }
    }
    Ok(reader.proof)
}

/// Sections of a file, in their order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum CubesSection {
    Predicates,
    Shapes,
    Controls,
    Cubes,
}

struct CubesReader<'p, R, G, L> {
    program: &'p Program,
    shared: Vec<G>,
    shapes: Vec<Vec<L>>,
    proof: CubeProof<R, G, L>,
    section: CubesSection,
    bytes: usize,
}

impl<'p, R, G: SharedLine, L: LocalLine> CubesReader<'p, R, G, L> {
    fn new(program: &'p Program, recall: R) -> CubesReader<'p, R, G, L> {
        let (predicates, controls, cubes) = (Vec::new(), Vec::new(), Vec::new());
        let (renamings, vocabulary) = (Box::default(), Vocabulary::default());
        let proof = CubeProof { recall, renamings, vocabulary, predicates, controls, cubes };
        let shapes = vec![Vec::new(); program.threads.len()];
        let shared = Vec::new();
        CubesReader { program, shared, shapes, proof, section: CubesSection::Predicates, bytes: 0 }
    }

    fn record(&mut self, record: Record) -> Result<(), &'static str> {
        let section = match record {
            Record::Predicate { .. } => CubesSection::Predicates,
            Record::Control { .. } => CubesSection::Controls,
            Record::Cube { .. } => CubesSection::Cubes,
            _ => CubesSection::Shapes,
        };
        if section < self.section {
            return Err("predicates come first, then shapes, controls and cubes");
        }
        self.section = section;
        match record {
            Record::Predicate { relation, constant, terms } => {
                let predicate = self.predicate(&relation, &constant, &terms);
                let predicate = predicate.ok_or("this predicate speaks of what does not exist")?;
                self.bytes += 256 + terms.len() * 128;
                self.proof.predicates.push(predicate);
            }
            Record::Control { holder, shapes } => {
                let control = self.control(holder, &shapes).ok_or("this control does not exist")?;
                self.proof.controls.push(control);
            }
            Record::Cube { control, holds, fails } => self.cube(control, &holds, &fails)?,
            record => self.part_of_control(&record)?,
        }
        Ok(())
    }

    fn part_of_control(&mut self, record: &Record) -> Result<(), &'static str> {
        match (G::of(self.program, record), L::of(self.program, record)) {
            (Some(shared), _) if G::LISTED => {
                self.bytes += 64;
                self.shared.push(shared);
            }
            (_, Some(shape)) => {
                let (thread, shape) = shape.ok_or("this control does not exist in the program")?;
                self.bytes += shape.bytes();
                self.shapes[thread].push(shape);
            }
            _ => return Err("this does not fit a proof by cubes"),
        }
        Ok(())
    }

    fn predicate(&mut self, relation: &str, constant: &str, terms: &[(String, String)]) -> Option<Atom> {
        let relation = match (relation.split_once(':'), relation) {
            (None, "le") => Relation::Le,
            (None, "eq") => Relation::Eq,
            (None, "ne") => Relation::Ne,
            (Some(("divides", by)), _) => Relation::Divides(integer(by)?),
            (Some(("not-divides", by)), _) => Relation::NotDivides(integer(by)?),
            _ => return None,
        };
        let mut sum = Vec::new();
        for (factor, slot) in terms {
            let slot = slot_named(self.program, slot)?;
            sum.push((self.proof.vocabulary.slot(slot), integer(factor)?));
        }
        Some(Atom::new(relation, Linear::new(sum, integer::<logic::Int>(constant)?)))
    }

    fn control(&mut self, shared: Option<usize>, shapes: &[usize]) -> Option<(G, Vec<L>)> {
        if shapes.len() != self.shapes.len() {
            return None;
        }
        let shared = G::numbered(self.program, &self.shared, shared)?;
        let shapes = shapes.iter().zip(&self.shapes).map(|(number, all)| all.get(*number));
        let shapes: Vec<L> = shapes.collect::<Option<Vec<_>>>()?.into_iter().cloned().collect();
        self.bytes += 64 + shapes.iter().map(LocalLine::bytes).sum::<usize>();
        Some((shared, shapes))
    }

    fn cube(&mut self, control: u32, holds: &[u32], fails: &[u32]) -> Result<(), &'static str> {
        if control as usize >= self.proof.controls.len() {
            return Err("a cube needs the number of a control");
        }
        let signed = |list: &[u32], sign: bool| list.iter().map(move |p| (*p, sign)).collect::<Vec<_>>();
        let mut literals = [signed(holds, true), signed(fails, false)].concat();
        literals.sort_unstable();
        if literals.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return Err("a predicate stands in a cube twice");
        }
        if literals.last().is_some_and(|last| last.0 as usize >= self.proof.predicates.len()) {
            return Err("a cube needs numbers of predicates");
        }
        self.bytes += 64 + 8 * literals.len();
        self.proof.cubes.push(Cube { control, literals });
        Ok(())
    }
}
