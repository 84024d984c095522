//! `fence`: which fences make it safe, or robust, at the least cost?
//!
//! The search is the engine crate's. Here its answer is reported, written into the program's
//! own text (`text`), and recorded as evidence (`record`). What robustness needs is compared with
//! what safety needs, which is usually less. That is a question of its own, asked of the engine within
//! what is left of the time and within a number of states.

mod record;
mod relax;
mod text;

pub use text::{difference, edits as fence_edits, with_fences};

use super::claims_something;
use crate::args::{FenceArgs, chosen_models};
use crate::console::Console;
use crate::exit::{CommandError, Exit};
use crate::input::{Loaded, expand, is_stdin};
use crate::limits::Watch;
use crate::report::{Fenced, Safety, Said, count};
use crate::session::{Outputs, Session, Told};
use crate::whole_file::write_text;
use engine::{
    Engine, Extrapolate, FenceAnswer, FenceOptions, FencePlace, Placed, Run, USUAL_BUFFER, decide,
    fences_within, place_fences,
};
use evidence::{Goal, Monitor, MostStates, Task};
use machine::Model;
use program::{Program, Span};
use record::Recorder;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// Every question about safety beside robustness may look at this many states. Counting states
/// keeps the answer the same on every machine.
const SIDE_STATES: usize = 1_000_000;

const ELSEWHERE: &str = "nothing was written (--evidence DIR writes the fenced program as .fw)";

/// Runs the command.
pub fn fence(args: &FenceArgs, console: &Console) -> Result<Exit, CommandError> {
    let (models, files) = (chosen_models(&args.model), expand(&args.files));
    possible(args, &models, files.len())?;
    let outputs =
        Outputs { evidence: args.evidence.as_ref(), html: args.html.html.as_ref(), force: args.force };
    let session = Session::open("fence", args.report.chosen(), outputs, console)?;
    let session = session.beside(args.out.as_deref().is_some_and(is_stdin));
    let mut input = args.input.clone();
    input.c.relaxed = args.relax;
    // A fence that goes, or a store that becomes an exchange, leaves the steps around it as they are.
    input.c.apart = args.relax || args.cost.exchange.is_some();
    // With --out there is one file and one model, so that the last is the only one.
    let written: Mutex<Option<String>> = Mutex::default();
    let exit = session.each_file(&files, args.threads, |told, file, stem, threads| {
        let fencing = Fencing { args, session: &session, stem, threads };
        let loaded = match args.goal {
            Goal::Robust => session.load(told, file, &input),
            _ => session.load_claiming(told, file, &input),
        };
        let Some(loaded) = loaded else { return };
        for model in &models {
            if let Some(text) = fencing.program(told, &loaded, *model) {
                *written.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
            }
        }
    })?;
    let written = written.into_inner().unwrap_or_else(PoisonError::into_inner);
    match (&args.out, written) {
        (Some(out), text) if is_stdin(out) => session.print_text(&text.unwrap_or_default())?,
        (Some(path), Some(text)) => write_text(path, args.force, &session.interrupt, &text)?,
        _ => {}
    }
    session.ended(exit)
}

/// Whether what is asked for can be done.
fn possible(args: &FenceArgs, models: &[Model], files: usize) -> Result<(), String> {
    if args.out.is_some() && (files > 1 || models.len() > 1) {
        let why = "--out takes one file and one model; --evidence DIR writes all fenced programs";
        return Err(why.to_string());
    }
    if let Some(out) = args.out.as_deref().filter(|out| !args.force && !is_stdin(out))
        && out.symlink_metadata().is_ok()
    {
        return Err(format!("{} exists; --force replaces it", out.display()));
    }
    if args.goal == Goal::Robust && args.planning.explain_plan {
        return Err("--explain-plan is about engines, and robustness is decided without them".to_string());
    }
    Ok(())
}

/// The command's work on one file.
struct Fencing<'a> {
    args: &'a FenceArgs,
    session: &'a Session<'a>,
    /// What its evidence is called.
    stem: &'a str,
    threads: usize,
}

