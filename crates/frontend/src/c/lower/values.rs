//! What is known of an integer before the program runs: a few values, a range, or a range and how numbers in it
//! end ([`tagged`](super::tagged)).

use super::tagged::{self, CTagged};
use program::{Arith, Cond, Expr, Int, RegId, Relation};
use std::rc::Rc;

/// Most values that are listed, and most addresses: what a pointer may point to is worth knowing exactly.
const LISTED: usize = 24;
const ADDRESSES: usize = 400;
/// Addresses start here.
const FIRST_ADDRESS: i128 = 1000;

/// Values that an integer may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CValues {
    /// Nothing gets here.
    None,
    /// Just this: so it is of most registers at most places.
    One(i128),
    /// These, in order; at least two.
    List(Rc<[i128]>),
    /// From the first to the second; the largest numbers stand for infinity.
    Range(i128, i128),
    /// Those in a range whose lowest bits are known.
    Tagged(CTagged),
}

const LEAST: i128 = i128::MIN;
const MOST: i128 = i128::MAX;

impl CValues {
    /// No value.
    pub const NONE: CValues = CValues::None;
    /// Any value.
    pub const ALL: CValues = CValues::Range(LEAST, MOST);

    /// Just this value.
    pub fn only(value: i128) -> CValues {
        CValues::One(value)
    }

    fn list(list: Vec<i128>) -> CValues {
        match list[..] {
            [] => CValues::None,
            [value] => CValues::One(value),
            _ => CValues::List(list.into()),
        }
    }

    /// The values in order, where each is known.
    fn as_list(&self) -> Option<&[i128]> {
        match self {
            CValues::None => Some(&[]),
            CValues::One(value) => Some(std::slice::from_ref(value)),
            CValues::List(list) => Some(list),
            CValues::Range(..) | CValues::Tagged(_) => None,
        }
    }

    /// Whether each value is known.
    pub fn is_listed(&self) -> bool {
        self.as_list().is_some()
    }

    /// Those of the listed values that are wanted.
    fn filtered(&self, list: &[i128], wanted: impl Fn(i128) -> bool) -> CValues {
        let kept = list.iter().filter(|value| wanted(**value)).count();
        if kept == list.len() {
            return self.clone();
        }
        CValues::list(list.iter().copied().filter(|value| wanted(*value)).collect())
    }

    /// From the first to the second.
    pub fn range(low: i128, high: i128) -> CValues {
        match high.checked_sub(low) {
            Some(width) if width < 0 => CValues::NONE,
            Some(0) => CValues::One(low),
            Some(width) if width < 4 => CValues::list((low..=high).collect()),
            _ => CValues::Range(low, high),
        }
    }

    /// The least and the greatest; `None` if there is no value.
    pub fn bounds(&self) -> Option<(i128, i128)> {
        match self {
            CValues::None => None,
            CValues::One(value) => Some((*value, *value)),
            CValues::List(list) => Some((*list.first()?, *list.last()?)),
            CValues::Range(low, high) => Some((*low, *high)),
            CValues::Tagged(tagged) => Some((tagged.low, tagged.high)),
        }
    }

    /// The value, if there is just one.
    pub fn single(&self) -> Option<i128> {
        match self {
            CValues::One(value) => Some(*value),
            _ => None,
        }
    }

    /// Whether nothing gets here.
    pub fn is_none(&self) -> bool {
        *self == CValues::None
    }

    /// Whether this is one of them.
    pub fn contains(&self, value: i128) -> bool {
        match self {
            CValues::None => false,
            CValues::One(only) => *only == value,
            CValues::List(list) => list.binary_search(&value).is_ok(),
            CValues::Range(low, high) => *low <= value && value <= *high,
            CValues::Tagged(tagged) => tagged.contains(value),
        }
    }

    /// Whether all lie in a range.
    pub fn within(&self, low: i128, high: i128) -> bool {
        self.bounds().is_none_or(|(least, most)| low <= least && most <= high)
    }

    /// Whether it has values, and all of them are outside a range.
    pub fn is_outside(&self, low: i128, high: i128) -> bool {
        !self.is_none() && self.keep(low, high).is_none()
    }

    /// These values, or if they are many, those around them.
    pub fn listed(mut list: Vec<i128>) -> CValues {
        list.sort_unstable();
        list.dedup();
        CValues::few(list)
    }

