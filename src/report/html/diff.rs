//! Two texts that are nearly the same, line by line.
//!
//! Where lines differ, the nearest pair of equal lines (fewest lines skipped on both sides
//! together) is where they meet again. That is not always the shortest difference, but fences
//! change few lines and leave the rest as it is.

/// A line of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiffLine<'a> {
    /// In both texts; the numbers it has in them, from 1.
    Same(usize, usize, &'a str),
    /// Only in the old text.
    Gone(usize, &'a str),
    /// Only in the new text.
    New(usize, &'a str),
    /// So many lines of both are left out.
    Skipped(usize),
}

/// Texts that differ in more lines in a row than this are not compared further.
const FAR: usize = 200;

/// What changed, with so many lines around it.
pub fn diff<'a>(old: &'a str, new: &'a str, around: usize) -> Vec<DiffLine<'a>> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let mut changes = Vec::new();
    let (mut a, mut b) = (0, 0);
    while a < old.len() || b < new.len() {
        if a < old.len() && b < new.len() && old[a] == new[b] {
            changes.push(DiffLine::Same(a + 1, b + 1, old[a]));
            (a, b) = (a + 1, b + 1);
            continue;
        }
        let (gone, added) = meeting(&old[a..], &new[b..]);
        changes.extend((a..a + gone).map(|at| DiffLine::Gone(at + 1, old[at])));
        changes.extend((b..b + added).map(|at| DiffLine::New(at + 1, new[at])));
        (a, b) = (a + gone, b + added);
    }
    shortened(&changes, around)
}

/// How many lines to skip on each side until they are equal again.
fn meeting(old: &[&str], new: &[&str]) -> (usize, usize) {
    for together in 1..=FAR {
        for gone in 0..=together {
            let added = together - gone;
            if gone < old.len() && added < new.len() && old[gone] == new[added] {
                return (gone, added);
            }
        }
    }
    (old.len(), new.len())
}

/// Leaves out lines far from any change.
fn shortened<'a>(changes: &[DiffLine<'a>], around: usize) -> Vec<DiffLine<'a>> {
    let is_same = |change: &DiffLine<'_>| matches!(change, DiffLine::Same(..));
    let mut near = vec![false; changes.len()];
    for (at, _) in changes.iter().enumerate().filter(|(_, change)| !is_same(change)) {
        let end = (at + around + 1).min(changes.len());
        near[at.saturating_sub(around)..end].fill(true);
    }
    let mut out = Vec::new();
    for (change, near) in changes.iter().zip(near) {
        match (near, out.last_mut()) {
            (true, _) => out.push(*change),
            (false, Some(DiffLine::Skipped(count))) => *count += 1,
            (false, _) => out.push(DiffLine::Skipped(1)),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(old: &str, new: &str, expected: &str) {
        let line = |change: &DiffLine<'_>| match change {
            DiffLine::Same(_, _, text) => format!(" {text}"),
            DiffLine::Gone(_, text) => format!("-{text}"),
            DiffLine::New(_, text) => format!("+{text}"),
            DiffLine::Skipped(count) => format!("@{count}"),
        };
        let shown: Vec<String> = diff(old, new, 1).iter().map(line).collect();
        assert_eq!(shown.join("\n"), expected);
    }

    #[test]
    fn inserted_and_changed_lines_are_found_and_far_ones_left_out() {
        check("a\nb\nc\nd\ne", "a\nb\nb2\nc\nd\ne", "@1\n b\n+b2\n c\n@2");
        check("a\nb\nc", "a\nB\nc", " a\n-b\n+B\n c");
        check("a", "a\nb", " a\n+b");
        check("", "x", "+x");
        check("x\ny", "x\ny", "@2");
    }
}
