//! The default engine beside each engine by itself, on every program of the corpus under every model,
//! with 2, 3 and 4 threads where the program has a constant N.
//!
//! What should hold in every row: the portfolio has an answer if an engine has one within a fifth of
//! the limit; it takes at most three times the CPU time of the best engine and 50 ms, and on two
//! threads at most twice its time and 50 ms. The first table says how often that holds.
//!
//! An engine by itself has a little more than twice the time that the portfolio took, and a fifth of the limit
//! where that has no answer: whoever takes longer cannot be better.

use super::{Bench, Bencher, Measured};
use crate::report::{BenchCell, BenchTable};
use engine::{ENGINES, Engine, Finding, Portfolio, Run};
use evidence::Task;
use machine::MODELS;
use program::Program;

/// The portfolio and its parts.
pub const PORTFOLIO: Bench = Bench {
    name: "portfolio",
    earlier: None,
    about: "the default engine beside each engine by itself, on every program of the corpus (--corpus)",
    tables,
};

/// What a time may be beyond a multiple, in milliseconds.
const GRACE: f64 = 50.0;

/// The least time that an engine by itself has beyond twice the portfolio's, in milliseconds.
const SHORT: f64 = 20.0;

/// Engines by themselves and the portfolio may use so many threads; its CPU time is also taken on one.
const THREADS: usize = 2;

/// What one question to one engine took.
struct MeasuredEngine {
    engine: &'static str,
    answered: bool,
    wall: f64,
    cpu: f64,
}

/// What all say about a program under a model.
struct EngineComparison {
    what: String,
    verdict: &'static str,
    winner: &'static str,
    alone: Vec<MeasuredEngine>,
    /// The portfolio on one thread and on several.
    one: MeasuredEngine,
    several: MeasuredEngine,
}

impl EngineComparison {
    /// The least of the engines that answered.
    fn best(&self, of: impl Fn(&MeasuredEngine) -> f64) -> Option<f64> {
        self.alone.iter().filter(|asked| asked.answered).map(of).min_by(f64::total_cmp)
    }

    /// The portfolio's CPU time on one thread, and the best engine's, if both have an answer.
    fn cpu(&self) -> Option<(f64, f64)> {
        self.best(|asked| asked.cpu).filter(|_| self.one.answered).map(|best| (self.one.cpu, best))
    }

    /// The portfolio's time on two threads, and the best engine's.
    fn wall(&self) -> Option<(f64, f64)> {
        self.best(|asked| asked.wall).filter(|_| self.several.answered).map(|best| (self.several.wall, best))
    }
}

fn tables(bencher: &Bencher<'_>) -> Result<Vec<BenchTable>, String> {
    let mut rows = Vec::new();
    for (name, text) in bencher.corpus()? {
        for program in variants(bencher, &name, &text)? {
            for model in MODELS {
                let task = Task::safe(&program.1, *model);
                let row = compare(bencher, &program.0, &task)?;
                // What was asked while somebody wanted to stop says nothing.
                if bencher.interrupt.is_raised() {
                    return Ok(vec![summary(bencher, &rows), details(&rows)]);
                }
                rows.push(row);
            }
        }
    }
    Ok(vec![summary(bencher, &rows), details(&rows)])
}

/// The program as it is; with several values of N instead, if it has that constant.
fn variants(bencher: &Bencher<'_>, name: &str, text: &str) -> Result<Vec<(String, Program)>, String> {
    let with =
        |n: usize| bencher.own(name, text, Some(n)).map(|program| (format!("{name}, N = {n}"), program));
    match with(2) {
        Ok(first) => std::iter::once(Ok(first)).chain([3, 4].into_iter().map(with)).collect(),
        Err(_) => Ok(vec![(name.to_string(), bencher.own(name, text, None)?)]),
    }
}

fn compare(bencher: &Bencher<'_>, what: &str, task: &Task<'_>) -> Result<EngineComparison, String> {
    let ask = |bencher: &Bencher<'_>, threads, engine: &dyn Engine| {
        bencher.run_on(threads, &task.program.name, engine, task, Run::default())
    };
    let (one, several) = (ask(bencher, 1, &Portfolio)?, ask(bencher, THREADS, &Portfolio)?);
    let enough = match one.is_decided() && several.is_decided() {
        true => 2.0 * one.time.median() + SHORT,
        false => bencher.limit_milliseconds() / 5.0,
    };
    let bencher = bencher.within(enough);
    let alone = engines().map(|engine| Ok(asked(engine.name(), &ask(&bencher, THREADS, engine)?)));
    Ok(EngineComparison {
        what: format!("{what}, {}", task.model.name().to_uppercase()),
        verdict: several.word(),
        winner: several.answer.engine,
        alone: alone.collect::<Result<Vec<MeasuredEngine>, String>>()?,
        one: asked(Portfolio.name(), &one),
        several: asked(Portfolio.name(), &several),
    })
}

