//! Making the text of a failing program short, whatever it was made by.

/// The shortest text that taking lines away leads to for which `fails` still says yes. Expects a
/// statement or brace a line. Texts that no longer mean anything are for `fails` to turn down.
pub fn shrink(text: &str, fails: &mut dyn FnMut(&str) -> bool) -> String {
    let mut lines: Vec<String> = text.lines().map(|line| line.trim().to_string()).collect();
    lines.retain(|line| !line.is_empty());
    while let Some(shorter) = shorter(&lines).into_iter().find(|lines| fails(&joined(lines))) {
        lines = shorter;
    }
    joined(&lines)
}

fn joined(lines: &[String]) -> String {
    lines.join("\n") + "\n"
}

/// Without one statement, or with a block replaced by what stands in it; the longest gaps first.
fn shorter(lines: &[String]) -> Vec<Vec<String>> {
    let mut gaps = Vec::new();
    for first in 0..lines.len() {
        let Some(last) = end_of(lines, first) else { continue };
        gaps.push((first..=last).collect::<Vec<usize>>());
        if first < last {
            gaps.push(vec![first, last]);
        }
    }
    gaps.sort_by_key(|gap| std::cmp::Reverse(gap.len()));
    let without = |gap: &Vec<usize>| {
        let kept = lines.iter().enumerate().filter(|(at, _)| !gap.contains(at));
        kept.map(|(_, line)| line.clone()).collect()
    };
    gaps.iter().map(without).collect()
}

/// The line where what starts on this one ends.
fn end_of(lines: &[String], first: usize) -> Option<usize> {
    let mut depth = 0;
    for (at, line) in lines.iter().enumerate().skip(first) {
        depth += line.matches('{').count() as i64 - line.matches('}').count() as i64;
        if depth < 0 {
            return None;
        }
        let goes_on =
            lines.get(at + 1).is_some_and(|next| next.starts_with("else") || next.starts_with("or "));
        if depth == 0 && !goes_on {
            return Some(at);
        }
    }
    None
}
