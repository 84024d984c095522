//! Witnesses that a program is not robust, as people and scripts are told about them.
//!
//! A witness runs as under SC up to the delayed store; then its thread goes on up to the load,
//! the others act in a chain, and the store arrives [004, Fig. 3.4]. Its happens-before has a
//! cycle through the store and the load. [`Told`] knows what text, JSON and pictures share:
//! the part that every step plays, and the cycle without steps that only stand in between.

mod dot;
mod picture;
mod svg;
mod text;

pub use dot::dot;
pub use picture::Picture;
pub use svg::svg;
pub use text::{cycle, drawn, sentence};

use super::steps::{Effect, Step, describe_all};
use evidence::{CheckedWitness, Link, Witness};
use program::{Program, ThreadId, VarId};

/// The part that a step plays in a witness, in the order of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
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

impl Part {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Part::Before => "before",
            Part::Store => "store",
            Part::Delay => "delay",
            Part::Load => "load",
            Part::Chain => "chain",
            Part::Drain => "drain",
        }
    }
}

/// A link of happens-before, as papers abbreviate it.
pub fn abbreviation(link: Link) -> &'static str {
    match link {
        Link::Program => "po",
        Link::ReadsFrom => "rf",
        Link::StoreOrder => "co",
        Link::FromRead => "fr",
    }
}

/// A witness with its steps described.
pub struct Told<'a> {
    /// The program.
    pub program: &'a Program,
    /// The witness.
    pub checked: &'a CheckedWitness,
    /// Its steps.
    pub steps: Vec<Step>,
    /// By node, its steps, drains left out.
    members: Vec<Vec<usize>>,
}

impl<'a> Told<'a> {
    /// Describes a witness.
    pub fn new(program: &'a Program, checked: &'a CheckedWitness) -> Told<'a> {
        let steps = describe_all(program, &checked.witness().steps, checked.run());
        let mut members = vec![Vec::new(); steps.len()];
        for (at, _) in steps.iter().enumerate().filter(|(_, step)| step.edge.is_some()) {
            members[checked.graph().node(at)].push(at);
        }
        Told { program, checked, steps, members }
    }

    fn witness(&self) -> &'a Witness {
        self.checked.witness()
    }

    /// The thread that delays its store.
    pub fn attacker(&self) -> ThreadId {
        self.steps[self.witness().store].thread
    }

    /// The name of a thread.
    pub fn thread(&self, thread: ThreadId) -> &'a str {
        &self.program.thread(thread).name
    }

    fn variable(&self, variable: VarId) -> &'a str {
        &self.program.variable(variable).name
    }

    /// The part that a step plays.
    pub fn part(&self, step: usize) -> Part {
        let Witness { store, load, drain, .. } = *self.witness();
        match step {
            _ if step < store => Part::Before,
            _ if step == store => Part::Store,
            _ if step < load => Part::Delay,
            _ if step == load => Part::Load,
            _ if step < drain => Part::Chain,
            _ => Part::Drain,
        }
    }

    /// The cycle: nodes with how they are linked to the next, the last to the first. Steps that
    /// are linked to both neighbours by program order are left out.
    pub fn cycle(&self) -> Vec<(usize, Link)> {
        let whole = self.checked.cycle();
        let between = |at: usize| {
            // The load stays, for it is what the store is delayed past.
            at > 1 && whole[at].1 == Link::Program && whole[at - 1].1 == Link::Program
        };
        (0..whole.len()).filter(|at| !between(*at)).map(|at| whole[at]).collect()
    }

    /// What a node does to shared variables, in words.
    pub fn accesses(&self, node: usize) -> Vec<String> {
        let effects = self.members[node].iter().flat_map(|at| &self.steps[*at].effects);
        effects.filter_map(|effect| self.access(effect)).collect()
    }

    fn access(&self, effect: &Effect) -> Option<String> {
        match effect {
            Effect::Load(variable, value, _) => Some(format!("reads {} = {value}", self.variable(*variable))),
            Effect::Store(variable, value, _) => {
                Some(format!("stores {} = {value}", self.variable(*variable)))
            }
            Effect::Drain(..) | Effect::Assign(..) | Effect::Choose(..) => None,
        }
    }

    /// A statement with its line: "`x = 1` (line 8)".
    pub fn place(&self, step: usize) -> String {
        let Step { text, line, .. } = &self.steps[step];
        let line = line.map(|line| format!(" (line {line})")).unwrap_or_default();
        format!("`{text}`{line}")
    }
}
