//! Lazy TSO reachability [004, sec. 3.1, Algorithm 3.1]: SC, and only the buffering that matters.
//!
//! R is the program at first. If R has a violation under SC, that is a violation of the program
//! under TSO. Otherwise the oracle ([`oracle`]) is asked for paths on which a delayed store shows.
//! If there is none, R is robust, so it is safe under TSO as it is under SC, and so is the program.
//! If there are some, R is extended by them ([`program::Delay`]) and the same is asked again.
//!
//! The *complete* extension takes the delayed store away, so that no path is found twice; without
//! loops there are finitely many paths, and the question is decided. With loops it may go on for
//! ever. So all paths found are first added by the smaller *practical* extension, just to see whether that is
//! enough for a violation; and after some number of delays loops are unrolled [Theorem 9]: the program whose threads go back
//! at most n times has no loops, so it is decided. If it is violated, so is the program. Otherwise n is raised, and so
//! is the number of delays, for the program itself may still turn out to be robust. Every violation is found
//! so, if there is time. Every path of a round is followed in parallel, and what is found for the first counts.
//!
//! All searches of a round share a limit on states that grows from round to round, so a
//! violation need not wait until SC is explored to the end.

pub(crate) mod extended;
mod oracle;

use crate::ranges::growing;
use crate::{Answer, Engine, Explicit, GapProofs, Reduction, Run};
use evidence::{
    Certificate, ClosedSet, Listed, Monitor, Pass, Progress, Reason, Statistics, Stop, Task, Verdict, Via,
    attacks_of, carries_over,
};
use extended::{Extended, is_cyclic};
use machine::{Accesses, SC, TSO, Trace};
use oracle::{Asked, Delays, Oracle, OracleWork, ask};
use program::{Delay, Program};
use std::sync::atomic::{AtomicUsize, Ordering};

/// States each search may have in the first round, and how many times as many in the next.
const FIRST_ROUND: usize = 1 << 12;
const GROWTH: usize = 8;

/// Where numbers may grow: more states than this under SC, and they are taken to.
const FINITE: usize = 1 << 13;

/// With loops, so many delays before they are unrolled, and twice as many every time after that.
const FIRST_DELAYS: usize = 48;

/// The engine.
pub struct Lazy;

impl Engine for Lazy {
    fn name(&self) -> &'static str {
        "lazy"
    }

    fn about(&self) -> &'static str {
        "TSO only: explores SC and adds only the store buffering that shows; safe where the rest is robust"
    }

    fn sees_buffers(&self, task: &Task<'_>) -> bool {
        task.model.is_sc()
    }

    fn answer(&self, task: &Task<'_>, run: &Run<'_>) -> Answer {
        if let Some(answer) = not_under_tso(task, run) {
            return answer;
        }
        if let Some(answer) = by_text(task, run) {
            return answer;
        }
        let summing = Summing { monitor: run.monitor, done: AtomicUsize::new(0) };
        let mut search = DelaySearch::new(*run);
        let verdict = match search.decide(Extended::none(task.program), FIRST_DELAYS) {
            DelaysEnded::TooMany(delays) => {
                search.run.monitor = &summing;
                search.raise_bounds(task.program, delays)
            }
            ended => ended.verdict(),
        };
        let OracleWork { states, queries } = search.work;
        let statistics = Statistics { states, sc_queries: Some(queries), ..Default::default() };
        Answer { verdict, statistics, engine: self.name() }
    }
}

/// The answer for other models: SC needs no delays, and PSO is another question.
fn not_under_tso(task: &Task<'_>, run: &Run<'_>) -> Option<Answer> {
    if task.model.like_tso(task.program) {
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
    let attacks = attacks_of(task.program, TSO, &accesses, run.monitor).ok()?;
    if !attacks.is_empty() || !carries_over(task.program) || growing(task.program).is_none() {
        return None;
    }
    let under_sc = Task { model: SC, ..*task };
    let limit = evidence::MostStates(FINITE);
    let monitor: (&dyn Monitor, &dyn Monitor) = (run.monitor, &limit);
    if !matches!(
        Explicit
            .verify(&under_sc, &Run { monitor: &monitor, reduction: Reduction::None, rounds: false, ..*run })
            .verdict,
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

/// Counts the work of all searches as states: none of them need be large where there is no end to their number, and
/// limits are meant for all together.
struct Summing<'a> {
    monitor: &'a dyn Monitor,
    done: AtomicUsize,
}

impl Monitor for Summing<'_> {
    fn observe(&self, progress: &Progress) -> Result<(), Stop> {
        let done = self.done.fetch_add(progress.work, Ordering::Relaxed) + progress.work;
        self.monitor.observe(&Progress { states: done.max(progress.states), ..*progress })
    }

    fn threads(&self) -> usize {
        self.monitor.threads()
    }

    fn note(&self, text: &str) {
        self.monitor.note(text);
    }

    fn leave(&self, engine: &'static str) {
        self.monitor.leave(engine);
    }
}

/// What extending a program came to.
pub enum DelaysEnded {
    /// There is a violation.
    Violated(Trace),
    /// The extended program is robust, and these are its states under SC, none of which violates anything.
    Robust(Box<Extended>, ClosedSet),
    /// There is no telling.
    Unknown(Vec<Reason>),
    /// After so many delays there are still others.
    TooMany(usize),
}

impl DelaysEnded {
    /// What it means for the program that was extended. That it is robust, and its states under SC, prove it safe, if its
    /// properties are of the kind that robustness decides.
    fn verdict(self) -> Verdict {
        match self {
            DelaysEnded::Violated(trace) => Verdict::Unsafe(trace),
            DelaysEnded::Unknown(reasons) => Verdict::Unknown(reasons),
            DelaysEnded::TooMany(delays) => Verdict::Unknown(vec![Reason::Delays(delays)]),
            DelaysEnded::Robust(extended, set) if carries_over(&extended.program) => {
                Verdict::Safe(Certificate::Via(Via { pass: Pass::Delays(extended.delays), gaps: None, set }))
            }
            DelaysEnded::Robust(..) => Verdict::Unknown(vec![Reason::CarriesNotOver]),
        }
    }
}

/// Searches of programs that are extended, or unrolled, further and further.
pub struct DelaySearch<'a> {
    run: Run<'a>,
    /// States each search may have.
    most: usize,
    /// States under SC of the last program that was asked about, and the queries of all rounds.
    work: OracleWork,
}

