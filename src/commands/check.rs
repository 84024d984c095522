//! `check`: does evidence hold?

use crate::args::{Check, bytes};
use crate::console::Console;
use crate::exit::{Exit, Failure};
use crate::input::{cannot_read, name};
use crate::numbers::counted;
use crate::report::{Claimed, Failed};
use evidence::{FileError, Opener, Task, check_file, read_certificate, write_smtlib};
use program::Program;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::time::Instant;

/// Runs the command.
pub fn check(args: &Check, console: &Console) -> Result<Exit, Failure> {
    let report = args.report.chosen();
    let loaded = match super::load_or_report("check", &args.file, &args.input, report, console)? {
        Ok(loaded) => loaded,
        Err(exit) => return Ok(exit),
    };
    let started = Instant::now();
    let open = || open(&args.evidence);
    // The checker may use up to twice its budget.
    let claim = check_file(&loaded.program, &open, bytes(args.memory) / 2);
    let evidence = name(&args.evidence);
    let (printed, exit) = match &claim {
        Ok(claim) => {
            let claimed = Claimed {
                file: &loaded.name,
                evidence: &evidence,
                program: &loaded.program,
                claim,
                seconds: started.elapsed().as_secs_f64(),
            };
            (report.claim(&claimed, console.look()), Exit::Holds)
        }
        Err(error) => {
            let failed = Failed {
                command: "check",
                file: &loaded.name,
                model: None,
                reason: reason(&evidence, error),
                diagnostics: &[],
                source: None,
            };
            (report.failure(&failed), Exit::Error)
        }
    };
    console.print(&printed)?;
    match (&args.smtlib, exit) {
        (Some(out), Exit::Holds) => write_obligations(&loaded.program, &open, out).map(|()| exit),
        _ => Ok(exit),
    }
}

/// Writes what other solvers can check. An existing file is not written over.
fn write_obligations(program: &Program, open: &Opener<'_>, out: &Path) -> Result<(), Failure> {
    let failure = |error: &dyn std::fmt::Display| Failure::Message(format!("{}: {error}", name(out)));
    let Some((model, certificate)) = read_certificate(program, open).map_err(|error| failure(&error))? else {
        return Err(failure(&"a run is replayed, there is nothing to solve"));
    };
    let mut text = Vec::new();
    let task = Task { program, model };
    let count = write_smtlib(&task, &certificate, &mut text).map_err(|error| failure(&error))?;
    let mut file = File::create_new(out).map_err(|error| failure(&error))?;
    file.write_all(&text).map_err(|error| failure(&error))?;
    anstream::eprintln!("{}: {}, each to be answered unsat", name(out), counted(count, "obligation"));
    Ok(())
}

/// Opens a file that can be read again and again.
fn open(path: &Path) -> io::Result<Box<dyn BufRead>> {
    let file = File::open(path)?;
    if file.metadata()?.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    Ok(Box::new(BufReader::new(file)))
}

fn reason(evidence: &str, error: &FileError) -> String {
    match error {
        FileError::Io(error) => format!("evidence {evidence}: {}", cannot_read(error)),
        FileError::Line(line, message) => {
            format!("the evidence is rejected: {evidence}, line {line}: {message}")
        }
        FileError::Rejected(why) => format!("the evidence is rejected: {evidence}: {why}"),
        FileError::Witness(why) => format!("the evidence is rejected: {evidence}: {why}"),
    }
}
