//! Bounded contexts [002]: who finds violations where data are infinite, and how many contexts they need.
//!
//! The source has no measurements; what it describes is measured here beside three other engines with the same
//! limits: its bakery with random tickets, its two reductions (lossy channels with data and automata) made larger and
//! larger, and the programs of the corpus in which numbers grow.

use super::{Bench, Bencher, corpus};
use crate::report::{BenchCell, BenchTable};
use engine::{BoundedContexts, Cegar, Engine, Explicit, Facts, Finding, Lazy, Portfolio};
use evidence::{Task, Verdict};
use generate::{Automata, Family, FencedThreads, LossyChannel, Ring};
use machine::{MODELS, Model, SC, TSO};
use program::Program;

/// Bounded contexts.
pub const CONTEXTS: Bench = Bench {
    name: "contexts",
    earlier: Some("seed002"),
    about: "bounded contexts with infinite data: bakery with random tickets, channels, automata, growing numbers; \
            the contexts that the violations of our corpus need (--corpus)",
    tables,
};

/// How long the violations of the corpus should take at most, in milliseconds.
const WANTED: f64 = 10_000.0;

fn tables(bencher: &Bencher<'_>) -> Result<Vec<BenchTable>, String> {
    let own = corpus_programs(bencher)?;
    let mut tables = vec![compared(bencher, "Bakery with random tickets", &bakeries(bencher)?)?];
    tables.push(compared(bencher, "Lossy channels with data, and automata", &families(bencher)?)?);
    let growing: Vec<AskedProgram> = own.iter().filter(|asked| asked.grows()).cloned().collect();
    tables.push(compared(bencher, "Our programs in which numbers grow", &growing)?);
    tables.push(needed(bencher, &own)?);
    Ok(tables)
}

/// A program that is asked about under a model.
#[derive(Clone)]
struct AskedProgram {
    name: String,
    program: Program,
    model: Model,
}

impl AskedProgram {
    fn task(&self) -> Task<'_> {
        Task::safe(&self.program, self.model)
    }

    /// Whether numbers can be seen to grow without end.
    fn grows(&self) -> bool {
        self.model == TSO && Facts::of(&self.task()).growing.is_some()
    }
}

fn bakeries(bencher: &Bencher<'_>) -> Result<Vec<AskedProgram>, String> {
    let files = [
        corpus!("bakery_random_literal"),
        corpus!("bakery_random"),
        corpus!("bakery_random_fenced"),
        corpus!("bakery_random_small"),
        corpus!("bakery_random_small_fenced"),
    ];
    let mut all = Vec::new();
    for (name, text) in files {
        for n in [2, 3] {
            let program = bencher.own(name, text, Some(n))?;
            let asked =
                |model| AskedProgram { name: format!("{name}, N = {n}"), program: program.clone(), model };
            all.extend([SC, TSO].map(asked));
        }
    }
    Ok(all)
}

fn families(bencher: &Bencher<'_>) -> Result<Vec<AskedProgram>, String> {
    let channel = |messages, reversed| -> Box<dyn Family> {
        Box::new(LossyChannel { messages, letters: messages.min(2), reversed })
    };
    let automata = |moduli: &[usize], disjoint| -> Box<dyn Family> {
        Box::new(Automata { moduli: moduli.to_vec(), disjoint })
    };
    let ring = |threads| -> Box<dyn Family> { Box::new(Ring { threads, fenced: FencedThreads::None }) };
    let members = [
        ("channel of 1", channel(1, false)),
        ("channel of 2", channel(2, false)),
        ("channel of 3", channel(3, false)),
        ("channel of 2, reversed", channel(2, true)),
        ("automata modulo 2", automata(&[2], false)),
        ("automata modulo 2, 3", automata(&[2, 3], false)),
        ("automata modulo 3, 4", automata(&[3, 4], false)),
        ("automata modulo 2, disjoint", automata(&[2], true)),
        ("ring of 4", ring(4)),
        ("ring of 6", ring(6)),
    ];
    let mut all = Vec::new();
    for (name, family) in members {
        let made = family.generate()?;
        let program = bencher.parse(&format!("{}.fw", made.name), &made.text, Vec::new())?;
        all.push(AskedProgram { name: name.to_string(), program, model: TSO });
    }
    Ok(all)
}

