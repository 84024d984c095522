//! The arguments of `ci`.

use super::ReportFormat;
use super::html::HtmlReport;
use super::values::positive;
use clap::{ArgGroup, Args};
use std::path::PathBuf;

/// Shown below its help.
pub const EXAMPLES: &str = "\
Examples:
  fencewright ci                                    what fencewright.toml in this folder expects
  fencewright ci --config locks/fencewright.toml --format junit > report.xml
  fencewright ci --format sarif > fencewright.sarif
  fencewright ci --report expected.html             one page with every answer that is not expected
  fencewright ci --update                           write today's answers into fencewright.toml
  fencewright ci --init                             write a first one, for all programs below this folder

A fencewright.toml:
  [[program]]
  file = \"locks/*.fw\"
  expect = { sc = \"safe\", tso = \"unsafe\" }
  robust = false

Exit codes: 0 all is as expected, 1 it is not (another verdict, a fence missing or not needed),
2 error, 3 unknown.";

/// `ci`
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("replaced").args(["html", "init"]).multiple(true))]
pub struct CiArgs {
    /// The file that says what is expected; the files it names are looked for beside it
    #[arg(long, value_name = "FILE", default_value = "fencewright.toml")]
    pub config: PathBuf,

    /// Write the verdicts and fence sets that are found into the file, all else in it unchanged
    #[arg(long)]
    pub update: bool,

    /// Write a new file instead, with all programs below its folder and what is found about them today
    #[arg(long, conflicts_with = "update")]
    pub init: bool,

    /// How many files to work on at once [default: the number of processors]
    #[arg(long, short = 'j', value_name = "N", value_parser = positive())]
    pub threads: Option<usize>,

    #[command(flatten)]
    pub report: ReportFormat,

    #[command(flatten)]
    pub html: HtmlReport,

    /// Let --report replace a file that is no report, and --init one that is there
    #[arg(long, requires = "replaced")]
    pub force: bool,
}
