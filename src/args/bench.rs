//! `bench`

use super::values::seconds;
use super::{ReportFormat, bytes};
use crate::commands::BENCHES;
use crate::limits::Budget;
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};
use std::path::PathBuf;
use std::time::Duration;

/// `bench`
#[derive(Debug, Args)]
pub struct BenchArgs {
    /// Which table [default: list them]
    #[arg(value_parser = benches())]
    pub name: Option<String>,

    /// The folder with other tools' programs; rows that need it are left out if it is not there
    #[arg(long, value_name = "DIR", default_value = "../shared/corpora")]
    pub corpora: PathBuf,

    /// The folder with our own programs, for tables of all of them
    #[arg(long, value_name = "DIR", default_value = "corpus")]
    pub corpus: PathBuf,

    /// Time for each question, in seconds
    #[arg(long, short, value_name = "SECONDS", value_parser = seconds, default_value = "60")]
    pub timeout: Duration,

    /// How often each question is asked; a question that takes seconds is asked less often
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    pub runs: u32,

    /// Print tables in Markdown
    #[arg(long, conflicts_with = "format")]
    pub markdown: bool,

    /// Memory for everything together, in megabytes
    #[arg(long, value_name = "MB", default_value_t = 8192, value_parser = clap::value_parser!(u64).range(1..))]
    pub memory: u64,

    #[command(flatten)]
    pub report: ReportFormat,
}

impl BenchArgs {
    /// How far each question may go.
    pub fn budget(&self) -> Budget {
        Budget { time: Some(self.timeout), memory: bytes(self.memory), states: None }
    }
}

/// The names of tables.
fn benches() -> PossibleValuesParser {
    PossibleValuesParser::new(
        BENCHES.iter().map(|b| PossibleValue::new(b.name).aliases(b.earlier).help(b.about)),
    )
}
