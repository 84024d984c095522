//! What a loop keeps, guessed from a path that goes round it again and again.
//!
//! Where constants keep growing, interpolants count rounds: `i = 1, s = 2`, `i = 2, s = 4`, …. Two
//! things of the path itself end that. Its *conditions* (`i < n`), and the same off by one, say how far
//! a counter is from its bound. Its *rates* say how counters go together: if a round adds `a` to x
//! and `b` to y, `b·x - a·y` is the same after every round, and differs by `a·b` within one.
//! These are only guesses at predicates; whether they hold, exploration decides.

use evidence::symbolic::{Name, Step, Value, Vocabulary};
use logic::{Atom, Int, Linear, Relation, Var};
use std::collections::{BTreeMap, BTreeSet};

/// Of so many counters on a path are the rates compared.
const MOST_COUNTERS: usize = 8;

/// Predicates that a path suggests.
pub(super) fn suggested<G, L>(path: &[&Step<G, L>], vocabulary: &Vocabulary) -> BTreeSet<Atom> {
    let mut found = conditions(path, vocabulary);
    let counters: Vec<(Var, Int)> = counters(path, vocabulary).into_iter().take(MOST_COUNTERS).collect();
    for (at, (x, a)) in counters.iter().enumerate() {
        for (y, b) in &counters[at + 1..] {
            let kept = Linear::from(*x).times(b).plus(&Int::from(-1i64), &Linear::from(*y).times(a));
            let within = Int::default().plus_product(a, b);
            for offset in [Int::default(), within.clone(), -within] {
                let difference = kept.clone() - Linear::from(offset);
                found.insert(Atom::new(Relation::Le, difference.clone()));
                found.insert(Atom::new(Relation::Le, -difference));
            }
        }
    }
    found
}

/// The inequalities on the path that speak of slots only, and the same off by one.
fn conditions<G, L>(path: &[&Step<G, L>], vocabulary: &Vocabulary) -> BTreeSet<Atom> {
    let is_slot = |var| matches!(vocabulary.name(var), Some(Name::Slot(_)));
    let mut found = BTreeSet::new();
    for atom in path.iter().flat_map(|step| &step.guard) {
        if *atom.relation() == Relation::Le && atom.vars().all(is_slot) {
            for offset in [-1i64, 0, 1] {
                found.insert(Atom::new(Relation::Le, atom.expr().clone() + offset));
            }
        }
    }
    found
}

/// The slots to which the path adds a constant, and which.
fn counters<G, L>(path: &[&Step<G, L>], vocabulary: &Vocabulary) -> BTreeMap<Var, Int> {
    let mut found = BTreeMap::new();
    for (slot, value) in path.iter().flat_map(|step| &step.set) {
        let Value::Is(expr) = value else { continue };
        if let [(var, factor)] = expr.terms()
            && vocabulary.name(*var) == Some(Name::Slot(*slot))
            && factor.is_one()
            && !expr.constant().is_zero()
        {
            found.entry(*var).or_insert_with(|| expr.constant().clone());
        }
    }
    found
}
