//! How far `context` goes, and what it knows of values.

use clap::{Args, ValueEnum};
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
    #[arg(long, value_name = "WHAT", default_value = "auto")]
    pub data: DataArg,
}

impl Counting {
    /// As the engine wants it.
    pub fn bound(&self) -> ContextBound {
        let data = match self.data {
            DataArg::Auto => ContextData::Auto,
            DataArg::Concrete => ContextData::Concrete,
            DataArg::Order => ContextData::Order,
            DataArg::Predicates => ContextData::Predicates,
        };
        ContextBound { contexts: self.contexts, data }
    }
}

/// What is known of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DataArg {
    /// Their order where they grow without end; where that is too little, predicates; else the values
    Auto,
    /// The values
    Concrete,
    /// Their order, and small gaps where that is too little
    Order,
    /// Predicates that paths to supposed violations show to be needed
    Predicates,
}
