//! `show`: the program in another form.

use crate::args::{Show, ShowAs};
use crate::console::Console;
use crate::exit::{Exit, Failure};
use crate::report::{Failed, REPORTS, Said, automata};
use crate::session::{Session, Told};

/// Runs the command.
pub fn show(args: &Show, console: &Console) -> Result<Exit, Failure> {
    let session = Session::new("show", REPORTS[0], console);
    let mut told = Told::default();
    let loaded = session.load(&mut told, &Ok(args.file.clone()), &args.input);
    session.show(&told)?;
    let Some(loaded) = loaded else { return Ok(told.exit) };
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
            let reason = "the other language cannot say this".to_string();
            let failed = Failed {
                diagnostics: &diagnostics,
                source: Some(&loaded.program.source),
                ..Failed::new("show", &loaded.name, None, reason)
            };
            console.print(&REPORTS[0].print(&Said::Failure(&failed), console.look()))?;
            Ok(Exit::Error)
        }
    }
}
