//! The command line, defined once: help, completions and the man page are made from this.
//!
//! What can be chosen from is read off the registries of models, engines, front ends and
//! reports, so a new entry there appears here by itself.

mod abstracting;
mod bench;
mod ci;
mod html;
pub mod lsp;
mod plan;
mod report;
mod robust;
pub mod values;

pub use bench::Bench;
pub use robust::Robust;

pub use ci::Ci;
pub use report::ReportFormat;

use crate::limits::Budget;
pub use abstracting::Abstracting;
use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};
use engine::{Costs, ENGINES, Engine, Order, Points, Run};
use evidence::Monitor;
use html::HtmlReport;
use machine::{MODELS, Model, model_named};
use plan::{Planning, PlanningAlone};
use program::Int;
use std::path::PathBuf;
use std::time::Duration;
pub use values::{costs as fence_costs, definition};
use values::{costs, engines, formats, models, positive, seconds};

/// Verify lock-free programs under weak memory, with evidence anyone can check.
#[derive(Debug, Parser)]
#[command(name = "fencewright", version, max_term_width = 100, disable_help_subcommand = true)]
#[command(after_help = "\
Examples:
  fencewright verify peterson.fw                is it safe on x86 (TSO)?
  fencewright verify --model all programs/      every program of a folder under SC, TSO and PSO
  fencewright fence peterson.fw                 which fences make it safe?
  fencewright run --interactive peterson.fw     take the steps yourself

Exit codes: 0 holds, 1 violated, 2 error, 3 unknown (a limit or bound was reached).
`fencewright COMMAND --help` shows examples for each command.")]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,

    /// Print only the answer itself: no progress, no warnings, no table
    #[arg(long, short, global = true, display_order = 900)]
    pub quiet: bool,

    /// Tell on standard error what engines decide on their way
    #[arg(long, short, global = true, conflicts_with = "quiet", display_order = 900)]
    pub verbose: bool,

    /// When to use colours
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", display_order = 901)]
    pub color: Color,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Is it safe?
    #[command(after_help = "\
Examples:
  fencewright verify peterson.fw
  fencewright verify --model pso --timeout 60 --evidence proofs/ ring_buffer.fw
  fencewright verify --model all --format json programs/ | jq .verdict
  fencewright verify --report peterson.html peterson.fw    one page to step through
  fencewright show test.fw | fencewright verify -

Exit codes: 0 safe, 1 unsafe, 2 error, 3 unknown. Several files: the worst wins, in the order 2, 1, 3, 0.")]
    Verify(Verify),

    /// Does it only behave as under SC?
    #[command(after_help = robust::HELP)]
    Robust(Robust),

    /// Which fences make it safe, at the least cost?
    #[command(after_help = "\
Examples:
  fencewright fence peterson.fw
  fencewright fence --model pso --cost full=10,store=1 --all peterson.fw
  fencewright fence --goal robust peterson.fw              so that it behaves as under SC
  fencewright fence --out fenced.fw peterson.fw            the program with the fences in it
  fencewright fence --out - peterson.fw | fencewright verify -

With `--out -` the report goes to standard error. In a litmus test, fences make the outcome of
`exists` or `~exists` impossible, or every outcome but that of `forall`.

Exit codes: 0 found (perhaps none is needed), 1 no fence helps: SC fails too, 2 error, 3 unknown.")]
    Fence(Fence),

    /// Check evidence that `--evidence` wrote
    #[command(after_help = "\
Examples:
  fencewright verify --evidence proofs/ peterson.fw
  fencewright check peterson.fw proofs/peterson.tso.trace.txt
  fencewright check peterson.fw proofs/peterson.tso.witness.txt

The evidence names its memory model. Nothing in it is believed: a trace is replayed step by step, of a set of
states every successor of every state is worked out again, and of a witness also happens-before and its cycle.

Exit codes: 0 the evidence holds (whatever it proves), 2 it does not, or an error.")]
    Check(Check),

    /// Print a program in another form
    #[command(after_help = "\
Examples:
  fencewright show peterson.fw                          what the program means, step by step
  fencewright show --as dot peterson.fw | dot -Tsvg     a picture of its automata
  fencewright show --as rmm peterson.fw > peterson.rmm  the same program for Memorax")]
    Show(Show),

    /// Walk a program, at random or step by step
    #[command(after_help = "\
Examples:
  fencewright run peterson.fw                             one random walk under TSO
  fencewright run --runs 1000 --seed 7 --model pso mp.fw  walk until something is violated
  fencewright run --interactive peterson.fw               choose every step, with undo

