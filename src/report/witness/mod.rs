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

/// The part that a step plays in a witness, in the order of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WitnessRole {
    /// Before anything is delayed.
    Before,
    /// Issues the store that is delayed.
    Store,
    /// Between the store and its overtaker.
    Delay,
    /// The load that the store is delayed past.
    Load,
    /// Another store that it is delayed past.
    Overtakes,
    /// One of the steps that lead from the overtaker to the arrival of the store.
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
            WitnessRole::Overtakes => "overtakes",
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

    /// The part that a step plays.
    pub fn part(&self, step: usize) -> WitnessRole {
        let Witness { store, overtaker, drain, .. } = *self.witness();
        match step {
            _ if step < store => WitnessRole::Before,
            _ if step == store => WitnessRole::Store,
            _ if step < overtaker => WitnessRole::Delay,
            _ if step == overtaker && self.overtaken_by_store() => WitnessRole::Overtakes,
            _ if step == overtaker => WitnessRole::Load,
            _ if step < drain => WitnessRole::Chain,
            _ => WitnessRole::Drain,
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
