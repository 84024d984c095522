//! `fmt`: programs in the usual layout.

use crate::args::FmtArgs;
use crate::console::Console;
use crate::exit::{CommandError, Exit};
use crate::input::{Unreadable, expand, is_stdin, name, text_of};
use crate::numbers::counted;
use crate::report::{Failed, REPORTS};
use crate::session::{Session, Told};
use crate::whole_file::write_text;
use frontend::FRONTENDS;
use program::Source;
use std::ffi::OsStr;
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
            Err(why) => session.failed(&mut told, &Failed::unreadable("fmt", &why)),
            Ok((path, (_, new))) if is_stdin(&path) && !args.check => session.print_text(&new)?,
            Ok((_, (old, new))) if old == new => {}
            Ok((path, _)) if args.check => {
                changed += 1;
                session.print_text(&format!("{}\n", name(&path)))?;
            }
            Ok((path, (_, new))) => {
                changed += 1;
                write_text(&path, true, &session.interrupt, &new)?;
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
    let name = name(path);
    let text = text_of(path).map_err(|reason| Unreadable::new(&name, reason))?;
    let language = frontend::choose(None, &name, &text);
    let Some(format) = language.and_then(|language| language.format) else {
        return Err(Unreadable::new(name, "only programs in `.fw` can be formatted"));
    };
    match format(&text) {
        Ok(new) => Ok((text, new)),
        Err(diagnostics) => {
            let reason = counted(diagnostics.len(), "error");
            let source = Some(Source::new(&*name, text));
            Err(Box::new(Unreadable { name, reason, diagnostics, source }))
        }
    }
}