fn corpus_programs(bencher: &Bencher<'_>) -> Result<Vec<AskedProgram>, String> {
    let mut all = Vec::new();
    for (name, text) in bencher.corpus()? {
        let program = bencher.own(&name, &text, None)?;
        all.extend(MODELS.iter().map(|model| AskedProgram {
            name: name.clone(),
            program: program.clone(),
            model: *model,
        }));
    }
    Ok(all)
}

/// What is found by whom, with the same limits.
fn compared(bencher: &Bencher<'_>, title: &str, all: &[AskedProgram]) -> Result<BenchTable, String> {
    let mut table = BenchTable::new(
        title,
        &["program", "model", "context", "k", "states", "ms", "explicit", "cegar", "lazy"],
    );
    let (mut violated, mut first) = (0, 0);
    for asked in all {
        let ours = bencher.ask(&BoundedContexts, &asked.task())?;
        let (found, contexts) = said(&ours.answer);
        let mut row: Vec<BenchCell> = vec![
            asked.name.as_str().into(),
            asked.model.into(),
            found.into(),
            contexts.into(),
            ours.answer.statistics.states.into(),
            ours.time.clone(),
        ];
        let mut others = Vec::new();
        for engine in [&Explicit as &dyn Engine, &Cegar, &Lazy] {
            let other = bencher.ask(engine, &asked.task())?;
            let decided = other.answer.checked.holds();
            let text = match decided {
                Some(_) => format!("{} {:.1} ms", other.word(), other.time.median()),
                None => "unknown".to_string(),
            };
            row.push(text.into());
            others.extend(decided.filter(|safe| !safe).map(|_| other.time.median()));
        }
        if found == "violated" {
            violated += 1;
            first += usize::from(others.iter().all(|time| *time >= ours.time.median()));
        }
        table.rows.push(row);
        if bencher.interrupt.is_raised() {
            return Ok(table);
        }
    }
    table.notes.push(format!(
        "k: the contexts of the violation found, or those within which nothing is violated. Of {violated} violations \
         that `context` found, {first} were not found sooner by one of the others."
    ));
    Ok(table)
}

/// What bounded contexts say, and the number of them.
fn said(found: &Finding) -> (&'static str, Option<usize>) {
    match found.checked.verdict() {
        Verdict::Unsafe(_) => ("violated", found.statistics.contexts),
        Verdict::Within(within, _) => ("not within", Some(within.contexts())),
        _ => ("unknown", None),
    }
}

/// The contexts that the violations of the corpus need.
fn needed(bencher: &Bencher<'_>, all: &[AskedProgram]) -> Result<BenchTable, String> {
    let mut table = BenchTable::new("Contexts that violations need", &["program", "SC", "TSO", "PSO"]);
    let mut last = "";
    let mut counts: Vec<usize> = Vec::new();
    let (mut violated, mut quick, mut slowest) = (0, 0, 0.0_f64);
    for asked in all {
        // Whether there is a violation is for others to find out.
        let known = bencher.ask(&Portfolio, &asked.task())?;
        if known.answer.checked.holds() != Some(false) {
            continue;
        }
        let ours = bencher.ask(&BoundedContexts, &asked.task())?;
        let (found, contexts) = said(&ours.answer);
        let needed = contexts.filter(|_| found == "violated");
        if std::mem::replace(&mut last, asked.name.as_str()) != asked.name {
            let models = MODELS.iter().map(|_| BenchCell::Missing);
            table.rows.push(std::iter::once(asked.name.as_str().into()).chain(models).collect());
        }
        let column = MODELS.iter().position(|model| *model == asked.model);
        if let (Some(row), Some(column)) = (table.rows.last_mut(), column) {
            row[column + 1] = needed.map_or(found.into(), Into::into);
        }
        violated += 1;
        counts.extend(needed);
        quick += usize::from(needed.is_some() && ours.time.median() <= WANTED);
        slowest = slowest.max(ours.time.median());
        if bencher.interrupt.is_raised() {
            break;
        }
    }
    let mut shares: Vec<String> = Vec::new();
    for contexts in 1..=counts.iter().copied().max().unwrap_or(0) {
        let with = counts.iter().filter(|count| **count == contexts).count();
        if with > 0 {
            shares.push(format!("{with} need {contexts}"));
        }
    }
    table.notes.push(format!(
        "Of {violated} violations, {}. {quick} were found within {:.0} s; the slowest took {:.1} s.",
        shares.join(", "),
        WANTED / 1000.0,
        slowest / 1000.0,
    ));
    Ok(table)
}
