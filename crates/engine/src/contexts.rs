//! Violations within few contexts, for buffers of any length and integers of any size [002].
//!
//! Explores the machine of runs with at most k contexts ([`machine::Contexts`]) for k = 1, 2, 3, …: most
//! violations need few. Its controls are finite however long buffers grow, and it goes by the order of values
//! where numbers grow without end (the gap abstraction with precision 0 is the source's weak order [sec. 6.2,
//! Fig. 5]), else by the values themselves. Where numbers grow in ways that their order says too little about, it goes by
//! predicates (`contexts/predicates.rs`).
//!
//! A run to a violation is unfolded into one with queues and tried on the exact machine. Where its
//! chosen values do not fit, because gaps were made small on the way, values that do are found by following the run
//! symbolically (as the source moves values apart [Lemma 5]). If there are none, order is too
//! little to know, and the precision is doubled.
//!
//! If nothing is violated the states found prove it for k contexts, and never more than that: the answer stays
//! *unknown*, with the largest k that was finished and checked.

mod predicates;

use crate::cegar::{Halt, execute};
use crate::ranges::growing;
use crate::search::{Ended, Limits, retrace, search};
use crate::stepping::{Stepping, chosen_initially};
use crate::{Answer, Engine, Run};
use evidence::symbolic::Vocabulary;
use evidence::{
    ContextProof, ContextStates, Monitor, Progress, Reason, Rejected, Statistics, Stop, Task, Verdict,
    WithinContexts,
};
use machine::{
    ContextStep, Contexts, DataDomain, Event, GapStepper, Gaps, Planned, StateRef, StateSet, Stepper, Trace,
    Violation, replay,
};
use predicates::ContextPredicates;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Precisions beyond this are not tried.
const MOST_PRECISE: i64 = 32;

/// Where numbers may grow for ever, values are explored up to so many states before predicates are asked: violations
/// that are near are found sooner so.
const NEAR: usize = 1 << 16;

/// What is known of values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ContextData {
    /// Their order where they grow without end; where that is too little, predicates; else the values.
    #[default]
    Auto,
    /// The values.
    Concrete,
    /// Their order, and small gaps where that is too little.
    Order,
    /// Predicates that paths to supposed violations show to be needed.
    Predicates,
}

/// How `context` counts and what it knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContextBound {
    /// The largest number of contexts to try; none means as far as the limits go.
    pub contexts: Option<u8>,
    /// What is known of values.
    pub data: ContextData,
}

/// The engine.
pub struct BoundedContexts;

impl Engine for BoundedContexts {
    fn name(&self) -> &'static str {
        "context"
    }

    fn about(&self) -> &'static str {
        "looks for violations with few context switches, whatever buffers and numbers do; never proves safety"
    }

    fn proves(&self) -> bool {
        false
    }

    fn sees_buffers(&self, _: &Task<'_>) -> bool {
        false
    }

    fn answer(&self, task: &Task<'_>, run: &Run<'_>) -> Answer {
        let mut hunt = ContextHunt {
            task,
            run,
            precision: 0,
            learned: None,
            unchecked: Mutex::default(),
            within: Mutex::default(),
            statistics: Statistics::default(),
        };
        let verdict = hunt.go_on();
        let verdict = match (verdict, locked(&hunt.within).take()) {
            (Verdict::Unknown(reasons), Some(within)) => {
                let beyond = Reason::ContextsBeyond(within.contexts());
                Verdict::Within(Box::new(within), std::iter::once(beyond).chain(reasons).collect())
            }
            (verdict, _) => verdict,
        };
        Answer { verdict, statistics: hunt.statistics, engine: self.name() }
    }
}

/// What runs of so many contexts do.
enum ContextsExplored {
    Violated(Trace),
    /// Nothing is violated, if nothing was left out.
    Closed(ContextProof, Vec<Reason>),
    /// A run of the abstraction that the program does not have.
    Spurious,
    /// There are more states than were to be looked at.
    Beyond,
    Stopped(Reason),
}

struct ContextHunt<'a> {
    task: &'a Task<'a>,
    run: &'a Run<'a>,
    /// Gaps up to this are known.
    precision: i64,
    /// What is known of values, where that is predicates.
    learned: Option<ContextPredicates>,
    /// What the last number of contexts showed, until it is checked.
    unchecked: Mutex<Option<ContextProof>>,
    /// The largest number of contexts within which nothing is violated, checked.
    within: Mutex<Option<WithinContexts>>,
    statistics: Statistics,
}

