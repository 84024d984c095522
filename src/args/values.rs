//! The values of options: names from registries, and texts that are read or refused with a reason.

use crate::report::REPORTS;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use engine::{Costs, ENGINES, FencePlace, FencePrice, Reduction};
use frontend::{FRONTENDS, Frontend};
use machine::MODELS;
use program::Int;
use std::time::Duration;

/// Names, each with what help says of it.
fn names(all: impl IntoIterator<Item = (&'static str, &'static str)>) -> PossibleValuesParser {
    PossibleValuesParser::new(all.into_iter().map(|(name, about)| PossibleValue::new(name).help(about)))
}

/// The names of memory models, perhaps with `all`.
pub fn models(all: bool) -> PossibleValuesParser {
    let all = all.then_some(("all", "each of them, one after the other"));
    names(MODELS.iter().map(|model| (model.name(), model.about())).chain(all))
}

/// The names of engines.
pub fn engines() -> PossibleValuesParser {
    names(ENGINES.iter().map(|engine| (engine.name(), engine.about())))
}

/// The names of reductions.
pub fn reductions() -> PossibleValuesParser {
    names(Reduction::ALL.iter().map(|(_, name, about)| (*name, *about)))
}

/// The names of input languages.
pub fn formats() -> PossibleValuesParser {
    names(FRONTENDS.iter().map(|frontend| (frontend.name, frontend.about)))
}

/// The names of languages that can be written, and others.
pub fn languages(others: &'static [(&'static str, &'static str)]) -> PossibleValuesParser {
    let written = |frontend: &Frontend| Some((frontend.name, frontend.write.as_ref()?.about));
    names(FRONTENDS.iter().filter_map(written).chain(others.iter().copied()))
}

/// The names of report formats.
pub fn reports() -> PossibleValuesParser {
    names(REPORTS.iter().map(|report| (report.name, report.about)))
}

/// Words to choose from: what each is called, what help says of it, and what it means.
pub type Choices<T> = &'static [(&'static str, &'static str, T)];

/// One of these words.
pub fn word<T: Clone + Send + Sync + 'static>(words: Choices<T>) -> impl TypedValueParser<Value = T> {
    names(words.iter().map(|(word, about, _)| (*word, *about))).try_map(move |chosen| {
        let found = words.iter().find(|(word, ..)| *word == chosen);
        found.map(|(.., meaning)| meaning.clone()).ok_or("there is no such word")
    })
}

/// A number that is not 0.
pub fn positive() -> impl TypedValueParser<Value = usize> {
    clap::value_parser!(u32).range(1..).map(|n| n as usize)
}

/// A time in seconds.
pub fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number of seconds".to_string())?;
    Duration::try_from_secs_f64(seconds).map_err(|_| "not a time that can pass".to_string())
}

/// Longer numbers are a mistake, and reading them takes time.
const MAX_DIGITS: usize = 4096;

/// A macro of C: `NAME=VALUE`, or `NAME` for 1.
pub fn macro_definition(text: &str) -> (String, String) {
    let (name, value) = text.split_once('=').unwrap_or((text, "1"));
    (name.trim().to_string(), value.trim().to_string())
}

/// `NAME=VALUE`
pub fn definition(text: &str) -> Result<(String, Int), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE, as in -D N=3")?;
    let (name, value) = (name.trim(), value.trim());
    if name.is_empty() {
        return Err("expected a name before `=`, as in -D N=3".to_string());
    }
    if value.len() > MAX_DIGITS {
        return Err(format!("the value has more than {MAX_DIGITS} digits"));
    }
    let value = value.parse().map_err(|_| format!("`{value}` is not an integer"))?;
    Ok((name.to_string(), value))
}

/// Dearer fences, or loops that weigh more, would not change which are cheapest.
const MAX_COST: u64 = 1_000_000;

/// `full=3,store=1,swap=5,loop=10`, in any order, or only some of them.
pub fn costs(text: &str) -> Result<Costs, String> {
    let mut costs = Costs::default();
    let mut seen = Vec::new();
    for part in text.split(',').map(str::trim).filter(|_| !text.trim().is_empty()) {
        let (kind, value) = part.split_once('=').ok_or("expected KIND=COST, as in full=3,store=1")?;
        let (kind, value) = (kind.trim(), value.trim());
        let known: Option<u64> = value.parse().ok().filter(|cost| (1..=MAX_COST).contains(cost));
        let cost = known.ok_or_else(|| format!("`{value}` is not a cost from 1 to {MAX_COST}"))?;
        match kind {
            _ if seen.contains(&kind) => return Err(format!("`{kind}` is given twice")),
            "full" => costs.full = cost,
            "store" => costs.store = cost,
            "swap" => costs.exchange = Some(cost),
            "loop" => costs.in_loop = cost,
            _ => return Err(format!("`{kind}` has no cost; there are full, store, swap and loop")),
        }
        seen.push(kind);
    }
    Ok(costs)
}

/// `reader=never`, `P=10` or `12=3`: what fences cost in a thread or at a line.
pub fn price(text: &str) -> Result<FencePrice, String> {
    let (place, factor) = text.split_once('=').ok_or("expected WHERE=TIMES, as in reader=never or P=10")?;
    let (place, factor) = (place.trim(), factor.trim());
    let factor = match factor.parse::<u64>().ok().filter(|factor| (1..=MAX_COST).contains(factor)) {
        None if factor == "never" => None,
        None => return Err(format!("`{factor}` is neither `never` nor a number from 1 to {MAX_COST}")),
        known => known,
    };
    let place = match place.parse::<usize>() {
        Ok(line) if line > 0 => FencePlace::Line(line),
        _ if place.starts_with(|c: char| c.is_alphabetic() || c == '_') => {
            FencePlace::Thread(place.to_string())
        }
        _ => return Err(format!("`{place}` is neither a thread nor a line")),
    };
    Ok(FencePrice { place, factor })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_read_or_refused_with_a_reason() {
        let read = costs("full=10, swap=4,loop=2").expect("right");
        assert_eq!((read.full, read.store, read.exchange, read.in_loop), (10, 1, Some(4), 2));
        assert_eq!(costs("").expect("right").exchange, None);
        for wrong in
            ["full", "full=", "full=0", "full=-1", "full=x", "full=1,full=2", "fence=1", "full=1,", ","]
        {
            assert!(costs(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn prices_are_read_or_refused_with_a_reason() {
        let thread = |name: &str, factor| FencePrice { place: FencePlace::Thread(name.to_string()), factor };
        assert_eq!(price("reader=never"), Ok(thread("reader", None)));
        assert_eq!(price(" P = 10"), Ok(thread("P", Some(10))));
        assert_eq!(price("12=3"), Ok(FencePrice { place: FencePlace::Line(12), factor: Some(3) }));
        for wrong in ["reader", "=3", "0=3", "P=0", "P=-1", "P=", "-3=2", "P=often"] {
            assert!(price(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn values_are_read_or_refused_with_a_reason() {
        assert_eq!(definition("N=3"), Ok(("N".to_string(), Int::from(3))));
        assert_eq!(definition("N = -3"), Ok(("N".to_string(), Int::from(-3))));
        for wrong in ["N", "=3", "N=x", "N=", "N=1.5"] {
            assert!(definition(wrong).is_err(), "{wrong}");
        }
        assert!(definition(&format!("N={}", "9".repeat(5000))).is_err());
        assert_eq!(seconds("1.5"), Ok(Duration::from_millis(1500)));
        for wrong in ["-1", "nan", "inf", "x", "1e300"] {
            assert!(seconds(wrong).is_err(), "{wrong}");
        }
    }
}
