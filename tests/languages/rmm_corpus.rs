//! Memorax' own programs: they are read, written, read back, and small ones are explored.

use crate::explore::{Explorer, Limits, Model, truth};
use frontend::{FRONTENDS, Options, Parsed, rmm};
use program::{Program, Source, same};
use std::path::Path;

fn read(name: &str, text: &str) -> Parsed {
    let rmm = FRONTENDS.iter().find(|f| f.name == "rmm").expect("registered");
    assert!((rmm.recognises)(text), "{name} is not recognised");
    (rmm.read)(Source::new(name, text), &Options::default())
        .unwrap_or_else(|errors| panic!("{name}: {errors:#?}"))
}

/// Each file with the verdicts recorded for TSO and PSO.
fn files(root: &Path) -> Vec<(String, String, String, Program)> {
    let table = std::fs::read_to_string(root.join("expected.tsv")).expect("readable");
    let row = |line: &str| {
        let fields: Vec<&str> = line.split('\t').collect();
        let text = std::fs::read_to_string(root.join(fields[0])).expect("readable");
        (fields[0].to_string(), fields[1].to_string(), fields[2].to_string(), read(fields[0], &text).program)
    };
    table.lines().skip(1).map(row).collect()
}

#[test]
fn everything_is_read_written_and_read_back() {
    let Some(root) = support::corpora("memorax") else { return };
    let files = files(&root);
    assert_eq!(files.len(), 18);
    for (name, _, _, program) in &files {
        let text = rmm::write(program).unwrap_or_else(|errors| panic!("{name}: {errors:#?}"));
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

fn violated(program: &Program, model: Model, queue: usize, states: usize) -> Option<bool> {
    let explorer = Explorer::new(program, model, Limits { states, queue, eager: false });
    let bad = |state: &crate::explore::State| {
        program.properties.iter().any(|p| truth(&p.cond, &|place| explorer.place(state, place)))
    };
    let explored = explorer.run(&bad);
    if explored.out_of_budget { None } else { Some(explored.found) }
}

/// With short buffers a recorded violation must show, and none may show where there is none.
#[test]
fn recorded_verdicts_show_with_short_buffers() {
    let Some(root) = support::corpora("memorax") else { return };
    let mut agreed = 0;
    for (name, tso, pso, program) in files(&root) {
        for (model, expected) in [(Model::Tso, &tso), (Model::Pso, &pso)] {
            let Some(expected) = ["safe", "unsafe"].iter().find(|v| *v == expected) else { continue };
            let found = violated(&program, model, 3, 400_000);
            let verdict = match found {
                Some(true) => "unsafe",
                Some(false) => "safe",
                None => {
                    eprintln!("{name} {model:?}: over budget");
                    continue;
                }
            };
            assert_eq!(verdict, *expected, "{name} {model:?}");
            agreed += 1;
        }
        if violated(&program, Model::Sc, 1, 400_000) == Some(true) {
            eprintln!("{name}: a violation under SC");
        }
    }
    eprintln!("{agreed} verdicts agree");
    assert!(agreed > 10);
}