    /// Values in order: themselves if they are few, else their range.
    fn few(list: Vec<i128>) -> CValues {
        let addresses = list.iter().all(|value| *value == 0 || *value >= FIRST_ADDRESS);
        let most = if addresses { ADDRESSES } else { LISTED };
        match (list.len() > most, list.first(), list.last()) {
            (true, Some(low), Some(high)) => {
                CTagged::between(&list).map_or(CValues::Range(*low, *high), CValues::Tagged)
            }
            _ => CValues::list(list),
        }
    }

    /// The values of both.
    pub fn join(&self, other: &CValues) -> CValues {
        match (self.as_list(), other.as_list()) {
            (Some(a), Some(b)) if std::ptr::eq(a, b) || is_part(b, a) => self.clone(),
            (Some(a), Some(b)) if is_part(a, b) => other.clone(),
            (Some(a), Some(b)) => CValues::few(merged(a, b)),
            _ => match (self.bounds(), other.bounds()) {
                (Some((a, b)), Some((c, d))) => {
                    let (low, high) = (a.min(c), b.max(d));
                    tagged::joined(self, other, (low, high)).unwrap_or(CValues::Range(low, high))
                }
                (None, _) => other.clone(),
                (_, None) => self.clone(),
            },
        }
    }

    /// As [`Values::join`]; bounds that grew go on to the next threshold.
    pub fn widen(&self, other: &CValues, thresholds: &[i128]) -> CValues {
        let joined = self.join(other);
        let (Some((a, b)), Some((c, d))) = (self.bounds(), joined.bounds()) else { return joined };
        if joined == *self {
            return joined;
        }
        let below = || thresholds.iter().rev().find(|t| **t <= c).copied().unwrap_or(LEAST);
        let above = || thresholds.iter().find(|t| **t >= d).copied().unwrap_or(MOST);
        let (low, high) = (if c < a { below() } else { a }, if d > b { above() } else { b });
        let tagged = match &joined {
            CValues::Tagged(tagged) => Some(tagged.clone()),
            _ => joined.as_list().and_then(CTagged::between),
        };
        tagged.map_or(CValues::Range(low, high), |tagged| tagged.within(low, high))
    }

    fn keep(&self, low: i128, high: i128) -> CValues {
        match (self, self.as_list()) {
            (CValues::Range(a, b), _) => CValues::range((*a).max(low), (*b).min(high)),
            (CValues::Tagged(tagged), _) => tagged.within(tagged.low.max(low), tagged.high.min(high)),
            (_, list) => self.filtered(list.unwrap_or_default(), |value| low <= value && value <= high),
        }
    }

    fn without(&self, value: i128) -> CValues {
        match (self, self.as_list()) {
            (_, Some(list)) => self.filtered(list, |listed| listed != value),
            (CValues::Range(a, b), _) if *a == value => CValues::range(a.saturating_add(1), *b),
            (CValues::Range(a, b), _) if *b == value => CValues::range(*a, b.saturating_sub(1)),
            (other, _) => other.clone(),
        }
    }

    /// Without any of these, which are in order.
    fn without_all(&self, values: &[i128]) -> CValues {
        match self.as_list() {
            Some(list) => self.filtered(list, |value| values.binary_search(&value).is_err()),
            // From below, then from above: only what a range ends with can be taken from it.
            _ => {
                let rising = values.iter().fold(self.clone(), |left, value| left.without(*value));
                values.iter().rev().fold(rising, |left, value| left.without(*value))
            }
        }
    }

    /// What an operation on these values gives.
    pub fn combine(op: Arith, a: &CValues, b: &CValues) -> CValues {
        if a.is_none() || b.is_none() {
            return CValues::NONE;
        }
        if let (CValues::One(x), CValues::One(y)) = (a, b)
            && let Some(value) = exact(op, *x, *y)
        {
            return value.map_or(CValues::NONE, CValues::One);
        }
        if let (Some(x), Some(y)) = (a.as_list(), b.as_list())
            && x.len() * y.len() <= 4 * LISTED
        {
            let pairs = x.iter().flat_map(|a| y.iter().map(move |b| exact(op, *a, *b)));
            if let Some(list) = pairs.collect::<Option<Vec<Option<i128>>>>() {
                return CValues::listed(list.into_iter().flatten().collect());
            }
        }
        let range = CValues::combined_range(op, a, b);
        tagged::combined(op, a, b, range).unwrap_or(CValues::Range(range.0, range.1))
    }

