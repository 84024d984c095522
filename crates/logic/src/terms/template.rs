//! Templates: the shape of an atom with holes where its variables stood.
//!
//! Refinement finds a predicate about particular variables; the same relation
//! usually matters for all variables of the same kind. Abstracting an atom
//! forgets which variables it spoke about, instantiating puts others in,
//! in every way that respects the kind of each hole.

use super::atom::{Atom, Relation};
use super::linear::{Linear, Var};
use crate::int::Int;

/// The shape of an atom, with one hole for each variable it mentioned.
///
/// ```
/// use logic::{Atom, Linear, Template, Terms};
/// let mut terms = Terms::new();
/// let (x, y, z) = (terms.var("x"), terms.var("y"), terms.var("z"));
/// let (template, filling) = Template::abstracting(&Atom::le(Linear::from(x) - y, 4));
/// assert_eq!((template.holes(), filling), (2, vec![x, y]));
/// let all = template.instances(&[vec![x, y, z], vec![z]]);
/// let shown: Vec<String> = all.iter().map(|atom| terms.show(atom).to_string()).collect();
/// assert_eq!(shown, ["x - z <= 4", "y - z <= 4"]);
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Template {
    relation: Relation,
    coefficients: Vec<Int>,
    constant: Int,
}

impl Template {
    /// The template of an atom and the variables that filled its holes.
    ///
    /// Holes are ordered by coefficient (largest first), then by variable, so
    /// that atoms which differ only in the names of variables give one template.
    /// The sign of an equation carries no meaning and is chosen canonically.
    pub fn abstracting(atom: &Atom) -> (Template, Vec<Var>) {
        let straight = Template::in_order(atom.relation(), atom.expr().clone());
        match atom.relation() {
            Relation::Eq | Relation::Ne => {
                let turned = Template::in_order(atom.relation(), -atom.expr().clone());
                // On a tie both readings give the same template; the first keeps variable order.
                if turned.0 > straight.0 { turned } else { straight }
            }
            _ => straight,
        }
    }

    fn in_order(relation: &Relation, expr: Linear) -> (Template, Vec<Var>) {
        let mut terms = expr.terms().to_vec();
        terms.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
        let (vars, coefficients) = terms.into_iter().unzip();
        let constant = expr.constant().clone();
        (Template { relation: relation.clone(), coefficients, constant }, vars)
    }

    /// The number of holes.
    pub fn holes(&self) -> usize {
        self.coefficients.len()
    }

    /// The same shape with another constant, to generalise one that keeps growing.
    pub fn with_constant(&self, constant: impl Into<Int>) -> Template {
        Template { constant: constant.into(), ..self.clone() }
    }

    /// Fills the holes in order; `None` if the number of variables is wrong.
    pub fn fill(&self, vars: &[Var]) -> Option<Atom> {
        if vars.len() != self.holes() {
            return None;
        }
        let terms = vars.iter().copied().zip(self.coefficients.iter().cloned());
        Some(Atom::new(self.relation.clone(), Linear::new(terms, self.constant.clone())))
    }

    /// All atoms that put into each hole one of its candidates, different variables
    /// into different holes, each atom once and constants left out.
    ///
    /// `candidates` lists the variables allowed in each hole; missing lists count as empty.
    pub fn instances(&self, candidates: &[Vec<Var>]) -> Vec<Atom> {
        let mut found = Vec::new();
        let mut partial: Vec<Vec<Var>> = vec![Vec::new()];
        for hole in 0..self.holes() {
            let allowed = candidates.get(hole).map_or(&[][..], Vec::as_slice);
            partial = partial
                .iter()
                .flat_map(|chosen| {
                    let fresh = allowed.iter().filter(|var| !chosen.contains(var));
                    fresh.map(|var| chosen.iter().copied().chain([*var]).collect::<Vec<Var>>())
                })
                .collect();
        }
        let mut seen = std::collections::BTreeSet::new();
        for vars in partial {
            match self.fill(&vars) {
                Some(atom) if atom.is_true() || atom.is_false() => {}
                Some(atom) if seen.insert(atom.clone()) => found.push(atom),
                _ => {}
            }
        }
        found
    }
}
