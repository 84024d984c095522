//! What values, pairs of values and buffers have in common over many states, and how to say it.

use machine::Gaps;
use std::collections::BTreeSet;

/// So many values are listed one by one.
const LISTED: usize = 4;
/// So many contents of a buffer are listed one by one.
const CONTENTS: usize = 4;

/// The values a slot has had.
#[derive(Clone, Debug)]
pub(super) struct Values {
    least: i64,
    most: i64,
    /// All of them in increasing order, unless there are more than [`LISTED`].
    some: Vec<i64>,
    many: bool,
}

impl Values {
    pub(super) fn none() -> Values {
        Values { least: i64::MAX, most: i64::MIN, some: Vec::new(), many: false }
    }

    pub(super) fn add(&mut self, value: i64) {
        self.least = self.least.min(value);
        self.most = self.most.max(value);
        if self.many {
            return;
        }
        if let Err(at) = self.some.binary_search(&value) {
            self.some.insert(at, value);
            self.many = self.some.len() > LISTED;
        }
    }

    /// Whether some of them are only known to lie beyond the window.
    pub(super) fn leave(&self, gaps: &Gaps) -> bool {
        !gaps.in_window(self.least) || !gaps.in_window(self.most)
    }

    /// The least value, if there is one.
    fn at_least(&self, gaps: &Gaps) -> Option<i64> {
        (self.least >= gaps.low).then_some(self.least)
    }

    /// The greatest value, if there is one.
    fn at_most(&self, gaps: &Gaps) -> Option<i64> {
        (self.most <= gaps.high).then_some(self.most)
    }

    /// What holds of them, with a verb for one subject or several; `None` if that is nothing.
    pub(super) fn predicate(&self, gaps: Option<&Gaps>, plural: bool) -> Option<String> {
        let verb = if plural { "are" } else { "is" };
        let lie = if plural { "lie" } else { "lies" };
        if self.least > self.most {
            return None;
        }
        if let Some(gaps) = gaps.filter(|gaps| self.leave(gaps)) {
            return match (self.at_least(gaps), self.at_most(gaps)) {
                (Some(least), _) => Some(format!("{verb} at least {least}")),
                (_, Some(most)) => Some(format!("{verb} at most {most}")),
                _ => None,
            };
        }
        if self.many {
            return Some(format!("{lie} between {} and {}", self.least, self.most));
        }
        let words: Vec<String> = self.some.iter().map(i64::to_string).collect();
        Some(format!("{verb} {}", listed(&words, "or")))
    }
}

/// How two values compare in all states.
#[derive(Clone, Copy, Debug)]
pub(super) struct Order {
    less: bool,
    equal: bool,
    greater: bool,
    /// The second minus the first, if that is always the same and not wider than the precision.
    difference: Option<i64>,
}

impl Order {
    pub(super) fn none() -> Order {
        Order { less: false, equal: false, greater: false, difference: None }
    }

    pub(super) fn add(&mut self, a: i64, b: i64, precision: i64) {
        let first = !(self.less || self.equal || self.greater);
        self.less |= a < b;
        self.equal |= a == b;
        self.greater |= a > b;
        let difference = b.checked_sub(a).filter(|d| (-precision..=precision).contains(d));
        self.difference = difference.filter(|d| first || self.difference == Some(*d));
    }

    /// Whether the order says no more than the values already do.
    pub(super) fn follows(&self, a: &Values, b: &Values, gaps: &Gaps) -> bool {
        let below = |a: &Values, b: &Values| {
            let bounds = a.at_most(gaps).zip(b.at_least(gaps));
            bounds.is_some_and(|(a, b)| a < b || a == b && self.equal)
        };
        below(a, b) || below(b, a)
    }

