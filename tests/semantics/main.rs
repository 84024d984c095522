//! What programs mean: the machines against the reference interpreter and against each other.

mod agreement;
mod claimed_buffers;
mod contexts;
mod drain_first;
mod flatten;
mod forgetful;
mod forgetting;
mod gaps;
mod generator;
mod litmus;
mod litmus_random;
mod local_first;
mod membarrier;
mod mutants;
mod persistent;
mod reductions;
mod reference;
mod remembered;
mod units;
