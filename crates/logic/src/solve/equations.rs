//! Solving equations over the integers.
//!
//! An equation with a unit coefficient defines that variable. Otherwise let `a`
//! be the coefficient of least size, of `x`; writing every other coefficient as
//! `q·a + r` and naming `t = x + Σ q·y` turns the equation into one for `t` with
//! smaller coefficients `r`, as in Euclid's algorithm, until a unit appears
//! or the common divisor does not divide the constant. Since `x = t − Σ q·y`, the
//! change of variables maps integer points to integer points, both ways.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::ledger::{Ledger, LedgerFact, ProofId};
use crate::certificate::Combination;
use crate::int::Int;
use crate::terms::linear::{Linear, Var};

/// Values of variables; absent ones are zero.
pub(crate) type Assignment = HashMap<Var, Int, FxBuildHasher>;

/// Reasons of this length get a name, lest those of a long chain grow with its square.
const MAX_REASONS: usize = 40;

/// `var` is replaced by `by`; `why` is the reason of `by − var = 0`, empty for a mere renaming.
#[derive(Clone)]
struct Replacement {
    var: Var,
    by: Linear,
    why: Combination,
}

/// Equations in solved form.
#[derive(Clone, Default)]
pub(crate) struct Equations {
    replacements: Vec<Replacement>,
    by_var: HashMap<Var, usize, FxBuildHasher>,
    /// What variables made on the way stand for, in terms of the original ones.
    meaning: HashMap<Var, Linear, FxBuildHasher>,
}

impl Equations {
    /// Rewrites a fact so that no solved variable remains.
    pub(crate) fn reduce(&self, mut fact: LedgerFact) -> LedgerFact {
        if self.replacements.is_empty() {
            return fact;
        }
        // A replacement only brings in variables that are solved later, so the
        // earliest one first means every replacement is used at most once.
        while let Some(at) = fact.expr.vars().filter_map(|var| self.by_var.get(&var)).min() {
            let replacement = &self.replacements[*at];
            let factor = fact.expr.coefficient(replacement.var);
            fact.expr = fact.expr.substitute(replacement.var, &replacement.by);
            if !replacement.why.terms.is_empty() {
                fact.why = fact.why.plus(&factor, &replacement.why);
            }
        }
        fact
    }

    /// Adds an equation; a contradiction comes back as a closed branch.
    pub(crate) fn add(&mut self, ledger: &mut Ledger, equation: LedgerFact) -> Result<(), ProofId> {
        let mut equation = self.reduce(equation);
        loop {
            let content = equation.expr.content();
            if content.is_zero() {
                if equation.expr.constant().is_zero() {
                    return Ok(());
                }
                let sign = Int::from(equation.expr.constant().signum());
                return Err(ledger.close(equation.why.scaled(&sign)));
            }
            if !equation.expr.constant().is_multiple_of(&content) {
                return Err(ledger.close_indivisible(&equation));
            }
            if !content.is_one() {
                let why = equation.why.divided(&content);
                equation = LedgerFact { expr: equation.expr.exact_div(&content), why };
            }
            let unit = equation.expr.terms().iter().rev().find(|term| term.1.is_unit());
            if let Some((var, sign)) = unit.cloned() {
                if equation.why.terms.len() > MAX_REASONS {
                    equation = ledger.name_equation(equation);
                }
                self.solve_for(var, &sign, equation);
                return Ok(());
            }
            equation = self.shrink(ledger, equation);
        }
    }

    fn solve_for(&mut self, var: Var, sign: &Int, equation: LedgerFact) {
        let turn = -sign;
        let by = equation.expr.times(&turn).plus(&Int::ONE, &Linear::from(var));
        self.replace(Replacement { var, by, why: equation.why.scaled(&turn) });
    }

    /// One step of Euclid's algorithm on the coefficients.
    fn shrink(&mut self, ledger: &mut Ledger, equation: LedgerFact) -> LedgerFact {
        let least = equation.expr.terms().iter().min_by_key(|term| term.1.abs()).cloned();
        let Some((var, a)) = least else {
            return equation;
        };
        let fresh = ledger.fresh_var();
        let quotients = equation.expr.terms().iter().map(|(v, b)| (*v, nearest(b, &a)));
        let sum = Linear::new(quotients, 0i64);
        let meaning = sum.substitute_all(|v| Some(self.meaning(v)));
        self.name(fresh, meaning);
        // `sum` contains `var` itself with quotient one.
        let rest = sum.plus(&Int::MINUS_ONE, &Linear::from(var));
        let by = Linear::from(fresh).plus(&Int::MINUS_ONE, &rest);
        self.rename(var, by);
        self.reduce(equation)
    }

    fn replace(&mut self, replacement: Replacement) {
        self.by_var.insert(replacement.var, self.replacements.len());
        self.replacements.push(replacement);
    }

    /// Gives a fresh variable its meaning in terms of the original ones.
    pub(crate) fn name(&mut self, fresh: Var, meaning: Linear) -> Var {
        self.meaning.insert(fresh, meaning);
        fresh
    }

    /// Replaces a variable by an expression over fresh ones that means the same.
    pub(crate) fn rename(&mut self, var: Var, by: Linear) {
        self.replace(Replacement { var, by, why: Combination::none() });
    }

    /// A variable in terms of the original ones.
    pub(crate) fn meaning(&self, var: Var) -> Linear {
        self.meaning.get(&var).cloned().unwrap_or_else(|| Linear::from(var))
    }

    /// An expression in terms of the original variables.
    pub(crate) fn meaning_of(&self, expr: &Linear) -> Linear {
        if expr.vars().all(|var| !self.meaning.contains_key(&var)) {
            return expr.clone();
        }
        expr.substitute_all(|var| self.meaning.get(&var).cloned())
    }

    /// The number of replacements made so far.
    pub(crate) fn len(&self) -> usize {
        self.replacements.len()
    }

    /// Computes the values of the variables solved since `first` from the others;
    /// absent ones are zero.
    pub(crate) fn extend(&self, first: usize, values: &mut Assignment) {
        for replacement in self.replacements[first..].iter().rev() {
            let value = replacement.by.evaluate(|var| values.get(&var).unwrap_or(&Int::ZERO));
            values.insert(replacement.var, value);
        }
    }
}

/// The integer nearest to `b / a`, so that remainders are at most half of `a`.
fn nearest(b: &Int, a: &Int) -> Int {
    let double = a * &Int::from(2);
    (b * &Int::from(2) + a).div_floor(&double)
}
