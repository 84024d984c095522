//! States in files.

use evidence::{ChunkRead, Ignore, SpilledStates};
use machine::{CHUNK, StateSet};
use std::io::{self, Cursor, Read, Seek, SeekFrom, Write};
use std::sync::{Arc, Mutex, MutexGuard};

/// A file that others can change, too.
#[derive(Clone, Default)]
struct SharedFile(Arc<Mutex<Cursor<Vec<u8>>>>);

impl SharedFile {
    fn file(&self) -> MutexGuard<'_, Cursor<Vec<u8>>> {
        self.0.lock().expect("nobody panics")
    }

    fn len(&self) -> usize {
        self.file().get_ref().len()
    }

    fn overwrite(&self, bytes: Vec<u8>) {
        *self.file() = Cursor::new(bytes);
    }
}

impl Read for SharedFile {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.file().read(into)
    }
}

impl Write for SharedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file().flush()
    }
}

impl Seek for SharedFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file().seek(to)
    }
}

fn state(n: usize) -> Vec<u8> {
    let mut bytes = n.to_le_bytes().to_vec();
    bytes.resize(8 + (n * 37) % 300, 1);
    bytes
}

fn set(numbers: impl Iterator<Item = usize>) -> StateSet {
    let mut set = StateSet::new();
    numbers.for_each(|n| assert!(set.insert(&state(n), set.last()).expect("room").1));
    set
}

/// A set moves, and others follow: what is there already is not added again, and order and numbers stay.
#[test]
fn only_new_states_are_added() {
    let first = set(0..3000);
    let numbers: Vec<(u32, Vec<u8>)> = first.refs().map(|at| (at.number(), first.get(at).to_vec())).collect();
    let file = SharedFile::default();
    let mut spilled = SpilledStates::of(first, Box::new(file.clone())).expect("room");
    assert!(file.len().div_ceil(CHUNK) > 3, "the test must cross chunks");
    spilled.add_new(&set((2000..4000).rev()), &Ignore).expect("room");
    spilled.add_new(&set((0..5000).step_by(2)), &Ignore).expect("room");
    let expected = (0..3000).chain((3000..4000).rev()).chain((4000..5000).step_by(2));
    let mut read = Vec::new();
    spilled
        .each(&mut |state| {
            read.push(state.to_vec());
            io::Result::Ok(())
        })
        .expect("readable");
    assert!(read.into_iter().eq(expected.map(state)));
    assert_eq!(spilled.len(), 4500);
    let mut reading = ChunkRead::default();
    for (number, state) in numbers {
        assert_eq!(spilled.get(number, &mut reading).expect("readable").1, state);
    }
    let (mut at, mut count) = (None, 0);
    while let Some(next) = spilled.next(at, &mut reading).expect("readable") {
        (at, count) = (Some(next), count + 1);
    }
    assert_eq!((at, count), (spilled.last(), 4500));
}

#[test]
fn a_file_that_somebody_changed_is_noticed() {
    let file = SharedFile::default();
    let spilled = SpilledStates::of(set(0..3000), Box::new(file.clone())).expect("room");
    assert!(spilled.each(&mut |_| io::Result::Ok(())).is_ok());
    file.overwrite(vec![0; (file.len() / CHUNK + 1) * CHUNK]);
    assert!(spilled.each(&mut |_| io::Result::Ok(())).is_err());
    file.overwrite(Vec::new());
    assert!(spilled.each(&mut |_| io::Result::Ok(())).is_err());
    assert!(spilled.get(0, &mut ChunkRead::default()).is_err());
}
