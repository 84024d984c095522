//! `run --replay`: the run that evidence records, as a table or step by step.
//!
//! The evidence is checked before anything of it is shown, so the steps are steps of the program.

use super::check::{open, reason};
use crate::exit::Exit;
use crate::input::{Loaded, name};
use crate::limits::Watch;
use crate::report::{Said, WalkEnd, Walked, Walks};
use crate::session::{Session, Told};
use evidence::{Claim, Violated, check_file};
use machine::{Account, Model, TraceStep};
use program::{Int, Program, VarId};
use std::path::Path;

/// A run that evidence records.
pub struct RecordedRun {
    /// Under this model.
    pub model: Model,
    claim: Claim,
}

/// What variables without a fixed initial value start with, the steps, what they do, and of a trace what it violates.
type RunParts<'a> = (&'a [(VarId, Int)], &'a [TraceStep], &'a Account, Option<Violated<'a>>);

impl RecordedRun {
    /// Reads and checks evidence.
    pub fn read(program: &Program, path: &Path, watch: &Watch<'_>) -> Result<RecordedRun, String> {
        let paths = [path.to_path_buf()];
        let claim = check_file(program, &|| open(&paths), usize::MAX / 2, watch);
        let claim = claim.map_err(|error| reason(&name(path), &error))?;
        let model = match &claim {
            Claim::Unsafe(model, _) | Claim::NotRobust(model, _) => *model,
            _ => return Err(format!("{}: the evidence is a proof and records no run", name(path))),
        };
        Ok(RecordedRun { model, claim })
    }

    /// The run.
    fn run(&self) -> Option<RunParts<'_>> {
        match &self.claim {
            Claim::Unsafe(_, checked) => {
                let violated = checked.violated()?;
                Some((&violated.trace.initial, &violated.trace.steps, violated.account, Some(violated)))
            }
            Claim::NotRobust(_, checked) => {
                let witness = checked.witness();
                Some((&witness.initial, &witness.steps, checked.account(), None))
            }
            _ => None,
        }
    }

    /// What variables without a fixed initial value start with.
    pub fn initial(&self) -> &[(VarId, Int)] {
        self.run().map_or(&[], |(initial, ..)| initial)
    }

    /// Its steps.
    pub fn steps(&self) -> &[TraceStep] {
        self.run().map_or(&[], |(_, steps, ..)| steps)
    }

    /// Says the run.
    pub fn tell(&self, session: &Session<'_>, told: &mut Told, loaded: &Loaded) {
        let Some((initial, _, account, violation)) = self.run() else { return };
        let walked = Walked {
            file: &loaded.name,
            program: &loaded.program,
            model: self.model,
            initial,
            account,
            end: if violation.is_some() { WalkEnd::Violated } else { WalkEnd::Ended },
            violation,
            seed: None,
            walks: Walks { all: 1, ..Walks::default() },
        };
        session.say(told, &Said::Walk(&walked));
        told.ends(if violation.is_some() { Exit::Violated } else { Exit::Holds });
    }
}
