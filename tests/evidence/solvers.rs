//! Other people's solvers.

use std::io::Write;
use std::process::{Command, Stdio};

/// Runs a solver on a script and counts its answers.
pub fn answers(solver: &[&str], script: &[u8]) -> Option<(usize, usize)> {
    let mut command = Command::new(solver[0]);
    let child = command.args(&solver[1..]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(_) if std::env::var_os("FENCEWRIGHT_REQUIRE_SOLVERS").is_some() => {
            panic!("{} is missing", solver[0])
        }
        Err(_) => {
            eprintln!("{} is not installed: nothing compared", solver[0]);
            return None;
        }
    };
    let mut input = child.stdin.take().expect("piped");
    let script = script.to_vec();
    let writer = std::thread::spawn(move || input.write_all(&script));
    let output = child.wait_with_output().expect("it ran");
    let _ = writer.join();
    let text = String::from_utf8_lossy(&output.stdout);
    let count = |word: &str| text.lines().filter(|line| *line == word).count();
    assert_eq!(count("unsat") + count("sat"), text.lines().count(), "{text}");
    Some((count("unsat"), count("sat")))
}

pub const Z3: &[&str] = &["z3", "-in"];
pub const CVC5: &[&str] = &["cvc5", "--incremental", "--lang", "smt2"];
