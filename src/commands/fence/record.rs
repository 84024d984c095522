//! Evidence for an answer about fences: programs as `.fw`, each with what is known of it.
//!
//! Evidence names places by number, and reading a program back may number them anew. So the
//! program is printed, read, and asked about once more; then `check` accepts what is written.

use crate::evidence_files::Store;
use crate::input::Loaded;
use engine::{Engine, FenceAnswer, Run, decide};
use evidence::{Goal, Task};
use machine::SC;
use program::Program;
use std::path::PathBuf;

/// Writes evidence.
pub struct Recorder<'a> {
    /// Where to, if it is wanted.
    pub store: Option<&'a Store>,
    /// What the files about the program are called.
    pub stem: &'a str,
    /// Who is asked once more.
    pub engine: &'a dyn Engine,
    /// How it may work.
    pub run: Run<'a>,
    /// The files written so far.
    pub files: Vec<PathBuf>,
}

impl Recorder<'_> {
    /// Writes what stands behind an answer.
    pub fn answer(&mut self, loaded: &Loaded, task: &Task<'_>, answer: &FenceAnswer) -> Result<(), String> {
        let Some(store) = self.store else { return Ok(()) };
        let stem = self.stem;
        let under_sc = Task { model: SC, ..*task };
        let (with, without, not_enough) = match task.goal {
            Goal::Robust => ("robust", "robust-without", "robust-without"),
            _ => ("fenced", "without", "fenced"),
        };
        let name = |what: &str| format!("{stem}.{}.{what}", task.model.name());
        match answer {
            FenceAnswer::Placed(placed) => {
                self.program(store, &name(with), &Task { program: &placed.program, ..*task })?;
                for (at, fence) in placed.fences.iter().enumerate() {
                    if let Some(run) = &fence.without {
                        let name = name(&format!("{without}-{}", at + 1));
                        self.program(store, &name, &Task { program: &run.program, ..*task })?;
                    }
                }
                Ok(())
            }
            // A litmus test has a question where the evidence is about a property.
            FenceAnswer::UnsafeUnderSc(_) if loaded.program.question.is_some() => {
                self.program(store, &format!("{stem}.sc.asked"), &under_sc)
            }
            // A trace of the program as it is.
            FenceAnswer::UnsafeUnderSc(checked) => {
                self.files.extend(store.write(&format!("{stem}.sc"), &loaded.name, &under_sc, checked)?);
                Ok(())
            }
            FenceAnswer::NoCandidate(run) => {
                self.program(store, &name(not_enough), &Task { program: &run.program, ..*task })
            }
            FenceAnswer::Unknown(_) => Ok(()),
        }
    }

    /// A program as it is printed, with what is found out about that.
    fn program(&mut self, store: &Store, name: &str, task: &Task<'_>) -> Result<(), String> {
        let (text, parsed) = printed(name, task.program)?;
        let task = Task { program: &parsed, ..*task };
        let checked = decide(&task, self.engine, &self.run).map_err(|bug| bug.to_string())?.checked;
        if checked.holds().is_none() {
            let reason = checked.reasons().first().map(|reason| reason.text(&parsed)).unwrap_or_default();
            return Err(format!("no evidence was written for {name}: {reason}"));
        }
        self.files.push(store.write_text(&format!("{name}.fw"), &text)?);
        self.files.extend(store.write(name, &format!("{name}.fw"), &task, &checked)?);
        Ok(())
    }
}

/// A program as text in our language, and as that reads.
fn printed(name: &str, program: &Program) -> Result<(String, Program), String> {
    let text = program::print(program);
    let parsed = crate::read(&format!("{name}.fw"), &text);
    let parsed = parsed.map_err(|_| format!("this is a bug in fencewright: {name}.fw does not read back"))?;
    Ok((text, parsed))
}
