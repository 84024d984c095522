//! Mathematical integers that are machine words most of the time.
//!
//! Every operation runs on `i64` with overflow detection and continues with a
//! big integer when the result does not fit, so no answer ever wraps around.
//! The representation is canonical: whatever fits into 64 bits is stored in
//! 64 bits, hence derived equality and hashing are equality of numbers.

use std::cmp::Ordering;
use std::fmt;
use std::ops::{Add, AddAssign, Mul, Neg, Sub};
use std::str::FromStr;

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{Signed, ToPrimitive};

/// An integer without bounds.
///
/// ```
/// use logic::Int;
/// let large = Int::from(i64::MAX) + Int::from(1);
/// assert_eq!(large.to_string(), "9223372036854775808");
/// assert_eq!(large - Int::from(1), Int::from(i64::MAX));
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Int(Repr);

#[derive(Clone, PartialEq, Eq, Hash)]
enum Repr {
    Small(i64),
    Big(Box<BigInt>),
}

impl Int {
    /// The number zero.
    pub const ZERO: Int = Int(Repr::Small(0));
    /// The number one.
    pub const ONE: Int = Int(Repr::Small(1));
    /// The number minus one.
    pub const MINUS_ONE: Int = Int(Repr::Small(-1));

    /// The value as a machine integer, if it fits.
    #[inline]
    pub fn to_i64(&self) -> Option<i64> {
        match &self.0 {
            Repr::Small(value) => Some(*value),
            Repr::Big(_) => None,
        }
    }

    /// The value as a big integer.
    pub fn to_big(&self) -> BigInt {
        match &self.0 {
            Repr::Small(value) => BigInt::from(*value),
            Repr::Big(value) => (**value).clone(),
        }
    }

    /// −1, 0 or 1.
    #[inline]
    pub fn signum(&self) -> i32 {
        match &self.0 {
            Repr::Small(value) => value.signum() as i32,
            Repr::Big(value) if value.is_negative() => -1,
            Repr::Big(_) => 1,
        }
    }

    /// Whether this is zero.
    #[inline]
    pub fn is_zero(&self) -> bool {
        matches!(self.0, Repr::Small(0))
    }

    /// Whether this is one.
    #[inline]
    pub fn is_one(&self) -> bool {
        matches!(self.0, Repr::Small(1))
    }

    /// Whether this is one or minus one.
    #[inline]
    pub fn is_unit(&self) -> bool {
        matches!(self.0, Repr::Small(1 | -1))
    }

    /// The absolute value.
    pub fn abs(&self) -> Int {
        if self.signum() < 0 { -self } else { self.clone() }
    }

    /// The greatest common divisor, never negative; `gcd(0, n)` is `|n|`.
    pub fn gcd(&self, other: &Int) -> Int {
        if let (Repr::Small(a), Repr::Small(b)) = (&self.0, &other.0) {
            let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
            while b != 0 {
                (a, b) = (b, a % b);
            }
            return Int::from(i128::from(a));
        }
        Int::from(self.to_big().gcd(&other.to_big()))
    }

    /// The least common multiple of two numbers, never negative.
    pub fn lcm(&self, other: &Int) -> Int {
        if self.is_zero() || other.is_zero() {
            return Int::ZERO;
        }
        (self.exact_div(&self.gcd(other)) * other).abs()
    }

    /// The quotient rounded towards minus infinity. A zero divisor yields zero.
    pub fn div_floor(&self, divisor: &Int) -> Int {
        self.div_mod_floor(divisor).0
    }

    /// The quotient rounded towards plus infinity. A zero divisor yields zero.
    pub fn div_ceil(&self, divisor: &Int) -> Int {
        -&(-self).div_floor(divisor)
    }

    /// The remainder with the sign of the divisor. A zero divisor yields the number itself.
    pub fn mod_floor(&self, divisor: &Int) -> Int {
        self.div_mod_floor(divisor).1
    }

    /// Quotient and remainder of flooring division; `(0, self)` for a zero divisor.
    pub fn div_mod_floor(&self, divisor: &Int) -> (Int, Int) {
        match (&self.0, &divisor.0) {
            (_, Repr::Small(0)) => (Int::ZERO, self.clone()),
            (_, Repr::Small(-1)) => (-self, Int::ZERO),
            (Repr::Small(a), Repr::Small(b)) => {
                let (quotient, rest) = a.div_mod_floor(b);
                (Int(Repr::Small(quotient)), Int(Repr::Small(rest)))
            }
            _ => {
                let (quotient, rest) = self.to_big().div_mod_floor(&divisor.to_big());
                (Int::from(quotient), Int::from(rest))
            }
        }
    }

    /// Whether `divisor` divides this number; zero divides only zero.
    pub fn is_multiple_of(&self, divisor: &Int) -> bool {
        if divisor.is_unit() {
            return true;
        }
        self.mod_floor(divisor).is_zero()
    }

