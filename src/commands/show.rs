//! `show`: the program in another form.

use crate::args::{Show, ShowAs};
use crate::console::Console;
use crate::exit::{Exit, Failure};
use crate::report::{Failed, REPORTS, automata};

/// Runs the command.
pub fn show(args: &Show, console: &Console) -> Result<Exit, Failure> {
    let loaded = match super::load_or_report("show", &args.file, &args.input, REPORTS[0], console)? {
        Ok(loaded) => loaded,
        Err(exit) => return Ok(exit),
    };
    let text = match args.form {
        ShowAs::Fw => Ok(program::print(&loaded.program)),
        ShowAs::Dot => Ok(program::dot(&loaded.program)),
        ShowAs::Json => Ok(format!("{}\n", automata(&loaded.program))),
        ShowAs::Rmm => frontend::rmm::write(&loaded.program),
        ShowAs::Trencher => frontend::trencher::write(&loaded.program),
    };
    match text {
        Ok(text) => {
            console.print_text(&text)?;
            Ok(Exit::Holds)
        }
        Err(diagnostics) => {
            let failed = Failed {
                stopped: false,
                command: "show",
                file: &loaded.name,
                model: None,
                reason: "the other language cannot say this".to_string(),
                diagnostics: &diagnostics,
                source: Some(&loaded.program.source),
            };
            console.print(&REPORTS[0].failure(&failed))?;
            Ok(Exit::Error)
        }
    }
}
