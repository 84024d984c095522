//! Exact rational numbers, just enough for the simplex tableau.

use std::cmp::Ordering;

use crate::int::Int;

/// A fraction in lowest terms with a positive denominator.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Rational {
    numerator: Int,
    denominator: Int,
}

impl Rational {
    pub(crate) const ZERO: Rational = Rational { numerator: Int::ZERO, denominator: Int::ONE };

    /// `numerator / denominator` for a positive denominator.
    pub(crate) fn new(numerator: Int, denominator: Int) -> Rational {
        if denominator.is_one() {
            return Rational { numerator, denominator };
        }
        let gcd = numerator.gcd(&denominator);
        Rational { numerator: numerator.exact_div(&gcd), denominator: denominator.exact_div(&gcd) }
    }

    pub(crate) fn floor(&self) -> Int {
        self.numerator.div_floor(&self.denominator)
    }

    /// The nearest integer.
    pub(crate) fn round(&self) -> Int {
        if self.is_int() {
            return self.numerator.clone();
        }
        let two = Int::from(2);
        (&self.numerator * &two + &self.denominator).div_floor(&(&self.denominator * &two))
    }

    #[inline]
    pub(crate) fn is_int(&self) -> bool {
        self.denominator.is_one()
    }

    /// `self + factor * other / divisor` for a positive divisor.
    pub(crate) fn plus(&self, factor: &Int, other: &Rational, divisor: &Int) -> Rational {
        let down = &other.denominator * divisor;
        if self.denominator.is_one() && down.is_one() {
            let numerator = self.numerator.plus_product(factor, &other.numerator);
            return Rational { numerator, denominator: Int::ONE };
        }
        let up = factor * &other.numerator;
        Rational::new(&self.numerator * &down + up * &self.denominator, &self.denominator * &down)
    }

    /// `(bound − self) * multiplier / divisor` for a divisor that is not zero.
    pub(crate) fn gap_to(&self, bound: &Int, multiplier: &Int, divisor: &Int) -> Rational {
        let mut up = (bound * &self.denominator - &self.numerator) * multiplier;
        let mut down = &self.denominator * divisor;
        if down.signum() < 0 {
            (up, down) = (-up, -down);
        }
        Rational::new(up, down)
    }

    /// Compares with an integer.
    #[inline]
    pub(crate) fn cmp_int(&self, other: &Int) -> Ordering {
        if self.denominator.is_one() {
            return self.numerator.cmp(other);
        }
        self.numerator.cmp(&(other * &self.denominator))
    }
}

impl From<Int> for Rational {
    fn from(value: Int) -> Rational {
        Rational { numerator: value, denominator: Int::ONE }
    }
}
