//! Formulas as clauses for the SAT solver.
//!
//! An atom and its negation share a proposition. Every inner node gets a
//! proposition equivalent to it, equal nodes the same one.

use batsat::{BasicSolver, Lit, SolverInterface, lbool};
use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::terms::atom::Atom;
use crate::terms::formula::{Formula, FormulaNode};

#[derive(Default)]
pub(crate) struct Propositions {
    solver: BasicSolver,
    atoms: HashMap<Atom, Lit, FxBuildHasher>,
    nodes: HashMap<Formula, Lit, FxBuildHasher>,
}

impl Propositions {
    /// Asserts all the formulas.
    pub(crate) fn new(formulas: &[Formula]) -> Propositions {
        let mut propositions = Propositions::default();
        for formula in formulas {
            let literal = propositions.literal(formula);
            propositions.clause(vec![literal]);
        }
        propositions
    }

    fn fresh(&mut self) -> Lit {
        Lit::new(self.solver.new_var_default(), true)
    }

    fn clause(&mut self, mut literals: Vec<Lit>) {
        self.solver.add_clause_reuse(&mut literals);
    }

    fn atom(&mut self, atom: &Atom) -> Lit {
        if let Some(literal) = self.atoms.get(atom) {
            return *literal;
        }
        let literal = self.fresh();
        self.atoms.insert(atom.clone(), literal);
        self.atoms.insert(atom.negate(), !literal);
        literal
    }

    fn literal(&mut self, formula: &Formula) -> Lit {
        let (parts, and) = match formula.node() {
            FormulaNode::Atom(atom) => return self.atom(atom),
            FormulaNode::Not(inner) => return !self.literal(inner),
            FormulaNode::And(parts) => (parts, true),
            FormulaNode::Or(parts) => (parts, false),
        };
        if let Some(literal) = self.nodes.get(formula) {
            return *literal;
        }
        let parts: Vec<Lit> = parts.iter().map(|part| self.literal(part)).collect();
        let whole = self.fresh();
        // For a disjunction the same clauses hold of the negations.
        let turn = |literal: Lit| if and { literal } else { !literal };
        for part in &parts {
            self.clause(vec![!turn(whole), turn(*part)]);
        }
        let all = parts.iter().map(|part| !turn(*part)).chain([turn(whole)]).collect();
        self.clause(all);
        self.nodes.insert(formula.clone(), whole);
        whole
    }

    /// A propositional model, as the truth of each atom.
    pub(crate) fn model(&mut self) -> Option<impl Fn(&Atom) -> Option<bool> + use<>> {
        if self.solver.solve_limited(&[]) != lbool::TRUE {
            return None;
        }
        let truth: HashMap<Atom, bool, FxBuildHasher> = self
            .atoms
            .iter()
            .map(|(atom, literal)| (atom.clone(), self.solver.value_lit(*literal) == lbool::TRUE))
            .collect();
        Some(move |atom: &Atom| truth.get(atom).copied())
    }

    /// Forbids that all these atoms hold.
    pub(crate) fn exclude(&mut self, atoms: &[Atom]) {
        let clause = atoms.iter().map(|atom| !self.atom(atom)).collect();
        self.clause(clause);
    }
}
