//! From a proof under SC to one under TSO or PSO [003].
//!
//! Whoever has proved a program under SC knows most of what matters with store buffers as well. The
//! predicates of the proof are the author's (`predicates { … }`) or found by `cegar`. They are *lifted* to
//! stores on their way ([`lift`]), and the program is explored on the machine that keeps the k oldest
//! stores of every queue in order, where forgetting one is an *overflow*: a proof then speaks of
//! controls that forget nothing. There are two ways to compute what a step makes of a cube ([`prover`]):
//!
//! * *cube extrapolation*: from one literal, or from a cube that the proof under SC used, lifted;
//! * *predicate extrapolation*: from all that is known; more precise, and more to ask.
//!
//! An overflow raises k. A path to a violation that cannot be taken means that predicates or cubes
//! are too few: from cubes one goes to predicates, then to predicates that compare stores with
//! memory (rules 4 and 11), and at last `cegar` goes on, starting with the predicates. So there is
//! an answer wherever `cegar` has one. Evidence is an ordinary proof by cubes, or a violation.

mod lift;
pub(crate) mod names;
mod needed;
mod prover;

pub use lift::{Lifted, Lifting};

pub(crate) use crate::cegar::Taken;

use crate::cegar::{
    CubeRound, CubeSearchEnded, Effort, Halt, Judge, Predicates, Refined, Space, certificate, execute,
    hinted, reach, refine,
};
use crate::{Answer, Engine, Reduction, Run};
use evidence::symbolic::Vocabulary;
use evidence::{Certificate, CubeProof, Progress, Reason, Statistics, Task, Verdict};
use lift::with_loaded;
use logic::Atom;
use machine::{Buffered, Event, Forgotten, Keep, Recall, SC, Trace, Violation};
use prover::Prover;
use std::collections::BTreeSet;

/// The largest bound on buffers that is tried.
const MOST_K: usize = 4;

/// The engine.
pub struct Extrapolate;

impl Engine for Extrapolate {
    fn name(&self) -> &'static str {
        "extrapolate"
    }

    fn about(&self) -> &'static str {
        "carries a proof under SC over to store buffers: its predicates and cubes, lifted to buffered stores"
    }

    fn sees_buffers(&self, _: &Task<'_>) -> bool {
        false
    }

    fn answer(&self, task: &Task<'_>, run: &Run<'_>) -> Answer {
        let Extrapolated { verdict, statistics, .. } = extrapolate(task, run);
        Answer { verdict, statistics, engine: self.name() }
    }
}

/// What is carried over first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Extrapolation {
    /// Predicates, and the cubes that the proof under SC used.
    #[default]
    Cubes,
    /// Predicates only.
    Predicates,
}

/// One exploration, in the terms of the source's tables.
#[derive(Clone, Debug)]
pub struct Phase {
    /// What was done.
    pub what: &'static str,
    /// The bound on buffers, where there are some.
    pub k: Option<usize>,
    /// Predicates, as the source counts them.
    pub predicates: usize,
    /// Cubes that it began with.
    pub given: Option<usize>,
    /// Questions put to the prover.
    pub questions: usize,
    /// Cubes of two or more predicates that were used.
    pub cubes: usize,
    /// The predicates of the largest of them.
    pub size: usize,
    /// Cubes reached.
    pub states: usize,
    /// How it ended.
    pub ended: &'static str,
}

/// How extrapolation went.
pub struct Extrapolated {
    /// The verdict, not yet checked.
    pub verdict: Verdict,
    /// What all phases took together.
    pub statistics: Statistics,
    /// One after the other.
    pub phases: Vec<Phase>,
}

/// Answers a task by extrapolation.
pub fn extrapolate(task: &Task<'_>, run: &Run<'_>) -> Extrapolated {
    let mut work = Extrapolator::new(*task, *run);
    let verdict = work.verdict().unwrap_or_else(|halt| {
        let reasons = std::iter::once(halt.into()).chain(std::mem::take(&mut work.doubts));
        Verdict::Unknown(reasons.collect())
    });
    Extrapolated { verdict, statistics: work.statistics, phases: work.phases }
}

/// Whether a task is safe when no queue may hold more than `k` stores: one that would is an overflow, and
/// as bad as a violation.
pub(crate) fn within(task: &Task<'_>, run: &Run<'_>, k: usize) -> Result<Bounded, Vec<Reason>> {
    Extrapolator::new(*task, *run).within(k).unwrap_or_else(|halt| Err(vec![halt.into()]))
}

/// An answer about buffers of a bound.
pub(crate) enum Bounded {
    /// It is safe, and nothing overflows.
    Safe(CubeProof),
    Violated(Trace),
    /// In this run a queue gets too long.
    Overflows(Taken),
    /// As far as the predicates can tell, a queue may get too long; the path that they see is no run.
    MayOverflow,
}

