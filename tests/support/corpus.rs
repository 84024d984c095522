//! The corpus: programs, and beside each the data that say what is expected of it.

use program::{Int, Program, Source};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    pub case: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    pub model: String,
    #[serde(default)]
    pub define: BTreeMap<String, i64>,
    /// What the engine answers.
    pub verdict: String,
    /// What is really the case, where the engine cannot know.
    pub truth: Option<String>,
    pub violation: Option<String>,
    /// The number of reachable states.
    pub states: Option<usize>,
    #[serde(default = "explicit")]
    pub engine: String,
    /// For readers.
    pub why: Option<String>,
}

impl Case {
    /// What is really the case.
    pub fn truth(&self) -> &str {
        self.truth.as_ref().unwrap_or(&self.verdict)
    }
}

fn explicit() -> String {
    "explicit".to_string()
}

/// The programs.
pub fn corpus() -> Vec<PathBuf> {
    let folder = crate::root().join("corpus");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the corpus is part of the repository")
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "fw"))
        .collect();
    files.sort();
    files
}

/// The program that a text in our language says.
pub fn program(text: &str) -> Program {
    let frontend = frontend::choose(Some("fw"), "test", text).expect("known");
    let read = (frontend.read)(Source::new("test", text.to_string()), &Default::default());
    read.unwrap_or_else(|faults| panic!("{faults:?}")).program
}

/// A program with other values for its constants.
pub fn read(path: &Path, define: &BTreeMap<String, i64>) -> Program {
    let name = path.file_name().and_then(|name| name.to_str()).expect("a plain name");
    let text = std::fs::read_to_string(path).expect("readable");
    let frontend = frontend::choose(None, name, &text).expect("a known language");
    let defines = define.iter().map(|(name, value)| (name.clone(), Int::from(*value))).collect();
    let options = frontend::Options { defines, ..Default::default() };
    match (frontend.read)(Source::new(name, text), &options) {
        Ok(parsed) => parsed.program,
        Err(errors) => panic!("{name}: {errors:#?}"),
    }
}

/// What is expected of a program.
pub fn expected(path: &Path) -> Expected {
    let data = path.with_extension("toml");
    let text = std::fs::read_to_string(&data).unwrap_or_else(|_| panic!("{} is missing", data.display()));
    toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", data.display()))
}
