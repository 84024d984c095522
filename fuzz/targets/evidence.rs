//! Any text as evidence for a small program. What is accepted must be true.
//!
//! The fingerprint and the closing line are set right, so that what stands between them is looked at.
#![no_main]

use evidence::{Claim, FileError, Ignore, Task, check_file, fingerprint, read_certificate, write_smtlib};
use frontend::{FRONTENDS, Options};
use program::{Program, Source};
use std::io::{self, BufRead, Cursor};
use std::sync::LazyLock;

/// What checking may take, in bytes.
const BUDGET: usize = 1 << 20;

/// A program, the models under which it is safe, and whether it is robust.
type Subject = (Program, &'static [&'static str], bool);

static PROGRAMS: LazyLock<[Subject; 2]> = LazyLock::new(|| {
    [
        (read(include_str!("../programs/crossing.fw")), &["sc"], false),
        (read(include_str!("../programs/counting.fw")), &["sc", "tso"], true),
    ]
});

fn read(text: &str) -> Program {
    let fw = FRONTENDS.iter().find(|frontend| frontend.name == "fw").expect("registered");
    (fw.read)(Source::new("small.fw", text), &Options::default()).expect("a program").program
}

/// The text with the head and the end that fit.
fn mended(text: &str, program: &Program) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
    lines.retain(|line| !line.starts_with("end "));
    if let Some(head) = lines.first_mut() {
        let words: Vec<&str> = head.split(' ').take(4).collect();
        *head = format!("{} {}", words.join(" "), fingerprint(program));
    }
    lines.push(format!("end {}", lines.len()));
    lines.join("\n") + "\n"
}

fn judge(text: &str, (program, safe_under, robust): &Subject) {
    let text = if text.starts_with('{') { text.to_string() } else { mended(text, program) };
    let open = || -> io::Result<Box<dyn BufRead>> { Ok(Box::new(Cursor::new(text.clone().into_bytes()))) };
    match check_file(program, &open, BUDGET, &Ignore) {
        Ok(Claim::Safe(model, _)) => assert!(safe_under.contains(&model.name()), "accepted:\n{text}"),
        Ok(Claim::Unsafe(model, ..)) => assert!(!safe_under.contains(&model.name()), "accepted:\n{text}"),
        Ok(Claim::Robust(..)) => assert!(*robust, "accepted:\n{text}"),
        Ok(Claim::NotRobust(..)) => assert!(!*robust, "accepted:\n{text}"),
        Err(FileError::Line(line, _)) => assert!(line <= text.lines().count() + 1),
        Err(_) => {}
    }
    if let Ok(Some((model, certificate))) = read_certificate(program, &open, &Ignore) {
        let _ = write_smtlib(&Task { program, model }, &certificate, &mut io::sink());
    }
}

libfuzzer_sys::fuzz_target!(|text: &str| PROGRAMS.iter().for_each(|subject| judge(text, subject)));
