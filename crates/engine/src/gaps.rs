//! Proofs for unbounded integers by order and small gaps.
//!
//! Explores the normal forms of the gap abstraction ([`machine::Gaps`]): finitely many for each
//! shape of control, however large the numbers grow. Tickets, sequence numbers and positions
//! are compared, copied and counted up, and what matters is their order and how far neighbours
//! are apart. If no normal form violates anything, the set of those reached is a proof. If one
//! does, the run to it is tried on the exact machine: either it is a violation, or the
//! precision was too small, and the next one is tried: 1, 2, 4, …. Where there are many normal forms, threads go
//! ahead ([`machine::GoingAhead`]), and of those that differ in the names of interchangeable threads one is explored. Before that we ask
//! whether what grows matters at all ([`crate::forgetting`]), and whether its order alone is enough.

use crate::forgetting::without_growth;
use crate::reduce::LeftOut;
use crate::search::{Ended, Limits, search};
use crate::stepping::{Stepping, broken_off};
use crate::{Answer, Engine, Reduction, Run};
use evidence::{Reason, Statistics, Stop, Task, Verdict};
use machine::{Buffered, DataDomain, GapStepper, Gaps, OnDomain, Unsupported, on_kinds, replay};

/// Precisions beyond this are not tried.
const MOST_PRECISE: i64 = 32;

/// Beyond this many normal forms a search is large.
const LARGE: usize = 1 << 15;

/// The engine.
pub struct GapProofs;

impl Engine for GapProofs {
    fn name(&self) -> &'static str {
        "gaps"
    }

    fn about(&self) -> &'static str {
        "proves programs over unbounded integers by the order of values and small gaps between them"
    }

    fn answer(&self, task: &Task<'_>, run: &Run<'_>) -> Answer {
        let left_out = LeftOut::usual(task, run.reduction);
        let mut precision = 1;
        let mut states = 0;
        loop {
            let (step, statistics) = round(task, run, precision, &left_out);
            states += statistics.states;
            let statistics = Statistics { states, ..statistics };
            match step {
                Attempt::Done(verdict) => return Answer { verdict, statistics, engine: self.name() },
                Attempt::Spurious if precision >= MOST_PRECISE => {
                    let verdict = Verdict::Unknown(vec![Reason::Imprecise(precision)]);
                    return Answer { verdict, statistics, engine: self.name() };
                }
                Attempt::Spurious => precision *= 2,
            }
        }
    }
}

enum Attempt {
    Done(Verdict),
    /// A violation of the abstraction that is none of the program.
    Spurious,
}

fn round(task: &Task<'_>, run: &Run<'_>, precision: i64, left_out: &LeftOut) -> (Attempt, Statistics) {
    let machine = task.machine();
    let gaps = match GapStepper::new(&machine, precision) {
        Ok(steps) => steps.gaps(),
        Err(Unsupported { span }) => {
            let unknown = Verdict::Unknown(vec![Reason::Unsupported(span)]);
            return (Attempt::Done(unknown), Statistics::default());
        }
    };
    let none = LeftOut::default();
    let plain = Forms { task, run, gaps, left_out: &none, most: None };
    let begun = match run.reduction {
        Reduction::Auto => Forms { most: Some(LARGE), ..plain }.on(&machine),
        _ => None,
    };
    let reduced = || (!left_out.is_none()).then(|| Forms { left_out, ..plain }.on(&machine)).flatten();
    let coarser = || if precision == 1 { coarser(&Forms { left_out, ..plain }, &machine) } else { None };
    // Without a limit, the last of them always ends with something.
    let found = begun.or_else(coarser).or_else(reduced).or_else(|| plain.on(&machine));
    found.unwrap_or((Attempt::Spurious, Statistics::default()))
}

/// An answer from less: without what grows, or with its order alone. Nothing if that is not enough.
fn coarser(forms: &Forms<'_>, machine: &Buffered<'_>) -> Option<(Attempt, Statistics)> {
    let Forms { task, run, .. } = *forms;
    if matches!(run.reduction, Reduction::Auto | Reduction::All)
        && let Some((verdict, statistics)) = without_growth(task, run)
    {
        return Some((Attempt::Done(verdict), statistics));
    }
    let order = GapStepper::new(machine, 0).ok()?.gaps();
    if run.reduction != Reduction::Auto || order.precision > 0 {
        return None;
    }
    let (attempt, statistics) = Forms { gaps: order, ..*forms }.on(machine)?;
    matches!(attempt, Attempt::Done(Verdict::Safe(_) | Verdict::Unsafe(_))).then_some((attempt, statistics))
}

/// Which normal forms to explore.
#[derive(Clone, Copy)]
struct Forms<'a> {
    task: &'a Task<'a>,
    run: &'a Run<'a>,
    gaps: Gaps,
    left_out: &'a LeftOut,
    /// No more than this.
    most: Option<usize>,
}

impl Forms<'_> {
    /// Explores them; `None` if there are more than there should be, or the rules are not for the program.
    fn on(self, machine: &Buffered<'_>) -> Option<(Attempt, Statistics)> {
        on_kinds(machine, self.gaps, self.left_out.rules, &self.left_out.renamings, self)??
    }
}

impl OnDomain for Forms<'_> {
    type Done = Option<(Attempt, Statistics)>;

    fn run<'m, 'p: 'm>(self, domain: impl DataDomain<'m, Machine = Buffered<'p>>) -> Self::Done {
        let Forms { task, run, gaps, left_out, most } = self;
        let mut system = Stepping::hunting(domain);
        let found = search(&mut system, &Limits { states: most, ..run.limits() });
        let states = found.states.len();
        if found.ended == Ended::Stopped(Stop::States) && most.is_some_and(|most| states > most) {
            return None;
        }
        let statistics =
            Statistics { states, k: Some(found.bound), method: left_out.method(), ..Default::default() };
        let doubts = system.take_reasons();
        let attempt = match (broken_off(&found), found.ended) {
            (Some(reason), _) => Attempt::Done(Verdict::Unknown(vec![reason])),
            (None, Ended::Goal(at, violation)) => {
                // Perhaps the exact machine can take the run to the violating normal form.
                let trace = system.trace(&found.states, at, violation);
                match replay(task.program, task.model, &trace) {
                    Ok(_) => Attempt::Done(Verdict::Unsafe(trace)),
                    Err(_) if doubts.is_empty() => Attempt::Spurious,
                    Err(_) => Attempt::Done(Verdict::Unknown(doubts)),
                }
            }
            (None, _) if doubts.is_empty() => {
                let set = system.closed_set(found.states);
                Attempt::Done(Verdict::Safe(left_out.clone().proof(Vec::new(), Some(gaps), set)))
            }
            (None, _) => Attempt::Done(Verdict::Unknown(doubts)),
        };
        Some((attempt, statistics))
    }
}
