//! Facts, and how they become sentences.

use std::collections::HashSet;

/// What a name stands for; only names of the same kind share a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum SlotKind {
    Variable,
    Register,
    Buffered,
}

/// What is true of a name, with a verb for one subject and for several.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Predicate {
    pub(super) one: String,
    pub(super) several: String,
}

impl Predicate {
    /// `is …`, `are …`
    pub(super) fn is(what: impl std::fmt::Display) -> Predicate {
        Predicate { one: format!("is {what}"), several: format!("are {what}") }
    }

    /// `is at least …`
    pub(super) fn at_least(bound: impl std::fmt::Display) -> Predicate {
        Predicate::is(format_args!("at least {bound}"))
    }

    /// `is at most …`
    pub(super) fn at_most(bound: impl std::fmt::Display) -> Predicate {
        Predicate::is(format_args!("at most {bound}"))
    }

    /// `lies between … and …`
    pub(super) fn between(low: impl std::fmt::Display, high: impl std::fmt::Display) -> Predicate {
        let range = format!("between {low} and {high}");
        Predicate { one: format!("lies {range}"), several: format!("lie {range}") }
    }
}

/// Something that is true.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Fact {
    /// Of a name.
    Of(SlotKind, String, Predicate),
    /// Of something else, as a sentence.
    That(String),
}

/// What is true at a place, in sentences.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    /// Everything.
    pub(super) all: Vec<String>,
    /// What is not true everywhere.
    pub(super) besides: Vec<String>,
}

impl Place {
    pub(super) fn new(facts: &[Fact], everywhere: &HashSet<Fact>) -> Place {
        let besides: Vec<Fact> = facts.iter().filter(|fact| !everywhere.contains(fact)).cloned().collect();
        Place { all: sentences(facts), besides: sentences(&besides) }
    }
}

/// The sentences of facts. Names of which the same is true share one, where the first stands.
pub(super) fn sentences(facts: &[Fact]) -> Vec<String> {
    let mut said = HashSet::new();
    let mut sentences = Vec::new();
    for fact in facts {
        match fact {
            Fact::That(sentence) => sentences.push(sentence.clone()),
            Fact::Of(kind, _, predicate) if said.insert((kind, predicate)) => {
                let same = |fact: &Fact| match fact {
                    Fact::Of(k, name, p) if k == kind && p == predicate => Some(name.clone()),
                    _ => None,
                };
                let names: Vec<String> = facts.iter().filter_map(same).collect();
                let verb = if names.len() > 1 { &predicate.several } else { &predicate.one };
                sentences.push(format!("{} {verb}", listed(&names, "and")));
            }
            Fact::Of(..) => {}
        }
    }
    sentences
}

/// `a, b or c`
pub(super) fn listed(words: &[String], last: &str) -> String {
    match words {
        [] => String::new(),
        [only] => only.clone(),
        [most @ .., end] => format!("{} {last} {end}", most.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_which_the_same_is_true_share_a_sentence() {
        let of = |kind, name: &str, value: i64| Fact::Of(kind, name.to_string(), Predicate::is(value));
        let facts = [
            of(SlotKind::Variable, "x", 1),
            of(SlotKind::Variable, "y", 2),
            of(SlotKind::Variable, "z", 1),
            of(SlotKind::Register, "r", 1),
            Fact::That("a < b".to_string()),
        ];
        assert_eq!(sentences(&facts), ["x and z are 1", "y is 2", "r is 1", "a < b"]);
        let place = Place::new(&facts, &HashSet::from([facts[2].clone(), facts[4].clone()]));
        assert_eq!(place.besides, ["x is 1", "y is 2", "r is 1"]);
    }
}
