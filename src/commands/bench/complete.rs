//! Who decides programs with finite data: every engine and every abstraction of buffers beside each other,
//! and the predecessor's own programs beside its published times.

use super::{Bench, Bencher, Measured};
use crate::numbers::short;
use crate::report::{BenchCell, BenchTable};
use engine::{BufferAbstraction, Buffers, Cegar, Complete, Engine, Explicit, Finding, Lazy, Portfolio, Run};
use evidence::Task;
use machine::{Backward, MODELS, PSO, TSO};

/// The decision that always ends, and the others.
pub const COMPLETE: Bench = Bench {
    name: "complete",
    earlier: None,
    about: "programs with finite data: every engine and abstraction of buffers; Memorax' programs and times",
    tables,
};

/// The part of a published time that ours should be at most.
const WANTED: f64 = 0.1;

fn tables(bencher: &Bencher<'_>) -> Result<Vec<BenchTable>, String> {
    let memorax = memorax(bencher)?;
    let own = own(bencher)?;
    Ok(memorax.into_iter().chain([own]).collect())
}

/// Memorax' programs: its verdict and its time, ours.
fn memorax(bencher: &Bencher<'_>) -> Result<Option<BenchTable>, String> {
    let Some(list) = bencher.foreign("memorax/expected.tsv") else { return Ok(None) };
    let mut table = BenchTable::new(
        "Memorax' programs",
        &[
            "program",
            "model",
            "Memorax",
            "its ms",
            "complete",
            "complete ms",
            "elements",
            "portfolio",
            "portfolio ms",
            "a tenth",
        ],
    );
    let (mut due, mut held) = (0, 0);
    for row in list.lines().skip(1) {
        let fields: Vec<&str> = row.split('\t').collect();
        let (Some(name), Some(times)) = (fields.first(), fields.get(5)) else { continue };
        let Some(text) = bencher.foreign(&format!("memorax/{name}")) else { continue };
        let program = bencher.parse(name, &text, Vec::new())?;
        let seconds: Vec<Option<f64>> = times.split('/').map(|time| time.parse().ok()).collect();
        for (at, model) in [TSO, PSO].into_iter().enumerate() {
            let task = Task::safe(&program, model);
            let backwards = bencher.ask(&Complete, &task)?;
            let best = bencher.ask(&Portfolio, &task)?;
            let theirs = seconds.get(at).copied().flatten().map(|seconds| 1000.0 * seconds);
            let known = fields.get(at + 1).copied().unwrap_or_default();
            let quick = |ours: &Measured<Finding>| {
                theirs.is_some_and(|theirs| ours.time.median() <= WANTED * theirs) && ours.is_decided()
            };
            // What took less than they print has no tenth, and an error took no time.
            let comparable = theirs.is_some_and(|theirs| theirs >= 100.0) && !known.contains("error");
            let holds = match (comparable, quick(&backwards), quick(&best)) {
                (false, ..) => "",
                (true, true, _) => "yes",
                (true, false, true) => "portfolio",
                (true, false, false) => "no",
            };
            due += usize::from(comparable);
            held += usize::from(holds == "yes" || holds == "portfolio");
            table.rows.push(vec![
                (*name).into(),
                model.into(),
                known.into(),
                theirs.map_or(BenchCell::Missing, BenchCell::Milliseconds),
                backwards.word().into(),
                backwards.time.clone(),
                backwards.answer.statistics.states.into(),
                best.word().into(),
                best.time.clone(),
                holds.into(),
            ]);
        }
    }
    table.notes.push(format!(
        "Memorax' times are those that came with its programs. At most a tenth of its time in {held} of {due} rows \
         where it took 0.1 s or more and did not end with an error."
    ));
    Ok(Some(table))
}

/// Our own programs with finite data.
fn own(bencher: &Bencher<'_>) -> Result<BenchTable, String> {
    let mut table = BenchTable::new(
        "Our programs with finite data",
        &["program", "model", "explicit", "cegar", "lazy", "set", "multiset", "auto", "complete", "elements"],
    );
    let (mut asked_of, mut decided, mut by) = (0, 0, [0; 7]);
    for (name, text) in bencher.corpus()? {
        let program = bencher.own(&name, &text, None)?;
        for model in MODELS {
            let task = Task::safe(&program, *model);
            if Backward::new(&program, *model, &mut || true).is_err() {
                continue;
            }
            let (row, known) = compared(bencher, &name, &task)?;
            table.rows.push(row);
            asked_of += 1;
            decided += usize::from(known.contains(&true));
            by.iter_mut().zip(known).for_each(|(count, known)| *count += usize::from(known));
            if bencher.interrupt.is_raised() {
                return Ok(table);
            }
        }
    }
    let named = table.columns[2..].iter().zip(by).map(|(name, count)| format!("{name} {count}"));
    let named = named.collect::<Vec<_>>().join(", ");
    table.notes.push(format!("{decided} of {asked_of} questions were decided, by one or another: {named}."));
    table.notes.push("A cell: the answer, engine and check together, states or elements.".to_string());
    Ok(table)
}

/// A row, and who has an answer.
fn compared(
    bencher: &Bencher<'_>,
    name: &str,
    task: &Task<'_>,
) -> Result<(Vec<BenchCell>, [bool; 7]), String> {
    let set = BufferAbstraction::Set;
    let auto = BufferAbstraction::Auto;
    let engines: [(&dyn Engine, BufferAbstraction); 7] = [
        (&Explicit, auto),
        (&Cegar, auto),
        (&Lazy, auto),
        (&Buffers, set),
        (&Buffers, BufferAbstraction::Multiset),
        (&Buffers, auto),
        (&Complete, auto),
    ];
    let mut row: Vec<BenchCell> = vec![name.into(), task.model.into()];
    let (mut known, mut elements) = ([false; 7], BenchCell::Missing);
    for ((engine, buffers), known) in engines.into_iter().zip(&mut known) {
        let measured = bencher.ask_as(engine, task, Run { buffers, ..Run::default() })?;
        *known = measured.is_decided();
        let states = measured.answer.statistics.states;
        let time = measured.time.median();
        let text = match *known {
            true => format!("{} {time:.1} ms, {}", measured.word(), short(states)),
            false => "unknown".to_string(),
        };
        row.push(text.into());
        elements = states.into();
    }
    row.push(elements);
    Ok((row, known))
}
