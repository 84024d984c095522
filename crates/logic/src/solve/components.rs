//! Independent parts of a conjunction: atoms that share variables, directly or not.
//!
//! Independent parts are decided one by one, since searching them together would try
//! all combinations of their splits.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::terms::atom::Atom;
use crate::terms::linear::Var;

/// Positions of atoms, grouped by independent part, in order of first occurrence.
pub(crate) fn components(atoms: &[Atom]) -> Vec<Vec<usize>> {
    let mut parents: Vec<usize> = (0..atoms.len()).collect();
    let mut owner: HashMap<Var, usize, FxBuildHasher> = HashMap::default();
    for (position, atom) in atoms.iter().enumerate() {
        for var in atom.vars() {
            let other = *owner.entry(var).or_insert(position);
            let (a, b) = (root(&mut parents, other), root(&mut parents, position));
            parents[a.max(b)] = a.min(b);
        }
    }
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut group_of: Vec<Option<usize>> = vec![None; atoms.len()];
    for position in 0..atoms.len() {
        let root = root(&mut parents, position);
        let group = *group_of[root].get_or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[group].push(position);
    }
    groups
}

fn root(parents: &mut [usize], mut at: usize) -> usize {
    while parents[at] != at {
        parents[at] = parents[parents[at]];
        at = parents[at];
    }
    at
}