    /// The range of results, from those of the operands.
    fn combined_range(op: Arith, a: &CValues, b: &CValues) -> (i128, i128) {
        let (Some((a, b)), Some((c, d))) = (a.bounds(), b.bounds()) else { return (LEAST, MOST) };
        let infinite = |value: i128| value == LEAST || value == MOST;
        let add = |x: i128, y: i128| {
            if infinite(x) {
                x
            } else if infinite(y) {
                y
            } else {
                x.saturating_add(y)
            }
        };
        match op {
            Arith::Add => (add(a, c), add(b, d)),
            Arith::Sub => (add(a, d.checked_neg().unwrap_or(MOST)), add(b, c.checked_neg().unwrap_or(MOST))),
            Arith::Mul => {
                let all = [(a, c), (a, d), (b, c), (b, d)].map(|(x, y)| x.saturating_mul(y));
                (all.into_iter().min().unwrap_or(LEAST), all.into_iter().max().unwrap_or(MOST))
            }
            Arith::Div if c > 0 => {
                let all = [(a, c), (a, d), (b, c), (b, d)].map(|(x, y)| if infinite(x) { x } else { x / y });
                (all.into_iter().min().unwrap_or(LEAST), all.into_iter().max().unwrap_or(MOST))
            }
            Arith::Rem if c > 0 => {
                let most = d.saturating_sub(1);
                (if a < 0 { most.saturating_neg().max(a) } else { 0 }, if b > 0 { most.min(b) } else { 0 })
            }
            Arith::And if c >= 0 => (0, d),
            Arith::And if a >= 0 => (0, b),
            Arith::Or | Arith::Xor if a >= 0 && c >= 0 && b < MOST / 4 && d < MOST / 4 => {
                (0, (b.max(d) as u128 + 1).next_power_of_two() as i128 - 1)
            }
            _ => (LEAST, MOST),
        }
    }

    /// What an expression may be, when registers have these values.
    pub fn of(expr: &Expr<RegId>, register: &dyn Fn(RegId) -> CValues) -> CValues {
        match expr {
            Expr::Const(value) => i128::try_from(value).map_or(CValues::ALL, CValues::only),
            Expr::Leaf(r) => register(*r),
            Expr::Binary(op, a, b) => {
                CValues::combine(*op, &CValues::of(a, register), &CValues::of(b, register))
            }
        }
    }
}

/// What two lists in order hold, in order.
fn merged(a: &[i128], b: &[i128]) -> Vec<i128> {
    let (mut a, mut b) = (a.iter().copied().peekable(), b.iter().copied().peekable());
    let next = || match (a.peek().copied(), b.peek().copied()) {
        (Some(x), Some(y)) => {
            if x <= y {
                a.next();
            }
            if y <= x {
                b.next();
            }
            Some(x.min(y))
        }
        (Some(_), None) => a.next(),
        (None, _) => b.next(),
    };
    std::iter::from_fn(next).collect()
}

/// Whether a list in order holds all of another.
fn is_part(small: &[i128], large: &[i128]) -> bool {
    let mut rest = large.iter();
    small.len() <= large.len() && small.iter().all(|value| rest.any(|other| other == value))
}

/// The result on two numbers: `None` if it is too large, `Some(None)` if there is none.
pub fn exact(op: Arith, a: i128, b: i128) -> Option<Option<i128>> {
    Some(match op {
        Arith::Add => Some(a.checked_add(b)?),
        Arith::Sub => Some(a.checked_sub(b)?),
        Arith::Mul => Some(a.checked_mul(b)?),
        Arith::Div => a.checked_div(b),
        Arith::Rem => a.checked_rem(b),
        Arith::And => Some(a & b),
        Arith::Or => Some(a | b),
        Arith::Xor => Some(a ^ b),
    })
}

/// Registers' values, in order of registers; what is not listed may be anything.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct CKnown(Vec<(RegId, CValues)>);

impl Clone for CKnown {
    fn clone(&self) -> CKnown {
        CKnown(self.0.clone())
    }

    /// Where one is written over and over, its memory is kept.
    fn clone_from(&mut self, other: &CKnown) {
        self.0.clone_from(&other.0);
    }
}

impl CKnown {
    /// So many registers, all with these values.
    pub fn all(registers: impl Iterator<Item = RegId>, values: &CValues) -> CKnown {
        CKnown(registers.map(|register| (register, values.clone())).collect())
    }

    /// The values of a register.
    pub fn get(&self, register: RegId) -> CValues {
        self.listed(register).map_or(CValues::ALL, CValues::clone)
    }

    fn listed(&self, register: RegId) -> Option<&CValues> {
        let at = self.0.binary_search_by_key(&register, |(known, _)| *known).ok()?;
        Some(&self.0[at].1)
    }

