//! What the portfolio tries on a task: which engines, in which order, with which shares, and why.
//!
//! The list of [`CANDIDATES`] is the whole strategy: looking at simple facts of the task, each
//! says why it fits or why it does not, and what weight it has among those that do. What counts most is
//! whether numbers and store buffers can grow without end: if neither can, exploring all states
//! ends; if they can, only a proof does, and exploration is left a share to find violations. Where buffers cannot grow
//! because every loop waits for them, a proof is likely; where they can, a violation is. Numbers that are drawn
//! (`any`) are in no order to each other, so knowing their order helps less, and violations with some of them are near.
//! Drawing one of two values counts as a branch: it makes few states.

use crate::ranges::growing;
use crate::{BoundedContexts, Cegar, Complete, Engine, Explicit, Extrapolate, GapProofs, InTurns, Lazy};
use evidence::Task;
use machine::GapStepper;
use program::{Domain, Int, Op, Span};

/// An engine that may be tried.
struct Candidate {
    engine: &'static dyn Engine,
    /// Why it fits a task, or why it does not.
    fits: fn(&Facts<'_>) -> Result<String, String>,
    /// Its weight in tasks of each [`TaskKind`].
    weights: [usize; KINDS],
    /// Up to this bound it may do more work than others.
    head_start: Option<usize>,
}

/// All of them, in the order in which their answers of one round count.
#[rustfmt::skip]
const CANDIDATES: &[Candidate] = &[
    Candidate { engine: &Explicit, fits: exploration, weights: [8, 8, 7, 5, 4, 9, 12], head_start: None },
    Candidate { engine: &Lazy, fits: robustness, weights: [4, 4, 2, 3, 3, 5, 3], head_start: None },
    Candidate { engine: &Cegar, fits: predicates, weights: [2, 3, 2, 10, 10, 7, 2], head_start: None },
    Candidate { engine: &GapProofs, fits: order_and_gaps, weights: [0, 0, 0, 10, 5, 7, 2], head_start: None },
    Candidate { engine: &Complete, fits: backwards, weights: [0, 2, 1, 0, 0, 0, 0], head_start: None },
    Candidate { engine: &Extrapolate, fits: from_sc, weights: [3, 3, 6, 2, 2, 2, 8], head_start: None },
    Candidate { engine: &BoundedContexts, fits: few_contexts, weights: [1; KINDS], head_start: Some(2) },
    Candidate { engine: &InTurns, fits: many_steps, weights: [2; KINDS], head_start: None },
];

/// What may grow without end in a task, and whether numbers are drawn where something does.
#[derive(Clone, Copy)]
enum TaskKind {
    Finite,
    Buffers,
    BuffersDrawn,
    Numbers,
    NumbersDrawn,
    Both,
    BothDrawn,
}

const KINDS: usize = 7;

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
    /// Whether numbers are drawn, each from more than two.
    pub draws: bool,
    /// What the engine for order and gaps cannot handle.
    pub beyond_gaps: Option<Span>,
}

/// An entry of a plan.
pub struct PlanEntry {
    /// The engine that is asked.
    pub engine: &'static dyn Engine,
    /// Its share of the work, in percent.
    pub share: usize,
    /// Why it is asked.
    pub why: String,
    /// Up to this bound it may do more work than others.
    pub head_start: Option<usize>,
}

/// Which engines take turns, and which do not.
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
            Ok(why) => {
                let share = candidate.weights[facts.kind() as usize];
                total += share;
                let head_start = candidate.head_start.filter(|_| facts.is_violation_near());
                entries.push(PlanEntry { engine: candidate.engine, share, why, head_start });
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
            let place = facts.place(span);
            Err(format!("it does not know when buffers are empty, and {place} speaks of that"))
        }
        _ => Ok(()),
    }
}

fn exploration(facts: &Facts<'_>) -> Result<String, String> {
    Ok(match (facts.growing, facts.piling_up) {
        (None, None) => "neither numbers nor store buffers can be seen to grow, so it may end".to_string(),
        _ => "a violation may be near, of which it finds a shortest one".to_string(),
    })
}

fn robustness(facts: &Facts<'_>) -> Result<String, String> {
    match facts.task.model.like_tso(facts.task.program) {
        true => Ok("perhaps weak memory does not matter, and SC has fewer states".to_string()),
        false => Err("it is for TSO".to_string()),
    }
}