    /// The fact about two names, if there is one.
    pub(super) fn sentence(&self, a: &str, b: &str) -> Option<String> {
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

/// An entry of a buffer: a variable and its value if that is known, or a store fence.
pub(super) type Content = Option<(usize, Option<i64>)>;

/// What a buffer has held, in as much detail as there is room for.
#[derive(Clone, Debug)]
pub(super) enum Contents {
    /// These contents, with values.
    Whole(BTreeSet<Vec<Content>>),
    /// Stores to these variables, and perhaps nothing.
    Variables(BTreeSet<usize>, bool),
}

impl Contents {
    pub(super) fn none() -> Contents {
        Contents::Whole(BTreeSet::new())
    }

    pub(super) fn add(&mut self, content: &[Content]) {
        if let Contents::Whole(seen) = self
            && !seen.contains(content)
        {
            seen.insert(content.to_vec());
            if seen.len() > CONTENTS {
                let empty = seen.contains(&Vec::new());
                let variables = seen.iter().flatten().flatten().map(|(variable, _)| *variable).collect();
                *self = Contents::Variables(variables, empty);
            }
        }
        if let Contents::Variables(variables, empty) = self {
            *empty |= content.is_empty();
            for (variable, _) in content.iter().flatten() {
                if !variables.contains(variable) {
                    variables.insert(*variable);
                }
            }
        }
    }

    /// The fact, with the names of variables by number.
    pub(super) fn sentence(&self, name: &dyn Fn(usize) -> String) -> String {
        let entry = |entry: &Content| match entry {
            None => "fence".to_string(),
            Some((variable, Some(value))) => format!("{}={value}", name(*variable)),
            Some((variable, None)) => name(*variable),
        };
        match self {
            Contents::Variables(variables, empty) => {
                let names: Vec<String> = variables.iter().map(|variable| name(*variable)).collect();
                let start = if *empty { "may hold" } else { "holds" };
                format!("its buffer {start} stores to {}", listed(&names, "and"))
            }
            Contents::Whole(seen) => {
                let full = seen.iter().filter(|content| !content.is_empty());
                let words: Vec<String> =
                    full.map(|content| content.iter().map(entry).collect::<Vec<_>>().join(", ")).collect();
                let empty = seen.contains(&Vec::new());
                match (empty, words.is_empty()) {
                    (_, true) => "its buffer is empty".to_string(),
                    (true, _) => format!("its buffer is empty or holds {}", words.join(" or ")),
                    _ => format!("its buffer holds {}", words.join(" or ")),
                }
            }
        }
    }
}

/// `a, b or c`
pub(super) fn listed(words: &[String], last: &str) -> String {
    match words {
        [] => String::new(),
        [only] => only.clone(),
        [most @ .., end] => format!("{} {last} {end}", most.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GAPS: Gaps = Gaps { low: 0, high: 10, precision: 2, modulus: 1 };

    fn check_values(values: &[i64], gaps: Option<&Gaps>, expected: Option<&str>) {
        let mut all = Values::none();
        values.iter().for_each(|value| all.add(*value));
        assert_eq!(all.predicate(gaps, false).as_deref(), expected, "{values:?}");
    }

    #[test]
    fn few_values_are_listed_and_many_are_a_range() {
        check_values(&[], None, None);
        check_values(&[3, 3], None, Some("is 3"));
        check_values(&[1, 0, 1], None, Some("is 0 or 1"));
        check_values(&[5, 0, 1], None, Some("is 0, 1 or 5"));
        check_values(&[5, 0, 1, -2, 9], None, Some("lies between -2 and 9"));
    }

    #[test]
    fn beyond_the_window_only_one_end_is_known() {
        check_values(&[0, 10], Some(&GAPS), Some("is 0 or 10"));
        check_values(&[1, 12], Some(&GAPS), Some("is at least 1"));
        check_values(&[13], Some(&GAPS), Some("is at least 13"));
        check_values(&[-1, 4], Some(&GAPS), Some("is at most 4"));
        check_values(&[-1, 14], Some(&GAPS), None);
    }

    fn check_order(pairs: &[(i64, i64)], expected: Option<&str>) {
        let mut order = Order::none();
        pairs.iter().for_each(|(a, b)| order.add(*a, *b, 2));
        assert_eq!(order.sentence("a", "b").as_deref(), expected, "{pairs:?}");
    }

    #[test]
    fn order_facts_hold_in_all_states() {
        check_order(&[(1, 1), (7, 7)], Some("a == b"));
        check_order(&[(1, 3), (7, 9)], Some("b == a + 2"));
        check_order(&[(4, 3)], Some("b == a - 1"));
        check_order(&[(1, 4), (2, 5)], Some("a < b"));
        check_order(&[(1, 2), (2, 4)], Some("a < b"));
        check_order(&[(1, 2), (2, 4), (3, 4)], Some("a < b"));
        check_order(&[(1, 2), (2, 2)], Some("a <= b"));
        check_order(&[(1, 2), (2, 1)], Some("a != b"));
        check_order(&[(1, 2), (2, 1), (1, 1)], None);
    }

    #[test]
    fn what_follows_from_the_values_is_not_said_again() {
        let values = |list: &[i64]| {
            let mut values = Values::none();
            list.iter().for_each(|value| values.add(*value));
            values
        };
        let check = |a: &[i64], b: &[i64], expected: bool| {
            let mut order = Order::none();
            a.iter().zip(b).for_each(|(a, b)| order.add(*a, *b, 2));
            assert_eq!(order.follows(&values(a), &values(b), &GAPS), expected, "{a:?} {b:?}");
        };
        check(&[0, 0], &[0, 12], true);
        check(&[3, 12], &[1, 2], true);
        check(&[0, 0], &[0, 0], true);
        check(&[0, 12], &[1, 13], false);
        check(&[0, 5], &[5, 12], false);
        check(&[13, 13], &[15, 15], false);
    }

    #[test]
    fn buffers_are_told_in_as_much_detail_as_fits() {
        let name = |variable: usize| ["x", "y"][variable].to_string();
        let mut contents = Contents::none();
        contents.add(&[]);
        assert_eq!(contents.sentence(&name), "its buffer is empty");
        contents.add(&[Some((0, Some(1))), None, Some((1, None))]);
        assert_eq!(contents.sentence(&name), "its buffer is empty or holds x=1, fence, y");
        (2..6).for_each(|value| contents.add(&[Some((0, Some(value)))]));
        assert_eq!(contents.sentence(&name), "its buffer may hold stores to x and y");
    }
}
