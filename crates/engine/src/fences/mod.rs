//! The cheapest fences, by implicit hitting sets.
//!
//! Ask an engine for a violation of the program with the fences chosen so far. From the run,
//! read off which fences would have made it impossible ([`clause`]): every solution holds one
//! of them. Choose the cheapest set that meets all clauses known ([`hitting`]), and ask again.
//! When the engine proves the program safe, the set is optimal for the costs: no cheaper set
//! meets even the clauses found. If the program is unsafe under SC, no fence helps.
//!
//! Every answer of the engine is checked before it is used, so a set is only called sufficient
//! with a checked proof, and a fence only needed with a replayed violation that appears
//! without it.

pub(crate) mod candidates;
pub(crate) mod clause;
pub(crate) mod hitting;
mod prevent;

pub use candidates::{FencePoint, candidates as fence_points};
pub use prevent::prevented_by;

use crate::{Engine, Run};
use candidates::candidates;
use clause::Violating;
use evidence::{Checked, Named, Reason, Rejected, Statistics, Task, Verdict, check, simplify};
use hitting::Hitting;
use machine::{MODELS, Model};
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Points {
    /// Behind stores.
    Stores,
    /// Behind stores, and before loads.
    All,
}

/// What to look for.
#[derive(Clone, Copy, Debug)]
pub struct FenceOptions {
    /// What fences cost.
    pub costs: Costs,
    /// Where they may go.
    pub points: Points,
    /// Whether to find all cheapest sets.
    pub all: bool,
}

/// A fence of the answer, with what happens without it.
#[derive(Debug)]
pub struct NeededFence {
    /// Where it goes.
    pub point: FencePoint,
    /// A checked violation of the program with all other fences but this one; `None` if the
    /// engine could not show one within its limits.
    pub without: Option<(Program, Checked)>,
}

/// Fences that make a program safe.
#[derive(Debug)]
pub struct Placed {
    /// The fences, in the order of the source.
    pub fences: Vec<NeededFence>,
    /// What they cost together.
    pub cost: u64,
    /// The program with the fences in it.
    pub program: Program,
    /// The checked proof that it is safe.
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
    /// None of the candidates prevents this violation, though it needs a weak memory.
    NoCandidate(Box<(Program, Checked)>),
    /// The engine gave no answer.
    Unknown(Vec<Reason>),
    /// The engine's evidence was rejected: a bug of ours.
    Rejected(Rejected),
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
    /// How many times the engine was asked.
    pub questions: usize,
}

/// Finds the cheapest fences that make a program safe under a model.
pub fn place_fences(
    task: &Task<'_>,
    engine: &dyn Engine,
    options: &FenceOptions,
    run: &Run<'_>,
) -> FencesFound {
    let mut search = Search::new(task, engine, options, run);
    let answer = search.solve().unwrap_or_else(|answer| *answer);
    let (statistics, engine) = search.decided.unwrap_or(search.last);
    let Search { most_predicates, questions, .. } = search;
    FencesFound { answer, statistics, engine, most_predicates, questions }
}

struct Search<'a> {
    program: &'a Program,
    model: Model,
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

/// Ends the search with an answer.
type Step<T> = Result<T, Box<FenceAnswer>>;

