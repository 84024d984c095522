//! The arguments of `show`.

use super::InputArgs;
use super::values::{languages, models, positive};
use clap::Args;
use frontend::FRONTENDS;
use std::path::PathBuf;

/// What stands below its help.
pub const HELP: &str = "\
Examples:
  fencewright show peterson.fw                          what the program means, step by step
  fencewright show --as dot peterson.fw | dot -Tsvg     a picture of its automata
  fencewright show --as rmm peterson.fw > peterson.rmm  the same program for Memorax
  fencewright show --flatten --buffer 2 peterson.fw     a program that does under SC what this does under TSO,
                                                        for any tool that knows nothing of store buffers";

/// `show`
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// The program; `-` is standard input
    pub file: PathBuf,

    /// In which form
    #[arg(long = "as", value_name = "FORM", default_value = FRONTENDS[0].name, value_parser = languages(OTHERS))]
    pub form: String,

    /// Print a program that does under SC what this one does under the model: store buffers become
    /// registers. A thread that would buffer too much goes to `overflow`, which is a violation
    #[arg(long)]
    pub flatten: bool,

    /// With `--flatten`: the memory model
    #[arg(long, short, value_name = "MODEL", value_parser = models(false), default_value = "tso", requires = "flatten")]
    pub model: String,

    /// With `--flatten`: the most stores that a queue can hold
    #[arg(long, value_name = "K", value_parser = positive(), default_value_t = 2, requires = "flatten")]
    pub buffer: usize,

    #[command(flatten)]
    pub input: InputArgs,
}

/// The name of the picture.
pub const DOT: &str = "dot";
/// The name of the list of automata.
pub const JSON: &str = "json";

/// The forms besides the languages that can be written.
const OTHERS: &[(&str, &str)] = &[(DOT, "A Graphviz graph of the automata"), (JSON, "The automata as JSON")];
