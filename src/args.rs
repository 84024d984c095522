//! The command line, defined once: help, completions and the man page are made from this.
//!
//! What can be chosen from is read off the registries of models, engines, front ends and
//! reports, so a new entry there appears here by itself.

mod abstracting;
mod bench;
mod c;
mod check;
mod ci;
mod counting;
mod exploring;
mod extrapolating;
mod fence;
mod fmt;
mod generate;
mod html;
mod input;
mod list;
pub mod lsp;
mod plan;
mod playground;
mod report;
mod robust;
mod run;
mod sharing;
mod show;
pub mod values;
mod verify;

pub use abstracting::Abstracting;
pub use bench::BenchArgs;
pub use c::CInput;
pub use check::CheckArgs;
pub use ci::CiArgs;
pub use counting::Counting;
pub use exploring::{Exploring, LimitArgs, Resources, bytes};
pub use extrapolating::Extrapolating;
pub use fence::{FenceArgs, FencePoints};
pub use fmt::FmtArgs;
pub use generate::{GenerateArgs, GeneratedAs};
pub use input::InputArgs;
pub use list::{ListArgs, Registry};
pub use playground::PlaygroundArgs;
pub use report::ReportFormat;
pub use robust::RobustArgs;
pub use run::RunArgs;
pub use sharing::Sharing;
pub use show::{DOT, JSON, ShowArgs};
pub use values::{costs as fence_costs, definition};
pub use verify::VerifyArgs;

use clap::{Parser, Subcommand, ValueEnum};
use machine::{MODELS, Model, model_named};
use std::path::PathBuf;

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
    #[command(after_help = verify::HELP)]
    Verify(VerifyArgs),

    /// Does it only behave as under SC?
    #[command(after_help = robust::HELP)]
    Robust(RobustArgs),

    /// Which fences make it safe, at the least cost?
    #[command(after_help = fence::HELP)]
    Fence(FenceArgs),

    /// Check evidence that `--evidence` wrote
    #[command(after_help = check::HELP)]
    Check(CheckArgs),

    /// Print a program in another form
    #[command(after_help = show::HELP)]
    Show(ShowArgs),

    /// Give programs the usual layout
    #[command(after_help = fmt::HELP)]
    Fmt(FmtArgs),

    /// Walk a program, at random or step by step
    #[command(after_help = run::HELP)]
    Run(RunArgs),

    /// Serve editors: diagnostics, verdicts, hover, definitions and quick fixes over LSP
    #[command(after_help = lsp::EXAMPLES)]
    Lsp(lsp::LspArgs),

    /// List memory models, engines, input formats and report formats
    #[command(after_help = list::HELP)]
    List(ListArgs),

    /// Make programs with known answers, or random ones
    #[command(after_help = generate::HELP)]
    Generate(GenerateArgs),

    /// Measure published tables, ours beside theirs
    #[command(after_help = "\
Examples:
  fencewright bench                                what there is
  fencewright bench robust --format json           one object per row
  fencewright bench fences --runs 9 --markdown     tables for the book")]
    Bench(BenchArgs),

    /// Are all answers as fencewright.toml expects them?
    #[command(after_help = ci::EXAMPLES)]
    Ci(CiArgs),

    /// Open the playground: all of this in a browser
    #[command(after_help = playground::HELP)]
    Playground(PlaygroundArgs),

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

    /// Print the man page, or write one page per command
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

/// The models a `--model` value stands for.
pub fn chosen_models(name: &str) -> Vec<Model> {
    model_named(name).map_or_else(|| MODELS.to_vec(), |model| vec![model])
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;
    use engine::ENGINES;

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