/// What was found out about a task with buffers of a bound.
enum Attempted {
    Safe(CubeProof),
    Violated(Trace),
    /// These events lead to an overflow, as far as the predicates can tell.
    Overflow(Vec<Event>),
    /// A path to a violation cannot be taken.
    Imprecise,
}

/// The proof under SC, and what it used.
struct ScProof {
    predicates: Vec<Atom>,
    by_cases: Vec<Atom>,
    cubes: BTreeSet<Vec<Atom>>,
    proof: CubeProof,
}

/// A way to carry the proof over.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Cubes,
    Predicates,
    Agreements,
}

impl Way {
    fn name(self) -> &'static str {
        match self {
            Way::Cubes => "cube extrapolation",
            Way::Predicates => "predicate extrapolation",
            Way::Agreements => "predicate extrapolation with rules 4 and 11",
        }
    }
}

/// Predicates to explore with.
struct Given<'a> {
    what: &'static str,
    lifted: Lifted,
    by_cases: Vec<Atom>,
    cubes: Option<&'a BTreeSet<Vec<Atom>>>,
}

struct Extrapolator<'a> {
    task: Task<'a>,
    run: Run<'a>,
    vocabulary: Vocabulary,
    prover: Prover,
    phases: Vec<Phase>,
    statistics: Statistics,
    /// Why there may be no answer.
    doubts: Vec<Reason>,
}

