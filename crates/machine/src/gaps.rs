//! The gap abstraction: values beyond a window are known only by their order and by the gaps
//! between them, up to a precision.
//!
//! Fix a window `[low, high]`, a precision `d` and a modulus `m` (1 if the program never looks
//! at remainders). Sort a state's values above the window; the *gap* of each to the next
//! smaller one (to `high` for the smallest) is kept if it is at most `d`; a wider one is made as
//! small as it can be while staying wider than `d` and the same modulo `m`. Likewise below.
//! Values inside the window stay. The result is a state again, the *normal form*, and stands
//! for all states with the same normal form: finitely many, whatever the values.
//!
//! The successors of a normal form under steps that only copy values, add constants of at
//! most `k`, and compare values with offsets of at most `k`: run the step on the normal form
//! with each wide gap opened by multiples of `m` until it exceeds `d + k`, in all ways, and
//! normalise. No other state behaves differently: shrink each of its wide gaps likewise, but
//! not below `d + 1 + k`. A sum of gaps with a wide one in it stays above every offset used, so
//! comparisons come out alike; a new value `y + c` lies within a gap at a distance of at most
//! `k` from its lower end, and what is left of the gap is still wide. For the same reason a
//! freely chosen value needs gaps opened so far that both parts it cuts a gap into can be wide.
//!
//! Not every gap has to be opened. Let a step read some values, and let a gap be more than `k` away from all of them. New values lie
//! within `k` of what was read, so none lies in the gap; and two of the values read that the gap separates are more than `k` apart, however
//! wide it is, so it decides no comparison. The gap stays what it was, or is joined with its neighbour when the value between them is
//! forgotten; then the sum is wide if one of them was, and the same modulo `m`.
//!
//! Remainders modulo a divisor of `m` are the same in all states a normal form stands for. Any
//! other expression is still computed exactly while what it reads lies in the window.

use smallvec::SmallVec;
use std::ops::RangeInclusive;

/// Values outside the window: there are few, and every step brings them into normal form.
type Few<T> = SmallVec<[T; 16]>;

/// More ways to open gaps than this are not tried.
const MAX_OPENINGS: usize = 1 << 12;

/// A choice among more values than this is not tried.
const MAX_WIDTH: usize = 1 << 12;

/// Nor one with more ways to open gaps and then to choose a value.
const MAX_CHOICES: usize = 1 << 18;

/// A window and a precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gaps {
    /// The lower end of the window.
    pub low: i64,
    /// The upper end of the window.
    pub high: i64,
    /// Gaps up to this are exact.
    pub precision: i64,
    /// Wider gaps are exact modulo this.
    pub modulus: i64,
}

impl Gaps {
    /// Brings values into normal form.
    pub fn normalise(&self, values: &mut [i64]) {
        let wide = self.precision + 1;
        self.rebuild(values, &mut |gap, _| {
            if gap < wide { gap } else { wide + (gap - wide) % self.modulus }
        });
    }

    /// Calls `visit` on the normal form with every wide gap opened by multiples of the modulus, up
    /// to at least `more`, in all ways; false if there are too many.
    pub fn open(&self, values: &[i64], more: i64, visit: impl FnMut(&[i64])) -> bool {
        self.open_some(values, &|_| true, more, visit)
    }

    /// The same for those gaps only that are at most `more` away from one of some values.
    pub fn open_near(&self, values: &[i64], near: &[i64], more: i64, visit: impl FnMut(&[i64])) -> bool {
        let within = |(low, high): (i64, i64)| {
            near.iter().any(|y| (*y <= low && low - y <= more) || (*y >= high && y - high <= more))
        };
        self.open_some(values, &within, more, visit)
    }

    /// Opens the gaps of which it is said so, by their ends.
    fn open_some(
        &self,
        values: &[i64],
        opens: &dyn Fn((i64, i64)) -> bool,
        more: i64,
        mut visit: impl FnMut(&[i64]),
    ) -> bool {
        let Some(ways) = self.ways(values, opens, more) else { return false };
        let sizes = self.sizes(more);
        let mut opened: Few<i64> = Few::new();
        for way in 0..ways {
            let mut digits = way;
            opened.clear();
            opened.extend_from_slice(values);
            self.rebuild(&mut opened, &mut |gap, ends| {
                if gap <= self.precision || !opens(ends) {
                    return gap;
                }
                let digit = digits % sizes;
                digits /= sizes;
                gap + digit as i64 * self.modulus
            });
            visit(&opened);
        }
        true
    }

