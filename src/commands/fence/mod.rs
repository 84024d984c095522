//! `fence`: which fences make it safe, or robust, at the least cost?
//!
//! The search is the engine crate's. Here its answer is reported, written into the program's
//! own text (`text`), and recorded as evidence (`record`).

mod goal;
mod record;
mod robust;
mod text;

pub use goal::goal;
pub use text::with_fences;

use crate::args::{Fence, Goal, chosen_models};
use crate::console::Console;
use crate::evidence_files::Store;
use crate::exit::{Exit, Failure};
use crate::html_file::HtmlFile;
use crate::input::{Loaded, is_stdin, load};
use crate::limits::{Interrupt, Watch};
use crate::parallel::in_order;
use crate::progress::Display;
use crate::report::html::{self, Piece};
use crate::report::{Failed, Fenced, Look, Printed, Report};
use crate::whole_file::write_whole;
use engine::{FenceAnswer, FenceOptions, FencePoint, FencesFound, place_fences};
use evidence::Task;
use machine::Model;
use program::Program;
use record::Recorder;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Runs the command.
pub fn fence(args: &Fence, console: &Console) -> Result<Exit, Failure> {
    if let Some(out) = args.out.as_deref().filter(|out| !args.force && !is_stdin(out))
        && out.symlink_metadata().is_ok()
    {
        return Err(Failure::Message(format!("{} exists; --force replaces it", out.display())));
    }
    if args.goal == Goal::Robust {
        super::robust::supported(chosen_models(&args.model)[0])?;
        if args.planning.plan.explain_plan {
            let why = "--explain-plan is about engines, and robustness is decided without them";
            return Err(Failure::Message(why.to_string()));
        }
    }
    let interrupt = Interrupt::listen();
    let report = args.report.chosen();
    let open = |folder: &PathBuf| Store::open(folder, report.form(), args.force, &interrupt);
    let session = Session {
        args,
        report,
        interrupt: &interrupt,
        display: Display::new(console.look().quiet),
        store: args.evidence.as_ref().map(open).transpose().map_err(Failure::Message)?,
        html: HtmlFile::open(args.html.html.as_deref(), args.force, &interrupt)?,
        look: console.look(),
    };
    let mut ended = Done::default();
    // A thread of its own, because that has the stack that deep programs need.
    in_order(
        1,
        1,
        |_| session.file(),
        |done| {
            ended = done;
            Ok::<(), Failure>(())
        },
    )?;
    session.display.pause(|| ());
    session.finish(ended, console)
}

/// What the work on the file came to.
#[derive(Default)]
struct Done {
    printed: Printed,
    exit: Option<Exit>,
    /// The program with the fences in it, where it was asked for.
    fenced: Option<String>,
    /// The answer for a report, if there is one.
    piece: Option<Piece>,
    /// Why something could not be written; the answer stands all the same.
    trouble: Option<String>,
}

/// One run of the command.
struct Session<'a> {
    args: &'a Fence,
    report: &'static dyn Report,
    interrupt: &'a Interrupt,
    display: Display,
    store: Option<Store>,
    html: Option<HtmlFile>,
    look: &'a Look,
}

