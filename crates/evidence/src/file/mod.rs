//! Evidence files: writing them, and checking them against a program in bounded memory.
//!
//! `fencewright-evidence 1 KIND MODEL PROGRAM` opens a file; PROGRAM is a [`fingerprint`], so
//! that evidence for another program is refused with a clear word (it would not pass anyway).
//! A trace follows as `initial`, `step` and `drain` lines and one `property` or `failure`; a
//! closed set as its dictionary (`global`, `local` or `shape`) and its `state`s, perhaps after `gaps`, `recall`, `settled` or `renaming`s and,
//! where robustness is the reason, `extend` lines that say which program it is about; a proof by
//! cubes, perhaps after `renaming`s, as `predicate`s, `shape`s, `control`s and `cube`s; one that goes backwards as `demand`s; a witness that a program is not robust
//! as the steps of its run and one `delay`; all final states of a litmus test as `final` values, the
//! agents whose steps go `first`, and states like those of a closed set; that nothing is violated within
//! some `contexts` as states whose dictionary has `running` and `planned` lines, or as cubes over those. `end N` closes the file
//! and counts the lines before it, so that a cut file is noticed.

mod contexts;
mod cubes;
mod outcomes;
mod read;
mod robust;
mod states;
mod steps;
mod trace;
mod witness;
mod write;

pub use read::{check_file, read_certificate};
pub use write::write_evidence;

pub(crate) use cubes::{
    check_cube_file, read_cubes, read_recall, slot_exists, slot_word, write_cubes, write_recall,
};
pub(crate) use read::Reading;
pub(crate) use states::{
    check_states, check_states_on, fails_every_attack, read_states, read_states_of, write_closed,
    write_closed_controls, write_closed_states, write_packed,
};
pub(crate) use write::RecordWriter;

use crate::certificate::{
    BASIS, CLOSED_SET, CUBE_SET, EXPLORED_BASIS, FLAT_SET, GAP_SET, MULTISET_BASIS, POOL_SET, REDUCED_SET,
    ROBUST_SET,
};
use crate::{Certificate, Checked, CheckedOutcomes, CheckedWitness, Rejected};
use machine::Model;
use program::{Loc, Program, ThreadId, VarId};
use std::fmt;
use std::io::{self, BufRead};

const VERSION: u32 = 1;

/// The thread of a number, if the program has so many.
fn thread_at(program: &Program, at: usize) -> Option<ThreadId> {
    (at < program.threads.len()).then(|| ThreadId::new(at))
}

/// A thread or nobody, if the program has so many threads.
fn somebody_at(program: &Program, at: Option<usize>) -> Option<Option<ThreadId>> {
    at.is_none_or(|at| at < program.threads.len()).then(|| at.map(ThreadId::new))
}

/// The variable of a number, if the program has so many.
fn variable_at(program: &Program, at: usize) -> Option<VarId> {
    (at < program.variables.len()).then(|| VarId::new(at))
}

/// A location of a thread, if the program has both.
fn location_at(program: &Program, thread: usize, at: usize) -> Option<Loc> {
    (at < program.threads.get(thread)?.locs().count()).then(|| Loc::new(at))
}

/// The two forms of an evidence file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Words and numbers.
    Text,
    /// One JSON object per line.
    Json,
}

/// What a file proved.
#[derive(Debug)]
pub enum Claim {
    /// The program is safe; this many states.
    Safe(Model, usize),
    /// No run of at most so many contexts violates anything; this many states.
    Within(Model, usize, usize),
    /// The program is unsafe, by this violation.
    Unsafe(Model, Box<Checked>),
    /// The program is robust against the model; this many states under SC.
    Robust(Model, usize),
    /// These are all final states that the program's question is about.
    Outcomes(Model, Box<CheckedOutcomes>),
    /// The program is not robust against the model, by this witness.
    NotRobust(Model, Box<CheckedWitness>),
}

/// What is wrong with a file.
#[derive(Debug)]
pub enum FileError {
    /// It could not be read.
    Io(io::Error),
    /// This line (from 1) is not what it should be.
    Line(usize, String),
    /// It is well written but proves nothing.
    Rejected(Rejected),
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FileError::Io(error) => error.fmt(f),
            FileError::Line(line, message) => write!(f, "line {line}: {message}"),
            FileError::Rejected(why) => why.fmt(f),
        }
    }
}

impl std::error::Error for FileError {}

impl From<Rejected> for FileError {
    fn from(why: Rejected) -> FileError {
        FileError::Rejected(why)
    }
}

impl From<io::Error> for FileError {
    fn from(error: io::Error) -> FileError {
        FileError::Io(error)
    }
}

/// A kind of evidence file.
pub(crate) struct EvidenceKind {
    /// Its name, in the first line.
    pub(crate) name: &'static str,
    /// A word for the names of such files.
    pub(crate) ending: &'static str,
    /// Checks what stands behind the first line.
    pub(crate) check: fn(&mut Reading<'_>) -> Result<Claim, FileError>,
    /// Reads a certificate, if it is one, without checking it.
    pub(crate) read: Option<ReadCertificate>,
}

type ReadCertificate = fn(&mut Reading<'_>) -> Result<Certificate, FileError>;

/// All kinds.
pub(crate) const KINDS: &[EvidenceKind] = &[
    trace::TRACE,
    witness::WITNESS,
    robust::ROBUST,
    outcomes::OUTCOMES,
    contexts::CONTEXT_SET,
    contexts::CONTEXT_CUBES,
    CLOSED_SET,
    GAP_SET,
    CUBE_SET,
    ROBUST_SET,
    FLAT_SET,
    BASIS,
    EXPLORED_BASIS,
    MULTISET_BASIS,
    POOL_SET,
    REDUCED_SET,
];

/// A number that tells programs apart: 64-bit FNV-1a of the printed program.
pub fn fingerprint(program: &Program) -> String {
    let text = program::print(program);
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    format!("{:016x}", text.bytes().fold(0xcbf2_9ce4_8422_2325, step))
}

/// Opens an evidence file from its beginning; called several times for large certificates.
pub type Opener<'a> = dyn Fn() -> io::Result<Box<dyn BufRead>> + 'a;