    /// Says which values a register has.
    pub fn set(&mut self, register: RegId, values: CValues) {
        match self.0.binary_search_by_key(&register, |(known, _)| *known) {
            Ok(at) => self.0[at].1 = values,
            Err(at) => self.0.insert(at, (register, values)),
        }
    }

    /// What is known of some registers.
    pub fn only(&self, wanted: impl Fn(RegId) -> bool) -> CKnown {
        CKnown(self.0.iter().filter(|(register, _)| wanted(*register)).cloned().collect())
    }

    /// Adds what registers may be besides, by a function that joins values; says whether anything is new.
    /// What is not listed in the other is not known any more.
    pub fn absorb(&mut self, other: &CBehind<'_>, join: impl Fn(&CValues, &CValues) -> CValues) -> bool {
        let (mut rest, mut new) = (other.known.0.as_slice(), false);
        let written = other.written.as_ref();
        self.0.retain_mut(|(register, values)| {
            let skipped = rest.iter().take_while(|(other, _)| other < register).count();
            rest = &rest[skipped..];
            let listed = rest.first().filter(|(other, _)| other == register);
            let Some((_, others)) = written.filter(|(other, _)| other == register).or(listed) else {
                new = true;
                return false;
            };
            if values != others {
                let joined = join(values, others);
                if joined != *values {
                    *values = joined;
                    new = true;
                }
            }
            true
        });
        new
    }

    /// What both may be, by a function that joins values.
    pub fn joined(&self, other: &CKnown, join: impl Fn(&CValues, &CValues) -> CValues) -> CKnown {
        let (mut found, mut rest) = (Vec::with_capacity(self.0.len()), other.0.as_slice());
        for (register, values) in &self.0 {
            let skipped = rest.iter().take_while(|(other, _)| other < register).count();
            rest = &rest[skipped..];
            if let Some((_, others)) = rest.first().filter(|(other, _)| other == register) {
                found.push((*register, join(values, others)));
            }
        }
        CKnown(found)
    }
}

/// What is known behind a step: what was known before it but for one register, so that nothing is copied for that.
pub struct CBehind<'k> {
    pub known: &'k CKnown,
    pub written: Option<(RegId, CValues)>,
}

impl<'k> CBehind<'k> {
    pub fn same(known: &'k CKnown) -> CBehind<'k> {
        CBehind { known, written: None }
    }

    pub fn with(known: &'k CKnown, register: RegId, values: CValues) -> CBehind<'k> {
        CBehind { known, written: Some((register, values)) }
    }

    /// What is known of some registers.
    pub fn only(&self, wanted: impl Fn(RegId) -> bool) -> CKnown {
        let mut known = self.known.only(&wanted);
        if let Some((register, values)) = self.written.as_ref().filter(|(register, _)| wanted(*register)) {
            known.set(*register, values.clone());
        }
        known
    }
}

/// What is known once a condition holds; `None` if it cannot.
pub fn refine(known: &CKnown, cond: &Cond<RegId>) -> Option<CKnown> {
    // Most conditions are which of its targets a pointer has, and are told before anything is copied.
    if narrowed(known, cond).is_some_and(|(_, left)| left.is_none()) {
        return None;
    }
    let mut refined = known.clone();
    refine_in_place(&mut refined, cond)?;
    Some(refined)
}

/// What is known once a condition holds, written to `behind` unless that is one register; `None` if it cannot.
pub(super) fn refined<'k>(
    known: &'k CKnown,
    cond: &Cond<RegId>,
    behind: &'k mut CKnown,
) -> Option<CBehind<'k>> {
    if let Some((register, left)) = narrowed(known, cond) {
        return (!left.is_none()).then(|| CBehind::with(known, register, left));
    }
    behind.clone_from(known);
    refine_in_place(behind, cond)?;
    Some(CBehind::same(behind))
}

/// The register that a condition compares with a constant, if that is all it says, and the values that it leaves.
fn narrowed(known: &CKnown, cond: &Cond<RegId>) -> Option<(RegId, CValues)> {
    let Cond::Compare(relation, side, Expr::Const(value)) = cond else { return None };
    let (register, shift) = register_and_shift(side)?;
    let bound = small(value)? - shift;
    let before = known.listed(register).unwrap_or(&CValues::ALL);
    let left = match relation {
        Relation::Eq if before.contains(bound) => CValues::only(bound),
        Relation::Eq => CValues::NONE,
        Relation::Ne => before.without(bound),
        Relation::Lt => before.keep(LEAST, bound - 1),
        Relation::Le => before.keep(LEAST, bound),
        Relation::Gt => before.keep(bound + 1, MOST),
        Relation::Ge => before.keep(bound, MOST),
    };
    Some((register, left))
}

