//! Random programs, and how many of them tests look at.

// Every test binary includes this file and uses its own part of it.
#![allow(unused_imports)]

pub use generate::random::*;
pub use generate::random::{
    ClaimAtom as Atom, ProgramShape as Shape, RandomClaim as Claim, SketchStmt as Stmt, ThreadDraft as Draft,
};

/// How many random programs a comparison looks at, unless `FENCEWRIGHT_SEEDS` says otherwise: of 250
/// usual programs at least three notice each of the classic bugs (`tests/semantics/mutants.rs`), so
/// that a bug as plain as those escapes 600 of them once in a thousand times.
pub fn seeds() -> u64 {
    std::env::var("FENCEWRIGHT_SEEDS").ok().and_then(|n| n.parse().ok()).unwrap_or(600)
}
