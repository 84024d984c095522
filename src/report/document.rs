//! Reports that are one document for all answers.
//!
//! Files are worked on in parallel and their answers arrive one after the other, but SARIF and JUnit want a
//! single document with everything in it. Such a report turns each answer into *notes*: lines
//! of JSON, in a form that only it knows. The console keeps them, and when the command has ended
//! the report makes the document of all notes.

use super::Printed;
use crate::exit::Exit;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// How a command ended.
pub struct Ending<'a> {
    /// With which code.
    pub exit: Exit,
    /// Why it did not do its work, if it did not.
    pub trouble: Option<&'a str>,
}

/// Makes a document of all notes.
pub type Assemble = fn(&str, &Ending<'_>) -> String;

/// Notes, to be kept for the document.
pub fn notes<T: Serialize>(notes: &[T]) -> Printed {
    // What cannot be written has keys that are no strings, and there is none.
    let line = |note| serde_json::to_string(note).unwrap_or_default() + "\n";
    Printed::out(notes.iter().map(line).collect())
}

/// The notes that were kept.
pub fn read_notes<T: DeserializeOwned>(text: &str) -> Vec<T> {
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// A text without colours.
pub fn plain(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}
