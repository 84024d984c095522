//! Exact exploration [004, ch. 2.3]: all states of the exact machine, over concrete values.
//!
//! Buffers are unbounded, so states with short buffers are explored first, with bounds of 1, 2,
//! 4, … entries a queue (see [`crate::search`]). A violation is final wherever it is found. If
//! nothing is left to explore, the states found are *all* states: a closed set, and the program
//! is safe. Where only states beyond the largest bound are left, where a value left 64 bits or
//! a choice had too many values, the answer is unknown and says so.
//!
//! A search may be *reduced* ([`Reduction`]): fewer states cover all others, and the proof is
//! a closed set of those. By itself, a search is reduced once its states are no longer few. A large search breadth first goes
//! on in rounds, by as many workers as there are ([`crate::rounds`]).
//!
//! Breadth first, the violation found is a nearest one if no state had to wait for a larger
//! bound and nothing was left out. Otherwise one more search, without bounds but within that distance, looks for a
//! nearer one; after a search depth first, a small one.

use crate::reduce::LeftOut;
use crate::rounds::{Going, InRounds, go_on};
use crate::search::{Ended, Limits, Order, Search, search};
use crate::stepping::{Stepping, broken_off};
use crate::{Answer, Engine, Reduction, Run};
use evidence::{ClosedSet, Controls, Reason, SpilledStates, Statistics, Stop, Task, Verdict, fingerprint};
use machine::{Buffered, DataDomain, Doubt, OnDomain, Trace, Violation};
use std::collections::BTreeSet;

/// The engine.
pub struct Explicit;

impl Engine for Explicit {
    fn name(&self) -> &'static str {
        "explicit"
    }

    fn about(&self) -> &'static str {
        "explores every state of the exact machine; decides programs with finitely many"
    }

    fn answer(&self, task: &Task<'_>, run: &Run<'_>) -> Answer {
        let (round, reducing) = match (run.reduction, LeftOut::if_out_of_reach(task)) {
            (Reduction::Auto, Some(all)) => as_reduced(task, run, all),
            (Reduction::Auto, None) => as_large(task, run),
            (reduction, _) => as_reduced(task, run, LeftOut::new(task, reduction, run.dead_registers)),
        };
        let k = task.buffers().then_some(round.bound);
        let method = reducing.method();
        let statistics = Statistics { states: round.states, k, method, ..Default::default() };
        let verdict = match round.outcome {
            ExplorationOutcome::Violated(trace) if round.nearest => Verdict::Unsafe(trace),
            ExplorationOutcome::Violated(trace) => Verdict::Unsafe(shortest(task, run, trace, round.states)),
            ExplorationOutcome::Stopped(reason) => {
                Verdict::Unknown(std::iter::once(reason).chain(round.doubts).collect())
            }
            _ if !round.doubts.is_empty() => Verdict::Unknown(round.doubts),
            ExplorationOutcome::Explored(set) => Verdict::Safe(reducing.proof(Vec::new(), None, set)),
            ExplorationOutcome::Shared(part) => Verdict::Safe(reducing.part(part, round.states, run.crew)),
            ExplorationOutcome::Spilled(controls, parts) => {
                let budget = run.spill.map_or(0, |spill| spill.budget());
                Verdict::Safe(reducing.spilled(controls, parts, budget))
            }
        };
        Answer { verdict, statistics, engine: self.name() }
    }
}

/// A search that leaves this out, or nothing where values that are names do not fit into 64 bits.
fn as_reduced(task: &Task<'_>, run: &Run<'_>, left_out: LeftOut) -> (ExplorationRound, LeftOut) {
    if let Some(round) = whole(task, run, &left_out) {
        return (round, left_out);
    }
    let plain = LeftOut::new(task, Reduction::None, run.dead_registers);
    let round = whole(task, run, &plain);
    (round.unwrap_or_else(ExplorationRound::impossible), plain)
}

/// A search that leaves out as much as its size asks for.
fn as_large(task: &Task<'_>, run: &Run<'_>) -> (ExplorationRound, LeftOut) {
    let plain = LeftOut::new(task, Reduction::None, run.dead_registers);
    match begun(task, run, &plain, Some(Reach::few(run))) {
        Some(SearchBegun::Large(large)) => {
            // Threads that go ahead fill their buffers sooner than others.
            match reduced(task, run).filter(|(round, _)| !round.outgrows_buffers()) {
                Some(reduced) => reduced,
                None => (large.go_on(task, run, &plain), plain),
            }
        }
        begun => (begun.map_or_else(ExplorationRound::impossible, SearchBegun::ended), plain),
    }
}

