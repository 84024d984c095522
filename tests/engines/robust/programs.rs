//! Programs to ask about.

use engine::{ENGINES, Finding, Run, decide};
use evidence::{Ignore, Monitor, MostStates, Task, Verdict, Witness};
use machine::{Model, TSO};
use program::{Program, Source};
use std::path::Path;

/// The program in a file.
pub fn read(path: &Path) -> Program {
    let text = std::fs::read_to_string(path).expect("readable");
    let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
    let frontend = frontend::choose(None, name, &text).expect("a known language");
    let parsed = (frontend.read)(Source::new(name, text.clone()), &frontend::Options::default());
    parsed.unwrap_or_else(|errors| panic!("{name}: {errors:?}")).program
}

/// The program of a text in our language.
pub fn parse(text: &str) -> Program {
    let frontend = frontend::choose(Some("fw"), "", text).expect("our language");
    let parsed = (frontend.read)(Source::new("test.fw", text), &frontend::Options::default());
    parsed.unwrap_or_else(|errors| panic!("{errors:?}")).program
}

/// Is it robust against TSO?
pub fn task(program: &Program) -> Task<'_> {
    Task::robust(program, TSO)
}

/// What is found out, checked.
pub fn robust(program: &Program, model: Model, monitor: &dyn Monitor) -> Finding {
    let found = decide(&Task::robust(program, model), ENGINES[0], &Run { monitor, ..Run::default() });
    found.unwrap_or_else(|bug| panic!("{}: {bug}\n{}", program.name, program::print(program)))
}

/// The engine's verdict about TSO.
pub fn answer(program: &Program) -> &'static str {
    answer_against(program, TSO)
}

/// The engine's verdict.
pub fn answer_against(program: &Program, model: Model) -> &'static str {
    robust(program, model, &MostStates(1 << 21)).checked.verdict().word()
}

/// A program of our corpus.
pub fn corpus(name: &str) -> Program {
    read(&support::root().join("corpus").join(name))
}

/// The witness of a program that is not robust.
pub fn witness(program: &Program) -> Witness {
    match robust(program, TSO, &Ignore).checked.verdict() {
        Verdict::NotRobust(witness) => witness.clone(),
        other => panic!("expected a witness, found {other:?}"),
    }
}
