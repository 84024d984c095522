//! The examples of the language reference are programs.

use crate::common::{check_round_trip, read, rendered};

const REFERENCE: &str = include_str!("../../docs/language.md");

/// The blocks of code marked with this word.
fn examples(mark: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut inside = false;
    for line in REFERENCE.lines() {
        match line.strip_prefix("```") {
            Some(word) if !inside && word == mark => {
                blocks.push(String::new());
                inside = true;
            }
            Some(_) => inside = false,
            None if inside => {
                blocks.iter_mut().last().into_iter().for_each(|block| *block += &format!("{line}\n"))
            }
            None => {}
        }
    }
    blocks
}

fn check(text: &str) {
    match read(text) {
        Ok(parsed) => check_round_trip(&parsed.program),
        Err(errors) => panic!("{text}\n{}", rendered(text, &errors)),
    }
}

#[test]
fn examples_are_programs() {
    let programs = examples("fw");
    assert!(programs.len() > 5);
    programs.iter().for_each(|text| check(text));
}

#[test]
fn statements_of_examples_fit_into_a_thread() {
    let bodies = examples("fw-body");
    assert!(bodies.len() > 5);
    for body in bodies {
        check(&format!("shared x, y, a[4];\nthread P {{ let r, s;\n{body} }}"));
    }
}

#[test]
fn reserved_words_are_listed() {
    let start = REFERENCE.find("These words are reserved").expect("the list");
    let list = REFERENCE[start..].split('`').nth(1).expect("the list");
    let words: Vec<&str> = list.split_whitespace().collect();
    assert!(words.iter().all(|word| program::is_keyword(word)), "{words:?}");
    let every_word = REFERENCE.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let missing = every_word.filter(|word| program::is_keyword(word) && !words.contains(word));
    assert_eq!(missing.collect::<Vec<_>>(), [] as [&str; 0]);
}
