//! Why there is no answer must be said of the program that was asked about: of its lines and what
//! stands on them, not of a program that an engine made from it. Judged as users see it, by the
//! sentence.

use evidence::Reason;
use program::Program;

/// Whether an unknown has reasons, and all of them fit the program.
pub fn check(program: &Program, reasons: &[Reason]) -> Result<(), String> {
    if reasons.is_empty() {
        return Err("unknown without a reason".to_string());
    }
    let mut sentences = reasons.iter().map(|reason| reason.text(program));
    sentences.try_for_each(|sentence| fits(program.source.text(), &sentence))
}

fn fits(text: &str, sentence: &str) -> Result<(), String> {
    let wrong = |why: &str| Err(format!("{why}: {sentence}"));
    let quoted = quoted(sentence);
    if let Some(number) = line_number(sentence) {
        let Some(line) = text.lines().nth(number - 1) else {
            return wrong("a line that does not exist");
        };
        if !quoted.is_some_and(|statement| begins_on(line, statement)) {
            return wrong("something that does not stand on this line");
        }
    }
    let chooses = |text: &str| text.split(|sign: char| !sign.is_alphanumeric()).any(|word| word == "any");
    let of_choice = sentence.contains("`any`");
    if of_choice && !quoted.map_or(chooses(text), chooses) {
        return wrong("a choice where nothing is chosen");
    }
    let computes = |text: &str| text.contains(['+', '-', '*', '/', '%', '(']) || has_huge_number(text);
    if sentence.contains("64-bit") && !quoted.map_or(computes(text), computes) {
        return wrong("an overflow where nothing is computed");
    }
    Ok(())
}

/// The line that a sentence names.
fn line_number(sentence: &str) -> Option<usize> {
    let (_, rest) = sentence.split_once("line ")?;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok().filter(|number| *number > 0)
}

/// The statement that a sentence quotes; the word `any` is none.
fn quoted(sentence: &str) -> Option<&str> {
    sentence.split('`').skip(1).step_by(2).find(|statement| *statement != "any")
}

/// Whether a statement, perhaps of several lines, starts on this one.
fn begins_on(line: &str, statement: &str) -> bool {
    let folded = line.split_whitespace().collect::<Vec<_>>().join(" ");
    let starts = folded.char_indices().map(|(at, _)| &folded[at..]);
    !statement.is_empty()
        && starts.into_iter().any(|rest| rest.starts_with(statement) || statement.starts_with(rest))
}

fn has_huge_number(text: &str) -> bool {
    text.split(|sign: char| !sign.is_ascii_digit()).any(|number| number.len() > 18)
}
