//! The files of a witness: what `check` reads, and pictures of its happens-before.

use crate::evidence_files::Store;
use crate::report::{Told, dot, sentence, svg};
use evidence::CheckedWitness;
use program::Program;
use std::path::{Path, PathBuf};

/// Writes a witness about a program; the file for `check` comes first.
pub fn write_witness(
    store: &Store,
    name: &str,
    file: &str,
    program: &Program,
    checked: &CheckedWitness,
) -> Result<Vec<PathBuf>, String> {
    let told = Told::new(program, checked);
    let picture = told.picture();
    // The name without the path, so that the same program gives the same files from anywhere.
    let file = Path::new(file).file_name().unwrap_or_default().to_string_lossy();
    let title = format!("{file} is not robust against TSO: {}", sentence(&told));
    Ok(vec![
        store.write_witness(name, program, checked.witness())?,
        store.write_text(&format!("{name}.witness.dot"), &dot(&picture, &title))?,
        store.write_text(&format!("{name}.witness.svg"), &svg(&picture, &title))?,
    ])
}
