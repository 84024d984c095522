//! Writing files, whole or not at all.
//!
//! A file is written under another name in the same folder and then renamed, so nobody ever
//! sees half of it. What exists and says something else is not replaced unless that is asked
//! for.

use crate::limits::Interrupt;
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

/// Writes a file with what `write` gives.
pub fn write_whole(
    path: &Path,
    force: bool,
    interrupt: &Interrupt,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), String> {
    let temporary = temporary(path);
    interrupt.begin(&temporary);
    let written = write_and_rename(path, &temporary, force, write);
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    interrupt.finish(&temporary);
    written
}

/// Writes a file with this text.
pub fn write_text(path: &Path, force: bool, interrupt: &Interrupt, text: &str) -> Result<(), String> {
    write_whole(path, force, interrupt, |out| out.write_all(text.as_bytes()))
}

/// The message for a file that cannot be written.
pub fn cannot_write(path: &Path, error: &io::Error) -> String {
    format!("cannot write {}: {error}", path.display())
}

fn temporary(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}.part", std::process::id()))
}

fn write_and_rename(
    path: &Path,
    temporary: &Path,
    force: bool,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), String> {
    let fails = |error: io::Error| cannot_write(path, &error);
    let mut out = BufWriter::new(File::create(temporary).map_err(fails)?);
    write(&mut out).map_err(fails)?;
    out.flush().map_err(fails)?;
    drop(out);
    if !force && path.symlink_metadata().is_ok() && !same(path, temporary).map_err(fails)? {
        let path = path.display();
        return Err(format!("{path} exists and says something else; --force replaces it"));
    }
    fs::rename(temporary, path).map_err(fails)
}

fn same(a: &Path, b: &Path) -> io::Result<bool> {
    let (a, b) = (File::open(a)?, File::open(b)?);
    if a.metadata()?.len() != b.metadata()?.len() {
        return Ok(false);
    }
    let (mut a, mut b) = (BufReader::new(a), BufReader::new(b));
    let (mut left, mut right) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    loop {
        let count = a.read(&mut left)?;
        b.read_exact(&mut right[..count])?;
        if left[..count] != right[..count] {
            return Ok(false);
        }
        if count == 0 {
            return Ok(true);
        }
    }
}
