//! What every command that answers shares: files are read, worked on at once and answered in order;
//! answers go to the report that was chosen and, if one is wanted, to a page of HTML; evidence goes to
//! its folder; and the worst exit code wins.

use crate::args::InputArgs;
use crate::console::Console;
use crate::evidence_files::{Store, stems};
use crate::exit::{CommandError, Exit};
use crate::html_file::HtmlFile;
use crate::input::{FoundFile, Loaded, Unreadable, load};
use crate::limits::{Budget, Interrupt, Watch};
use crate::numbers::counted;
use crate::progress::ProgressDisplay;
use crate::report::{Answered, Failed, Look, Piece, Printed, Report, Said, page, shown_answer};
use engine::{Bug, Engine, Finding, Run, decide};
use evidence::{Task, VacuousClaim, Verdict, each_in_order};
use frontend::Diagnostic;
use machine::Model;
use program::Span;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::available_parallelism;

/// One run of a command.
pub struct Session<'a> {
    /// The command.
    pub command: &'static str,
    /// How answers are printed.
    pub report: &'static Report,
    /// Whether somebody asked to stop.
    pub interrupt: Interrupt,
    /// Where progress is shown.
    pub display: ProgressDisplay,
    /// Where evidence goes, if it is wanted.
    pub store: Option<Store>,
    html: Option<HtmlFile>,
    /// What the page will hold.
    page: Mutex<Vec<Piece>>,
    /// Whether the remark about a program's language was made.
    remarked: AtomicBool,
    /// Whether answers go to standard error, because something else goes to standard output.
    beside: bool,
    /// What could not be written first.
    trouble: Mutex<Option<String>>,
    console: &'a Console,
}

/// What a command writes besides what it prints.
#[derive(Clone, Copy, Default)]
pub struct Outputs<'a> {
    /// The folder for evidence.
    pub evidence: Option<&'a PathBuf>,
    /// The page.
    pub html: Option<&'a PathBuf>,
    /// Whether files that say something else may be replaced.
    pub force: bool,
}

/// What was said, and how it ended so far.
#[derive(Default)]
pub struct Told {
    /// What to print.
    pub printed: Printed,
    /// The same for the page.
    page: Vec<Piece>,
    /// What is said once, whatever is told.
    remark: Option<&'static str>,
    /// The answers, each in a word or two.
    answers: Vec<&'static str>,
    /// The worst so far.
    pub exit: Exit,
}

impl Told {
    /// An answer, in a word or two, for the summary, and how that ends.
    pub fn answers(&mut self, word: &'static str, exit: Exit) {
        self.answers.push(word);
        self.ends(exit);
    }

    /// It ended so, if not worse.
    pub fn ends(&mut self, exit: Exit) {
        self.exit = self.exit.worst(exit);
    }
}

