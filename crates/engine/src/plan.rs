//! What the portfolio tries on a task: which engines, in which order, with which shares, and why.
//!
//! The list of [`CANDIDATES`] is the whole strategy: looking at simple facts of the task, each
//! says why it fits and what weight it has among those that do, or why it does not fit. What counts most is
//! whether numbers and store buffers can grow without end: if neither can, exploring all states
//! ends; if they can, only a proof does, and exploration is left a share to find violations. Numbers that are drawn
//! (`any`) are in no order to each other, so knowing their order helps less, and violations with some of them are near.

use crate::ranges::growing;
use crate::{BoundedContexts, Cegar, Complete, Engine, Explicit, Extrapolate, GapProofs, InTurns, Lazy};
use evidence::Task;
use machine::GapStepper;
use program::{Op, Program, Span};

/// An engine that may be tried.
struct Candidate {
    engine: &'static dyn Engine,
    /// Its weight in a task, and why; or why it does not fit.
    fits: fn(&Facts<'_>) -> Result<(usize, String), String>,
    /// Up to this bound it may do more work than others.
    head_start: Option<usize>,
}

/// All of them, in the order in which their answers of one round count.
const CANDIDATES: &[Candidate] = &[
    Candidate { engine: &Explicit, fits: exploration, head_start: None },
    Candidate { engine: &Lazy, fits: robustness, head_start: None },
    Candidate { engine: &Cegar, fits: predicates, head_start: None },
    Candidate { engine: &GapProofs, fits: order_and_gaps, head_start: None },
    Candidate { engine: &Complete, fits: backwards, head_start: None },
    Candidate { engine: &Extrapolate, fits: from_sc, head_start: None },
    Candidate { engine: &BoundedContexts, fits: few_contexts, head_start: Some(2) },
    Candidate { engine: &InTurns, fits: many_steps, head_start: None },
];

/// What a plan is made from.
pub struct Facts<'p> {
    /// The task.
    pub task: Task<'p>,
    /// How many control locations all threads have together.
    pub locations: usize,
    /// Whether stores are buffered under the model.
    pub buffers: bool,
    /// A store by which buffers may grow without end; `None` if there is none.
    pub piling_up: Option<Span>,
    /// A statement by which numbers may grow without end; `None` if none can be seen.
    pub growing: Option<Span>,
    /// Whether numbers are drawn.
    pub draws: bool,
    /// What the engine for order and gaps cannot handle.
    pub beyond_gaps: Option<Span>,
}

/// An entry of a plan.
pub struct PlanEntry {
    /// Who is asked.
    pub engine: &'static dyn Engine,
    /// Its share of the work, in percent.
    pub share: usize,
    /// Why it is asked.
    pub why: String,
    /// Up to this bound it may do more work than others.
    pub head_start: Option<usize>,
}

/// Who takes turns.
pub struct Plan<'p> {
    /// What it is made from.
    pub facts: Facts<'p>,
    /// The engines to ask; where several know the answer in the same round, the first gives it.
    pub entries: Vec<PlanEntry>,
    /// The engines that are not asked, and why.
    pub left_out: Vec<(&'static str, String)>,
}

/// The plan for a task.
pub fn plan<'p>(task: &Task<'p>) -> Plan<'p> {
    let facts = Facts::of(task);
    let (mut entries, mut left_out) = (Vec::new(), Vec::new());
    let mut total = 0;
    for candidate in CANDIDATES {
        match seeing(candidate, &facts).and_then(|()| (candidate.fits)(&facts)) {
            Ok((weight, why)) => {
                total += weight;
                entries.push(PlanEntry {
                    engine: candidate.engine,
                    share: weight,
                    why,
                    head_start: candidate.head_start,
                });
            }
            Err(why) => left_out.push((candidate.engine.name(), why)),
        }
    }
    entries.iter_mut().for_each(|entry| entry.share = 100 * entry.share / total);
    Plan { facts, entries, left_out }
}

/// Whether an engine sees all that claims speak of.
fn seeing(candidate: &Candidate, facts: &Facts<'_>) -> Result<(), String> {
    match facts.task.program.speaks_of_buffers() {
        Some(span) if !candidate.engine.sees_buffers(&facts.task) => {
            let place = place(facts.task.program, span);
            Err(format!("it does not know when buffers are empty, and {place} speaks of that"))
        }
        _ => Ok(()),
    }
}

fn exploration(facts: &Facts<'_>) -> Result<(usize, String), String> {
    match (facts.growing, facts.piling_up) {
        (None, None) => {
            Ok((8, "neither numbers nor store buffers can be seen to grow, so it may end".to_string()))
        }
        (None, Some(_)) => Ok((8, "a violation may be near, of which it finds a shortest one".to_string())),
        (Some(_), _) => {
            let weight = if facts.draws { 11 } else { 8 };
            Ok((weight, "a violation may be near, of which it finds a shortest one".to_string()))
        }
    }
}