Exit codes: 0 nothing was violated on the way (that proves nothing), 1 something was, 2 error.")]
    Run(RunArgs),

    /// Serve editors: diagnostics, verdicts, hover, definitions and quick fixes over LSP
    #[command(after_help = lsp::EXAMPLES)]
    Lsp(lsp::Lsp),

    /// List memory models, engines, input formats and report formats
    #[command(after_help = "\
Examples:
  fencewright list
  fencewright list engines --format json")]
    List(List),

    /// Measure published tables, ours beside theirs
    #[command(after_help = "\
Examples:
  fencewright bench                                what there is
  fencewright bench seed004-robust --format json   one object a row")]
    Bench(Bench),

    /// Are all answers as fencewright.toml expects them?
    #[command(after_help = ci::EXAMPLES)]
    Ci(Ci),

    /// Print the JSON schema of `--format json`
    #[command(after_help = "\
Examples:
  fencewright schema > fencewright-1.json")]
    Schema,

    /// Print a completion script for a shell
    #[command(after_help = "\
Examples:
  fencewright completions bash > ~/.local/share/bash-completion/completions/fencewright
  fencewright completions fish > ~/.config/fish/completions/fencewright.fish")]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },

    /// Print the man page, or write one page a command
    #[command(after_help = "\
Examples:
  fencewright man | man -l -
  fencewright man --out man1/")]
    Man {
        /// Write all pages into this folder instead of printing the first
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
}

/// `verify`
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("written").args(["evidence", "html"]).multiple(true))]
pub struct Verify {
    /// Programs; folders are walked, `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,

    /// The memory model; `all` asks under each
    #[arg(long, short, default_value = "tso", value_parser = models(true))]
    pub model: String,

    #[command(flatten)]
    pub exploring: Exploring,

    #[command(flatten)]
    pub input: Input,

    #[command(flatten)]
    pub limits: Limits,

    #[command(flatten)]
    pub planning: Planning,

    /// How much to do at once: files, and engines for one file [default: the number of processors]
    #[arg(long, short = 'j', value_name = "N", value_parser = positive())]
    pub threads: Option<usize>,

    #[command(flatten)]
    pub report: ReportFormat,

    /// Write traces and certificates into this folder
    #[arg(long, value_name = "DIR")]
    pub evidence: Option<PathBuf>,

    #[command(flatten)]
    pub html: HtmlReport,

    /// Let --evidence and --report replace files that say something else
    #[arg(long, requires = "written")]
    pub force: bool,
}

/// `fence`
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("written").args(["evidence", "out", "html"]).multiple(true))]
pub struct Fence {
    /// The program; `-` is standard input
    pub file: PathBuf,

    /// The memory model
    #[arg(long, short, default_value = "tso", value_parser = models(false))]
    pub model: String,

    /// What the fences must achieve
    #[arg(long, default_value = "safe")]
    pub goal: Goal,

    /// Where fences may go
    #[arg(long, default_value = "stores")]
    pub points: FencePoints,

    /// What fences cost in each thread, and how many times as much for every loop around them; locked
    /// exchanges (swap) are only considered if they have a price [default: full=3,store=1,loop=1]
    #[arg(long, value_name = "KIND=COST,…", value_parser = costs, default_value = "", hide_default_value = true)]
    pub cost: Costs,

    /// Find every cheapest set of fences
    #[arg(long)]
    pub all: bool,

    /// Write the program with the fences in it to this file, all else unchanged; `-` is standard output
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,

    #[command(flatten)]
    pub planning: PlanningAlone,

    #[command(flatten)]
    pub exploring: Exploring,

    #[command(flatten)]
    pub input: Input,

    #[command(flatten)]
    pub limits: Limits,

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

/// `check`
#[derive(Debug, Args)]
pub struct Check {
    /// The program
    pub file: PathBuf,

    /// The evidence
    pub evidence: PathBuf,

    #[command(flatten)]
    pub input: Input,

    /// Write the obligations of a certificate here as SMT-LIB, to be checked by any solver: every
    /// answer must be `unsat`
    #[arg(long, value_name = "OUT")]
    pub smtlib: Option<PathBuf>,

    /// Memory for checking, in megabytes; however little, certificates of any size are checked
    #[arg(long, value_name = "MB", default_value_t = 4096, value_parser = clap::value_parser!(u64).range(1..))]
    pub memory: u64,

    #[command(flatten)]
    pub report: ReportFormat,
}

/// `show`
#[derive(Debug, Args)]
pub struct Show {
    /// The program; `-` is standard input
    pub file: PathBuf,

    /// In which form
    #[arg(long = "as", value_name = "FORM", default_value = "fw")]
    pub form: ShowAs,

