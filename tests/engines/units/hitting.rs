//! Cheapest sets that meet all clauses.

use engine::inside::{Hitting, HittingCandidate};
use std::collections::BTreeSet;

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
