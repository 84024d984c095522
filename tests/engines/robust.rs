//! Robustness against what it means: every run under TSO looks like one under SC.
//!
//! On small random programs without loops, all runs are enumerated under both models and what
//! they look like is compared: the steps of every thread, the store every load reads, the order
//! of the stores to every variable. Besides: programs with known answers, the checker on broken
//! witnesses, what the program text alone dismisses, what searches leave out, and fences.
//!
//! `FENCEWRIGHT_SEEDS=n` looks at n seeds instead of the usual number.

mod agreement;
mod cuts;
mod fences;
mod fewer;
mod known;
mod looks;
mod programs;
use support::random;
