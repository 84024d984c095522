//! Minimum-cost hitting sets: the cheapest choice of candidates that meets every clause.
//!
//! Branch and bound. A clause that is not met yet must be met by one of its candidates; the
//! branches try them from cheap to dear, each excluding those tried before it. A lower bound
//! comes from clauses that share no candidate: each needs one of its own. Deterministic: of
//! several optima the first in the order of candidates is found.

use std::collections::BTreeSet;

/// A candidate, by number.
pub(crate) type HittingCandidate = usize;

/// A minimisation problem.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hitting {
    /// What each candidate costs.
    pub(crate) costs: Vec<u64>,
    /// Sets of candidates; a solution holds one of each.
    pub(crate) clauses: Vec<BTreeSet<HittingCandidate>>,
    /// Sets that a solution must not contain whole.
    pub(crate) forbidden: Vec<BTreeSet<HittingCandidate>>,
}

impl Hitting {
    /// A cheapest solution; `None` if a clause cannot be met.
    pub(crate) fn solve(&self) -> Option<BTreeSet<HittingCandidate>> {
        let mut search = CoverSearch { problem: self, best: None };
        search.branch(&mut BTreeSet::new(), &mut BTreeSet::new(), 0);
        search.best.map(|(_, chosen)| chosen)
    }

    /// What a set costs.
    pub(crate) fn cost(&self, chosen: &BTreeSet<HittingCandidate>) -> u64 {
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
        let mut unmet: Vec<Vec<HittingCandidate>> =
            self.problem.clauses.iter().filter(open).map(|c| free(c, excluded)).collect();
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

fn free(clause: &BTreeSet<HittingCandidate>, excluded: &BTreeSet<HittingCandidate>) -> Vec<HittingCandidate> {
    clause.difference(excluded).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cheapest solution by trying all subsets.
    fn brute_force(problem: &Hitting) -> Option<u64> {
        let count = problem.costs.len();
        let subsets = (0u32..1 << count)
            .map(|mask| (0..count).filter(|c| mask >> c & 1 == 1).collect::<BTreeSet<HittingCandidate>>());
        let solves = |set: &BTreeSet<HittingCandidate>| {
            problem.clauses.iter().all(|clause| !clause.is_disjoint(set))
                && !problem.forbidden.iter().any(|bad| bad.is_subset(set))
        };
        subsets.filter(solves).map(|set| problem.cost(&set)).min()
    }

    #[test]
    fn agrees_with_trying_all_subsets() {
        let mut seed = 7u64;
        let mut random = |below: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % below
        };
        for _ in 0..2000 {
            let count = 1 + random(8) as usize;
            let mut set = |size: u64| (0..1 + random(size)).map(|_| random(count as u64) as usize).collect();
            let problem = Hitting {
                clauses: (0..4).map(|_| set(3)).collect(),
                forbidden: (0..2).map(|_| set(4)).collect(),
                costs: Vec::new(),
            };
            let costs = (0..count).map(|_| 1 + random(4)).collect();
            let problem = Hitting { costs, ..problem };
            let found = problem.solve();
            assert_eq!(found.as_ref().map(|set| problem.cost(set)), brute_force(&problem), "{problem:?}");
        }
    }

    #[test]
    fn without_clauses_nothing_is_chosen() {
        assert_eq!(Hitting { costs: vec![1], ..Hitting::default() }.solve(), Some(BTreeSet::new()));
    }

    #[test]
    fn an_empty_clause_cannot_be_met() {
        let clauses = vec![BTreeSet::new()];
        assert_eq!(Hitting { costs: vec![1], clauses, ..Hitting::default() }.solve(), None);
    }
}
