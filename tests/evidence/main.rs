//! What answers rest on: certificates, files, simplified violations; what is broken is rejected.

mod cube_prover;
mod cubes;
mod known;
mod roundtrip;
mod simplify;
mod smtlib;
mod solvers;
mod tamper;
mod units;
