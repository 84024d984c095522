//! `verify`: is it safe?
//!
//! Every file is read once and asked about under each model. An engine's answer is checked
//! before anything is said about it; one that does not pass is a bug of ours and never an
//! answer. After a violation under a weaker model the same engine is asked about SC, within
//! what is left of the limits, so that the report can say whether fences could help at all.

use super::each_file::{Done, Found, each_file, usual_threads};
use crate::args::{Exploring, Verify, chosen_models};
use crate::console::Console;
use crate::evidence_files::Store;
use crate::exit::{Exit, Failure};
use crate::html_file::HtmlFile;
use crate::input::{Loaded, Unreadable, expand, load};
use crate::limits::{Interrupt, Watch};
use crate::progress::Display;
use crate::report::html::{self, Piece};
use crate::report::{Answered, Failed, LitmusAnswered, Look, Printed, Report};
use engine::{Engine, FencePoint};
use evidence::{Checked, Statistics, Task, Verdict, check_outcomes, happens_under_sc};
use machine::{Model, SC};
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
    let files = expand(&args.files);
    let threads = args.threads.unwrap_or_else(usual_threads);
    let session = Session {
        args,
        // What files leave of the threads goes to engines.
        engine_threads: (threads / files.len().max(1)).max(1),
        report,
        engine: args.exploring.engine(),
        models: chosen_models(&args.model),
        interrupt: &interrupt,
        display: Display::new(console.look().quiet),
        store: args.evidence.as_ref().map(open).transpose().map_err(Failure::Message)?,
        html: HtmlFile::open(args.html.html.as_deref(), args.force, &interrupt)?,
        look: console.look(),
    };
    let around = (&interrupt, &session.display, console);
    let (worst, pieces) = each_file(files, threads, around, |file, stem| {
        let Told { printed, exit, pieces } = session.file(file, stem);
        Done { printed, exit, more: pieces }
    })?;
    if let Some(file) = &session.html {
        file.write(&pieces.into_iter().flatten().collect::<Vec<_>>(), session.look.quiet)?;
    }
    Ok(worst)
}

/// What there is to say about a file or an answer.
struct Told {
    printed: Printed,
    exit: Exit,
    /// The same for a report, if there is one.
    pieces: Vec<Piece>,
}

/// One run of the command.
struct Session<'a> {
    args: &'a Verify,
    engine_threads: usize,
    report: &'static dyn Report,
    engine: &'static dyn Engine,
    models: Vec<Model>,
    interrupt: &'a Interrupt,
    display: Display,
    store: Option<Store>,
    html: Option<HtmlFile>,
    look: &'a Look,
}

