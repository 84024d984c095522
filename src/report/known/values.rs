//! Sets of integers that grow one by one, and how to say what is in them.

use machine::Gaps;

/// Up to so many values are listed; of more, the least and the greatest are told.
const FEW: usize = 6;

/// The range in which numbers mean themselves. In gap certificates a number beyond it stands
/// for all that are farther out.
#[derive(Clone, Copy)]
pub struct Exactly {
    low: i64,
    high: i64,
}

impl Exactly {
    /// For concrete states (`None`), or for normal forms: a value is exact as long as its
    /// distance from the window is one that is kept.
    pub fn of(gaps: Option<Gaps>) -> Exactly {
        match gaps {
            None => Exactly { low: i64::MIN, high: i64::MAX },
            Some(gaps) => Exactly {
                low: gaps.low.saturating_sub(gaps.precision),
                high: gaps.high.saturating_add(gaps.precision),
            },
        }
    }

    /// Whether a number means itself.
    pub fn holds(&self, value: i64) -> bool {
        self.low <= value && value <= self.high
    }

    /// The same for all values that cannot be told apart.
    pub fn clamp(&self, value: i64) -> i64 {
        value.clamp(self.low.saturating_sub(1), self.high.saturating_add(1))
    }
}

/// A set of values, of which a few are remembered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Values {
    /// Sorted; one more than a few means many.
    some: Vec<i64>,
    range: Option<(i64, i64)>,
}

impl Values {
    /// Adds a value.
    pub fn insert(&mut self, value: i64) {
        let (low, high) = self.range.unwrap_or((value, value));
        self.range = Some((low.min(value), high.max(value)));
        if self.some.len() <= FEW
            && let Err(at) = self.some.binary_search(&value)
        {
            self.some.insert(at, value);
        }
    }

    /// The only value.
    pub fn single(&self) -> Option<i64> {
        if self.some.len() == 1 { self.some.first().copied() } else { None }
    }

    /// The least and the greatest value.
    pub fn range(&self) -> Option<(i64, i64)> {
        self.range
    }

    /// What `name` can be; `None` if nothing is known.
    pub fn sentence(&self, name: &str, exactly: Exactly) -> Option<String> {
        let (low, high) = self.range?;
        let (below, above) = (low < exactly.low, high > exactly.high);
        let inside: Vec<i64> = self.some.iter().copied().filter(|v| exactly.holds(*v)).collect();
        let neighbours = inside.windows(2).all(|pair| pair[1] == pair[0] + 1);
        if self.some.len() > FEW || (neighbours && inside.len() > 3) {
            return match (below, above) {
                (true, true) => None,
                (true, false) => Some(format!("{name} ≤ {high}")),
                (false, true) => Some(format!("{name} ≥ {low}")),
                (false, false) => Some(format!("{low} ≤ {name} ≤ {high}")),
            };
        }
        let mut words = Vec::new();
        words.extend(below.then(|| format!("less than {}", exactly.low)));
        words.extend(inside.iter().map(i64::to_string));
        words.extend(above.then(|| format!("more than {}", exactly.high)));
        Some(match (words.as_slice(), inside.as_slice()) {
            ([_], [value]) => format!("{name} = {value}"),
            ([word], _) => format!("{name} is {word}"),
            _ => format!("{name} is {}", either(&words)),
        })
    }
}

impl Values {
    /// The same in few signs, as in `x=1`, `x∈{0,1}` or `x≥1`.
    pub fn short(&self, name: &str, exactly: Exactly) -> String {
        let Some((low, high)) = self.range else { return name.to_string() };
        let listed = self.some.len() <= FEW && self.some.iter().all(|value| exactly.holds(*value));
        let digits: Vec<String> = self.some.iter().map(i64::to_string).collect();
        match (exactly.holds(low), exactly.holds(high)) {
            (true, true) if digits.len() == 1 => format!("{name}={low}"),
            _ if listed => format!("{name}∈{{{}}}", digits.join(",")),
            (true, true) => format!("{low}≤{name}≤{high}"),
            (true, false) => format!("{name}≥{low}"),
            (false, true) => format!("{name}≤{high}"),
            (false, false) => name.to_string(),
        }
    }
}

/// `a, b or c`
pub fn either(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(gaps: Option<Gaps>, values: &[i64], expected: Option<&str>) {
        let mut set = Values::default();
        values.iter().for_each(|value| set.insert(*value));
        assert_eq!(set.sentence("x", Exactly::of(gaps)).as_deref(), expected, "{values:?}");
    }

    #[test]
    fn short_forms_say_the_same() {
        let gaps = Some(Gaps { low: 0, high: 1, precision: 1, modulus: 1 });
        let cases: [(Option<Gaps>, &[i64], &str); 6] = [
            (None, &[3], "x=3"),
            (None, &[3, 1], "x∈{1,3}"),
            (None, &[1, 2, 3, 4, 5, 6, 7, 9], "1≤x≤9"),
            (gaps, &[1, 3], "x≥1"),
            (gaps, &[-2, 1], "x≤1"),
            (gaps, &[-2, 3], "x"),
        ];
        for (gaps, values, expected) in cases {
            let mut set = Values::default();
            values.iter().for_each(|value| set.insert(*value));
            assert_eq!(set.short("x", Exactly::of(gaps)), expected, "{values:?}");
        }
    }

    #[test]
    fn few_values_are_listed_and_many_bounded() {
        check(None, &[], None);
        check(None, &[3, 3], Some("x = 3"));
        check(None, &[7, -1], Some("x is -1 or 7"));
        check(None, &[4, 1, 2, 3], Some("1 ≤ x ≤ 4"));
        check(None, &[2, 4, 8, 16, 32, 64, 128, 256], Some("2 ≤ x ≤ 256"));
        check(None, &[i64::MIN, i64::MAX], Some("x is -9223372036854775808 or 9223372036854775807"));
    }

    #[test]
    fn what_lies_beyond_the_window_is_only_more_or_less() {
        let gaps = Some(Gaps { low: 0, high: 1, precision: 1, modulus: 1 });
        check(gaps, &[0, 5], Some("x is 0 or more than 2"));
        check(gaps, &[9], Some("x is more than 2"));
        check(gaps, &[-4, 1], Some("x is less than -1 or 1"));
        check(gaps, &[-4, 9], Some("x is less than -1 or more than 2"));
        check(gaps, &[-1, 0, 1, 2, 3], Some("x ≥ -1"));
        check(gaps, &[-1, 0, 1, 2, 3, -2], None);
    }
}
