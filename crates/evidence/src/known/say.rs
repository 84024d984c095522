//! Facts, and how they become sentences.

use std::collections::HashSet;

/// What a name stands for; only names of the same kind share a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SlotKind {
    /// A shared variable.
    Variable,
    /// A register.
    Register,
    /// A store in a buffer.
    Buffered,
}

/// What is true of a name, with a verb for one subject and for several.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct VerbPhrase {
    /// With one subject.
    pub one: String,
    /// With several.
    pub several: String,
}

impl VerbPhrase {
    /// `is …`, `are …`
    pub fn is(what: impl std::fmt::Display) -> VerbPhrase {
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
pub enum SaidFact {
    /// Of a name.
    Of(SlotKind, String, VerbPhrase),
    /// Of something else, as a sentence.
    That(String),
}

/// What is true at a place, in sentences.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlaceFacts {
    /// Everything.
    pub all: Vec<String>,
    /// What is not true everywhere.
    pub besides: Vec<String>,
}

impl PlaceFacts {
    /// What is true at a place, and what everywhere.
    pub fn new(facts: &[SaidFact], everywhere: &HashSet<SaidFact>) -> PlaceFacts {
        let besides: Vec<SaidFact> =
            facts.iter().filter(|fact| !everywhere.contains(fact)).cloned().collect();
        PlaceFacts { all: sentences(facts), besides: sentences(&besides) }
    }
}

/// The sentences of facts. Names of which the same is true share one, where the first stands.
pub fn sentences(facts: &[SaidFact]) -> Vec<String> {
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

/// To which variables a thread's buffer holds stores, surely or perhaps.
pub(super) fn buffer_holds(variables: &[String], surely: bool) -> SaidFact {
    SaidFact::That(match (variables.is_empty(), surely) {
        (true, _) => "its buffer is empty".to_string(),
        (false, true) => format!("its buffer holds stores to {}", listed(variables, "or")),
        (false, false) => format!("its buffer may hold stores to {}", listed(variables, "and")),
    })
}

/// `a, b or c`
pub(super) fn listed(words: &[String], last: &str) -> String {
    match words {
        [] => String::new(),
        [only] => only.clone(),
        [most @ .., end] => format!("{} {last} {end}", most.join(", ")),
    }
}
