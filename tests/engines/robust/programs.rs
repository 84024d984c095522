//! Programs to ask about.

use engine::{Robustness, Run, robust};
use evidence::{MostStates, Witness};
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

/// The engine's verdict.
pub fn answer(program: &Program) -> &'static str {
    let run = Run { monitor: &MostStates(1 << 21), ..Run::default() };
    match robust(program, &run) {
        Robustness::Robust => "robust",
        Robustness::NotRobust(_) => "not_robust",
        Robustness::Unknown(_) => "unknown",
        Robustness::Rejected(why) => panic!("{}: {why}", program.name),
    }
}

/// A program of our corpus.
pub fn corpus(name: &str) -> Program {
    read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name))
}

/// The witness of a program that is not robust.
pub fn witness(program: &Program) -> Witness {
    match robust(program, &Run::default()) {
        Robustness::NotRobust(checked) => checked.witness().clone(),
        other => panic!("expected a witness, found {other:?}"),
    }
}
