//! Formulas: atoms under conjunction, disjunction and negation.
//!
//! Constructors flatten nested connectives, drop neutral elements and
//! duplicates, and push negation into atoms, so that trivial formulas never
//! reach a solver. Formulas are shared trees; cloning is cheap.

use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::atom::Atom;
use super::linear::{Linear, Var};
use crate::int::Int;

/// The top of a formula.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum FormulaNode {
    /// A linear atom.
    Atom(Atom),
    /// All of these; the empty conjunction is true.
    And(Vec<Formula>),
    /// One of these; the empty disjunction is false.
    Or(Vec<Formula>),
    /// Not this one.
    Not(Formula),
}

/// A Boolean combination of atoms.
///
/// ```
/// use logic::{Atom, Formula, Linear, Terms};
/// let mut terms = Terms::new();
/// let x = Linear::from(terms.var("x"));
/// let small = Formula::from(Atom::le(x.clone(), 3));
/// let large = Formula::from(Atom::ge(x, 10));
/// let either = Formula::or([small, large]);
/// assert_eq!(terms.show(&either).to_string(), "(x <= 3 | x >= 10)");
/// assert!(Formula::and([either, Formula::truth(false)]).is_false());
/// ```
#[derive(Clone)]
pub struct Formula(Arc<(FormulaNode, u64)>);

impl Formula {
    /// The formula that always holds, or the one that never does.
    pub fn truth(value: bool) -> Formula {
        let node = if value { FormulaNode::And(Vec::new()) } else { FormulaNode::Or(Vec::new()) };
        Formula::build(node)
    }

    /// The conjunction of formulas.
    pub fn and(parts: impl IntoIterator<Item = Formula>) -> Formula {
        Formula::join(parts, true)
    }

    /// The disjunction of formulas.
    pub fn or(parts: impl IntoIterator<Item = Formula>) -> Formula {
        Formula::join(parts, false)
    }

    /// The negation of a formula.
    pub fn negate(&self) -> Formula {
        match self.node() {
            FormulaNode::Atom(atom) => Formula::from(atom.negate()),
            FormulaNode::Not(inner) => inner.clone(),
            _ if self.is_true() || self.is_false() => Formula::truth(self.is_false()),
            _ => Formula::build(FormulaNode::Not(self.clone())),
        }
    }

