//! How `cegar` and `buffers` abstract store buffers: for comparing the ways, and for hard cases.

use super::values::{Choices, word};
use clap::Args;
use engine::{Abstraction, BufferAbstraction};
use machine::{Forgotten, Keep};

/// How abstractions are made.
#[derive(Debug, Args)]
pub struct Abstracting {
    /// cegar: which stores of a buffer are kept in order
    #[arg(long, value_name = "WHICH", default_value = "newest", value_parser = word(KEEP))]
    pub keep: Keep,

    /// cegar: what is known of the stores whose order is forgotten
    #[arg(long, value_name = "WHAT", default_value = "pools", value_parser = word(FORGOTTEN))]
    pub forgotten: Forgotten,

    /// cegar: explore all interleavings of steps that touch only registers
    #[arg(long)]
    pub no_reduction: bool,

    /// buffers: what is known of stores on their way: set, multiset, k=N (the oldest N in order, the others
    /// as a set) or auto (multiset, then as many in order as needed)
    #[arg(long, value_name = "WHAT", default_value = "auto", value_parser = buffer_abstraction)]
    pub buffer_abstraction: BufferAbstraction,
}

/// More stores in order than this are a mistake.
const MOST_IN_ORDER: usize = 1 << 16;

fn buffer_abstraction(text: &str) -> Result<BufferAbstraction, String> {
    match text {
        "set" => Ok(BufferAbstraction::Set),
        "multiset" => Ok(BufferAbstraction::Multiset),
        "auto" => Ok(BufferAbstraction::Auto),
        other => {
            let k = other.strip_prefix("k=").and_then(|k| k.parse().ok()).filter(|k| *k <= MOST_IN_ORDER);
            k.map(BufferAbstraction::Oldest).ok_or_else(|| "expected set, multiset, k=N or auto".to_string())
        }
    }
}

impl Abstracting {
    /// As the engine wants it.
    pub fn abstraction(&self) -> Abstraction {
        Abstraction { keep: self.keep, forgotten: self.forgotten, reduce: !self.no_reduction }
    }
}

/// Which stores are kept in order.
const KEEP: Choices<Keep> = &[
    ("newest", "Those issued last", Keep::Newest),
    ("oldest", "Those that reach memory next", Keep::Oldest),
];

/// What is known of the others.
const FORGOTTEN: Choices<Forgotten> = &[
    ("pools", "What holds for all of them; where that is not enough, pairs", Forgotten::Pools),
    ("pairs", "What holds for every two of them, an older and a newer one, as well", Forgotten::Pairs),
    ("any", "Nothing: they may have any value", Forgotten::Anything),
];
