//! How inputs are read, the same for all commands.

use super::values::{definition, formats};
use clap::Args;
use program::Int;

/// How inputs are read.
#[derive(Debug, Args)]
pub struct InputArgs {
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
