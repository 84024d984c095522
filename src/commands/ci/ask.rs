//! Questions about programs, answered by a verdict in a word.

use super::Comparing;
use super::config::How;
use super::config::written::Expected;
use crate::limits::Watch;
use crate::report::{TextRegion, fence_name};
use engine::{Costs, FenceAnswer, FenceOptions, Placed, Points, decide, place_fences};
use evidence::{Checked, Task};
use machine::Model;
use program::Program;

/// A verdict, and why there is none if it is unknown.
pub type Short = (Expected, String);

impl Comparing<'_> {
    /// A watch over one question.
    pub fn watch(&self, file: &str, model: Model, how: &How) -> Watch<'_> {
        self.session.watch(how.budget, file, model, self.threads)
    }

    /// Is it safe, or does its question hold?
    pub fn ask(&self, file: &str, program: &Program, model: Model, how: &How) -> Result<Short, String> {
        let watch = self.watch(file, model, how);
        let (task, run) = (Task::asked(program, model), how.exploring.run(&watch));
        let found = decide(&task, how.exploring.engine(), &run).map_err(|bug| bug.to_string())?;
        Ok(short(program, &found.checked))
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
        let options = FenceOptions { costs, points, ..FenceOptions::default() };
        let found = place_fences(task, how.exploring.engine(), &options, &how.exploring.run(watch));
        match found.ok()?.answer {
            FenceAnswer::Placed(placed) => Some(placed),
            _ => None,
        }
    }
}

/// A verdict in a word.
pub fn short(program: &Program, checked: &Checked) -> Short {
    match checked.holds() {
        Some(true) => (Expected::Safe, String::new()),
        Some(false) => (Expected::Unsafe, String::new()),
        None => {
            let why = checked.reasons().first().map(|reason| reason.text(program));
            (Expected::Unknown, why.unwrap_or_default())
        }
    }
}

/// Fences in words, and where the first of them goes.
pub fn named(program: &Program, placed: &Placed) -> (String, Option<TextRegion>) {
    let points = placed.fences.iter().map(|fence| &fence.point);
    let names: Vec<String> = points.clone().map(|point| fence_name(program, point)).collect();
    let first = points.into_iter().next();
    (names.join(", "), first.and_then(|point| TextRegion::of(&program.source, point.span)))
}
