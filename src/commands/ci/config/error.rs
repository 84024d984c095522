//! What is wrong with a `fencewright.toml`, with its place and a suggestion.

use frontend::{Diagnostic, did_you_mean};
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
    let near = did_you_mean(unknown, known.iter().copied());
    near.unwrap_or_else(|| format!("there are {}", known.join(", ")))
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
    }
}