impl Session<'_> {
    fn file(&self) -> Done {
        let loaded = match load(&self.args.file, &self.args.input) {
            Ok(loaded) if self.args.goal == Goal::Robust => loaded,
            Ok(loaded) => super::warned(loaded),
            Err(unreadable) => return self.failed(&super::unreadable("fence", &unreadable)),
        };
        let model = chosen_models(&self.args.model)[0];
        let answer = match self.args.goal {
            Goal::Safe => self.program(&loaded, model),
            Goal::Robust => self.robust(&loaded, model),
        };
        let mut done = answer.unwrap_or_else(|reason| {
            let failed = Failed {
                stopped: false,
                command: "fence",
                file: &loaded.name,
                model: Some(model),
                reason,
                diagnostics: &[],
                source: None,
            };
            self.failed(&failed)
        });
        if !self.look.quiet {
            let warnings = self.report.warnings(&loaded.program.source, &loaded.warnings);
            done.printed.err = warnings.err + &done.printed.err;
        }
        done
    }

    fn failed(&self, failed: &Failed<'_>) -> Done {
        let piece = self.html.is_some().then(|| html::failure(failed));
        Done { printed: self.report.failure(failed), exit: Some(Exit::Error), piece, ..Done::default() }
    }

    fn program(&self, loaded: &Loaded, model: Model) -> Result<Done, String> {
        let program = goal(loaded.program.clone());
        let task = Task { program: &program, model };
        if self.args.planning.plan.explain_plan {
            let as_json = self.report.name() == "json";
            let printed = super::plan::explain(&loaded.name, &task, &self.args.exploring, as_json);
            return Ok(Done { printed, exit: Some(Exit::Holds), ..Done::default() });
        }
        let watch = self.watch(loaded, model);
        let (args, engine) = (self.args, self.args.exploring.engine());
        let run = args.exploring.run(&watch);
        let found = place_fences(&task, engine, &self.options(), &run);
        let exit = match &found.answer {
            FenceAnswer::Placed(_) => Exit::Holds,
            FenceAnswer::UnsafeUnderSc(_) | FenceAnswer::NoCandidate(_) => Exit::Violated,
            FenceAnswer::Unknown(_) => Exit::Unknown,
            FenceAnswer::Rejected(why) => return Err(super::bug(found.engine, why)),
        };
        let (seconds, peak) = (watch.elapsed().as_secs_f64(), watch.peak());
        let (evidence, mut trouble) = self.record(loaded, &task, &found, &watch);
        let wanted = self.args.out.is_some() || self.html.is_some();
        let fenced = match &found.answer {
            FenceAnswer::Placed(placed) if wanted => {
                let points = placed.fences.iter().map(|fence| &fence.point);
                Some(with_fences(loaded, points, &placed.program))
            }
            _ => None,
        };
        let edits = match &found.answer {
            FenceAnswer::Placed(placed) => text::edits(loaded, placed),
            _ => Vec::new(),
        };
        let fenced_report = Fenced {
            file: &loaded.name,
            task,
            found: &found,
            seconds,
            peak,
            evidence: &evidence,
            warnings: &loaded.warnings,
            edits: &edits,
        };
        let printed = self.report.fences(&fenced_report, self.look);
        let piece = self.html.is_some().then(|| html::fences(&fenced_report, fenced.as_ref()));
        // Without --out nobody asked for the text, so that there is none is no trouble.
        let fenced = fenced.filter(|_| self.args.out.is_some()).transpose().unwrap_or_else(|why| {
            trouble.get_or_insert(why);
            None
        });
        Ok(Done { printed, exit: Some(exit), fenced, piece, trouble })
    }

    fn options(&self) -> FenceOptions {
        FenceOptions { costs: self.args.cost, points: self.args.points.into(), all: self.args.all }
    }

    fn watch(&self, loaded: &Loaded, model: Model) -> Watch<'_> {
        let file = Path::new(&loaded.name).file_name().unwrap_or_default().to_string_lossy();
        let label = format!("{file} ({})", model.name());
        Watch::new(self.args.limits.budget(), self.interrupt, &self.display, label)
            .on_threads(self.args.planning.threads())
    }

    /// The text with the fences in it, if it is wanted and can be had.
    fn fenced<'p>(
        &self,
        loaded: &Loaded,
        points: impl Iterator<Item = &'p FencePoint>,
        program: &Program,
        trouble: &mut Option<String>,
    ) -> Option<String> {
        self.args.out.as_ref()?;
        text::with_fences(loaded, points, program).map_err(|why| trouble.get_or_insert(why)).ok()
    }

    /// Writes the evidence, if it is wanted: the files, and what went wrong.
    fn record(
        &self,
        loaded: &Loaded,
        task: &Task<'_>,
        found: &FencesFound,
        watch: &Watch<'_>,
    ) -> (Vec<PathBuf>, Option<String>) {
        let Some(store) = &self.store else { return (Vec::new(), None) };
        let exploring = &self.args.exploring;
        let mut recorder =
            Recorder { store, engine: exploring.engine(), run: exploring.run(watch), files: Vec::new() };
        let trouble = recorder.answer(loaded, task, &found.answer).err();
        (recorder.files, trouble)
    }

    /// Prints the report and writes the program.
    fn finish(&self, mut done: Done, console: &Console) -> Result<Exit, Failure> {
        if self.args.out.as_deref().is_some_and(is_stdin) {
            console.print_beside(&done.printed);
            console.print_text(&done.fenced.take().unwrap_or_default())?;
        } else {
            console.print(&done.printed)?;
        }
        if let (Some(path), Some(text)) = (&self.args.out, &done.fenced) {
            let write = |out: &mut dyn Write| out.write_all(text.as_bytes());
            write_whole(path, self.args.force, self.interrupt, write).map_err(Failure::Message)?;
        }
        if let (Some(file), Some(piece)) = (&self.html, done.piece) {
            file.write(&[piece], self.look.quiet)?;
        }
        match done.trouble {
            Some(trouble) => Err(Failure::Message(trouble)),
            None => Ok(done.exit.unwrap_or(Exit::Error)),
        }
    }
}
