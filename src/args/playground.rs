//! The arguments of `playground`.

use clap::Args;
use std::path::PathBuf;

/// What stands below its help.
pub const HELP: &str = "\
Examples:
  fencewright playground                              the playground that came with this program
  fencewright playground --site target/site           the one that `web/site` made, with the book
  fencewright playground --port 8000 --no-open        for a browser that is already there

Everything runs in the browser: nothing is sent anywhere, and this only hands out the site's files, to this
machine alone. Ctrl-C ends it.";

/// `playground`
#[derive(Debug, Args)]
pub struct PlaygroundArgs {
    /// The folder of the site [default: `site` beside this program, or `../share/fencewright/site`]
    #[arg(long, value_name = "DIR")]
    pub site: Option<PathBuf>,

    /// The port on localhost; 0 takes one that is free
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub port: u16,

    /// Only print the address instead of opening a browser
    #[arg(long)]
    pub no_open: bool,
}
