//! Linear expressions `a₁·x₁ + … + aₙ·xₙ + c` with exact integer coefficients.
//!
//! Terms are sorted by variable and never zero, so equal expressions are equal values.

use std::ops::{Add, Mul, Neg, Sub};

use crate::int::Int;

/// An interned integer variable; its name lives in [`Terms`](crate::Terms).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Var(pub(crate) u32);

impl Var {
    /// The position of the variable in its table, dense from zero.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The variable at a position; the inverse of [`Var::index`].
    ///
    /// Positions beyond `u32::MAX` do not exist, they saturate.
    pub fn at(index: usize) -> Var {
        Var(u32::try_from(index).unwrap_or(u32::MAX))
    }
}

/// A linear expression over integer variables.
///
/// ```
/// use logic::{Linear, Terms};
/// let mut terms = Terms::new();
/// let (x, y) = (terms.var("x"), terms.var("y"));
/// let expr = (Linear::from(x) - y) * 2 + 3;
/// assert_eq!(terms.show(&expr).to_string(), "2*x - 2*y + 3");
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct Linear {
    terms: Vec<(Var, Int)>,
    constant: Int,
}

impl Linear {
    /// The expression that is a constant.
    pub fn constant_of(value: impl Into<Int>) -> Linear {
        Linear { terms: Vec::new(), constant: value.into() }
    }

    /// Builds an expression from terms in any order; equal variables are added up.
    pub fn new(terms: impl IntoIterator<Item = (Var, Int)>, constant: impl Into<Int>) -> Linear {
        let mut sorted: Vec<(Var, Int)> = terms.into_iter().collect();
        sorted.sort_by_key(|term| term.0);
        let mut merged: Vec<(Var, Int)> = Vec::with_capacity(sorted.len());
        for (var, coefficient) in sorted {
            match merged.last_mut() {
                Some(last) if last.0 == var => last.1 += &coefficient,
                _ => merged.push((var, coefficient)),
            }
        }
        merged.retain(|term| !term.1.is_zero());
        Linear { terms: merged, constant: constant.into() }
    }

    /// The terms, sorted by variable, without zeros.
    #[inline]
    pub fn terms(&self) -> &[(Var, Int)] {
        &self.terms
    }

    /// The constant part.
    #[inline]
    pub fn constant(&self) -> &Int {
        &self.constant
    }

    /// The variables, in order.
    pub fn vars(&self) -> impl Iterator<Item = Var> + '_ {
        self.terms.iter().map(|term| term.0)
    }

    /// Whether there are no variables.
    pub fn is_constant(&self) -> bool {
        self.terms.is_empty()
    }

    /// The coefficient of a variable, zero if it does not occur.
    pub fn coefficient(&self, var: Var) -> Int {
        match self.terms.binary_search_by_key(&var, |term| term.0) {
            Ok(at) => self.terms[at].1.clone(),
            Err(_) => Int::ZERO,
        }
    }

    /// The same terms with another constant.
    pub fn with_constant(&self, constant: impl Into<Int>) -> Linear {
        Linear { terms: self.terms.clone(), constant: constant.into() }
    }

    /// The greatest common divisor of the coefficients, zero if there are none.
    pub fn content(&self) -> Int {
        let mut gcd = Int::ZERO;
        for (_, coefficient) in &self.terms {
            gcd = gcd.gcd(coefficient);
            if gcd.is_one() {
                break;
            }
        }
        gcd
    }

    /// `self + factor * other`.
    pub fn plus(&self, factor: &Int, other: &Linear) -> Linear {
        let mut terms = Vec::with_capacity(self.terms.len() + other.terms.len());
        merge_scaled(&self.terms, factor, &other.terms, &mut terms);
        Linear { terms, constant: self.constant.plus_product(factor, &other.constant) }
    }

    /// `factor * self`.
    pub fn times(&self, factor: &Int) -> Linear {
        if factor.is_zero() {
            return Linear::default();
        }
        let terms = self.terms.iter().map(|(v, a)| (*v, a * factor)).collect();
        Linear { terms, constant: &self.constant * factor }
    }

    /// Divides coefficients and constant by a number known to divide all of them.
    pub(crate) fn exact_div(&self, divisor: &Int) -> Linear {
        let terms = self.terms.iter().map(|(v, a)| (*v, a.exact_div(divisor))).collect();
        Linear { terms, constant: self.constant.exact_div(divisor) }
    }

    /// Replaces a variable by an expression.
    pub fn substitute(&self, var: Var, by: &Linear) -> Linear {
        let coefficient = self.coefficient(var);
        if coefficient.is_zero() {
            return self.clone();
        }
        let mut rest = self.clone();
        rest.terms.retain(|term| term.0 != var);
        rest.plus(&coefficient, by)
    }

    /// Replaces all variables at once; `None` keeps a variable.
    pub fn substitute_all(&self, mut by: impl FnMut(Var) -> Option<Linear>) -> Linear {
        let mut kept = Linear::constant_of(self.constant.clone());
        let mut replaced = Vec::new();
        for (var, coefficient) in &self.terms {
            match by(*var) {
                None => kept.terms.push((*var, coefficient.clone())),
                Some(expr) => replaced.push((coefficient, expr)),
            }
        }
        replaced.iter().fold(kept, |sum, (coefficient, expr)| sum.plus(coefficient, expr))
    }

    /// The value under an assignment.
    pub fn evaluate<'a>(&self, mut value: impl FnMut(Var) -> &'a Int) -> Int {
        self.terms.iter().fold(self.constant.clone(), |sum, (var, a)| sum.plus_product(a, value(*var)))
    }
}

