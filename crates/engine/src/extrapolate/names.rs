//! Questions under names that do not depend on the slots they are about.
//!
//! Whether a conjunction implies an atom does not depend on what its variables are called. They are
//! put in an order by what the atoms say of them: each variable gets a *colour* from the shapes of
//! the atoms that mention it, then from the colours of the other variables in those, and so on for a
//! few rounds. Variables of one colour keep their order. Two questions that differ only in names then
//! nearly always become the same; where they do not, the prover is asked once more.

use logic::{Atom, Linear, Var};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};

const ROUNDS: usize = 3;

/// A question under other names.
pub struct Renamed {
    /// What is known, in order.
    pub atoms: Vec<Atom>,
    /// What is asked.
    pub goal: Option<Atom>,
    /// For every atom its position in the question.
    pub order: Vec<u32>,
}

/// The question under other names.
pub fn renamed(known: &[&Atom], goal: Option<&Atom>) -> Renamed {
    let all: Vec<(&Atom, bool)> =
        known.iter().map(|atom| (*atom, false)).chain(goal.map(|goal| (goal, true))).collect();
    let mut colours: FxHashMap<Var, u64> = FxHashMap::default();
    for _ in 0..ROUNDS {
        let mut next: FxHashMap<Var, u64> = FxHashMap::default();
        for (atom, is_goal) in &all {
            let shape = shape(atom, *is_goal, &colours);
            for (var, factor) in atom.expr().terms() {
                let colour = next.entry(*var).or_default();
                *colour = colour.wrapping_add(hash(&(shape, factor)));
            }
        }
        colours = next;
    }
    let mut vars: Vec<(u64, Var)> = colours.into_iter().map(|(var, colour)| (colour, var)).collect();
    vars.sort_unstable();
    let number: FxHashMap<Var, usize> = vars.iter().enumerate().map(|(at, (_, var))| (*var, at)).collect();
    let rename =
        |atom: &Atom| atom.substitute_all(|var| number.get(&var).map(|at| Linear::from(Var::at(*at))));
    let mut atoms: Vec<(Atom, u32)> =
        known.iter().enumerate().map(|(at, atom)| (rename(atom), at as u32)).collect();
    atoms.sort();
    let (atoms, order) = atoms.into_iter().unzip();
    Renamed { atoms, goal: goal.map(rename), order }
}

/// An atom with colours in place of variables.
fn shape(atom: &Atom, is_goal: bool, colours: &FxHashMap<Var, u64>) -> u64 {
    let mut terms: Vec<u64> = Vec::new();
    for (var, factor) in atom.expr().terms() {
        terms.push(hash(&(factor, colours.get(var).copied().unwrap_or(0))));
    }
    terms.sort_unstable();
    hash(&(atom.relation(), atom.expr().constant(), is_goal, terms))
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    value.hash(&mut hasher);
    hasher.finish()
}
