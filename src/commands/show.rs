//! `show`: the program in another form.

use super::fence::goal;
use crate::args::{Show, ShowAs, chosen_models};
use crate::console::Console;
use crate::exit::{Exit, Failure};
use crate::input::Loaded;
use crate::report::{Failed, REPORTS, Said, automata};
use crate::session::{Session, Told};
use machine::{Buffered, Flattened};
use program::Program;

/// Runs the command.
pub fn show(args: &Show, console: &Console) -> Result<Exit, Failure> {
    let session = Session::new("show", REPORTS[0], console);
    let mut told = Told::default();
    let loaded = session.load(&mut told, &Ok(args.file.clone()), &args.input);
    session.show(&told)?;
    let Some(loaded) = loaded else { return Ok(told.exit) };
    let (program, heading) = match args.flatten {
        true => flattened(args, &loaded)?,
        false => (loaded.program.clone(), String::new()),
    };
    let text = match args.form {
        ShowAs::Fw => Ok(heading + &program::print(&program)),
        ShowAs::Dot => Ok(program::dot(&program)),
        ShowAs::Json => Ok(format!("{}\n", automata(&program))),
        ShowAs::Rmm => frontend::rmm::write(&program),
        ShowAs::Trencher => frontend::trencher::write(&program),
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
                source: Some(&program.source),
                ..Failed::new("show", &loaded.name, None, reason)
            };
            console.print(&REPORTS[0].print(&Said::Failure(&failed), console.look()))?;
            Ok(Exit::Error)
        }
    }
}

/// The program with its store buffers in registers, and what to say above it.
fn flattened(args: &Show, loaded: &Loaded) -> Result<(Program, String), Failure> {
    let model = chosen_models(&args.model)[0];
    let program = goal(loaded.program.clone());
    let machine = Buffered::exact(&program, model).with_dead_registers().capped(args.buffer);
    let flat = Flattened::of(&machine).map_err(|why| Failure::Message(format!("{}: {why}", loaded.name)))?;
    let heading = format!(
        "// What {} does under {}, as a program under SC. Where a queue would hold more than\n\
         // {} stores, its thread goes to `overflow`, which is a violation.\n\n",
        loaded.name,
        model.name().to_uppercase(),
        args.buffer,
    );
    Ok((flat.program, heading))
}
