//! From runs of bounded contexts to runs of the memory model: the queues are rebuilt.
//!
//! Every store is put into its thread's queue with the turn in which it leaves. When that turn begins,
//! everything that is due drains, in the order in which it was issued; a store of this very turn drains at once.

use super::{Contexts, NEVER, Planned};
use crate::{Event, TraceStep};
use program::{Int, ThreadId, VarId};

/// A step of a run of bounded contexts.
pub struct ContextStep<'a> {
    /// What happens.
    pub event: Event,
    /// The value chosen, if the step chooses one.
    pub choice: Option<i64>,
    /// The thread's control afterwards.
    pub local: &'a Planned,
}

/// The buffer of a thread.
#[derive(Clone, Default)]
struct Unfolded {
    /// How many turns it has had.
    turns: usize,
    /// The stores on their way, oldest first, each with the turn in which it leaves, if it does.
    queue: Vec<(VarId, Option<usize>)>,
}

impl Contexts<'_> {
    /// The run of the memory model that does the same.
    pub fn unfold<'a>(&self, steps: impl IntoIterator<Item = ContextStep<'a>>) -> Vec<TraceStep> {
        let mut buffers = vec![Unfolded::default(); self.program.threads.len()];
        let mut active = None;
        let mut trace = Vec::new();
        for step in steps {
            let thread = step.event.thread();
            let buffer = &mut buffers[thread.index()];
            if active.replace(thread) != Some(thread) {
                buffer.begin_turn(thread, &mut trace);
            }
            if let Event::Step { edge, .. } = step.event {
                trace.push(TraceStep::of(self.program, step.event, step.choice));
                let edge = self.program.thread(thread).edge(edge);
                let delayed = self.program.thread(thread).delayed_store(edge);
                if let Some(variable) = delayed.filter(|_| self.model.buffers()) {
                    buffer.store(thread, variable, step.local, &mut trace);
                }
            }
        }
        trace
    }
}

impl Unfolded {
    fn begin_turn(&mut self, thread: ThreadId, trace: &mut Vec<TraceStep>) {
        self.turns += 1;
        let turns = self.turns;
        self.queue.retain(|(variable, due)| {
            let leaves = due.is_some_and(|due| due <= turns);
            if leaves {
                trace.push(drain(thread, *variable));
            }
            !leaves
        });
    }

    /// The newest store to a variable has the latest turn.
    fn store(&mut self, thread: ThreadId, variable: VarId, local: &Planned, trace: &mut Vec<TraceStep>) {
        match local.leaving.iter().rev().find(|(v, _)| *v == variable) {
            None => trace.push(drain(thread, variable)),
            Some((_, NEVER)) => self.queue.push((variable, None)),
            Some((_, turn)) => self.queue.push((variable, Some(self.turns + usize::from(*turn)))),
        }
    }
}

fn drain(thread: ThreadId, variable: VarId) -> TraceStep {
    TraceStep { event: Event::Drain { thread, variable }, choice: None::<Int> }
}