impl Fencing<'_> {
    /// Asks under a model, reports and writes; the text with the fences in it, where that is asked for.
    fn program(&self, told: &mut Told, loaded: &Loaded, model: Model) -> Option<String> {
        let (args, session) = (self.args, self.session);
        let program = loaded.program.clone().with_question_as_property();
        let task = Task { program: &program, model, goal: args.goal };
        if args.planning.explain_plan {
            let plan = super::verify::explained(&task, &args.exploring);
            session.say(told, &Said::Plan(&loaded.name, &plan));
            return None;
        }
        let watch = session.watch(args.limits.budget(), &loaded.name, model, self.threads);
        let answered = match (self.unknown_place(&program), args.relax) {
            (Some(why), _) => Err(why),
            (None, true) => self.relax(told, loaded, &task, &watch),
            (None, false) => self.answer(told, loaded, &task, &watch),
        };
        answered.unwrap_or_else(|reason| {
            session.fail(told, &loaded.name, Some(model), reason);
            None
        })
    }

    fn answer(
        &self,
        told: &mut Told,
        loaded: &Loaded,
        task: &Task<'_>,
        watch: &Watch<'_>,
    ) -> Result<Option<String>, String> {
        let (args, engine) = (self.args, self.args.exploring.engine());
        let within =
            self.bound().map(|k| (k, Run { max_buffer: Some(USUAL_BUFFER), ..args.exploring.run(watch) }));
        // The bound is for the second question; the first is about buffers of any length.
        let run = within.as_ref().map_or_else(|| args.exploring.run(watch), |(_, run)| *run);
        let found = place_fences(task, engine, &self.options(), &run).map_err(|bug| bug.to_string())?;
        let safety = match (&found.answer, task.goal) {
            (FenceAnswer::Placed(_), Goal::Robust) => self.safety(task, watch)?,
            _ => Safety::NotAsked,
        };
        let within = match (within, &found.answer) {
            (Some((k, run)), FenceAnswer::Placed(_)) if task.goal == Goal::Safe => {
                let options = FenceOptions { all: false, ..self.options() };
                Some(fences_within(task, k, &options, &run).map_err(|bug| bug.to_string())?)
            }
            _ => None,
        };
        let (seconds, peak) = (watch.elapsed().as_secs_f64(), watch.peak());
        let files = self.record(loaded, task, &found.answer, run);
        let (mut text, mut edits) = (None, Vec::new());
        if let FenceAnswer::Placed(placed) = &found.answer {
            let wanted = args.out.is_some() || self.session.has_page();
            text = wanted.then(|| with_fences(loaded, placed).map_err(|why| format!("{why}; {ELSEWHERE}")));
            if task.goal == Goal::Safe {
                edits = text::edits(loaded, placed);
            }
        }
        let not_needed = match &found.answer {
            FenceAnswer::Placed(placed) if task.goal == Goal::Safe => self.not_needed(task, placed, watch),
            _ => Vec::new(),
        };
        let fenced = Fenced {
            seconds,
            peak,
            evidence: &files,
            edits: &edits,
            text: text.as_ref(),
            safety: &safety,
            within: within.as_ref(),
            not_needed: &not_needed,
            ..Fenced::about(loaded, *task, &found)
        };
        self.say(told, &fenced);
        Ok(self.wanted(text))
    }

    /// Says an answer, and how the command ends with it.
    fn say(&self, told: &mut Told, fenced: &Fenced<'_>) {
        let (word, exit) = ending(&fenced.found.answer);
        told.answers(word, exit);
        self.session.say(told, &Said::Fences(fenced));
    }

    /// Writes the evidence that stands behind an answer; gives the files.
    fn record(&self, loaded: &Loaded, task: &Task<'_>, answer: &FenceAnswer, run: Run<'_>) -> Vec<PathBuf> {
        let (store, engine) = (self.session.store.as_ref(), self.args.exploring.engine());
        let mut recorder = Recorder { store, stem: self.stem, engine, run, files: Vec::new() };
        if let Err(why) = recorder.answer(loaded, task, answer) {
            self.session.trouble(why);
        }
        recorder.files
    }

    /// The text to be written. Without --out nobody asked for it, so that there is none is no trouble.
    fn wanted(&self, text: Option<Result<String, String>>) -> Option<String> {
        let text = text.filter(|_| self.args.out.is_some())?;
        text.map_err(|why| self.session.trouble(why)).ok()
    }

    /// The bound that fences are to keep store buffers within, if that is asked for.
    fn bound(&self) -> Option<usize> {
        let exploring = &self.args.exploring;
        exploring.buffer.filter(|_| exploring.engine().name() == Extrapolate.name())
    }

    fn options(&self) -> FenceOptions<'_> {
        let args = self.args;
        FenceOptions { costs: args.cost, points: args.points.into(), all: args.all, prices: &args.price }
    }

    /// What is wrong with a price of something that the program does not have.
    fn unknown_place(&self, program: &Program) -> Option<String> {
        let has_thread = |place: &FencePlace| program.threads.iter().any(|thread| place.means(&thread.name));
        let edges = || program.threads.iter().flat_map(|thread| thread.edges());
        self.args.price.iter().find_map(|price| match &price.place {
            FencePlace::Thread(name) if !has_thread(&price.place) => {
                Some(format!("--price: there is no thread `{name}`"))
            }
            FencePlace::Line(line) if !edges().any(|edge| program.source.line(edge.span) == Some(*line)) => {
                Some(format!("--price: no statement begins in line {line}"))
            }
            _ => None,
        })
    }

    /// The program's own fences that, each by itself, could go once the others are in place.
    fn not_needed(&self, task: &Task<'_>, placed: &Placed, watch: &Watch<'_>) -> Vec<Span> {
        let exploring = &self.args.exploring;
        let limit = MostStates(SIDE_STATES);
        let monitor: (&dyn Monitor, &dyn Monitor) = (watch, &limit);
        let safe_without = |place: &Span| {
            let program = placed.program.without_fence(*place);
            let task = Task { program: &program, ..*task };
            let found = decide(&task, exploring.engine(), &exploring.run(&monitor));
            found.is_ok_and(|found| found.checked.holds() == Some(true))
        };
        // Under SC no fence does anything, so that nothing is worth saying.
        let own = task.program.written_fences().into_iter().filter(|_| !task.model.is_sc());
        own.filter(safe_without).collect()
    }

    /// What safety needs.
    fn safety(&self, task: &Task<'_>, watch: &Watch<'_>) -> Result<Safety, String> {
        if !claims_something(task.program) {
            return Ok(Safety::NothingClaimed);
        }
        let (task, exploring) = (Task { goal: Goal::Safe, ..*task }, &self.args.exploring);
        let options = FenceOptions { all: false, ..self.options() };
        let limit = MostStates(SIDE_STATES);
        let monitor: (&dyn Monitor, &dyn Monitor) = (watch, &limit);
        let found = place_fences(&task, exploring.engine(), &options, &exploring.run(&monitor));
        Ok(match found.map_err(|bug| bug.to_string())?.answer {
            FenceAnswer::Placed(placed) => Safety::Needs {
                count: count(placed.fences.iter().map(|fence| &fence.point)),
                cost: placed.cost,
            },
            FenceAnswer::UnsafeUnderSc(_) => Safety::UnsafeUnderSc,
            FenceAnswer::NoCandidate(_) => Safety::NoCandidate,
            FenceAnswer::Unknown(reasons) => Safety::Unknown(reasons),
        })
    }
}

/// The answer in a few words, and how the command ends with it.
fn ending(answer: &FenceAnswer) -> (&'static str, Exit) {
    match answer {
        FenceAnswer::Placed(placed) if placed.fences.is_empty() => ("no fence needed", Exit::Holds),
        FenceAnswer::Placed(_) => ("fences found", Exit::Holds),
        FenceAnswer::UnsafeUnderSc(_) | FenceAnswer::NoCandidate(_) => ("no fence helps", Exit::Violated),
        FenceAnswer::Unknown(_) => ("unknown", Exit::Unknown),
    }
}