    #[command(flatten)]
    pub input: Input,
}

/// `run`
#[derive(Debug, Args)]
pub struct RunArgs {
    /// The program; `-` is standard input (not with --interactive)
    pub file: PathBuf,

    /// The memory model
    #[arg(long, short, default_value = "tso", value_parser = models(false))]
    pub model: String,

    /// Choose every step yourself; reads commands from standard input, `?` explains them
    #[arg(long, short, conflicts_with_all = ["runs", "seed", "steps", "format"])]
    pub interactive: bool,

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
    pub input: Input,

    #[command(flatten)]
    pub report: ReportFormat,
}

/// `list`
#[derive(Debug, Args)]
pub struct List {
    /// Only these [default: everything]
    pub what: Option<Registry>,

    #[command(flatten)]
    pub report: ReportFormat,
}

/// How inputs are read.
#[derive(Debug, Args)]
pub struct Input {
    /// The language of the input [default: by the file's ending, then by its content]
    #[arg(long, value_name = "NAME", value_parser = formats())]
    pub input_format: Option<String>,

    /// Give a constant of the program another value
    #[arg(short = 'D', long = "define", value_name = "NAME=VALUE", value_parser = definition)]
    pub define: Vec<(String, Int)>,

    /// Litmus tests: list every register and variable, not only those the test names
    #[arg(long)]
    pub observe_all: bool,
}

/// How to look for an answer.
#[derive(Debug, Args)]
pub struct Exploring {
    /// Who answers
    #[arg(long, short, default_value = ENGINES[0].name(), value_parser = engines())]
    pub engine: String,

    /// In which order exact searches go
    #[arg(long, value_name = "ORDER", default_value = "bfs")]
    pub search: Search,

    /// The largest bound on store buffers to try; beyond it the answer is unknown
    #[arg(long, value_name = "N", value_parser = positive(), default_value_t = engine::USUAL_BUFFER)]
    pub buffer: usize,

    #[command(flatten)]
    pub abstracting: Abstracting,
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
            order: self.search.into(),
            max_buffer: Some(self.buffer),
            abstraction: self.abstracting.abstraction(),
            ..Run::default()
        }
    }
}

/// How far to go.
#[derive(Debug, Args)]
pub struct Limits {
    /// Time for each file and model, in seconds; fractions are fine [default: none]
    #[arg(long, short, value_name = "SECONDS", value_parser = seconds)]
    pub timeout: Option<Duration>,

    /// Memory for everything together, in megabytes
    #[arg(long, value_name = "MB", default_value_t = 4096, value_parser = clap::value_parser!(u64).range(1..))]
    pub memory: u64,

    /// The most states to explore for each file and model [default: no limit]
    #[arg(long, value_name = "N")]
    pub states: Option<usize>,
}

impl Limits {
    /// As the monitor wants them.
    pub fn budget(&self) -> Budget {
        Budget { time: self.timeout, memory: bytes(self.memory), states: self.states }
    }
}

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// In which order to search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Search {
    /// Breadth first: the shortest violation
    Bfs,
    /// Depth first: often finds deep violations sooner
    Dfs,
}

impl From<Search> for Order {
    fn from(search: Search) -> Order {
        match search {
            Search::Bfs => Order::Breadth,
            Search::Dfs => Order::Depth,
        }
    }
}

/// What fences must achieve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Goal {
    /// No execution violates anything
    Safe,
    /// Every execution under TSO looks like one under SC
    Robust,
}

/// Where fences may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FencePoints {
    /// Behind stores
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

/// What `show` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ShowAs {
    /// The program in our language, lowered to single steps
    Fw,
    /// A Graphviz graph of the automata
    Dot,
    /// The automata as JSON
    Json,
    /// A program for Memorax, if it can be one
    Rmm,
    /// A program for Trencher, if it can be one
    Trencher,
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

/// The models a `--model` value stands for.
pub fn chosen_models(name: &str) -> Vec<Model> {
    model_named(name).map_or_else(|| MODELS.to_vec(), |model| vec![model])
}

/// Megabytes in bytes.
pub fn bytes(megabytes: u64) -> usize {
    usize::try_from(megabytes.saturating_mul(1 << 20)).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definitions_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn help_lists_every_model_and_engine() {
        let mut command = Cli::command();
        let verify = command.find_subcommand_mut("verify").expect("there is such a command");
        let help = verify.render_long_help().to_string();
        let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
        for model in MODELS {
            assert!(help.contains(model.about()), "{help}");
        }
        for engine in ENGINES {
            assert!(help.contains(engine.about()), "{help}");
        }
    }
}
