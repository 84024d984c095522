//! Numbers of two parts: the lowest bits name something, the others count.
//!
//! A pointer with its version, `version << 32 | index`, has too many values to list, and its range says
//! nothing about the index, so that every element of an array seems to be meant. Therefore of such numbers
//! the range is known and which few values their lowest bits have, their *ends*. Sums, differences, products and
//! operations on bits have lowest bits that are made of the lowest bits of their operands, in two's complement also
//! for negative numbers, so ends are computed from ends; all else forgets them. A join has the ends of
//! both sides. So every value that was in one of the operands is covered, as with ranges.
//!
//! Ends come into being where a number is shifted up, and where values that are listed become a range that is
//! wider than a half word, or than a quarter. There are few ends or none, so whoever
//! widens comes to an end.

use super::values::CValues;
use program::Arith;
use std::rc::Rc;

/// Most ends that are kept.
const MOST: usize = 32;
/// Products with smaller powers of two are offsets rather than two parts.
const LEAST_SHIFT: u32 = 8;
/// Sizes of a lower part that are looked for in lists.
const SIZES: [u32; 2] = [32, 16];

/// Numbers in a range whose lowest bits are one of some ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CTagged {
    pub low: i128,
    pub high: i128,
    /// How many bits are the lowest ones.
    bits: u32,
    /// Their values, in order.
    ends: Rc<[i128]>,
}

/// The lowest bits of a number.
fn end(value: i128, bits: u32) -> i128 {
    value & ((1i128 << bits) - 1)
}

/// The numbers of a range with these ends: listed if they are ends themselves, without ends if those are many.
fn with_ends(low: i128, high: i128, bits: u32, mut ends: Vec<i128>) -> CValues {
    ends.sort_unstable();
    ends.dedup();
    if low >= 0 && high < 1i128 << bits {
        ends.retain(|value| low <= *value && *value <= high);
        return CValues::listed(ends);
    }
    match ends.len() > MOST {
        true => CValues::range(low, high),
        false => CValues::Tagged(CTagged { low, high, bits, ends: ends.into() }),
    }
}

impl CTagged {
    pub fn contains(&self, value: i128) -> bool {
        self.low <= value && value <= self.high && self.ends.binary_search(&end(value, self.bits)).is_ok()
    }

    /// The same ends in another range.
    pub fn within(&self, low: i128, high: i128) -> CValues {
        match low <= high {
            true => with_ends(low, high, self.bits, self.ends.to_vec()),
            false => CValues::NONE,
        }
    }

    /// Numbers between the first and the last of a list in order, as far as they end like those in it, if they
    /// lie far from each other.
    pub fn between(list: &[i128]) -> Option<CTagged> {
        let (low, high) = (*list.first()?, *list.last()?);
        let width = high.checked_sub(low)?;
        let bits = SIZES.into_iter().find(|bits| width >= 1i128 << bits)?;
        match with_ends(low, high, bits, list.iter().map(|value| end(*value, bits)).collect()) {
            CValues::Tagged(tagged) => Some(tagged),
            _ => None,
        }
    }
}

/// The ends of some values, if they are few.
fn ends(values: &CValues, bits: u32) -> Option<Vec<i128>> {
    match values {
        CValues::None => Some(Vec::new()),
        CValues::One(value) => Some(vec![end(*value, bits)]),
        CValues::List(list) if list.len() <= MOST => {
            Some(list.iter().map(|value| end(*value, bits)).collect())
        }
        CValues::Tagged(tagged) if tagged.bits >= bits => {
            Some(tagged.ends.iter().map(|value| end(*value, bits)).collect())
        }
        _ => None,
    }
}

/// How many of the lowest bits are known of one of two operands.
fn shared_bits(a: &CValues, b: &CValues) -> Option<u32> {
    match (a, b) {
        (CValues::Tagged(a), CValues::Tagged(b)) => Some(a.bits.min(b.bits)),
        (CValues::Tagged(tagged), _) | (_, CValues::Tagged(tagged)) => Some(tagged.bits),
        _ => None,
    }
}

/// What is one of both, in this range.
pub(super) fn joined(a: &CValues, b: &CValues, (low, high): (i128, i128)) -> Option<CValues> {
    let bits = shared_bits(a, b)?;
    let mut all = ends(a, bits)?;
    all.extend(ends(b, bits)?);
    Some(with_ends(low, high, bits, all))
}

/// The results of an operation that are in this range.
pub(super) fn combined(op: Arith, a: &CValues, b: &CValues, (low, high): (i128, i128)) -> Option<CValues> {
    let power = |values: &CValues| {
        let value = values.single().filter(|value| *value > 0 && value & (value - 1) == 0)?;
        Some(value.trailing_zeros()).filter(|bits| (LEAST_SHIFT..64).contains(bits))
    };
    if let (Arith::Mul, Some(bits)) = (op, power(a).or(power(b))) {
        return Some(with_ends(low, high, bits, vec![0]));
    }
    let result = |x: i128, y: i128| {
        Some(match op {
            Arith::Add => x + y,
            Arith::Sub => x - y,
            Arith::Mul => x.wrapping_mul(y),
            Arith::And => x & y,
            Arith::Or => x | y,
            Arith::Xor => x ^ y,
            Arith::Div | Arith::Rem => return None,
        })
    };
    let bits = shared_bits(a, b)?;
    let (left, right) = (ends(a, bits)?, ends(b, bits)?);
    let pairs = left.iter().flat_map(|x| right.iter().map(move |y| (*x, *y)));
    let results = pairs.map(|(x, y)| result(x, y).map(|value| end(value, bits)));
    Some(with_ends(low, high, bits, results.collect::<Option<Vec<_>>>()?))
}