impl<'a> Extrapolator<'a> {
    fn new(task: Task<'a>, run: Run<'a>) -> Extrapolator<'a> {
        Extrapolator {
            task,
            run,
            vocabulary: Vocabulary::default(),
            prover: Prover::default(),
            phases: Vec::new(),
            statistics: Statistics { questions: Some(0), ..Statistics::default() },
            doubts: Vec::new(),
        }
    }

    fn verdict(&mut self) -> Result<Verdict, Halt> {
        let sc = match self.under_sc()? {
            Ok(sc) => sc,
            Err(verdict) => return Ok(verdict),
        };
        if !self.task.buffers() {
            return Ok(Verdict::Safe(Certificate::Cubes(sc.proof)));
        }
        let ways = match self.run.extrapolation {
            Extrapolation::Cubes => &[Way::Cubes, Way::Predicates, Way::Agreements][..],
            Extrapolation::Predicates => &[Way::Predicates, Way::Agreements],
        };
        if let Some(verdict) = self.carry_over(&sc, ways)? {
            return Ok(verdict);
        }
        Ok(self.refine(&sc))
    }

    fn within(&mut self, k: usize) -> Result<Result<Bounded, Vec<Reason>>, Halt> {
        let sc = match self.under_sc()? {
            Ok(sc) => sc,
            Err(Verdict::Unsafe(trace)) => return Ok(Ok(Bounded::Violated(trace))),
            Err(Verdict::Unknown(reasons)) => return Ok(Err(reasons)),
            Err(_) => return Ok(Err(Vec::new())),
        };
        for way in [Way::Cubes, Way::Predicates, Way::Agreements] {
            match self.attempt(&sc, way, k)? {
                Attempted::Safe(proof) => return Ok(Ok(Bounded::Safe(proof))),
                Attempted::Violated(trace) => return Ok(Ok(Bounded::Violated(trace))),
                Attempted::Overflow(events) => {
                    let task = self.task;
                    let taken = self.follow(&task, &events, None)?;
                    return Ok(Ok(taken.map_or(Bounded::MayOverflow, Bounded::Overflows)));
                }
                Attempted::Imprecise => self.doubts.push(Reason::Extrapolated { way: way.name(), k }),
            }
        }
        Ok(match self.refine(&sc) {
            Verdict::Unsafe(trace) => Ok(Bounded::Violated(trace)),
            Verdict::Unknown(reasons) => Err(reasons),
            _ => Ok(Bounded::MayOverflow),
        })
    }

    /// The proof under SC; otherwise the verdict.
    fn under_sc(&mut self) -> Result<Result<ScProof, Verdict>, Halt> {
        let sc = Task { model: SC, ..self.task };
        let offered = hinted(sc.program, &mut self.vocabulary);
        if !offered.is_empty() {
            let given = with_loaded(sc.program, &offered, &mut self.vocabulary);
            match self.prove_under_sc(&sc, "the author's predicates under SC", given.clone(), Vec::new())? {
                Attempted::Safe(proof) => {
                    let cubes = self.prover.used();
                    return Ok(Ok(ScProof { predicates: given, by_cases: Vec::new(), cubes, proof }));
                }
                Attempted::Violated(trace) => return Ok(Err(self.violated_under_sc(trace))),
                Attempted::Overflow(_) | Attempted::Imprecise => {}
            }
        }
        let vocabulary = std::mem::take(&mut self.vocabulary);
        let Refined { verdict, statistics, vocabulary, by_cases } =
            refine(&sc, &Run { reduction: Reduction::None, ..self.run }, vocabulary, (&[], &[]));
        self.vocabulary = vocabulary;
        self.add(statistics);
        let proof = match verdict {
            Verdict::Safe(Certificate::Cubes(proof)) => proof,
            Verdict::Unsafe(trace) => return Ok(Err(self.violated_under_sc(trace))),
            other => return Ok(Err(other)),
        };
        Ok(Ok(
            self.sliced(&sc, ScProof { predicates: proof.used(), by_cases, cubes: BTreeSet::new(), proof })?
        ))
    }

    fn violated_under_sc(&self, trace: Trace) -> Verdict {
        Verdict::Unsafe(trace.under(self.task.program, self.task.model))
    }

    /// The proof with what it needs only, and the cubes that it uses.
    fn sliced(&mut self, sc: &Task<'a>, mut whole: ScProof) -> Result<ScProof, Halt> {
        self.prover.keep_reasons(true);
        let proved = self.prove_under_sc(
            sc,
            "SC, with all predicates",
            whole.predicates.clone(),
            whole.by_cases.clone(),
        );
        let known = Predicates::exactly(sc.program, &whole.predicates, &[], &self.vocabulary);
        let needed = self.prover.needed(&known);
        self.prover.keep_reasons(false);
        whole.cubes = self.prover.used();
        let Attempted::Safe(_) = proved? else { return Ok(whole) };
        let number = |atom: &Atom| known.find(atom).map(|(predicate, _)| predicate);
        let by_cases: BTreeSet<u32> = whole.by_cases.iter().filter_map(number).collect();
        let kept = needed.union(&by_cases).map(|at| known.atoms()[*at as usize].clone()).collect::<Vec<_>>();
        match self.prove_under_sc(sc, "SC", kept.clone(), whole.by_cases.clone())? {
            Attempted::Safe(proof) => {
                Ok(ScProof { predicates: kept, cubes: self.prover.used(), proof, ..whole })
            }
            _ => Ok(whole),
        }
    }

    fn prove_under_sc(
        &mut self,
        sc: &Task<'a>,
        what: &'static str,
        predicates: Vec<Atom>,
        by_cases: Vec<Atom>,
    ) -> Result<Attempted, Halt> {
        let lifted = Lifted { counted: predicates.len(), predicates };
        self.explore(sc, 0, Given { what, lifted, by_cases, cubes: None })
    }

    /// Tries one way after the other, with larger buffers where they overflow.
    fn carry_over(&mut self, sc: &ScProof, ways: &[Way]) -> Result<Option<Verdict>, Halt> {
        let most = MOST_K.min(self.run.max_buffer.unwrap_or(usize::MAX)).max(1);
        let mut k = 1;
        for way in ways {
            loop {
                match self.attempt(sc, *way, k)? {
                    Attempted::Safe(proof) => return Ok(Some(Verdict::Safe(Certificate::Cubes(proof)))),
                    Attempted::Violated(trace) => return Ok(Some(Verdict::Unsafe(trace))),
                    Attempted::Overflow(_) if k < most => k += 1,
                    Attempted::Overflow(_) => {
                        self.doubts.push(Reason::Overflow(k));
                        return Ok(None);
                    }
                    Attempted::Imprecise => {
                        self.doubts.push(Reason::Extrapolated { way: way.name(), k });
                        break;
                    }
                }
            }
        }
        Ok(None)
    }

    fn attempt(&mut self, sc: &ScProof, way: Way, k: usize) -> Result<Attempted, Halt> {
        let task = self.task;
        let lifting = Lifting::new(task.program, task.model, k);
        let mut lifted = lifting.predicates(&sc.predicates, &mut self.vocabulary);
        let by_cases = lifting.predicates(&sc.by_cases, &mut self.vocabulary).predicates;
        if way == Way::Agreements {
            let more = lifting.agreements(&mut self.vocabulary);
            lifted.counted += more.len();
            lifted.predicates.extend(more);
        }
        let cubes = (way == Way::Cubes).then(|| lifting.cubes(&sc.cubes, &mut self.vocabulary));
        self.statistics.method = Some(way.name());
        self.explore(&task, k, Given { what: way.name(), lifted, by_cases, cubes: cubes.as_ref() })
    }

    /// Explores a task with these predicates.
    fn explore(&mut self, task: &Task<'a>, k: usize, given: Given<'_>) -> Result<Attempted, Halt> {
        let recall = Recall { k, keep: Keep::Oldest, forgotten: Forgotten::Pools };
        let Lifted { predicates, counted } = &given.lifted;
        let known = Predicates::exactly(task.program, predicates, &given.by_cases, &self.vocabulary);
        let mut space = Space::new(task.program, task.model, recall, self.run.abstraction.reduce);
        self.prover.begin(given.cubes);
        let round = CubeRound {
            monitor: self.run.monitor,
            k,
            before: self.statistics.states,
            refinements: self.phases.len(),
            bounded: task.buffers(),
            most: None,
        };
        let judge = (&mut self.vocabulary, &mut self.prover as &mut dyn Judge);
        let (ended, effort) = reach(&mut space, &known, judge, round);
        let used = self.prover.used();
        let mut phase = Phase {
            what: given.what,
            k: task.buffers().then_some(k),
            predicates: *counted,
            given: given.cubes.map(BTreeSet::len),
            questions: effort.questions,
            cubes: used.len(),
            size: used.iter().map(Vec::len).max().unwrap_or(1),
            states: effort.states,
            ended: "stopped",
        };
        let steps = |path: &[(u32, u32)]| path.iter().map(|(step, _)| space.step(*step).event).collect();
        let found = match ended {
            CubeSearchEnded::NotLinearAt(unsupported) => Err(unsupported.into()),
            CubeSearchEnded::Stopped(stop) => Err(stop.into()),
            // Nothing was said about how many there should be.
            CubeSearchEnded::Large => Ok(Attempted::Imprecise),
            CubeSearchEnded::Closed(cubes) => {
                let known = (&known, &self.vocabulary);
                let proof = certificate(&space, recall, known, &cubes, self.run.monitor);
                proof.map(Attempted::Safe).map_err(Halt::from)
            }
            CubeSearchEnded::Overflow(path) => Ok(Attempted::Overflow(steps(&path))),
            CubeSearchEnded::Path(path, violation, _) => {
                let taken = self.follow(task, &steps(&path), Some(violation))?;
                Ok(taken
                    .map_or(Attempted::Imprecise, |taken| Attempted::Violated(taken.violating(violation))))
            }
        };
        if let Ok(found) = &found {
            phase.ended = found.word();
        }
        self.count(&phase, effort, known.len());
        self.phases.push(phase);
        found
    }

    /// The run that takes a path, if there is one.
    fn follow(
        &mut self,
        task: &Task<'a>,
        events: &[Event],
        violation: Option<Violation>,
    ) -> Result<Option<Taken>, Halt> {
        let exact = Buffered::exact(task.program, task.model);
        let monitor = self.run.monitor;
        let progress =
            Progress { phase: "following a path", states: self.statistics.states, ..Progress::default() };
        let go_on = || monitor.observe(&progress);
        execute(&exact, events, None, violation, (&mut self.vocabulary, &go_on))
    }

    fn count(&mut self, phase: &Phase, effort: Effort, predicates: usize) {
        self.statistics.states += effort.states;
        self.statistics.questions = self.statistics.questions.map(|so_far| so_far + effort.questions);
        self.statistics.predicates = Some(predicates);
        self.statistics.k = phase.k;
        let k = phase.k.map(|k| format!(", k = {k}")).unwrap_or_default();
        let given = phase.given.map(|given| format!(" and {given} cubes")).unwrap_or_default();
        self.run.monitor.note(&format!(
            "{}{k}: {} predicates{given}, {} prover calls, {} cubes used (of up to {}), {} states: {}",
            phase.what, phase.predicates, phase.questions, phase.cubes, phase.size, phase.states, phase.ended
        ));
    }

    /// Lets `cegar` go on from the predicates.
    fn refine(&mut self, sc: &ScProof) -> Verdict {
        let vocabulary = std::mem::take(&mut self.vocabulary);
        let refined = refine(&self.task, &self.run, vocabulary, (&sc.predicates, &sc.by_cases));
        self.add(refined.statistics);
        self.statistics.method = Some("cegar from the lifted predicates");
        match refined.verdict {
            Verdict::Unknown(reasons) => {
                Verdict::Unknown(reasons.into_iter().chain(std::mem::take(&mut self.doubts)).collect())
            }
            verdict => verdict,
        }
    }

    /// Adds what `cegar` took.
    fn add(&mut self, statistics: Statistics) {
        let Statistics { states, questions, .. } = self.statistics;
        self.statistics = Statistics {
            states: states + statistics.states,
            questions: questions.zip(statistics.questions).map(|(a, b)| a + b).or(questions),
            ..statistics
        };
    }
}

impl Attempted {
    fn word(&self) -> &'static str {
        match self {
            Attempted::Safe(_) => "proved",
            Attempted::Violated(_) => "violated",
            Attempted::Overflow(_) => "overflow",
            Attempted::Imprecise => "imprecise",
        }
    }
}
