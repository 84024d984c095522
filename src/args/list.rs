//! The arguments of `list`.

use super::ReportFormat;
use clap::{Args, ValueEnum};

/// What stands below its help.
pub const HELP: &str = "\
Examples:
  fencewright list
  fencewright list engines --format json";

/// `list`
#[derive(Debug, Args)]
pub struct ListArgs {
    /// Only these [default: everything]
    pub what: Option<Registry>,

    #[command(flatten)]
    pub report: ReportFormat,
}

/// What `list` lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Registry {
    /// Memory models
    Models,
    /// Engines
    Engines,
    /// Input and report formats
    Formats,
}
