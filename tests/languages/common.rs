//! What the tests of the front ends share.
#![allow(dead_code, reason = "each test file uses a part of it")]

use frontend::{Diagnostic, FRONTENDS, Options, Parsed};
use program::{Program, Source, same};
use std::path::Path;

/// Reads a text as `.fw`.
pub fn read_with(text: &str, options: &Options) -> Result<Parsed, Vec<Diagnostic>> {
    let fw = FRONTENDS.iter().find(|f| f.name == "fw").expect("registered");
    (fw.read)(Source::new("test.fw", text), options)
}

/// Reads a text as `.fw`, without constants set from outside.
pub fn read(text: &str) -> Result<Parsed, Vec<Diagnostic>> {
    read_with(text, &Options::default())
}

/// Reads a text in a language that must recognise it.
pub fn read_as(language: &str, name: &str, text: &str) -> Program {
    let frontend = FRONTENDS.iter().find(|f| f.name == language).expect("registered");
    assert!((frontend.recognises)(text), "{name} is not recognised");
    let parsed = (frontend.read)(Source::new(name, text), &Options::default());
    parsed.unwrap_or_else(|errors| panic!("{name}: {errors:#?}")).program
}

/// The programs of a public corpus, each with its row of the table of what is on record.
pub fn on_record(language: &str, root: &Path) -> Vec<(Vec<String>, Program)> {
    let table = std::fs::read_to_string(root.join("expected.tsv")).expect("readable");
    let row = |line: &str| {
        let fields: Vec<String> = line.split('\t').map(str::to_string).collect();
        let text = std::fs::read_to_string(root.join(&fields[0])).expect("readable");
        let program = read_as(language, &fields[0], &text);
        (fields, program)
    };
    table.lines().skip(1).map(row).collect()
}

/// Asserts that a program is the same when it was written and read back.
pub fn reads_back(
    language: &str,
    name: &str,
    program: &Program,
    write: fn(&Program) -> Result<String, Vec<Diagnostic>>,
) {
    let text = write(program).unwrap_or_else(|errors| panic!("{name}: {errors:#?}"));
    let again = read_as(language, name, &text);
    assert!(
        same(program, &again),
        "{name} changed:\n{text}\n{}\n{}",
        program::print(program),
        program::print(&again)
    );
}

/// Diagnostics as lines like `2: "x" message (hint)`.
pub fn rendered(text: &str, diagnostics: &[Diagnostic]) -> String {
    let source = Source::new("test.fw", text);
    let line = |d: &Diagnostic| {
        let place = source.line(d.span).map_or("-".to_string(), |line| line.to_string());
        let snippet = source.snippet(d.span);
        let hint = d.hint.as_ref().map_or(String::new(), |hint| format!(" ({hint})"));
        format!("{place}: `{snippet}` {}{hint}\n", d.message)
    };
    diagnostics.iter().map(line).collect()
}

/// The program of a text that must be right.
pub fn program(text: &str) -> Program {
    match read(text) {
        Ok(parsed) => parsed.program,
        Err(errors) => panic!("unexpected errors in\n{text}\n{}", rendered(text, &errors)),
    }
}

/// Lines without their indentation, and without empty ones.
pub fn trimmed(text: &str) -> String {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

/// Checks the threads and properties of a program with shared `x`, `y` and `a[2]`, as printed.
pub fn check_program(rest: &str, expected: &str) {
    let text = format!("shared x, y, a[2];\n{rest}");
    let printed = program::print(&program(&text));
    let printed: Vec<&str> = printed.lines().filter(|line| !line.starts_with("shared")).collect();
    assert_eq!(trimmed(&printed.join("\n")), trimmed(expected), "for\n{rest}");
}

/// Checks the only thread of a program: its registers and its steps, as printed.
pub fn check(statements: &str, expected: &str) {
    check_program(&format!("thread P {{ {statements} }}"), &format!("thread P {{\n{expected}\n}}"));
}

/// Checks what is wrong with a text: lines as [`rendered`] gives them.
pub fn check_errors(text: &str, expected: &str) {
    let errors = match read(text) {
        Ok(_) => panic!("no error in\n{text}"),
        Err(errors) => errors,
    };
    assert_eq!(trimmed(&rendered(text, &errors)), trimmed(expected), "for\n{text}");
}

/// Checks that a program reads back from its printed text.
pub fn check_round_trip(original: &Program) {
    let printed = program::print(original);
    let again = program(&printed);
    assert!(program::same(original, &again), "this reads back differently:\n{printed}");
}

/// How many times the usual number of random inputs to try: `FENCEWRIGHT_FUZZ`, or 1.
pub fn effort() -> u64 {
    std::env::var("FENCEWRIGHT_FUZZ").ok().and_then(|n| n.parse().ok()).unwrap_or(1)
}

/// The programs of the corpus, with their names.
pub fn corpus() -> Vec<(String, String)> {
    let read = |path: std::path::PathBuf| (path.display().to_string(), std::fs::read_to_string(path));
    support::corpus::corpus()
        .into_iter()
        .map(read)
        .map(|(name, text)| (name, text.expect("readable")))
        .collect()
}
