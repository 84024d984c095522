//! States that memory has no room for.
//!
//! They lie in files, one record behind the other, in chunks like those of a [`StateSet`] in memory: a set that moves to
//! a file goes on to be named by the same numbers. A file is read from the beginning, a chunk at a time; where a state is
//! in it nobody knows, so whether states of memory are among them is found out for many at once, by one look
//! at all of it ([`SpilledStates::add_new`]: duplicates are detected late).
//!
//! Files are the caller's business ([`Spill`]): nothing here knows a folder.

use crate::{Monitor, Progress, Stop};
use machine::{CHUNK, StateSet, push_record, record_at, record_number, record_place, record_size, records};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// So many states are looked at between two looks at the monitor.
const LOOKS_PER_REPORT: usize = 1 << 16;

/// A file that is empty at first, and gone when it is dropped.
pub trait SpillFile: Read + Write + Seek + Send {}

impl<F: Read + Write + Seek + Send> SpillFile for F {}

/// Where states go that memory has no room for.
pub trait Spill: Sync {
    /// A new file.
    fn file(&self) -> io::Result<Box<dyn SpillFile>>;

    /// How many bytes of memory the check of states in files may take.
    fn budget(&self) -> usize;
}

/// Why states could not be written.
#[derive(Debug)]
pub enum NotSpilled {
    /// The file does not take them, or cannot be read.
    File(io::Error),
    /// There are more than numbers can name.
    Full,
    /// The monitor stopped it.
    Stopped(Stop),
}

impl From<io::Error> for NotSpilled {
    fn from(error: io::Error) -> NotSpilled {
        NotSpilled::File(error)
    }
}

/// States in a file, in the order they were added.
pub struct SpilledStates {
    file: Mutex<Box<dyn SpillFile>>,
    /// How many full chunks there are.
    full: usize,
    /// How long the chunk behind them is.
    rest: usize,
    count: usize,
    last: Option<u32>,
}

/// The chunk that was read last from a file to which nothing was added since.
#[derive(Default)]
pub struct ChunkRead {
    chunk: Option<usize>,
    bytes: Vec<u8>,
}

impl SpilledStates {
    /// Moves a set to a file.
    pub fn of(set: StateSet, file: Box<dyn SpillFile>) -> Result<SpilledStates, NotSpilled> {
        let (count, last) = (set.len(), set.last().map(|last| last.number()));
        let mut spilled = SpilledStates { file: Mutex::new(file), full: 0, rest: 0, count, last };
        let mut chunks = set.into_chunks().into_iter().peekable();
        while let Some(mut chunk) = chunks.next() {
            match chunks.peek() {
                Some(_) => spilled.write_full(&mut chunk)?,
                None => spilled.write_rest(&chunk)?,
            }
        }
        Ok(spilled)
    }

    /// How many states there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The number of the state that was added last.
    pub fn last(&self) -> Option<u32> {
        self.last
    }

    /// How many chunks there are.
    fn chunks(&self) -> usize {
        self.full + usize::from(self.rest > 0)
    }

    /// Reads a chunk.
    fn read(&self, chunk: usize, into: &mut Vec<u8>) -> io::Result<()> {
        into.clear();
        into.resize(if chunk < self.full { CHUNK } else { self.rest }, 0);
        let mut file = self.file();
        file.seek(SeekFrom::Start((chunk * CHUNK) as u64))?;
        file.read_exact(into)
    }

    /// The number of the state that was added behind another, or first of all.
    pub fn next(&self, before: Option<u32>, reading: &mut ChunkRead) -> io::Result<Option<u32>> {
        let Some(before) = before.filter(|before| Some(*before) != self.last) else {
            return Ok(before.map_or(self.last.map(|_| 0), |_| None));
        };
        let (chunk, start) = record_place(before);
        let bytes = self.at(chunk, reading)?;
        let (_, state) = record_at(bytes, start).ok_or_else(changed)?;
        let end = start + record_size(state.len());
        let next = record_at(bytes, end).map_or(record_number(chunk + 1, 0), |_| record_number(chunk, end));
        Ok(Some(next))
    }

