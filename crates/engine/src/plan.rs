//! What the portfolio tries on a task: which engines, in which order, how far, and why.
//!
//! The list of [`CANDIDATES`] is the whole strategy: each says how many states it may have and,
//! looking at simple facts of the task, why it fits or why not. Budgets count states, not
//! seconds, so a plan means the same on every machine.

use crate::explicit::buffers;
use crate::fences::candidates::components;
use crate::{Cegar, Engine, Explicit, GapProofs, Lazy};
use evidence::Task;
use machine::{Exact, GapStepper};
use program::{Arith, Domain, Edge, Expr, Op, Program, RegId, Span, Thread};

/// An engine that may be tried.
struct Candidate {
    engine: &'static dyn Engine,
    /// The most states it may have; none means as far as the limits go.
    states: Option<usize>,
    /// Why it fits a task, or why not.
    fits: fn(&Facts<'_>) -> Result<String, String>,
}

/// All of them, in the order in which their answers count.
const CANDIDATES: &[Candidate] = &[
    Candidate { engine: &Explicit, states: Some(20_000), fits: first },
    Candidate { engine: &Cegar, states: Some(60_000), fits: growing_numbers },
    Candidate { engine: &Explicit, states: Some(200_000), fits: bounded_numbers },
    Candidate { engine: &Lazy, states: Some(400_000), fits: robustness },
    Candidate { engine: &GapProofs, states: Some(4_000_000), fits: order_and_gaps },
    Candidate { engine: &Cegar, states: Some(1_000_000), fits: predicates },
    Candidate { engine: &Explicit, states: None, fits: last },
];

/// What a plan is made from.
pub struct Facts<'p> {
    /// The task.
    pub task: Task<'p>,
    /// How many control locations all threads have together.
    pub locations: usize,
    /// Whether stores are buffered under the model.
    pub buffers: bool,
    /// A statement by which numbers may grow without end; `None` if none can be seen.
    pub growing: Option<Span>,
    /// What the engine for order and gaps cannot handle.
    pub beyond_gaps: Option<Span>,
}

/// An entry of a plan.
pub struct Entry {
    /// Who is asked.
    pub engine: &'static dyn Engine,
    /// The most states it may have; none means as far as the limits go.
    pub states: Option<usize>,
    /// Why it is asked.
    pub why: String,
}

/// What is tried, in this order.
pub struct Plan<'p> {
    /// What it is made from.
    pub facts: Facts<'p>,
    /// The engines to ask; the first that knows the answer gives it.
    pub entries: Vec<Entry>,
    /// The engines that are not asked, and why.
    pub left_out: Vec<(&'static str, String)>,
}

/// The plan for a task.
pub fn plan<'p>(task: &Task<'p>) -> Plan<'p> {
    let facts = Facts::of(task);
    let (mut entries, mut left_out) = (Vec::new(), Vec::new());
    for candidate in CANDIDATES {
        match (candidate.fits)(&facts) {
            Ok(why) => entries.push(Entry { engine: candidate.engine, states: candidate.states, why }),
            Err(why) => left_out.push((candidate.engine.name(), why)),
        }
    }
    Plan { facts, entries, left_out }
}

fn first(_: &Facts<'_>) -> Result<String, String> {
    Ok("most programs are small or have a violation nearby, of which it finds a shortest one".to_string())
}

fn growing_numbers(facts: &Facts<'_>) -> Result<String, String> {
    let Some(span) = facts.growing else {
        return Err("no number can be seen to grow without end".to_string());
    };
    let place = place(facts.task.program, span);
    Ok(format!(
        "numbers may grow without end, by {place}; it finds predicates that tell what matters of them"
    ))
}

fn bounded_numbers(facts: &Facts<'_>) -> Result<String, String> {
    match facts.growing {
        None => Ok("no number can be seen to grow, so all states may be few enough".to_string()),
        Some(_) => Err("numbers may grow without end, so there may be no end of states".to_string()),
    }
}

fn robustness(facts: &Facts<'_>) -> Result<String, String> {
    match facts.task.model.name() {
        "tso" => Ok("perhaps weak memory does not matter, and SC has fewer states".to_string()),
        _ => Err("it is for TSO".to_string()),
    }
}

fn predicates(_: &Facts<'_>) -> Result<String, String> {
    Ok("store buffers may grow without end; it keeps some entries and what holds for all others".to_string())
}

fn order_and_gaps(facts: &Facts<'_>) -> Result<String, String> {
    match (facts.beyond_gaps, facts.growing) {
        (Some(span), _) => {
            let program = facts.task.program;
            Err(format!("it cannot handle {}", place(program, span)))
        }
        (None, Some(span)) => {
            let place = place(facts.task.program, span);
            Ok(format!("numbers may grow without end, by {place}; it proves such programs"))
        }
        (None, None) => Ok("it needs few states where values are compared and copied".to_string()),
    }
}

fn last(facts: &Facts<'_>) -> Result<String, String> {
    let far = if facts.growing.is_some() { ", in search of a violation" } else { "" };
    Ok(format!("all that is left of the limits goes into exact exploration{far}"))
}

/// A statement and its line.
fn place(program: &Program, span: Span) -> String {
    let line = program.source.line(span).map(|line| format!(" (line {line})")).unwrap_or_default();
    format!("`{}`{line}", program.source.snippet(span))
}

impl<'p> Facts<'p> {
    /// Reads the facts off a task.
    pub fn of(task: &Task<'p>) -> Facts<'p> {
        let machine = Exact::new(task.program, task.model);
        let beyond_gaps = GapStepper::new(&machine, 1).err().map(|unsupported| unsupported.span);
        Facts {
            task: *task,
            locations: task.program.threads.iter().map(|thread| thread.locs().count()).sum(),
            buffers: buffers(task),
            growing: growing(task.program),
            beyond_gaps,
        }
    }
}

/// A choice among all integers, or a computation in a loop that may make a number larger.
fn growing(program: &Program) -> Option<Span> {
    let open = program.variables.iter().find(|variable| variable.initial == Domain::All);
    open.map(|variable| variable.span).or_else(|| program.threads.iter().find_map(growing_edge))
}

fn growing_edge(thread: &Thread) -> Option<Span> {
    let mut component = vec![0; thread.locs().count()];
    for (number, locs) in components(thread, &vec![true; component.len()]).iter().enumerate() {
        locs.iter().for_each(|loc| component[loc.index()] = number);
    }
    let in_loop = |edge: &Edge| component[edge.from.index()] == component[edge.to.index()];
    let grows = |edge: &&Edge| {
        let mut found = false;
        edge.op.for_each_part(&mut |part| {
            found |= match part {
                Op::Havoc(_, domain) => *domain == Domain::All,
                Op::Assign(_, value) | Op::Store(_, value) => in_loop(edge) && computes(value),
                _ => false,
            };
        });
        found
    };
    thread.edges().iter().find(grows).map(|edge| edge.span)
}

/// Whether an expression may be larger than what it is made from. Front ends bound its depth.
fn computes(value: &Expr<RegId>) -> bool {
    match value {
        Expr::Binary(Arith::Add | Arith::Sub | Arith::Mul, ..) => {
            let mut leaves = false;
            value.for_each_leaf(&mut |_| leaves = true);
            leaves
        }
        // Remainders and quotients by a constant are no larger than that, or than before.
        Expr::Binary(_, _, right) => !matches!(**right, Expr::Const(_)),
        Expr::Const(_) | Expr::Leaf(_) => false,
    }
}
