//! Our own language, `.fw`: small, and close to how these algorithms are written on a
//! whiteboard. `docs/language.md` is its reference.
//!
//! [`lexer`] makes tokens, [`parse`] a tree, [`lower`] a program. Each goes on after an error, so
//! that one reading reports as many mistakes as possible; whatever the text asks for is
//! bounded by [`limits`].

mod ast;
mod constants;
mod format;
pub(crate) mod include;
pub(crate) mod index;
mod insert;
mod lexer;
mod limits;
mod lower;
mod parse;
mod sink;
pub(crate) mod suggest;

use crate::{Diagnostic, Frontend, MAX_TEXT, Options, Parsed, Writing};
use program::{Program, Source, Span};
use std::sync::Arc;

/// The entry in the list of languages.
pub(crate) const FRONTEND: Frontend = Frontend {
    name: "fw",
    extensions: &["fw"],
    about: "Fencewright's own language: threads, shared integers, properties",
    definitions: crate::DefinedNames::Numbers,
    recognises: lexer::recognises,
    read,
    insert: insert::insert,
    remove: Some(insert::remove),
    write: Some(Writing {
        about: "The program in our language, lowered to single steps",
        write: |program| Ok(program::print(program)),
    }),
    index: Some(index::index),
    format: Some(format::format),
};

fn read(source: Source, options: &Options) -> Result<Parsed, Vec<Diagnostic>> {
    if let Some(error) = unreadable(source.text()) {
        return Err(vec![error]);
    }
    let (mut source, mut sink) = (source, sink::Sink::default());
    let tokens = include::gather(&mut source, options, &mut sink);
    let mut program = Program::new(source.name().to_string(), source);
    let source = Arc::clone(&program.source);
    let (items, declared) = parse::parse(source.text(), tokens, &mut sink);
    let mut sink = lower::lower(&items, &declared, options, sink, &mut program);
    if sink.is_clean()
        && let Err(faults) = program.validate()
    {
        for fault in faults {
            sink.error(fault.into());
        }
    }
    sink.finish(program).map_err(|errors| whose_places_are_in(&source, errors)).map(|mut parsed| {
        parsed.warnings = whose_places_are_in(&source, parsed.warnings);
        parsed
    })
}

/// Diagnostics that know the texts that are included.
fn whose_places_are_in(source: &Arc<Source>, mut diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    for diagnostic in diagnostics.iter_mut().filter(|_| source.includes()) {
        diagnostic.source = Some(Arc::clone(source));
    }
    diagnostics
}

/// What is wrong with a text as a whole, before looking at what it says.
fn unreadable(text: &str) -> Option<Diagnostic> {
    if text.len() > MAX_TEXT {
        let message = format!("the text is {} bytes long; {MAX_TEXT} are the limit", text.len());
        return Some(Diagnostic::error(Span::NONE, message).hint("split the program"));
    }
    if let Some(at) = text.find('\0') {
        let error = Diagnostic::error(Span::new(at, at + 1), "the text holds a NUL byte");
        return Some(error.hint("this looks like a binary file, not like a program"));
    }
    if text.trim().is_empty() {
        let error = Diagnostic::error(Span::NONE, "the text is empty");
        return Some(error.hint("a program needs at least one `thread Name { … }`"));
    }
    None
}
