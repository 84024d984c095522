//! Witnesses that a program is not robust, as people and scripts are told about them.
//!
//! A witness runs as under SC up to the delayed store; then its thread goes on up to the load, or the other store, that
//! overtakes it, the others act in a chain, and the store arrives [004, Fig. 3.4]. Its happens-before has a
//! cycle through the store and the overtaker. [`ToldWitness`] knows what text, JSON and pictures share:
//! the part that every step plays, beside the steps and their happens-before.

mod text;

pub use text::{cycle, drawn, sentence};

use super::happens_before::{Picture, Related};
use super::steps::ShownStep;
use evidence::{CheckedWitness, Witness};
use program::{Program, ThreadId, VarId};

/// The part of steps at which delayed stores arrive.
const ARRIVAL: &str = "drain";

/// A witness with its steps described.
pub struct ToldWitness<'a> {
    /// The witness.
    pub checked: &'a CheckedWitness,
    /// Its steps and their happens-before.
    pub related: Related<'a>,
}

impl<'a> ToldWitness<'a> {
    /// Describes a witness.
    pub fn new(program: &'a Program, checked: &'a CheckedWitness) -> ToldWitness<'a> {
        let Witness { store, overtaker, .. } = *checked.witness();
        // What the store is delayed past stays in the cycle.
        let stay = [store, checked.graph().node(overtaker)];
        let related = Related::new(program, checked.account(), checked.graph(), checked.cycle(), &stay);
        ToldWitness { checked, related }
    }

    fn witness(&self) -> &'a Witness {
        self.checked.witness()
    }

    /// Its steps.
    pub fn steps(&self) -> &[ShownStep<'a>] {
        &self.related.steps
    }

    /// The thread that delays its store.
    pub fn attacker(&self) -> ThreadId {
        self.steps()[self.witness().store].thread
    }

    /// The name of a thread.
    pub fn thread(&self, thread: ThreadId) -> &'a str {
        &self.related.program.thread(thread).name
    }

    fn variable(&self, variable: VarId) -> &'a str {
        &self.related.program.variable(variable).name
    }

    /// The part that a step plays, in a word.
    pub fn part(&self, step: usize) -> &'static str {
        let Witness { store, overtaker, drain, .. } = *self.witness();
        match step {
            // Nothing is delayed yet.
            _ if step < store => "before",
            // Issues the store that is delayed.
            _ if step == store => "store",
            _ if step < overtaker => "delay",
            // What the store is delayed past.
            _ if step == overtaker && self.overtaken_by_store() => "overtakes",
            _ if step == overtaker => "load",
            // The steps that lead from the overtaker to the arrival of the store.
            _ if step < drain => "chain",
            // The arrival of the store, and of what was stored behind it.
            _ => ARRIVAL,
        }
    }

    /// Whether it is a store that overtakes the delayed one, not a load.
    fn overtaken_by_store(&self) -> bool {
        self.checked.account().steps()[self.witness().overtaker].buffered().is_some()
    }

    /// Its happens-before, ready to be drawn.
    pub fn picture(&self) -> Picture {
        let Witness { store, overtaker, .. } = *self.witness();
        let by_store = self.overtaken_by_store();
        let past = if by_store { "store it is delayed past" } else { "load it is delayed past" };
        let overtaker = self.checked.graph().node(overtaker);
        self.related.picture(usize::MAX, &|node| match node {
            node if node == store => Some("delayed store"),
            node if node == overtaker => Some(past),
            _ => None,
        })
    }

    /// A statement with its line: "`x = 1` (line 8)".
    pub fn place(&self, step: usize) -> String {
        let ShownStep { text, line, .. } = &self.steps()[step];
        let line = line.map(|line| format!(" (line {line})")).unwrap_or_default();
        format!("`{text}`{line}")
    }
}
