//! Sums of facts, kept apart by where in the sequence they come from.
//!
//! A fact `e ≤ 0` derived by linear combination is a sum of facts that belong to
//! steps of the sequence. Cutting the sequence before step `k`, the sum of those
//! before the cut is what the first half contributes. In a contradiction
//! `Σ eᵢ = c > 0` the first half's sum `≤ 0` follows from the first half and
//! contradicts the second; so does the weaker `≤ c − 1`.

use std::collections::BTreeMap;

use crate::int::Int;
use crate::terms::atom::{Atom, Relation};
use crate::terms::formula::Formula;
use crate::terms::linear::Linear;

/// `(Σ parts) / scale ≤ 0`, the parts by step.
#[derive(Clone, Debug)]
pub(super) struct Spread {
    pub(super) scale: Int,
    pub(super) parts: BTreeMap<usize, Linear>,
}

impl Spread {
    pub(super) fn zero() -> Spread {
        Spread { scale: Int::ONE, parts: BTreeMap::new() }
    }

    pub(super) fn at(step: usize, expr: Linear) -> Spread {
        Spread { scale: Int::ONE, parts: BTreeMap::from([(step, expr)]) }
    }

    /// Adds `factor * other`.
    pub(super) fn add(&mut self, factor: &Int, other: &Spread) {
        let common = self.scale.lcm(&other.scale);
        let grow = common.exact_div(&self.scale);
        if !grow.is_one() {
            self.parts.values_mut().for_each(|part| *part = part.times(&grow));
        }
        let factor = factor * &common.exact_div(&other.scale);
        for (step, part) in &other.parts {
            let sum = self.parts.entry(*step).or_default();
            *sum = sum.plus(&factor, part);
        }
        self.scale = common;
    }

    pub(super) fn divided(mut self, divisor: &Int) -> Spread {
        self.scale = &self.scale * divisor;
        self
    }

    /// The whole sum, before division by the scale.
    pub(super) fn total(&self) -> Linear {
        self.parts.values().fold(Linear::default(), |sum, part| sum.plus(&Int::ONE, part))
    }

    /// For a contradiction, what the steps before each of the cuts `0..=steps` contribute.
    pub(super) fn interpolants(&self, steps: usize, weak: bool) -> Vec<Formula> {
        let room = if weak { self.total().constant() - &Int::ONE } else { Int::ZERO };
        let mut result = Vec::with_capacity(steps + 1);
        let mut sum = Linear::default();
        let mut parts = self.parts.iter().peekable();
        let mut current = Formula::truth(true);
        for cut in 0..=steps {
            while let Some((_, part)) = parts.next_if(|(step, _)| **step < cut) {
                sum = sum.plus(&Int::ONE, part);
                current = Formula::from(Atom::new(Relation::Le, sum.clone() - room.clone()));
            }
            result.push(current.clone());
        }
        result
    }
}
