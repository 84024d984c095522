//! The quick fix: the cheapest fences, written into the text.

use super::document::DocumentVersion;
use super::lines::TextEdit;
use super::settings::Settings;
use crate::commands::fence::with_fences;
use engine::{ENGINES, FenceAnswer, FenceOptions, Placed, Points, Run, place_fences};
use evidence::{Monitor, Task};
use program::Program;

/// The edits that insert the fences, or why there are none.
pub fn repair(
    reading: &DocumentVersion,
    settings: &Settings,
    monitor: &dyn Monitor,
) -> Result<Vec<TextEdit>, String> {
    let loaded = reading.loaded.as_ref().ok_or("the text is no program")?;
    let program = loaded.program.clone().with_question_as_property();
    let placed = place(&program, settings, monitor)?;
    if placed.fences.is_empty() {
        return Err("it is safe without any more fences".to_string());
    }
    Ok(reading.text.edits_to(&with_fences(loaded, &placed)?))
}

/// Fences behind stores; where those do not help, also before loads.
fn place(program: &Program, settings: &Settings, monitor: &dyn Monitor) -> Result<Box<Placed>, String> {
    let task = Task::safe(program, settings.model);
    let run = Run { monitor, ..Run::default() };
    for points in [Points::Stores, Points::All] {
        let options = FenceOptions { points, ..FenceOptions::default() };
        let found = place_fences(&task, ENGINES[0], &options, &run).map_err(|bug| bug.to_string())?;
        match found.answer {
            FenceAnswer::Placed(placed) => return Ok(placed),
            FenceAnswer::NoCandidate(_) => {}
            FenceAnswer::UnsafeUnderSc(_) => {
                return Err("this happens under SC as well: no fence helps".to_string());
            }
            FenceAnswer::Unknown(reasons) => {
                let texts: Vec<String> = reasons.iter().map(|reason| reason.text(program)).collect();
                return Err(format!("no fences were found: {}", texts.join("; ")));
            }
        }
    }
    Err("no fence between statements prevents this".to_string())
}
