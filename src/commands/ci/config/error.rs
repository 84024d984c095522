//! What is wrong with a `fencewright.toml`, with its place and a suggestion.

use super::written::WrittenConfig;
use frontend::{Diagnostic, did_you_mean};
use program::Span;
use toml::Spanned;

/// The most errors of the reader that are told at once.
const MOST: usize = 50;

/// The file as it is written, as far as it can be read, and everything that is wrong with it. The reader stops
/// at the first error, so the line of a key or value that nobody knows is left out, and it reads again.
pub fn read(text: &str) -> (Option<WrittenConfig>, Vec<Diagnostic>) {
    let (mut text, mut wrong) = (text.to_string(), Vec::new());
    loop {
        let error = match toml::from_str(&text) {
            Ok(written) => return (Some(written), wrong),
            Err(error) => error,
        };
        // What is missing may be what was misspelled.
        if !error.message().starts_with("missing") || wrong.is_empty() {
            wrong.push(diagnostic(&error));
        }
        let known = error.message().starts_with("unknown") || error.message().starts_with("invalid");
        match error
            .span()
            .filter(|_| known && wrong.len() < MOST)
            .and_then(|span| without_line(&text, span.start))
        {
            Some(shorter) => text = shorter,
            None => return (None, wrong),
        }
    }
}

/// The text with blanks for the line of a byte, so that all else stays where it is; nothing if that is no
/// longer a document, or says nothing less.
fn without_line(text: &str, at: usize) -> Option<String> {
    let start = text.get(..at)?.rfind('\n').map_or(0, |line| line + 1);
    let end = text.get(at..)?.find('\n').map_or(text.len(), |line| at + line);
    let line = text.get(start..end)?;
    if line.trim().is_empty() || line.trim_start().starts_with('[') {
        return None;
    }
    let blanks = " ".repeat(end - start);
    let shorter = format!("{}{blanks}{}", text.get(..start)?, text.get(end..)?);
    shorter.parse::<toml_edit::DocumentMut>().ok().map(|_| shorter)
}

/// An error of the reader.
fn diagnostic(error: &toml::de::Error) -> Diagnostic {
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
