//! The cheapest fences, by implicit hitting sets.
//!
//! Ask about the program with the fences chosen so far: is it safe, or is it robust? From a run that
//! shows that it is not, read off which fences would have made the run impossible ([`clause`]): every
//! solution holds one of them. Choose the cheapest set that meets all clauses known ([`hitting`]),
//! and ask again. When the program is proved safe, or robust, the set is optimal for the costs: no
//! cheaper set meets even the clauses found. If the program is unsafe under SC, no fence helps; and
//! it is always robust there.
//!
//! Every answer is checked before it is used, so a set is only called sufficient with a checked
//! proof, and a fence only needed with a replayed run that appears without it.

pub(crate) mod candidates;
mod clause;
pub(crate) mod hitting;
mod prevent;
mod relax;
mod within;

pub use candidates::{FencePoint, candidates as fence_points};
pub use prevent::prevented_by;
pub use relax::{RelaxedProgram, keep_fences};
pub use within::{FencesWithin, fences_within};

use crate::ask::{Bug, decide};
use crate::{Engine, Run};
use candidates::candidates;
use clause::Violating;
use evidence::{Checked, Goal, Reason, Statistics, Task, Verdict};
use hitting::Hitting;
use machine::{Account, SC};
use program::{FenceSet, Program};
use std::collections::BTreeSet;

/// What fences cost.
#[derive(Clone, Copy, Debug)]
pub struct Costs {
    /// A full fence.
    pub full: u64,
    /// A store fence.
    pub store: u64,
    /// Turning a store into a locked exchange; not considered if `None`.
    pub exchange: Option<u64>,
    /// A fence in a loop costs this many times as much, for every loop around it.
    pub in_loop: u64,
}

impl Default for Costs {
    fn default() -> Costs {
        Costs { full: 3, store: 1, exchange: None, in_loop: 1 }
    }
}

/// Where fences may go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Points {
    /// Behind stores.
    #[default]
    Stores,
    /// Behind stores, and before loads.
    All,
}

/// A part of a program that fences have a price of their own in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FencePlace {
    /// A thread, or all members of a family.
    Thread(String),
    /// Statements that begin in this line of the text.
    Line(usize),
}

impl FencePlace {
    /// Whether a thread of this name is meant.
    pub fn means(&self, thread: &str) -> bool {
        let FencePlace::Thread(wanted) = self else { return false };
        let number = thread.strip_prefix(wanted.as_str());
        number.is_some_and(|number| number.bytes().all(|digit| digit.is_ascii_digit()))
    }
}

/// What fences cost in a part of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FencePrice {
    /// The part of the program.
    pub place: FencePlace,
    /// How many times as much as elsewhere; nothing if there must be none.
    pub factor: Option<u64>,
}

/// What to look for.
#[derive(Clone, Copy, Debug, Default)]
pub struct FenceOptions<'a> {
    /// What fences cost.
    pub costs: Costs,
    /// Where they may go.
    pub points: Points,
    /// Whether to find all cheapest sets.
    pub all: bool,
    /// Where fences cost more than elsewhere, or must not be.
    pub prices: &'a [FencePrice],
}

/// A run of a program with some fences in it that shows that they do not suffice.
#[derive(Debug)]
pub struct FencedRun {
    /// The program.
    pub program: Program,
    /// The violation, or the witness that the program is not robust, checked.
    pub checked: Checked,
}

/// A fence of the answer, with what happens without it.
#[derive(Debug)]
pub struct NeededFence {
    /// Where it goes.
    pub point: FencePoint,
    /// What happens with all other fences but this one; `None` if nothing was shown within the
    /// limits.
    pub without: Option<FencedRun>,
}

/// Fences that suffice.
#[derive(Debug)]
pub struct Placed {
    /// The fences, in the order of the source.
    pub fences: Vec<NeededFence>,
    /// What they cost together.
    pub cost: u64,
    /// The program with the fences in it.
    pub program: Program,
    /// The checked proof that it is safe, or robust.
    pub proof: Checked,
    /// The other cheapest sets, if they were asked for.
    pub alternatives: Option<Vec<Vec<FencePoint>>>,
    /// Why there may be more of those; empty if these are all.
    pub missing: Vec<Reason>,
}

/// The answer to "which fences?".
#[derive(Debug)]
pub enum FenceAnswer {
    /// These, and no cheaper set will do.
    Placed(Box<Placed>),
    /// None helps: this happens under SC.
    UnsafeUnderSc(Checked),
    /// None of the candidates prevents this run, though it needs a weak memory.
    NoCandidate(Box<FencedRun>),
    /// There was no answer to a question.
    Unknown(Vec<Reason>),
}

