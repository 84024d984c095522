//! Trencher's text format: threads as transition tables over one array of memory.
//!
//! A state becomes a location that carries its name. Memory becomes one variable `mem[a]` for
//! every address that can be used; a computed address becomes a choice between them (see
//! `values` for how they are found). With `final` states the goal is that all threads stand
//! there at once: a `never` property.

mod cases;
mod insert;
mod lower;
mod parser;
mod relevance;
mod values;
mod write;

pub use write::write;

use crate::{Diagnostic, Frontend, MAX_SIZE, Options, Parsed, Writing};
use lower::{Addresses, TrencherContext};
use program::{Cond, Program, Property, PropertyKind, Source, Span, ThreadId, Variable};
use std::collections::BTreeSet;
use values::KnownValues;

/// More addresses than this are refused.
const MAX_ADDRESSES: usize = 4096;

/// The registry's entry.
pub(crate) const FRONTEND: Frontend = Frontend {
    name: "trencher",
    extensions: &["txt"],
    about: "Trencher's text format: threads as transition tables over one memory",
    definitions: crate::DefinedNames::Numbers,
    recognises,
    read,
    insert: insert::insert,
    remove: None,
    write: Some(Writing { about: "A program for Trencher, if it can be one", write }),
    index: None,
    format: None,
};

/// Whether a text looks like Trencher's: a thread comes first, with a state to start in.
pub(crate) fn recognises(text: &str) -> bool {
    let code = text.lines().map(|line| line.split_once('#').map_or(line, |(code, _)| code));
    let words: Vec<&str> = code.flat_map(str::split_whitespace).take(3).collect();
    matches!(words.as_slice(), ["thread", _, "initial" | "final" | "transition" | "end"])
}

/// Reads Trencher's text format.
pub(crate) fn read(source: Source, _: &Options) -> Result<Parsed, Vec<Diagnostic>> {
    let threads = parser::parse(source.text()).map_err(|error| vec![error])?;
    let mut errors = Vec::new();
    let mut known = KnownValues::of(&threads);
    let uses: Vec<_> = threads
        .iter()
        .enumerate()
        .map(|(index, thread)| lower::uses(index, thread, &mut known, &mut errors))
        .collect();
    let all: BTreeSet<_> = uses.iter().flatten().flatten().flatten().cloned().collect();
    if all.len() > MAX_ADDRESSES {
        errors
            .push(Diagnostic::error(Span::NONE, format!("more than {MAX_ADDRESSES} addresses may be used")));
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let mut program = Program::new(source.name().to_string(), source);
    let mut addresses = Addresses::new();
    for address in all {
        let variable = program.add_variable(Variable::new(format!("mem[{address}]"), Span::NONE));
        addresses.insert(address, variable);
    }
    let max_size = MAX_SIZE / threads.len();
    for (thread, uses) in threads.iter().zip(&uses) {
        match lower::lower(&TrencherContext { thread, uses, addresses: &addresses, max_size }) {
            Ok(thread) => program.threads.push(thread),
            Err(found) => errors.extend(found),
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    add_goal(&threads, &mut program);
    Parsed::of(program, Vec::new())
}

/// All threads that have final states must never stand at them together.
fn add_goal(threads: &[parser::TrencherThread], program: &mut Program) {
    let mut parts = Vec::new();
    for (index, thread) in threads.iter().enumerate().filter(|(_, thread)| !thread.finals.is_empty()) {
        let automaton = &program.threads[index];
        let places = thread.finals.iter().flat_map(|(state, _)| automaton.labelled(&thread.states[*state]));
        parts.push(Cond::or(places.map(|loc| Cond::at(ThreadId::new(index), loc))));
    }
    if let Some((_, span)) = threads.iter().flat_map(|thread| &thread.finals).next() {
        let cond = Cond::and(parts);
        program.properties.push(Property { kind: PropertyKind::Never, cond, span: *span, text: None });
    }
}
