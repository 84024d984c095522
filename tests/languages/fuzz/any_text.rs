//! What holds of any text, however broken: it is a program that can be printed and written in
//! other languages, or there are errors with places in it. Shared with the fuzz targets.

use frontend::{Diagnostic, FRONTENDS, Frontend, Options, rmm, trencher};
use program::{Program, Source, Span};

/// Reads a text and judges the result; whether it was accepted.
pub fn check_text(frontend: &Frontend, text: &str, observe_all: bool) -> bool {
    let options = Options { observe_all, ..Options::default() };
    let _ = (frontend.recognises)(text);
    match (frontend.read)(Source::new("fuzz", text), &options) {
        Ok(parsed) => {
            parsed.warnings.iter().for_each(|warning| check_diagnostic(text, warning));
            check_program(text, &parsed.program);
            true
        }
        Err(errors) => {
            assert!(!errors.is_empty());
            errors.iter().for_each(|error| check_diagnostic(text, error));
            false
        }
    }
}

pub fn check_span(text: &str, span: Span, what: &str) {
    let (start, end) = (span.start as usize, span.end as usize);
    let fits = start <= end && text.is_char_boundary(start) && text.is_char_boundary(end);
    assert!(span.is_none() || fits, "{what}: {span:?} does not fit the text");
}

pub fn check_diagnostic(text: &str, diagnostic: &Diagnostic) {
    assert!(!diagnostic.message.is_empty());
    check_span(text, diagnostic.span, &diagnostic.message);
    diagnostic.related.iter().for_each(|(span, remark)| check_span(text, *span, remark));
}

fn check_program(text: &str, program: &Program) {
    assert_eq!(program.validate(), Ok(()));
    for edge in program.threads.iter().flat_map(|thread| thread.edges()) {
        check_span(text, edge.span, "an edge");
    }
    check_writers(text, program);
    check_print(program);
}

/// What `show` prints reads back as the same automata; questions have no form there.
fn check_print(program: &Program) {
    let printed = program::print(program);
    let edges: usize = program.threads.iter().map(|thread| thread.edges().len()).sum();
    if program.question.is_some() || edges > 500 {
        return;
    }
    let fw = FRONTENDS.iter().find(|f| f.name == "fw").expect("registered");
    match (fw.read)(Source::new("again", printed.clone()), &Options::default()) {
        Ok(again) => assert!(program::same(program, &again.program), "reads back differently:\n{printed}"),
        Err(errors) => panic!("what is printed is not read: {errors:#?}\n{printed}"),
    }
}

/// What is written can be read.
fn check_writers(text: &str, program: &Program) {
    for (name, written) in [("rmm", rmm::write(program)), ("trencher", trencher::write(program))] {
        let frontend = FRONTENDS.iter().find(|f| f.name == name).expect("registered");
        match written {
            Err(errors) => errors.iter().for_each(|error| check_diagnostic(text, error)),
            Ok(written) => {
                let again = (frontend.read)(Source::new("again", written.clone()), &Options::default());
                assert!(again.is_ok(), "what was written as {name} is not read: {again:#?}\n{written}");
            }
        }
    }
}
