//! Which fence would have prevented a run.
//!
//! The same run with a fence in it is the same steps in the same order, the fence passed as soon as
//! it can be. It is impossible if the fence stops its thread ([`super::clause`]); or if a thread
//! that the fence keeps back at the end has to stand behind it for the violation. (Other
//! runs may still violate the same: which fences make a program safe is another question, and
//! [`super::place_fences`] answers it.)

use super::FenceOptions;
use super::candidates::{FencePoint, candidates};
use super::clause::{Obstacle, Violating};
use evidence::{Monitor, Patience, Task, Violated};
use machine::{Event, Violation};
use program::{EdgeId, Fence, Int, Place, Placement, Point, Program, PropertyKind, Strength, ThreadId};
use std::collections::{BTreeSet, HashMap};

/// The fence that prevents a violating run, as near before the overtaking as there is one: behind
/// the delayed store or one that its thread issued after it. `None` if there is none, or if the
/// monitor stopped the search for it.
pub fn prevented_by(task: &Task<'_>, violated: Violated<'_>, monitor: &dyn Monitor) -> Option<FencePoint> {
    let Violated { trace, account, cause: Some(cause) } = violated else { return None };
    let points = candidates(task.program, task.model, &FenceOptions::default());
    let behind: HashMap<Placement, usize> = points
        .iter()
        .enumerate()
        .flat_map(|(at, point)| point.placements.iter().map(move |placement| (*placement, at)))
        .collect();
    let numbers = |thread: &program::Thread| (0..thread.edges().len()).map(EdgeId::new).collect();
    let edges: Vec<Vec<EdgeId>> = task.program.threads.iter().map(numbers).collect();
    let violating = Violating::new(task.program, account, &edges);
    let mut patience = Patience::new(monitor, "looking for a fence");
    let mut tried = BTreeSet::new();
    let wanted = if cause.is_load { Fence::Full } else { Fence::Store };
    for strength in [Strength::Fence(wanted), Strength::Fence(Fence::Full)] {
        for at in (cause.issued..=cause.step).rev() {
            let Event::Step { thread, edge } = account.steps()[at].event else { continue };
            let placed = Placement { thread, point: Point::After(edge), strength };
            let Some(point) = behind.get(&placed).filter(|_| thread == cause.thread) else { continue };
            if !tried.insert(*point) {
                continue;
            }
            if !patience.lasts() {
                return None;
            }
            let obstacles = points[*point].placements.iter().map(|p| (p.thread, violating.obstacle(p)));
            let obstacles: Vec<(ThreadId, Obstacle)> = obstacles.collect();
            let is_kept = |thread: ThreadId| obstacles.contains(&(thread, Obstacle::Ends));
            if obstacles.iter().any(|(_, obstacle)| *obstacle == Obstacle::Stops)
                || !is_violated_without(task.program, trace.violation, violated, &is_kept)
            {
                return Some(points[*point].clone());
            }
        }
    }
    None
}

/// Whether the end violates the same if these threads stand before a fence, with buffers that are
/// not empty.
fn is_violated_without(
    program: &Program,
    violation: Violation,
    violated: Violated<'_>,
    is_kept: &dyn Fn(ThreadId) -> bool,
) -> bool {
    let Some(end) = violated.account.passed().last() else { return false };
    let place = |place: &Place| match place {
        Place::At(thread, _) | Place::Drained(thread) if is_kept(*thread) => Int::ZERO,
        place => end.place(*place),
    };
    match violation {
        Violation::Failure(thread, _) => !is_kept(thread),
        Violation::Property(at) => match program.properties[at].kind {
            PropertyKind::Never => program.properties[at].cond.eval(&place) == Ok(true),
            PropertyKind::Finally => !program.thread_ids().any(is_kept),
        },
    }
}
