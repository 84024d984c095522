//! "Did you mean …?": the closest of some names.

/// Names longer than this are nobody's typing mistake.
const LONGEST: usize = 64;
/// Among more candidates than this, something always looks similar.
const CANDIDATES: usize = 2000;

/// A hint that offers the candidate closest to `word`, if one is close enough.
pub fn did_you_mean<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let limit = match word.len() {
        0..=2 => 1,
        3..=5 => 2,
        _ => 3,
    };
    let candidates: Vec<&str> = candidates.into_iter().take(CANDIDATES + 1).collect();
    if candidates.len() > CANDIDATES {
        return None;
    }
    let scored = candidates.into_iter().filter_map(|candidate| {
        let near = candidate != word && candidate.len() <= LONGEST && word.len() <= LONGEST;
        let distance = if near { distance(word.as_bytes(), candidate.as_bytes()) } else { usize::MAX };
        (distance <= limit && distance < word.len()).then_some((distance, candidate))
    });
    scored.min().map(|(_, best)| format!("did you mean `{best}`?"))
}

/// Edits (insert, delete, replace, swap neighbours) that turn one word into the other.
fn distance(a: &[u8], b: &[u8]) -> usize {
    let mut before = vec![0; b.len() + 1];
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replaced = above[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(above[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
}