/// The answer, and what it took.
#[derive(Debug)]
pub struct FencesFound {
    /// The answer.
    pub answer: FenceAnswer,
    /// What the engine did for the question that decided: the proof of the fenced program,
    /// or the last question.
    pub statistics: Statistics,
    /// The engine that answered that question.
    pub engine: &'static str,
    /// The most templates of predicates that any question took.
    pub most_predicates: Option<usize>,
    /// How many questions were asked.
    pub questions: usize,
}

/// Finds the cheapest fences that make a program safe under a model, or robust against it.
pub fn place_fences(
    task: &Task<'_>,
    engine: &dyn Engine,
    options: &FenceOptions<'_>,
    run: &Run<'_>,
) -> Result<FencesFound, Bug> {
    found_by(FenceSearch::new(task, engine, options, run))
}

/// What a search finds.
fn found_by(mut search: FenceSearch<'_>) -> Result<FencesFound, Bug> {
    let answer = match search.solve() {
        Ok(answer) => answer,
        Err(FencesHalt::Unknown(reasons)) => FenceAnswer::Unknown(reasons),
        Err(FencesHalt::NoCandidate(run)) => FenceAnswer::NoCandidate(run),
        Err(FencesHalt::Bug(bug)) => return Err(bug),
    };
    let (statistics, engine) = search.decided.unwrap_or(search.last);
    let FenceSearch { most_predicates, questions, .. } = search;
    Ok(FencesFound { answer, statistics, engine, most_predicates, questions })
}

/// Why a search for fences ends early.
enum FencesHalt {
    Unknown(Vec<Reason>),
    NoCandidate(Box<FencedRun>),
    Bug(Bug),
}

/// How a program with some fences does.
enum Trial {
    /// They suffice, with this proof.
    Suffices(Checked),
    /// They do not: this run remains.
    Violated(Checked),
    /// Nor do they keep every queue within the bound: this run fills one beyond it.
    Overfull(Account, usize),
}

/// Fences that suffice, the program with them, and its proof.
type Sufficient = (BTreeSet<usize>, Program, Checked);

