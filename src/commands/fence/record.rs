//! Evidence for an answer about fences: programs as `.fw`, each with what is known of it.
//!
//! Evidence names places by number, and reading a program back may number them anew. So the
//! program is printed, read, and asked about once more; then `check` accepts what is written.

use crate::evidence_files::{Store, stems};
use crate::input::Loaded;
use engine::{Engine, FenceAnswer, Run};
use evidence::{Checked, Task, Verdict};
use frontend::Options;
use machine::{Model, SC};
use program::{Program, Source};
use std::path::{Path, PathBuf};

/// Writes evidence.
pub struct Recorder<'a> {
    /// Where to.
    pub store: &'a Store,
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
        let stem = stem(loaded);
        let model = task.model.name();
        match answer {
            FenceAnswer::Placed(placed) => {
                self.program(&format!("{stem}.{model}.fenced"), &placed.program, task.model)?;
                for (at, fence) in placed.fences.iter().enumerate() {
                    if let Some((program, _)) = &fence.without {
                        let name = format!("{stem}.{model}.without-{}", at + 1);
                        self.program(&name, program, task.model)?;
                    }
                }
                Ok(())
            }
            // A litmus test has a question where the evidence is about a property.
            FenceAnswer::UnsafeUnderSc(_) if loaded.program.question.is_some() => {
                self.program(&format!("{stem}.sc.asked"), task.program, SC)
            }
            FenceAnswer::UnsafeUnderSc(checked) => self.unfenced(&stem, task.program, checked),
            FenceAnswer::NoCandidate(found) => {
                self.program(&format!("{stem}.{model}.fenced"), &found.0, task.model)
            }
            FenceAnswer::Unknown(_) | FenceAnswer::Rejected(_) => Ok(()),
        }
    }

    /// A trace of the program as it is.
    fn unfenced(&mut self, stem: &str, program: &Program, checked: &Checked) -> Result<(), String> {
        let task = Task { program, model: SC };
        self.files.extend(self.store.write(stem, &task, checked.verdict())?);
        Ok(())
    }

    /// A program as it is printed, with what the engine says of that.
    fn program(&mut self, name: &str, program: &Program, model: Model) -> Result<(), String> {
        let (text, parsed) = printed(name, program)?;
        let task = Task { program: &parsed, model };
        let (checked, ..) = crate::commands::answer(self.engine, &task, &self.run)?;
        if let Verdict::Unknown(reasons) = checked.verdict() {
            let reason = reasons.first().map(|reason| reason.text(&parsed)).unwrap_or_default();
            return Err(format!("no evidence was written for {name}: {reason}"));
        }
        self.files.push(self.store.write_program(name, &text)?);
        self.files.extend(self.store.write_as(name, &task, checked.verdict())?);
        Ok(())
    }
}

/// What the files about a program are called.
pub fn stem(loaded: &Loaded) -> String {
    if loaded.name == "<stdin>" { "stdin".to_string() } else { stems(&[Path::new(&loaded.name)]).concat() }
}

/// A program as text in our language, and as that reads.
pub fn printed(name: &str, program: &Program) -> Result<(String, Program), String> {
    let text = program::print(program);
    let source = Source::new(format!("{name}.fw"), text.clone());
    let frontend = frontend::choose(Some("fw"), "", "").ok_or("there is no language `fw`")?;
    let parsed = (frontend.read)(source, &Options::default());
    let parsed = parsed.map_err(|_| format!("this is a bug in fencewright: {name}.fw does not read back"))?;
    Ok((text, parsed.program))
}
