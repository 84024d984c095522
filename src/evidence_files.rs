//! Where evidence files go and what they are called. Within one run of the program, files of
//! different inputs get different names.

use crate::input::is_stdin;
use crate::limits::Interrupt;
use crate::report;
use crate::whole_file::{cannot_write, write_text, write_whole};
use evidence::{Checked, Form, Goal, Task, Violated, write_evidence};
use std::collections::HashMap;
use std::fs;
use std::io::Write;
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
        fs::create_dir_all(folder).map_err(|error| cannot_write(folder, &error))?;
        Ok(Store { folder: folder.to_path_buf(), form, force, interrupt: interrupt.clone() })
    }

    /// Writes the evidence of a verdict about a file: what `check` reads, and for a witness pictures
    /// of its happens-before behind it. An unknown has no evidence, and under SC nothing needs proof
    /// that a program is robust.
    pub fn write(
        &self,
        name: &str,
        file: &str,
        task: &Task<'_>,
        checked: &Checked,
    ) -> Result<Vec<PathBuf>, String> {
        // Against SC there is nothing to prove.
        let against_sc = task.goal == Goal::Robust && task.model.is_sc();
        let Some(kind) = checked.verdict().file_word().filter(|_| !against_sc) else { return Ok(Vec::new()) };
        let ending = match self.form {
            Form::Text => "txt",
            Form::Json => "json",
        };
        let part = checked.verdict().part().map_or(String::new(), |(at, of)| format!("{}-of-{of}.", at + 1));
        let path = self.folder.join(format!("{name}.{kind}.{part}{ending}"));
        let write = |out: &mut dyn Write| write_evidence(task, checked.verdict(), self.form, out);
        write_whole(&path, self.force, &self.interrupt, write)?;
        let mut files = vec![path];
        if let Some(witness) = checked.witness() {
            let told = report::ToldWitness::new(task.program, witness);
            let picture = told.picture();
            // The name without the path, so that the same program gives the same files from anywhere.
            let file = Path::new(file).file_name().unwrap_or_default().to_string_lossy();
            let model = task.model.name().to_uppercase();
            let title = format!("{file} is not robust against {model}: {}", report::sentence(&told));
            files.push(self.write_text(&format!("{name}.witness.dot"), &report::dot(&picture, &title))?);
            files.push(self.write_text(&format!("{name}.witness.svg"), &report::svg(&picture, &title))?);
        }
        Ok(files)
    }

    /// Draws the happens-before of a run, if there is something to see.
    pub fn draw(
        &self,
        name: &str,
        title: &str,
        task: &Task<'_>,
        violated: Violated<'_>,
    ) -> Result<(), String> {
        if let Some(picture) = report::run_picture(&report::ShownRun::of(task, violated)) {
            self.write_text(&format!("{name}.svg"), &report::svg(&picture, title))?;
        }
        Ok(())
    }

    /// Writes a text under this name.
    pub fn write_text(&self, name: &str, text: &str) -> Result<PathBuf, String> {
        let path = self.folder.join(name);
        write_text(&path, self.force, &self.interrupt, text).map(|()| path)
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
