//! The predicates of a proof by cubes, as an author would offer them.
//!
//! Bounds of the same sum from both sides are one equation, and of terms those counted positively
//! stand left. What speaks of buffered stores is left out: texts have no name for those.

use crate::CubeProof;
use logic::{Atom, Relation};
use machine::Slot;
use program::{Arith, Cond, Expr, Int, Place, Relation as Compared};
use std::collections::BTreeSet;

impl CubeProof {
    /// The predicates that occur in some cube.
    pub fn used(&self) -> Vec<Atom> {
        let literals = self.cubes.iter().flat_map(|cube| &cube.literals);
        let used: BTreeSet<u32> = literals.map(|(predicate, _)| *predicate).collect();
        used.into_iter().filter_map(|at| self.predicates.get(at as usize).cloned()).collect()
    }

    /// Those among them that speak of memory and registers only, as conditions.
    pub fn offers(&self) -> Vec<Cond<Place>> {
        let mut found = Vec::new();
        let used = self.used();
        for atom in &used {
            let cond = self.condition(&whole(atom, &used));
            found.extend(cond.filter(|cond| !found.contains(cond)));
        }
        found
    }

    fn condition(&self, atom: &Atom) -> Option<Cond<Place>> {
        let (mut left, mut right) = (Expr::from(0), Expr::from(0));
        let mut add = |value: Expr<Place>, negative: bool| {
            let side = if negative { &mut right } else { &mut left };
            let so_far = std::mem::replace(side, Expr::from(0));
            *side = if so_far == Expr::from(0) { value } else { Expr::binary(Arith::Add, so_far, value) };
        };
        for (var, factor) in atom.expr().terms() {
            let place = match self.vocabulary.slot_of(*var)? {
                Slot::Memory(variable) => Place::Memory(variable),
                Slot::Register(thread, register) => Place::Register(thread, register),
                _ => return None,
            };
            let value = Expr::Leaf(place);
            let times = factor.abs();
            let value = if times.is_one() { value } else { Expr::binary(Arith::Mul, times.to_big(), value) };
            add(value, factor.signum() < 0);
        }
        let constant = atom.expr().constant();
        if !constant.is_zero() {
            add(Expr::from(constant.abs().to_big()), constant.signum() < 0);
        }
        let compared = |relation| Some(Cond::compare(relation, left.clone(), right.clone()));
        match atom.relation() {
            Relation::Le => compared(Compared::Le),
            Relation::Eq => compared(Compared::Eq),
            Relation::Ne => compared(Compared::Ne),
            Relation::Divides(by) | Relation::NotDivides(by) => {
                let whole = Expr::binary(Arith::Sub, left.clone(), right.clone());
                let rest = Expr::binary(Arith::Rem, whole, by.to_big());
                Some(Cond::compare(Compared::Eq, rest, Int::from(0)))
            }
        }
    }
}

/// The equation that an inequality is half of, if the other half is there too. Of an inequality and its
/// negation one is there: `e ≥ 1` and `e ≤ -1` stand for `e ≤ 0` and `e ≥ 0`.
fn whole(atom: &Atom, all: &[Atom]) -> Atom {
    if *atom.relation() != Relation::Le {
        return atom.clone();
    }
    let negated = atom.negate();
    for half in [atom, &negated] {
        let other = Atom::new(Relation::Le, -half.expr().clone());
        if all.contains(&other) || all.contains(&other.negate()) {
            return Atom::new(Relation::Eq, half.expr().clone());
        }
    }
    atom.clone()
}