struct FenceSearch<'a> {
    task: Task<'a>,
    engine: &'a dyn Engine,
    run: &'a Run<'a>,
    all: bool,
    candidates: Vec<FencePoint>,
    problem: Hitting,
    most_predicates: Option<usize>,
    questions: usize,
    /// What the engine did last, and which it was.
    last: (Statistics, &'static str),
    /// The same for the proof of the answer, once there is one.
    decided: Option<(Statistics, &'static str)>,
}

impl<'a> FenceSearch<'a> {
    fn new(
        task: &Task<'a>,
        engine: &'a dyn Engine,
        options: &FenceOptions<'_>,
        run: &'a Run<'a>,
    ) -> FenceSearch<'a> {
        let candidates = candidates(task.program, task.model, options);
        FenceSearch::among(task, candidates, engine, options, run)
    }

    fn among(
        task: &Task<'a>,
        candidates: Vec<FencePoint>,
        engine: &'a dyn Engine,
        options: &FenceOptions<'_>,
        run: &'a Run<'a>,
    ) -> FenceSearch<'a> {
        let costs = candidates.iter().map(|point| point.cost).collect();
        FenceSearch {
            task: *task,
            engine,
            run,
            all: options.all,
            candidates,
            problem: Hitting { costs, ..Hitting::default() },
            most_predicates: None,
            questions: 0,
            last: (Statistics::default(), engine.name()),
            decided: None,
        }
    }

    fn solve(&mut self) -> Result<FenceAnswer, FencesHalt> {
        if self.task.goal != Goal::Robust {
            let under_sc = self.ask(&Task { model: SC, ..self.task })?;
            if let Verdict::Unsafe(_) = under_sc.verdict() {
                return Ok(FenceAnswer::UnsafeUnderSc(under_sc));
            }
        }
        // Without a limit on cost there is an answer: nothing is forbidden, and no clause is empty.
        let Some((chosen, program, proof)) = self.cheapest(None)? else {
            return Err(FencesHalt::Unknown(Vec::new()));
        };
        self.decided = Some(self.last);
        let cost = self.problem.cost(&chosen);
        let fences = chosen.iter().map(|at| self.needed(&chosen, *at)).collect::<Result<_, _>>()?;
        let (mut alternatives, mut missing) = (self.all.then(Vec::new), Vec::new());
        if let Some(found) = &mut alternatives {
            match self.other_optima(chosen, cost, found) {
                // The answer stands, whether or not all its equals are found.
                Err(FencesHalt::Unknown(reasons)) => missing = reasons,
                found => found?,
            }
        }
        Ok(FenceAnswer::Placed(Box::new(Placed { fences, cost, program, proof, alternatives, missing })))
    }

    /// The cheapest set that is proved to suffice; `None` if all cost more than allowed.
    fn cheapest(&mut self, most: Option<u64>) -> Result<Option<Sufficient>, FencesHalt> {
        self.hit_all(most, |search, task| {
            let checked = search.ask(task)?;
            let suffices = checked.holds() == Some(true);
            Ok(if suffices { Trial::Suffices(checked) } else { Trial::Violated(checked) })
        })
    }

    /// The cheapest set that suffices in a trial; `None` if all cost more than allowed.
    fn hit_all(
        &mut self,
        most: Option<u64>,
        mut trial: impl FnMut(&mut Self, &Task<'_>) -> Result<Trial, FencesHalt>,
    ) -> Result<Option<Sufficient>, FencesHalt> {
        loop {
            let Some(chosen) = self.problem.solve() else { return Ok(None) };
            if most.is_some_and(|most| self.problem.cost(&chosen) > most) {
                return Ok(None);
            }
            let (program, edges) = self.fence_set(&chosen).apply_with_map(self.task.program);
            let trial = trial(self, &Task { program: &program, ..self.task })?;
            let account = match &trial {
                Trial::Violated(checked) => checked.account(),
                Trial::Overfull(account, _) => Some(account),
                Trial::Suffices(_) => None,
            };
            let clause = account.map_or_else(BTreeSet::new, |account| {
                Violating::new(&program, account, &edges).clause(&self.candidates, &chosen)
            });
            match trial {
                Trial::Suffices(proof) => return Ok(Some((chosen, program, proof))),
                Trial::Violated(run) if clause.is_empty() => {
                    return Err(FencesHalt::NoCandidate(Box::new(self.fenced_run(program, run))));
                }
                Trial::Overfull(_, k) if clause.is_empty() => {
                    return Err(FencesHalt::Unknown(vec![Reason::Overflow(k)]));
                }
                Trial::Violated(_) | Trial::Overfull(..) => self.problem.clauses.push(clause),
            }
        }
    }

    /// A run that is shown, so with its cause.
    fn fenced_run(&self, program: Program, mut checked: Checked) -> FencedRun {
        checked.explain(&Task { program: &program, ..self.task }, self.run.monitor);
        FencedRun { program, checked }
    }

    fn other_optima(
        &mut self,
        first: BTreeSet<usize>,
        cost: u64,
        found: &mut Vec<Vec<FencePoint>>,
    ) -> Result<(), FencesHalt> {
        self.problem.forbidden.push(first);
        while let Some((chosen, ..)) = self.cheapest(Some(cost))? {
            found.push(chosen.iter().map(|at| self.candidates[*at].clone()).collect());
            self.problem.forbidden.push(chosen);
        }
        Ok(())
    }

    /// A fence of a solution, with the run that appears without it.
    fn needed(&mut self, chosen: &BTreeSet<usize>, at: usize) -> Result<NeededFence, FencesHalt> {
        let others = chosen.iter().copied().filter(|other| *other != at).collect();
        let program = self.fence_set(&others).apply(self.task.program);
        let without = match self.ask(&Task { program: &program, ..self.task }) {
            Ok(checked) if checked.holds() == Some(false) => Some(self.fenced_run(program, checked)),
            Ok(_) | Err(FencesHalt::Unknown(_)) => None,
            Err(halt) => return Err(halt),
        };
        Ok(NeededFence { point: self.candidates[at].clone(), without })
    }

    fn fence_set(&self, chosen: &BTreeSet<usize>) -> FenceSet {
        let mut set = FenceSet::new();
        for placement in chosen.iter().flat_map(|at| &self.candidates[*at].placements) {
            set.insert(*placement);
        }
        set
    }

    /// Asks a question; without an answer the search ends. A violation is made simple: the fewer
    /// stores are delayed, the fewer fences help, and the more it says.
    fn ask(&mut self, task: &Task<'_>) -> Result<Checked, FencesHalt> {
        // Against SC every program is robust, and nobody needs to be asked.
        let is_open = task.goal != Goal::Robust || !task.model.is_sc();
        self.questions += usize::from(is_open);
        let mut finding = decide(task, self.engine, self.run).map_err(FencesHalt::Bug)?;
        // It would be wrong again in the next of many questions.
        if let Some(bug) = finding.bugs.pop() {
            return Err(FencesHalt::Bug(bug));
        }
        self.last = (finding.statistics, finding.engine);
        self.most_predicates = self.most_predicates.max(finding.statistics.predicates);
        match finding.checked.holds() {
            None => Err(FencesHalt::Unknown(finding.checked.reasons().to_vec())),
            Some(_) => Ok(finding.checked),
        }
    }
}
