//! How inputs are read, the same for all commands.

use super::CInput;
use super::values::formats;
use clap::Args;

/// How inputs are read.
#[derive(Clone, Debug, Args)]
pub struct InputArgs {
    /// The language of the input [default: by the file's ending, then by its content]
    #[arg(long, value_name = "NAME", value_parser = formats())]
    pub input_format: Option<String>,

    /// Give a constant of the program another value; in C, define a macro
    #[arg(short = 'D', long = "define", value_name = "NAME=VALUE")]
    pub define: Vec<String>,

    /// Litmus tests: list every register and variable, not only those the test names
    #[arg(long)]
    pub observe_all: bool,

    #[command(flatten)]
    pub c: CInput,
}
