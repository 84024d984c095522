//! `action.yml`: the steps that GitHub takes, as far as a shell can take them.

use crate::cli::tool::Folder;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

const ACTION: &str = include_str!("../../action.yml");

/// The script of the step with this name.
fn script(name: &str) -> &'static str {
    let step = ACTION.split("- name: ").find(|step| step.starts_with(name)).expect("a step");
    step.lines().find_map(|line| line.trim().strip_prefix("run: ")).expect("a script")
}

/// The inputs that a step's environment names, and the defaults they have.
fn environment() -> Vec<(&'static str, &'static str)> {
    let default = |input: &str| {
        let (_, after) = ACTION.split_once(&format!("\n  {input}:\n")).expect("an input");
        after.lines().find_map(|line| line.trim().strip_prefix("default: ")).expect("a default")
    };
    let named = ACTION.lines().filter_map(|line| line.trim().split_once(": ${{ inputs."));
    named.map(|(variable, input)| (variable, default(input.trim_end_matches(" }}")))).collect()
}

/// Compares as the action does; whether the step succeeds.
fn compared(folder: &Folder) -> bool {
    let program = Path::new(env!("CARGO_BIN_EXE_fencewright")).parent().expect("a folder");
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap_or_default());
    let mut shell = Command::new("bash");
    shell.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", script("Compare")]);
    shell.env("PATH", path).envs(environment()).current_dir(folder.path());
    shell.status().expect("there is a shell").success()
}

#[test]
fn answers_are_compared_and_the_results_can_be_uploaded() {
    let folder = Folder::new();
    folder.write("lock.fw", "shared x; thread P { x = 1; } never x == 1;");
    for (expected, succeeds) in [("unsafe", true), ("safe", false)] {
        let config = format!("[[program]]\nfile = \"lock.fw\"\nexpect = \"{expected}\"\n");
        folder.write("fencewright.toml", config);
        assert_eq!(compared(&folder), succeeds, "{expected}");
        let sarif: Value = serde_json::from_str(&folder.read("fencewright.sarif")).expect("a document");
        let results = sarif["runs"][0]["results"].as_array().map(Vec::len);
        assert_eq!(results == Some(0), succeeds, "{sarif}");
    }
}
