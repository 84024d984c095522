//! `bench`: published tables, with our figures beside theirs.
//!
//! A [`Bench`] is a name and a function that fills tables; `BENCHES` lists them all. The
//! function gets a [`Bencher`], which knows where programs are, limits each question and takes the
//! time. All answers are checked, as everywhere; how long that takes is part of ours.

mod seed000;
mod seed004;

use super::each_file::usual_threads;
use crate::args;
use crate::console::Console;
use crate::exit::{Exit, Failure};
use crate::limits::{Budget, Interrupt, Watch};
use crate::progress::Display;
use crate::report::{BenchCell, BenchTable, Section};
use engine::{Abstraction, Engine, Run};
use evidence::{Checked, Monitor, Statistics, Task, Verdict};
use program::{Int, Program, Source};
use std::path::PathBuf;
use std::time::Instant;

/// A program of our own corpus: the name of its file and its text, part of the binary.
type File = (&'static str, &'static str);

macro_rules! corpus {
    ($name:literal) => {
        (concat!($name, ".fw"), include_str!(concat!("../../../corpus/", $name, ".fw")))
    };
}
use corpus;

/// A table that can be asked for.
pub struct Bench {
    /// Its name.
    pub name: &'static str,
    /// One line for lists and help.
    pub about: &'static str,
    /// Fills the tables.
    pub tables: fn(&Bencher<'_>) -> Result<Vec<BenchTable>, String>,
}

/// All tables.
pub const BENCHES: &[Bench] = &[seed000::SEED000, seed000::ABSTRACTIONS, seed004::LAZY, seed004::ROBUST];

/// Runs the command.
pub fn bench(args: &args::Bench, console: &Console) -> Result<Exit, Failure> {
    let report = args.report.chosen();
    let Some(bench) = BENCHES.iter().find(|bench| Some(bench.name) == args.name.as_deref()) else {
        let entries = BENCHES.iter().map(|bench| (bench.name, bench.about.to_string())).collect();
        console.print(&report.registries(&[Section { title: "benches", entries }]))?;
        return Ok(Exit::Holds);
    };
    let bencher = Bencher {
        corpora: args.corpora.clone(),
        budget: args.budget(),
        interrupt: &Interrupt::listen(),
        display: &Display::new(console.look().quiet),
    };
    let tables = (bench.tables)(&bencher).map_err(Failure::Message)?;
    console.print(&report.bench(bench.name, &tables, console.look()))?;
    Ok(Exit::Holds)
}

/// Asks questions and takes the time.
pub struct Bencher<'a> {
    corpora: PathBuf,
    budget: Budget,
    interrupt: &'a Interrupt,
    display: &'a Display,
}

/// An answer and what it took.
pub struct Measured<T> {
    /// The answer.
    pub answer: T,
    /// How long it took.
    pub time: BenchCell,
    /// The most megabytes allocated meanwhile.
    pub megabytes: usize,
}

impl Bencher<'_> {
    /// Calls `work` with a monitor that stops it at the limits.
    pub fn measure<T>(&self, label: &str, work: impl FnOnce(&dyn Monitor) -> T) -> Measured<T> {
        let started = Instant::now();
        let watch = Watch::new(self.budget, self.interrupt, self.display, label.to_string())
            .on_threads(usual_threads());
        let answer = work(&watch);
        let time = BenchCell::Milliseconds(started.elapsed().as_secs_f64() * 1000.0);
        Measured { answer, time, megabytes: crate::numbers::megabytes(watch.peak()) }
    }

    /// What an engine says, checked, with what it took and who answered.
    pub fn ask(
        &self,
        engine: &dyn Engine,
        task: &Task<'_>,
        abstraction: Abstraction,
    ) -> Result<Measured<(Checked, Statistics, &'static str)>, String> {
        let measured = self.measure(&task.program.name, |monitor| {
            super::answer(engine, task, &Run { monitor, abstraction, ..Run::default() })
        });
        let Measured { answer, time, megabytes } = measured;
        Ok(Measured { answer: answer?, time, megabytes })
    }

    /// A program of our own corpus, perhaps with another value of N.
    pub fn own(&self, name: &str, text: &str, n: Option<usize>) -> Result<Program, String> {
        let defines = n.map(|n| ("N".to_string(), Int::from(n))).into_iter().collect();
        self.parse(name, text, defines)
    }

    /// A program of another tool, if its folder is there.
    pub fn foreign(&self, path: &str) -> Result<Option<Program>, String> {
        match std::fs::read_to_string(self.corpora.join(path)) {
            Ok(text) => self.parse(path, &text, Vec::new()).map(Some),
            Err(_) => Ok(None),
        }
    }

    fn parse(&self, name: &str, text: &str, defines: Vec<(String, Int)>) -> Result<Program, String> {
        let frontend = frontend::choose(None, name, text).ok_or(format!("{name}: in which language?"))?;
        let options = frontend::Options { defines, observe_all: false };
        let parsed = (frontend.read)(Source::new(name, text), &options);
        parsed.map(|parsed| parsed.program).map_err(|errors| format!("{name}: {} errors", errors.len()))
    }
}

/// A verdict in one word.
pub fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Safe(_) => "safe",
        Verdict::Unsafe(_) => "unsafe",
        Verdict::Unknown(_) => "unknown",
    }
}
