//! The arguments of `verify`.

use super::html::HtmlReport;
use super::plan::PlanArgs;
use super::values::{models, positive};
use super::{Exploring, InputArgs, LimitArgs, ReportFormat, Sharing};
use clap::{ArgGroup, Args};
use std::path::PathBuf;

/// What stands below its help.
pub const HELP: &str = "\
Examples:
  fencewright verify peterson.fw
  fencewright verify --model pso --timeout 60 --evidence proofs/ ring_buffer.fw
  fencewright verify --model all --format json programs/ | jq .verdict
  fencewright verify --report peterson.html peterson.fw    one page to step through
  fencewright verify --outcomes sb.litmus                  a run to every final state
  fencewright verify --model sc --engine cegar --save-predicates bakery.txt bakery.fw
  fencewright show test.fw | fencewright verify -
  fencewright verify --hosts hosts.txt --process 0 big.fw    and on the next host: --process 1

Exit codes: 0 safe, 1 unsafe, 2 error, 3 unknown (with --strict: or a warning). Several files: the worst wins, in the order 2, 1, 3, 0.";

/// `verify`
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("written").args(["evidence", "html", "save_predicates"]).multiple(true))]
pub struct VerifyArgs {
    /// Programs; folders are walked, `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,

    /// The memory model; `all` asks under each
    #[arg(long, short, default_value = "tso", value_parser = models(true))]
    pub model: String,

    #[command(flatten)]
    pub exploring: Exploring,

    #[command(flatten)]
    pub input: InputArgs,

    #[command(flatten)]
    pub limits: LimitArgs,

    #[command(flatten)]
    pub planning: PlanArgs,

    /// How much to do at once: files, engines for one file, shares of one large search [default: the number of
    /// processors]
    #[arg(long, short = 'j', value_name = "N", value_parser = positive())]
    pub threads: Option<usize>,

    #[command(flatten)]
    pub sharing: Sharing,

    #[command(flatten)]
    pub report: ReportFormat,

    /// Litmus tests: show a run to every final state, and draw it on the page of --report and in --evidence
    #[arg(long)]
    pub outcomes: bool,

    /// Exit with 3 instead of 0 if there is a warning: say, a claim that nothing ever comes near
    #[arg(long)]
    pub strict: bool,

    /// Write traces and certificates into this folder
    #[arg(long, value_name = "DIR")]
    pub evidence: Option<PathBuf>,

    /// Write the predicates that a proof by cegar or extrapolate used to this file, as `predicates { … }`
    #[arg(long, value_name = "FILE")]
    pub save_predicates: Option<PathBuf>,

    #[command(flatten)]
    pub html: HtmlReport,

    /// Let --evidence, --report and --save-predicates replace files that say something else
    #[arg(long, requires = "written")]
    pub force: bool,
}