impl<'a> Session<'a> {
    /// Begins to work; fails if something could not be written later.
    pub fn open(
        command: &'static str,
        report: &'static Report,
        Outputs { evidence, html, force }: Outputs<'_>,
        console: &'a Console,
    ) -> Result<Session<'a>, CommandError> {
        let interrupt = Interrupt::listen();
        let open = |folder: &PathBuf| Store::open(folder, report.form, force, &interrupt);
        Ok(Session {
            store: evidence.map(open).transpose()?,
            html: html.map(|path| HtmlFile::open(path, force, &interrupt)).transpose()?,
            interrupt,
            ..Session::new(command, report, console)
        })
    }

    /// Only to read and to speak: an interrupt ends the process, and nothing is written.
    pub fn new(command: &'static str, report: &'static Report, console: &'a Console) -> Session<'a> {
        Session {
            command,
            report,
            interrupt: Interrupt::default(),
            display: ProgressDisplay::new(console.look().quiet),
            store: None,
            html: None,
            page: Mutex::default(),
            remarked: AtomicBool::new(false),
            beside: false,
            trouble: Mutex::default(),
            console,
        }
    }

    /// The same, but answers go to standard error if standard output is for something else.
    pub fn beside(self, beside: bool) -> Session<'a> {
        Session { beside, ..self }
    }

    /// Something could not be written; the answers stand all the same.
    pub fn trouble(&self, why: String) {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(why);
    }

    /// How the command ends when all answers are said: in trouble if there was some.
    pub fn ended(self, exit: Exit) -> Result<Exit, CommandError> {
        let trouble = self.trouble.into_inner().unwrap_or_else(PoisonError::into_inner);
        trouble.map_or(Ok(exit), |why| Err(why.into()))
    }

    /// Prints a text that is no answer.
    pub fn print_text(&self, text: &str) -> Result<(), CommandError> {
        self.display.pause(|| ());
        Ok(self.console.print_text(text)?)
    }

    /// How reports may look.
    pub fn look(&self) -> &'a Look {
        self.console.look()
    }

    /// Whether there will be a page.
    pub fn has_page(&self) -> bool {
        self.html.is_some()
    }

    /// Says something, in the report and on the page.
    pub fn say(&self, told: &mut Told, said: &Said<'_>) {
        let Printed { out, err } = (self.report.print)(said, self.look());
        told.printed.out += &out;
        told.printed.err += &err;
        if self.has_page() {
            told.page.extend(shown_answer(said));
        }
    }

    /// Says that there is no answer about a file.
    pub fn fail(&self, told: &mut Told, file: &str, model: Option<Model>, reason: String) {
        self.failed(told, &Failed::new(self.command, file, model, reason));
    }

    /// Says why there is no answer.
    pub fn failed(&self, told: &mut Told, failed: &Failed<'_>) {
        self.say(told, &Said::Failure(failed));
        told.answers("error", if failed.stopped { Exit::Unknown } else { Exit::Error });
    }

    /// Reads a program, or says why that cannot be. Warnings are said unless nothing but answers is
    /// wanted.
    pub fn load(&self, told: &mut Told, file: &FoundFile, input: &InputArgs) -> Option<Loaded> {
        self.load_as(told, file, input, |loaded| loaded)
    }

    /// As [`Session::load`], with a warning if nothing is claimed of the program.
    pub fn load_claiming(&self, told: &mut Told, file: &FoundFile, input: &InputArgs) -> Option<Loaded> {
        self.load_as(told, file, input, crate::commands::warned)
    }

    fn load_as(
        &self,
        told: &mut Told,
        file: &FoundFile,
        input: &InputArgs,
        finish: fn(Loaded) -> Loaded,
    ) -> Option<Loaded> {
        let unreadable = |told: &mut Told, why: &Unreadable| {
            self.failed(told, &Failed::unreadable(self.command, why));
            None
        };
        let loaded = match file {
            Err(why) => return unreadable(told, why),
            Ok(path) => match load(path, input) {
                Err(why) => return unreadable(told, &why),
                Ok(loaded) => finish(loaded),
            },
        };
        if !self.look().quiet {
            self.say(told, &Said::Warnings(&loaded.program.source, &loaded.warnings));
            told.remark = told.remark.or(loaded.remark);
        }
        Some(loaded)
    }

    /// A watch over a question about a file.
    pub fn watch(&self, budget: Budget, file: &str, model: Model, threads: usize) -> Watch<'_> {
        let file = Path::new(file).file_name().unwrap_or_default().to_string_lossy();
        self.watch_over(budget, format!("{file} ({})", model.name())).on_threads(threads)
    }

    /// A watch over a task of this name.
    pub fn watch_over(&self, budget: Budget, label: String) -> Watch<'_> {
        Watch::new(budget, &self.interrupt, &self.display, label)
    }

    /// Asks, writes the evidence, says the answer and gives it.
    pub fn answer(
        &self,
        told: &mut Told,
        (loaded, stem): (&Loaded, &str),
        task: &Task<'_>,
        engine: &dyn Engine,
        (run, watch): (&Run<'_>, &Watch<'_>),
    ) -> Option<Finding> {
        let trouble = |told: &mut Told, why| {
            self.fail(told, &loaded.name, Some(task.model), why);
            None
        };
        let found = match self.found(task, engine, run) {
            Ok(found) => found,
            Err(bug) => return trouble(told, bug.to_string()),
        };
        let seconds = watch.elapsed().as_secs_f64();
        let name = format!("{stem}.{}", task.model.name());
        // What all processes have, one writes; of what each has a part of, each writes its part.
        let (process, part) = (run.crew.process().0, found.checked.verdict().part());
        let store = self.store.as_ref().filter(|_| process == 0 || part.is_some());
        let written = store.map(|store| store.write(&name, &loaded.name, task, &found.checked));
        let evidence = match written.transpose() {
            Ok(written) => written.unwrap_or_default(),
            Err(why) => return trouble(told, why),
        };
        let bugs: Vec<Diagnostic> = bugs(&found);
        self.say(told, &Said::Warnings(&loaded.program.source, &bugs));
        let vacuous = vacuous_claims(&found, task.model);
        if !self.look().quiet {
            self.say(told, &Said::Warnings(&loaded.program.source, &vacuous));
        }
        let answered = Answered {
            seconds,
            peak: watch.peak(),
            evidence: &evidence,
            warnings: &[loaded.warnings.as_slice(), &bugs, &vacuous].concat(),
            ..Answered::about(loaded, *task, &found)
        };
        self.say(told, &Said::Answer(&answered));
        told.answers(answer_word(&found), Exit::of(found.checked.holds()));
        Some(found)
    }

    /// The answer to a task, explained as far as that is shown: to find out why a violation can happen may
    /// take longer than to find it.
    fn found(&self, task: &Task<'_>, engine: &dyn Engine, run: &Run<'_>) -> Result<Finding, Bug> {
        let mut found = decide(task, engine, run)?;
        let only_verdicts = self.look().quiet && self.report.name == "text" && !self.has_page();
        if !(only_verdicts && found.checked.holds() == Some(false)) {
            found.explain(task, engine, run);
        }
        Ok(found)
    }

    /// Calls `work` on every file, with a name for its evidence and the threads that files leave for
    /// each, and prints what it tells, in order.
    pub fn each_file(
        &self,
        files: &[FoundFile],
        threads: Option<usize>,
        work: impl Fn(&mut Told, &FoundFile, &str, usize) + Sync,
    ) -> Result<Exit, CommandError> {
        let named: Vec<&Path> = files.iter().map(|file| file.as_deref().unwrap_or(Path::new(""))).collect();
        let stems = stems(&named);
        // Files that were not begun because the user asked to stop.
        let skipped = AtomicUsize::new(0);
        let begin = |at: usize, threads: usize| {
            let mut told = Told::default();
            match self.interrupt.is_raised() {
                true => drop(skipped.fetch_add(1, Ordering::Relaxed)),
                false => work(&mut told, &files[at], &stems[at], threads),
            }
            let answers = std::mem::take(&mut told.answers);
            (told, answers)
        };
        let mut answers = Vec::new();
        let mut worst = self.each(files.len(), threads, begin, |more| answers.extend(more))?;
        if files.len() > 1 {
            self.summary(&answers)?;
        }
        match skipped.load(Ordering::Relaxed) {
            0 => {}
            skipped => {
                anstream::eprintln!("interrupted: {} not looked at", counted(skipped, "file"));
                worst = worst.worst(Exit::Unknown);
            }
        }
        self.finish()?;
        Ok(worst)
    }

    /// Says how many answers of which kind there were.
    fn summary(&self, answers: &[&'static str]) -> Result<(), CommandError> {
        let mut counts: Vec<(&'static str, usize)> = Vec::new();
        for answer in answers {
            match counts.iter_mut().find(|(word, _)| word == answer) {
                Some((_, count)) => *count += 1,
                None => counts.push((answer, 1)),
            }
        }
        let mut told = Told::default();
        self.say(&mut told, &Said::Summary(&counts));
        self.show(&told)
    }

    /// Calls `work` on 0, 1, … below `count`, several at once, with the threads that are left for
    /// each; prints what it tells and keeps what it gives besides, in order.
    pub fn each<T: Send>(
        &self,
        count: usize,
        threads: Option<usize>,
        work: impl Fn(usize, usize) -> (Told, T) + Sync,
        mut keep: impl FnMut(T) + Send,
    ) -> Result<Exit, CommandError> {
        let threads = threads.unwrap_or_else(usual_threads);
        let left = (threads / count.max(1)).max(1);
        let (mut worst, mut ended) = (Exit::Holds, Ok(()));
        let work = |at: usize| ControlFlow::Continue(work(at, left));
        each_in_order(threads, count, work, |(told, more)| {
            worst = worst.worst(told.exit);
            keep(more);
            ended = self.show(&told);
            match ended {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => {
                    self.interrupt.raise();
                    ControlFlow::Break(())
                }
            }
        });
        self.display.pause(|| ());
        ended.map(|()| worst)
    }

    /// Prints what was told; the page keeps it.
    pub fn show(&self, told: &Told) -> Result<(), CommandError> {
        self.page.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(&told.page);
        if let Some(remark) = told.remark
            && !self.remarked.swap(true, Ordering::Relaxed)
        {
            let said = (self.report.print)(&Said::Remark(remark), self.look());
            self.display.pause(|| self.console.print(&said, self.beside))?;
        }
        Ok(self.display.pause(|| self.console.print(&told.printed, self.beside))?)
    }

    /// Writes the page, if there is to be one.
    pub fn finish(&self) -> Result<(), CommandError> {
        let Some(file) = &self.html else { return Ok(()) };
        let pieces = self.page.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(file.write(&page(&pieces), self.look().quiet)?)
    }
}

/// What is to be said beside an answer: evidence of others that was rejected, and vacuous claims.
pub fn side_warnings(found: &Finding, model: Model) -> Vec<Diagnostic> {
    [bugs(found), vacuous_claims(found, model)].concat()
}

fn bugs(found: &Finding) -> Vec<Diagnostic> {
    found.bugs.iter().map(|bug| Diagnostic::warning(Span::NONE, bug.to_string())).collect()
}

fn vacuous_claims(found: &Finding, model: Model) -> Vec<Diagnostic> {
    found.vacuous.iter().map(|claim| vacuous(claim, model)).collect()
}

/// An answer in a word or two.
fn answer_word(found: &Finding) -> &'static str {
    let checked = &found.checked;
    match (checked.holds(), checked.verdict()) {
        (Some(true), Verdict::FinalStates(_)) => "condition holds",
        (Some(false), Verdict::FinalStates(_)) => "condition does not hold",
        (None, _) => "unknown",
        (_, verdict) => verdict.word(),
    }
}

