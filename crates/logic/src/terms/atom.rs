//! Atoms in normal form: the comparison of a linear expression with zero.
//!
//! * `e ≤ 0`: coefficients without common divisor, the constant tightened to
//!   an integer: `2x < 5` becomes `x − 2 ≤ 0`.
//! * `e = 0`, `e ≠ 0`: coprime coefficients, the first one positive; an equation
//!   whose constant the common divisor does not divide is false at once.
//! * `d | e`, `d ∤ e`: coefficients and constant reduced modulo `d`, common
//!   divisors cancelled.
//!
//! Atoms without variables collapse to the two constants. Two atoms that mean
//! the same up to these rules are therefore the same value.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::linear::{Linear, Var};
use crate::int::Int;

/// How an atom compares its expression with zero.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Relation {
    /// `e ≤ 0`.
    Le,
    /// `e = 0`.
    Eq,
    /// `e ≠ 0`.
    Ne,
    /// The number divides `e`.
    Divides(Int),
    /// The number does not divide `e`.
    NotDivides(Int),
}

/// An atom of the shape `x − y R bound`, where an absent variable stands for zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Difference {
    /// The variable counted positively.
    pub plus: Option<Var>,
    /// The variable counted negatively.
    pub minus: Option<Var>,
    /// The right-hand side.
    pub bound: i64,
}

/// A normalised linear integer atom. Cloning is cheap.
///
/// ```
/// use logic::{Atom, Linear, Terms};
/// let mut terms = Terms::new();
/// let x = Linear::from(terms.var("x"));
/// let tight = Atom::lt(x.clone() * 2, 5);
/// assert_eq!(tight, Atom::le(x.clone(), 2));
/// assert_eq!(tight.negate(), Atom::ge(x.clone(), 3));
/// assert!(Atom::eq(x.clone() * 2, 1).is_false());
/// assert_eq!(terms.show(&tight).to_string(), "x <= 2");
/// ```
#[derive(Clone)]
pub struct Atom(Arc<Data>);

struct Data {
    relation: Relation,
    expr: Linear,
    difference: Option<Difference>,
    hash: u64,
}

impl Atom {
    /// The atom `expr relation 0`, normalised.
    pub fn new(relation: Relation, expr: Linear) -> Atom {
        match relation {
            Relation::Le => Atom::normal_le(expr),
            Relation::Eq => Atom::normal_eq(expr, true),
            Relation::Ne => Atom::normal_eq(expr, false),
            Relation::Divides(divisor) => Atom::normal_divides(divisor, expr, true),
            Relation::NotDivides(divisor) => Atom::normal_divides(divisor, expr, false),
        }
    }

    /// `left ≤ right`.
    pub fn le(left: impl Into<Linear>, right: impl Into<Linear>) -> Atom {
        Atom::new(Relation::Le, left.into() - right.into())
    }

    /// `left < right`.
    pub fn lt(left: impl Into<Linear>, right: impl Into<Linear>) -> Atom {
        Atom::new(Relation::Le, left.into() - right.into() + 1)
    }

    /// `left ≥ right`.
    pub fn ge(left: impl Into<Linear>, right: impl Into<Linear>) -> Atom {
        Atom::le(right, left)
    }

    /// `left > right`.
    pub fn gt(left: impl Into<Linear>, right: impl Into<Linear>) -> Atom {
        Atom::lt(right, left)
    }

    /// `left = right`.
    pub fn eq(left: impl Into<Linear>, right: impl Into<Linear>) -> Atom {
        Atom::new(Relation::Eq, left.into() - right.into())
    }

    /// `left ≠ right`.
    pub fn ne(left: impl Into<Linear>, right: impl Into<Linear>) -> Atom {
        Atom::new(Relation::Ne, left.into() - right.into())
    }

    /// `divisor` divides `expr`. A zero divisor divides only zero.
    pub fn divides(divisor: impl Into<Int>, expr: impl Into<Linear>) -> Atom {
        Atom::new(Relation::Divides(divisor.into()), expr.into())
    }

    /// The atom that always holds, or the one that never does.
    pub fn truth(value: bool) -> Atom {
        Atom::build(Relation::Le, Linear::constant_of(if value { 0i64 } else { 1 }))
    }

    /// The relation of the expression to zero.
    pub fn relation(&self) -> &Relation {
        &self.0.relation
    }

    /// The expression that is compared with zero.
    pub fn expr(&self) -> &Linear {
        &self.0.expr
    }