/// Appends `left + factor * right` to `out`, all sorted by key and free of zeros.
pub(crate) fn merge_scaled<K: Ord + Copy>(
    left: &[(K, Int)],
    factor: &Int,
    right: &[(K, Int)],
    out: &mut Vec<(K, Int)>,
) {
    let (mut i, mut j) = (0, 0);
    if factor.is_zero() {
        out.extend_from_slice(left);
        return;
    }
    while i < left.len() && j < right.len() {
        match left[i].0.cmp(&right[j].0) {
            std::cmp::Ordering::Less => {
                out.push(left[i].clone());
                i += 1;
            }
            std::cmp::Ordering::Greater => {
                out.push((right[j].0, factor * &right[j].1));
                j += 1;
            }
            std::cmp::Ordering::Equal => {
                let sum = left[i].1.plus_product(factor, &right[j].1);
                if !sum.is_zero() {
                    out.push((left[i].0, sum));
                }
                i += 1;
                j += 1;
            }
        }
    }
    out.extend_from_slice(&left[i..]);
    out.extend(right[j..].iter().map(|(key, a)| (*key, factor * a)));
}

impl From<Var> for Linear {
    fn from(var: Var) -> Linear {
        Linear { terms: vec![(var, Int::ONE)], constant: Int::ZERO }
    }
}

impl From<Int> for Linear {
    fn from(value: Int) -> Linear {
        Linear::constant_of(value)
    }
}

impl From<i64> for Linear {
    fn from(value: i64) -> Linear {
        Linear::constant_of(value)
    }
}

impl From<i32> for Linear {
    fn from(value: i32) -> Linear {
        Linear::constant_of(i64::from(value))
    }
}

impl From<&Linear> for Linear {
    fn from(expr: &Linear) -> Linear {
        expr.clone()
    }
}

impl<T: Into<Linear>> Add<T> for Linear {
    type Output = Linear;
    fn add(self, other: T) -> Linear {
        self.plus(&Int::ONE, &other.into())
    }
}

impl<T: Into<Linear>> Sub<T> for Linear {
    type Output = Linear;
    fn sub(self, other: T) -> Linear {
        self.plus(&Int::MINUS_ONE, &other.into())
    }
}

impl<T: Into<Int>> Mul<T> for Linear {
    type Output = Linear;
    fn mul(self, factor: T) -> Linear {
        self.times(&factor.into())
    }
}

impl Neg for Linear {
    type Output = Linear;
    fn neg(self) -> Linear {
        self.times(&Int::MINUS_ONE)
    }
}
