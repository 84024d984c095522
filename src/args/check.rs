//! The arguments of `check`.

use super::{Input, ReportFormat};
use clap::Args;
use std::path::PathBuf;

/// What stands below its help.
pub const HELP: &str = "\
Examples:
  fencewright verify --evidence proofs/ peterson.fw
  fencewright check peterson.fw proofs/peterson.tso.trace.txt
  fencewright check peterson.fw proofs/peterson.tso.witness.txt

The evidence names its memory model. Nothing in it is believed: a trace is replayed step by step, of a set of
states every successor of every state is worked out again, and of a witness also happens-before and its cycle.

Exit codes: 0 the evidence holds (whatever it proves), 2 it does not, or an error.";

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
