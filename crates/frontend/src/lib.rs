//! Texts to programs: one file (or folder) per language.
//!
//! A [`Frontend`] is an entry of [`FRONTENDS`]: its name, the file names it claims, how it
//! recognises a text, the function that reads one and the one that writes fences into one; what a
//! language can do besides (write programs, list names) is optional.
//! Reading never panics and never prints; what is wrong comes back as [`Diagnostic`]s with
//! spans, as many as can be found in one go. Front ends know no memory model.

mod c;
mod diagnostic;
mod edit;
mod fw;
mod litmus;
mod mend;
mod refusals;
pub mod rmm;
pub mod trencher;

pub use c::{COptions, Loader, Overflow};
pub use diagnostic::{Diagnostic, Severity};
pub use edit::Insertion;
pub use fw::index::{Index, Symbol, SymbolKind, index};
pub use fw::suggest::did_you_mean;

/// What tests look at and nobody else should.
#[doc(hidden)]
pub mod inside {
    pub use crate::c::lexer::tokens as c_tokens;
    pub use crate::c::literals::{character, number, string};
    pub use crate::c::lower::critical::{MutexStep, mutex_op};
    pub use crate::c::lower::values::{CKnown, CValues, exact, refine};
    pub use crate::c::pre::preprocess;
    pub use crate::edit::Edits;
    pub use crate::litmus::lexer::{LitmusToken, tokens as litmus_tokens};
    pub use crate::litmus::registers::{Arch, register};
    pub use crate::rmm::lexer::{RmmTokenKind, tokens as rmm_tokens};
}

use program::{Int, Program, Source, Span};

/// Texts larger than this are refused before reading them.
pub const MAX_TEXT: usize = 16 << 20;

/// Blocks, parentheses and signs inside each other that our own readers take: few enough for the two megabytes of a thread's
/// stack, also where nothing is optimised.
const NESTING: usize = 100;

/// More locations and edges than this in all threads together are refused.
const MAX_SIZE: usize = 1_000_000;

/// Refuses what stands inside too many others.
fn check_nesting(depth: usize, span: Span) -> Result<(), Diagnostic> {
    if depth <= NESTING { Ok(()) } else { Err(too_deep(span)) }
}

fn too_deep(span: Span) -> Diagnostic {
    Diagnostic::error(span, "this is nested too deeply")
}

/// A program that was read, and what is worth saying about it.
#[derive(Debug)]
pub struct Parsed {
    /// The program; it has passed [`Program::validate`].
    pub program: Program,
    /// Warnings.
    pub warnings: Vec<Diagnostic>,
    /// What holds for many programs and is worth saying once, as a sentence without a full stop.
    pub remark: Option<&'static str>,
    /// Whether claims were left out of the program because they hold, as reading it has shown.
    pub settled: bool,
}

impl Parsed {
    /// A program with warnings, or what is wrong with it.
    fn of(program: Program, warnings: Vec<Diagnostic>) -> Result<Parsed, Vec<Diagnostic>> {
        match program.validate() {
            Ok(()) => Ok(Parsed { program, warnings, remark: None, settled: false }),
            Err(invalid) => Err(invalid.into_iter().map(Diagnostic::from).collect()),
        }
    }
}

/// What the caller may set from outside.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Values that replace the program's constants of these names.
    pub defines: Vec<(String, Int)>,
    /// Litmus tests: observe every register that is written and every location, instead of
    /// only those that the test names.
    pub observe_all: bool,
    /// How C is read.
    pub c: COptions,
}

/// A language we read.
pub struct Frontend {
    /// Its name, as in `--input-format`.
    pub name: &'static str,
    /// Endings of file names, without the dot.
    pub extensions: &'static [&'static str],
    /// One line for lists and help.
    pub about: &'static str,
    /// What names that are defined from outside stand for.
    pub definitions: DefinedNames,
    /// Whether a text looks like this language, for texts without a telling name.
    pub recognises: fn(&str) -> bool,
    /// Reads a text.
    pub read: fn(Source, &Options) -> Result<Parsed, Vec<Diagnostic>>,
    /// Writes fences into a text that it has read, leaving all else as it is. The result may
    /// still not be what is wanted; reading it tells.
    pub insert: fn(&str, &[Insertion], &Options) -> Result<String, Diagnostic>,
    /// Takes fences out of a text that it has read, if it can: what is written in these places, or of a
    /// store with an order the part that is a fence. What it means then is seen by reading it.
    pub remove: Option<RemoveFences>,
    /// Writes programs, if it can.
    pub write: Option<Writing>,
    /// Lists the names of a text, if it can.
    pub index: Option<fn(&str, &Options) -> Index>,
    /// Gives a text the usual layout, if it can; what it says stays the same.
    pub format: Option<FormatText>,
}

/// Gives a text the usual layout.
pub type FormatText = fn(&str) -> Result<String, Vec<Diagnostic>>;

/// What names that are defined from outside (`-D`) stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefinedNames {
    /// Numbers, which replace the program's constants ([`Options::defines`]).
    Numbers,
    /// Any text, as macros have it ([`COptions::defines`]).
    Macros,
}

/// Takes the fences in these places out of a text.
pub type RemoveFences = fn(&str, &[Span]) -> Result<String, Diagnostic>;

/// How a language writes programs.
pub struct Writing {
    /// One line for lists and help.
    pub about: &'static str,
    /// A program as text, or what the language cannot say.
    pub write: fn(&Program) -> Result<String, Vec<Diagnostic>>,
}

/// All languages, the first that recognises a text wins.
pub const FRONTENDS: &[Frontend] =
    &[fw::FRONTEND, litmus::FRONTEND, rmm::FRONTEND, trencher::FRONTEND, c::FRONTEND];

/// The front end for a file: by name if given, else by the file's ending, else by content.
pub fn choose(name: Option<&str>, file: &str, text: &str) -> Option<&'static Frontend> {
    if let Some(name) = name {
        return FRONTENDS.iter().find(|f| f.name == name);
    }
    let ending = file.rsplit_once('.').map(|(_, ending)| ending);
    let by_ending = FRONTENDS.iter().find(|f| ending.is_some_and(|e| f.extensions.contains(&e)));
    by_ending.or_else(|| FRONTENDS.iter().find(|f| (f.recognises)(text)))
}
