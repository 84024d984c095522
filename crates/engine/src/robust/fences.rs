//! The cheapest fences that make a program robust, by hitting sets over witnesses.
//!
//! A witness survives every fence that its attacker does not meet between the store and the
//! load: all other threads, and the attacker before, have empty buffers at every step, so they
//! pass any fence. Hence every set of fences that makes the program robust has one on the
//! delayed path; that is a clause. Take the cheapest set that meets all clauses known, ask
//! again, and so on. The first set that makes the program robust is optimal for the costs.

use super::{Cuts, Robustness, robust_checked};
use crate::fences::candidates::candidates;
use crate::fences::clause::Violating;
use crate::fences::hitting::Hitting;
use crate::{FenceOptions, FencePoint, Run};
use evidence::{CheckedRobust, CheckedWitness, Reason};
use machine::model_named;
use program::{FenceSet, Program};
use std::collections::BTreeSet;
use std::error::Error;

/// A fence of the answer, with what happens without it.
#[derive(Debug)]
pub struct RobustFence {
    /// Where it goes.
    pub point: FencePoint,
    /// The program with all other fences but this one, and a witness that it is not robust;
    /// `None` if none was found within the limits.
    pub without: Option<(Program, Box<CheckedWitness>)>,
}

/// Fences that make a program robust.
#[derive(Debug)]
pub struct MadeRobust {
    /// The fences, in the order of the source.
    pub fences: Vec<RobustFence>,
    /// What they cost together.
    pub cost: u64,
    /// The program with the fences in it.
    pub program: Program,
    /// The proof that it is robust, checked; nothing is to be proved against SC.
    pub proof: Option<CheckedRobust>,
    /// The other cheapest sets, if they were asked for.
    pub alternatives: Option<Vec<Vec<FencePoint>>>,
    /// Why there may be more of those; empty if these are all.
    pub missing: Vec<Reason>,
    /// How many times robustness was asked.
    pub questions: usize,
}

/// The answer to "which fences make it robust?".
#[derive(Debug)]
pub enum RobustFences {
    /// These, and no cheaper set will do.
    Placed(Box<MadeRobust>),
    /// None of the candidates prevents this witness.
    NoCandidate(Box<(Program, CheckedWitness)>),
    /// Robustness could not be decided.
    Unknown(Vec<Reason>),
    /// A witness or a proof was found and its check failed: a bug of ours.
    Rejected(Box<dyn Error + Send + Sync>),
}

/// Finds the cheapest fences that make a program robust against TSO.
pub fn fences_for_robustness(program: &Program, options: &FenceOptions, run: &Run<'_>) -> RobustFences {
    let Some(model) = model_named("tso") else { return RobustFences::Unknown(Vec::new()) };
    let candidates = candidates(program, model, options.points, &options.costs);
    let costs = candidates.iter().map(|point| point.cost).collect();
    let problem = Hitting { costs, ..Hitting::default() };
    let mut search = Search { program, candidates, problem, run, questions: 0 };
    search.solve(options.all).unwrap_or_else(|answer| answer)
}

/// Candidates that make the program robust, by number.
struct Solution {
    chosen: BTreeSet<usize>,
    program: Program,
    proof: Option<CheckedRobust>,
}

enum Asked {
    Robust(Option<CheckedRobust>),
    NotRobust(Box<CheckedWitness>),
}

struct Search<'a> {
    program: &'a Program,
    candidates: Vec<FencePoint>,
    problem: Hitting,
    run: &'a Run<'a>,
    questions: usize,
}

impl Search<'_> {
    fn solve(&mut self, all: bool) -> Result<RobustFences, RobustFences> {
        // Without a limit on cost there is an answer: nothing is forbidden, and no clause is empty.
        let Some(Solution { chosen, program, proof }) = self.cheapest(None)? else {
            return Err(RobustFences::Unknown(Vec::new()));
        };
        let cost = self.problem.cost(&chosen);
        let mut fences = Vec::new();
        for at in &chosen {
            fences.push(self.needed(&chosen, *at)?);
        }
        let (mut alternatives, mut missing) = (all.then(Vec::new), Vec::new());
        if let Some(found) = &mut alternatives
            && let Err(answer) = self.other_optima(chosen, cost, found)
        {
            match answer {
                // The answer stands, whether or not all its equals are found.
                RobustFences::Unknown(reasons) => missing = reasons,
                answer => return Err(answer),
            }
        }
        let questions = self.questions;
        let placed = MadeRobust { fences, cost, program, proof, alternatives, missing, questions };
        Ok(RobustFences::Placed(Box::new(placed)))
    }

    /// The cheapest set that makes the program robust; `None` if all cost more than allowed.
    fn cheapest(&mut self, most: Option<u64>) -> Result<Option<Solution>, RobustFences> {
        loop {
            let Some(chosen) = self.problem.solve() else { return Ok(None) };
            if most.is_some_and(|most| self.problem.cost(&chosen) > most) {
                return Ok(None);
            }
            let (program, edges) = self.fence_set(&chosen).apply_with_map(self.program);
            let witness = match self.ask(&program)? {
                Asked::Robust(proof) => return Ok(Some(Solution { chosen, program, proof })),
                Asked::NotRobust(witness) => witness,
            };
            let violating = Violating::new(&program, witness.account(), &edges);
            let clause = violating.clause(&self.candidates, &chosen);
            if clause.is_empty() {
                return Err(RobustFences::NoCandidate(Box::new((program, *witness))));
            }
            self.problem.clauses.push(clause);
        }
    }

    fn other_optima(
        &mut self,
        first: BTreeSet<usize>,
        cost: u64,
        found: &mut Vec<Vec<FencePoint>>,
    ) -> Result<(), RobustFences> {
        self.problem.forbidden.push(first);
        while let Some(Solution { chosen, .. }) = self.cheapest(Some(cost))? {
            found.push(chosen.iter().map(|at| self.candidates[*at].clone()).collect());
            self.problem.forbidden.push(chosen);
        }
        Ok(())
    }

    /// A fence of a solution, with the witness that appears without it.
    fn needed(&mut self, chosen: &BTreeSet<usize>, at: usize) -> Result<RobustFence, RobustFences> {
        let others = chosen.iter().copied().filter(|other| *other != at).collect();
        let weaker = self.fence_set(&others).apply(self.program);
        let without = match self.ask(&weaker) {
            Ok(Asked::NotRobust(witness)) => Some((weaker, witness)),
            Ok(Asked::Robust(_)) | Err(RobustFences::Unknown(_)) => None,
            Err(answer) => return Err(answer),
        };
        Ok(RobustFence { point: self.candidates[at].clone(), without })
    }

    fn fence_set(&self, chosen: &BTreeSet<usize>) -> FenceSet {
        let mut set = FenceSet::new();
        for placement in chosen.iter().flat_map(|at| &self.candidates[*at].placements) {
            set.insert(*placement);
        }
        set
    }

    /// Whether a program is robust; whatever is said was checked.
    fn ask(&mut self, program: &Program) -> Result<Asked, RobustFences> {
        self.questions += 1;
        let answer = robust_checked(program, self.run, Cuts::ALL);
        let (answer, _, proof) = answer.map_err(|why| RobustFences::Rejected(why.into()))?;
        match answer {
            Robustness::Robust => Ok(Asked::Robust(proof)),
            Robustness::NotRobust(witness) => Ok(Asked::NotRobust(witness)),
            Robustness::Unknown(reasons) => Err(RobustFences::Unknown(reasons)),
            Robustness::Rejected(why) => Err(RobustFences::Rejected(why.into())),
        }
    }
}
