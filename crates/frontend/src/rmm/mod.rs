//! Memorax' language `.rmm`: processes with guarded steps over variables with domains.
//!
//! Processes become threads `P0`, `P1`, …; a variable that a process owns becomes the cell of
//! an array, `flag[0]`. Forbidden states become `never` properties. The steps of the language
//! keep their meaning: what is not enabled waits.

mod domains;
mod insert;
pub(crate) mod lexer;
mod lower;
mod parser;
mod statements;
mod syntax;
mod write;

pub use write::write;

use crate::{Diagnostic, Frontend, MAX_SIZE, Options, Parsed, Writing};
use lower::Variables;
use program::{
    Cond, Domain, Expr, Hint, Liveness, Place, Program, Property, PropertyKind, RegId, Source, Span, Thread,
    ThreadId, Variable,
};
use syntax::{Declaration, Process, RmmFile};

/// The registry's entry.
pub(crate) const FRONTEND: Frontend = Frontend {
    name: "rmm",
    extensions: &["rmm"],
    about: "Memorax' language: guarded steps over variables with domains",
    definitions: crate::DefinedNames::Numbers,
    recognises,
    read,
    insert: insert::insert,
    remove: None,
    write: Some(Writing { about: "A program for Memorax, if it can be one", write }),
    index: None,
    format: None,
};

/// More errors than this help nobody.
const MAX_ERRORS: usize = 200;

/// Whether a text looks like `.rmm`: `forbidden` comes first, after remarks and macros.
pub(crate) fn recognises(text: &str) -> bool {
    let mut rest = text.trim_start();
    while let Some(comment) = rest.strip_prefix("/*") {
        let Some((_, after)) = comment.split_once("*/") else { return false };
        rest = after.trim_start();
    }
    let word = rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next();
    matches!(word, Some("forbidden")) || (word == Some("macro") && rest.contains("endmacro"))
}

/// Reads an `.rmm` text.
pub(crate) fn read(source: Source, _: &Options) -> Result<Parsed, Vec<Diagnostic>> {
    let one = |error| vec![error];
    let text = source.text();
    let end = text.trim_end().len();
    let tokens = lexer::tokens(text).map_err(one)?;
    let mut parser = parser::RmmParser::new(tokens, Span::new(end, end));
    let file = parser.file().map_err(one)?;
    let mut warnings = parser.warnings;
    let mut program = Program::new(source.name().to_string(), source);
    let variables = add_variables(&file, &mut program);
    let mut errors = Vec::new();
    for (index, process) in file.processes.iter().enumerate() {
        let max_size = MAX_SIZE / file.processes.len();
        match thread(index, process, &variables, max_size) {
            Ok(thread) => program.threads.push(thread),
            Err(found) => errors.extend(found),
        }
    }
    if errors.is_empty() {
        add_properties(&file, &mut program, &mut errors);
        add_hints(&file, &mut program, &mut warnings);
    }
    if errors.is_empty() {
        return Parsed::of(program, warnings);
    }
    // Copies of a process repeat its errors.
    let mut kept: Vec<Diagnostic> = Vec::new();
    for error in errors.into_iter().take(MAX_ERRORS) {
        if !kept.contains(&error) {
            kept.push(error);
        }
    }
    Err(kept)
}

/// Global variables first, then those of processes, the cells of one name together.
fn add_variables(file: &RmmFile, program: &mut Program) -> Variables {
    let mut variables = Variables::default();
    let mut add = |declaration: &Declaration, name: String, domains: &mut Vec<Domain>| {
        let initial = match &declaration.initial {
            Some(value) => Domain::only(value.clone()),
            None => declaration.domain.clone(),
        };
        domains.push(declaration.domain.clone());
        program.add_variable(Variable { name, initial, span: declaration.span })
    };
    for declaration in &file.data {
        let id = add(declaration, declaration.name.clone(), &mut variables.domains);
        variables.globals.insert(declaration.name.clone(), id);
    }
    let mut names: Vec<&str> = Vec::new();
    for declaration in file.processes.iter().flat_map(|process| &process.data) {
        if !names.contains(&&*declaration.name) {
            names.push(&declaration.name);
        }
    }
    for name in names {
        for (owner, process) in file.processes.iter().enumerate() {
            if let Some(declaration) = process.data.iter().find(|d| d.name == name) {
                let id = add(declaration, format!("{name}[{owner}]"), &mut variables.domains);
                variables.owned.insert((name.to_string(), owner), id);
            }
        }
    }
    variables
}

