//! How answers are printed, for every command that answers.

use super::Command;
use super::values::reports;
use crate::report::{REPORTS, Report};
use clap::Args;

/// How answers are printed.
#[derive(Debug, Args)]
pub struct ReportFormat {
    /// How to print answers
    #[arg(long, short, value_name = "FORMAT", default_value = "text", value_parser = reports())]
    pub format: String,
}

impl ReportFormat {
    /// The report of that name.
    pub fn chosen(&self) -> &'static Report {
        REPORTS.iter().find(|r| r.name == self.format).unwrap_or(&REPORTS[0])
    }
}

impl Command {
    /// How this command prints answers, if it gives any.
    pub fn report(&self) -> Option<&'static Report> {
        match self {
            Command::Verify(args) => Some(args.report.chosen()),
            Command::Robust(args) => Some(args.report.chosen()),
            Command::Fence(args) => Some(args.report.chosen()),
            Command::Check(args) => Some(args.report.chosen()),
            Command::Run(args) => Some(args.report.chosen()),
            Command::List(args) => Some(args.report.chosen()),
            Command::Ci(args) => Some(args.report.chosen()),
            Command::Bench(args) => Some(args.report.chosen()),
            Command::Lsp(_)
            | Command::Playground(_)
            | Command::Show(_)
            | Command::Fmt(_)
            | Command::Generate(_)
            | Command::Schema
            | Command::Completions { .. }
            | Command::Man { .. } => None,
        }
    }
}
