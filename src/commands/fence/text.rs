//! The program's own text with the fences in it.
//!
//! The front end edits the text; then it is read again, and only if it means what the answer is
//! about it is handed out.

use super::goal;
use crate::input::Loaded;
use engine::FencePoint;
use frontend::{Diagnostic, Insertion};
use program::{Program, Source, same};

/// The text, or why there is none.
pub fn with_fences<'p>(
    loaded: &Loaded,
    points: impl Iterator<Item = &'p FencePoint>,
    fenced: &Program,
) -> Result<String, String> {
    let source = &loaded.program.source;
    let insertions: Vec<Insertion> =
        points.map(|p| Insertion { span: p.span, before: p.before, strength: p.strength }).collect();
    let refused = |error: &Diagnostic| {
        let line = source.line(error.span).map(|line| format!(", line {line}")).unwrap_or_default();
        format!("{}{line}: {}; {ELSEWHERE}", loaded.name, error.message)
    };
    let text = (loaded.frontend.insert)(source.text(), &insertions).map_err(|error| refused(&error))?;
    let read = (loaded.frontend.read)(Source::new(source.name(), text.clone()), &loaded.options);
    match read.map(|parsed| goal(parsed.program)) {
        Ok(program) if same(&program, fenced) => Ok(text),
        _ => Err(format!(
            "{}: these fences cannot be written between its statements so that the text means just that; \
             {ELSEWHERE}",
            loaded.name
        )),
    }
}

const ELSEWHERE: &str = "nothing was written (--evidence DIR writes the fenced program as .fw)";
