//! The commands, one a file.

mod bench;
mod check;
mod ci;
mod each_file;
mod fence;
mod generate;
mod interactive;
mod list;
mod lsp;
mod plan;
mod robust;
mod schema;
mod show;
mod verify;
mod walk;
mod witness_files;

pub use bench::{BENCHES, bench};
pub use check::check;
pub use ci::ci;
pub use ci::expectations;
pub use fence::fence;
pub use generate::{completions, man};
pub use interactive::interactive;
pub use list::list;
pub use lsp::conversation;
pub use lsp::lsp;
pub use robust::robust;
pub use schema::schema;
pub use show::show;
pub use verify::verify;
pub use walk::walk;

use crate::args::Input;
use crate::console::Console;
use crate::exit::{Exit, Failure};
use crate::input::{Loaded, Unreadable, load};
use crate::report::{Failed, Printed, Report};
use engine::{Engine, Run};
use evidence::{Checked, Ignore, Named, Reason, Rejected, Statistics, Task, Verdict, simplify};
use frontend::Diagnostic;
use program::{Program, Span};
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
    report.failure(&self::unreadable(command, unreadable))
}

fn unreadable<'a>(command: &'static str, unreadable: &'a Unreadable) -> Failed<'a> {
    Failed {
        stopped: false,
        command,
        file: &unreadable.name,
        model: None,
        reason: unreadable.reason.clone(),
        diagnostics: &unreadable.diagnostics,
        source: unreadable.source.as_ref(),
    }
}

/// The program, with a warning if it claims nothing: then it is safe whatever it does.
fn warned(mut loaded: Loaded) -> Loaded {
    if !claims_something(&loaded.program) {
        let warning = Diagnostic::warning(Span::NONE, "nothing is claimed of this program");
        loaded.warnings.push(warning.hint("add a property (`never`, `finally`) or an `assert`"));
    }
    loaded
}

/// Whether anything is claimed of a program.
fn claims_something(program: &Program) -> bool {
    let fails = |thread: &program::Thread| thread.locs().any(|loc| thread.location(loc).failure.is_some());
    program.question.is_some() || !program.properties.is_empty() || program.threads.iter().any(fails)
}

/// The engine's answer, checked, violations made simple, and who found it. An error is a bug of ours.
fn answer(
    engine: &dyn Engine,
    task: &Task<'_>,
    run: &Run<'_>,
) -> Result<(Checked, Statistics, &'static str), String> {
    let named = Named::new(engine.name(), run.monitor);
    let answer = engine.verify(task, &Run { monitor: &named, ..*run });
    drop(named);
    let checked = match evidence::check(task, answer.verdict, run.monitor) {
        // Out of time while checking: then nothing is known.
        Err(Rejected::Stopped(stop)) => {
            evidence::check(task, Verdict::Unknown(vec![Reason::Stopped(stop)]), &Ignore)
        }
        checked => checked,
    };
    let checked = simplify(task, checked.map_err(|why| bug(answer.engine, &why))?, run.monitor);
    Ok((checked, answer.statistics, answer.engine))
}

fn bug(engine: &str, why: &dyn std::fmt::Display) -> String {
    format!(
        "this is a bug in fencewright, please report it: the evidence of the engine `{engine}` was rejected: {why}"
    )
}