/// All but the portfolio.
fn engines() -> impl Iterator<Item = &'static dyn Engine> {
    ENGINES.iter().copied().filter(|engine| engine.name() != Portfolio.name())
}

fn asked(engine: &'static str, measured: &Measured<Finding>) -> MeasuredEngine {
    let (answered, wall, cpu) = (measured.is_decided(), measured.time.median(), measured.cpu.median());
    MeasuredEngine { engine, answered, wall, cpu }
}

/// How often the portfolio is as good as it should be.
fn summary(bencher: &Bencher<'_>, rows: &[EngineComparison]) -> BenchTable {
    let limit = bencher.limit_milliseconds();
    let lost = |row: &&EngineComparison| {
        !row.several.answered && row.best(|asked| asked.wall).is_some_and(|best| best <= limit / 5.0)
    };
    let decided = rows.iter().filter(|row| row.several.answered).count();
    let over = |pair: fn(&EngineComparison) -> Option<(f64, f64)>, times: f64| {
        let over =
            |row: &&EngineComparison| pair(row).is_some_and(|(ours, best)| ours > times * best + GRACE);
        names(rows.iter().filter(over))
    };
    let sum = |of: &dyn Fn(&EngineComparison) -> f64| BenchCell::Milliseconds(rows.iter().map(of).sum());
    let table = BenchTable::new("The portfolio beside its engines: summary.", &["what", "rows"]);
    let mut table = table.note(format!(
        "Limit: {} s per question. Engines by themselves and the portfolio may use {THREADS} threads; the \
         portfolio's CPU time is that on one. An engine by itself has twice the time of the portfolio and \
         {SHORT} ms, or a fifth of the limit where the portfolio has no answer.",
        limit / 1000.0
    ));
    let mut row = |what: &str, cell: BenchCell| table.rows.push(vec![what.into(), cell]);
    row("questions", rows.len().into());
    row("answered by the portfolio", decided.into());
    row("not answered, though an engine does within a fifth of the limit", names(rows.iter().filter(lost)));
    row("CPU time above 3 x the best engine's + 50 ms", over(EngineComparison::cpu, 3.0));
    row("time on two threads above 2 x the best engine's + 50 ms", over(EngineComparison::wall, 2.0));
    row(
        "sum of CPU times where both answer, portfolio, ms",
        sum(&|row| row.cpu().map_or(0.0, |pair| pair.0)),
    );
    row("the same, the best engine of each row, ms", sum(&|row| row.cpu().map_or(0.0, |pair| pair.1)));
    table
}

/// How many rows there are, and which.
fn names<'a>(rows: impl Iterator<Item = &'a EngineComparison>) -> BenchCell {
    let names: Vec<&str> = rows.map(|row| row.what.as_str()).collect();
    match names.len() {
        0 => 0.into(),
        count => format!("{count}: {}", names.join("; ")).as_str().into(),
    }
}

fn details(rows: &[EngineComparison]) -> BenchTable {
    let alone = |row: &EngineComparison, name: &str| {
        let asked = row.alone.iter().find(|asked| asked.engine == name && asked.answered);
        asked.map_or(BenchCell::Missing, |asked| BenchCell::Milliseconds(asked.cpu))
    };
    let line = |row: &EngineComparison| {
        let mut cells: Vec<BenchCell> = vec![row.what.as_str().into(), row.verdict.into(), row.winner.into()];
        cells.extend(engines().map(|engine| alone(row, engine.name())));
        cells.push(BenchCell::Milliseconds(row.one.cpu));
        cells.push(BenchCell::Milliseconds(row.several.cpu));
        cells.push(row.best(|asked| asked.wall).map_or(BenchCell::Missing, BenchCell::Milliseconds));
        cells.push(BenchCell::Milliseconds(row.several.wall));
        cells
    };
    BenchTable {
        title: "Every question: CPU times in ms of engines that answer, and of the portfolio.".to_string(),
        columns: ["question", "verdict", "answered by"]
            .into_iter()
            .chain(engines().map(|engine| engine.name()))
            .chain(["portfolio, 1 thread", "portfolio, 2 threads"])
            .chain(["best engine, elapsed", "portfolio, 2 threads, elapsed"])
            .collect(),
        rows: rows.iter().map(line).collect(),
        ..BenchTable::default()
    }
}
