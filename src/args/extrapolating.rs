//! What `extrapolate` carries over from a proof under SC.

use clap::{Args, ValueEnum};
use engine::Extrapolation;

/// What is carried over first.
#[derive(Debug, Args)]
pub struct Extrapolating {
    /// extrapolate: what to carry over from the proof under SC before trying more
    #[arg(long, value_name = "WHAT", default_value = "cubes")]
    pub extrapolate: CarriedOver,
}

/// What is carried over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CarriedOver {
    /// Predicates, and the conjunctions of them that the proof used
    Cubes,
    /// Predicates only: more questions, and more precise
    Predicates,
}

impl From<CarriedOver> for Extrapolation {
    fn from(what: CarriedOver) -> Extrapolation {
        match what {
            CarriedOver::Cubes => Extrapolation::Cubes,
            CarriedOver::Predicates => Extrapolation::Predicates,
        }
    }
}