    /// The link and the bytes of the state of this number.
    pub fn get<'r>(&self, number: u32, reading: &'r mut ChunkRead) -> io::Result<(u32, &'r [u8])> {
        let (chunk, start) = record_place(number);
        record_at(self.at(chunk, reading)?, start).ok_or_else(changed)
    }

    /// A chunk, perhaps read already.
    fn at<'r>(&self, chunk: usize, reading: &'r mut ChunkRead) -> io::Result<&'r [u8]> {
        if reading.chunk != Some(chunk) {
            reading.chunk = None;
            self.read(chunk, &mut reading.bytes)?;
            reading.chunk = Some(chunk);
        }
        Ok(&reading.bytes)
    }

    /// Calls `visit` on all states, in order.
    pub fn each<E: From<io::Error>>(&self, visit: &mut dyn FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        let (mut bytes, mut seen) = (Vec::new(), 0);
        for chunk in 0..self.chunks() {
            self.read(chunk, &mut bytes)?;
            for (_, _, state) in records(&bytes) {
                visit(state)?;
                seen += 1;
            }
        }
        if seen == self.count { Ok(()) } else { Err(changed().into()) }
    }

    /// Adds the states of a set that are not there yet, in their order, with their links.
    pub fn add_new(&mut self, found: &StateSet, monitor: &dyn Monitor) -> Result<(), NotSpilled> {
        let mut known = vec![0u64; found.last().map_or(0, |last| last.number() as usize / 64 + 1)];
        let mut looked_at = 0;
        self.each::<NotSpilled>(&mut |state| {
            looked_at += 1;
            if looked_at % LOOKS_PER_REPORT == 0 {
                let phase = "looking for states in files";
                let progress = Progress { phase, states: self.count, ..Progress::default() };
                // There is less memory soon.
                let stop = monitor.observe(&progress).err().filter(|stop| *stop != Stop::Memory);
                stop.map_or(Ok(()), |stop| Err(NotSpilled::Stopped(stop)))?;
            }
            if let Some(at) = found.find(state) {
                known[at.number() as usize / 64] |= 1 << (at.number() % 64);
            }
            Ok(())
        })?;
        let (mut rest, before) = (Vec::new(), self.count);
        self.read(self.full, &mut rest)?;
        for at in found.refs() {
            if known[at.number() as usize / 64] >> (at.number() % 64) & 1 == 0 {
                let link = found.link(at).map_or(u32::MAX, |link| link.number());
                self.push(link, found.get(at), &mut rest)?;
            }
        }
        if self.count > before {
            self.write_rest(&rest)?;
        }
        Ok(())
    }

    /// Adds a state behind all others; `rest` is the last chunk.
    fn push(&mut self, link: u32, state: &[u8], rest: &mut Vec<u8>) -> Result<(), NotSpilled> {
        let mut start = push_record(rest, link, state);
        if start.is_none() {
            self.write_full(rest)?;
            rest.clear();
            start = push_record(rest, link, state);
        }
        let most = (u64::from(u32::MAX) * 4 / CHUNK as u64) as usize;
        let start = start.filter(|_| self.full < most).ok_or(NotSpilled::Full)?;
        self.last = Some(record_number(self.full, start));
        self.count += 1;
        Ok(())
    }

    /// Writes a chunk that is full.
    fn write_full(&mut self, chunk: &mut Vec<u8>) -> io::Result<()> {
        chunk.resize(CHUNK, 0);
        self.write_rest(chunk)?;
        (self.full, self.rest) = (self.full + 1, 0);
        Ok(())
    }

    /// Writes what is behind the full chunks.
    fn write_rest(&mut self, rest: &[u8]) -> io::Result<()> {
        self.rest = rest.len();
        let mut file = self.file();
        file.seek(SeekFrom::Start((self.full * CHUNK) as u64))?;
        file.write_all(rest)
    }

    fn file(&self) -> MutexGuard<'_, Box<dyn SpillFile>> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Somebody else wrote into the file.
fn changed() -> io::Error {
    io::Error::other("the file with states is not as it was written")
}
