//! Seed 004, ch. 5: lazy TSO reachability (Fig. 5.1 and the three families), robustness with
//! its fences (Fig. 5.9), and reductions (Fig. 5.11, 5.13 and 5.14).
//!
//! The published times are those of Trencher, measured on other machines ten years ago; what
//! can be compared is how they grow. Programs are Trencher's own, read from its folder and given
//! the thesis' threads and goals ([`variants`]); a program whose threads, control states and
//! transitions are not those of the figure is not shown beside it. Our own programs are in
//! tables of their own.

mod lazy;
mod reductions;
mod robust;
mod variants;

pub use lazy::LAZY;
pub use reductions::REDUCTIONS;
pub use robust::ROBUST;

use super::{Bencher, CorpusFile, corpus};
use crate::report::BenchTable;
use program::Program;
use variants::{LineEdit, Size, edited, size};

const LAMPORT: CorpusFile = corpus!("lamport_fast");

/// A program of the thesis: what it is called, Trencher's file, what is different in it, and its
/// threads, control states, transitions and, if the figure has them, queries.
struct Published {
    name: &'static str,
    file: &'static str,
    edits: &'static [LineEdit],
    size: [usize; 3],
    pairs: Option<usize>,
}

impl Published {
    /// The program, unless it is not there or not the one of the figure; then the table says so.
    fn program(&self, bencher: &Bencher<'_>, table: &mut BenchTable) -> Result<Option<Program>, String> {
        let Published { name, file, .. } = self;
        let Some(text) = bencher.foreign(&format!("trencher/{file}")) else {
            table.notes.push(format!("{name} is left out: there is no {file} in the folder --corpora."));
            return Ok(None);
        };
        let text = edited(&text, self.edits).map_err(|why| format!("{file}: {why}"))?;
        let Size { threads, states, transitions, pairs } = size(&text);
        if [threads, states, transitions] != self.size || self.pairs.is_some_and(|known| known != pairs) {
            table.notes.push(format!("{name} is left out: {file} is not the program of the figure."));
            return Ok(None);
        }
        bencher.parse(file, &text, Vec::new()).map(Some)
    }
}