impl<'a> ContextHunt<'a> {
    /// A violation, or why none was found further on.
    fn go_on(&mut self) -> Verdict {
        let most = self.run.contexts.contexts.unwrap_or(Contexts::MOST).min(Contexts::MOST);
        let mut left_out = Vec::new();
        for contexts in 1..=most {
            let (proof, doubts) = match self.precise(contexts) {
                ContextsExplored::Violated(trace) => return Verdict::Unsafe(trace),
                ContextsExplored::Closed(proof, doubts) => (proof, doubts),
                ContextsExplored::Spurious => {
                    left_out = vec![Reason::Imprecise(self.precision)];
                    break;
                }
                ContextsExplored::Beyond => return Verdict::Unknown(vec![Reason::Full]),
                ContextsExplored::Stopped(reason) => return Verdict::Unknown(vec![reason]),
            };
            let last = !proof.reaches(contexts);
            // Without all of its states nothing is proved, but more contexts may show a violation.
            if doubts.is_empty() {
                *locked(&self.unchecked) = Some(proof);
            }
            left_out = doubts;
            if last {
                break;
            }
        }
        match self.check() {
            Ok(()) => Verdict::Unknown(left_out),
            Err(stop) => Verdict::Unknown(vec![Reason::Stopped(stop)]),
        }
    }

    /// Explores with as much precision as it takes.
    fn precise(&mut self, contexts: u8) -> ContextsExplored {
        loop {
            let found = self.explore(contexts);
            if !matches!(found, ContextsExplored::Spurious) || self.precision >= MOST_PRECISE {
                return found;
            }
            self.precision = (2 * self.precision).max(1);
            self.run.monitor.note(&format!("{contexts} contexts: gaps up to {} are needed", self.precision));
        }
    }

    fn explore(&mut self, contexts: u8) -> ContextsExplored {
        let machine = Contexts::new(self.task.program, self.task.model, contexts);
        self.statistics.contexts = Some(usize::from(contexts));
        let order = |hunt: &ContextHunt<'_>| GapStepper::new(&machine, hunt.precision);
        match self.run.contexts.data {
            ContextData::Concrete => self.explore_values(&machine, None),
            ContextData::Order => match order(self) {
                Ok(domain) => self.explore_order(domain),
                Err(unsupported) => ContextsExplored::Stopped(Reason::Unsupported(unsupported.span)),
            },
            ContextData::Predicates => self.explore_predicates(contexts),
            ContextData::Auto if growing(self.task.program).is_none() => self.explore_values(&machine, None),
            ContextData::Auto => match order(self) {
                Ok(domain) if self.precision < MOST_PRECISE => self.explore_order(domain),
                _ => self.explore_near_then_predicates(&machine),
            },
        }
    }

    /// By values as far as that goes quickly, then by predicates; by values alone where those cannot be had.
    fn explore_near_then_predicates(&mut self, machine: &Contexts<'_>) -> ContextsExplored {
        match self.explore_values(machine, Some(NEAR)) {
            ContextsExplored::Beyond => {}
            found => return found,
        }
        match self.explore_predicates(machine.most()) {
            ContextsExplored::Stopped(Reason::NotLinear(_) | Reason::Indistinct { .. }) => {
                self.explore_values(machine, None)
            }
            found => found,
        }
    }

    fn explore_values(&mut self, machine: &Contexts<'_>, most: Option<usize>) -> ContextsExplored {
        self.statistics.method = Some("concrete values");
        self.explore_on(Stepper::new(machine), None, most)
    }

