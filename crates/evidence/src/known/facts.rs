//! What values, pairs of values and buffers have in common over many states, and how to say it.

use super::say::{SaidFact, SlotKind, VerbPhrase, listed};
use crate::numbers::counted;
use machine::{Entry, Gaps};
use std::collections::{BTreeMap, BTreeSet};

/// Up to so many values are listed; of more, the least and the greatest are told.
const FEW: usize = 6;
/// So many shapes of a buffer are listed one by one.
const SHAPES: usize = 4;

/// The range in which numbers mean themselves. In a gap certificate a number beyond it stands
/// for all that are farther out; gaps to the window's ends are exact up to the precision.
#[derive(Clone, Copy, Debug)]
pub struct Exactly {
    low: i64,
    high: i64,
}

impl Exactly {
    /// For concrete states (`None`), or for normal forms.
    pub fn of(gaps: Option<Gaps>) -> Exactly {
        match gaps {
            None => Exactly { low: i64::MIN, high: i64::MAX },
            Some(gaps) => Exactly {
                low: gaps.low.saturating_sub(gaps.precision),
                high: gaps.high.saturating_add(gaps.precision),
            },
        }
    }

    fn holds(&self, value: i64) -> bool {
        self.low <= value && value <= self.high
    }

    /// The same for all values that cannot be told apart.
    fn clamp(&self, value: i64) -> i64 {
        value.clamp(self.low.saturating_sub(1), self.high.saturating_add(1))
    }
}

/// The values a slot has had, of which a few are remembered.
#[derive(Clone, Debug, Default)]
pub struct SeenValues {
    /// In increasing order; one more than a few means many.
    some: Vec<i64>,
    range: Option<(i64, i64)>,
}

impl SeenValues {
    /// Adds a value.
    pub fn add(&mut self, value: i64, exactly: Exactly) {
        let value = exactly.clamp(value);
        let (low, high) = self.range.unwrap_or((value, value));
        self.range = Some((low.min(value), high.max(value)));
        if self.some.len() <= FEW
            && let Err(at) = self.some.binary_search(&value)
        {
            self.some.insert(at, value);
        }
    }

    /// Whether some of them are only known to lie far out.
    pub(super) fn leave(&self, exactly: Exactly) -> bool {
        self.range.is_some_and(|(low, high)| !exactly.holds(low) || !exactly.holds(high))
    }

    /// The least value, if there is one.
    fn at_least(&self, exactly: Exactly) -> Option<i64> {
        self.range.map(|(low, _)| low).filter(|low| exactly.low <= *low)
    }

    /// The greatest value, if there is one.
    fn at_most(&self, exactly: Exactly) -> Option<i64> {
        self.range.map(|(_, high)| high).filter(|high| *high <= exactly.high)
    }

    /// What holds of them; `None` if that is nothing.
    pub fn predicate(&self, exactly: Exactly) -> Option<VerbPhrase> {
        let (low, high) = self.range?;
        let (below, above) = (low < exactly.low, high > exactly.high);
        let inside: Vec<i64> = self.some.iter().copied().filter(|v| exactly.holds(*v)).collect();
        let neighbours = inside.windows(2).all(|pair| pair[1] == pair[0] + 1);
        // What is listed up to where nothing is told apart any more is one range.
        let runs_out = neighbours
            && (!above || inside.last().is_none_or(|last| *last == exactly.high))
            && (!below || inside.first().is_none_or(|first| *first == exactly.low));
        let range = self.some.len() > FEW || (neighbours && inside.len() > 3);
        if range || (runs_out && (above || below)) {
            return match (below, above) {
                (true, true) => None,
                (true, false) => Some(VerbPhrase::at_most(high.min(exactly.high))),
                (false, true) => Some(VerbPhrase::at_least(low)),
                (false, false) => Some(VerbPhrase::between(low, high)),
            };
        }
        let mut words = Vec::new();
        words.extend(below.then(|| format!("less than {}", exactly.low)));
        words.extend(inside.iter().map(i64::to_string));
        words.extend(above.then(|| format!("more than {}", exactly.high)));
        Some(VerbPhrase::is(listed(&words, "or")))
    }

    /// What holds of them, said of a name.
    pub(super) fn fact(&self, kind: SlotKind, name: String, exactly: Exactly) -> Option<SaidFact> {
        self.predicate(exactly).map(|predicate| SaidFact::Of(kind, name, predicate))
    }

    /// The same in few signs, as in `x=1`, `x in {0,1}` or `x>=1`.
    pub fn short(&self, name: &str, exactly: Exactly) -> String {
        let Some((low, high)) = self.range else { return name.to_string() };
        let listed = self.some.len() <= FEW && !self.leave(exactly);
        let digits: Vec<String> = self.some.iter().map(i64::to_string).collect();
        match (exactly.holds(low), exactly.holds(high)) {
            (true, true) if digits.len() == 1 => format!("{name}={low}"),
            _ if listed => format!("{name} in {{{}}}", digits.join(",")),
            (true, true) => format!("{low}<={name}<={high}"),
            (true, false) => format!("{name}>={low}"),
            (false, true) => format!("{name}<={high}"),
            (false, false) => name.to_string(),
        }
    }
}

