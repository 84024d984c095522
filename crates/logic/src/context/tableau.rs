//! The simplex tableau of a context, kept warm between questions.

use crate::solve::Model;
use crate::solve::simplex::Simplex;
use crate::terms::atom::{Atom, Relation};
use crate::terms::linear::Linear;

/// What the tableau finds out.
pub(crate) enum Relaxed {
    /// No integer solution.
    Empty,
    /// An integer solution of the inequalities and equations.
    Integral(Model),
    /// Rational solutions exist; more is not known.
    Fractional,
}

/// Splits at fractions before a question is left to the complete procedure.
const PATIENCE: usize = 40;

/// The inequalities and equations among the first atoms of a context.
#[derive(Clone, Default)]
pub(crate) struct Tableau {
    simplex: Simplex,
    /// The state of the simplex trail before each loaded atom.
    marks: Vec<usize>,
    /// The number of loaded atoms with which a bound already clashed.
    clash: Option<usize>,
}

impl Tableau {
    pub(crate) fn clear(&mut self) {
        *self = Tableau::default();
    }

    /// Keeps only the first `count` of the atoms, which are all that were ever loaded.
    pub(crate) fn retract(&mut self, count: usize, atoms: &[Atom]) {
        if count == 0 {
            return self.clear();
        }
        if let Some(mark) = self.marks.get(count) {
            self.simplex.retract(*mark);
            // Rows without bounds would only slow down the questions to come.
            let gone = atoms[..self.marks.len()].iter().skip(count);
            gone.filter(|atom| !atom.expr().is_constant()).for_each(|atom| self.simplex.forget(atom.expr()));
            self.marks.truncate(count);
        }
        if self.clash.is_some_and(|clash| clash > count) {
            self.clash = None;
        }
    }

    fn load(&mut self, atoms: &[Atom]) {
        for atom in &atoms[self.marks.len().min(atoms.len())..] {
            self.marks.push(self.simplex.mark());
            if self.clash.is_none() && !assert(&mut self.simplex, atom) {
                self.clash = Some(self.marks.len());
            }
        }
    }

    /// Relaxes the atoms, perhaps together with one more.
    pub(crate) fn relax_with(&mut self, atoms: &[Atom], extra: Option<&Atom>) -> Relaxed {
        self.load(atoms);
        if self.clash.is_some() {
            return Relaxed::Empty;
        }
        let (mark, mut patience) = (self.simplex.mark(), PATIENCE);
        let answer = match extra.is_none_or(|extra| assert(&mut self.simplex, extra)) {
            true => self.branch(&mut patience),
            false => Relaxed::Empty,
        };
        self.simplex.retract(mark);
        if let Some(extra) = extra.filter(|extra| !extra.expr().is_constant()) {
            self.simplex.forget(extra.expr());
        }
        answer
    }

    /// Solves the relaxation and splits at fractions, as long as patience lasts.
    fn branch(&mut self, patience: &mut usize) -> Relaxed {
        if self.simplex.check().is_err() {
            return Relaxed::Empty;
        }
        let Some((var, value)) = self.simplex.fractional() else {
            return Relaxed::Integral(self.simplex.rounded().collect());
        };
        if *patience == 0 {
            return Relaxed::Fractional;
        }
        *patience -= 1;
        let (floor, nearest) = (value.floor(), value.round());
        let low = Linear::from(var) - floor.clone();
        let high = -low.clone() + 1;
        let sides = if nearest == floor { [low, high] } else { [high, low] };
        let mark = self.simplex.mark();
        let mut answer = Relaxed::Empty;
        for side in sides {
            if self.simplex.assert_le(&side, 0).is_ok() {
                answer = self.branch(patience);
            }
            self.simplex.retract(mark);
            if !matches!(answer, Relaxed::Empty) {
                return answer;
            }
        }
        answer
    }
}

/// Asserts what simplex can represent of an atom; false if it clashes with another bound.
fn assert(simplex: &mut Simplex, atom: &Atom) -> bool {
    let mut le = |expr: &Linear| match expr.is_constant() {
        true => expr.constant().signum() <= 0,
        false => simplex.assert_le(expr, 0).is_ok(),
    };
    match atom.relation() {
        Relation::Le => le(atom.expr()),
        Relation::Eq => le(atom.expr()) && le(&-atom.expr().clone()),
        Relation::Ne | Relation::Divides(_) | Relation::NotDivides(_) => true,
    }
}
