//! Deciding conjunctions of linear integer atoms.
//!
//! First the difference constraints are examined as a graph; if they are
//! contradictory, or all there is, that settles the matter. Otherwise the
//! general search runs on each independent part. Either way a solution is tried on every atom before it
//! is handed out, and a refutation is a certificate.

pub(crate) mod components;
pub(crate) mod cycles;
pub(crate) mod dive;
pub(crate) mod equations;
pub(crate) mod lattice;
pub(crate) mod ledger;
pub(crate) mod omega;
pub(crate) mod rational;
pub(crate) mod search;
pub(crate) mod simplex;

use crate::certificate::{Combination, ProofStep, UnsatProof};
use crate::int::Int;
use crate::terms::atom::Atom;
use crate::terms::formula::Formula;
use crate::terms::linear::Var;
use cycles::Cycles;

/// Values of integer variables; those not mentioned are zero.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Model {
    values: Vec<Int>,
}

impl Model {
    /// The value of a variable.
    #[inline]
    pub fn value(&self, var: Var) -> &Int {
        self.values.get(var.index()).unwrap_or(&Int::ZERO)
    }

    /// Sets the value of a variable.
    pub fn set(&mut self, var: Var, value: Int) {
        if self.values.len() <= var.index() {
            self.values.resize(var.index() + 1, Int::ZERO);
        }
        self.values[var.index()] = value;
    }

    /// Whether an atom holds.
    pub fn satisfies(&self, atom: &Atom) -> bool {
        atom.holds(|var| self.value(var))
    }

    /// Whether a formula holds.
    pub fn satisfies_formula(&self, formula: &Formula) -> bool {
        formula.holds(&mut |var| self.value(var))
    }
}

impl FromIterator<(Var, Int)> for Model {
    fn from_iter<I: IntoIterator<Item = (Var, Int)>>(values: I) -> Model {
        let mut model = Model::default();
        values.into_iter().for_each(|(var, value)| model.set(var, value));
        model
    }
}

/// The answer to a question: whether a conjunction has a solution, or whether formulas have a common one.
#[derive(Clone, Debug)]
pub enum Outcome<P> {
    /// There is this solution.
    Sat(Model),
    /// There is none, and this proves it.
    Unsat(P),
}

impl<P> Outcome<P> {
    /// Whether there is a solution.
    pub fn is_sat(&self) -> bool {
        matches!(self, Outcome::Sat(_))
    }
}

/// The answer to a question about a conjunction.
pub type Decided = Outcome<UnsatProof>;

/// Decides a conjunction of atoms over the integers.
///
/// ```
/// use logic::{decide, Atom, Linear, Decided, Terms};
/// let mut terms = Terms::new();
/// let (x, y) = (Linear::from(terms.var("x")), Linear::from(terms.var("y")));
/// // An even number is never odd, although rational solutions abound.
/// let parity = [Atom::eq(x.clone() * 2, y.clone()), Atom::divides(2, y.clone() + 1)];
/// assert!(!decide(&parity).is_sat());
/// let third = [Atom::le(x.clone() * 3, y.clone()), Atom::lt(y, x * 3 + 3)];
/// match decide(&third) {
///     Decided::Sat(model) => assert!(third.iter().all(|atom| model.satisfies(atom))),
///     Decided::Unsat(_) => unreachable!(),
/// }
/// ```
pub fn decide(atoms: &[Atom]) -> Decided {
    let refuted = |why| Decided::Unsat(UnsatProof { steps: vec![ProofStep::Contradiction(why)] });
    if let Some(position) = atoms.iter().position(Atom::is_false) {
        return refuted(Combination::one(position as u32));
    }
    match cycles::examine(atoms) {
        Cycles::Negative(cycle) => return refuted(cycle),
        Cycles::Solution(values) => {
            let model: Model = values.into_iter().collect();
            if atoms.iter().all(|atom| model.satisfies(atom)) {
                return Decided::Sat(model);
            }
        }
    }
    let vars = atoms.iter().flat_map(Atom::vars);
    let fresh = vars.map(|var| var.0 + 1).max().unwrap_or(0);
    let mut model = Model::default();
    for positions in components::components(atoms) {
        let part: Vec<Atom> = positions.iter().map(|at| atoms[*at].clone()).collect();
        match search::solve(&part, fresh) {
            Err(certificate) => {
                return Decided::Unsat(certificate.relocated(&positions, atoms.len()));
            }
            Ok(values) => {
                for var in part.iter().flat_map(Atom::vars) {
                    model.set(var, values.get(&var).cloned().unwrap_or_default());
                }
            }
        }
    }
    // A wrong answer would be worse than none.
    assert!(atoms.iter().all(|atom| model.satisfies(atom)), "a model of our own violates an atom");
    Decided::Sat(model)
}
