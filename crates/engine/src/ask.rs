//! Asking: the one way from a question to an answer that may be shown.
//!
//! Whoever is asked, the evidence is checked before anybody sees it, and a violation is made
//! simple ([`decide`]). A violation under a weaker model is then explained ([`Finding::explain`]): the
//! same engine, or the portfolio if that one never proves anything, is asked about SC, so that one knows
//! whether fences could help at all; what SC would forbid of the run is its cause, and a fence that prevents the run is tried out on it. [`ask`]
//! does all of this. Evidence that does not pass is a bug of ours and never an answer: of the portfolio the others
//! are asked then, and the bug is told beside what they say.

use crate::{Answer, Engine, FencePoint, FinalStates, Portfolio, Robust, Run, prevented_by};
use evidence::{
    Alone, Checked, Goal, Ignore, Monitor, Named, Progress, Reason, Rejected, Statistics, Stop, Task,
    VacuousClaim, Verdict, check, check_with, happens_under_sc, simplify, vacuous, without_start,
};
use machine::SC;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The question about SC may take this much work, about two seconds of it. Counting work keeps the
/// answer the same on every machine.
const SIDE_WORK: usize = 8_000_000;

/// An answer whose evidence was checked.
#[derive(Debug)]
pub struct Finding {
    /// The verdict; a violation was made simple.
    pub checked: Checked,
    /// What it cost: states, questions and the like.
    pub statistics: Statistics,
    /// The engine that answered.
    pub engine: &'static str,
    /// Of a violation, as far as that was asked: why it can happen.
    pub why: Explanation,
    /// Of a proof, as far as that was asked: claims that hold because nothing comes near them.
    pub vacuous: Vec<VacuousClaim>,
    /// Evidence of others that was rejected before.
    pub bugs: Vec<Bug>,
}

/// Why a violation can happen, and what to do about it.
#[derive(Debug, Default)]
pub struct Explanation {
    /// Whether SC violates something too, if that is known.
    pub sc_violation: Option<bool>,
    /// A fence that prevents the run, if there is a cause.
    pub prevented_by: Option<FencePoint>,
}

/// Evidence of an engine that was rejected.
#[derive(Debug)]
pub struct Bug {
    /// The engine.
    pub engine: &'static str,
    /// What is wrong with its evidence.
    pub why: Rejected,
}

impl fmt::Display for Bug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Bug { engine, why } = self;
        write!(
            f,
            "this is a bug in fencewright, please report it: the evidence of the engine `{engine}` was rejected: {why}"
        )
    }
}

impl std::error::Error for Bug {}

/// The answer to a task, checked, and of a violation why it can happen. The engine is asked about
/// safety; for the other goals there is one engine each.
pub fn ask(task: &Task<'_>, engine: &dyn Engine, run: &Run<'_>) -> Result<Finding, Bug> {
    let mut finding = decide(task, engine, run)?;
    finding.explain(task, engine, run);
    Ok(finding)
}