    /// The quotient of a division known to leave no remainder.
    #[inline]
    pub fn exact_div(&self, divisor: &Int) -> Int {
        if divisor.is_one() {
            return self.clone();
        }
        self.div_floor(divisor)
    }

    /// `self + a * b`, the inner loop of every elimination.
    #[inline]
    pub fn plus_product(&self, a: &Int, b: &Int) -> Int {
        if let (Repr::Small(s), Repr::Small(x), Repr::Small(y)) = (&self.0, &a.0, &b.0)
            && let Some(sum) = x.checked_mul(*y).and_then(|product| product.checked_add(*s))
        {
            return Int(Repr::Small(sum));
        }
        self + &(a * b)
    }
}

impl From<i64> for Int {
    #[inline]
    fn from(value: i64) -> Int {
        Int(Repr::Small(value))
    }
}

impl From<i32> for Int {
    fn from(value: i32) -> Int {
        Int(Repr::Small(i64::from(value)))
    }
}

impl From<i128> for Int {
    fn from(value: i128) -> Int {
        match i64::try_from(value) {
            Ok(small) => Int(Repr::Small(small)),
            Err(_) => Int(Repr::Big(Box::new(BigInt::from(value)))),
        }
    }
}

impl From<usize> for Int {
    fn from(value: usize) -> Int {
        Int::from(value as i128)
    }
}

impl From<BigInt> for Int {
    fn from(value: BigInt) -> Int {
        match value.to_i64() {
            Some(small) => Int(Repr::Small(small)),
            None => Int(Repr::Big(Box::new(value))),
        }
    }
}

macro_rules! operator {
    ($trait:ident, $method:ident, $checked:ident) => {
        impl $trait<&Int> for &Int {
            type Output = Int;
            #[inline]
            fn $method(self, other: &Int) -> Int {
                if let (Repr::Small(a), Repr::Small(b)) = (&self.0, &other.0)
                    && let Some(result) = a.$checked(*b)
                {
                    return Int(Repr::Small(result));
                }
                Int::from($trait::$method(self.to_big(), other.to_big()))
            }
        }
        impl $trait<&Int> for Int {
            type Output = Int;
            #[inline]
            fn $method(self, other: &Int) -> Int {
                $trait::$method(&self, other)
            }
        }
        impl $trait for Int {
            type Output = Int;
            #[inline]
            fn $method(self, other: Int) -> Int {
                $trait::$method(&self, &other)
            }
        }
    };
}

operator!(Add, add, checked_add);
operator!(Sub, sub, checked_sub);
operator!(Mul, mul, checked_mul);

impl Neg for &Int {
    type Output = Int;
    #[inline]
    fn neg(self) -> Int {
        match &self.0 {
            Repr::Small(value) if *value != i64::MIN => Int(Repr::Small(-value)),
            _ => Int::from(-self.to_big()),
        }
    }
}

impl Neg for Int {
    type Output = Int;
    #[inline]
    fn neg(self) -> Int {
        -&self
    }
}

impl AddAssign<&Int> for Int {
    #[inline]
    fn add_assign(&mut self, other: &Int) {
        *self = &*self + other;
    }
}

impl Ord for Int {
    #[inline]
    fn cmp(&self, other: &Int) -> Ordering {
        match (&self.0, &other.0) {
            (Repr::Small(a), Repr::Small(b)) => a.cmp(b),
            (Repr::Big(a), Repr::Big(b)) => a.cmp(b),
            // A big number lies outside the range of every small one.
            (Repr::Small(_), Repr::Big(big)) if big.is_negative() => Ordering::Greater,
            (Repr::Small(_), Repr::Big(_)) => Ordering::Less,
            (Repr::Big(big), Repr::Small(_)) if big.is_negative() => Ordering::Less,
            (Repr::Big(_), Repr::Small(_)) => Ordering::Greater,
        }
    }
}

impl PartialOrd for Int {
    #[inline]
    fn partial_cmp(&self, other: &Int) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Default for Int {
    fn default() -> Int {
        Int::ZERO
    }
}

impl fmt::Display for Int {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Small(value) => value.fmt(f),
            Repr::Big(value) => value.fmt(f),
        }
    }
}

impl fmt::Debug for Int {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The text was not a decimal integer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotAnInteger;

impl fmt::Display for NotAnInteger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a decimal integer")
    }
}

impl std::error::Error for NotAnInteger {}

impl FromStr for Int {
    type Err = NotAnInteger;
    fn from_str(text: &str) -> Result<Int, NotAnInteger> {
        BigInt::from_str(text).map(Int::from).map_err(|_| NotAnInteger)
    }
}

impl std::iter::Sum for Int {
    fn sum<I: Iterator<Item = Int>>(numbers: I) -> Int {
        numbers.fold(Int::ZERO, |total, number| total + number)
    }
}
