//! Linear constraints as facts that people read.

use evidence::inside::{SlotKind, facts, sentences};
use logic::{Atom, Linear, Var};

fn check(atoms: &[Atom], expected: &[&str]) {
    let name = |var: Var| (SlotKind::Variable, ["x", "y", "z"][var.index()].to_string());
    assert_eq!(sentences(&facts(atoms, &name, &|var| var)), expected, "{atoms:?}");
}

fn xyz() -> [Linear; 3] {
    [0, 1, 2].map(|at| Linear::from(Var::at(at)))
}

#[test]
fn bounds_become_ranges_and_lists() {
    let [x, y, z] = xyz();
    check(&[Atom::ge(x.clone(), 1)], &["x is at least 1"]);
    check(&[Atom::le(x.clone(), 3), Atom::ge(x.clone(), 3)], &["x is 3"]);
    check(&[Atom::le(x.clone(), 3), Atom::ge(x.clone(), 1), Atom::ne(x.clone(), 2)], &["x is 1 or 3"]);
    check(&[Atom::le(x.clone(), 9), Atom::ge(x.clone(), 1)], &["x lies between 1 and 9"]);
    check(
        &[Atom::le(x.clone(), 9), Atom::le(x.clone(), 7), Atom::ne(x, 3)],
        &["x is at most 7", "x is not 3"],
    );
    check(&[Atom::ge(y, 0), Atom::ge(z, 0)], &["y and z are at least 0"]);
}

#[test]
fn comparisons_stand_as_one_writes_them() {
    let [x, y, z] = xyz();
    check(&[Atom::lt(x.clone(), y.clone())], &["x < y"]);
    check(&[Atom::le(x.clone(), y.clone())], &["x <= y"]);
    check(&[Atom::lt(y.clone(), x.clone() + 5)], &["y <= x + 4"]);
    check(&[Atom::le(x.clone(), y.clone()), Atom::ge(x.clone(), y.clone())], &["x == y"]);
    check(&[Atom::eq(x.clone(), y.clone() + 1)], &["x == y + 1"]);
    check(&[Atom::le(x.clone() + &z, y.clone() * 2 - 3)], &["x + z <= 2*y - 3"]);
    check(&[Atom::ge(x.clone() + &y, 1)], &["0 < x + y"]);
    check(&[Atom::divides(2, x + &y)], &["2 divides x + y"]);
}

#[test]
fn what_follows_is_left_out() {
    let [x, y, z] = xyz();
    let chain = [Atom::lt(x.clone(), y.clone()), Atom::lt(y.clone(), z.clone())];
    check(&[chain.as_slice(), &[Atom::le(x.clone(), z.clone())]].concat(), &["x < y", "y < z"]);
    let values = [Atom::eq(x.clone(), 1), Atom::eq(y.clone(), 1)];
    check(&[values.as_slice(), &[Atom::eq(x.clone(), y.clone())]].concat(), &["x and y are 1"]);
    check(
        &[Atom::ge(x.clone(), 0), Atom::lt(x.clone(), y.clone()), Atom::ge(y, 1)],
        &["x is at least 0", "x < y"],
    );
}
