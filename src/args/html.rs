//! `--report`: where a report for reading goes.

use clap::Args;
use std::path::PathBuf;

/// A report for reading.
#[derive(Debug, Args)]
pub struct HtmlReport {
    /// Write everything into this file as well, as one HTML page to read and to step through
    #[arg(long = "report", value_name = "FILE.html", value_parser = file)]
    pub html: Option<PathBuf>,
}

fn file(text: &str) -> Result<PathBuf, String> {
    match text {
        "" | "-" => Err("a report needs the name of a file".to_string()),
        name => Ok(PathBuf::from(name)),
    }
}
