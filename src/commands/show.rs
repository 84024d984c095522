//! `show`: the program in another form.

use crate::args::{DOT, JSON, ShowArgs, chosen_models};
use crate::console::Console;
use crate::exit::{CommandError, Exit};
use crate::input::Loaded;
use crate::report::{Failed, REPORTS, Said, automata};
use crate::session::{Session, Told};
use frontend::{Diagnostic, FRONTENDS};
use machine::Flattened;
use program::Program;

/// Runs the command.
pub fn show(args: &ShowArgs, console: &Console) -> Result<Exit, CommandError> {
    let session = Session::new("show", &REPORTS[0], console);
    let mut told = Told::default();
    let loaded = session.load(&mut told, &Ok(args.file.clone()), &args.input);
    session.show(&told)?;
    let Some(loaded) = loaded else { return Ok(told.exit) };
    let (program, heading) = match args.flatten {
        true => flattened(args, &loaded)?,
        false => (loaded.program.clone(), String::new()),
    };
    let text = match args.form.as_str() {
        DOT => Ok(program::dot(&program)),
        JSON => Ok(format!("{}\n", automata(&program))),
        // Remarks are written in our own language only.
        name if name == FRONTENDS[0].name => written(&program, name)?.map(|text| heading + &text),
        name => written(&program, name)?,
    };
    print_written("show", &loaded.name, &program, text, console)
}

/// Prints a program in another language, or what that cannot say.
pub(super) fn print_written(
    command: &'static str,
    name: &str,
    program: &Program,
    text: Result<String, Vec<Diagnostic>>,
    console: &Console,
) -> Result<Exit, CommandError> {
    let diagnostics = match text {
        Ok(text) => {
            console.print_text(&text)?;
            return Ok(Exit::Holds);
        }
        Err(diagnostics) => diagnostics,
    };
    let failed = Failed {
        diagnostics: &diagnostics,
        source: Some(&program.source),
        ..Failed::new(command, name, None, "the other language cannot say this".to_string())
    };
    console.say(&REPORTS[0], &Said::Failure(&failed))?;
    Ok(Exit::Error)
}

/// A program in another language, or what that cannot say.
pub(super) fn written(program: &Program, language: &str) -> Result<Result<String, Vec<Diagnostic>>, String> {
    let writing = FRONTENDS.iter().find(|frontend| frontend.name == language);
    match writing.and_then(|frontend| frontend.write.as_ref()) {
        Some(writing) => Ok((writing.write)(program)),
        None => Err(format!("programs cannot be written as {language}")),
    }
}

/// The program with its store buffers in registers, and what to say above it.
fn flattened(args: &ShowArgs, loaded: &Loaded) -> Result<(Program, String), String> {
    let model = chosen_models(&args.model)[0];
    let program = loaded.program.clone().with_question_as_property();
    let flat = Flattened::bounded(&program, model, args.buffer);
    let flat = flat.map_err(|why| format!("{}: {why}", loaded.name))?;
    let heading = format!(
        "// What {} does under {}, as a program under SC. Where a queue would hold more than\n\
         // {} stores, its thread goes to `overflow`, which is a violation.\n\n",
        loaded.name,
        model.name().to_uppercase(),
        args.buffer,
    );
    Ok((flat.program, heading))
}
