//! Memorax' own programs: they are read, written, read back, and small ones are explored.

use crate::common::{on_record, reads_back};
use crate::explore::{Explorer, Limits, Model, truth};
use frontend::rmm;
use program::Program;

#[test]
fn everything_is_read_written_and_read_back() {
    let Some(root) = support::corpora("memorax") else { return };
    let files = on_record("rmm", &root);
    assert_eq!(files.len(), 18);
    for (row, program) in &files {
        reads_back("rmm", &row[0], program, rmm::write);
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
    for (row, program) in on_record("rmm", &root) {
        let name = &row[0];
        for (model, expected) in [(Model::Tso, &row[1]), (Model::Pso, &row[2])] {
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
