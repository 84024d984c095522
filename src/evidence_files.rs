//! Writing evidence files, whole or not at all.
//!
//! A file is written under another name in the same folder and then renamed, so nobody ever
//! sees half of it. What exists and says something else is not replaced unless that is asked
//! for. Within one run of the program, files of different inputs get different names.

use crate::input::is_stdin;
use crate::limits::Interrupt;
use evidence::{Certificate, Form, Task, Verdict, write_evidence};
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

/// Where evidence goes, and in which form.
pub struct Store {
    folder: PathBuf,
    form: Form,
    force: bool,
    interrupt: Interrupt,
}

impl Store {
    /// A folder for evidence; it is made if it does not exist.
    pub fn open(folder: &Path, form: Form, force: bool, interrupt: &Interrupt) -> Result<Store, String> {
        fs::create_dir_all(folder).map_err(|error| failure(folder, &error))?;
        Ok(Store { folder: folder.to_path_buf(), form, force, interrupt: interrupt.clone() })
    }

    /// Writes the evidence of a verdict; an unknown has none.
    pub fn write(&self, stem: &str, task: &Task<'_>, verdict: &Verdict) -> Result<Option<PathBuf>, String> {
        let kind = match verdict {
            Verdict::Unknown(_) => return Ok(None),
            Verdict::Unsafe(_) => "trace",
            Verdict::Safe(Certificate::Closed(_)) => "closed",
            Verdict::Safe(Certificate::Gaps(..)) => "gaps",
        };
        let ending = match self.form {
            Form::Text => "txt",
            Form::Json => "json",
        };
        let path = self.folder.join(format!("{stem}.{}.{kind}.{ending}", task.model.name()));
        let temporary =
            self.folder.join(format!(".{stem}.{}.{}.part", task.model.name(), std::process::id()));
        self.interrupt.begin(&temporary);
        let written = self.write_whole(&path, &temporary, task, verdict);
        if written.is_err() {
            let _ = fs::remove_file(&temporary);
        }
        self.interrupt.finish(&temporary);
        written.map(|()| Some(path))
    }

    fn write_whole(
        &self,
        path: &Path,
        temporary: &Path,
        task: &Task<'_>,
        verdict: &Verdict,
    ) -> Result<(), String> {
        let fails = |error: io::Error| failure(path, &error);
        let mut out = BufWriter::new(File::create(temporary).map_err(fails)?);
        write_evidence(task, verdict, self.form, &mut out).map_err(fails)?;
        out.flush().map_err(fails)?;
        drop(out);
        if !self.force && path.symlink_metadata().is_ok() && !same(path, temporary).map_err(fails)? {
            let path = path.display();
            return Err(format!("{path} exists and says something else; --force replaces it"));
        }
        fs::rename(temporary, path).map_err(fails)
    }
}

fn failure(path: &Path, error: &io::Error) -> String {
    format!("cannot write {}: {error}", path.display())
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

/// A name for the evidence of every input: its stem, or its whole path where stems are equal.
pub fn stems(files: &[&Path]) -> Vec<String> {
    let stem = |path: &Path| match path.file_stem() {
        _ if is_stdin(path) => "stdin".to_string(),
        Some(stem) => stem.to_string_lossy().into_owned(),
        None => "program".to_string(),
    };
    let mut counts: HashMap<String, usize> = HashMap::new();
    files.iter().for_each(|path| *counts.entry(stem(path)).or_default() += 1);
    let unique = |path: &&Path| match counts.get(&stem(path)) {
        Some(1) => stem(path),
        _ => path.to_string_lossy().trim_start_matches(['.', '/']).replace(['/', '\\'], "_"),
    };
    files.iter().map(unique).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_stems_are_told_apart_by_their_paths() {
        let paths = ["a/x.fw", "b/x.fw", "y.fw", "-"].map(Path::new);
        assert_eq!(stems(&paths), ["a_x.fw", "b_x.fw", "y", "stdin"]);
    }
}
