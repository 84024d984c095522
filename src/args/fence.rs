//! The arguments of `fence`.

use super::html::HtmlReport;
use super::plan::PlanArgs;
use super::values::{Choices, costs, models, positive, price, word};
use super::{Exploring, InputArgs, LimitArgs, ReportFormat};
use clap::{ArgGroup, Args, ValueEnum};
use engine::{Costs, FencePrice, Points};
use evidence::Goal;
use serde::Deserialize;
use std::path::PathBuf;

/// What stands below its help.
pub const HELP: &str = "\
Examples:
  fencewright fence peterson.fw
  fencewright fence --model pso --cost full=10,store=1 --all peterson.fw
  fencewright fence --goal robust peterson.fw              so that it behaves as under SC
  fencewright fence --price reader=never rcu.fw            no fence in the thread `reader`
  fencewright fence --model all locks/                     every program of a folder under each model
  fencewright fence --out fenced.fw peterson.fw            the program with the fences in it
  fencewright fence --relax queue.c                        which of its own fences are needed?
  fencewright fence --out - peterson.fw | fencewright verify -

With `--out -` the report goes to standard error. In a litmus test, fences make the outcome of
`exists` or `~exists` impossible, or every outcome but that of `forall`.

Exit codes: 0 found (perhaps none is needed), 1 no fence helps: SC fails too, 2 error, 3 unknown.";

/// `fence`
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("written").args(["evidence", "out", "html"]).multiple(true))]
pub struct FenceArgs {
    /// Programs; folders are walked, `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,

    /// The memory model; `all` asks under each
    #[arg(long, short, default_value = "tso", value_parser = models(true))]
    pub model: String,

    /// What the fences must achieve
    #[arg(long, default_value = "safe", value_parser = word(GOALS))]
    pub goal: Goal,

    /// Where fences may go
    #[arg(long, default_value = "stores")]
    pub points: FencePoints,

    /// What fences cost in each thread, and how many times as much for every loop around them; locked
    /// exchanges (swap) are only considered if they have a price [default: full=3,store=1,loop=1]
    #[arg(long, value_name = "KIND=COST,…", value_parser = costs, default_value = "", hide_default_value = true)]
    pub cost: Costs,

    /// Fences in this thread (or family of threads), or at this line, cost so many times as much, or must
    /// `never` be there; may be repeated
    #[arg(long, value_name = "WHERE=TIMES", value_parser = price, conflicts_with = "relax")]
    pub price: Vec<FencePrice>,

    /// Which of the program's own fences and seq_cst stores are needed? Those that are not go
    #[arg(long, conflicts_with_all = ["goal", "points", "all"])]
    pub relax: bool,

    /// Find every cheapest set of fences
    #[arg(long)]
    pub all: bool,

    /// Write the program with the fences in it to this file, all else unchanged; `-` is standard output;
    /// for one file and one model
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,

    #[command(flatten)]
    pub planning: PlanArgs,

    /// How much to do at once: files, and engines for one file; answers do not depend on it [default: the
    /// number of processors]
    #[arg(long, short = 'j', value_name = "N", value_parser = positive())]
    pub threads: Option<usize>,

    #[command(flatten)]
    pub exploring: Exploring,

    #[command(flatten)]
    pub input: InputArgs,

    #[command(flatten)]
    pub limits: LimitArgs,

    #[command(flatten)]
    pub report: ReportFormat,

    /// Write the fenced program with its certificate, and traces without each fence, into this folder
    #[arg(long, value_name = "DIR")]
    pub evidence: Option<PathBuf>,

    #[command(flatten)]
    pub html: HtmlReport,

    /// Let --evidence, --out and --report replace files that say something else
    #[arg(long, requires = "written")]
    pub force: bool,
}

/// What fences must achieve.
const GOALS: Choices<Goal> = &[
    ("safe", "No execution violates anything", Goal::Safe),
    ("robust", "Every execution under the model looks like one under SC", Goal::Robust),
];

/// Where fences may go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FencePoints {
    /// Behind stores
    #[default]
    Stores,
    /// Behind stores, and before statements that read
    All,
}

impl From<FencePoints> for Points {
    fn from(points: FencePoints) -> Points {
        match points {
            FencePoints::Stores => Points::Stores,
            FencePoints::All => Points::All,
        }
    }
}
