//! Which fence would have prevented a run.
//!
//! The run is tried again with the fence in place: the same steps in the same order, and the fence
//! is passed as soon as it can be. If a step cannot be taken any more, or the end violates nothing,
//! the fence prevents the run. (Other runs may still violate the same: which fences make a program
//! safe is another question, and [`super::place_fences`] answers it.)

use super::candidates::{FencePoint, candidates};
use super::{Costs, Points};
use evidence::{Cause, Task};
use machine::{Buffered, Configuration, Event, Trace};
use program::{EdgeId, Fence, FenceSet, Op, Placement, Point, Program, Strength, ThreadId};

/// The fence that prevents a violating run, as near before the overtaking as there is one: behind
/// the delayed store or one that its thread issued after it. `None` if there is none.
pub fn prevented_by(task: &Task<'_>, trace: &Trace, cause: &Cause) -> Option<FencePoint> {
    let costs = Costs::default();
    let points = candidates(task.program, task.model, Points::Stores, &costs);
    let wanted = if cause.is_load { Fence::Full } else { Fence::Store };
    for strength in [Strength::Fence(wanted), Strength::Fence(Fence::Full)] {
        for at in (cause.issued..=cause.step).rev() {
            let Event::Step { thread, edge } = trace.steps.get(at)?.event else { continue };
            let placed = Placement { thread, point: Point::After(edge), strength };
            let here =
                points.iter().find(|point| thread == cause.thread && point.placements.contains(&placed));
            if let Some(point) = here.filter(|point| prevents(task, trace, point)) {
                return Some(point.clone());
            }
        }
    }
    None
}

fn prevents(task: &Task<'_>, trace: &Trace, point: &FencePoint) -> bool {
    let mut set = FenceSet::new();
    for placement in &point.placements {
        set.insert(*placement);
    }
    let (program, edges) = set.apply_with_map(task.program);
    let machine = Buffered::exact(&program, task.model).with_dead_registers();
    let retry = Retry { program: &program, machine, edges: &edges };
    retry.end(trace).is_none_or(|end| end.violations(&program).all(|violation| violation != trace.violation))
}

/// A run of a program, tried with fences in it.
struct Retry<'a> {
    program: &'a Program,
    machine: Buffered<'a>,
    /// For every thread, the numbers its edges have now.
    edges: &'a [Vec<EdgeId>],
}

impl Retry<'_> {
    /// Where the run ends; `None` if a step cannot be taken.
    fn end(&self, trace: &Trace) -> Option<Configuration> {
        let mut at = Configuration::initial(&self.machine, &trace.initial)?;
        for step in &trace.steps {
            let event = match step.event {
                Event::Step { thread, edge } => {
                    Event::Step { thread, edge: self.edges[thread.index()][edge.index()] }
                }
                drain => drain,
            };
            at = self.pass_fences(at.take(&self.machine, event, step.choice.as_ref())?);
        }
        Some(at)
    }

    /// Passes the new fences that can be passed.
    fn pass_fences(&self, mut at: Configuration) -> Configuration {
        for thread in self.program.thread_ids() {
            while let Some(next) = self.pass_fence(&at, thread) {
                at = next;
            }
        }
        at
    }

    fn pass_fence(&self, at: &Configuration, thread: ThreadId) -> Option<Configuration> {
        let mut leaving = self.program.thread(thread).outgoing(at.local(thread).loc);
        let (edge, _) = leaving
            .find(|(id, edge)| matches!(edge.op, Op::Fence(_)) && !self.edges[thread.index()].contains(id))?;
        at.take(&self.machine, Event::Step { thread, edge }, None)
    }
}
