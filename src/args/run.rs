//! The arguments of `run`.

use super::values::{models, positive};
use super::{InputArgs, ReportFormat, Resources};
use clap::Args;
use std::path::PathBuf;

/// What stands below its help.
pub const HELP: &str = "\
Examples:
  fencewright run peterson.fw                             one random walk under TSO
  fencewright run --runs 1000 --seed 7 --model pso mp.fw  walk until something is violated
  fencewright run --interactive peterson.fw               choose every step, with undo
  fencewright run --replay proofs/peterson.tso.trace.txt peterson.fw            the run of evidence
  fencewright run --interactive --replay proofs/peterson.tso.trace.txt peterson.fw   step by step

Exit codes: 0 nothing was violated on the way (that proves nothing), 1 something was, 2 error, 3 a limit was
reached before the last walk had ended.";

/// `run`
#[derive(Debug, Args)]
pub struct RunArgs {
    /// The program; `-` is standard input (not with --interactive)
    pub file: PathBuf,

    /// The memory model
    #[arg(long, short, default_value = "tso", value_parser = models(false))]
    pub model: String,

    /// Choose every step yourself; reads commands from standard input, `?` explains them
    #[arg(long, short, conflicts_with_all = ["runs", "seed", "steps", "format", "timeout"])]
    pub interactive: bool,

    /// Take the steps of this trace or witness instead of random ones; with --interactive, `n` takes the
    /// next of them
    #[arg(long, value_name = "EVIDENCE", conflicts_with_all = ["runs", "seed", "steps", "model"])]
    pub replay: Option<PathBuf>,

    /// How many steps a walk may have
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub steps: usize,

    /// How many walks; the first that violates something is the last
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = positive())]
    pub runs: usize,

    /// Where chance starts: the same seed gives the same walks
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub seed: u64,

    #[command(flatten)]
    pub resources: Resources,

    #[command(flatten)]
    pub input: InputArgs,

    #[command(flatten)]
    pub report: ReportFormat,
}
