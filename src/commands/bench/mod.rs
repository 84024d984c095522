//! `bench`: published tables, with our figures beside theirs.
//!
//! A [`Bench`] is a name and a function that fills tables; `BENCHES` lists them all. The
//! function gets a [`Bencher`], which knows where programs are, limits each question and takes the
//! time, of several runs. All answers are checked, as everywhere; how long that takes is part of ours.
//!
//! A published figure stands beside ours only for the same program, the same question and the
//! same number of threads. Everything else is in a table of its own.

mod c_programs;
mod complete;
mod contexts;
mod extrapolate;
mod fences;
mod portfolio;
mod scale;
mod thesis;
mod workers;

use crate::args;
use crate::console::Console;
use crate::exit::{CommandError, Exit};
use crate::limits::{Budget, Interrupt, Watch};
use crate::numbers::grouped;
use crate::progress::ProgressDisplay;
use crate::report::{BenchCell, BenchTable, Said, Section, Times, markdown};
use crate::session::usual_threads;
use engine::{Engine, Finding, Run, decide};
use evidence::{Monitor, Task};
use program::{Int, Program, Source};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// A program of our own corpus: the name of its file and its text, part of the binary.
type CorpusFile = (&'static str, &'static str);

macro_rules! corpus {
    ($name:literal) => {
        (concat!($name, ".fw"), include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/corpus/", $name, ".fw")))
    };
}
use corpus;

/// A question is not asked again once it has taken this long altogether.
const LONG: Duration = Duration::from_secs(5);
/// If it reached the limit, after this.
const HOPELESS: Duration = Duration::from_secs(1);

/// A table that can be asked for.
pub struct Bench {
    /// Its name.
    pub name: &'static str,
    /// What it was called before; scripts may still say so.
    pub earlier: Option<&'static str>,
    /// One line for lists and help.
    pub about: &'static str,
    /// Fills the tables.
    pub tables: fn(&Bencher<'_>) -> Result<Vec<BenchTable>, String>,
}

/// All tables.
pub const BENCHES: &[Bench] = &[
    fences::FENCES,
    fences::ABSTRACTIONS,
    contexts::CONTEXTS,
    extrapolate::EXTRAPOLATE,
    thesis::LAZY,
    thesis::ROBUST,
    thesis::REDUCTIONS,
    portfolio::PORTFOLIO,
    complete::COMPLETE,
    c_programs::C_PROGRAMS,
    scale::SCALE,
    workers::WORKERS,
];

/// The table of this name.
fn named(name: &str) -> Option<&'static Bench> {
    BENCHES.iter().find(|bench| bench.name == name || bench.earlier == Some(name))
}

/// Runs the command.
pub fn bench(args: &args::BenchArgs, console: &Console) -> Result<Exit, CommandError> {
    let report = args.report.chosen();
    let Some(bench) = args.name.as_deref().and_then(named) else {
        let entries = BENCHES.iter().map(|bench| (bench.name, bench.about.to_string())).collect();
        let sections = [Section { title: "benches", entries }];
        console.say(report, &Said::Registries(&sections))?;
        return Ok(Exit::Holds);
    };
    let bencher = Bencher {
        corpora: args.corpora.clone(),
        corpus: args.corpus.clone(),
        budget: args.budget(),
        runs: args.runs as usize,
        interrupt: &Interrupt::listen(),
        display: &ProgressDisplay::new(console.look().quiet),
    };
    let mut tables = (bench.tables)(&bencher)?;
    tables.last_mut().into_iter().for_each(|table| table.notes.push(bencher.about_times()));
    match args.markdown {
        true => console.print_text(&markdown(&tables))?,
        false => console.say(report, &Said::Bench(bench.name, &tables))?,
    }
    Ok(Exit::Holds)
}

/// Asks questions and takes the time.
pub struct Bencher<'a> {
    corpora: PathBuf,
    corpus: PathBuf,
    budget: Budget,
    runs: usize,
    interrupt: &'a Interrupt,
    display: &'a ProgressDisplay,
}

/// An answer and what it took.
pub struct Measured<T> {
    /// The answer.
    pub answer: T,
    /// How long it took.
    pub time: BenchCell,
    /// How long it took on all cores together, where the system says so.
    pub cpu: BenchCell,
    /// The most megabytes allocated meanwhile.
    pub megabytes: usize,
}

impl<T, E: std::fmt::Display> Measured<Result<T, E>> {
    /// The answer, if there is one.
    fn answered(self) -> Result<Measured<T>, String> {
        let answer = self.answer.map_err(|error| error.to_string())?;
        Ok(Measured { answer, time: self.time, cpu: self.cpu, megabytes: self.megabytes })
    }
}

impl Measured<Finding> {
    /// The verdict in a word.
    fn word(&self) -> &'static str {
        self.answer.checked.verdict().word()
    }

    /// Whether there is a verdict.
    fn is_decided(&self) -> bool {
        self.answer.checked.holds().is_some()
    }

    /// How many states there are, as far as a search came.
    fn states(&self) -> String {
        let states = grouped(self.answer.statistics.states);
        if self.word() == "unknown" { format!("more than {states}") } else { states }
    }
}

