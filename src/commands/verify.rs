//! `verify`: is it safe?
//!
//! Every file is read once and asked about under each model. An engine's answer is checked
//! before anything is said about it; one that does not pass is a bug of ours and never an
//! answer. After a violation under a weaker model the same engine is asked about SC, within
//! what is left of the limits, so that the report can say whether fences could help at all.

use super::each_file::{Found, each_file};
use crate::args::{Verify, chosen_models};
use crate::console::Console;
use crate::evidence_files::Store;
use crate::exit::{Exit, Failure};
use crate::input::{Loaded, Unreadable, load};
use crate::limits::{Interrupt, Watch};
use crate::progress::Display;
use crate::report::{Answered, Failed, LitmusAnswered, Look, Printed, Report};
use engine::Engine;
use evidence::{Checked, Statistics, Task, Verdict, check_outcomes};
use machine::{MODELS, Model};
use program::Question;
use std::path::{Path, PathBuf};

/// The question about SC may look at this many states, or at this many times the states that
/// the first question took. Counting states keeps the answer the same on every machine.
const SIDE_STATES: usize = 1_000_000;
const SIDE_FACTOR: usize = 4;

/// Runs the command.
pub fn verify(args: &Verify, console: &Console) -> Result<Exit, Failure> {
    let interrupt = Interrupt::listen();
    let report = args.report.chosen();
    let open = |folder: &PathBuf| Store::open(folder, report.form(), args.force, &interrupt);
    let session = Session {
        args,
        report,
        engine: args.exploring.engine(),
        models: chosen_models(&args.model),
        interrupt: &interrupt,
        display: Display::new(console.look().quiet),
        store: args.evidence.as_ref().map(open).transpose().map_err(Failure::Message)?,
        look: console.look(),
    };
    let around = (&interrupt, &session.display, console);
    each_file(&args.files, args.threads, around, |file, stem| session.file(file, stem))
}

/// One run of the command.
struct Session<'a> {
    args: &'a Verify,
    report: &'static dyn Report,
    engine: &'static dyn Engine,
    models: Vec<Model>,
    interrupt: &'a Interrupt,
    display: Display,
    store: Option<Store>,
    look: &'a Look,
}

impl Session<'_> {
    /// Everything about one file.
    fn file(&self, file: &Found, stem: &str) -> (Printed, Exit) {
        let refused = |unreadable: &Unreadable| {
            (super::unreadable_report("verify", unreadable, self.report), Exit::Error)
        };
        let loaded = match file {
            Err(unreadable) => return refused(unreadable),
            Ok(path) => match load(path, &self.args.input) {
                Err(unreadable) => return refused(&unreadable),
                Ok(loaded) => super::warned(loaded),
            },
        };
        let mut printed = match self.look.quiet {
            true => Printed::default(),
            false => self.report.warnings(&loaded.program.source, &loaded.warnings),
        };
        let mut worst = Exit::Holds;
        for model in &self.models {
            let (more, exit) = self.model(&loaded, model, stem);
            printed.out += &more.out;
            printed.err += &more.err;
            worst = worst.worst(exit);
        }
        (printed, worst)
    }

    fn model(&self, loaded: &Loaded, model: &Model, stem: &str) -> (Printed, Exit) {
        let task = Task { program: &loaded.program, model: *model };
        let file = Path::new(&loaded.name).file_name().unwrap_or_default().to_string_lossy();
        let label = format!("{file} ({})", model.name());
        let watch = Watch::new(self.args.limits.budget(), self.interrupt, &self.display, label);
        let answer = match &loaded.program.question {
            Some(question) => self.litmus(loaded, &task, question, &watch),
            None => self.safety(loaded, &task, &watch, stem),
        };
        answer.unwrap_or_else(|reason| {
            let failed = Failed {
                command: "verify",
                file: &loaded.name,
                model: Some(*model),
                reason,
                diagnostics: &[],
                source: None,
            };
            (self.report.failure(&failed), Exit::Error)
        })
    }

    fn safety(
        &self,
        loaded: &Loaded,
        task: &Task<'_>,
        watch: &Watch<'_>,
        stem: &str,
    ) -> Result<(Printed, Exit), String> {
        let (checked, statistics, engine) = self.answer(task, watch)?;
        let sc_violation = match checked.verdict() {
            Verdict::Unsafe(_) => self.sc_violation(task, watch, &statistics)?,
            _ => None,
        };
        let seconds = watch.elapsed().as_secs_f64();
        let written = self.store.as_ref().map(|store| store.write(stem, task, checked.verdict()));
        let evidence = written.transpose()?.flatten();
        let exit = match checked.verdict() {
            Verdict::Safe(_) => Exit::Holds,
            Verdict::Unsafe(_) => Exit::Violated,
            Verdict::Unknown(_) => Exit::Unknown,
        };
        let answered = Answered {
            file: &loaded.name,
            task: *task,
            checked: &checked,
            sc_violation,
            engine,
            statistics,
            seconds,
            peak: watch.peak(),
            evidence: evidence.as_deref(),
            warnings: &loaded.warnings,
        };
        Ok((self.report.answer(&answered, self.look), exit))
    }

    fn answer(
        &self,
        task: &Task<'_>,
        watch: &Watch<'_>,
    ) -> Result<(Checked, Statistics, &'static str), String> {
        super::answer(self.engine, task, &self.args.exploring.run(watch))
    }

    /// Whether SC violates something as well, as far as that can be found out.
    fn sc_violation(
        &self,
        task: &Task<'_>,
        watch: &Watch<'_>,
        statistics: &Statistics,
    ) -> Result<Option<bool>, String> {
        let sc = MODELS[0];
        if task.model.name() == sc.name() {
            return Ok(Some(true));
        }
        let states = statistics.states.saturating_mul(SIDE_FACTOR).max(SIDE_STATES);
        let (checked, ..) = self.answer(&Task { model: sc, ..*task }, &watch.with_states(states))?;
        Ok(match checked.verdict() {
            Verdict::Safe(_) => Some(false),
            Verdict::Unsafe(_) => Some(true),
            Verdict::Unknown(_) => None,
        })
    }

    fn litmus(
        &self,
        loaded: &Loaded,
        task: &Task<'_>,
        question: &Question,
        watch: &Watch<'_>,
    ) -> Result<(Printed, Exit), String> {
        let (outcomes, statistics) = engine::outcomes(task, question, &self.args.exploring.run(watch));
        let found = check_outcomes(task, question, &outcomes).map_err(|why| super::bug("outcomes", &why))?;
        let exit = match found.holds() {
            Some(true) => Exit::Holds,
            Some(false) => Exit::Violated,
            None => Exit::Unknown,
        };
        let answered = LitmusAnswered {
            file: &loaded.name,
            task: *task,
            question,
            found: &found,
            engine: "outcomes",
            statistics,
            seconds: watch.elapsed().as_secs_f64(),
            peak: watch.peak(),
            warnings: &loaded.warnings,
        };
        Ok((self.report.litmus(&answered, self.look), exit))
    }
}
