//! `show`: the program in another form.

use crate::args::{Show, ShowAs};
use crate::console::Console;
use crate::exit::{Exit, Failure};
use crate::report::{REPORTS, automata};

/// Runs the command.
pub fn show(args: &Show, console: &Console) -> Result<Exit, Failure> {
    let loaded = match super::load_or_report("show", &args.file, &args.input, REPORTS[0], console)? {
        Ok(loaded) => loaded,
        Err(exit) => return Ok(exit),
    };
    let text = match args.form {
        ShowAs::Fw => program::print(&loaded.program),
        ShowAs::Dot => program::dot(&loaded.program),
        ShowAs::Json => format!("{}\n", automata(&loaded.program)),
    };
    console.print_text(&text)?;
    Ok(Exit::Holds)
}
