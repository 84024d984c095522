//! What `extrapolate` carries over from a proof under SC.

use super::values::{Choices, word};
use clap::Args;
use engine::Extrapolation;

/// What is carried over first.
#[derive(Debug, Args)]
pub struct Extrapolating {
    /// extrapolate: what to carry over from the proof under SC before trying more
    #[arg(long, value_name = "WHAT", default_value = "cubes", value_parser = word(CARRIED_OVER))]
    pub extrapolate: Extrapolation,
}

/// What is carried over.
const CARRIED_OVER: Choices<Extrapolation> = &[
    ("cubes", "Predicates, and the conjunctions of them that the proof used", Extrapolation::Cubes),
    ("predicates", "Predicates only: more questions, and more precise", Extrapolation::Predicates),
];