/// How two values compare in all states that were added.
#[derive(Clone, Copy, Debug, Default)]
pub struct ValueOrder {
    less: bool,
    equal: bool,
    greater: bool,
    /// The second minus the first, if that is always the same and not wider than the precision.
    difference: Option<i64>,
}

impl ValueOrder {
    /// Adds two values that they have in a state.
    pub fn add(&mut self, a: i64, b: i64, precision: i64) {
        let first = !(self.less || self.equal || self.greater);
        self.less |= a < b;
        self.equal |= a == b;
        self.greater |= a > b;
        let difference = b.checked_sub(a).filter(|d| (-precision..=precision).contains(d));
        self.difference = difference.filter(|d| first || self.difference == Some(*d));
    }

    /// Whether the order says no more than the values already do.
    pub fn follows(&self, a: &SeenValues, b: &SeenValues, exactly: Exactly) -> bool {
        let below = |a: &SeenValues, b: &SeenValues| {
            let bounds = a.at_most(exactly).zip(b.at_least(exactly));
            bounds.is_some_and(|(a, b)| a < b || a == b && self.equal)
        };
        below(a, b) || below(b, a)
    }

    /// The fact about two names, if there is one.
    pub fn sentence(&self, a: &str, b: &str) -> Option<String> {
        match (self.less, self.equal, self.greater) {
            (false, true, false) => Some(format!("{a} == {b}")),
            (true, false, false) | (false, false, true) if self.difference.is_some() => {
                let difference = self.difference.unwrap_or_default();
                let (sign, size) = (if difference < 0 { "-" } else { "+" }, difference.unsigned_abs());
                Some(format!("{b} == {a} {sign} {size}"))
            }
            (true, false, false) => Some(format!("{a} < {b}")),
            (false, false, true) => Some(format!("{b} < {a}")),
            (true, true, false) => Some(format!("{a} <= {b}")),
            (false, true, true) => Some(format!("{b} <= {a}")),
            (true, false, true) => Some(format!("{a} != {b}")),
            _ => None,
        }
    }
}

/// What a buffer has held, in as much detail as there is room for.
#[derive(Clone, Debug, Default)]
pub struct Contents {
    /// The values by shape, oldest entry first; one shape more than a few means many.
    shapes: BTreeMap<Vec<Entry>, Vec<SeenValues>>,
    /// The variables of all stores.
    variables: BTreeSet<usize>,
    longest: usize,
    empty: bool,
}

impl Contents {
    /// Adds a buffer with the values of its stores.
    pub fn add(&mut self, shape: &[Entry], values: impl IntoIterator<Item = i64>, exactly: Exactly) {
        let stores = || shape.iter().filter_map(|entry| stored(*entry));
        self.variables.extend(stores());
        self.longest = self.longest.max(stores().count());
        self.empty |= shape.is_empty();
        if !self.shapes.contains_key(shape) {
            if self.shapes.len() > SHAPES {
                return;
            }
            self.shapes.insert(shape.to_vec(), vec![SeenValues::default(); stores().count()]);
        }
        let Some(known) = self.shapes.get_mut(shape) else { return };
        known.iter_mut().zip(values).for_each(|(known, value)| known.add(value, exactly));
    }

    /// The fact, with the names of variables by number.
    pub fn sentence(&self, name: &dyn Fn(usize) -> String, exactly: Exactly) -> String {
        if self.shapes.len() > SHAPES {
            let names: Vec<String> = self.variables.iter().map(|variable| name(*variable)).collect();
            let most = counted(self.longest, "store");
            let start = if self.empty { "may hold" } else { "holds" };
            return format!("its buffer {start} up to {most}, to {}", listed(&names, "and"));
        }
        let content = |(shape, values): (&Vec<Entry>, &Vec<SeenValues>)| {
            let mut values = values.iter();
            let entry = |entry: &Entry| match stored(*entry) {
                None => "fence".to_string(),
                Some(variable) => {
                    let name = name(variable);
                    values.next().map_or_else(|| name.clone(), |values| values.short(&name, exactly))
                }
            };
            shape.iter().map(entry).collect::<Vec<_>>().join(" then ")
        };
        let full = self.shapes.iter().filter(|(shape, _)| !shape.is_empty());
        let words: Vec<String> = full.map(content).collect();
        match (self.empty, words.is_empty()) {
            (_, true) => "its buffer is empty".to_string(),
            (true, _) => format!("its buffer is empty or holds {}", words.join(" or ")),
            _ => format!("its buffer holds {}", words.join(" or ")),
        }
    }
}

fn stored(entry: Entry) -> Option<usize> {
    match entry {
        Entry::Store(variable) => Some(variable.index()),
        Entry::Barrier => None,
    }
}
