//! Contexts: a conjunction loaded once, and many questions about it.
//!
//! A question passes through stages, each cheaper than the next: the closed
//! matrix of the difference constraints; solutions met earlier; a warm simplex
//! tableau with some splits at fractions; the complete decision procedure. If the
//! context consists of difference constraints alone, the first stage is exact.

mod models;
mod tableau;
mod zone;

use crate::solve::components::components;
use crate::solve::{Decided, Model, decide};
use crate::terms::atom::{Atom, Relation};
use models::Models;
use tableau::{Relaxed, Tableau};
use zone::{Mark, Zone};

/// What an atom in the simplex tableau takes, in the unit of [`Context::effort`].
const SIMPLEX: u64 = 4;

/// A conjunction of atoms that answers questions about its consequences.
///
/// ```
/// use logic::{Atom, Context, Linear, Terms, Truth};
/// let mut terms = Terms::new();
/// let (x, y, z) = (terms.var("x"), terms.var("y"), terms.var("z"));
/// let mut cube = Context::new();
/// cube.assume(&Atom::lt(x, y));
/// cube.assume(&Atom::lt(y, z));
/// // The weakest precondition of `x + 2 <= z` under `z := z + 1`.
/// assert!(cube.entails(&Atom::le(Linear::from(x) + 2, Linear::from(z) + 1)));
/// assert_eq!(cube.truth(&Atom::le(z, x)), Truth::No);
/// assert_eq!(cube.truth(&Atom::le(Linear::from(x) + 3, z)), Truth::Open);
/// cube.push();
/// cube.assume(&Atom::le(z, x));
/// assert!(!cube.is_consistent());
/// cube.pop();
/// assert!(cube.is_consistent());
/// ```
#[derive(Clone, Default)]
pub struct Context {
    atoms: Vec<Atom>,
    levels: Vec<Level>,
    zone: Zone,
    /// Atoms that the matrix does not represent fully.
    beyond: usize,
    models: Models,
    tableau: Tableau,
    /// The number of atoms that are known to be contradictory.
    contradiction: Option<usize>,
    /// Atoms assumed, and those given to the simplex tableau, once for each time.
    effort: u64,
}

#[derive(Clone, Copy)]
struct Level {
    atoms: usize,
    zone: Mark,
    beyond: usize,
}

/// What a context says about an atom.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Truth {
    /// The atom follows.
    Yes,
    /// Its negation follows.
    No,
    /// Neither follows.
    Open,
}

impl Context {
    /// The context without atoms.
    pub fn new() -> Context {
        Context::default()
    }

    /// Forgets all atoms and levels.
    pub fn clear(&mut self) {
        self.atoms.clear();
        self.levels.clear();
        self.zone.clear();
        self.beyond = 0;
        self.models.clear();
        self.tableau.clear();
        self.contradiction = None;
    }

    /// A measure of all that was computed so far: it does not depend on the clock, and one unit is about
    /// what it takes to assume an atom (some 30 ns).
    pub fn effort(&self) -> u64 {
        self.effort + self.zone.effort()
    }

    /// The atoms, in the order they were assumed.
    pub fn atoms(&self) -> &[Atom] {
        &self.atoms
    }

    /// Begins a level; [`Context::pop`] returns to this point.
    pub fn push(&mut self) {
        self.levels.push(Level { atoms: self.atoms.len(), zone: self.zone.mark(), beyond: self.beyond });
    }

    /// Retracts all atoms of the innermost level; without a level, all atoms.
    pub fn pop(&mut self) {
        let Some(level) = self.levels.pop() else {
            return self.clear();
        };
        self.tableau.retract(level.atoms, &self.atoms);
        self.atoms.truncate(level.atoms);
        self.zone.retract(level.zone);
        self.beyond = level.beyond;
        self.models.retract(level.atoms);
        if self.contradiction.is_some_and(|count| count > level.atoms) {
            self.contradiction = None;
        }
    }

    /// Adds an atom to the conjunction.
    pub fn assume(&mut self, atom: &Atom) {
        self.effort += 1;
        self.atoms.push(atom.clone());
        if atom.is_true() {
            return;
        }
        if atom.is_false() {
            self.contradiction.get_or_insert(self.atoms.len());
            return;
        }
        let represented = atom.difference().is_some_and(|shape| match atom.relation() {
            Relation::Le => self.zone.add(shape.plus, shape.minus, shape.bound),
            Relation::Eq => {
                self.zone.add(shape.plus, shape.minus, shape.bound)
                    && shape.bound.checked_neg().is_some_and(|b| self.zone.add(shape.minus, shape.plus, b))
            }
            _ => false,
        });
        self.beyond += usize::from(!represented);
        if self.zone.is_contradictory() {
            self.contradiction.get_or_insert(self.atoms.len());
        }
    }

    /// Whether the conjunction has an integer solution.
    pub fn is_consistent(&mut self) -> bool {
        if self.contradiction.is_some() {
            return false;
        }
        if self.beyond == 0 || self.models.find(&self.atoms, |_| true).is_some() {
            return true;
        }
        let consistent = self.satisfiable_with(None);
        if !consistent {
            self.contradiction = Some(self.atoms.len());
        }
        consistent
    }

    /// Whether the atom holds in every integer solution of the conjunction.
    ///
    /// A contradictory context entails everything.
    #[inline]
    pub fn entails(&mut self, atom: &Atom) -> bool {
        match self.glance(atom) {
            Some(Truth::Yes) => true,
            // Only a contradictory context entails both an atom and its negation.
            Some(_) => !self.is_consistent(),
            None => self.entails_beyond(atom),
        }
    }

