//! Any text as evidence for small programs. What is accepted must be true.
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

/// A program, and what is true of it.
struct Subject {
    program: Program,
    safe_under: &'static [&'static str],
    robust_against: &'static [&'static str],
    /// How many final states a question has, under SC and under weaker models.
    final_states: Option<(usize, usize)>,
}

static SUBJECTS: LazyLock<[Subject; 3]> = LazyLock::new(|| {
    let all: &[&str] = &["sc", "tso", "pso"];
    [
        Subject {
            program: read("fw", include_str!("../programs/crossing.fw")),
            safe_under: &all[..1],
            robust_against: &all[..1],
            final_states: None,
        },
        Subject {
            program: read("fw", include_str!("../programs/counting.fw")),
            safe_under: &all[..2],
            robust_against: &all[..2],
            final_states: None,
        },
        Subject {
            program: read("litmus", include_str!("../programs/sb.litmus")),
            safe_under: all,
            robust_against: &all[..1],
            final_states: Some((3, 4)),
        },
    ]
});

fn read(language: &str, text: &str) -> Program {
    let frontend = FRONTENDS.iter().find(|frontend| frontend.name == language).expect("registered");
    (frontend.read)(Source::new("small", text), &Options::default()).expect("a program").program
}

impl Subject {
    fn is_true(&self, claim: &Claim) -> bool {
        match claim {
            Claim::Safe(model, _) => self.safe_under.contains(&model.name()),
            // A violation takes both threads.
            Claim::Within(model, contexts, _) => self.safe_under.contains(&model.name()) || *contexts < 2,
            Claim::Unsafe(model, ..) => !self.safe_under.contains(&model.name()),
            Claim::Robust(model, _) => self.robust_against.contains(&model.name()),
            Claim::NotRobust(model, _) => !self.robust_against.contains(&model.name()),
            Claim::Outcomes(model, found) => self.final_states.is_some_and(|(under_sc, weaker)| {
                let all = if model.is_sc() { under_sc } else { weaker };
                if found.missing().is_empty() {
                    found.finals().len() == all
                } else {
                    found.finals().len() <= all
                }
            }),
        }
    }
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

fn judge(text: &str, subject: &Subject) {
    let program = &subject.program;
    let text = if text.starts_with('{') { text.to_string() } else { mended(text, program) };
    let open = || -> io::Result<Box<dyn BufRead>> { Ok(Box::new(Cursor::new(text.clone().into_bytes()))) };
    match check_file(program, &open, BUDGET, &Ignore) {
        Ok(claim) => assert!(subject.is_true(&claim), "accepted, and not true: {claim:?}"),
        Err(FileError::Line(line, _)) => assert!(line <= text.lines().count() + 1),
        Err(_) => {}
    }
    if let Ok(Some((model, certificate))) = read_certificate(program, &open, &Ignore) {
        let _ = write_smtlib(&Task::safe(program, model), &certificate, &mut io::sink());
    }
}

libfuzzer_sys::fuzz_target!(|text: &str| SUBJECTS.iter().for_each(|subject| judge(text, subject)));
