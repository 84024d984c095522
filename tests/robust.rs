//! Robustness against what it means: every run under TSO looks like one under SC.
//!
//! On small random programs without loops, all runs are enumerated under both models and what
//! they look like is compared: the steps of every thread, the store every load reads, the order
//! of the stores to every variable. Besides: programs with known answers, the checker on broken
//! witnesses, what the program text alone dismisses, and fences.
//!
//! `FENCEWRIGHT_SEEDS=n` looks at n seeds instead of the usual number.

#[path = "robust/agreement.rs"]
mod agreement;
#[path = "robust/cuts.rs"]
mod cuts;
#[path = "robust/fences.rs"]
mod fences;
#[path = "robust/known.rs"]
mod known;
#[path = "robust/looks.rs"]
mod looks;
#[path = "robust/programs.rs"]
mod programs;
#[path = "support/random.rs"]
mod random;
