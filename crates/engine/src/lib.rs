//! Engines: ways to answer a [`Task`].
//!
//! An [`Engine`] gets the task and a [`Run`] (who watches it, how it may search) and returns
//! an [`Answer`] whose verdict carries evidence. It never prints and has no clock. `ENGINES`
//! lists those that decide safety; robustness and final states have one engine each. [`ask`] asks an
//! engine and gives a [`Finding`], whose evidence was checked.

mod ask;
mod batch;
mod buffers;
mod cegar;
mod complete;
mod contexts;
mod explicit;
mod extrapolate;
mod fences;
mod forgetting;
mod gaps;
mod growth;
mod lazy;
mod outcomes;
mod plan;
mod portfolio;
mod ranges;
mod reduce;
mod robust;
mod rounds;
mod search;
mod stepping;
mod turns;

pub use ask::{Bug, Explanation, Finding, ask, decide, explained};
pub use batch::Batch;
pub use buffers::{BufferAbstraction, Buffers};
pub use cegar::{Abstraction, Cegar, hinted};
pub use complete::Complete;
pub use contexts::{BoundedContexts, ContextBound, ContextData};
pub use explicit::Explicit;
pub use extrapolate::{Extrapolate, Extrapolated, Extrapolation, Lifted, Lifting, Phase, extrapolate};
pub use fences::{
    Costs, FenceAnswer, FenceOptions, FencePlace, FencePoint, FencePrice, FencedRun, FencesFound,
    FencesWithin, NeededFence, Placed, Points, RelaxedProgram, fence_points, fences_within, keep_fences,
    place_fences, prevented_by,
};
pub use gaps::GapProofs;
pub use lazy::Lazy;
pub use outcomes::FinalStates;
pub use plan::{Facts, Plan, PlanEntry, plan};
pub use portfolio::Portfolio;
pub use reduce::Reduction;
pub use robust::{Cuts, Robust};
pub use search::{Ended, Limits, Order, Search, TransitionSystem, Weight, path, search};
pub use turns::InTurns;

/// What tests look at and nobody else should.
#[doc(hidden)]
pub mod inside {
    pub use crate::cegar::cube::{BitCube, insert, words};
    pub use crate::extrapolate::names::{Renamed, renamed};
    pub use crate::fences::hitting::{Hitting, HittingCandidate};
    pub use crate::growth::Doubling;
    pub use crate::lazy::extended::Extended;
    pub use crate::lazy::{DelaySearch, DelaysEnded};
    pub use crate::ranges::growing;
    pub use crate::rounds::shard::{NotAdded, STATES, Shard, StateMessage, StatePlace};
}

use evidence::{Alone, Crew, Ignore, Monitor, Spill, Statistics, Task, Verdict};

/// Buffers that grow beyond this are taken to grow without end, unless the caller says otherwise:
/// a loop that stores and never waits. No real machine has as many.
pub const USUAL_BUFFER: usize = 64;

/// An exact search is large with more states than this, unless the caller says otherwise: all of them take a tenth of
/// a second or so.
pub const LARGE: usize = 1 << 17;

/// How an engine may work.
#[derive(Clone, Copy)]
pub struct Run<'a> {
    /// Shows progress and enforces limits.
    pub monitor: &'a dyn Monitor,
    /// In which order exact searches go.
    pub order: Order,
    /// What exact searches leave out.
    pub reduction: Reduction,
    /// Whether states of `explicit` have registers that nothing reads any more.
    pub dead_registers: bool,
    /// The largest bound on buffers to try; none means as far as the limits go.
    pub max_buffer: Option<usize>,
    /// How `cegar` makes its abstraction.
    pub abstraction: Abstraction,
    /// What `extrapolate` carries over first.
    pub extrapolation: Extrapolation,
    /// What `buffers` knows of store buffers.
    pub buffers: BufferAbstraction,
    /// How far `context` goes, and what it knows of values.
    pub contexts: ContextBound,
    /// How many threads may work at once; 0 where there are none besides the one that asks. Answers do not
    /// depend on it.
    pub threads: usize,
    /// Who shares large exact searches. Answers do not depend on it.
    pub crew: &'a dyn Crew,
    /// Whether large exact searches breadth first go on in rounds, which are what can be shared: by one worker they take
    /// longer than without. Which nearest violation is found may depend on it.
    pub rounds: bool,
    /// An exact search is large with more states than this. Answers may depend on it.
    pub large: usize,
    /// Where states of such searches go that memory has no room for. Answers do not depend on it.
    pub spill: Option<&'a dyn Spill>,
    /// Engines that the portfolio leaves out.
    pub without: &'a [&'static str],
}

impl Default for Run<'_> {
    fn default() -> Self {
        Run {
            monitor: &Ignore,
            order: Order::Breadth,
            reduction: Reduction::default(),
            dead_registers: false,
            max_buffer: Some(USUAL_BUFFER),
            abstraction: Abstraction::default(),
            extrapolation: Extrapolation::default(),
            buffers: BufferAbstraction::default(),
            contexts: ContextBound::default(),
            threads: 1,
            crew: &Alone,
            rounds: true,
            large: LARGE,
            spill: None,
            without: &[],
        }
    }
}

impl<'a> Run<'a> {
    /// Those of an exact search: in the order that is wanted, with short buffers first.
    pub(crate) fn limits(&self) -> Limits<'a> {
        let weight = Weight::LightFirst(self.max_buffer);
        Limits { order: self.order, weight, ..Limits::none(self.monitor) }
    }
}

/// What an engine found.
#[derive(Debug)]
pub struct Answer {
    /// The verdict, not yet checked.
    pub verdict: Verdict,
    /// What it cost: states, questions and the like.
    pub statistics: Statistics,
    /// The engine that found it.
    pub engine: &'static str,
}

/// A way to answer a task.
pub trait Engine: Sync {
    /// Its name, as in `--engine`.
    fn name(&self) -> &'static str;

    /// One line for lists and help.
    fn about(&self) -> &'static str;

    /// Whether it can find that a program is safe; otherwise it is no help where that is likely.
    fn proves(&self) -> bool {
        true
    }

    /// Whether it knows when buffers are empty, which programs may claim something about.
    fn sees_buffers(&self, _: &Task<'_>) -> bool {
        true
    }

    /// The answer to a task that speaks of nothing it does not see.
    fn answer(&self, task: &Task<'_>, run: &Run<'_>) -> Answer;

    /// The answer to a task.
    fn verify(&self, task: &Task<'_>, run: &Run<'_>) -> Answer {
        match task.program.speaks_of_buffers() {
            Some(span) if !self.sees_buffers(task) => {
                let verdict = Verdict::Unknown(vec![evidence::Reason::Unsupported(span)]);
                Answer { verdict, statistics: Statistics::default(), engine: self.name() }
            }
            _ => self.answer(task, run),
        }
    }
}

/// All engines that decide safety; the first is the default.
pub const ENGINES: &[&dyn Engine] = &[
    &Portfolio,
    &Explicit,
    &GapProofs,
    &Cegar,
    &Extrapolate,
    &Lazy,
    &Buffers,
    &Complete,
    &BoundedContexts,
    &InTurns,
];

/// The engine of this name.
pub fn engine_named(name: &str) -> Option<&'static dyn Engine> {
    ENGINES.iter().copied().find(|engine| engine.name() == name)
}
