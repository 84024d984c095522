//! What engines answer: verdicts, fences, robustness, limits.

mod buffers;
mod c_corpus;
mod c_machine;
mod c_programs;
mod c_twins;
mod cegar;
mod cegar_limits;
mod cegar_names;
mod cegar_unbounded;
mod claims;
mod complete;
mod corpus;
mod every_engine;
mod extrapolate;
mod fences;
mod generated;
mod lazy;
mod limits;
mod portfolio;
mod predecessors;
mod reasons;
mod robust;
mod spill;
mod unbounded;
mod waiting;
mod workers;

#[path = "../support"]
mod support {
    pub mod corpus;
    pub mod models;
    pub mod random;
    pub mod texts;
}
