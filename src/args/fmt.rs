//! The arguments of `fmt`.

use clap::Args;
use std::path::PathBuf;

/// What stands below its help.
pub const HELP: &str = "\
Examples:
  fencewright fmt peterson.fw          the file in the usual layout
  fencewright fmt --check corpus/      which files are not?
  fencewright fmt - < peterson.fw      to standard output

Lines end where they did, and comments stay. Folders are walked for `.fw` files.

Exit codes: 0 done (with --check: all are in the usual layout), 1 some are not, 2 error.";

/// `fmt`
#[derive(Debug, Args)]
pub struct FmtArgs {
    /// Programs; folders are walked, `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,

    /// Change nothing, and name the files that would change
    #[arg(long)]
    pub check: bool,
}
