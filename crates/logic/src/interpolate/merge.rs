//! Joining cases of a disjunction whose union is again a conjunction.
//!
//! A case is a set of intervals, one for each linear direction, and further atoms.
//! Two cases that differ in a single interval are one case if the intervals
//! overlap or touch: `x = 3` or `x = 4` is `3 ≤ x ≤ 4`. Without this the cases of a
//! path with alternatives in every step would double with each.

use std::collections::{BTreeMap, BTreeSet};

use crate::int::Int;
use crate::terms::atom::{Atom, Relation};
use crate::terms::linear::Linear;

/// Bounds on a direction; `None` is unbounded.
type Interval = (Option<Int>, Option<Int>);

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct IntervalCase {
    intervals: BTreeMap<Linear, Interval>,
    rest: BTreeSet<Atom>,
}

/// An equivalent list of cases, no longer than the given one.
pub fn merged(cases: impl IntoIterator<Item = Vec<Atom>>) -> Vec<Vec<Atom>> {
    let mut result: Vec<IntervalCase> = Vec::new();
    for case in cases {
        let mut case = IntervalCase::new(&case);
        // What a case was joined to may now be joined to others.
        while let Some((at, joined)) = join_any(&result, &case) {
            result.swap_remove(at);
            case = joined;
        }
        result.push(case);
    }
    result.sort();
    result.iter().map(IntervalCase::atoms).collect()
}

fn join_any(cases: &[IntervalCase], case: &IntervalCase) -> Option<(usize, IntervalCase)> {
    let join = |(at, other): (usize, &IntervalCase)| Some((at, other.join(case)?));
    cases.iter().enumerate().find_map(join)
}

impl IntervalCase {
    fn new(atoms: &[Atom]) -> IntervalCase {
        let mut case = IntervalCase { intervals: BTreeMap::new(), rest: BTreeSet::new() };
        for atom in atoms {
            let equation = match atom.relation() {
                Relation::Le => false,
                Relation::Eq => true,
                _ => {
                    case.rest.insert(atom.clone());
                    continue;
                }
            };
            let direction = atom.expr().with_constant(0i64);
            let negative = direction.terms().first().is_some_and(|term| term.1.signum() < 0);
            let constant = atom.expr().constant();
            if !negative || equation {
                case.bound(direction.clone(), Some(-constant), false);
            }
            if negative {
                case.bound(-direction, Some(constant.clone()), true);
            } else if equation {
                case.bound(direction, Some(-constant), true);
            }
        }
        case
    }

    fn bound(&mut self, direction: Linear, value: Option<Int>, lower: bool) {
        let (lo, hi) = self.intervals.entry(direction).or_default();
        match lower {
            true => *lo = lo.take().max(value),
            false => *hi = [hi.take(), value].into_iter().flatten().min(),
        }
    }

    /// The union of two cases, if it is a case.
    fn join(&self, other: &IntervalCase) -> Option<IntervalCase> {
        if self.rest != other.rest {
            return None;
        }
        let directions: BTreeSet<&Linear> = self.intervals.keys().chain(other.intervals.keys()).collect();
        let free = (None, None);
        let of = |case: &IntervalCase, direction: &Linear| -> Interval {
            case.intervals.get(direction).unwrap_or(&free).clone()
        };
        let mut different = directions.into_iter().filter(|d| of(self, d) != of(other, d));
        let Some(direction) = different.next() else {
            return Some(self.clone());
        };
        if different.next().is_some() {
            return None;
        }
        let hull = hull(&of(self, direction), &of(other, direction))?;
        let mut joined = self.clone();
        match hull {
            (None, None) => joined.intervals.remove(direction),
            hull => joined.intervals.insert(direction.clone(), hull),
        };
        Some(joined)
    }

    fn atoms(&self) -> Vec<Atom> {
        let mut atoms: Vec<Atom> = self.rest.iter().cloned().collect();
        for (direction, interval) in &self.intervals {
            match interval {
                (Some(lo), Some(hi)) if lo == hi => {
                    atoms.push(Atom::eq(direction, lo.clone()));
                }
                (lo, hi) => {
                    atoms.extend(lo.iter().map(|lo| Atom::ge(direction, lo.clone())));
                    atoms.extend(hi.iter().map(|hi| Atom::le(direction, hi.clone())));
                }
            }
        }
        atoms
    }
}

/// The union of two intervals, if nothing lies between them.
fn hull(first: &Interval, second: &Interval) -> Option<Interval> {
    let apart = |left: &Option<Int>, right: &Option<Int>| match (left, right) {
        (Some(hi), Some(lo)) => hi + &Int::ONE < *lo,
        _ => false,
    };
    if apart(&first.1, &second.0) || apart(&second.1, &first.0) {
        return None;
    }
    let lo = first.0.as_ref().zip(second.0.as_ref()).map(|(a, b)| a.min(b).clone());
    let hi = first.1.as_ref().zip(second.1.as_ref()).map(|(a, b)| a.max(b).clone());
    Some((lo, hi))
}