impl<'a> DelaySearch<'a> {
    /// In its first round.
    pub fn new(run: Run<'a>) -> DelaySearch<'a> {
        DelaySearch { run, most: FIRST_ROUND, work: OracleWork::default() }
    }

    /// Unrolls loops further and further, and in between allows for more delays.
    pub fn raise_bounds(&mut self, program: &Program, mut delays: usize) -> Verdict {
        let mut times = 0;
        loop {
            times += 1;
            self.run
                .monitor
                .note(&format!("{delays} delays and others matter: threads go back {times} times"));
            if let Some(unrolled) = Extended::unrolled(program, times) {
                match self.decide(unrolled, usize::MAX) {
                    DelaysEnded::Violated(trace) => return Verdict::Unsafe(trace),
                    DelaysEnded::Unknown(mut reasons) => {
                        reasons.push(Reason::Delays(delays));
                        return Verdict::Unknown(reasons);
                    }
                    // Nothing is violated by runs that go back so often.
                    DelaysEnded::Robust(..) | DelaysEnded::TooMany(_) => {}
                }
            }
            match self.decide(Extended::none(program), delays.saturating_mul(2)) {
                DelaysEnded::TooMany(more) => delays = more,
                DelaysEnded::Unknown(mut reasons) => {
                    reasons.push(Reason::Delays(delays));
                    return Verdict::Unknown(reasons);
                }
                ended => return ended.verdict(),
            }
        }
    }

    /// Extends a program until it is decided; with loops, by so many delays.
    pub fn decide(&mut self, program: Extended, delays: usize) -> DelaysEnded {
        loop {
            if let Some(ended) = self.extend(program.clone(), delays) {
                return ended;
            }
            self.most = self.most.saturating_mul(GROWTH);
        }
    }

    fn ask(&mut self, extended: &Extended, asked: Asked) -> Oracle {
        ask(extended, &self.run, self.most, asked, &mut self.work)
    }

    /// One pass of the algorithm; `None` if only the limit on states stands in the way.
    fn extend(&mut self, mut extended: Extended, most_delays: usize) -> Option<DelaysEnded> {
        let cyclic = extended.program.threads.iter().any(is_cyclic);
        loop {
            let first = extended.delays.is_empty();
            let asked = if first { Asked::Loads } else { Asked::Stores };
            let Delays { paths, more, cut } = match self.ask(&extended, asked) {
                Oracle::Violated(trace) => return Some(DelaysEnded::Violated(trace)),
                Oracle::Robust(set) => return Some(DelaysEnded::Robust(Box::new(extended), set)),
                Oracle::Cut => return None,
                Oracle::Unknown(reasons) => return Some(DelaysEnded::Unknown(reasons)),
                Oracle::Delays(delays) => delays,
            };
            if (cyclic || cut) && first {
                let practical = |delay: &Delay| Delay { complete: false, ..delay.clone() };
                let all: Vec<Delay> = paths.iter().chain(&more).map(practical).collect();
                if let Ok(hunted) = extended.with(&all)
                    && let Oracle::Violated(trace) = self.ask(&hunted, Asked::Violation(all.len()))
                {
                    return Some(DelaysEnded::Violated(trace));
                }
            }
            // There is no proof to be had without all states under SC.
            if cut {
                return None;
            }
            if cyclic && extended.delays.len() >= most_delays {
                return Some(DelaysEnded::TooMany(extended.delays.len()));
            }
            match extended.with(&paths) {
                Ok(more) => extended = more,
                Err(_) => return Some(DelaysEnded::Unknown(vec![Reason::Full])),
            }
        }
    }
}
