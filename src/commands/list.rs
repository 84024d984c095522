//! `list`: what there is to choose from.

use crate::args::{ListArgs, Registry};
use crate::console::Console;
use crate::exit::{CommandError, Exit};
use crate::report::{REPORTS, Said, Section};
use engine::ENGINES;
use frontend::FRONTENDS;
use machine::MODELS;

/// Runs the command.
pub fn list(args: &ListArgs, console: &Console) -> Result<Exit, CommandError> {
    let wanted = |registry| args.what.is_none_or(|what| what == registry);
    let mut sections = Vec::new();
    if wanted(Registry::Models) {
        let entries = MODELS.iter().map(|model| (model.name(), model.about().to_string()));
        sections.push(Section { title: "models", entries: entries.collect() });
    }
    if wanted(Registry::Engines) {
        let entries = ENGINES.iter().map(|engine| (engine.name(), engine.about().to_string()));
        sections.push(Section { title: "engines", entries: entries.collect() });
    }
    if wanted(Registry::Formats) {
        let about = |frontend: &frontend::Frontend| {
            let endings: Vec<String> = frontend.extensions.iter().map(|e| format!(".{e}")).collect();
            (frontend.name, format!("{} ({})", frontend.about, endings.join(", ")))
        };
        sections.push(Section { title: "input_formats", entries: FRONTENDS.iter().map(about).collect() });
        let entries = REPORTS.iter().map(|report| (report.name, report.about.to_string()));
        sections.push(Section { title: "report_formats", entries: entries.collect() });
    }
    console.say(args.report.chosen(), &Said::Registries(&sections))?;
    Ok(Exit::Holds)
}
