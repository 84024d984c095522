//! What tests of several areas share: the programs of the corpus and what is expected of them, the public corpora,
//! random programs, and the independent interpreter of every model.

// Its readers are the tests beside it.
#![allow(missing_docs)]

pub mod corpus;
pub mod models;
pub mod random;
pub mod texts;

use std::path::{Path, PathBuf};

/// The folder that everything stands in.
pub fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// A folder of public programs with known verdicts, where it is there: beside the repository, or where
/// `FENCEWRIGHT_CORPORA` says.
pub fn corpora(name: &str) -> Option<PathBuf> {
    let beside = || root().join("../shared/corpora");
    let folder = std::env::var_os("FENCEWRIGHT_CORPORA").map_or_else(beside, PathBuf::from).join(name);
    let there = folder.is_dir();
    if !there {
        eprintln!("skipped: no corpus at {}", folder.display());
    }
    there.then_some(folder)
}
