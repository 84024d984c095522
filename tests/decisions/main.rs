//! What the solver decides, with proofs that are checked and compared with trying values.

mod classics;
mod common;
mod context;
mod formulas;
mod interpolants;
mod random;
mod tamper;
mod units;
