//! Atoms up to the names of variables and constants.

use logic::{Atom, Linear, Template, Var};

fn var(n: usize) -> Linear {
    Linear::from(Var::at(n))
}

#[test]
fn renamed_atoms_share_a_template() {
    let first = Atom::le(var(0) * 2 - Var::at(1), 7);
    let second = Atom::le(var(5) * 2 - Var::at(3), 7);
    assert_eq!(Template::abstracting(&first).0, Template::abstracting(&second).0);
    let third = Atom::eq(var(0) * 2 - Var::at(1), 7);
    let fourth = Atom::eq(var(3) * 2 - Var::at(1), 7);
    assert_eq!(Template::abstracting(&third).0, Template::abstracting(&fourth).0);
}

#[test]
fn filling_restores_the_atom() {
    for atom in [
        Atom::le(var(0) * 3 - Var::at(1), 7),
        Atom::ne(var(2) - Var::at(1), -1),
        Atom::divides(3, var(4) + Var::at(1) + 1),
    ] {
        let (template, vars) = Template::abstracting(&atom);
        assert_eq!(template.fill(&vars), Some(atom));
    }
    let (template, _) = Template::abstracting(&Atom::le(var(0), 7));
    assert_eq!(template.fill(&[]), None);
}

#[test]
fn instances_are_distinct() {
    let (template, _) = Template::abstracting(&Atom::eq(var(0), var(1)));
    let vars: Vec<Var> = (0..4).map(Var::at).collect();
    assert_eq!(template.instances(&[vars.clone(), vars]).len(), 6);
}
