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
pub(super) struct VerbPhrase {
    pub(super) one: String,
    pub(super) several: String,
}

impl VerbPhrase {
    /// `is …`, `are …`
    pub(super) fn is(what: impl std::fmt::Display) -> VerbPhrase {
        VerbPhrase { one: format!("is {what}"), several: format!("are {what}") }
    }

    /// `is at least …`
    pub(super) fn at_least(bound: impl std::fmt::Display) -> VerbPhrase {
        VerbPhrase::is(format_args!("at least {bound}"))
    }

    /// `is at most …`
    pub(super) fn at_most(bound: impl std::fmt::Display) -> VerbPhrase {
        VerbPhrase::is(format_args!("at most {bound}"))
    }

    /// `lies between … and …`
    pub(super) fn between(low: impl std::fmt::Display, high: impl std::fmt::Display) -> VerbPhrase {
        let range = format!("between {low} and {high}");
        VerbPhrase { one: format!("lies {range}"), several: format!("lie {range}") }
    }
}

/// Something that is true.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum SaidFact {
    /// Of a name.
    Of(SlotKind, String, VerbPhrase),
    /// Of something else, as a sentence.
    That(String),
}

/// What is true at a place, in sentences.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PlaceFacts {
    /// Everything.
    pub(super) all: Vec<String>,
    /// What is not true everywhere.
    pub(super) besides: Vec<String>,
}

impl PlaceFacts {
    pub(super) fn new(facts: &[SaidFact], everywhere: &HashSet<SaidFact>) -> PlaceFacts {
        let besides: Vec<SaidFact> =
            facts.iter().filter(|fact| !everywhere.contains(fact)).cloned().collect();
        PlaceFacts { all: sentences(facts), besides: sentences(&besides) }
    }
}

/// The sentences of facts. Names of which the same is true share one, where the first stands.
pub(super) fn sentences(facts: &[SaidFact]) -> Vec<String> {
    let mut said = HashSet::new();
    let mut sentences = Vec::new();
    for fact in facts {
        match fact {
            SaidFact::That(sentence) => sentences.push(sentence.clone()),
            SaidFact::Of(kind, _, predicate) if said.insert((kind, predicate)) => {
                let same = |fact: &SaidFact| match fact {
                    SaidFact::Of(k, name, p) if k == kind && p == predicate => Some(name.clone()),
                    _ => None,
                };
                let names: Vec<String> = facts.iter().filter_map(same).collect();
                let verb = if names.len() > 1 { &predicate.several } else { &predicate.one };
                sentences.push(format!("{} {verb}", listed(&names, "and")));
            }
            SaidFact::Of(..) => {}
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
        let of = |kind, name: &str, value: i64| SaidFact::Of(kind, name.to_string(), VerbPhrase::is(value));
        let facts = [
            of(SlotKind::Variable, "x", 1),
            of(SlotKind::Variable, "y", 2),
            of(SlotKind::Variable, "z", 1),
            of(SlotKind::Register, "r", 1),
            SaidFact::That("a < b".to_string()),
        ];
        assert_eq!(sentences(&facts), ["x and z are 1", "y is 2", "r is 1", "a < b"]);
        let place = PlaceFacts::new(&facts, &HashSet::from([facts[2].clone(), facts[4].clone()]));
        assert_eq!(place.besides, ["x is 1", "y is 2", "r is 1"]);
    }
}
