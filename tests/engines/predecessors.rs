//! Programs of the predecessors with known verdicts, read in their own formats from
//! `../shared/corpora` (or `$FENCEWRIGHT_CORPORA`) when there. Where the table knows a verdict,
//! `explicit` gives the same; where the predecessor found none, ours must at least be honest.

use engine::{Engine, Explicit, Run};
use evidence::{Ignore, MostStates, Task, check};
use machine::model_named;
use program::{Program, Source};
use std::path::Path;

fn read(path: &Path) -> Program {
    let name = path.file_name().and_then(|name| name.to_str()).expect("a plain name");
    let text = std::fs::read_to_string(path).expect("readable");
    let frontend = frontend::choose(None, name, &text).expect("a known language");
    let parsed = (frontend.read)(Source::new(name, text), &Default::default());
    parsed.unwrap_or_else(|errors| panic!("{name}: {errors:?}")).program
}

fn verdict(program: &Program, model: &str) -> &'static str {
    let task = Task::safe(program, model_named(model).expect("known"));
    let answer = Explicit.verify(&task, &Run { monitor: &MostStates(300_000), ..Run::default() });
    check(&task, answer.verdict, &Ignore).expect("evidence holds").verdict().word()
}

#[test]
fn memorax_programs_get_the_known_verdicts() {
    let Some(folder) = support::corpora("memorax") else {
        eprintln!("no Memorax programs here: nothing compared");
        return;
    };
    let table = std::fs::read_to_string(folder.join("expected.tsv")).expect("readable");
    let (mut known, mut new) = (0, 0);
    for row in table.lines().skip(1) {
        let fields: Vec<&str> = row.split('\t').collect();
        let program = read(&folder.join(fields[0]));
        assert_ne!(verdict(&program, "sc"), "unsafe", "{}", fields[0]);
        for (model, expected) in [("tso", fields[1]), ("pso", fields[2])] {
            let found = verdict(&program, model);
            if expected == "safe" || expected == "unsafe" {
                assert_eq!(found, expected, "{} {model}", fields[0]);
                known += 1;
            } else if found != "unknown" {
                new += 1;
            }
        }
    }
    assert!(known >= 19, "only {known} verdicts were compared");
    assert!(new >= 10, "only {new} of the others were decided");
}
