//! The arguments of `check`.

use super::{InputArgs, ReportFormat, Resources};
use clap::Args;
use std::path::PathBuf;

/// What stands below its help.
pub const HELP: &str = "\
Examples:
  fencewright verify --evidence proofs/ peterson.fw
  fencewright check peterson.fw proofs/peterson.tso.trace.txt
  fencewright check peterson.fw proofs/peterson.tso.witness.txt
  fencewright check big.fw proofs/big.tso.closed.*-of-2.txt

The evidence names its memory model. Nothing in it is believed: a trace is replayed step by step, of a set of
states every successor of every state is worked out again, and of a witness also happens-before and its cycle.

However little memory there is, sets of states of any size are checked, by reading them several times.

Exit codes: 0 the evidence holds (whatever it proves), 2 it does not, or an error, 3 a limit was reached before
that was known.";

/// `check`
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// The program
    pub file: PathBuf,

    /// The evidence; parts that several processes wrote are given one behind the other
    #[arg(required = true)]
    pub evidence: Vec<PathBuf>,

    #[command(flatten)]
    pub input: InputArgs,

    /// Write the obligations of a certificate here as SMT-LIB, to be checked by any solver: every
    /// answer must be `unsat`
    #[arg(long, value_name = "OUT")]
    pub smtlib: Option<PathBuf>,

    /// Let --smtlib replace a file that is there
    #[arg(long, requires = "smtlib")]
    pub force: bool,

    #[command(flatten)]
    pub resources: Resources,

    #[command(flatten)]
    pub report: ReportFormat,
}
