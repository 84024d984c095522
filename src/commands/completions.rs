//! `completions` and `man`: made from the definitions of the command line.

use crate::args::Cli;
use crate::exit::{CommandError, Exit};
use clap::CommandFactory;
use clap_complete::Shell;
use std::io::{self, Write};
use std::path::Path;

/// Prints a completion script.
pub fn completions(shell: Shell) -> Result<Exit, CommandError> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "fencewright", &mut script);
    io::stdout().write_all(&script)?;
    Ok(Exit::Holds)
}

/// Prints the man page, or writes one page per command into a folder.
pub fn man(folder: Option<&Path>) -> Result<Exit, CommandError> {
    match folder {
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(Cli::command()).render(&mut page)?;
            io::stdout().write_all(&page)?;
        }
        Some(folder) => {
            let fails = |error| format!("cannot write to {}: {error}", folder.display());
            std::fs::create_dir_all(folder).map_err(fails)?;
            clap_mangen::generate_to(Cli::command(), folder).map_err(fails)?;
        }
    }
    Ok(Exit::Holds)
}
