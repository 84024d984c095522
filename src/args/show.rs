//! The arguments of `show`.

use super::Input;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// What stands below its help.
pub const HELP: &str = "\
Examples:
  fencewright show peterson.fw                          what the program means, step by step
  fencewright show --as dot peterson.fw | dot -Tsvg     a picture of its automata
  fencewright show --as rmm peterson.fw > peterson.rmm  the same program for Memorax";

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
