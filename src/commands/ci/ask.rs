//! Questions about programs, answered by a verdict in a word.

use super::Session;
use super::config::How;
use super::config::written::Expected;
use crate::limits::Watch;
use crate::report::{Place, fence_name};
use engine::{Costs, FenceAnswer, FenceOptions, Placed, Points, place_fences};
use evidence::{Reason, Task, Verdict, check_outcomes};
use machine::Model;
use program::Program;
use std::path::Path;

/// A verdict, and why there is none if it is unknown.
pub type Short = (Expected, String);

impl Session<'_> {
    /// A watch over one question.
    pub fn watch(&self, file: &str, model: Model, how: &How) -> Watch<'_> {
        let file = Path::new(file).file_name().unwrap_or_default().to_string_lossy();
        let label = format!("{file} ({})", model.name());
        Watch::new(how.budget, self.interrupt, &self.display, label).on_threads(self.engine_threads)
    }

    /// Is it safe, or does its question hold?
    pub fn ask(&self, file: &str, program: &Program, model: Model, how: &How) -> Result<Short, String> {
        let watch = self.watch(file, model, how);
        let (task, run) = (Task { program, model }, how.exploring.run(&watch));
        if let Some(question) = &program.question {
            let (outcomes, _) = engine::outcomes(&task, question, &run);
            let found = check_outcomes(&task, question, &outcomes, &watch)
                .map_err(|why| crate::commands::bug("outcomes", &why))?;
            return Ok(held(found.holds(), program, found.missing()));
        }
        let (checked, ..) = crate::commands::answer(how.exploring.engine(), &task, &run)?;
        Ok(short(program, checked.verdict()))
    }

    /// The cheapest fences, if they can be found.
    pub fn cheapest(
        &self,
        task: &Task<'_>,
        how: &How,
        watch: &Watch<'_>,
        costs: Costs,
        points: Points,
    ) -> Option<Box<Placed>> {
        let options = FenceOptions { costs, points, all: false };
        let found = place_fences(task, how.exploring.engine(), &options, &how.exploring.run(watch));
        match found.answer {
            FenceAnswer::Placed(placed) => Some(placed),
            _ => None,
        }
    }
}

/// A verdict in a word.
pub fn short(program: &Program, verdict: &Verdict) -> Short {
    match verdict {
        Verdict::Safe(_) => (Expected::Safe, String::new()),
        Verdict::Unsafe(_) => (Expected::Unsafe, String::new()),
        Verdict::Unknown(reasons) => (Expected::Unknown, why(program, reasons)),
    }
}

/// Whether a condition holds, in the same words.
pub fn held(holds: Option<bool>, program: &Program, missing: &[Reason]) -> Short {
    match holds {
        Some(true) => (Expected::Safe, String::new()),
        Some(false) => (Expected::Unsafe, String::new()),
        None => (Expected::Unknown, why(program, missing)),
    }
}

fn why(program: &Program, reasons: &[Reason]) -> String {
    reasons.first().map(|reason| reason.text(program)).unwrap_or_default()
}

/// Fences in words, and where the first of them goes.
pub fn named(program: &Program, placed: &Placed) -> (String, Option<Place>) {
    let points = placed.fences.iter().map(|fence| &fence.point);
    let names: Vec<String> = points.clone().map(|point| fence_name(program, point)).collect();
    let first = points.into_iter().next();
    (names.join(", "), first.and_then(|point| Place::of(&program.source, point.span)))
}