impl Session<'_> {
    /// Everything about one file.
    fn file(&self, file: &Found, stem: &str) -> Told {
        let refused = |unreadable: &Unreadable| self.failed(&super::unreadable("verify", unreadable));
        let loaded = match file {
            Err(unreadable) => return refused(unreadable),
            Ok(path) => match load(path, &self.args.input) {
                Err(unreadable) => return refused(&unreadable),
                Ok(loaded) => super::warned(loaded),
            },
        };
        let printed = match self.look.quiet {
            true => Printed::default(),
            false => self.report.warnings(&loaded.program.source, &loaded.warnings),
        };
        let mut told = Told { printed, exit: Exit::Holds, pieces: Vec::new() };
        for model in &self.models {
            let more = self.model(&loaded, model, stem);
            told.printed.out += &more.printed.out;
            told.printed.err += &more.printed.err;
            told.exit = told.exit.worst(more.exit);
            told.pieces.extend(more.pieces);
        }
        told
    }

    /// What the report has, if there is one.
    fn piece(&self, make: impl FnOnce() -> Piece) -> Vec<Piece> {
        self.html.is_some().then(make).into_iter().collect()
    }

    fn failed(&self, failed: &Failed<'_>) -> Told {
        let pieces = self.piece(|| html::failure(failed));
        Told { printed: self.report.failure(failed), exit: Exit::Error, pieces }
    }

    fn model(&self, loaded: &Loaded, model: &Model, stem: &str) -> Told {
        let task = Task { program: &loaded.program, model: *model };
        if self.args.planning.explain_plan {
            let as_json = self.report.name() == "json";
            let printed = super::plan::explain(&loaded.name, &task, &self.args.exploring, as_json);
            return Told { printed, exit: Exit::Holds, pieces: Vec::new() };
        }
        let file = Path::new(&loaded.name).file_name().unwrap_or_default().to_string_lossy();
        let label = format!("{file} ({})", model.name());
        let watch = Watch::new(self.args.limits.budget(), self.interrupt, &self.display, label)
            .on_threads(self.engine_threads)
            .verbose(self.look.verbose);
        let answer = match &loaded.program.question {
            Some(question) => self.litmus(loaded, &task, question, &watch, stem),
            None => self.safety(loaded, &task, &watch, stem),
        };
        answer.unwrap_or_else(|reason| {
            let failed = Failed {
                stopped: false,
                command: "verify",
                file: &loaded.name,
                model: Some(*model),
                reason,
                diagnostics: &[],
                source: None,
            };
            self.failed(&failed)
        })
    }

    fn safety(
        &self,
        loaded: &Loaded,
        task: &Task<'_>,
        watch: &Watch<'_>,
        stem: &str,
    ) -> Result<Told, String> {
        let (checked, statistics, engine) = self.answer(task, watch)?;
        let sc_violation = match checked.verdict() {
            Verdict::Unsafe(trace) if happens_under_sc(task.program, trace) => Some(true),
            Verdict::Unsafe(_) => sc_violation(self.engine, &self.args.exploring, task, watch, &statistics)?,
            _ => None,
        };
        let prevented_by = prevented_by(task, &checked, sc_violation, watch);
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
            prevented_by: prevented_by.as_ref(),
            engine,
            statistics,
            seconds,
            peak: watch.peak(),
            evidence: evidence.as_deref(),
            warnings: &loaded.warnings,
        };
        let pieces = self.piece(|| html::answer(&answered));
        Ok(Told { printed: self.report.answer(&answered, self.look), exit, pieces })
    }

    fn answer(
        &self,
        task: &Task<'_>,
        watch: &Watch<'_>,
    ) -> Result<(Checked, Statistics, &'static str), String> {
        super::answer(self.engine, task, &self.args.exploring.run(watch))
    }

    fn litmus(
        &self,
        loaded: &Loaded,
        task: &Task<'_>,
        question: &Question,
        watch: &Watch<'_>,
        stem: &str,
    ) -> Result<Told, String> {
        let (outcomes, statistics) = engine::outcomes(task, question, &self.args.exploring.run(watch));
        let checked = check_outcomes(task, question, &outcomes, watch);
        let found = checked.map_err(|why| super::bug("outcomes", &why))?;
        let written = self.store.as_ref().map(|store| store.write_outcomes(stem, task, &found, &outcomes));
        let evidence = written.transpose()?.flatten();
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
            evidence: evidence.as_deref(),
            engine: "outcomes",
            statistics,
            seconds: watch.elapsed().as_secs_f64(),
            peak: watch.peak(),
            warnings: &loaded.warnings,
        };
        let pieces = self.piece(|| html::litmus(&answered));
        Ok(Told { printed: self.report.litmus(&answered, self.look), exit, pieces })
    }
}

/// The fence that prevents a violating run, where fences could help at all.
pub(super) fn prevented_by(
    task: &Task<'_>,
    checked: &Checked,
    sc_violation: Option<bool>,
    watch: &Watch<'_>,
) -> Option<FencePoint> {
    let violated = checked.violated().filter(|_| sc_violation != Some(true))?;
    engine::prevented_by(task, violated, watch)
}

/// Whether SC violates something as well, as far as that can be found out.
pub(super) fn sc_violation(
    engine: &dyn Engine,
    exploring: &Exploring,
    task: &Task<'_>,
    watch: &Watch<'_>,
    statistics: &Statistics,
) -> Result<Option<bool>, String> {
    if task.model.is_sc() {
        return Ok(Some(true));
    }
    let states = statistics.states.saturating_mul(SIDE_FACTOR).max(SIDE_STATES);
    let side = watch.with_states(states);
    let (checked, ..) = super::answer(engine, &Task { model: SC, ..*task }, &exploring.run(&side))?;
    Ok(match checked.verdict() {
        Verdict::Safe(_) => Some(false),
        Verdict::Unsafe(_) => Some(true),
        Verdict::Unknown(_) => None,
    })
}
