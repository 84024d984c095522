//! Leaving out steps.
//!
//! What a thread does can be left out from a step on to its end, or between two visits of one
//! location; what all threads do together between two moments at which each stands where it
//! stood. Large pieces are tried first, then halves of them. A drain goes with its store. Whether
//! what is left still violates the same is for the machine to say.

use super::Draft;
use machine::{Configuration, Event, Local, TraceStep};
use program::ThreadId;
use std::collections::{BTreeSet, HashMap};

/// Leaves out what is not needed.
pub(super) fn delete(draft: &mut Draft<'_>) {
    common_loops(draft);
    for thread in draft.task.program.thread_ids() {
        ends(draft, thread);
    }
    for thread in draft.task.program.thread_ids() {
        loops(draft, thread);
    }
}

/// Cuts between two moments at which all threads stand at the same places with equal buffers.
fn common_loops(draft: &mut Draft<'_>) {
    let mut controls = controls(draft);
    let mut from = 0;
    while from < draft.steps.len() && draft.pay() {
        let visits: Vec<usize> =
            (from + 1..controls.len()).filter(|at| controls[*at] == controls[from]).collect();
        let found = halving(&visits, |at| {
            let steps = draft.steps[..from].iter().chain(&draft.steps[at..]);
            draft.adopt(steps.cloned().collect())
        });
        match found {
            Some(at) => drop(controls.drain(from..at)),
            None => from += 1,
        }
    }
}

/// The control at every moment, as numbers.
fn controls(draft: &Draft<'_>) -> Vec<usize> {
    let mut numbers = HashMap::new();
    let mut control = |at: &Configuration| {
        let locals: Vec<Local> = draft.task.program.thread_ids().map(|t| at.local(t).clone()).collect();
        let next = numbers.len();
        *numbers.entry((at.holder(), locals)).or_insert(next)
    };
    draft.passed.iter().map(&mut control).collect()
}

/// Ends a thread earlier.
fn ends(draft: &mut Draft<'_>, thread: ThreadId) {
    let mut length = own_steps(draft, thread).len();
    while length > 0 {
        let own = own_steps(draft, thread);
        length = length.min(own.len());
        let end = own[own.len() - length..].to_vec();
        if !without(draft, &end) {
            length /= 2;
        }
    }
}

/// Leaves out what a thread does between two visits of a location.
fn loops(draft: &mut Draft<'_>, thread: ThreadId) {
    let mut from = 0;
    let mut own = own_steps(draft, thread);
    while from < own.len() && draft.pay() {
        let loc = |at: usize| draft.passed[at].local(thread).loc;
        let here = loc(own[from]);
        let mut visits: Vec<usize> = (from + 1..own.len()).filter(|at| loc(own[*at]) == here).collect();
        if loc(draft.steps.len()) == here {
            visits.push(own.len());
        }
        match halving(&visits, |to| without(draft, &own[from..to])) {
            Some(_) => own = own_steps(draft, thread),
            None => from += 1,
        }
    }
}

/// Tries the last, then the middle one, and so on down to the first; the one that will do.
fn halving(candidates: &[usize], mut attempt: impl FnMut(usize) -> bool) -> Option<usize> {
    let mut count = candidates.len();
    while count > 0 {
        if attempt(candidates[count - 1]) {
            return Some(candidates[count - 1]);
        }
        count /= 2;
    }
    None
}

fn own_steps(draft: &Draft<'_>, thread: ThreadId) -> Vec<usize> {
    let own = |at: &usize| matches!(draft.steps[*at].event, Event::Step { thread: t, .. } if t == thread);
    (0..draft.steps.len()).filter(own).collect()
}

/// Leaves out steps with the drains of their stores.
fn without(draft: &mut Draft<'_>, gone: &[usize]) -> bool {
    let drains = gone.iter().filter_map(|at| draft.replayed[*at].drain);
    let gone: BTreeSet<usize> = gone.iter().copied().chain(drains).collect();
    let kept = draft.steps.iter().enumerate().filter(|(at, _)| !gone.contains(at));
    let steps: Vec<TraceStep> = kept.map(|(_, step)| step.clone()).collect();
    draft.adopt(steps)
}