fn predicates(facts: &Facts<'_>) -> Result<String, String> {
    Ok(match (facts.growing, facts.piling_up) {
        (Some(span), _) => {
            format!("numbers may grow without end, by {}; it finds what matters of them", facts.place(span))
        }
        (None, Some(span)) => format!(
            "store buffers may grow without end, by {}; it keeps some stores and what holds for all others",
            facts.place(span)
        ),
        (None, None) => "a few predicates may be enough where there are many states".to_string(),
    })
}

fn order_and_gaps(facts: &Facts<'_>) -> Result<String, String> {
    match (facts.beyond_gaps, facts.growing) {
        (Some(span), _) => Err(format!("it cannot handle {}", facts.place(span))),
        (None, Some(span)) => Ok(format!(
            "numbers may grow without end, by {}; it knows them by their order",
            facts.place(span)
        )),
        (None, None) => {
            Err("no number can be seen to grow, so it would explore as many states as `explicit`".to_string())
        }
    }
}

fn backwards(facts: &Facts<'_>) -> Result<String, String> {
    match (facts.growing, facts.piling_up) {
        (Some(span), _) => Err(format!("numbers may grow without end, by {}", facts.place(span))),
        (None, None) => Err("store buffers cannot be seen to grow, so exploring ends too".to_string()),
        (None, Some(span)) => Ok(format!(
            "store buffers may grow without end, by {}; it ends whatever they do, if data are finite",
            facts.place(span)
        )),
    }
}

fn from_sc(facts: &Facts<'_>) -> Result<String, String> {
    if !facts.buffers {
        return Err("it is for store buffers".to_string());
    }
    let values_are_many = facts.draws && facts.piling_up.is_some();
    if facts.task.model.like_tso(facts.task.program) && !values_are_many {
        return Err("`lazy` looks at SC first too".to_string());
    }
    Ok("what goes wrong under SC goes wrong here too, and proofs may carry over".to_string())
}

fn few_contexts(facts: &Facts<'_>) -> Result<String, String> {
    match facts.task.program.threads.len() < 2 {
        true => Err("there is only one thread".to_string()),
        false => Ok("most violations need few context switches, and it finds those first".to_string()),
    }
}

/// More threads or locations than these, and violations may be too deep for a search that goes step by step.
const MANY_THREADS: usize = 4;
const MANY_LOCATIONS: usize = 150;

fn many_steps(facts: &Facts<'_>) -> Result<String, String> {
    match facts.task.program.threads.len() > MANY_THREADS || facts.locations > MANY_LOCATIONS {
        true => Ok("a violation may be deep: it lets threads run one after the other".to_string()),
        false => Err("threads are few and short".to_string()),
    }
}

fn draws_a_number(op: &Op) -> bool {
    match op {
        Op::Havoc(_, Domain::Range(low, high)) => high - low > Int::from(1),
        Op::Havoc(_, Domain::All) => true,
        _ => false,
    }
}

impl<'p> Facts<'p> {
    /// A statement and its line.
    fn place(&self, span: Span) -> String {
        let source = &self.task.program.source;
        format!("`{}`{}", source.snippet(span), source.line_behind(span))
    }

    fn kind(&self) -> TaskKind {
        match (self.growing.is_some(), self.piling_up.is_some(), self.draws) {
            (false, false, _) => TaskKind::Finite,
            (false, true, false) => TaskKind::Buffers,
            (false, true, true) => TaskKind::BuffersDrawn,
            (true, false, false) => TaskKind::Numbers,
            (true, false, true) => TaskKind::NumbersDrawn,
            (true, true, false) => TaskKind::Both,
            (true, true, true) => TaskKind::BothDrawn,
        }
    }

    /// Whether a violation is likely that few contexts show: stores are buffered and searching all states may not end, but there are
    /// not many runs of few contexts because many numbers may be drawn.
    fn is_violation_near(&self) -> bool {
        let may_grow = self.piling_up.is_some() || self.growing.is_some();
        self.buffers && may_grow && !self.draws
    }

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
            draws: task.program.threads.iter().flat_map(|t| t.edges()).any(|e| draws_a_number(&e.op)),
            beyond_gaps,
        }
    }
}
