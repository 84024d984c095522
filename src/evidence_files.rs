//! Where evidence files go and what they are called. Within one run of the program, files of
//! different inputs get different names.

use crate::input::is_stdin;
use crate::limits::Interrupt;
use crate::whole_file::{cannot_write, write_whole};
use evidence::{
    Certificate, CheckedOutcomes, Form, Outcomes, RobustProof, Task, Verdict, Witness, write_evidence,
    write_outcomes, write_robust, write_witness,
};
use program::Program;
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

    /// Writes the evidence of a verdict; an unknown has none.
    pub fn write(&self, stem: &str, task: &Task<'_>, verdict: &Verdict) -> Result<Option<PathBuf>, String> {
        self.write_as(&format!("{stem}.{}", task.model.name()), task, verdict)
    }

    /// As [`Store::write`], under a name that says which model.
    pub fn write_as(
        &self,
        name: &str,
        task: &Task<'_>,
        verdict: &Verdict,
    ) -> Result<Option<PathBuf>, String> {
        let kind = match verdict {
            Verdict::Unknown(_) => return Ok(None),
            Verdict::Unsafe(_) => "trace",
            Verdict::Safe(Certificate::Closed(_)) => "closed",
            Verdict::Safe(Certificate::Gaps(..)) => "gaps",
            Verdict::Safe(Certificate::Cubes(_)) => "cubes",
            Verdict::Safe(Certificate::Robust { .. }) => "robust-set",
        };
        let path = self.folder.join(format!("{name}.{kind}.{}", self.ending()));
        let write = |out: &mut dyn Write| write_evidence(task, verdict, self.form, out);
        write_whole(&path, self.force, &self.interrupt, write).map(|()| Some(path))
    }

    fn ending(&self) -> &'static str {
        match self.form {
            Form::Text => "txt",
            Form::Json => "json",
        }
    }

    /// Writes a witness that a program is not robust.
    pub fn write_witness(&self, name: &str, program: &Program, witness: &Witness) -> Result<PathBuf, String> {
        let path = self.folder.join(format!("{name}.witness.{}", self.ending()));
        let write = |out: &mut dyn Write| write_witness(program, witness, self.form, out);
        write_whole(&path, self.force, &self.interrupt, write).map(|()| path)
    }

    /// Writes a proof that a program is robust.
    pub fn write_robust(
        &self,
        name: &str,
        program: &Program,
        proof: &RobustProof,
    ) -> Result<PathBuf, String> {
        let path = self.folder.join(format!("{name}.robust.{}", self.ending()));
        let write = |out: &mut dyn Write| write_robust(program, proof, self.form, out);
        write_whole(&path, self.force, &self.interrupt, write).map(|()| path)
    }

    /// Writes all final states of a litmus test; where some may be missing there is nothing to write.
    pub fn write_outcomes(
        &self,
        stem: &str,
        task: &Task<'_>,
        found: &CheckedOutcomes,
        outcomes: &Outcomes,
    ) -> Result<Option<PathBuf>, String> {
        let (Outcomes::All(proof), true) = (outcomes, found.missing().is_empty()) else { return Ok(None) };
        let name = format!("{stem}.{}.outcomes.{}", task.model.name(), self.ending());
        let path = self.folder.join(name);
        let write = |out: &mut dyn Write| write_outcomes(task, found, proof, self.form, out);
        write_whole(&path, self.force, &self.interrupt, write).map(|()| Some(path))
    }

    /// Writes a program that evidence speaks of.
    pub fn write_program(&self, name: &str, text: &str) -> Result<PathBuf, String> {
        self.write_text(&format!("{name}.fw"), text)
    }

    /// Writes a text under this name.
    pub fn write_text(&self, name: &str, text: &str) -> Result<PathBuf, String> {
        let path = self.folder.join(name);
        let write = |out: &mut dyn Write| out.write_all(text.as_bytes());
        write_whole(&path, self.force, &self.interrupt, write).map(|()| path)
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
