//! Bit operations with a constant as linear arithmetic.
//!
//! `x & 1…1` is what `x` leaves when divided by a power of two, rounding down. A mask with ones in a
//! few runs is a sum of differences of such rests, one with all but finitely many bits set takes the
//! others away, and `|` and `^` follow from `&`. So whoever knows remainders knows `ring[i & (N - 1)]`.

use crate::{Arith, Int};
use num_traits::{One, Signed, Zero};

/// Masks with more runs of ones than this are not taken apart.
const MOST_RUNS: usize = 4;

/// `times · x + plus + Σ factor · (x mod size)`, where `mod` rounds down, so is never negative.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BitSum {
    /// How often the value itself counts.
    pub times: Int,
    /// The constant part.
    pub plus: Int,
    /// Factors and sizes of rests; all sizes are powers of two, larger than 1.
    pub rests: Vec<(Int, Int)>,
}

impl BitSum {
    /// A bit operation of some value and a constant; nothing if it is none, or too involved.
    pub fn of(op: Arith, by: &Int) -> Option<BitSum> {
        // Of x & by: how often it counts, x and the constant.
        let (both, times, plus) = match op {
            Arith::And => (1, 0, Int::zero()),
            Arith::Or => (-1, 1, by.clone()),
            Arith::Xor => (-2, 1, by.clone()),
            _ => return None,
        };
        let inverted = by.is_negative();
        let mask = if inverted { -by - 1 } else { by.clone() };
        let sign = Int::from(if inverted { -both } else { both });
        let mut rests = Vec::new();
        for (from, to) in runs(&mask)? {
            rests.push((sign.clone(), to));
            if !from.is_one() {
                rests.push((-sign.clone(), from));
            }
        }
        Some(BitSum { times: Int::from(times + if inverted { both } else { 0 }), plus, rests })
    }
}

/// The runs of ones in a number that is not negative: the powers of two at their beginning and behind
/// their end.
fn runs(mask: &Int) -> Option<Vec<(Int, Int)>> {
    let mut found: Vec<(Int, Int)> = Vec::new();
    let bits = mask.magnitude();
    for at in (0..bits.bits()).filter(|at| bits.bit(*at)) {
        let (here, next) = (Int::one() << at, Int::one() << (at + 1));
        match found.last_mut().filter(|(_, end)| *end == here) {
            Some((_, end)) => *end = next,
            None => found.push((here, next)),
        }
        if found.len() > MOST_RUNS {
            return None;
        }
    }
    Some(found)
}