/// Lowers a process. A register that may start anywhere, but is written before it is looked
/// at, starts at 0 instead: nobody can tell, and engines need not try all values.
fn thread(
    index: usize,
    process: &Process,
    variables: &Variables,
    max_size: usize,
) -> Result<Thread, Vec<Diagnostic>> {
    let anywhere = |at: usize| process.registers[at].initial.is_none();
    let free: Vec<RegId> = (0..process.registers.len()).filter(|&at| anywhere(at)).map(RegId::new).collect();
    let thread = lower::lower(index, process, variables, &[], max_size)?;
    if free.is_empty() {
        return Ok(thread);
    }
    let mut start = thread.entry();
    for _ in process.registers.iter().filter(|register| register.initial != Some(0.into())) {
        start = thread.outgoing(start).next().map_or(start, |(_, edge)| edge.to);
    }
    let mut alone = Program::new("liveness", Source::default());
    alone.threads.push(thread.clone());
    let live = Liveness::of(&alone);
    let live = live.at(ThreadId::new(0), start);
    let skipped: Vec<RegId> = free.into_iter().filter(|register| !live.contains(register)).collect();
    if skipped.is_empty() { Ok(thread) } else { lower::lower(index, process, variables, &skipped, max_size) }
}

fn add_properties(file: &RmmFile, program: &mut Program, errors: &mut Vec<Diagnostic>) {
    for forbidden in &file.forbidden {
        let (given, wanted) = (forbidden.labels.len(), program.threads.len());
        if given != wanted {
            let message = format!("there are {given} labels here, but {wanted} processes");
            errors.push(
                Diagnostic::error(forbidden.span, message)
                    .hint("write `*` for a process that may be anywhere"),
            );
            continue;
        }
        let mut parts = Vec::new();
        for (thread, (label, span)) in forbidden.labels.iter().enumerate() {
            let Some(label) = label else { continue };
            let id = ThreadId::new(thread);
            let locs = program.threads[thread].labelled(label);
            if locs.is_empty() {
                errors.push(Diagnostic::error(
                    *span,
                    format!("there is no label `{label}` in process {thread}"),
                ));
            }
            parts.push(Cond::or(locs.into_iter().map(|loc| Cond::at(id, loc))));
        }
        let property =
            Property { kind: PropertyKind::Never, cond: Cond::and(parts), span: forbidden.span, text: None };
        program.properties.push(property);
    }
}

/// A predicate speaks of registers of every process that has all of them.
fn add_hints(file: &RmmFile, program: &mut Program, warnings: &mut Vec<Diagnostic>) {
    for predicate in &file.predicates {
        let before = program.hints.len();
        for thread in program.thread_ids() {
            let registers = &program.thread(thread).registers;
            let found: Option<Vec<RegId>> = predicate
                .names
                .iter()
                .map(|name| registers.iter().position(|r| r == name).map(RegId::new))
                .collect();
            let Some(found) = found else { continue };
            let cond =
                predicate.cond.map(&mut |r: &RegId| Expr::Leaf(Place::Register(thread, found[r.index()])));
            let hint = Hint { cond, span: predicate.span };
            program.hints.extend(Some(hint).filter(Hint::speaks));
        }
        if program.hints.len() == before {
            let message = "no process has all registers of this predicate, or it names none; it is ignored";
            warnings.push(Diagnostic::warning(predicate.span, message));
        }
    }
}