/// The answer to a task, checked, and no more. Stopped while checking, nothing is known.
pub fn decide(task: &Task<'_>, engine: &dyn Engine, run: &Run<'_>) -> Result<Finding, Bug> {
    let robust = Robust::default();
    let engine: &dyn Engine = match task.goal {
        Goal::Safe => engine,
        Goal::Robust => &robust,
        Goal::FinalStates => &FinalStates,
    };
    let (mut bugs, mut without): (Vec<Bug>, Vec<&'static str>) = (Vec::new(), run.without.to_vec());
    loop {
        let (statistics, answering, checked) = answered(task, engine, &Run { without: &without, ..*run });
        match checked {
            Ok(checked) => {
                return Ok(Finding {
                    checked: simplify(task, checked, run.monitor),
                    statistics,
                    engine: answering,
                    why: Explanation::default(),
                    vacuous: Vec::new(),
                    bugs,
                });
            }
            // Only who asks several can do without one of them.
            Err(why) if answering == engine.name() || without.contains(&answering) => {
                return Err(Bug { engine: answering, why });
            }
            Err(why) => {
                without.push(answering);
                bugs.push(Bug { engine: answering, why });
            }
        }
    }
}

/// What it took, who answered, and the verdict as far as it passes the check.
fn answered(
    task: &Task<'_>,
    engine: &dyn Engine,
    run: &Run<'_>,
) -> (Statistics, &'static str, Result<Checked, Rejected>) {
    let named = Named::new(engine.name(), run.monitor);
    let Answer { verdict, statistics, engine } =
        within_limits(task, engine, &Run { monitor: &named, ..*run });
    drop(named);
    let checked = match check_with(task, verdict, run.monitor, run.crew) {
        Err(Rejected::Stopped(stop)) => check(task, Verdict::Unknown(vec![Reason::Stopped(stop)]), &Ignore),
        checked => checked,
    };
    (statistics, engine, checked)
}

/// What the engine says. A run to what was not read of the program is no violation; there may still be
/// one in what was read.
fn within_limits(task: &Task<'_>, engine: &dyn Engine, run: &Run<'_>) -> Answer {
    let answer = engine.verify(task, run);
    let limit = match &answer.verdict {
        Verdict::Unsafe(trace) if trace.violation.is_limit(task.program) => trace.violation,
        _ => return answer,
    };
    let read = task.program.within_limits();
    let within = engine.verify(&Task { program: &read, ..*task }, run);
    let mut reasons = vec![Reason::NotRead(limit)];
    match &within.verdict {
        Verdict::Unsafe(_) => return within,
        Verdict::Unknown(more) => reasons.extend(more.iter().copied()),
        _ => {}
    }
    Answer { verdict: Verdict::Unknown(reasons), ..within }
}

impl Finding {
    /// Says of a violation why it can happen, and of a proof which claims it leaves empty.
    pub fn explain(&mut self, task: &Task<'_>, engine: &dyn Engine, run: &Run<'_>) {
        if let Verdict::Safe(certificate) = self.checked.verdict() {
            self.vacuous = vacuous(task, certificate, run.monitor).unwrap_or_default();
        } else if let Verdict::Robust(_) | Verdict::FinalStates(_) = self.checked.verdict() {
            self.vacuous = Vec::from_iter(without_start(task.program));
        }
        if let Verdict::Unsafe(trace) = self.checked.verdict() {
            let sc_violation = match happens_under_sc(task.program, trace) {
                true => Some(true),
                false => self.violated_under_sc(task, engine, run),
            };
            // Where SC violates something too, there is nothing that it would forbid.
            if sc_violation != Some(true) {
                self.checked.explain(task, run.monitor);
            }
            self.why = explained(task, &self.checked, sc_violation, run.monitor);
        }
    }

    /// Whether SC violates something as well, as far as that can be found out.
    fn violated_under_sc(&mut self, task: &Task<'_>, engine: &dyn Engine, run: &Run<'_>) -> Option<bool> {
        let sc = Task { model: SC, ..*task };
        if task.model.is_sc() {
            return Some(true);
        }
        let aside = Aside { monitor: run.monitor, done: AtomicUsize::new(0) };
        let engine = if engine.proves() { engine } else { &Portfolio };
        match decide(&sc, engine, &Run { monitor: &aside, crew: &Alone, ..*run }) {
            Ok(finding) => {
                self.bugs.extend(finding.bugs);
                finding.checked.holds().map(|safe| !safe)
            }
            Err(bug) => {
                self.bugs.push(bug);
                None
            }
        }
    }
}

/// Why a violation can happen, if it is known whether SC violates something too.
pub fn explained(
    task: &Task<'_>,
    checked: &Checked,
    sc_violation: Option<bool>,
    monitor: &dyn Monitor,
) -> Explanation {
    let prevented_by = checked.violated().and_then(|violated| prevented_by(task, violated, monitor));
    Explanation { sc_violation, prevented_by }
}

/// Watches a question beside the main one: it has a limit of its own on work, and what engines
/// decide on their way is not told.
struct Aside<'a> {
    monitor: &'a dyn Monitor,
    done: AtomicUsize,
}

impl Monitor for Aside<'_> {
    fn observe(&self, progress: &Progress) -> Result<(), Stop> {
        self.monitor.observe(progress)?;
        let done = self.done.fetch_add(progress.work, Ordering::Relaxed) + progress.work;
        if done > SIDE_WORK { Err(Stop::States) } else { Ok(()) }
    }

    fn threads(&self) -> usize {
        self.monitor.threads()
    }

    fn leave(&self, engine: &'static str) {
        self.monitor.leave(engine);
    }
}
