//! What surrounds reading: constants from outside, warnings, finding the language, spans.

use crate::common::{program, read, read_with, rendered};
use frontend::{Options, choose};
use program::{FailureKind, Int, Loc};

fn defines(list: &[(&str, i64)]) -> Options {
    let defines = list.iter().map(|(name, value)| (name.to_string(), Int::from(*value))).collect();
    Options { defines, ..Options::default() }
}

#[test]
fn constants_can_be_set_from_outside() {
    let text = "const N = 2, M = N + 1;\nshared a[N];\nthread P(i in 0..N) { a[i] = M; }";
    let threads = |options| read_with(text, &options).map(|parsed| parsed.program.threads.len());
    assert_eq!(threads(defines(&[])), Ok(2));
    assert_eq!(threads(defines(&[("N", 5)])), Ok(5));
    assert_eq!(threads(defines(&[("N", 5), ("N", 3)])), Ok(3), "the last one counts");
    let m = read_with(text, &defines(&[("N", 1)])).expect("valid").program;
    assert!(program::print(&m).contains("a[0] = 2;"), "other constants follow");
}

#[test]
fn unknown_constants_are_refused_with_a_list() {
    let check = |text: &str, name: &str, expected: &str| {
        let errors = read_with(text, &defines(&[(name, 1)])).map(|_| ()).expect_err("unknown");
        assert_eq!(rendered(text, &errors), expected);
        assert!(errors[0].span.is_none());
    };
    check(
        "const N = 2, M = 1;\nshared x;\nthread P { x = N; }",
        "K",
        "-: `` the program has no constant `K` to give a value to (the program's constants are `M`, `N`)\n",
    );
    check(
        "shared x;\nthread P { x = 1; }",
        "x",
        "-: `` the program has no constant `x` to give a value to (the program declares no constants)\n",
    );
}

#[test]
fn what_is_not_used_is_mentioned() {
    let check = |text: &str, expected: &str| {
        let parsed = read(text).expect("valid");
        assert_eq!(rendered(text, &parsed.warnings), expected, "for {text}");
    };
    check("shared x, y;\nthread P { x = 1; }", "1: `y` the shared variable `y` is never used (remove it)\n");
    check("shared x, y;\nthread P { x = 1; }\nnever y == 1;", "");
    check(
        "fn f() { undeclared = 1; }\nthread P { skip; }",
        "1: `f` the function `f` is never called and was not checked (remove it)\n",
    );
}

#[test]
fn the_language_is_found_by_ending_or_content() {
    let found = |file: &str, text: &str| choose(None, file, text).map(|frontend| frontend.name);
    assert_eq!(found("a.fw", "anything"), Some("fw"));
    for text in [
        "// Peterson\nconst N = 2;",
        "/* two\nlines */ shared x, y;",
        "shared a[2];",
        "thread P { skip; }",
        "thread P(i in 0..2) { skip; }",
        "fn f(x) { return x; }",
    ] {
        assert_eq!(found("-", text), Some("fw"), "for {text}");
    }
    for text in ["", "X86 SB\n", "thread parker\ninitial q0\n", "forbidden\n  CS CS\n", "/* open", "const"] {
        assert_ne!(found("-", text), Some("fw"), "for {text}");
    }
}

#[test]
fn steps_point_at_their_statements() {
    let text = "shared flag[2], turn;\n\
                fn enter(i) { flag[i] = 1; await flag[1 - i] == 0 || turn == i; }\n\
                thread P { let r, s = 3; enter(0); cs: r = turn + s; if (r == 1) { skip; } else if (turn) { stop; } \
                atomic { turn = 1; } choose { } or { fence; } assert turn == 1; }";
    let program = program(text);
    let thread = &program.threads[0];
    let mut lines: Vec<(usize, String)> = thread
        .edges()
        .iter()
        .map(|edge| (program.source.line(edge.span).unwrap_or(0), program.source.snippet(edge.span)))
        .collect();
    lines.sort();
    lines.dedup();
    let expected = [
        (2, "await flag[1 - i] == 0 || turn == i"),
        (2, "flag[i] = 1"),
        (3, "assert turn == 1"),
        (3, "atomic"),
        (3, "choose"),
        (3, "fence"),
        (3, "if (r == 1)"),
        (3, "r = turn + s"),
        (3, "s = 3"),
        (3, "skip"),
        (3, "turn"),
        (3, "turn = 1"),
        (3, "}"),
    ];
    assert_eq!(lines, expected.map(|(line, text)| (line, text.to_string())));
    let cs = thread.labelled("cs");
    assert_eq!(program.source.snippet(thread.location(cs[0]).span), "r = turn + s");
    assert_eq!(program.source.snippet(thread.location(Loc::new(0)).span), "let r, s = 3");
    let failures = thread.locs().filter_map(|loc| thread.location(loc).failure.as_ref());
    let failures: Vec<_> = failures.map(|f| (f.kind.clone(), program.source.snippet(f.span))).collect();
    assert_eq!(failures, [(FailureKind::Assertion, "assert turn == 1".to_string())]);
}
