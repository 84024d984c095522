//! The file of an HTML report.
//!
//! An older report of ours may be replaced; what else has that name is not, unless that is
//! asked for. Both are found out before the work begins and once more before writing.

use crate::limits::Interrupt;
use crate::report::BEGINNING;
use crate::whole_file::{cannot_write, write_text};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Where a report goes.
pub struct HtmlFile {
    path: PathBuf,
    force: bool,
    interrupt: Interrupt,
}

impl HtmlFile {
    /// The file; fails if it could not be written later.
    pub fn open(path: &Path, force: bool, interrupt: &Interrupt) -> Result<HtmlFile, String> {
        let file = HtmlFile { path: path.to_path_buf(), force, interrupt: interrupt.clone() };
        file.is_free()?;
        Ok(file)
    }

    /// Writes the report and says so on standard error, unless nothing but answers is wanted.
    pub fn write(&self, text: &str, quiet: bool) -> Result<(), String> {
        self.is_free()?;
        write_text(&self.path, true, &self.interrupt, text)?;
        if !quiet {
            anstream::eprintln!("report: {}", self.path.display());
        }
        Ok(())
    }

    fn is_free(&self) -> Result<(), String> {
        let path = &self.path;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        if path.is_dir() || path.file_name().is_none() {
            return Err(format!("cannot write {}: this is a folder", path.display()));
        }
        if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
            let error = io::Error::new(io::ErrorKind::NotFound, "there is no such folder");
            return Err(cannot_write(&folder.join(path.file_name().unwrap_or_default()), &error));
        }
        if self.force || path.symlink_metadata().is_err() || is_ours(path) {
            return Ok(());
        }
        Err(format!("{} exists and is no report of ours; --force replaces it", path.display()))
    }
}

/// Whether a file is a report.
fn is_ours(path: &Path) -> bool {
    let mut start = vec![0; BEGINNING.len()];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && start == BEGINNING.as_bytes()
}