    /// Calls `visit` on the normal form with gaps opened and a value of these chosen, in ways that
    /// stand for all; false, having called it on none, if there are too many.
    pub fn choose(
        &self,
        values: &[i64],
        from: &RangeInclusive<i64>,
        mut visit: impl FnMut(&[i64], i64),
    ) -> bool {
        let width = self.widest_choice(values, from);
        let few = |ways: usize| width <= MAX_WIDTH && ways.saturating_mul(width) <= MAX_CHOICES;
        self.ways(values, &|_| true, self.room_for_a_choice()).is_some_and(few)
            && self.open(values, self.room_for_a_choice(), |opened| {
                let all = self.choices(opened);
                let range = *all.start().max(from.start())..=*all.end().min(from.end());
                range.for_each(|value| visit(opened, value));
            })
    }

    /// How many values may have to be tried for a choice from these, whatever is opened.
    fn widest_choice(&self, values: &[i64], from: &RangeInclusive<i64>) -> usize {
        let all = self.choices(values);
        let more = self.wide_gaps(values, &|_| true) as i64 * (self.room_for_a_choice() + self.modulus);
        let (low, high) = ((all.start() - more).max(*from.start()), (all.end() + more).min(*from.end()));
        usize::try_from(high - low + 1).unwrap_or(0)
    }

    /// How many ways there are to open these gaps up to at least `more`, unless they are too many.
    fn ways(&self, values: &[i64], opens: &dyn Fn((i64, i64)) -> bool, more: i64) -> Option<usize> {
        let ways = self.sizes(more).checked_pow(self.wide_gaps(values, opens) as u32);
        ways.filter(|ways| *ways <= MAX_OPENINGS)
    }

    /// How many sizes a wide gap may have then.
    fn sizes(&self, more: i64) -> usize {
        let sizes = (more as u64).div_ceil(self.modulus as u64).saturating_add(1);
        usize::try_from(sizes).unwrap_or(usize::MAX)
    }

    /// How far to open gaps before a value is chosen: so that both parts of a gap can be wide.
    fn room_for_a_choice(&self) -> i64 {
        self.precision + 2 * self.modulus
    }

    /// Values that, on a state opened so far, stand for all that can be chosen.
    fn choices(&self, values: &[i64]) -> RangeInclusive<i64> {
        let lowest = values.iter().copied().min().unwrap_or(self.low).min(self.low);
        let highest = values.iter().copied().max().unwrap_or(self.high).max(self.high);
        lowest - self.precision - self.modulus..=highest + self.precision + self.modulus
    }

    /// Whether a value lies in the window.
    pub fn in_window(&self, value: i64) -> bool {
        self.low <= value && value <= self.high
    }

    /// How many of these gaps are wide.
    fn wide_gaps(&self, values: &[i64], opens: &dyn Fn((i64, i64)) -> bool) -> usize {
        let mut wide = 0;
        self.rebuild(&mut Few::from_slice(values), &mut |gap, ends| {
            wide += usize::from(gap > self.precision && opens(ends));
            gap
        });
        wide
    }

    /// Replaces every gap between neighbouring values outside the window; its ends are given, too.
    fn rebuild(&self, values: &mut [i64], gap: &mut dyn FnMut(i64, (i64, i64)) -> i64) {
        let outside = |v: &i64| !self.in_window(*v);
        if !values.iter().any(outside) {
            return;
        }
        let mut above: Few<i64> = values.iter().copied().filter(|v| *v > self.high).collect();
        above.sort_unstable();
        above.dedup();
        let mut below: Few<i64> = values.iter().copied().filter(|v| *v < self.low).collect();
        below.sort_unstable_by(|a, b| b.cmp(a));
        below.dedup();
        let mut renamed: Few<(i64, i64)> = Few::new();
        let (mut old, mut new) = (self.high, self.high);
        for value in above {
            new += gap(value - old, (old, value));
            old = value;
            renamed.push((value, new));
        }
        let (mut old, mut new) = (self.low, self.low);
        for value in below {
            new -= gap(old - value, (value, old));
            old = value;
            renamed.push((value, new));
        }
        for value in values.iter_mut() {
            if let Some((_, new)) = renamed.iter().find(|(old, _)| old == value) {
                *value = *new;
            }
        }
    }
}
