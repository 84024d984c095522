//! The lines of proofs that go backwards, in text: one word per thread, then one per demand.
//!
//! A thread is `-` or `LOCATION` or `LOCATION:VALUE,VALUE…` (its live registers). Behind them `m0=1` is a
//! variable in memory, `h0` nobody inside an atomic section and `h1` the first thread, `q0.1=2,3` the
//! first thread's queue for the second variable (`q0.1=` an empty one), and `v0=g0=1/o1=2` what the first
//! thread finds: a glimpse of memory (`g`, several facts joined by `+`), then its own store (`o`).

use super::{Record, bad, parsed};

type DemandedFacts = Vec<(usize, i64)>;

fn joined<T>(items: &[T], between: &str, text: impl Fn(&T) -> String) -> String {
    items.iter().map(text).collect::<Vec<_>>().join(between)
}

/// The line of a record.
pub(super) fn words(record: &Record) -> String {
    let Record::Demand { states, memory, holder, queues, views } = record else { return String::new() };
    let number = |n: &i64| n.to_string();
    let mut line = String::from("demand");
    for state in states {
        line.push_str(&match state {
            None => " -".to_string(),
            Some((loc, registers)) if registers.is_empty() => format!(" {loc}"),
            Some((loc, registers)) => format!(" {loc}:{}", joined(registers, ",", number)),
        });
    }
    memory.iter().for_each(|(variable, value)| line.push_str(&format!(" m{variable}={value}")));
    holder.iter().for_each(|holder| line.push_str(&format!(" h{holder}")));
    for (thread, variable, stores) in queues {
        line.push_str(&format!(" q{thread}.{variable}={}", joined(stores, ",", number)));
    }
    for (thread, letters) in views {
        let fact = |(variable, value): &(usize, i64)| format!("{variable}={value}");
        let letter = |(own, facts): &(bool, DemandedFacts)| {
            format!("{}{}", if *own { "o" } else { "g" }, joined(facts, "+", fact))
        };
        line.push_str(&format!(" v{thread}={}", joined(letters, "/", letter)));
    }
    line
}

/// Reads a line of this kind.
pub(super) fn read<'a>(words: &mut impl Iterator<Item = &'a str>) -> Result<Record, String> {
    let (mut states, mut memory, mut holder) = (Vec::new(), Vec::new(), None);
    let (mut queues, mut views) = (Vec::new(), Vec::new());
    for word in words {
        let rest = word.get(1..).unwrap_or_default();
        match word.as_bytes().first() {
            Some(b'-') if word == "-" => states.push(None),
            Some(b'm') => memory.push(fact(rest)?),
            Some(b'h') => holder = Some(parsed(rest)?),
            Some(b'q') => {
                let (name, stores) = rest.split_once('=').ok_or_else(|| bad(word))?;
                let (thread, variable) = name.split_once('.').ok_or_else(|| bad(word))?;
                queues.push((parsed(thread)?, parsed(variable)?, list(stores)?));
            }
            Some(b'v') => {
                let (thread, letters) = rest.split_once('=').ok_or_else(|| bad(word))?;
                let letters = letters.split('/').map(letter).collect::<Result<_, _>>()?;
                views.push((parsed(thread)?, letters));
            }
            _ => {
                let (loc, registers) = word.split_once(':').unwrap_or((word, ""));
                states.push(Some((parsed(loc)?, list(registers)?)));
            }
        }
    }
    Ok(Record::Demand { states, memory, holder, queues, views })
}

fn letter(text: &str) -> Result<(bool, DemandedFacts), String> {
    let facts = text.get(1..).unwrap_or_default();
    let facts = facts.split('+').filter(|fact| !fact.is_empty()).map(fact).collect::<Result<_, _>>()?;
    match text.as_bytes().first() {
        Some(b'o') => Ok((true, facts)),
        Some(b'g') => Ok((false, facts)),
        _ => Err(bad(text)),
    }
}

fn fact(text: &str) -> Result<(usize, i64), String> {
    let (variable, value) = text.split_once('=').ok_or_else(|| bad(text))?;
    Ok((parsed(variable)?, parsed(value)?))
}

fn list(text: &str) -> Result<Vec<i64>, String> {
    text.split(',').filter(|word| !word.is_empty()).map(parsed).collect()
}
