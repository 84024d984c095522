//! The arguments of `robust`.

use super::exploring::ORDERS;
use super::html::HtmlReport;
use super::values::{models, positive, word};
use super::{InputArgs, LimitArgs, ReportFormat};
use clap::{ArgGroup, Args};
use engine::Order;
use std::path::PathBuf;

/// What stands below its help.
pub const HELP: &str = "\
Examples:
  fencewright robust peterson.fw
  fencewright robust --evidence proofs/ peterson.fw   the witness, with pictures (SVG, Graphviz)
  fencewright robust --report peterson.html peterson.fw    one page to step through
  fencewright robust --model all peterson.fw          against TSO and against PSO
  fencewright robust --format json programs/ | jq .verdict
  fencewright fence --goal robust peterson.fw         which fences make it robust?

A robust program needs no fence for the model: what holds of it under SC holds there. One that is
not robust may be safe all the same; `verify` tells. Under SC every program is robust, and whoever is
robust against PSO is robust against TSO.

Exit codes: 0 robust, 1 not robust, 2 error, 3 unknown. Several files: the worst wins, in the
order 2, 1, 3, 0.";

/// `robust`
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("written").args(["evidence", "html"]).multiple(true))]
pub struct RobustArgs {
    /// Programs; folders are walked, `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,

    /// The memory model that SC is compared with
    #[arg(long, short, default_value = "tso", value_parser = models(true))]
    pub model: String,

    /// In which order searches go
    #[arg(long, value_name = "ORDER", default_value = "bfs", value_parser = word(ORDERS))]
    pub search: Order,

    #[command(flatten)]
    pub input: InputArgs,

    #[command(flatten)]
    pub limits: LimitArgs,

    /// How many threads may work at once, on files and on searches [default: the number of processors]
    #[arg(long, short = 'j', value_name = "N", value_parser = positive())]
    pub threads: Option<usize>,

    #[command(flatten)]
    pub report: ReportFormat,

    /// Write witnesses, and pictures of their happens-before, into this folder
    #[arg(long, value_name = "DIR")]
    pub evidence: Option<PathBuf>,

    #[command(flatten)]
    pub html: HtmlReport,

    /// Let --evidence and --report replace files that say something else
    #[arg(long, requires = "written")]
    pub force: bool,
}