impl Bencher<'_> {
    /// Calls `work` with a monitor that stops it at the limits, as often as it should be. The last
    /// answer counts.
    pub fn measure<T>(&self, label: &str, work: impl Fn(&dyn Monitor) -> T) -> Measured<T> {
        self.measure_on(usual_threads(), label, work)
    }

    /// As [`Bencher::measure`], with so many threads.
    fn measure_on<T>(&self, threads: usize, label: &str, work: impl Fn(&dyn Monitor) -> T) -> Measured<T> {
        let (mut taken, mut on_cores, mut megabytes) = (Vec::new(), Vec::new(), 0);
        let first = Instant::now();
        loop {
            let (started, cpu) = (Instant::now(), cpu_time());
            let watch =
                Watch::new(self.budget, self.interrupt, self.display, label.to_string()).on_threads(threads);
            let answer = work(&watch);
            taken.push(milliseconds(started.elapsed()));
            on_cores.extend(cpu_time().zip(cpu).map(|(now, then)| milliseconds(now.saturating_sub(then))));
            megabytes = megabytes.max(crate::numbers::megabytes(watch.peak()));
            let hopeless = milliseconds(started.elapsed()) >= self.limit_milliseconds();
            let long = if hopeless { HOPELESS } else { LONG };
            if taken.len() >= self.runs || first.elapsed() >= long || self.interrupt.is_raised() {
                let times = |taken| Times::of(taken, self.runs).into();
                return Measured { answer, time: times(taken), cpu: times(on_cores), megabytes };
            }
        }
    }

    /// How times are to be read.
    fn about_times(&self) -> String {
        match self.runs {
            1 => "Times are of one run.".to_string(),
            runs => format!(
                "In all tables: times are medians of {runs} runs (least–most). A question that has taken {} seconds, \
                 or reached a limit of {} or more, is not asked again, and its cell says so.",
                LONG.as_secs(),
                HOPELESS.as_secs()
            ),
        }
    }

    /// What an engine says, checked, with what it took and who answered.
    pub fn ask(&self, engine: &dyn Engine, task: &Task<'_>) -> Result<Measured<Finding>, String> {
        self.ask_as(engine, task, Run::default())
    }

    /// What an engine says that works in a certain way.
    fn ask_as(
        &self,
        engine: &dyn Engine,
        task: &Task<'_>,
        run: Run<'_>,
    ) -> Result<Measured<Finding>, String> {
        self.run_on(usual_threads(), &task.program.name, engine, task, run)
    }

    /// As [`Bencher::ask_as`], with so many threads and another name for the task.
    fn run_on(
        &self,
        threads: usize,
        label: &str,
        engine: &dyn Engine,
        task: &Task<'_>,
        run: Run<'_>,
    ) -> Result<Measured<Finding>, String> {
        let ask = |monitor: &dyn Monitor| decide(task, engine, &Run { monitor, threads, ..run });
        self.measure_on(threads, label, ask).answered()
    }

    /// The same with at most so many milliseconds per question.
    fn within(&self, most: f64) -> Self {
        let time = Duration::try_from_secs_f64(most.min(self.limit_milliseconds()) / 1000.0).ok();
        let budget = Budget { time: time.or(self.budget.time), ..self.budget };
        Bencher { budget, corpora: self.corpora.clone(), corpus: self.corpus.clone(), ..*self }
    }

    /// The limit on time, in milliseconds.
    fn limit_milliseconds(&self) -> f64 {
        self.budget.time.map_or(f64::INFINITY, milliseconds)
    }

    /// The names and texts of all programs of our own language in the folder of the corpus.
    fn corpus(&self) -> Result<Vec<(String, String)>, String> {
        let folder = self.corpus.display();
        let unreadable = |error| format!("{folder}: {error}; --corpus names the folder with the programs");
        let mut files = Vec::new();
        for entry in std::fs::read_dir(&self.corpus).map_err(unreadable)? {
            let path = entry.map_err(unreadable)?.path();
            if path.extension().is_some_and(|ending| ending == "fw") {
                let text =
                    std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
                files.push((path.file_name().unwrap_or_default().to_string_lossy().into_owned(), text));
            }
        }
        files.sort();
        Ok(files)
    }

    /// A program of our own corpus, perhaps with another value of N.
    pub fn own(&self, name: &str, text: &str, n: Option<usize>) -> Result<Program, String> {
        let defines = n.map(|n| ("N".to_string(), Int::from(n))).into_iter().collect();
        self.parse(name, text, defines)
    }

    /// The text of another tool's program, if its folder is there.
    pub fn foreign(&self, path: &str) -> Option<String> {
        std::fs::read_to_string(self.corpora.join(path)).ok()
    }

    /// The program that a text says.
    pub fn parse(&self, name: &str, text: &str, defines: Vec<(String, Int)>) -> Result<Program, String> {
        let frontend = frontend::choose(None, name, text).ok_or(format!("{name}: in which language?"))?;
        let options = frontend::Options { defines, ..frontend::Options::default() };
        let parsed = (frontend.read)(Source::new(name, text), &options);
        parsed.map(|parsed| parsed.program).map_err(|errors| format!("{name}: {} errors", errors.len()))
    }
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

/// What the process has used of all cores so far.
#[cfg(unix)]
fn cpu_time() -> Option<Duration> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Some(Duration::new(time.tv_sec.try_into().ok()?, time.tv_nsec.try_into().ok()?))
}

#[cfg(not(unix))]
fn cpu_time() -> Option<Duration> {
    None
}
