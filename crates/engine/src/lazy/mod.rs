//! Lazy TSO reachability [004, sec. 3.1, Algorithm 3.1]: SC, and only the buffering that matters.
//!
//! R is the program at first. If R has a violation under SC, that is a violation of the program
//! under TSO. Otherwise the oracle ([`oracle`]) is asked for paths on which a delayed store shows.
//! If there is none, R is robust, so it is safe under TSO as it is under SC, and so is the program.
//! If there are some, R is extended by them ([`program::Delay`]) and the same is asked again.
//!
//! The *complete* extension takes the delayed store away, so that no path is found twice; without
//! loops there are finitely many paths, and the question is decided. With loops it may go on for
//! ever, so there is a limit to the number of delays; before it goes that way, all paths found
//! are added by the smaller *practical* extension, just to see whether that is enough for a
//! violation. Every path of a round is followed in parallel, and what is found for the first counts.
//!
//! All searches of a round share a limit on states that grows from round to round, so a
//! violation need not wait until SC is explored to the end.

mod extended;
mod oracle;

use crate::ranges::growing;
use crate::{Answer, Engine, Explicit, GapProofs, Reduction, Run};
use evidence::{Certificate, Listed, Pass, Reason, Statistics, Task, Verdict, Via, attacks_of, carries_over};
use extended::{Extended, is_cyclic};
use machine::{Accesses, SC, TSO};
use oracle::{Asked, Delays, Oracle, OracleWork, ask};
use program::Delay;

/// States each search may have in the first round, and how many times as many in the next.
const FIRST_ROUND: usize = 1 << 12;
const GROWTH: usize = 8;

/// Where numbers may grow: more states than this under SC, and they are taken to.
const FINITE: usize = 1 << 13;

/// With loops, no more delays than this.
const MOST_DELAYS: usize = 48;

/// The engine.
pub struct Lazy;

impl Engine for Lazy {
    fn name(&self) -> &'static str {
        "lazy"
    }

    fn about(&self) -> &'static str {
        "TSO only: explores SC and adds only the store buffering that shows; safe where the rest is robust"
    }

    fn verify(&self, task: &Task<'_>, run: &Run<'_>) -> Answer {
        if let Some(answer) = not_under_tso(task, run) {
            return answer;
        }
        if let Some(answer) = by_text(task, run) {
            return answer;
        }
        let mut most = FIRST_ROUND;
        let mut round = DelayRound { task, run, most, work: OracleWork::default() };
        loop {
            if let Some(verdict) = round.answer() {
                return round.answered(verdict);
            }
            most = most.saturating_mul(GROWTH);
            round.most = most;
        }
    }
}

/// The answer for other models: SC needs no delays, and PSO is another question.
fn not_under_tso(task: &Task<'_>, run: &Run<'_>) -> Option<Answer> {
    if task.model == TSO {
        return None;
    }
    if task.model.is_sc() {
        return Some(Answer { engine: Lazy.name(), ..Explicit.verify(task, run) });
    }
    let verdict = Verdict::Unknown(vec![Reason::OnlyTso]);
    Some(Answer { verdict, statistics: Statistics::default(), engine: Lazy.name() })
}

/// Where the text alone says that the program is robust, whatever the data: then a proof over
/// unbounded integers under SC is one under TSO, if there is no finite set of states.
fn by_text(task: &Task<'_>, run: &Run<'_>) -> Option<Answer> {
    let accesses = Accesses::of(task.program);
    // Stopped while listing, the rounds find that out as well.
    let attacks = attacks_of(task.program, &accesses, run.monitor).ok()?;
    if !attacks.is_empty() || !carries_over(task.program) || growing(task.program).is_none() {
        return None;
    }
    let under_sc = Task { model: SC, ..*task };
    let limit = evidence::MostStates(FINITE);
    let monitor: (&dyn evidence::Monitor, &dyn evidence::Monitor) = (run.monitor, &limit);
    if !matches!(
        Explicit.verify(&under_sc, &Run { monitor: &monitor, reduction: Reduction::None, ..*run }).verdict,
        Verdict::Unknown(_)
    ) {
        return None;
    }
    // The list has to be about the program as it stands.
    let answer = GapProofs.verify(&under_sc, &Run { reduction: Reduction::None, ..*run });
    match answer.verdict {
        Verdict::Safe(Certificate::Listed(Listed { gaps: Some(gaps), set })) => {
            let verdict = Verdict::Safe(Certificate::Via(Via {
                pass: Pass::Delays(Vec::new()),
                gaps: Some(gaps),
                set,
            }));
            Some(Answer { verdict, engine: Lazy.name(), ..answer })
        }
        _ => None,
    }
}

/// One pass of the algorithm, with a limit on states.
struct DelayRound<'a> {
    task: &'a Task<'a>,
    run: &'a Run<'a>,
    most: usize,
    /// States under SC of the last program that was asked about, and the queries of all rounds.
    work: OracleWork,
}

impl DelayRound<'_> {
    fn answered(&self, verdict: Verdict) -> Answer {
        let OracleWork { states, queries } = self.work;
        let statistics = Statistics { states, sc_queries: Some(queries), ..Default::default() };
        Answer { verdict, statistics, engine: Lazy.name() }
    }

    /// A robust program and its states under SC prove the original one safe, if its properties
    /// are of the kind that robustness decides.
    fn safe(extended: Extended, set: evidence::ClosedSet) -> Verdict {
        if carries_over(&extended.program) {
            Verdict::Safe(Certificate::Via(Via { pass: Pass::Delays(extended.delays), gaps: None, set }))
        } else {
            Verdict::Unknown(vec![Reason::CarriesNotOver])
        }
    }

    fn ask(&mut self, extended: &Extended, asked: Asked) -> Oracle {
        ask(extended, self.run, self.most, asked, &mut self.work)
    }

    /// The verdict; `None` if only the limit of the round stands in the way.
    fn answer(&mut self) -> Option<Verdict> {
        let program = self.task.program;
        let cyclic = program.thread_ids().any(|thread| is_cyclic(program, thread));
        let mut extended = Extended::none(program);
        loop {
            let first = extended.delays.is_empty();
            let asked = if first { Asked::Loads } else { Asked::Stores };
            let Delays { paths, more, cut } = match self.ask(&extended, asked) {
                Oracle::Violated(trace) => return Some(Verdict::Unsafe(trace)),
                Oracle::Robust(set) => return Some(Self::safe(extended, set)),
                Oracle::Cut => return None,
                Oracle::Unknown(reasons) => return Some(Verdict::Unknown(reasons)),
                Oracle::Delays(delays) => delays,
            };
            if (cyclic || cut) && first {
                let practical = |delay: &Delay| Delay { complete: false, ..delay.clone() };
                let all: Vec<Delay> = paths.iter().chain(&more).map(practical).collect();
                if let Ok(hunted) = extended.with(&all)
                    && let Oracle::Violated(trace) = self.ask(&hunted, Asked::Violation)
                {
                    return Some(Verdict::Unsafe(trace));
                }
            }
            // There is no proof to be had without all states under SC.
            if cut {
                return None;
            }
            if cyclic && extended.delays.len() >= MOST_DELAYS {
                return Some(Verdict::Unknown(vec![Reason::Delays(extended.delays.len())]));
            }
            match extended.with(&paths) {
                Ok(more) => extended = more,
                Err(_) => return Some(Verdict::Unknown(vec![Reason::Full])),
            }
        }
    }
}
