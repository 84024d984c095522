//! The book (`docs/`) and the README tell the truth: what they show is run, what they name exists.
//!
//! In a block marked `console`, a line that starts with `$ ` is a command and the lines below it
//! are what it prints. All commands of a page are run in order by a shell, in a folder of the
//! page's own that holds a copy of `corpus/` and the blocks that carry a name
//! (` ```fw,file=NAME `). In expected output, `…` stands for anything within a line (times and
//! memory), and a line that is only `…` for any number of lines. A command ends with 0, 1 or 3
//! as it likes; one that ends otherwise needs a block marked `console,fails`. Commands of other
//! programs, such as z3, are run where those are installed.
//!
//! With `FENCEWRIGHT_BLESS=1` what is printed becomes what is expected, where it differs.

mod console;
mod links;
mod markdown;
mod options;
use crate::cli::tool;

use markdown::Page;
use std::path::{Path, PathBuf};

/// The folder of the project.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The README and all pages under docs, the table of contents too.
fn pages() -> Vec<Page> {
    let mut paths = vec![root().join("README.md")];
    collect(&root().join("docs"), &mut paths);
    paths[1..].sort();
    assert!(paths.len() > 10, "the pages were not found");
    paths.into_iter().map(Page::read).collect()
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("the folder can be read") {
        let path = entry.expect("it can be read").path();
        if path.is_dir() {
            collect(&path, paths);
        } else if path.extension().is_some_and(|ending| ending == "md") {
            paths.push(path);
        }
    }
}

/// Fails with all complaints, if there are any.
fn none(complaints: Vec<String>) {
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}
