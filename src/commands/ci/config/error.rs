//! What is wrong with a `fencewright.toml`, with its place and a suggestion.

use frontend::Diagnostic;
use program::Span;
use toml::Spanned;

/// An error of the reader.
pub fn diagnostic(error: &toml::de::Error) -> Diagnostic {
    let span = error.span().map_or(Span::NONE, |range| Span::new(range.start, range.end));
    let message = error.message().trim();
    let mut quoted = message.split('`').skip(1).step_by(2);
    for (start, thing) in [("unknown field", "key"), ("unknown variant", "value")] {
        if message.starts_with(start)
            && let Some(unknown) = quoted.next()
        {
            let known: Vec<&str> = quoted.collect();
            return Diagnostic::error(span, format!("there is no {thing} `{unknown}` here"))
                .hint(suggestion(unknown, &known));
        }
    }
    if message.contains("recursion") {
        return Diagnostic::error(span, "values are nested too deeply here");
    }
    if let Some(field) = message.strip_prefix("missing field ") {
        return Diagnostic::error(span, format!("{field} is missing here"));
    }
    Diagnostic::error(span, message.lines().next().unwrap_or_default())
}

/// A name that is none of these.
pub fn unknown_name(thing: &str, name: &Spanned<String>, known: &[&str]) -> Diagnostic {
    let span = Span::new(name.span().start, name.span().end);
    Diagnostic::error(span, format!("there is no {thing} `{}`", name.get_ref()))
        .hint(suggestion(name.get_ref(), known))
}

/// The nearest of the known names, or all of them.
fn suggestion(unknown: &str, known: &[&str]) -> String {
    let near = known.iter().map(|name| (distance(unknown, name), *name)).min();
    match near {
        Some((distance, name)) if distance <= 1 + name.len() / 4 => format!("did you mean `{name}`?"),
        _ => format!("there are {}", known.join(", ")),
    }
}

/// How many letters to change, add, leave out or swap with their neighbour, roughly. Long
/// words are unlike everything: nobody mistypes those, and comparing them takes time.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().take(40).collect(), b.chars().take(40).collect());
    let mut rows = vec![(0..=b.len()).collect::<Vec<usize>>()];
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let change = rows[i][j] + usize::from(x != y);
            let mut best = change.min(rows[i][j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i - 1] == *y && *x == b[j - 1] {
                best = best.min(rows[i - 1][j - 1] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_suggested() {
        let known = ["models", "engine", "timeout", "file"];
        for (unknown, expected) in [
            ("modles", "did you mean `models`?"),
            ("model", "did you mean `models`?"),
            ("fiel", "did you mean `file`?"),
            ("colour", "there are models, engine, timeout, file"),
        ] {
            assert_eq!(suggestion(unknown, &known), expected);
        }
        assert_eq!(suggestion("x", &[]), "there are ");
        assert_eq!(distance(&"x".repeat(100_000), "y"), 40);
    }
}
