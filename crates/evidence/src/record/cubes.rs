//! The lines of proofs by cubes, in text.

use super::{Record, bad, list, number, numbers, option, optional, word};

/// Stands between kept and forgotten stores.
const FORGOTTEN: &str = ":";

/// The line of a record.
pub(super) fn words(record: &Record) -> String {
    match record {
        Record::Recall { k, keep, forgotten } => format!("recall {k} {keep} {forgotten}"),
        Record::Predicate { relation, constant, terms } => {
            let terms = terms.iter().map(|(factor, slot)| format!(" {factor} {slot}"));
            format!("predicate {relation} {constant}{}", terms.collect::<String>())
        }
        Record::Shape { thread, location, kept, forgotten } => {
            let mut line = format!("shape {thread} {location}");
            kept.iter().for_each(|entry| line.push_str(&format!(" {}", option(entry))));
            if !forgotten.is_empty() {
                line.push_str(&format!(" {FORGOTTEN}"));
            }
            for (variable, several) in forgotten {
                line.push_str(&format!(" {variable}{}", if *several { "+" } else { "" }));
            }
            line
        }
        Record::Control { holder, shapes } => format!("control {}{}", option(holder), list(shapes)),
        Record::Cube { control, holds, fails } => {
            let fails = fails.iter().map(|p| format!(" !{p}"));
            format!("cube {control}{}{}", list(holds), fails.collect::<String>())
        }
        _ => String::new(),
    }
}

/// Reads a line of this kind.
pub(super) fn read<'a>(kind: &str, words: &mut impl Iterator<Item = &'a str>) -> Result<Record, String> {
    match kind {
        "recall" => Ok(Record::Recall {
            k: number(words)?,
            keep: word(words)?.to_string(),
            forgotten: word(words)?.to_string(),
        }),
        "predicate" => {
            let (relation, constant) = (word(words)?.to_string(), word(words)?.to_string());
            let mut terms = Vec::new();
            while let Some(factor) = words.next() {
                terms.push((factor.to_string(), word(words)?.to_string()));
            }
            Ok(Record::Predicate { relation, constant, terms })
        }
        "shape" => {
            let (thread, location) = (number(words)?, number(words)?);
            let kept = words.by_ref().take_while(|w| *w != FORGOTTEN).map(optional);
            let kept = kept.collect::<Result<_, _>>()?;
            let forgotten = words.map(forgotten).collect::<Result<_, _>>()?;
            Ok(Record::Shape { thread, location, kept, forgotten })
        }
        "control" => Ok(Record::Control { holder: optional(word(words)?)?, shapes: numbers(words)? }),
        _ => {
            let control = number(words)?;
            let (mut holds, mut fails) = (Vec::new(), Vec::new());
            for word in words {
                let (list, digits) = match word.strip_prefix('!') {
                    Some(digits) => (&mut fails, digits),
                    None => (&mut holds, word),
                };
                list.push(digits.parse().map_err(|_| bad(word))?);
            }
            Ok(Record::Cube { control, holds, fails })
        }
    }
}

/// A variable, with `+` if there may be several stores to it.
fn forgotten(word: &str) -> Result<(usize, bool), String> {
    let digits = word.strip_suffix('+');
    let variable = digits.unwrap_or(word).parse().map_err(|_| bad(word))?;
    Ok((variable, digits.is_some()))
}
