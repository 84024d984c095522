//! Verdicts with their evidence, and the checker.
//!
//! An engine answers a [`Task`] with a [`Verdict`] that carries its evidence inside: a
//! [`machine::Trace`] or a [`Certificate`]. [`check`] re-does the evidence without the engine
//! and gives a [`Checked`] verdict; reports accept only those. Evidence can be written to a
//! file ([`write_evidence`]) and checked from there by anyone ([`check_file`]), in bounded
//! memory.

mod cause;
mod certificate;
mod check;
mod file;
mod happens_before;
mod obligations;
mod outcomes;
mod record;
mod robust;
mod smtlib;
mod verdict;
mod witness;

pub use cause::{Cause, cause};
pub use certificate::{Certificate, ClosedSet};
pub use check::{Checked, Rejected, check};
pub use file::{
    Claim, FileError, Form, Opener, check_file, fingerprint, read_certificate, write_evidence, write_robust,
    write_witness,
};
pub use happens_before::{HappensBefore, Link};
pub use outcomes::{CheckedOutcomes, FinalState, Observation, Outcomes, check_outcomes};
pub use robust::{CheckedRobust, RobustProof, carries_over, check_robust};
pub use smtlib::write_smtlib;
pub use verdict::{Ignore, Monitor, MostStates, Progress, Reason, Statistics, Stop, Task, Verdict};
pub use witness::{CheckedWitness, Witness, WitnessRejected, check_witness};
