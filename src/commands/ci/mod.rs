//! `ci`: are all answers as `fencewright.toml` expects them?
//!
//! Every file of every `[[program]]` and every `[[fences]]` is a job of its own; jobs run in
//! parallel and are reported in the order of the file. Of a program, the verdict under each model is
//! compared, and then each fence that is written in it: one that can go without anything being
//! violated, under any model that it is expected to be safe under, is redundant. A fence is
//! missing where a verdict should be safe, is unsafe, and SC is safe.

mod ask;
mod config;
mod files;
mod init;
mod programs;
mod sets;
mod update;

use crate::args::CiArgs;
use crate::console::Console;
use crate::exit::{CommandError, Exit};
use crate::input::name;
use crate::numbers::counted;
use crate::report::{Answered, Compared, Failed, Said, Status, Subject};
use crate::session::{Outputs, Session, Told};
use config::CiConfig;
use config::written::Expected;
use files::{Job, JobTask, jobs};
use machine::Model;

/// What is wrong with a `fencewright.toml`, for fuzz targets.
pub fn expectations(text: &str) -> Result<(), Vec<frontend::Diagnostic>> {
    let config = CiConfig::of_text(std::path::Path::new("fencewright.toml"), text.to_string());
    config.map(drop).map_err(|wrong| wrong.diagnostics)
}

/// Runs the command.
pub fn ci(args: &CiArgs, console: &Console) -> Result<Exit, CommandError> {
    let outputs = Outputs { html: args.html.html.as_ref(), force: args.force, ..Outputs::default() };
    let session = Session::open("ci", args.report.chosen(), outputs, console)?;
    let mut told = Told::default();
    let read = match args.init {
        true => init::config(args)?,
        false => CiConfig::read(&args.config),
    };
    let config = match read {
        Ok(config) => config,
        Err(wrong) => {
            session.failed(&mut told, &Failed::unreadable("ci", &wrong));
            session.show(&told)?;
            session.finish()?;
            return Ok(told.exit);
        }
    };
    let jobs = jobs(&config);
    let (mut all, mut found) = (Vec::new(), Vec::new());
    let work = |at: usize, threads: usize| {
        let comparing = Comparing { session: &session, config: &config, update: args.update, threads };
        let JobResult { told, compared, found } = comparing.job(&jobs[at]);
        // What is found today is not compared with anything when the file is new.
        (if args.init { Told::default() } else { told }, (compared, found))
    };
    session.each(jobs.len(), args.threads, work, |(compared, more)| {
        all.extend(compared);
        found.extend(more);
    })?;
    let write = || update::write(&args.config, &config, &found, &session.interrupt);
    if args.init {
        let changes = write()?;
        anstream::eprintln!("{}: {}, {changes}", config.name, counted(config.programs.len(), "program"));
        return Ok(Exit::Holds);
    }
    session.say(&mut told, &Said::Overview(&all));
    session.show(&told)?;
    session.finish()?;
    let exit = all.iter().fold(Exit::Holds, |worst, compared| worst.worst(compared.status.exit()));
    if !args.update {
        return Ok(exit);
    }
    anstream::eprintln!("{}: {}", config.name, write()?);
    // What was written is as expected from now on; a fence in a program is not ours to remove.
    let left = all.iter().filter(|compared| !update::settles(compared, &config, &found));
    Ok(left.fold(Exit::Holds, |worst, compared| worst.worst(compared.status.exit())))
}

/// What a job came to.
#[derive(Default)]
struct JobResult {
    told: Told,
    compared: Vec<Compared>,
    /// For `--update`.
    found: Vec<Update>,
}

/// An answer that `--update` may write.
enum Update {
    /// The verdict about a file of a `[[program]]`.
    Verdict { entry: usize, file: String, model: Model, verdict: Expected },
    /// Whether a file of a `[[program]]` is robust against a model, if that is known.
    Robustness { entry: usize, model: Model, robust: Option<bool> },
    /// The cheapest fences for a `[[fences]]`.
    Fences { entry: usize, places: Vec<config::ExpectedFence> },
}

/// Compares answers with what is expected.
struct Comparing<'a> {
    session: &'a Session<'a>,
    config: &'a CiConfig,
    update: bool,
    /// What jobs leave of the threads.
    threads: usize,
}

impl Comparing<'_> {
    fn job(&self, job: &Job) -> JobResult {
        let mut done = JobResult::default();
        let asked = AskedEntry { file: &name(&job.path), line: job.line, model: None };
        match &job.task {
            _ if self.session.interrupt.is_raised() => {
                let (subject, found) = (Subject::Verdict, "interrupted");
                let compared = self.compared(&asked, subject, "", Status::Unknown, found, found.to_string());
                self.add(&mut done, compared, None);
            }
            JobTask::Program(entry) => self.program(*entry, &job.path, &mut done),
            JobTask::Fences(entry) => self.fences(*entry, &job.path, &mut done),
            JobTask::Nothing(reason) => self.failed(&asked, reason.clone(), &mut done),
        }
        done
    }

    /// A comparison without a place, a time or an answer.
    fn compared(
        &self,
        asked: &AskedEntry<'_>,
        subject: Subject,
        expected: &str,
        status: Status,
        found: &str,
        message: String,
    ) -> Compared {
        Compared {
            file: asked.file.to_string(),
            model: asked.model,
            subject,
            status,
            expected: expected.to_string(),
            found: found.to_string(),
            message,
            place: None,
            config: (self.config.name.clone(), asked.line),
            seconds: 0.0,
        }
    }

    /// Takes a comparison up, and says it, with the answer if that is not the expected one.
    fn add(&self, done: &mut JobResult, compared: Compared, shown: Option<&Answered<'_>>) {
        self.session.say(&mut done.told, &Said::Compared(&compared, shown));
        done.compared.push(compared);
    }

    /// Something about a file that could not be asked at all.
    fn failed(&self, asked: &AskedEntry<'_>, reason: String, done: &mut JobResult) {
        let compared = self.compared(asked, Subject::Verdict, "", Status::Error, "error", reason);
        self.add(done, compared, None);
    }
}

/// What is asked about.
struct AskedEntry<'a> {
    file: &'a str,
    /// Of the entry that expects something of it.
    line: usize,
    model: Option<Model>,
}
