//! Our own C programs get the verdicts that the table beside them expects, and those that only fail because
//! stores are delayed are repaired.

use engine::{ENGINES, FenceAnswer, FenceOptions, Run, decide, place_fences};
use evidence::{MostStates, Task};
use frontend::{FRONTENDS, Frontend, Insertion, Options};
use machine::{TSO, model_named};
use program::{Program, Source, same};
use std::path::PathBuf;

/// More states than any of them needs.
const STATES: usize = 300_000;

fn c() -> &'static Frontend {
    FRONTENDS.iter().find(|frontend| frontend.name == "c").expect("registered")
}

fn folder() -> PathBuf {
    support::root().join("tests/engines/c_programs_expected")
}

/// The rows of the table: a file, its verdicts under SC, TSO and PSO, and whether fences can be written into it.
fn rows() -> Vec<(String, [String; 3], String)> {
    let table = std::fs::read_to_string(folder().join("expected.tsv")).expect("readable");
    let row = |row: &str| {
        let fields: Vec<String> = row.split('\t').map(str::to_string).collect();
        let [file, sc, tso, pso, fences] = fields.try_into().expect("five columns");
        (file, [sc, tso, pso], fences)
    };
    table.lines().skip(1).map(row).collect()
}

fn text(file: &str) -> String {
    std::fs::read_to_string(folder().join(file)).expect("readable")
}

fn read(file: &str, text: &str) -> Program {
    let parsed = (c().read)(Source::new(file, text), &Options::default());
    parsed.unwrap_or_else(|errors| panic!("{file}: {errors:#?}")).program
}

#[test]
fn every_program_is_in_the_table() {
    let files = std::fs::read_dir(folder()).expect("part of the repository");
    let names = files.map(|file| file.expect("readable").file_name().into_string().expect("plain"));
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".c")).collect();
    names.sort();
    assert_eq!(names, rows().into_iter().map(|(file, ..)| file).collect::<Vec<_>>());
}

#[test]
fn every_program_gets_its_verdict() {
    let mut wrong = Vec::new();
    for (file, expected, _) in rows() {
        let program = read(&file, &text(&file));
        for (model, expected) in ["sc", "tso", "pso"].into_iter().zip(expected) {
            let limit = MostStates(STATES);
            let run = Run { monitor: &limit, ..Run::default() };
            let task = Task::safe(&program, model_named(model).expect("a model"));
            let found = decide(&task, ENGINES[0], &run).expect("evidence holds");
            let word = found.checked.verdict().word();
            if word != expected {
                wrong.push(format!("{file} under {model}: {word}, expected {expected}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn delayed_stores_are_repaired() {
    for (file, verdicts, fences) in rows() {
        let repaired = verdicts[0] == "safe" && verdicts[1] == "unsafe";
        assert_eq!(repaired, fences != "-", "{file}");
        if !repaired {
            continue;
        }
        let text = text(&file);
        let program = read(&file, &text);
        let limit = MostStates(STATES);
        let run = Run { monitor: &limit, ..Run::default() };
        let found = place_fences(&Task::safe(&program, TSO), ENGINES[1], &FenceOptions::default(), &run);
        let FenceAnswer::Placed(placed) = found.expect("checked").answer else { panic!("{file}: no fences") };
        let insertions = placed.fences.iter().map(|fence| Insertion {
            span: fence.point.span,
            before: fence.point.before,
            strength: fence.point.strength,
        });
        let written = (c().insert)(&text, &insertions.collect::<Vec<_>>(), &Options::default());
        // A place in a macro can be told by reading the text again: it is another program then.
        let good = written.ok().filter(|written| same(&read(&file, written), &placed.program));
        assert_eq!(good.is_some(), fences == "written", "{file}: {good:?}");
        if let Some(written) = good {
            assert_ne!(super::c_programs::compiles(&written), Some(false), "{file} with fences");
        }
    }
}