/// A search of more than few states once more: threads go ahead and names do not matter. If that is large, too, a few
/// agents act if that leaves few states; otherwise to choose them takes more time than it saves.
fn reduced(task: &Task<'_>, run: &Run<'_>) -> Option<(ExplorationRound, LeftOut)> {
    let usual = LeftOut::new(task, Reduction::Auto, run.dead_registers);
    let large = match begun(task, run, &usual, Some(Reach::not_large(run)))? {
        SearchBegun::Ended(round) => return Some((round, usual)),
        SearchBegun::Large(large) => large,
    };
    let all = LeftOut::new(task, Reduction::All, run.dead_registers);
    if all.is_by_few()
        && let SearchBegun::Ended(round) = begun(task, run, &all, Some(Reach::few(run)))?
    {
        return Some((round, all));
    }
    Some((large.go_on(task, run, &usual), usual))
}

/// Few states are this fraction of those of a large search.
const FEW: usize = 8;

/// Whether a large search goes on in rounds: only breadth first it can.
fn in_rounds(run: &Run<'_>) -> bool {
    run.rounds && run.order == Order::Breadth
}

/// A search to its end; `None` where values that are names do not fit into 64 bits.
fn whole(task: &Task<'_>, run: &Run<'_>, left_out: &LeftOut) -> Option<ExplorationRound> {
    let reach = in_rounds(run).then_some(Reach::not_large(run));
    Some(match begun(task, run, left_out, reach)? {
        SearchBegun::Ended(round) => round,
        SearchBegun::Large(large) => large.go_on(task, run, left_out),
    })
}

/// A search as far as it is not large; `None` as for [`whole`].
fn begun(task: &Task<'_>, run: &Run<'_>, left_out: &LeftOut, reach: Option<Reach>) -> Option<SearchBegun> {
    left_out.on(&task.machine(), Exploration { run, reach, whole: left_out.is_none() })
}

/// The beginning of a search.
enum SearchBegun {
    /// It came to its end.
    Ended(ExplorationRound),
    /// There are more states than should be looked at like this.
    Large(Large),
}

impl SearchBegun {
    fn ended(self) -> ExplorationRound {
        match self {
            SearchBegun::Ended(round) => round,
            SearchBegun::Large(large) => {
                let stopped = ExplorationOutcome::Stopped(Reason::Stopped(Stop::States));
                ExplorationRound {
                    outcome: stopped,
                    states: large.found.states.len(),
                    ..ExplorationRound::impossible()
                }
            }
        }
    }
}

/// A search that was broken off.
struct Large {
    found: Search<Violation>,
    controls: Controls,
    doubts: BTreeSet<Doubt>,
}

impl Large {
    /// Goes on in rounds, or from the beginning.
    fn go_on(self, task: &Task<'_>, run: &Run<'_>, left_out: &LeftOut) -> ExplorationRound {
        if !in_rounds(run) {
            let begun = begun(task, run, left_out, None);
            return begun.map_or_else(ExplorationRound::impossible, SearchBegun::ended);
        }
        let most = run.max_buffer.unwrap_or(usize::MAX);
        run.monitor.note(&format!("many states: goes on in rounds ({} workers)", run.crew.workers()));
        let (program, model) = (fingerprint(task.program), task.model.name());
        let (left, rules, states) = (left_out.method(), left_out.rules, self.found.states.len());
        let question = format!("{program} {model} {most} {left:?} {rules:?} {states}");
        // Of what several processes have, each has its part in memory.
        let spill = run.spill.filter(|_| run.crew.process().1 == 1);
        let going = Going { crew: run.crew, monitor: run.monitor, spill, most, question: &question };
        let found = go_on(self.found, &self.controls, &task.machine(), left_out, going);
        let mut doubts = self.doubts;
        doubts.extend(found.doubts);
        let outcome = match found.ended {
            InRounds::Violated(trace) => ExplorationOutcome::Violated(trace),
            InRounds::Explored(set) if run.crew.process().1 == 1 => ExplorationOutcome::Explored(set),
            InRounds::Explored(set) => ExplorationOutcome::Shared(set),
            InRounds::Spilled(controls, files) => ExplorationOutcome::Spilled(controls, files),
            InRounds::Heavy => ExplorationOutcome::Stopped(Reason::BuffersBeyond(found.bound)),
            InRounds::Stopped(stop) => ExplorationOutcome::Stopped(Reason::Stopped(stop)),
            InRounds::Full => ExplorationOutcome::Stopped(Reason::Full),
            InRounds::Lost(lost) => {
                run.monitor.note(&lost.to_string());
                ExplorationOutcome::Stopped(Reason::Stopped(Stop::Lost))
            }
        };
        ExplorationRound {
            outcome,
            states: found.states,
            bound: found.bound,
            nearest: left_out.is_none() && !found.postponed,
            doubts: doubts.into_iter().map(Reason::Doubt).collect(),
        }
    }
}

