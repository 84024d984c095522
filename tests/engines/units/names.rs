//! Questions up to the names in them.

use engine::inside::renamed;
use logic::{Atom, Var};

#[test]
fn questions_that_differ_in_names_are_one() {
    let at = Var::at;
    let question = |x, y, z| {
        let known = [Atom::lt(at(x), at(y)), Atom::le(at(y), at(z)), Atom::ge(at(x), 3)];
        let known: Vec<&Atom> = known.iter().collect();
        let renamed = renamed(&known, Some(&Atom::gt(at(z), 3)));
        (renamed.atoms, renamed.goal)
    };
    let first = question(0, 1, 2);
    for (x, y, z) in [(2, 1, 0), (7, 3, 5), (4, 9, 1)] {
        assert_eq!(question(x, y, z), first);
    }
    let other = [Atom::lt(at(0), at(1)), Atom::le(at(2), at(1)), Atom::ge(at(0), 3)];
    let other = renamed(&other.iter().collect::<Vec<_>>(), Some(&Atom::gt(at(2), 3)));
    assert_ne!((other.atoms, other.goal), first);
}
