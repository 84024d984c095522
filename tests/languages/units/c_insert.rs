//! Fences written into C.

use frontend::{Diagnostic, Insertion, Options, choose};
use program::{Fence, Span, Strength};

fn insert(text: &str, insertions: &[Insertion], options: &Options) -> Result<String, Diagnostic> {
    (choose(Some("c"), "", "").expect("a language").insert)(text, insertions, options)
}

fn check(text: &str, statement: &str, before: bool, expected: &str) {
    let start = text.find(statement).expect("the statement");
    let span = Span::new(start, start + statement.len());
    let insertion = Insertion { span, before, strength: Strength::Fence(Fence::Full) };
    let written = insert(text, &[insertion], &Options::default()).expect("it can be written");
    assert_eq!(written, expected);
}

#[test]
fn fences_stand_behind_semicolons_and_bodies_get_braces() {
    check("f() { x = 1; }", "x = 1", false, "f() { x = 1; __sync_synchronize(); }");
    check("f() { if (a) x = 1; }", "x = 1", false, "f() { if (a) { x = 1; __sync_synchronize(); } }");
    check(
        "f() { if (a) y; else x = 1; }",
        "x = 1",
        true,
        "f() { if (a) y; else { __sync_synchronize(); x = 1; } }",
    );
    check(
        "#include <stdatomic.h>\nf() { x = 1; }",
        "x = 1",
        false,
        "#include <stdatomic.h>\nf() { x = 1; atomic_thread_fence(memory_order_seq_cst); }",
    );
}

#[test]
fn a_store_gets_a_stronger_order() {
    let check = |text: &str, statement: &str, expected: Option<&str>| {
        let start = text.find(statement).expect("the statement");
        let span = Span::new(start, start + statement.len());
        let insertion = Insertion { span, before: false, strength: Strength::Exchange };
        let written = insert(text, &[insertion], &Options::default());
        assert_eq!(written.ok().as_deref(), expected);
    };
    check(
        "f() { if (a) x[1] = y + 1; }",
        "x[1] = y + 1",
        Some("f() { if (a) __atomic_store_n(&x[1], y + 1, __ATOMIC_SEQ_CST); }"),
    );
    check(
        "atomic_store_explicit(&x, f(1, 2), memory_order_relaxed);",
        "atomic_store_explicit(&x, f(1, 2), memory_order_relaxed)",
        Some("atomic_store_explicit(&x, f(1, 2), memory_order_seq_cst);"),
    );
    check("x = y = 1;", "x = y = 1", None);
    check("x++;", "x++", None);
}

#[test]
fn heads_of_loops_are_left_alone() {
    let text = "f() { for (x = 1; x; ) ; }";
    let insertion =
        Insertion { span: Span::new(11, 16), before: false, strength: Strength::Fence(Fence::Full) };
    assert!(insert(text, &[insertion], &Options::default()).is_err());
}
