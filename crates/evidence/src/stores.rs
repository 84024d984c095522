//! The buffered stores of a run: which step issued each, and which brought it to memory.

use machine::{Configuration, Event, TraceStep};
use program::{Op, Program, VarId};
use std::collections::{BTreeMap, VecDeque};

/// What became of every buffered store; indices are steps of the run.
pub(crate) struct Stores {
    /// The variable, where a step put a store into its thread's buffer.
    pub(crate) buffered: Vec<Option<VarId>>,
    /// The drain of the store that a step issued.
    pub(crate) drain_of: Vec<Option<usize>>,
    /// The store that a step drained.
    pub(crate) store_of: Vec<Option<usize>>,
}

impl Stores {
    /// Reads a run that was replayed; `run(i)` is the configuration before step `i`.
    pub(crate) fn of<'c>(
        program: &Program,
        steps: &[TraceStep],
        run: impl Fn(usize) -> &'c Configuration,
    ) -> Stores {
        let none = || vec![None; steps.len()];
        let mut stores = Stores { buffered: vec![None; steps.len()], drain_of: none(), store_of: none() };
        // Stores of a thread to one variable arrive in order under every model.
        let mut waiting: BTreeMap<_, VecDeque<usize>> = BTreeMap::new();
        for (at, step) in steps.iter().enumerate() {
            match step.event {
                Event::Drain { thread, variable } => {
                    let store = waiting.get_mut(&(thread, variable)).and_then(VecDeque::pop_front);
                    stores.store_of[at] = store;
                    if let Some(store) = store {
                        stores.drain_of[store] = Some(at);
                    }
                }
                Event::Step { thread, edge } => {
                    let entries = |at: usize| run(at).local(thread).stores().count();
                    if let Op::Store(variable, _) = program.thread(thread).edge(edge).op
                        && entries(at + 1) > entries(at)
                    {
                        stores.buffered[at] = Some(variable);
                        waiting.entry((thread, variable)).or_default().push_back(at);
                    }
                }
            }
        }
        stores
    }

    /// Whether a step issued a store that did not reach memory at once.
    pub(crate) fn is_delayed(&self, at: usize) -> bool {
        self.buffered[at].is_some() && self.drain_of[at] != Some(at + 1)
    }
}