    fn explore_order<'m>(&mut self, domain: GapStepper<'m, Contexts<'m>>) -> ContextsExplored {
        self.statistics.method = Some("order of values");
        let gaps = domain.gaps();
        self.explore_on(domain, Some(gaps), None)
    }

    fn explore_on<'m, D>(&mut self, domain: D, gaps: Option<Gaps>, most: Option<usize>) -> ContextsExplored
    where
        D: DataDomain<'m, Machine = Contexts<'m>>,
    {
        let mut system = Stepping::hunting(domain);
        let contexts = system.domain.stepper().machine().most();
        let monitor = Holding { hunt: self, contexts, work: 0 };
        let found = search(&mut system, &Limits { states: most, ..Limits::none(&monitor) });
        self.statistics.states = found.states.len();
        let doubts = system.take_reasons();
        match found.ended {
            Ended::Goal(at, violation) => match self.trace(&mut system, &found.states, at, violation) {
                Ok(Some(trace)) => ContextsExplored::Violated(trace),
                Ok(None) if gaps.is_some() => ContextsExplored::Spurious,
                Ok(None) => ContextsExplored::Stopped(Reason::NotReplayed),
                Err(reason) => ContextsExplored::Stopped(reason),
            },
            Ended::Complete => {
                let set = system.closed_set(found.states);
                let reached = ContextStates::Listed { gaps, set };
                ContextsExplored::Closed(ContextProof { contexts, reached }, doubts)
            }
            Ended::Stopped(_) if most.is_some_and(|most| self.statistics.states > most) => {
                ContextsExplored::Beyond
            }
            Ended::Stopped(stop) => ContextsExplored::Stopped(Reason::Stopped(stop)),
            Ended::Full | Ended::Heavy | Ended::Deep => ContextsExplored::Beyond,
        }
    }

    /// The run to a violation on the exact machine, if it has it.
    fn trace<'m, D>(
        &self,
        system: &mut Stepping<D>,
        states: &StateSet,
        goal: StateRef,
        violation: Violation,
    ) -> Result<Option<Trace>, Reason>
    where
        D: DataDomain<'m, Machine = Contexts<'m>>,
    {
        let mut taken: Vec<(Event, Option<i64>, Planned)> = Vec::new();
        let first = retrace(system, states, goal, |system, (event, choice), state| {
            let local = system.domain.stepper().local(event.thread(), state);
            taken.push((event, choice, local.clone()));
        });
        let steps =
            taken.iter().map(|(event, choice, local)| ContextStep { event: *event, choice: *choice, local });
        let steps = system.domain.stepper().machine().unfold(steps);
        let initial = chosen_initially(self.task.program, &first);
        let trace = Trace { initial, steps, violation };
        if replay(self.task.program, self.task.model, &trace).is_ok() {
            return Ok(Some(trace));
        }
        let events: Vec<Event> = trace.steps.iter().map(|step| step.event).collect();
        self.follow(&events, violation)
    }

    /// A run of the exact machine in which these events happen, to a violation, if it has one.
    fn follow(&self, events: &[Event], violation: Violation) -> Result<Option<Trace>, Reason> {
        let progress = Progress { phase: "following a path", ..Progress::default() };
        let go_on = || self.run.monitor.observe(&progress);
        let mut vocabulary = Vocabulary::default();
        let exact = self.task.machine();
        match execute(&exact, events, None, Some(violation), (&mut vocabulary, &go_on)) {
            Ok(taken) => Ok(taken.map(|taken| taken.violating(violation))),
            Err(Halt::Stopped(stop)) => Err(Reason::Stopped(stop)),
            Err(Halt::NotLinearAt(_)) => Ok(None),
        }
    }

    /// Checks what the last number of contexts showed. The next one calls this when it has cost more than
    /// the check will: if it finds a violation before, nobody wants to know.
    fn check(&self) -> Result<(), Stop> {
        let Some(proof) = locked(&self.unchecked).take() else { return Ok(()) };
        let monitor = Holding { hunt: self, contexts: proof.contexts, work: CHECKED };
        match proof.check(self.task, &monitor) {
            Ok(within) => {
                *locked(&self.within) = Some(within);
                Ok(())
            }
            Err(Rejected::Stopped(stop)) => Err(stop),
            // The checker has the same machine, so this cannot be; what was checked before still holds.
            Err(_) => {
                self.run.monitor.note("the states of the last number of contexts were rejected");
                Ok(())
            }
        }
    }

    /// The bytes of what was shown for fewer contexts.
    fn held(&self) -> usize {
        let within = locked(&self.within).as_ref().map_or(0, |within| within.proof().bytes());
        within + locked(&self.unchecked).as_ref().map_or(0, |proof| proof.bytes())
    }

    /// Whether this many states are more than those that wait for their check.
    fn outgrown(&self, states: usize) -> bool {
        locked(&self.unchecked).as_ref().is_some_and(|proof| states > proof.len())
    }
}

fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The work between two reports of the checker.
const CHECKED: usize = 4096 * 2;

/// Counts the states of fewer contexts as well, which are kept as evidence, and checks them in time.
struct Holding<'a> {
    hunt: &'a ContextHunt<'a>,
    contexts: u8,
    /// The work of one report that tells none.
    work: usize,
}

impl Monitor for Holding<'_> {
    fn observe(&self, progress: &Progress) -> Result<(), Stop> {
        self.hunt.run.monitor.observe(&Progress {
            bound: Some(usize::from(self.contexts)),
            bytes: progress.bytes + self.hunt.held(),
            work: progress.work.max(self.work),
            ..*progress
        })?;
        if self.hunt.outgrown(progress.states) { self.hunt.check() } else { Ok(()) }
    }

    fn threads(&self) -> usize {
        self.hunt.run.monitor.threads()
    }
}
