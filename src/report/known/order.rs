//! How values compare with each other, whenever they are looked at.

use super::values::{Exactly, Values};
use std::cmp::Ordering;

/// More values than this are not compared in pairs.
const MOST: usize = 24;

/// For each pair of some values, which comparisons were ever seen.
#[derive(Clone, Debug, Default)]
pub struct Orders {
    seen: Vec<[bool; 3]>,
}

impl Orders {
    /// Looks at all pairs.
    pub fn look(&mut self, values: &[i64]) {
        if values.len() > MOST {
            return;
        }
        self.seen.resize(values.len() * values.len().saturating_sub(1) / 2, [false; 3]);
        for (seen, (a, b)) in self.seen.iter_mut().zip(pairs(values.len())) {
            seen[match values[a].cmp(&values[b]) {
                Ordering::Less => 0,
                Ordering::Equal => 1,
                Ordering::Greater => 2,
            }] = true;
        }
    }

    /// What was always so and does not follow from the sets of values alone.
    pub fn sentences(&self, names: &[String], values: &[Values], exactly: Exactly) -> Vec<String> {
        let mut sentences = Vec::new();
        for (seen, (a, b)) in self.seen.iter().zip(pairs(names.len())) {
            let sign = match seen {
                [true, false, false] => "<",
                [true, true, false] => "≤",
                [false, true, false] => "=",
                [false, true, true] => "≥",
                [false, false, true] => ">",
                [true, false, true] => "≠",
                _ => continue,
            };
            if !is_plain(&values[a], &values[b], exactly) {
                sentences.push(format!("{} {sign} {}", names[a], names[b]));
            }
        }
        sentences
    }
}

/// Whether one of two values is constant, or they never come near each other.
fn is_plain(a: &Values, b: &Values, exactly: Exactly) -> bool {
    let below = |(_, high), (low, _)| high <= low && exactly.holds(high) && exactly.holds(low);
    let apart = match (a.range(), b.range()) {
        (Some(a), Some(b)) => below(a, b) || below(b, a),
        _ => true,
    };
    let constant = |values: &Values| values.single().is_some_and(|value| exactly.holds(value));
    apart || constant(a) || constant(b)
}

fn pairs(count: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..count).flat_map(move |a| (a + 1..count).map(move |b| (a, b)))
}
