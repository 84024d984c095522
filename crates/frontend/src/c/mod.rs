//! C, as far as threads that share integers need it. `docs/formats/c.md` says what is read and what it means.
//!
//! [`lexer`] and [`pre`] make tokens that know where they are written and which macros they came from;
//! [`parse`] makes a tree with types; [`lower`] makes the program. The text is read on its own: headers
//! come with us or through the loader that the caller passes in, and no compiler is needed.

mod ast;
mod constant;
mod headers;
mod insert;
pub(crate) mod lexer;
mod limits;
pub(crate) mod literals;
pub(crate) mod lower;
mod parse;
pub(crate) mod pre;
mod remove;
mod types;

use crate::{Diagnostic, Frontend, MAX_TEXT, Options, Parsed};
use program::{Program, Source, Span};
use std::fmt;
use std::sync::Arc;

/// The entry in the list of languages.
pub(crate) const FRONTEND: Frontend = Frontend {
    name: "c",
    extensions: &["c", "i"],
    about: "C11 with pthreads or C11 threads, atomics, and GNU's forms of them",
    definitions: crate::DefinedNames::Macros,
    recognises,
    read,
    insert: insert::insert,
    remove: Some(remove::remove),
    write: None,
    index: None,
    format: None,
};

/// How C is read.
#[derive(Clone, Debug)]
pub struct COptions {
    /// Folders for headers.
    pub folders: Vec<String>,
    /// Macros that are defined from outside, with their text.
    pub defines: Vec<(String, String)>,
    /// Macros that are not defined, after all.
    pub undefines: Vec<String>,
    /// Who reads headers.
    pub loader: Loader,
    /// What happens to results that do not fit into their type.
    pub overflow: Overflow,
    /// Whether release stores and fences order nothing under PSO.
    pub plain_release: bool,
    /// Whether a seq_cst store is a locked exchange instead of a store and a fence, which is the same to
    /// everybody, but one step.
    pub exchange_stores: bool,
    /// Whether the steps of different statements stay apart, so that a fence between them can be taken out.
    pub apart: bool,
    /// Whether data races are violations.
    pub races: bool,
    /// How many blocks of memory a call of `malloc` in a loop may hand out.
    pub heap: usize,
    /// Functions without a body that do nothing and give any value.
    pub pure: Vec<String>,
    /// The text of a full fence, if the file's own style is not wanted.
    pub fence_text: Option<String>,
}

impl COptions {
    /// The path of a text that is included and what is in it, or why it cannot be read: beside the text that
    /// includes it, if it may be there, or in the folders given.
    pub(crate) fn find(
        &self,
        including: Option<&str>,
        name: &str,
    ) -> Option<(String, Result<String, String>)> {
        let beside = including.map(|path| path.rsplit_once('/').map_or("", |(folder, _)| folder));
        let folders = beside.into_iter().chain(self.folders.iter().map(String::as_str));
        folders.into_iter().find_map(|folder| {
            let path = match folder {
                _ if name.starts_with('/') => name.to_string(),
                "" => name.to_string(),
                folder => format!("{}/{name}", folder.trim_end_matches('/')),
            };
            let text = self.loader.load(&path)?;
            Some((path, text))
        })
    }
}

impl Default for COptions {
    fn default() -> COptions {
        COptions {
            folders: Vec::new(),
            defines: Vec::new(),
            undefines: Vec::new(),
            loader: Loader::default(),
            overflow: Overflow::default(),
            plain_release: false,
            exchange_stores: true,
            apart: false,
            races: false,
            heap: limits::HEAP,
            pure: Vec::new(),
            fence_text: None,
        }
    }
}

/// What happens to results that do not fit into their type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Overflow {
    /// It is assumed that there are none; verdicts say so.
    #[default]
    Assume,
    /// They wrap around.
    Wrap,
    /// There is no answer if one is possible.
    Strict,
    /// They are violations.
    Error,
}

/// Reads headers: the text of a file, why it cannot be read, or nothing if there is none.
pub type LoadText = dyn Fn(&str) -> Option<Result<String, String>> + Send + Sync;

/// Who reads headers; nobody, unless the caller says so.
#[derive(Clone, Default)]
pub struct Loader(Option<Arc<LoadText>>);

impl Loader {
    /// A loader that calls a function.
    pub fn new(load: impl Fn(&str) -> Option<Result<String, String>> + Send + Sync + 'static) -> Loader {
        Loader(Some(Arc::new(load)))
    }

    /// Whether anything can be read at all.
    pub(crate) fn reads(&self) -> bool {
        self.0.is_some()
    }

    fn load(&self, path: &str) -> Option<Result<String, String>> {
        self.0.as_ref().and_then(|load| load(path))
    }
}

impl fmt::Debug for Loader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Loader" } else { "no loader" })
    }
}

/// Whether a text looks like C: it includes headers, or has a `main` in braces.
fn recognises(text: &str) -> bool {
    let includes = |line: &str| {
        let rest = line.trim_start().strip_prefix('#').map(str::trim_start);
        rest.is_some_and(|rest| rest.starts_with("include"))
    };
    text.lines().any(includes) || text.contains("int main(") || text.contains("void main(")
}

fn read(source: Source, options: &Options) -> Result<Parsed, Vec<Diagnostic>> {
    if let Some(error) = unreadable(source.text()) {
        return Err(vec![error]);
    }
    let mut program = Program::new(source.name().to_string(), source);
    let (warnings, Remarked { may_race, settled }) =
        read_into(&mut program, &options.c).map_err(|error| vec![error])?;
    if let Err(faults) = program.validate() {
        return Err(faults.into_iter().take(limits::ERRORS).map(Diagnostic::from).collect());
    }
    Ok(Parsed { program, warnings, remark: may_race.then_some(RACES), settled })
}

/// What is said about programs with plain accesses that may race.
const RACES: &str = "plain accesses are taken in the order written; where they race (`--races` tells), a \
    compiler may do otherwise";

/// What is worth saying about a program that was read.
struct Remarked {
    /// Whether plain accesses of two threads meet.
    may_race: bool,
    /// Whether it asserts something.
    settled: bool,
}

fn read_into(program: &mut Program, options: &COptions) -> Result<(Vec<Diagnostic>, Remarked), Diagnostic> {
    let source = Arc::clone(&program.source);
    let text = pre::preprocess(&source, options)?;
    let unit = parse::parse(&text.tokens, &text.files, source.text().len())?;
    let remarked = lower::lower(&unit, &text.tokens, &text.files, options, program)?;
    Ok((text.warnings, remarked))
}

/// What is wrong with a text as a whole.
fn unreadable(text: &str) -> Option<Diagnostic> {
    if text.len() > MAX_TEXT {
        let message = format!("the text is {} bytes long; {MAX_TEXT} are the limit", text.len());
        return Some(Diagnostic::error(Span::NONE, message));
    }
    let at = text.find('\0')?;
    let error = Diagnostic::error(Span::new(at, at + 1), "the text holds a NUL byte");
    Some(error.hint("this looks like a binary file, not like a program"))
}