    /// The conjunction of atoms.
    pub fn conjunction<'a>(atoms: impl IntoIterator<Item = &'a Atom>) -> Formula {
        Formula::and(atoms.into_iter().map(|atom| Formula::from(atom.clone())))
    }

    /// The top of the formula.
    pub fn node(&self) -> &FormulaNode {
        &self.0.0
    }

    /// Whether this is the constant true.
    pub fn is_true(&self) -> bool {
        matches!(self.node(), FormulaNode::And(parts) if parts.is_empty())
    }

    /// Whether this is the constant false.
    pub fn is_false(&self) -> bool {
        matches!(self.node(), FormulaNode::Or(parts) if parts.is_empty())
    }

    /// The formula as a list of atoms, if it is a conjunction of atoms.
    pub fn as_conjunction(&self) -> Option<Vec<Atom>> {
        self.conjuncts().iter().map(Formula::as_atom).collect()
    }

    /// The parts of a conjunction; anything else is its only part.
    pub(crate) fn conjuncts(&self) -> &[Formula] {
        match self.node() {
            FormulaNode::And(parts) => parts,
            _ => std::slice::from_ref(self),
        }
    }

    pub(crate) fn as_atom(&self) -> Option<Atom> {
        match self.node() {
            FormulaNode::Atom(atom) => Some(atom.clone()),
            _ => None,
        }
    }

    /// Whether the formula holds under an assignment.
    pub fn holds<'a>(&self, value: &mut impl FnMut(Var) -> &'a Int) -> bool {
        match self.node() {
            FormulaNode::Atom(atom) => atom.holds(&mut *value),
            FormulaNode::And(parts) => parts.iter().all(|part| part.holds(value)),
            FormulaNode::Or(parts) => parts.iter().any(|part| part.holds(value)),
            FormulaNode::Not(inner) => !inner.holds(value),
        }
    }

    /// Replaces all variables at once; `None` keeps a variable.
    pub fn substitute_all(&self, by: &mut impl FnMut(Var) -> Option<Linear>) -> Formula {
        match self.node() {
            FormulaNode::Atom(atom) => Formula::from(atom.substitute_all(&mut *by)),
            FormulaNode::And(parts) => Formula::and(parts.iter().map(|part| part.substitute_all(by))),
            FormulaNode::Or(parts) => Formula::or(parts.iter().map(|part| part.substitute_all(by))),
            FormulaNode::Not(inner) => inner.substitute_all(by).negate(),
        }
    }

    /// The atoms that occur, each once, in a fixed order.
    pub fn atoms(&self) -> BTreeSet<Atom> {
        let mut found = BTreeSet::new();
        self.visit_atoms(&mut |atom| {
            found.insert(atom.clone());
        });
        found
    }

    /// The variables that occur.
    pub fn vars(&self) -> BTreeSet<Var> {
        let mut found = BTreeSet::new();
        self.visit_atoms(&mut |atom| found.extend(atom.vars()));
        found
    }

    /// The number of occurrences of atoms.
    pub fn size(&self) -> usize {
        let mut count = 0;
        self.visit_atoms(&mut |_| count += 1);
        count
    }

    pub(crate) fn visit_atoms(&self, visit: &mut impl FnMut(&Atom)) {
        match self.node() {
            FormulaNode::Atom(atom) => visit(atom),
            FormulaNode::And(parts) | FormulaNode::Or(parts) => {
                parts.iter().for_each(|part| part.visit_atoms(visit));
            }
            FormulaNode::Not(inner) => inner.visit_atoms(visit),
        }
    }

    /// Joins parts by `and` (or by `or`), flattening and absorbing constants.
    fn join(parts: impl IntoIterator<Item = Formula>, and: bool) -> Formula {
        let mut flat: Vec<Formula> = Vec::new();
        let mut seen = hashbrown::HashSet::<Formula, rustc_hash::FxBuildHasher>::default();
        let mut keep = |part: &Formula, flat: &mut Vec<Formula>| {
            if seen.insert(part.clone()) {
                flat.push(part.clone());
            }
        };
        for part in parts {
            match (part.node(), and) {
                (FormulaNode::And(inner), true) | (FormulaNode::Or(inner), false) => {
                    inner.iter().for_each(|part| keep(part, &mut flat));
                }
                _ if part.is_false() || part.is_true() => return Formula::truth(!and),
                _ => keep(&part, &mut flat),
            }
        }
        let is_atom = |part: &&Formula| matches!(part.node(), FormulaNode::Atom(_));
        if flat.iter().filter(is_atom).any(|part| seen.contains(&part.negate())) {
            return Formula::truth(!and);
        }
        match flat.len() {
            1 => flat.swap_remove(0),
            _ if and => Formula::build(FormulaNode::And(flat)),
            _ => Formula::build(FormulaNode::Or(flat)),
        }
    }

    fn build(node: FormulaNode) -> Formula {
        let mut hasher = rustc_hash::FxHasher::default();
        node.hash(&mut hasher);
        Formula(Arc::new((node, hasher.finish())))
    }
}

impl From<Atom> for Formula {
    fn from(atom: Atom) -> Formula {
        if atom.is_true() || atom.is_false() {
            return Formula::truth(atom.is_true());
        }
        Formula::build(FormulaNode::Atom(atom))
    }
}

impl From<&Atom> for Formula {
    fn from(atom: &Atom) -> Formula {
        Formula::from(atom.clone())
    }
}

impl PartialEq for Formula {
    fn eq(&self, other: &Formula) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || (self.0.1 == other.0.1 && self.0.0 == other.0.0)
    }
}

impl Eq for Formula {}

impl Hash for Formula {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0.1);
    }
}

impl std::fmt::Debug for Formula {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", super::print::Show::anonymous(self))
    }
}
