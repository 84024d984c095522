//! A program with delays written into it, and what its runs are in the program it comes from.
//!
//! Where the extended program keeps a store back, the original one buffers it; where it makes the
//! store, that waits in a buffer of both, or is drained from both. So a run of the one is a run
//! of the other under TSO: edges of copies stand for the edges they are copies of, edges that
//! make a store kept back stand for nothing, and drains stay drains.

use evidence::Witness;
use machine::{Event, Trace, TraceStep, Violation};
use program::{Delay, EdgeId, Int, Loc, NoDelay, Origin, Program, Thread, UnrolledProgram, VarId};

/// A run of an extended program under TSO. Its edges mean nothing in the original program; it
/// leaves this module as a trace of that only, by [`Extended::trace`].
pub(super) struct ExtendedRun(Vec<TraceStep>);

impl ExtendedRun {
    /// The run of a witness found in the extended program, and what comes behind it.
    pub(super) fn behind(witness: &Witness, rest: ExtendedRun) -> ExtendedRun {
        ExtendedRun(witness.steps.iter().cloned().chain(rest.0).collect())
    }
}

/// An extended program.
#[derive(Clone)]
pub struct Extended {
    pub(super) program: Program,
    /// The extensions, each of the program that the ones before it give.
    pub(super) delays: Vec<Delay>,
    /// The edge of the original program that each edge stands for.
    stands_for: Vec<Vec<Option<EdgeId>>>,
    /// The location of the original program that each location stands for, where loops were unrolled. Delays leave the
    /// numbers of locations as they are.
    locations: Option<Vec<Vec<Option<Loc>>>>,
}

impl Extended {
    /// The program as it is.
    pub(super) fn none(program: &Program) -> Extended {
        Extended {
            program: Program { question: None, hints: Vec::new(), ..program.clone() },
            delays: Vec::new(),
            stands_for: own_edges(program),
            locations: None,
        }
    }

    /// The program whose threads go back at most so often; none if it would be too large.
    pub fn unrolled(program: &Program, times: usize) -> Option<Extended> {
        let UnrolledProgram { program, edges, locations } = program.unrolled(times)?;
        Some(Extended { program, delays: Vec::new(), stands_for: edges, locations: Some(locations) })
    }

    /// With more delays, all of paths of this program. One that passes a store that another has
    /// taken away is left out; it is found again if it matters.
    pub(super) fn with(&self, delays: &[Delay]) -> Result<Extended, NoDelay> {
        let mut extended = self.clone();
        let mut moved = own_edges(&self.program);
        for delay in delays {
            let moved = &mut moved[delay.thread.index()];
            let path = delay.path.iter().map(|edge| moved[edge.index()]).collect::<Option<Vec<_>>>();
            let Some(path) = path else { continue };
            let edges = extended.add(Delay { path, ..delay.clone() })?;
            moved.iter_mut().for_each(|edge| *edge = edge.and_then(|edge| edges[edge.index()]));
        }
        Ok(extended)
    }

    /// Adds a delay; says where the thread's edges went.
    fn add(&mut self, delay: Delay) -> Result<Vec<Option<EdgeId>>, NoDelay> {
        let delayed = delay.apply(&self.program)?;
        let before = &self.stands_for[delay.thread.index()];
        let stands_for = |origin: &Origin| match origin {
            Origin::Same(edge) | Origin::KeptBack(edge) => before[edge.index()],
            Origin::Made(_) | Origin::Nothing => None,
        };
        self.stands_for[delay.thread.index()] = delayed.origins.iter().map(stands_for).collect();
        self.program = delayed.program;
        self.delays.push(delay);
        Ok(delayed.edges)
    }

    /// A run of this program under TSO as one of the original program.
    pub(super) fn trace(&self, initial: Vec<(VarId, Int)>, run: ExtendedRun, violation: Violation) -> Trace {
        let original = |step: TraceStep| match step.event {
            Event::Drain { .. } => Some(step),
            Event::Step { thread, edge } => {
                let edge = self.stands_for[thread.index()][edge.index()]?;
                Some(TraceStep { event: Event::Step { thread, edge }, ..step })
            }
        };
        let violation = match (violation, &self.locations) {
            (Violation::Failure(thread, loc), Some(locations)) => {
                let stands_for = locations[thread.index()].get(loc.index()).copied().flatten();
                Violation::Failure(thread, stands_for.unwrap_or(loc))
            }
            (violation, _) => violation,
        };
        Trace { initial, steps: run.0.into_iter().filter_map(original).collect(), violation }
    }

    /// A run under SC as one under TSO: every store is drained at once.
    pub(super) fn drained(&self, run: impl IntoIterator<Item = TraceStep>) -> ExtendedRun {
        ExtendedRun(TraceStep::drained_at_once(&self.program, run))
    }
}

/// By thread, every edge where it is.
fn own_edges(program: &Program) -> Vec<Vec<Option<EdgeId>>> {
    let own = |thread: &Thread| (0..thread.edges().len()).map(|at| Some(EdgeId::new(at))).collect();
    program.threads.iter().map(own).collect()
}

/// Whether a thread can come back to where it was.
pub(super) fn is_cyclic(thread: &Thread) -> bool {
    let component = thread.components(|_| true);
    thread.edges().iter().any(|edge| component[edge.from.index()] == component[edge.to.index()])
}