enum ExplorationOutcome {
    Violated(Trace),
    Explored(ClosedSet),
    /// As explored; other processes have the other states.
    Shared(ClosedSet),
    /// As explored; the states are in files.
    Spilled(Controls, Vec<SpilledStates>),
    Stopped(Reason),
}

struct ExplorationRound {
    outcome: ExplorationOutcome,
    states: usize,
    bound: usize,
    /// Whether a violation is known to be a nearest one.
    nearest: bool,
    /// What was not explored.
    doubts: Vec<Reason>,
}

impl ExplorationRound {
    /// Of a search that could not begin.
    fn impossible() -> ExplorationRound {
        let outcome = ExplorationOutcome::Stopped(Reason::Full);
        ExplorationRound { outcome, states: 0, bound: 1, nearest: false, doubts: Vec::new() }
    }

    /// Whether only states with longer buffers were left.
    fn outgrows_buffers(&self) -> bool {
        matches!(self.outcome, ExplorationOutcome::Stopped(Reason::BuffersBeyond(_)))
    }
}

/// How far a search may go: steps and states. With a limit on steps it goes breadth first, and bounds on buffers
/// do not matter.
#[derive(Clone, Copy)]
struct Reach {
    depth: Option<usize>,
    states: usize,
}

impl Reach {
    /// That of a search that is not large.
    fn not_large(run: &Run<'_>) -> Reach {
        Reach { depth: None, states: run.large }
    }

    /// So few states that leaving some out would hardly be noticed.
    fn few(run: &Run<'_>) -> Reach {
        Reach { depth: None, states: run.large / FEW }
    }
}

struct Exploration<'a> {
    run: &'a Run<'a>,
    reach: Option<Reach>,
    /// Whether nothing is left out.
    whole: bool,
}

impl OnDomain for Exploration<'_> {
    type Done = SearchBegun;

    fn run<'m, 'p: 'm>(self, domain: impl DataDomain<'m, Machine = Buffered<'p>>) -> SearchBegun {
        let Exploration { run, reach, whole } = self;
        let mut system = Stepping::hunting(domain);
        let limits = match reach.and_then(|reach| reach.depth) {
            None => run.limits(),
            depth => Limits { depth, ..Limits::none(run.monitor) },
        };
        let limits = Limits { states: reach.map(|reach| reach.states), ..limits };
        let found = search(&mut system, &limits);
        let states = found.states.len();
        if found.ended == Ended::Stopped(Stop::States) && reach.is_some_and(|reach| states > reach.states) {
            let controls = Controls::of(system.domain.stepper());
            return SearchBegun::Large(Large { found, controls, doubts: system.doubts.take() });
        }
        let nearest = whole && limits.order == Order::Breadth && !found.postponed;
        let bound = found.bound;
        let outcome = match (broken_off(&found), found.ended) {
            (Some(reason), _) => ExplorationOutcome::Stopped(reason),
            (None, Ended::Goal(at, violation)) => {
                ExplorationOutcome::Violated(system.trace(&found.states, at, violation))
            }
            (None, _) => ExplorationOutcome::Explored(system.closed_set(found.states)),
        };
        let doubts = system.take_reasons();
        SearchBegun::Ended(ExplorationRound { outcome, states, bound, nearest, doubts })
    }
}

/// A violation with fewer steps, if longer buffers allow one.
fn shortest(task: &Task<'_>, run: &Run<'_>, trace: Trace, states: usize) -> Trace {
    let Some(depth) = trace.steps.len().checked_sub(1) else { return trace };
    let states = match run.order {
        Order::Breadth => states.saturating_mul(4).max(20_000),
        // Who searches depth first expects far violations.
        Order::Depth => 20_000,
    };
    let reach = Reach { depth: Some(depth), states };
    let plain = LeftOut::new(task, Reduction::None, run.dead_registers);
    match begun(task, run, &plain, Some(reach)).map(|begun| begun.ended().outcome) {
        Some(ExplorationOutcome::Violated(shorter)) => shorter,
        _ => trace,
    }
}
