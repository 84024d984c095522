//! Witnesses that a program is not robust, as people and scripts are told about them.
//!
//! A witness runs as under SC up to the delayed store; then its thread goes on up to the load,
//! the others act in a chain, and the store arrives [004, Fig. 3.4]. Its happens-before has a
//! cycle through the store and the load. [`ToldWitness`] knows what text, JSON and pictures share:
//! the part that every step plays, beside the steps and their happens-before.

mod text;

pub use text::{cycle, drawn, sentence};

use super::happens_before::{Picture, Related};
use super::steps::ShownStep;
use evidence::{CheckedWitness, Witness};
use program::{Program, ThreadId, VarId};

/// The part that a step plays in a witness, in the order of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WitnessRole {
    /// Before anything is delayed.
    Before,
    /// Issues the store that is delayed.
    Store,
    /// Between the store and the load.
    Delay,
    /// Loads what the store is delayed past.
    Load,
    /// One of the steps that lead from the load to the arrival of the store.
    Chain,
    /// The arrival of the store, and of what was stored behind it.
    Drain,
}

impl WitnessRole {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            WitnessRole::Before => "before",
            WitnessRole::Store => "store",
            WitnessRole::Delay => "delay",
            WitnessRole::Load => "load",
            WitnessRole::Chain => "chain",
            WitnessRole::Drain => "drain",
        }
    }
}

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
        let Witness { store, load, .. } = *checked.witness();
        // The load stays in the cycle, for it is what the store is delayed past.
        let stay = [store, checked.graph().node(load)];
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

    /// The part that a step plays.
    pub fn part(&self, step: usize) -> WitnessRole {
        let Witness { store, load, drain, .. } = *self.witness();
        match step {
            _ if step < store => WitnessRole::Before,
            _ if step == store => WitnessRole::Store,
            _ if step < load => WitnessRole::Delay,
            _ if step == load => WitnessRole::Load,
            _ if step < drain => WitnessRole::Chain,
            _ => WitnessRole::Drain,
        }
    }

    /// Its happens-before, ready to be drawn.
    pub fn picture(&self) -> Picture {
        let Witness { store, load, .. } = *self.witness();
        let load = self.checked.graph().node(load);
        self.related.picture(usize::MAX, &|node| match node {
            node if node == store => Some("delayed store"),
            node if node == load => Some("load it is delayed past"),
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
