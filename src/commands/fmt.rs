//! `fmt`: programs in the usual layout.

use crate::args::FmtArgs;
use crate::console::Console;
use crate::exit::{CommandError, Exit};
use crate::input::{Unreadable, expand, is_stdin, name, text_of};
use crate::numbers::counted;
use crate::report::{Failed, REPORTS, Said};
use crate::session::{Session, Told};
use crate::whole_file::write_whole;
use frontend::FRONTENDS;
use program::Source;
use std::ffi::OsStr;
use std::io::Write;
use std::path::Path;

/// Runs the command.
pub fn fmt(args: &FmtArgs, console: &Console) -> Result<Exit, CommandError> {
    let session = Session::new("fmt", &REPORTS[0], console);
    let (mut told, mut changed) = (Told::default(), 0);
    for file in expand(&args.files) {
        if file.as_ref().is_ok_and(|path| !args.files.contains(path) && !is_ours(path)) {
            continue;
        }
        match file.and_then(|path| formatted(&path).map(|texts| (path, texts))) {
            Err(why) => {
                session.say(&mut told, &Said::Failure(&Failed::unreadable("fmt", &why)));
                told.ends(Exit::Error);
            }
            Ok((path, (_, new))) if is_stdin(&path) && !args.check => session.print_text(&new)?,
            Ok((_, (old, new))) if old == new => {}
            Ok((path, _)) if args.check => {
                changed += 1;
                session.print_text(&format!("{}\n", name(&path)))?;
            }
            Ok((path, (_, new))) => {
                changed += 1;
                let write = |out: &mut dyn Write| out.write_all(new.as_bytes());
                write_whole(&path, true, &session.interrupt, write).map_err(CommandError::Message)?;
            }
        }
    }
    session.show(&told)?;
    if changed > 0 && !session.look().quiet {
        let done = if args.check { "not in the usual layout" } else { "changed" };
        anstream::eprintln!("{} {done}", counted(changed, "file"));
    }
    told.ends(if args.check && changed > 0 { Exit::Violated } else { Exit::Holds });
    Ok(told.exit)
}

/// Whether a file of a folder has a layout of ours.
fn is_ours(path: &Path) -> bool {
    let ending = path.extension().and_then(OsStr::to_str);
    FRONTENDS.iter().any(|language| {
        language.format.is_some() && ending.is_some_and(|ending| language.extensions.contains(&ending))
    })
}

/// The text of a file, as it is and in the usual layout.
fn formatted(path: &Path) -> Result<(String, String), Box<Unreadable>> {
    let wrong = |reason: String, diagnostics, source| {
        Box::new(Unreadable { name: name(path), reason, diagnostics, source })
    };
    let text = text_of(path).map_err(|reason| wrong(reason, Vec::new(), None))?;
    let language = frontend::choose(None, &name(path), &text);
    let Some(format) = language.and_then(|language| language.format) else {
        return Err(wrong("only programs in `.fw` can be formatted".to_string(), Vec::new(), None));
    };
    match format(&text) {
        Ok(new) => Ok((text, new)),
        Err(diagnostics) => {
            let reason = counted(diagnostics.len(), "error");
            Err(wrong(reason, diagnostics, Some(Source::new(name(path), text))))
        }
    }
}
