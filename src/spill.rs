//! Files for states that memory has no room for.
//!
//! Files are new, never others', and nobody sees them for long: where the system allows it, a name goes as soon as its file
//! is open, so nothing is left behind however the process ends. Elsewhere it goes with the file.

use evidence::{Spill, SpillFile};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A folder for such files.
pub struct SpillFolder {
    folder: PathBuf,
    budget: usize,
    /// How many files there were.
    count: AtomicUsize,
}

impl SpillFolder {
    /// Files in this folder, which is there, besides so much memory.
    pub fn new(folder: &Path, memory: usize) -> Result<SpillFolder, String> {
        let spill = SpillFolder {
            folder: folder.to_path_buf(),
            // The check keeps two sets and what it knows of the program.
            budget: memory / 4,
            count: AtomicUsize::new(0),
        };
        let cannot = |error| format!("{}: no files for states can be made here: {error}", folder.display());
        spill.file().map_err(cannot)?;
        Ok(spill)
    }
}

impl Spill for SpillFolder {
    fn file(&self) -> io::Result<Box<dyn SpillFile>> {
        loop {
            let number = self.count.fetch_add(1, Ordering::Relaxed);
            let path = self.folder.join(format!("fencewright-{}-{number}.states", std::process::id()));
            match OpenOptions::new().read(true).write(true).create_new(true).open(&path) {
                // Somebody else's.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
                Ok(file) => return Ok(Box::new(TemporaryFile::new(file, path))),
            }
        }
    }

    fn budget(&self) -> usize {
        self.budget
    }
}

/// A file that is gone when it is dropped.
struct TemporaryFile {
    /// Closed before its name goes: an open file cannot be removed everywhere.
    file: File,
    _name: Option<TemporaryName>,
}

/// A name of a file that is gone when it is dropped.
struct TemporaryName(PathBuf);

impl TemporaryFile {
    fn new(file: File, path: PathBuf) -> TemporaryFile {
        let gone = cfg!(unix) && fs::remove_file(&path).is_ok();
        TemporaryFile { file, _name: (!gone).then_some(TemporaryName(path)) }
    }
}

impl Drop for TemporaryName {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

impl Read for TemporaryFile {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.file.read(into)
    }
}

impl Write for TemporaryFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for TemporaryFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Files of others stay as they are, and own ones are gone when they are dropped.
    #[test]
    fn files_are_new_and_go() {
        let folder = std::env::temp_dir().join(format!("fencewright-spill-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let others = folder.join(format!("fencewright-{}-1.states", std::process::id()));
        fs::write(&others, "not ours").expect("writable");
        let spill = SpillFolder::new(&folder, 1 << 20).expect("a folder that takes files");
        let mut files: Vec<_> = (0..3).map(|_| spill.file().expect("a file")).collect();
        for (at, file) in (0u8..).zip(&mut files) {
            let mut read = Vec::new();
            file.write_all(&[at; 9]).expect("room");
            file.seek(SeekFrom::Start(0)).expect("a file");
            file.read_to_end(&mut read).expect("readable");
            assert_eq!(read, [at; 9]);
        }
        drop(files);
        let left: Vec<PathBuf> =
            fs::read_dir(&folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
        assert_eq!(left, std::slice::from_ref(&others));
        assert_eq!(fs::read(&others).expect("still there"), b"not ours");
        fs::remove_dir_all(&folder).expect("ours");
        assert!(SpillFolder::new(&folder, 1 << 20).is_err());
    }
}
