//! Runs of at most k contexts, with the queues of the interpreter: in a context all steps and drains are those of one
//! thread. Every configuration is kept with the thread that was active last and with how many contexts
//! it took; nothing is guessed and nothing is left out but what the limits say.

use crate::{
    Config, Reached, ReferenceLimits, ReferenceModel, ReferenceStep, initial, successors, violations,
};
use program::{Program, ThreadId};
use std::collections::{BTreeSet, VecDeque};

/// All configurations of runs of at most so many contexts, within the limits.
pub fn explore_contexts(
    program: &Program,
    model: ReferenceModel,
    contexts: usize,
    limits: &ReferenceLimits,
) -> Reached {
    let mut reached = Reached::default();
    let mut seen: BTreeSet<(Option<ThreadId>, usize, Config)> = BTreeSet::new();
    let mut waiting: VecDeque<_> =
        initial(program, model, &limits.candidates).into_iter().map(|config| (None, 0, config)).collect();
    while let Some(at) = waiting.pop_front() {
        if at.2.longest_queue() > limits.queue {
            reached.cap_hit = true;
        } else if seen.contains(&at) {
            // Met before.
        } else if seen.len() >= limits.configs {
            reached.truncated = true;
        } else {
            let (active, begun, config) = &at;
            for (step, next) in successors(program, model, config, &limits.candidates) {
                let thread = match step {
                    ReferenceStep::Edge { thread, .. } | ReferenceStep::Drain { thread, .. } => thread,
                };
                let begun = begun + usize::from(*active != Some(thread));
                if begun <= contexts {
                    waiting.push_back((Some(thread), begun, next));
                }
            }
            reached.violations.extend(violations(program, config));
            reached.configs.insert(config.clone());
            seen.insert(at);
        }
    }
    reached
}