pub(super) fn refine_in_place(known: &mut CKnown, cond: &Cond<RegId>) -> Option<()> {
    if let Some((register, left)) = narrowed(known, cond) {
        return (!left.is_none()).then(|| known.set(register, left));
    }
    match cond {
        Cond::Const(value) => value.then_some(()),
        Cond::And(parts) => {
            if let Some((register, values)) = excluded(parts) {
                let left = known.get(register).without_all(&values);
                let possible = !left.is_none();
                known.set(register, left);
                return possible.then_some(());
            }
            parts.iter().try_for_each(|part| refine_in_place(known, part))
        }
        Cond::Or(parts) => {
            let branches = parts.iter().filter_map(|part| refine(known, part));
            *known = branches.reduce(|a, b| a.joined(&b, CValues::join))?;
            Some(())
        }
        Cond::Compare(relation, a, b) => {
            let value = |expr: &Expr<RegId>| CValues::of(expr, &|r| known.get(r));
            let (left, right) = (value(a), value(b));
            narrow(known, a, *relation, &right)?;
            narrow(known, b, relation.mirrored(), &left)
        }
    }
}

/// The register and the values, in order, if the conditions say that it is none of these. What is no
/// object that a pointer knows says so of all that are.
fn excluded(parts: &[Cond<RegId>]) -> Option<(RegId, Vec<i128>)> {
    let unlike = |part: &Cond<RegId>| match part {
        Cond::Compare(Relation::Ne, side, Expr::Const(value)) => {
            let (register, shift) = register_and_shift(side)?;
            Some((register, small(value)? - shift))
        }
        _ => None,
    };
    let (register, _) = unlike(parts.first()?)?;
    let same = |part| unlike(part).filter(|(other, _)| *other == register).map(|(_, value)| value);
    let mut values = parts.iter().map(same).collect::<Option<Vec<i128>>>()?;
    values.sort_unstable();
    Some((register, values))
}

/// Narrows a register that is compared, perhaps with a constant added; `None` if no value is left.
fn narrow(known: &mut CKnown, side: &Expr<RegId>, relation: Relation, other: &CValues) -> Option<()> {
    let (low, high) = other.bounds()?;
    if let Expr::Const(value) = side {
        let value = small(value);
        let possible = |value: i128| match relation {
            Relation::Eq => other.contains(value),
            Relation::Ne => other.single() != Some(value),
            Relation::Lt => value < high,
            Relation::Le => value <= high,
            Relation::Gt => value > low,
            Relation::Ge => value >= low,
        };
        return value.is_none_or(possible).then_some(());
    }
    let Some((register, shift)) = register_and_shift(side) else { return Some(()) };
    let before = known.get(register);
    let less =
        |value: i128| if value == LEAST || value == MOST { value } else { value.saturating_sub(shift) };
    let (low, high) = (less(low), less(high));
    let after = match relation {
        Relation::Eq => match other.as_list() {
            Some(list) if shift == 0 => other.filtered(list, |value| before.contains(value)),
            _ => before.keep(low, high),
        },
        Relation::Ne => match other.single() {
            Some(value) => before.without(less(value)),
            None => before.clone(),
        },
        Relation::Lt => before.keep(LEAST, if high == MOST { MOST } else { high.saturating_sub(1) }),
        Relation::Le => before.keep(LEAST, high),
        Relation::Gt => before.keep(if low == LEAST { LEAST } else { low.saturating_add(1) }, MOST),
        Relation::Ge => before.keep(low, MOST),
    };
    let possible = !after.is_none();
    known.set(register, after);
    possible.then_some(())
}

/// The register that an expression is, and what is added to it.
pub(super) fn register_and_shift(expr: &Expr<RegId>) -> Option<(RegId, i128)> {
    match expr {
        Expr::Leaf(register) => Some((*register, 0)),
        Expr::Binary(op @ (Arith::Add | Arith::Sub), a, b) => match (&**a, &**b) {
            (Expr::Leaf(register), Expr::Const(by)) => {
                let by = small(by)?;
                Some((*register, if *op == Arith::Add { by } else { -by }))
            }
            (Expr::Const(by), Expr::Leaf(register)) if *op == Arith::Add => Some((*register, small(by)?)),
            _ => None,
        },
        _ => None,
    }
}

fn small(value: &Int) -> Option<i128> {
    i128::try_from(value).ok().filter(|value| value.unsigned_abs() < 1 << 100)
}