    /// Whether the atom fails in every integer solution of the conjunction.
    #[inline]
    pub fn excludes(&mut self, atom: &Atom) -> bool {
        match self.glance(atom) {
            Some(Truth::No) => true,
            Some(_) => !self.is_consistent(),
            None => self.entails_beyond(&atom.negate()),
        }
    }

    /// Whether the atom or its negation follows. A contradictory context says yes to all.
    pub fn truth(&mut self, atom: &Atom) -> Truth {
        if self.entails(atom) {
            Truth::Yes
        } else if self.excludes(atom) {
            Truth::No
        } else {
            Truth::Open
        }
    }

    /// What the difference constraints alone say; `None` if that is not conclusive.
    #[inline]
    fn glance(&self, atom: &Atom) -> Option<Truth> {
        if self.contradiction.is_some() {
            return Some(Truth::Yes);
        }
        let Some(shape) = atom.difference() else {
            return self.constant(atom);
        };
        let at_most = |limit: i64| self.zone.bound(shape.plus, shape.minus).is_some_and(|b| b <= limit);
        // `x − y ≥ limit` is `y − x ≤ −limit`; the bounds kept are far from overflow.
        let at_least = |limit: i64| {
            self.zone.bound(shape.minus, shape.plus).is_some_and(|b| b.saturating_neg() >= limit)
        };
        let below = |c: i64| c.checked_sub(1).is_some_and(at_most);
        let above = |c: i64| c.checked_add(1).is_some_and(at_least);
        let c = shape.bound;
        let truth = match atom.relation() {
            Relation::Le if at_most(c) => Truth::Yes,
            Relation::Le if above(c) => Truth::No,
            Relation::Eq if at_most(c) && at_least(c) => Truth::Yes,
            Relation::Eq if below(c) || above(c) => Truth::No,
            Relation::Ne if below(c) || above(c) => Truth::Yes,
            Relation::Ne if at_most(c) && at_least(c) => Truth::No,
            _ => Truth::Open,
        };
        (truth != Truth::Open || self.beyond == 0).then_some(truth)
    }

    fn constant(&self, atom: &Atom) -> Option<Truth> {
        if atom.is_true() {
            return Some(Truth::Yes);
        }
        // A contradictory context entails falsehood too, which is for later stages to find out.
        (atom.is_false() && self.beyond == 0).then_some(Truth::No)
    }

    fn entails_beyond(&mut self, atom: &Atom) -> bool {
        if self.models.find(&self.atoms, |model| !model.satisfies(atom)).is_some() {
            return false;
        }
        // Knowing that the context is contradictory answers all further questions at once.
        if !self.is_consistent() {
            return true;
        }
        match atom.relation() {
            // The negation of an equation is no single inequality: ask for both halves.
            Relation::Eq => {
                let upper = Atom::new(Relation::Le, atom.expr().clone());
                let lower = Atom::new(Relation::Le, -atom.expr().clone());
                self.entails(&upper) && self.entails(&lower)
            }
            _ => !self.satisfiable_with(Some(&atom.negate())),
        }
    }

    /// Whether the conjunction has an integer solution that also satisfies `extra`.
    fn satisfiable_with(&mut self, extra: Option<&Atom>) -> bool {
        self.effort += SIMPLEX * self.atoms.len() as u64;
        match self.tableau.relax_with(&self.atoms, extra) {
            Relaxed::Empty => return false,
            Relaxed::Integral(model) => {
                if self.atoms.iter().chain(extra).all(|atom| model.satisfies(atom)) {
                    self.models.add(model, &self.atoms);
                    return true;
                }
            }
            Relaxed::Fractional => {}
        }
        match extra.and_then(|_| self.models.find(&self.atoms, |_| true).cloned()) {
            Some(base) => self.satisfiable_near(base, extra),
            None => self.satisfiable_at_all(extra),
        }
    }

    /// Decides only what is connected with `extra`; the rest keeps its known solution.
    fn satisfiable_near(&mut self, mut base: Model, extra: Option<&Atom>) -> bool {
        let all: Vec<Atom> = extra.into_iter().chain(&self.atoms).cloned().collect();
        let Some(positions) = components(&all).into_iter().next() else {
            return true;
        };
        let connected: Vec<Atom> = positions.iter().map(|at| all[*at].clone()).collect();
        match decide(&connected) {
            Decided::Unsat(_) => false,
            Decided::Sat(model) => {
                connected.iter().flat_map(Atom::vars).for_each(|var| base.set(var, model.value(var).clone()));
                self.models.add(base, &self.atoms);
                true
            }
        }
    }

    fn satisfiable_at_all(&mut self, extra: Option<&Atom>) -> bool {
        let all: Vec<Atom> = self.atoms.iter().chain(extra).cloned().collect();
        match decide(&all) {
            Decided::Unsat(_) => false,
            Decided::Sat(model) => {
                self.models.add(model, &self.atoms);
                true
            }
        }
    }

    /// An integer solution of the conjunction.
    pub fn model(&mut self) -> Option<Model> {
        if self.contradiction.is_some() {
            return None;
        }
        if let Some(model) = self.models.find(&self.atoms, |_| true) {
            return Some(model.clone());
        }
        match decide(&self.atoms) {
            Decided::Unsat(_) => None,
            Decided::Sat(model) => {
                self.models.add(model.clone(), &self.atoms);
                Some(model)
            }
        }
    }
}
