//! How long all final states of litmus tests take, for three models.
//!
//! Shapes that are hard in ways of their own: rings of store buffering (many variables, few
//! orders that matter), rounds of store buffering (long buffers), and locked increments of one
//! variable (many orders, few states). Each may take 2 seconds, with the check that no final
//! state is missing. If the published x86 tests lie beside the checkout, all of them together may take
//! 10 seconds. `-- --strict` fails if that is not met, `-- --quick` takes small instances.

mod support;

use engine::{Engine, FinalStates, Run};
use evidence::{Ignore, Task, check};
use frontend::Options;
use machine::{MODELS, Model};
use program::Program;
use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;
use support::{Clock, Flags, Requirements, in_repository, read};

/// A test of threads given as lists of instructions.
fn litmus(name: &str, threads: &[Vec<String>], condition: &str) -> String {
    let row = |cells: Vec<String>| cells.join(" | ") + " ;\n";
    let mut text = format!("X86_64 {name}\n{{}}\n");
    text += &row((0..threads.len()).map(|at| format!("P{at}")).collect());
    for line in 0..threads.iter().map(Vec::len).max().unwrap_or(0) {
        text += &row(threads.iter().map(|code| code.get(line).cloned().unwrap_or_default()).collect());
    }
    let _ = writeln!(text, "exists ({condition})");
    text
}

/// Every thread stores to its variable and loads its neighbour's.
fn ring(threads: usize) -> String {
    let code = |at: usize| vec![format!("movq $1,(x{at})"), format!("movq (x{}),%rax", (at + 1) % threads)];
    let threads: Vec<Vec<String>> = (0..threads).map(code).collect();
    let all_zero: Vec<String> = (0..threads.len()).map(|at| format!("{at}:rax=0")).collect();
    litmus("ring", &threads, &all_zero.join(" /\\ "))
}

/// Two threads store a rising value and load the other's variable, again and again.
fn rounds(count: usize) -> String {
    let registers = ["rax", "rbx", "rcx", "rdx"];
    let code = |own: &str, other: &str| -> Vec<String> {
        let round =
            |at: usize| [format!("movq ${},({own})", at + 1), format!("movq ({other}),%{}", registers[at])];
        (0..count).flat_map(round).collect()
    };
    let last = registers[count - 1];
    litmus("rounds", &[code("x", "y"), code("y", "x")], &format!("0:{last}=0 /\\ 1:{last}=0"))
}

/// Everybody increments the same variable.
fn increments(threads: usize) -> String {
    let code = vec![vec!["lock incq (x)".to_string()]; threads];
    litmus("increments", &code, &format!("x={threads}"))
}

/// Finds and checks all final states; says how many.
fn final_states(program: &Program, model: Model) -> Result<usize, String> {
    let task = Task::asked(program, model);
    let found = FinalStates.verify(&task, &Run::default()).verdict;
    let checked = check(&task, found, &Ignore).map_err(|why| why.to_string())?;
    let found = checked.outcomes().filter(|found| found.missing().is_empty()).ok_or("not all found")?;
    Ok(found.finals().len())
}

fn shapes(flags: &Flags, requirements: &mut Requirements) {
    let tests = if flags.quick {
        vec![("ring of 4", ring(4)), ("2 x 2 rounds", rounds(2)), ("3 x LOCK INC", increments(3))]
    } else {
        vec![
            ("ring of 4", ring(4)),
            ("ring of 8", ring(8)),
            ("ring of 14", ring(14)),
            ("2 x 4 rounds", rounds(4)),
            ("6 x LOCK INC", increments(6)),
        ]
    };
    for (name, text) in tests {
        let program = read("bench.litmus", text, &Options::default()).expect("a litmus test");
        for model in MODELS {
            let clock = Clock::start();
            let states = final_states(&program, *model).expect("all final states");
            let seconds = clock.seconds();
            let what = format!("{name:<14} {:<4} {states:>6} final states {seconds:>8.3} s", model.name());
            requirements.demand(&what, seconds <= 2.0);
        }
    }
}

/// All tests with recorded results, for all models.
fn published(root: &Path, requirements: &mut Requirements) {
    let index = std::fs::read_to_string(root.join("expected.tsv")).expect("readable");
    let mut files: Vec<&str> = index.lines().skip(1).filter_map(|line| line.split('\t').next()).collect();
    files.dedup();
    let clock = Clock::start();
    let (mut states, mut wrong) = (0, Vec::new());
    for file in &files {
        let text = std::fs::read_to_string(root.join(file)).expect("readable");
        let options = Options { observe_all: true, ..Options::default() };
        let count = |program: Program| {
            MODELS.iter().map(|model| final_states(&program, *model)).sum::<Result<usize, String>>()
        };
        match read(file, text, &options).and_then(count) {
            Ok(count) => states += count,
            Err(why) => wrong.push(format!("{file}: {why}")),
        }
    }
    let seconds = clock.seconds();
    wrong.iter().for_each(|line| println!("  {line}"));
    let tests = files.len();
    let what = format!("{tests} published tests, {states} final states of all models, {seconds:.2} s");
    requirements.demand(&what, wrong.is_empty() && seconds <= 10.0);
}

fn main() -> ExitCode {
    let flags = Flags::read();
    let mut requirements = Requirements::default();
    println!("All final states, found and checked, in at most 2 s each:");
    shapes(&flags, &mut requirements);
    let root = in_repository("../shared/corpora/litmus-x86");
    if !flags.quick && root.join("expected.tsv").exists() {
        println!("\nThe published x86 tests, in at most 10 s together:");
        published(&root, &mut requirements);
    }
    requirements.conclude(&flags)
}
