//! How to look for an answer, and how far to go.

use super::values::{Choices, engines, positive, reductions, seconds, word};
use super::{Abstracting, Counting, Extrapolating};
use crate::limits::Budget;
use clap::Args;
use engine::{ENGINES, Engine, Order, Reduction, Run};
use evidence::Monitor;
use std::time::Duration;

/// How to look for an answer.
#[derive(Debug, Args)]
pub struct Exploring {
    /// Who answers
    #[arg(long, short, default_value = ENGINES[0].name(), value_parser = engines())]
    pub engine: String,

    /// In which order exact searches go
    #[arg(long, value_name = "ORDER", default_value = "bfs", value_parser = word(ORDERS))]
    pub search: Order,

    /// What explicit leaves out of its searches, gaps (local, symmetry), cegar, complete and buffers (symmetry); proofs say so and are checked
    #[arg(long, value_name = "WHAT", default_value = Reduction::default().name(), value_parser = reductions())]
    pub reduce: String,

    /// Let states of explicit have registers that nothing reads any more: to measure what it saves that they have not
    #[arg(long)]
    pub no_liveness: bool,

    /// The largest bound on store buffers to try; beyond it the answer is unknown [default: 64]
    #[arg(long, value_name = "N", value_parser = positive())]
    pub buffer: Option<usize>,

    #[command(flatten)]
    pub abstracting: Abstracting,

    #[command(flatten)]
    pub extrapolating: Extrapolating,

    #[command(flatten)]
    pub counting: Counting,
}

impl Exploring {
    /// The engine.
    pub fn engine(&self) -> &'static dyn Engine {
        engine::engine_named(&self.engine).unwrap_or(ENGINES[0])
    }

    /// As engines want it, watched by `monitor`.
    pub fn run<'a>(&self, monitor: &'a dyn Monitor) -> Run<'a> {
        Run {
            monitor,
            order: self.search,
            reduction: Reduction::named(&self.reduce).unwrap_or_default(),
            dead_registers: self.no_liveness,
            max_buffer: Some(self.buffer.unwrap_or(engine::USUAL_BUFFER)),
            abstraction: self.abstracting.abstraction(),
            extrapolation: self.extrapolating.extrapolate,
            buffers: self.abstracting.buffer_abstraction,
            contexts: self.counting.bound(),
            threads: monitor.threads(),
            ..Run::default()
        }
    }
}

/// In which order to search.
pub const ORDERS: Choices<Order> = &[
    ("bfs", "Breadth first: the shortest violation", Order::Breadth),
    ("dfs", "Depth first: often finds deep violations sooner", Order::Depth),
];

/// How much time and memory to take.
#[derive(Debug, Args)]
pub struct Resources {
    /// Time for each file and model, in seconds; fractions are fine [default: none]
    #[arg(long, short, value_name = "SECONDS", value_parser = seconds)]
    pub timeout: Option<Duration>,

    /// Memory for everything together, in megabytes
    #[arg(long, value_name = "MB", default_value_t = 4096, value_parser = clap::value_parser!(u64).range(1..))]
    pub memory: u64,
}

impl Resources {
    /// As the monitor wants them.
    pub fn budget(&self) -> Budget {
        Budget { time: self.timeout, memory: bytes(self.memory), states: None }
    }
}

/// How far to go.
#[derive(Debug, Args)]
pub struct LimitArgs {
    #[command(flatten)]
    pub resources: Resources,

    /// The most states to explore for each file and model [default: no limit]
    #[arg(long, value_name = "N")]
    pub states: Option<usize>,
}

impl LimitArgs {
    /// As the monitor wants them.
    pub fn budget(&self) -> Budget {
        Budget { states: self.states, ..self.resources.budget() }
    }
}

/// Megabytes in bytes.
pub fn bytes(megabytes: u64) -> usize {
    usize::try_from(megabytes.saturating_mul(1 << 20)).unwrap_or(usize::MAX)
}
