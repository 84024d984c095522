//! The labels at which other threads never stand meanwhile.

use super::say::{SaidFact, listed};
use program::{Loc, Program};

/// With more labels than this, nothing is said about where other threads stand.
const MOST: usize = 64;
/// Of a thread, so many labels are named.
const NAMED: usize = 6;

/// A label of a thread that some execution reaches.
pub(super) struct ReachedLabel {
    pub(super) thread: usize,
    name: String,
    /// Where it is reached.
    pub(super) locs: Vec<Loc>,
}

/// The labels of locations that are reached.
pub(super) fn labels(program: &Program, reached: impl Fn(usize, Loc) -> bool) -> Vec<ReachedLabel> {
    let mut labels: Vec<ReachedLabel> = Vec::new();
    for (at, thread) in program.threads.iter().enumerate() {
        let named = |loc: &Loc| !thread.location(*loc).labels.is_empty();
        for loc in thread.locs().filter(named).filter(|loc| reached(at, *loc)) {
            if labels.len() > MOST {
                return Vec::new();
            }
            for name in &thread.location(loc).labels {
                match labels.iter_mut().find(|label| label.thread == at && label.name == *name) {
                    Some(label) => label.locs.push(loc),
                    None => labels.push(ReachedLabel { thread: at, name: name.clone(), locs: vec![loc] }),
                }
            }
        }
    }
    labels
}

/// Where others are not while a thread stands somewhere, given which labels they were met at.
pub(super) fn absent(
    program: &Program,
    thread: usize,
    labels: &[ReachedLabel],
    met: &[bool],
) -> Vec<SaidFact> {
    let mut facts = Vec::new();
    for (other, automaton) in program.threads.iter().enumerate().filter(|(other, _)| *other != thread) {
        let missed = labels.iter().zip(met).filter(|(label, met)| label.thread == other && !**met);
        let mut names: Vec<String> = missed.map(|(label, _)| label.name.clone()).collect();
        if names.len() > NAMED + 1 {
            let more = format!("{} more labels", names.len() - NAMED);
            names.truncate(NAMED);
            names.push(more);
        }
        if !names.is_empty() {
            facts.push(SaidFact::That(format!("{} is never at {}", automaton.name, listed(&names, "or"))));
        }
    }
    facts
}