/// The warning that a claim holds because nothing comes near it.
fn vacuous(claim: &VacuousClaim, model: Model) -> Diagnostic {
    let model = model.name().to_uppercase();
    let (message, hint) = match claim {
        VacuousClaim::Label { thread, label, .. } => (
            format!("under {model} `{thread}` never stands at `{label}`, so this says nothing of it"),
            "is the label where it should be, and can the thread get there?",
        ),
        VacuousClaim::Unended { thread, .. } => (
            format!("under {model} `{thread}` never ends, so `finally` is never looked at"),
            "`never` and `assert` are looked at all the time",
        ),
        VacuousClaim::Blocked { thread, .. } => (
            format!("under {model} `{thread}` waits here for ever, if it gets here"),
            "what follows is never done; `never deadlock;` finds out whether all threads can come to this",
        ),
        VacuousClaim::Assertion { .. } => (
            format!("under {model} no thread ever gets to this assertion"),
            "does something before it wait for ever?",
        ),
        VacuousClaim::NoStart { .. } => (
            "no initial values satisfy what is assumed, so there are no runs and every claim holds"
                .to_string(),
            "take something back of what the program assumes",
        ),
    };
    Diagnostic::warning(claim.span(), message).hint(hint)
}

/// How much to do at once, unless the user says otherwise.
pub fn usual_threads() -> usize {
    available_parallelism().map_or(1, usize::from)
}
