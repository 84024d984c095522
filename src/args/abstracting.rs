//! How `cegar` abstracts store buffers: for comparing the ways, and for hard cases.

use clap::{Args, ValueEnum};
use engine::Abstraction;

/// How `cegar` makes its abstraction.
#[derive(Debug, Args)]
pub struct Abstracting {
    /// cegar: which stores of a buffer are kept in order
    #[arg(long, value_name = "WHICH", default_value = "newest")]
    pub keep: KeepArg,

    /// cegar: what is known of the stores whose order is forgotten
    #[arg(long, value_name = "WHAT", default_value = "pools")]
    pub forgotten: ForgottenArg,

    /// cegar: explore all interleavings of steps that touch only registers
    #[arg(long)]
    pub no_reduction: bool,
}

impl Abstracting {
    /// As the engine wants it.
    pub fn abstraction(&self) -> Abstraction {
        let keep = match self.keep {
            KeepArg::Newest => machine::Keep::Newest,
            KeepArg::Oldest => machine::Keep::Oldest,
        };
        let forgotten = match self.forgotten {
            ForgottenArg::Pools => machine::Forgotten::Pools,
            ForgottenArg::Any => machine::Forgotten::Anything,
        };
        Abstraction { keep, forgotten, reduce: !self.no_reduction }
    }
}

/// Which stores are kept in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum KeepArg {
    /// Those issued last
    Newest,
    /// Those that reach memory next
    Oldest,
}

/// What is known of the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ForgottenArg {
    /// What holds for all of them
    Pools,
    /// Nothing: they may have any value
    Any,
}
