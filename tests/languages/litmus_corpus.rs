//! Every published x86 test, all final states, three models, against recorded results.
//!
//! The corpus lives beside the checkout; without it this test says so and passes.

use crate::explore::{Explorer, Limits, Model, truth};
use frontend::{FRONTENDS, Options};
use program::{Program, Quantifier, Source};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

fn read(name: &str, text: String) -> Result<Program, String> {
    let litmus = FRONTENDS.iter().find(|f| f.name == "litmus").expect("registered");
    let options = Options { observe_all: true, ..Options::default() };
    (litmus.read)(Source::new(name, text), &options)
        .map(|parsed| parsed.program)
        .map_err(|errors| errors.iter().map(|e| e.message.clone()).collect::<Vec<_>>().join("; "))
}

struct Row {
    model: String,
    quantifier: String,
    verdict: String,
    observed: String,
    states: BTreeSet<Vec<String>>,
}

fn rows(root: &Path) -> BTreeMap<String, Vec<Row>> {
    let text = std::fs::read_to_string(root.join("expected.tsv")).expect("readable");
    let mut rows: BTreeMap<String, Vec<Row>> = BTreeMap::new();
    for line in text.lines().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        let items = |state: &str| {
            let mut items: Vec<String> = state.split_whitespace().map(str::to_string).collect();
            items.sort();
            items
        };
        let states: BTreeSet<_> = fields[6].split("||").map(items).collect();
        assert_eq!(states.len().to_string(), fields[5], "{line}");
        rows.entry(fields[0].to_string()).or_default().push(Row {
            model: fields[1].to_string(),
            quantifier: fields[2].to_string(),
            verdict: fields[3].to_string(),
            observed: fields[4].to_string(),
            states,
        });
    }
    rows
}

fn compare(program: &Program, row: &Row, budget: usize) -> Result<bool, String> {
    let model = Model::ALL.into_iter().find(|m| m.name() == row.model).expect("a known model");
    let limits = Limits { states: budget, queue: usize::MAX, eager: true };
    let explorer = Explorer::new(program, model, limits);
    let explored = explorer.run(&|_| false);
    if explored.out_of_budget {
        return Ok(false);
    }
    let outcomes = explorer.outcomes(&explored);
    if outcomes != row.states {
        return Err(format!("{}: found {outcomes:?}, expected {:?}", row.model, row.states));
    }
    let question = program.question.as_ref().expect("a question");
    let holds = |state| truth(&question.cond, &|place| explorer.place(state, place));
    let count = explored.finals.iter().filter(|state| holds(state)).count();
    let observed = match count {
        0 => "Never",
        n if n == explored.finals.len() => "Always",
        _ => "Sometimes",
    };
    let (quantifier, holds) = match question.quantifier {
        Quantifier::Exists => ("exists", count > 0),
        Quantifier::NotExists => ("~exists", count == 0),
        Quantifier::ForAll => ("forall", count == explored.finals.len()),
    };
    let verdict = if holds { "Ok" } else { "No" };
    let found = [quantifier, verdict, observed];
    let wanted = [&*row.quantifier, &*row.verdict, &*row.observed];
    if found == wanted { Ok(true) } else { Err(format!("{}: {found:?}, expected {wanted:?}", row.model)) }
}

#[test]
fn published_tests_have_the_recorded_final_states() {
    let Some(root) = support::corpora("litmus-x86") else { return };
    let budget = 20_000_000;
    let (mut equal, mut skipped, mut wrong) = (0, Vec::new(), Vec::new());
    let rows = rows(&root);
    // `tests/semantics/litmus.rs` asks the machine about all of them; these are what the text means by itself.
    for (file, rows) in rows.iter().step_by(3) {
        let text = std::fs::read_to_string(root.join(file)).expect("readable");
        let program = match read(file, text) {
            Ok(program) => program,
            Err(error) => {
                wrong.push(format!("{file}: {error}"));
                continue;
            }
        };
        for row in rows {
            match compare(&program, row, budget) {
                Ok(true) => equal += 1,
                Ok(false) => skipped.push(format!("{file} {}", row.model)),
                Err(error) => wrong.push(format!("{file} {error}")),
            }
        }
    }
    eprintln!("{} files, of a third {equal} rows equal, {} over budget", rows.len(), skipped.len());
    skipped.iter().for_each(|name| eprintln!("over budget: {name}"));
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(equal > 0);
}

#[test]
fn files_without_recorded_results_are_read_or_refused_with_a_reason() {
    let Some(root) = support::corpora("litmus-x86") else { return };
    let rows = rows(&root);
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("readable").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(&root).expect("inside").display().to_string();
            if name.ends_with(".litmus") && !rows.contains_key(&name) {
                let text = std::fs::read_to_string(&path).expect("readable");
                match read(&name, text) {
                    Ok(_) => eprintln!("{name}: read"),
                    Err(error) => {
                        eprintln!("{name}: {error}");
                        assert!(!error.is_empty());
                    }
                }
            }
        }
    }
}
