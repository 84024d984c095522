//! Minimum-cost hitting sets: the cheapest choice of candidates that meets every clause.
//!
//! Branch and bound. A clause that is not met yet must be met by one of its candidates; the
//! branches try them from cheap to dear, each excluding those tried before it. A lower bound
//! comes from clauses that share no candidate: each needs one of its own. Deterministic: of
//! several optima the first in the order of candidates is found.

use std::collections::BTreeSet;

/// A candidate, by number.
pub type HittingCandidate = usize;

/// A minimisation problem.
#[derive(Clone, Debug, Default)]
pub struct Hitting {
    /// What each candidate costs.
    pub costs: Vec<u64>,
    /// Sets of candidates; a solution holds one of each.
    pub clauses: Vec<BTreeSet<HittingCandidate>>,
    /// Sets that a solution must not contain whole.
    pub forbidden: Vec<BTreeSet<HittingCandidate>>,
}

impl Hitting {
    /// A cheapest solution; `None` if a clause cannot be met.
    pub fn solve(&self) -> Option<BTreeSet<HittingCandidate>> {
        let mut search = CoverSearch { problem: self, best: None };
        search.branch(&mut BTreeSet::new(), &mut BTreeSet::new(), 0);
        search.best.map(|(_, chosen)| chosen)
    }

    /// What a set costs.
    pub fn cost(&self, chosen: &BTreeSet<HittingCandidate>) -> u64 {
        chosen.iter().map(|candidate| self.costs[*candidate]).sum()
    }
}

struct CoverSearch<'a> {
    problem: &'a Hitting,
    best: Option<(u64, BTreeSet<HittingCandidate>)>,
}

impl CoverSearch<'_> {
    fn branch(
        &mut self,
        chosen: &mut BTreeSet<HittingCandidate>,
        excluded: &mut BTreeSet<HittingCandidate>,
        cost: u64,
    ) {
        if self.problem.forbidden.iter().any(|set| set.is_subset(chosen)) {
            return;
        }
        let open = |clause: &&BTreeSet<HittingCandidate>| clause.is_disjoint(chosen);
        let mut unmet: Vec<Vec<HittingCandidate>> = self
            .problem
            .clauses
            .iter()
            .filter(open)
            .map(|c| c.difference(excluded).copied().collect())
            .collect();
        unmet.sort_by_key(Vec::len);
        let bound = cost + self.lower_bound(&unmet);
        if self.best.as_ref().is_some_and(|(best, _)| bound >= *best) {
            return;
        }
        let Some(clause) = unmet.first() else {
            self.best = Some((cost, chosen.clone()));
            return;
        };
        let mut options = clause.clone();
        options.sort_by_key(|candidate| (self.problem.costs[*candidate], *candidate));
        for candidate in &options {
            chosen.insert(*candidate);
            self.branch(chosen, excluded, cost + self.problem.costs[*candidate]);
            chosen.remove(candidate);
            excluded.insert(*candidate);
        }
        for candidate in &options {
            excluded.remove(candidate);
        }
    }

    /// The cheapest candidates of clauses that share none; `u64::MAX / 2` if one has none left.
    fn lower_bound(&self, unmet: &[Vec<HittingCandidate>]) -> u64 {
        let mut used = BTreeSet::new();
        let mut bound: u64 = 0;
        for clause in unmet {
            if clause.iter().any(|candidate| used.contains(candidate)) {
                continue;
            }
            let cheapest = clause.iter().map(|candidate| self.problem.costs[*candidate]).min();
            bound = bound.saturating_add(cheapest.unwrap_or(u64::MAX / 2));
            used.extend(clause.iter().copied());
        }
        bound
    }
}
