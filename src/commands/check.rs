//! `check`: does evidence hold?

use crate::args::{CheckArgs, bytes};
use crate::console::Console;
use crate::exit::{CommandError, Exit};
use crate::input::{cannot_read, name};
use crate::limits::{Budget, Interrupt, Watch, allocated};
use crate::numbers::counted;
use crate::report::{Claimed, Failed, Said};
use crate::session::{Outputs, Session, Told};
use crate::whole_file::write_whole;
use engine::{Explanation, explained};
use evidence::{Claim, FileError, Opener, Rejected, Task, check_file, read_certificate, write_smtlib};
use program::Program;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// However little memory may be taken, the checker gets this much of it, in bytes.
const LEAST_ROOM: usize = 1 << 18;

/// Runs the command.
pub fn check(args: &CheckArgs, console: &Console) -> Result<Exit, CommandError> {
    let session = Session::open("check", args.report.chosen(), Outputs::default(), console)?;
    let mut told = Told::default();
    let Some(loaded) = session.load(&mut told, &Ok(args.file.clone()), &args.input) else {
        session.show(&told)?;
        return Ok(told.exit);
    };
    let evidence = args.evidence.iter().map(|path| name(path)).collect::<Vec<_>>().join(", ");
    let open = || open(&args.evidence);
    // What the checker holds is bounded by its budget, of which it may use twice as much.
    let budget = Budget { memory: usize::MAX, ..args.resources.budget() };
    let watch = session.watch_over(budget, evidence.clone());
    let room = bytes(args.resources.memory).saturating_sub(allocated()).max(LEAST_ROOM);
    match check_file(&loaded.program, &open, room / 2, &watch) {
        Ok(claim) => {
            let claimed = Claimed {
                file: &loaded.name,
                evidence: &evidence,
                program: &loaded.program,
                why: &why(&loaded.program, &claim, &watch),
                claim: &claim,
                seconds: watch.elapsed().as_secs_f64(),
            };
            session.say(&mut told, &Said::Claim(&claimed));
        }
        Err(error) => {
            let stopped = matches!(error, FileError::Rejected(Rejected::Stopped(_)));
            let failed = Failed::new("check", &loaded.name, None, reason(&evidence, &error));
            session.failed(&mut told, &Failed { stopped, ..failed });
        }
    }
    session.show(&told)?;
    if let (Some(out), Exit::Holds) = (&args.smtlib, told.exit) {
        write_obligations(&loaded.program, &open, (out, args.force), &watch, &session.interrupt)?;
    }
    Ok(told.exit)
}

/// Why the violation that evidence shows can happen.
fn why(program: &Program, claim: &Claim, watch: &Watch<'_>) -> Explanation {
    let Claim::Unsafe(model, checked) = claim else { return Explanation::default() };
    explained(&Task::safe(program, *model), checked, None, watch)
}

/// Writes what other solvers can check. An existing file is only written over if that was asked for.
fn write_obligations(
    program: &Program,
    open: &Opener<'_>,
    (out, force): (&Path, bool),
    watch: &Watch<'_>,
    interrupt: &Interrupt,
) -> Result<(), String> {
    let failure = |error: &dyn std::fmt::Display| format!("{}: {error}", name(out));
    let read = read_certificate(program, open, watch).map_err(|error| failure(&error))?;
    let Some((model, certificate)) = read else {
        return Err(failure(&"a run is replayed, there is nothing to solve"));
    };
    let mut text = Vec::new();
    let task = Task::safe(program, model);
    let count = write_smtlib(&task, &certificate, &mut text).map_err(|error| failure(&error))?;
    write_whole(out, force, interrupt, |file| file.write_all(&text))?;
    anstream::eprintln!("{}: {}, each to be answered unsat", name(out), counted(count, "obligation"));
    Ok(())
}

/// Opens files that can be read again and again, one behind the other.
pub fn open(paths: &[PathBuf]) -> io::Result<Box<dyn BufRead>> {
    let mut all: Box<dyn BufRead> = Box::new(io::empty());
    for path in paths {
        let file = File::open(path)?;
        if file.metadata()?.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        all = Box::new(all.chain(BufReader::new(file)));
    }
    Ok(all)
}

pub fn reason(evidence: &str, error: &FileError) -> String {
    match error {
        FileError::Io(error) => format!("evidence {evidence}: {}", cannot_read(error)),
        FileError::Line(line, message) => {
            format!("the evidence is rejected: {evidence}, line {line}: {message}")
        }
        FileError::Rejected(Rejected::Stopped(stop)) => format!("{stop} while checking {evidence}"),
        FileError::Rejected(why) => format!("the evidence is rejected: {evidence}: {why}"),
    }
}
