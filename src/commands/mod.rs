//! The commands, one per file.

mod bench;
mod check;
mod ci;
mod command_lines;
mod completions;
mod fence;
mod fmt;
mod generate;
mod interactive;
mod list;
mod lsp;
mod outcomes;
mod playground;
mod replay;
mod robust;
mod schema;
mod show;
mod verify;
mod walk;

pub use bench::{BENCHES, bench};
pub use check::check;
pub use ci::{ci, expectations};
pub use completions::{completions, man};
pub use fence::{fence, fence_edits, with_fences};
pub use fmt::fmt;
pub use generate::generate;
pub use interactive::{domain_text, enabled_text, interactive};
pub use list::list;
pub use lsp::{conversation, keyword_help, lsp};
pub use playground::playground;
pub use robust::robust;
pub use schema::schema;
pub use show::show;
pub use verify::verify;
pub use walk::{open_variables, pick, walk};

use crate::input::Loaded;
use frontend::Diagnostic;
use program::{Program, Span};

/// The program, with a warning if it claims nothing: then it is safe whatever it does.
pub fn warned(mut loaded: Loaded) -> Loaded {
    if !loaded.settled && !claims_something(&loaded.program) {
        let warning = Diagnostic::warning(Span::NONE, "nothing is claimed of this program");
        loaded.warnings.push(warning.hint("add a property (`never`, `finally`) or an `assert`"));
    }
    loaded
}

/// Whether anything is claimed of a program.
fn claims_something(program: &Program) -> bool {
    let fails = |thread: &program::Thread| thread.locs().any(|loc| thread.location(loc).failure.is_some());
    program.question.is_some() || !program.properties.is_empty() || program.threads.iter().any(fails)
}
