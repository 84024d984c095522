//! `robust`: does it only behave as under SC?
//!
//! The engine crate decides; witnesses and proofs are checked before anybody sees them.
//! Then answers are reported, and witnesses written down with a picture of their happens-before.

use super::each_file::{Done, Found, each_file, usual_threads};
use super::witness_files::write_witness;
use crate::args::{Robust, chosen_models};
use crate::console::Console;
use crate::evidence_files::Store;
use crate::exit::{Exit, Failure};
use crate::input::{Loaded, Unreadable, expand, load};
use crate::limits::{Interrupt, Watch};
use crate::progress::Display;
use crate::report::{Failed, Look, Printed, Report, RobustAnswered};
use engine::{Cuts, RobustWork, Robustness, Run, robust_checked};
use evidence::{CheckedRobust, Monitor, Task};
use machine::{Model, TSO};
use std::path::{Path, PathBuf};

/// Runs the command.
pub fn robust(args: &Robust, console: &Console) -> Result<Exit, Failure> {
    let model = chosen_models(&args.model)[0];
    supported(model)?;
    let interrupt = Interrupt::listen();
    let report = args.report.chosen();
    let open = |folder: &PathBuf| Store::open(folder, report.form(), args.force, &interrupt);
    let files = expand(&args.files);
    let threads = args.threads.unwrap_or_else(usual_threads);
    let session = Session {
        args,
        // What files leave of the threads goes to searches.
        search_threads: (threads / files.len().max(1)).max(1),
        report,
        model,
        interrupt: &interrupt,
        display: Display::new(console.look().quiet),
        store: args.evidence.as_ref().map(open).transpose().map_err(Failure::Message)?,
        look: console.look(),
    };
    let around = (&interrupt, &session.display, console);
    let work = |file: &Found, stem: &str| {
        let (printed, exit) = session.file(file, stem);
        Done { printed, exit, more: () }
    };
    each_file(files, threads, around, work).map(|(worst, _)| worst)
}

/// Robustness against this model can be asked about.
pub fn supported(model: Model) -> Result<(), Failure> {
    if model.is_sc() || model == TSO {
        return Ok(());
    }
    let other = model.name().to_uppercase();
    Err(Failure::Message(format!("robustness against {other} is not supported, only against TSO")))
}

/// Whether a model delays nothing, so that every program is robust against it.
pub fn delays_nothing(model: Model) -> bool {
    model.is_sc()
}

/// One run of the command.
struct Session<'a> {
    args: &'a Robust,
    search_threads: usize,
    report: &'static dyn Report,
    model: Model,
    interrupt: &'a Interrupt,
    display: Display,
    store: Option<Store>,
    look: &'a Look,
}

impl Session<'_> {
    fn file(&self, file: &Found, stem: &str) -> (Printed, Exit) {
        let refused = |unreadable: &Unreadable| {
            (super::unreadable_report("robust", unreadable, self.report), Exit::Error)
        };
        let loaded = match file {
            Err(unreadable) => return refused(unreadable),
            Ok(path) => match load(path, &self.args.input) {
                Err(unreadable) => return refused(&unreadable),
                Ok(loaded) => loaded,
            },
        };
        let warnings = match self.look.quiet {
            true => Printed::default(),
            false => self.report.warnings(&loaded.program.source, &loaded.warnings),
        };
        let (printed, exit) = self.program(&loaded, stem).unwrap_or_else(|reason| {
            let failed = Failed {
                stopped: false,
                command: "robust",
                file: &loaded.name,
                model: Some(self.model),
                reason,
                diagnostics: &[],
                source: None,
            };
            (self.report.failure(&failed), Exit::Error)
        });
        (Printed { out: warnings.out + &printed.out, err: warnings.err + &printed.err }, exit)
    }

    fn program(&self, loaded: &Loaded, stem: &str) -> Result<(Printed, Exit), String> {
        let task = Task { program: &loaded.program, model: self.model };
        let file = Path::new(&loaded.name).file_name().unwrap_or_default().to_string_lossy();
        let watch = Watch::new(self.args.limits.budget(), self.interrupt, &self.display, file.into_owned())
            .on_threads(self.search_threads);
        let (robustness, work, proof) = if delays_nothing(self.model) {
            (Robustness::Robust, RobustWork::default(), None)
        } else {
            let run = Run { monitor: &watch, threads: watch.threads(), ..Run::default() };
            robust_checked(&loaded.program, &run, Cuts::ALL).map_err(|why| super::bug("robust", &why))?
        };
        let exit = match &robustness {
            Robustness::Robust => Exit::Holds,
            Robustness::NotRobust(_) => Exit::Violated,
            Robustness::Unknown(_) => Exit::Unknown,
            Robustness::Rejected(why) => return Err(super::bug("robust", why)),
        };
        let (seconds, peak) = (watch.elapsed().as_secs_f64(), watch.peak());
        let evidence = self.record(loaded, stem, &robustness, proof.as_ref())?;
        let answered = RobustAnswered {
            file: &loaded.name,
            task,
            robustness: &robustness,
            work,
            seconds,
            peak,
            evidence: &evidence,
            warnings: &loaded.warnings,
        };
        Ok((self.report.robust(&answered, self.look), exit))
    }

    /// Writes what stands behind an answer, if that is wanted.
    fn record(
        &self,
        loaded: &Loaded,
        stem: &str,
        robustness: &Robustness,
        proof: Option<&CheckedRobust>,
    ) -> Result<Vec<PathBuf>, String> {
        let name = format!("{stem}.{}", self.model.name());
        match (&self.store, robustness, proof) {
            (Some(store), Robustness::Robust, Some(checked)) => {
                store.write_robust(&name, &loaded.program, checked.proof()).map(|path| vec![path])
            }
            (Some(store), Robustness::NotRobust(checked), _) => {
                write_witness(store, &name, &loaded.name, &loaded.program, checked)
            }
            _ => Ok(Vec::new()),
        }
    }
}
