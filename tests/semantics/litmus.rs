//! Published x86 litmus tests: verdict, observation and *all* final states under SC, TSO and
//! PSO must be what the expected data say. The tests are not part of this repository; they are
//! read from `../shared/corpora/litmus-x86` (or `$FENCEWRIGHT_CORPORA/litmus-x86`) when there.

use engine::{Engine, FinalStates, Run};
use evidence::{Ignore, Observation, Task, check};
use machine::model_named;
use program::{Program, Quantifier, Source};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A row of the expected data.
struct Row {
    model: String,
    quantifier: String,
    verdict: String,
    observed: String,
    states: BTreeSet<BTreeMap<String, String>>,
}

fn rows(folder: &Path) -> BTreeMap<String, Vec<Row>> {
    let text = std::fs::read_to_string(folder.join("expected.tsv")).expect("readable");
    let mut rows: BTreeMap<String, Vec<Row>> = BTreeMap::new();
    for line in text.lines().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [file, model, quantifier, verdict, observed, count, finals] = fields[..] else {
            panic!("{} fields in {line}", fields.len());
        };
        let states: BTreeSet<_> = finals.split(" || ").map(state).collect();
        assert_eq!(states.len().to_string(), count, "{file} {model}");
        rows.entry(file.to_string()).or_default().push(Row {
            model: model.to_string(),
            quantifier: quantifier.to_string(),
            verdict: verdict.to_string(),
            observed: observed.to_string(),
            states,
        });
    }
    rows
}

/// `0:EAX=1; [x]=2;` as a map.
fn state(text: &str) -> BTreeMap<String, String> {
    let pairs = text.split(';').map(str::trim).filter(|pair| !pair.is_empty());
    pairs.filter_map(|pair| pair.split_once('=')).map(|(k, v)| (k.to_string(), v.to_string())).collect()
}

fn read(folder: &Path, file: &str) -> Result<Program, String> {
    let text = std::fs::read_to_string(folder.join(file)).map_err(|error| error.to_string())?;
    let frontend = frontend::choose(None, file, &text).ok_or("no front end")?;
    let options = frontend::Options { observe_all: true, ..Default::default() };
    match (frontend.read)(Source::new(file, text), &options) {
        Ok(parsed) => Ok(parsed.program),
        Err(errors) => Err(errors[0].message.clone()),
    }
}

fn compare(program: &Program, row: &Row) -> Result<(), String> {
    let model = model_named(&row.model).ok_or("unknown model")?;
    let question = program.question.as_ref().ok_or("no question")?;
    let task = Task::asked(program, model);
    let found = FinalStates.verify(&task, &Run::default()).verdict;
    let checked = check(&task, found, &Ignore).map_err(|why| why.to_string())?;
    let checked = checked.outcomes().ok_or("no final states")?;
    let quantifier = match question.quantifier {
        Quantifier::Exists => "exists",
        Quantifier::NotExists => "~exists",
        Quantifier::ForAll => "forall",
    };
    let observed = match checked.observation() {
        Observation::Never => "Never",
        Observation::Sometimes => "Sometimes",
        Observation::Always => "Always",
    };
    let verdict = match checked.holds() {
        Some(true) => "Ok",
        Some(false) => "No",
        None => "unknown",
    };
    let names = question.observed.iter().map(|(name, _)| name.clone());
    let names: Vec<String> = names.collect();
    let with_names =
        |values: &Vec<i64>| names.iter().cloned().zip(values.iter().map(i64::to_string)).collect();
    let states: BTreeSet<BTreeMap<String, String>> = checked.finals().iter().map(with_names).collect();
    if (quantifier, verdict, observed) != (&row.quantifier[..], &row.verdict[..], &row.observed[..]) {
        let expected = (&row.quantifier, &row.verdict, &row.observed);
        return Err(format!("{:?}, expected {expected:?}", (quantifier, verdict, observed)));
    }
    if states != row.states {
        return Err(format!("{states:?}, expected {:?}", row.states));
    }
    Ok(())
}

#[test]
fn every_published_test_has_exactly_the_known_final_states() {
    let Some(folder) = support::corpora("litmus-x86") else {
        eprintln!("no litmus corpus here: nothing compared");
        return;
    };
    let rows: Vec<(String, Vec<Row>)> = rows(&folder).into_iter().collect();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut wrong = Vec::new();
        while let Some((file, rows)) = rows.get(next.fetch_add(1, Ordering::Relaxed)) {
            match read(&folder, file) {
                Err(why) => wrong.push(format!("{file}: {why}")),
                Ok(program) => wrong.extend(rows.iter().filter_map(|row| {
                    compare(&program, row).err().map(|why| format!("{file} {}: {why}", row.model))
                })),
            }
        }
        wrong
    };
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..2).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("no panic")).collect()
    });
    let compared: usize = rows.iter().map(|(_, rows)| rows.len()).sum();
    assert!(wrong.is_empty(), "{} of {compared}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(compared >= 8000, "only {compared} rows");
}
