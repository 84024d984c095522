//! Unsatisfiable cores: which atoms of a contradictory conjunction matter.

use crate::solve::{Decided, decide};
use crate::terms::atom::Atom;

/// Positions of atoms that contradict each other, as the certificate has it: small,
/// but perhaps not minimal. `None` if the conjunction has a solution.
pub fn quick_core(atoms: &[Atom]) -> Option<Vec<usize>> {
    match decide(atoms) {
        Decided::Sat(_) => None,
        Decided::Unsat(certificate) => Some(certificate.core(atoms.len())),
    }
}

/// Positions of atoms that contradict each other while none of them can be spared.
///
/// ```
/// use logic::{minimal_core, Atom, Terms};
/// let mut terms = Terms::new();
/// let (x, y, z) = (terms.var("x"), terms.var("y"), terms.var("z"));
/// let atoms = [Atom::lt(x, y), Atom::ge(z, 0), Atom::lt(y, x), Atom::lt(x, z)];
/// assert_eq!(minimal_core(&atoms), Some(vec![0, 2]));
/// ```
pub fn minimal_core(atoms: &[Atom]) -> Option<Vec<usize>> {
    let mut core = quick_core(atoms)?;
    let mut at = 0;
    while at < core.len() {
        let mut without = core.clone();
        without.remove(at);
        let chosen: Vec<Atom> = without.iter().map(|position| atoms[*position].clone()).collect();
        match quick_core(&chosen) {
            // What the smaller proof uses may leave out earlier atoms, too; those
            // found necessary before stay necessary.
            Some(smaller) => {
                at = smaller.iter().filter(|position| **position < at).count();
                core = smaller.into_iter().map(|position| without[position]).collect();
            }
            None => at += 1,
        }
    }
    Some(core)
}

/// Positions of atoms that contradict each other, as the certificate has it; minimal if they are at most so many.
pub fn small_core(atoms: &[Atom], most: usize) -> Option<Vec<usize>> {
    let core = quick_core(atoms)?;
    if core.len() > most {
        return Some(core);
    }
    let few: Vec<Atom> = core.iter().map(|at| atoms[*at].clone()).collect();
    Some(minimal_core(&few)?.into_iter().map(|at| core[at]).collect())
}
