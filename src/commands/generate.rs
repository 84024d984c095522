//! `generate`: programs made to order, with the answers they should have.

use super::show::{print_written, written};
use crate::args::{GenerateArgs, GeneratedAs};
use crate::console::Console;
use crate::exit::{CommandError, Exit};
use crate::report::SCHEMA;
use frontend::FRONTENDS;
use generate::Generated;
use program::Program;
use serde_json::json;

/// Runs the command.
pub fn generate(args: &GenerateArgs, console: &Console) -> Result<Exit, CommandError> {
    let (made, program) = made(args)?;
    let in_our_language = args.form == FRONTENDS[0].name;
    let text = match (in_our_language, args.format) {
        (true, GeneratedAs::Text) => Ok(made.with_remarks()),
        (true, GeneratedAs::Json) => Ok(made.text.clone()),
        (false, _) => written(&program, &args.form)?,
    };
    let text = text.map(|text| printed(args, &made, &text));
    print_written("generate", &made.name, &program, text, console)
}

/// What was asked for, as text and as a program.
fn made(args: &GenerateArgs) -> Result<(Generated, Program), CommandError> {
    let family = match args.what.family() {
        Ok(family) => family,
        Err(seed) => {
            let program = generate::random::generate(seed);
            let about = vec![format!("Random program: {}.", program.name)];
            let (name, text) = (format!("random{seed}"), program::print(&program));
            return Ok((Generated { name, about, expected: Vec::new(), text }, program));
        }
    };
    let made = family.generate()?;
    let name = format!("{}.{}", made.name, FRONTENDS[0].name);
    // Values of constants may make a text that means nothing.
    let program = crate::read(&name, &made.text).map_err(|wrong| {
        let first = wrong.first().map(|diagnostic| diagnostic.message.as_str());
        format!("there is no such program: {}", first.unwrap_or_default())
    })?;
    Ok((made, program))
}

fn printed(args: &GenerateArgs, made: &Generated, text: &str) -> String {
    match args.format {
        GeneratedAs::Text => text.to_string(),
        GeneratedAs::Json => {
            let expected = made.expected.iter().map(|expected| {
                json!({
                    "model": expected.model,
                    "verdict": expected.verdict(),
                    "contexts": expected.contexts,
                })
            });
            let object = json!({
                "schema": SCHEMA,
                "command": "generate",
                "name": made.name,
                "form": args.form,
                "about": made.about.join(" "),
                "expected": expected.collect::<Vec<_>>(),
                "text": text,
            });
            format!("{object}\n")
        }
    }
}
