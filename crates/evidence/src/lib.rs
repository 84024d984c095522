//! Verdicts with their evidence, and the checker.
//!
//! A [`Task`] asks whether a program is safe, whether it is robust, or for its final states. An
//! engine answers with a [`Verdict`] that carries its evidence inside: a run or a proof. [`check`] re-does the evidence without the engine
//! and gives a [`Checked`] verdict; reports accept only those. Evidence can be written to a
//! file ([`write_evidence`]) and checked from there by anyone ([`check_file`]), in bounded
//! memory.

mod basis;
mod cause;
mod certificate;
mod check;
mod contexts;
mod crew;
mod cubes;
mod file;
mod happens_before;
mod known;
mod numbers;
mod obligations;
mod offers;
mod outcomes;
mod parallel;
mod record;
mod robust;
mod simplify;
mod smtlib;
mod spill;
pub mod symbolic;
mod task;
mod vacuous;
mod verdict;
mod witness;

pub use basis::BasisFlaw;
pub use cause::{Cause, Missed};
pub use certificate::{
    BasisProof, Certificate, ClosedSet, ClosedSetOf, Controls, ControlsOf, Cube, CubeProof, Listed, Pass,
    PoolProof, ReducedProof, SharedProof, SpilledProof, Stores, Via,
};
pub use check::{Checked, Rejected, Violated, check, check_with};
pub use contexts::{ContextCubes, ContextProof, ContextStates, WithinContexts};
pub use crew::{Alone, Crew, Lost, Posted, Received, Rounds};
pub use cubes::{CubeFlaw, renamed_atom};
pub use file::{Claim, FileError, Form, Opener, check_file, fingerprint, read_certificate, write_evidence};
pub use happens_before::{HappensBefore, Link, Linked, Waiting};
pub use known::{KnownFacts, known, known_within};
pub use numbers::{counted, grouped};
pub use outcomes::{CheckedOutcomes, FinalState, Observation, Outcomes, ReducedSet};
pub use parallel::{STACK, each, each_in_order};
pub use robust::{RobustProof, attacks_of, carries_over};
pub use simplify::{happens_under_sc, simplify};
pub use smtlib::write_smtlib;
pub use spill::{ChunkRead, NotSpilled, Spill, SpillFile, SpilledStates};
pub use task::{Goal, Task};
pub use vacuous::{VacuousClaim, vacuous, without_start};
pub use verdict::{
    Ignore, Monitor, MostStates, Named, Patience, Progress, Reason, Refinements, Statistics, Stop, Verdict,
};
pub use witness::{CheckedWitness, Witness, WitnessRejected};

/// What tests look at and nobody else should.
#[doc(hidden)]
pub mod inside {
    pub use crate::known::comparisons::facts;
    pub use crate::known::facts::{Contents, Exactly, SeenValues, ValueOrder};
    pub use crate::known::say::{PlaceFacts, SaidFact, SlotKind, VerbPhrase, sentences};
    pub use crate::record::Record;
}
