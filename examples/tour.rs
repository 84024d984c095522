//! Reads a program, asks whether it is safe under TSO, shows what goes wrong, and writes fences into it.
//!
//! `cargo run --example tour -- corpus/peterson.fw`

use fencewright::{ENGINES, FenceAnswer, FenceOptions, Run, TSO, Task};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "corpus/peterson.fw".to_string());
    print!("{}", tour(&path)?);
    Ok(())
}

/// What there is to say about the program in a file.
fn tour(path: &str) -> Result<String, Box<dyn Error>> {
    let text = std::fs::read_to_string(path)?;
    let program = fencewright::read(path, &text).map_err(|errors| errors[0].message.clone())?;
    let task = Task::safe(&program, TSO);
    let found = fencewright::ask(&task, ENGINES[0], &Run::default())?;
    let Some(violated) = found.checked.violated() else {
        return Ok(format!("{path}: {} (engine: {})\n", found.checked.verdict().word(), found.engine));
    };
    let mut out = format!("{path}: unsafe: {}\n", violated.trace.violation.text(&program));
    for step in violated.account.steps() {
        out += &format!("  {}: {:?}\n", program.thread(step.thread()).name, step.actions);
    }
    let fences = fencewright::place_fences(&task, ENGINES[0], &FenceOptions::default(), &Run::default())?;
    if let FenceAnswer::Placed(placed) = fences.answer {
        out += &fencewright::write_fences(&program, &placed)?;
    }
    Ok(out)
}

#[test]
fn peterson_is_mended() {
    let told = tour("corpus/peterson.fw").expect("a program");
    assert!(told.contains("unsafe: never P0@cs && P1@cs"), "{told}");
    assert!(told.contains("fence;"), "{told}");
    let told = tour("corpus/peterson_fenced.fw").expect("a program");
    assert!(told.contains(": safe (engine: "), "{told}");
}