    /// The variables, in order.
    pub fn vars(&self) -> impl Iterator<Item = Var> + '_ {
        self.0.expr.vars()
    }

    /// Whether this is the atom that always holds.
    pub fn is_true(&self) -> bool {
        self.0.expr.is_constant() && self.0.expr.constant().is_zero()
    }

    /// Whether this is the atom that never holds.
    pub fn is_false(&self) -> bool {
        self.0.expr.is_constant() && self.0.expr.constant().is_one()
    }

    /// The view as `x − y ≤ c`, `x − y = c` or `x − y ≠ c`, if the atom has that shape.
    #[inline]
    pub fn difference(&self) -> Option<Difference> {
        self.0.difference
    }

    /// The atom that holds exactly when this one does not.
    pub fn negate(&self) -> Atom {
        let expr = &self.0.expr;
        match &self.0.relation {
            Relation::Le => Atom::new(Relation::Le, -expr.clone() + 1),
            Relation::Eq => Atom::build(Relation::Ne, expr.clone()),
            Relation::Ne => Atom::build(Relation::Eq, expr.clone()),
            Relation::Divides(d) => Atom::build(Relation::NotDivides(d.clone()), expr.clone()),
            Relation::NotDivides(d) => Atom::build(Relation::Divides(d.clone()), expr.clone()),
        }
    }

    /// Replaces a variable by an expression.
    pub fn substitute(&self, var: Var, by: &Linear) -> Atom {
        if self.0.expr.coefficient(var).is_zero() {
            return self.clone();
        }
        Atom::new(self.0.relation.clone(), self.0.expr.substitute(var, by))
    }

    /// Replaces all variables at once; `None` keeps a variable.
    pub fn substitute_all(&self, by: impl FnMut(Var) -> Option<Linear>) -> Atom {
        Atom::new(self.0.relation.clone(), self.0.expr.substitute_all(by))
    }

    /// Whether the atom holds under an assignment.
    pub fn holds<'a>(&self, value: impl FnMut(Var) -> &'a Int) -> bool {
        let value = self.0.expr.evaluate(value);
        match &self.0.relation {
            Relation::Le => value.signum() <= 0,
            Relation::Eq => value.is_zero(),
            Relation::Ne => !value.is_zero(),
            Relation::Divides(d) => value.is_multiple_of(d),
            Relation::NotDivides(d) => !value.is_multiple_of(d),
        }
    }

    fn normal_le(expr: Linear) -> Atom {
        let content = expr.content();
        if content.is_zero() {
            return Atom::truth(expr.constant().signum() <= 0);
        }
        if content.is_one() {
            return Atom::build(Relation::Le, expr);
        }
        let constant = expr.constant().div_ceil(&content);
        Atom::build(Relation::Le, expr.with_constant(0i64).exact_div(&content).with_constant(constant))
    }

    fn normal_eq(expr: Linear, positive: bool) -> Atom {
        let content = expr.content();
        if content.is_zero() {
            return Atom::truth(expr.constant().is_zero() == positive);
        }
        if !expr.constant().is_multiple_of(&content) {
            return Atom::truth(!positive);
        }
        let sign = expr.terms()[0].1.signum();
        let divisor = if sign < 0 { -content } else { content };
        let relation = if positive { Relation::Eq } else { Relation::Ne };
        Atom::build(relation, expr.exact_div(&divisor))
    }

    fn normal_divides(divisor: Int, expr: Linear, positive: bool) -> Atom {
        let divisor = divisor.abs();
        if divisor.is_zero() {
            return Atom::normal_eq(expr, positive);
        }
        let reduce = |a: &Int| a.mod_floor(&divisor);
        let terms = expr.terms().iter().map(|(v, a)| (*v, reduce(a)));
        let reduced = Linear::new(terms, reduce(expr.constant()));
        let common = reduced.content().gcd(&divisor);
        if !reduced.constant().is_multiple_of(&common) {
            return Atom::truth(!positive);
        }
        let (divisor, reduced) = (divisor.exact_div(&common), reduced.exact_div(&common));
        if divisor.is_one() {
            return Atom::truth(positive);
        }
        let relation = if positive { Relation::Divides(divisor) } else { Relation::NotDivides(divisor) };
        Atom::build(relation, reduced)
    }

    fn build(relation: Relation, expr: Linear) -> Atom {
        let mut hasher = rustc_hash::FxHasher::default();
        (&relation, &expr).hash(&mut hasher);
        let difference = match relation {
            Relation::Le | Relation::Eq | Relation::Ne => difference_shape(&expr),
            _ => None,
        };
        Atom(Arc::new(Data { relation, expr, difference, hash: hasher.finish() }))
    }
}

fn difference_shape(expr: &Linear) -> Option<Difference> {
    let bound = (-expr.constant()).to_i64()?;
    let signed = |term: &(Var, Int)| term.1.is_unit().then(|| (term.0, term.1.signum()));
    match expr.terms() {
        [only] => match signed(only)? {
            (var, 1) => Some(Difference { plus: Some(var), minus: None, bound }),
            (var, _) => Some(Difference { plus: None, minus: Some(var), bound }),
        },
        [first, second] => match (signed(first)?, signed(second)?) {
            ((x, 1), (y, -1)) | ((y, -1), (x, 1)) => {
                Some(Difference { plus: Some(x), minus: Some(y), bound })
            }
            _ => None,
        },
        _ => None,
    }
}

impl PartialEq for Atom {
    fn eq(&self, other: &Atom) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
            || (self.0.hash == other.0.hash
                && self.0.relation == other.0.relation
                && self.0.expr == other.0.expr)
    }
}

impl Eq for Atom {}

impl Hash for Atom {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0.hash);
    }
}

impl Ord for Atom {
    fn cmp(&self, other: &Atom) -> Ordering {
        if Arc::ptr_eq(&self.0, &other.0) {
            return Ordering::Equal;
        }
        (&self.0.expr, &self.0.relation).cmp(&(&other.0.expr, &other.0.relation))
    }
}

impl PartialOrd for Atom {
    fn partial_cmp(&self, other: &Atom) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl std::fmt::Debug for Atom {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", super::print::Show::anonymous(self))
    }
}
