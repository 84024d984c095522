//! Trencher's own programs: they are read, written, read back, and small ones are explored.

use crate::explore::{Explorer, Limits, Model};
use frontend::{FRONTENDS, Options, Parsed, trencher};
use program::{Program, Source, same};
use std::path::Path;

fn read(name: &str, text: &str) -> Parsed {
    let trencher = FRONTENDS.iter().find(|f| f.name == "trencher").expect("registered");
    assert!((trencher.recognises)(text), "{name} is not recognised");
    let parsed = (trencher.read)(Source::new(name, text), &Options::default());
    parsed.unwrap_or_else(|errors| panic!("{name}: {errors:#?}"))
}

/// Each file with what was recorded of its robustness.
fn files(root: &Path) -> Vec<(String, String, Program)> {
    let table = std::fs::read_to_string(root.join("expected.tsv")).expect("readable");
    let row = |line: &str| {
        let fields: Vec<&str> = line.split('\t').collect();
        let text = std::fs::read_to_string(root.join(fields[0])).expect("readable");
        (fields[0].to_string(), fields[1].to_string(), read(fields[0], &text).program)
    };
    table.lines().skip(1).map(row).collect()
}

#[test]
fn everything_is_read_written_and_read_back() {
    let Some(root) = support::corpora("trencher") else { return };
    let files = files(&root);
    assert_eq!(files.len(), 39);
    for (name, _, program) in &files {
        let text = trencher::write(program).unwrap_or_else(|errors| panic!("{name}: {errors:#?}"));
        let again = read(name, &text).program;
        assert!(
            same(program, &again),
            "{name} changed:\n{text}\n{}\n{}",
            program::print(program),
            program::print(&again)
        );
    }
    eprintln!("{} files read, written and read back the same", files.len());
}

/// A robust program has the same states with empty buffers under SC and TSO.
#[test]
fn robust_programs_show_no_new_states() {
    let Some(root) = support::corpora("trencher") else { return };
    let (mut equal, mut differ) = (0, 0);
    for (name, robust, program) in files(&root) {
        let states = |model| {
            let explorer = Explorer::new(&program, model, Limits { states: 100_000, queue: 3, eager: false });
            explorer.calm_states()
        };
        let (Some(sc), Some(tso)) = (states(Model::Sc), states(Model::Tso)) else {
            eprintln!("{name}: over budget");
            continue;
        };
        assert!(sc.is_subset(&tso), "{name}: TSO lost states of SC");
        if sc == tso {
            equal += 1;
        } else {
            differ += 1;
            assert_ne!(robust, "robust", "{name} reaches states under TSO that SC does not have");
        }
    }
    eprintln!("{equal} programs with equal states, {differ} with more under TSO");
    assert!(equal > 10 && differ > 5);
}
