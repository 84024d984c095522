//! Cases that are one.

use logic::inside::merged;
use logic::{Atom, Linear, Var};

fn x() -> Linear {
    Linear::from(Var::at(0))
}

#[test]
fn touching_intervals_become_one() {
    let points = (0..5).map(|n| vec![Atom::eq(x(), n), Atom::ge(Var::at(1), 0)]);
    let expected = vec![Atom::ge(x(), 0), Atom::le(x(), 4), Atom::ge(Var::at(1), 0)];
    assert_eq!(merged(points), vec![expected]);
    let halves = [vec![Atom::le(x(), 3)], vec![Atom::ge(x(), 4)]];
    assert_eq!(merged(halves), vec![vec![]]);
}

#[test]
fn what_differs_twice_or_leaves_a_gap_stays_apart() {
    let gap = vec![vec![Atom::le(x(), 3)], vec![Atom::ge(x(), 5)]];
    assert_eq!(merged(gap).len(), 2);
    let corners = (0..2).map(|n| vec![Atom::eq(x(), n), Atom::eq(Var::at(1), n)]);
    assert_eq!(merged(corners).len(), 2);
    let odd = vec![Atom::eq(x(), 1), Atom::divides(2, Var::at(1))];
    assert_eq!(merged([odd, vec![Atom::eq(x(), 2)]]).len(), 2);
}
