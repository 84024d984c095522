//! The commands, one a file.

mod check;
mod generate;
mod interactive;
mod list;
mod show;
mod verify;
mod walk;

pub use check::check;
pub use generate::{completions, man};
pub use interactive::interactive;
pub use list::list;
pub use show::show;
pub use verify::verify;
pub use walk::walk;

use crate::args::Input;
use crate::console::Console;
use crate::exit::{Exit, Failure};
use crate::input::{Loaded, Unreadable, load};
use crate::report::{Failed, Printed, Report};
use std::path::Path;

/// Reads a program for a command that works on one; prints what is wrong with it.
fn load_or_report(
    command: &'static str,
    path: &Path,
    input: &Input,
    report: &dyn Report,
    console: &Console,
) -> Result<Result<Loaded, Exit>, Failure> {
    match load(path, input) {
        Ok(loaded) => {
            if !console.look().quiet {
                console.print(&report.warnings(&loaded.program.source, &loaded.warnings))?;
            }
            Ok(Ok(loaded))
        }
        Err(unreadable) => {
            console.print(&unreadable_report(command, &unreadable, report))?;
            Ok(Err(Exit::Error))
        }
    }
}

fn unreadable_report(command: &'static str, unreadable: &Unreadable, report: &dyn Report) -> Printed {
    report.failure(&Failed {
        command,
        file: &unreadable.name,
        model: None,
        reason: unreadable.reason.clone(),
        diagnostics: &unreadable.diagnostics,
        source: unreadable.source.as_ref(),
    })
}