impl<'a> Search<'a> {
    fn new(task: &Task<'a>, engine: &'a dyn Engine, options: &FenceOptions, run: &'a Run<'a>) -> Search<'a> {
        let candidates = candidates(task.program, task.model, options.points, &options.costs);
        let costs = candidates.iter().map(|point| point.cost).collect();
        Search {
            program: task.program,
            model: task.model,
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

    fn solve(&mut self) -> Step<FenceAnswer> {
        let under_sc = self.ask(self.program, MODELS[0])?;
        if let Verdict::Unsafe(_) = under_sc.verdict() {
            return Ok(FenceAnswer::UnsafeUnderSc(under_sc));
        }
        let (chosen, program, proof) =
            self.cheapest(None)?.expect("without a limit on cost there is an answer");
        self.decided = Some(self.last);
        let cost = self.problem.cost(&chosen);
        let fences = chosen.iter().map(|at| self.needed(&chosen, *at)).collect::<Step<_>>()?;
        let (mut alternatives, mut missing) = (self.all.then(Vec::new), Vec::new());
        if let Some(found) = &mut alternatives
            && let Err(answer) = self.other_optima(&chosen, cost, found)
        {
            match *answer {
                // The answer stands, whether or not all its equals are found.
                FenceAnswer::Unknown(reasons) => missing = reasons,
                answer => return Ok(answer),
            }
        }
        Ok(FenceAnswer::Placed(Box::new(Placed { fences, cost, program, proof, alternatives, missing })))
    }

    /// The cheapest set that the engine proves sufficient; `None` if all cost more than allowed.
    fn cheapest(&mut self, most: Option<u64>) -> Step<Option<(BTreeSet<usize>, Program, Checked)>> {
        loop {
            let Some(chosen) = self.problem.solve() else { return Ok(None) };
            if most.is_some_and(|most| self.problem.cost(&chosen) > most) {
                return Ok(None);
            }
            let (program, edges) = self.fence_set(&chosen).apply_with_map(self.program);
            let checked = self.ask(&program, self.model)?;
            let Some(violated) = checked.violated() else {
                return Ok(Some((chosen, program, checked)));
            };
            let violating = Violating::new(&program, violated.account, &edges);
            let clause = violating.clause(&self.candidates, &chosen);
            if clause.is_empty() {
                return Err(Box::new(FenceAnswer::NoCandidate(Box::new((program, checked)))));
            }
            self.problem.clauses.push(clause);
        }
    }

    fn other_optima(
        &mut self,
        first: &BTreeSet<usize>,
        cost: u64,
        found: &mut Vec<Vec<FencePoint>>,
    ) -> Step<()> {
        self.problem.forbidden.push(first.clone());
        while let Some((chosen, ..)) = self.cheapest(Some(cost))? {
            found.push(chosen.iter().map(|at| self.candidates[*at].clone()).collect());
            self.problem.forbidden.push(chosen);
        }
        Ok(())
    }

    /// A fence of a solution, with the violation that appears without it.
    fn needed(&mut self, chosen: &BTreeSet<usize>, at: usize) -> Step<NeededFence> {
        let mut others = chosen.clone();
        others.remove(&at);
        let program = self.fence_set(&others).apply(self.program);
        let checked = self.check(&program, self.model)?;
        let is_unsafe = matches!(checked.verdict(), Verdict::Unsafe(_));
        Ok(NeededFence {
            point: self.candidates[at].clone(),
            without: is_unsafe.then_some((program, checked)),
        })
    }

    fn fence_set(&self, chosen: &BTreeSet<usize>) -> FenceSet {
        let mut set = FenceSet::new();
        for at in chosen {
            for placement in &self.candidates[*at].placements {
                set.insert(*placement);
            }
        }
        set
    }

    /// Asks the engine; an unknown ends the search.
    fn ask(&mut self, program: &Program, model: Model) -> Step<Checked> {
        let checked = self.check(program, model)?;
        match checked.verdict() {
            Verdict::Unknown(reasons) => Err(Box::new(FenceAnswer::Unknown(reasons.clone()))),
            _ => Ok(checked),
        }
    }

    fn check(&mut self, program: &Program, model: Model) -> Step<Checked> {
        self.questions += 1;
        let task = Task { program, model };
        let named = Named::new(self.engine.name(), self.run.monitor);
        let answer = self.engine.verify(&task, &Run { monitor: &named, ..*self.run });
        drop(named);
        self.last = (answer.statistics, answer.engine);
        self.most_predicates = self.most_predicates.max(answer.statistics.predicates);
        let checked = check(&task, answer.verdict, self.run.monitor).map_err(|why| match why {
            Rejected::Stopped(stop) => Box::new(FenceAnswer::Unknown(vec![Reason::Stopped(stop)])),
            why => Box::new(FenceAnswer::Rejected(why)),
        })?;
        // The fewer stores are delayed, the fewer fences help, and the more a violation says.
        Ok(simplify(&task, checked, self.run.monitor))
    }
}