fn robustness(facts: &Facts<'_>) -> Result<(usize, String), String> {
    if !facts.task.model.like_tso(facts.task.program) {
        return Err("it is for TSO".to_string());
    }
    let weight = if facts.growing.is_some() && facts.draws { 8 } else { 7 };
    Ok((weight, "perhaps weak memory does not matter, and SC has fewer states".to_string()))
}

fn predicates(facts: &Facts<'_>) -> Result<(usize, String), String> {
    let place = |span| place(facts.task.program, span);
    match (facts.growing, facts.piling_up) {
        (Some(span), _) => Ok((
            if facts.draws { 9 } else { 11 },
            format!("numbers may grow without end, by {}; it finds what matters of them", place(span)),
        )),
        (None, Some(span)) => Ok((
            5,
            format!(
                "store buffers may grow without end, by {}; it keeps some stores and what holds for all others",
                place(span)
            ),
        )),
        (None, None) => Ok((2, "a few predicates may be enough where there are many states".to_string())),
    }
}

fn order_and_gaps(facts: &Facts<'_>) -> Result<(usize, String), String> {
    match (facts.beyond_gaps, facts.growing) {
        (Some(span), _) => Err(format!("it cannot handle {}", place(facts.task.program, span))),
        (None, Some(span)) => {
            let place = place(facts.task.program, span);
            let weight = if facts.draws { 3 } else { 9 };
            Ok((weight, format!("numbers may grow without end, by {place}; it knows them by their order")))
        }
        (None, None) => {
            Err("no number can be seen to grow, so it would explore as many states as `explicit`".to_string())
        }
    }
}

fn backwards(facts: &Facts<'_>) -> Result<(usize, String), String> {
    let place = |span| place(facts.task.program, span);
    match (facts.growing, facts.piling_up) {
        (Some(span), _) => Err(format!("numbers may grow without end, by {}", place(span))),
        (None, None) => Err("store buffers cannot be seen to grow, so exploring ends too".to_string()),
        (None, Some(span)) => Ok((
            2,
            format!(
                "store buffers may grow without end, by {}; it ends whatever they do, if data are finite",
                place(span)
            ),
        )),
    }
}

fn from_sc(facts: &Facts<'_>) -> Result<(usize, String), String> {
    if !facts.buffers {
        return Err("it is for store buffers".to_string());
    }
    if facts.task.model.like_tso(facts.task.program) {
        return Err("`lazy` looks at SC first too".to_string());
    }
    let weight = if facts.growing.is_some() && facts.draws { 10 } else { 4 };
    Ok((weight, "what goes wrong under SC goes wrong here too, and proofs may carry over".to_string()))
}

fn few_contexts(facts: &Facts<'_>) -> Result<(usize, String), String> {
    if facts.task.program.threads.len() < 2 {
        return Err("there is only one thread".to_string());
    }
    Ok((1, "most violations need few context switches, and it finds those first".to_string()))
}

/// More threads or locations than these, and violations may be too deep for a search that goes step by step.
const MANY_THREADS: usize = 4;
const MANY_LOCATIONS: usize = 150;

fn many_steps(facts: &Facts<'_>) -> Result<(usize, String), String> {
    match facts.task.program.threads.len() > MANY_THREADS || facts.locations > MANY_LOCATIONS {
        true => Ok((2, "a violation may be deep: it lets threads run one after the other".to_string())),
        false => Err("threads are few and short".to_string()),
    }
}

/// A statement and its line.
fn place(program: &Program, span: Span) -> String {
    let line = program.source.place(span).map(|line| format!(" (line {line})")).unwrap_or_default();
    format!("`{}`{line}", program.source.snippet(span))
}

impl<'p> Facts<'p> {
    /// Reads the facts off a task.
    pub fn of(task: &Task<'p>) -> Facts<'p> {
        let machine = task.machine();
        let beyond_gaps = GapStepper::new(&machine, 1).err().map(|unsupported| unsupported.span);
        Facts {
            task: *task,
            locations: task.program.threads.iter().map(|thread| thread.locs().count()).sum(),
            buffers: task.buffers(),
            piling_up: task
                .program
                .threads
                .iter()
                .filter(|_| task.buffers())
                .find_map(|t| t.piling_up())
                .map(|store| store.span),
            growing: growing(task.program),
            draws: task.program.threads.iter().flat_map(|t| t.edges()).any(|e| matches!(e.op, Op::Havoc(..))),
            beyond_gaps,
        }
    }
}
