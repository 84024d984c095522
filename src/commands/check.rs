//! `check`: does evidence hold?

use crate::args::{Check, bytes};
use crate::console::Console;
use crate::exit::{Exit, Failure};
use crate::input::{cannot_read, name};
use crate::limits::{Budget, Interrupt, Watch, allocated};
use crate::numbers::counted;
use crate::progress::Display;
use crate::report::{Claimed, Failed};
use engine::prevented_by;
use evidence::{Claim, FileError, Opener, Rejected, Task, check_file, read_certificate, write_smtlib};
use program::Program;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;

/// However little memory may be taken, the checker gets this much of it, in bytes.
const LEAST_ROOM: usize = 1 << 18;

/// Runs the command.
pub fn check(args: &Check, console: &Console) -> Result<Exit, Failure> {
    let report = args.report.chosen();
    let loaded = match super::load_or_report("check", &args.file, &args.input, report, console)? {
        Ok(loaded) => loaded,
        Err(exit) => return Ok(exit),
    };
    let evidence = name(&args.evidence);
    let (interrupt, display) = (Interrupt::listen(), Display::new(console.look().quiet));
    let open = || open(&args.evidence);
    // What the checker holds is bounded by its budget, of which it may use twice as much.
    let budget = Budget { memory: usize::MAX, ..args.resources.budget() };
    let watch = Watch::new(budget, &interrupt, &display, evidence.clone());
    let room = bytes(args.resources.memory).saturating_sub(allocated()).max(LEAST_ROOM);
    let claim = check_file(&loaded.program, &open, room / 2, &watch);
    display.pause(|| ());
    let (printed, exit) = match &claim {
        Ok(claim) => {
            let prevented_by = match claim {
                Claim::Unsafe(model, checked) => {
                    let task = Task { program: &loaded.program, model: *model };
                    checked.violated().and_then(|violated| prevented_by(&task, violated, &watch))
                }
                _ => None,
            };
            let claimed = Claimed {
                file: &loaded.name,
                evidence: &evidence,
                program: &loaded.program,
                claim,
                prevented_by: prevented_by.as_ref(),
                seconds: watch.elapsed().as_secs_f64(),
            };
            (report.claim(&claimed, console.look()), Exit::Holds)
        }
        Err(error) => {
            let stopped = matches!(error, FileError::Rejected(Rejected::Stopped(_)));
            let failed = Failed {
                stopped,
                command: "check",
                file: &loaded.name,
                model: None,
                reason: reason(&evidence, error),
                diagnostics: &[],
                source: None,
            };
            (report.failure(&failed), if stopped { Exit::Unknown } else { Exit::Error })
        }
    };
    console.print(&printed)?;
    match (&args.smtlib, exit) {
        (Some(out), Exit::Holds) => write_obligations(&loaded.program, &open, out, &watch).map(|()| exit),
        _ => Ok(exit),
    }
}

/// Writes what other solvers can check. An existing file is not written over.
fn write_obligations(
    program: &Program,
    open: &Opener<'_>,
    out: &Path,
    watch: &Watch<'_>,
) -> Result<(), Failure> {
    let failure = |error: &dyn std::fmt::Display| Failure::Message(format!("{}: {error}", name(out)));
    let read = read_certificate(program, open, watch).map_err(|error| failure(&error))?;
    let Some((model, certificate)) = read else {
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
        FileError::Rejected(Rejected::Stopped(stop)) => format!("{stop} while checking {evidence}"),
        FileError::Rejected(why) => format!("the evidence is rejected: {evidence}: {why}"),
        FileError::Witness(why) => format!("the evidence is rejected: {evidence}: {why}"),
    }
}
