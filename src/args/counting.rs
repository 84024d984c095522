//! How far `context` goes, and what it knows of values.

use super::values::{Choices, word};
use clap::Args;
use engine::{ContextBound, ContextData};
use machine::Contexts;

/// Bounded contexts.
#[derive(Debug, Args)]
pub struct Counting {
    /// context: the most contexts of a run, each of which has one active thread [default: as many as the limits
    /// allow]
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u8).range(1..=i64::from(Contexts::MOST)))]
    pub contexts: Option<u8>,

    /// context: what is known of values
    #[arg(long, value_name = "WHAT", default_value = "auto", value_parser = word(DATA))]
    pub data: ContextData,
}

impl Counting {
    /// As the engine wants it.
    pub fn bound(&self) -> ContextBound {
        ContextBound { contexts: self.contexts, data: self.data }
    }
}

/// What is known of values.
const DATA: Choices<ContextData> = &[
    (
        "auto",
        "Their order where they grow without end; where that is too little, predicates; else the values",
        ContextData::Auto,
    ),
    ("concrete", "The values", ContextData::Concrete),
    ("order", "Their order, and small gaps where that is too little", ContextData::Order),
    ("predicates", "Predicates that paths to supposed violations show to be needed", ContextData::Predicates),
];
