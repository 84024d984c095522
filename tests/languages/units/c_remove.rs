//! Fences taken out of C.

use frontend::{Diagnostic, choose};
use program::Span;

fn remove(text: &str, places: &[Span]) -> Result<String, Diagnostic> {
    choose(Some("c"), "", "").and_then(|language| language.remove).expect("it can")(text, places)
}

fn check(text: &str, statement: &str, expected: Option<&str>) {
    let start = text.find(statement).expect("the statement");
    let place = Span::new(start, start + statement.len());
    assert_eq!(remove(text, &[place]).ok().as_deref(), expected);
}

#[test]
fn fences_go_with_their_lines_and_orders_become_weaker() {
    check("f() {\n  x = 1;\n  __sync_synchronize();\n}", "__sync_synchronize()", Some("f() {\n  x = 1;\n}"));
    check("x = 1; __sync_synchronize(); y;", "__sync_synchronize()", Some("x = 1; y;"));
    check("if (a) atomic_thread_fence(sc); y;", "atomic_thread_fence(sc)", Some("if (a) ; y;"));
    check("__asm__ (\"mfence\"); y;", "__asm__ (\"mfence\")", Some(" y;"));
    check(
        "atomic_store(&x, f(1, 2));",
        "atomic_store(&x, f(1, 2))",
        Some("atomic_store_explicit(&x, f(1, 2), memory_order_release);"),
    );
    check(
        "atomic_store_explicit(&x, f(1, 2), memory_order_seq_cst);",
        "atomic_store_explicit(&x, f(1, 2), memory_order_seq_cst)",
        Some("atomic_store_explicit(&x, f(1, 2), memory_order_release);"),
    );
    check(
        "#include <stdatomic.h>\nx[1] = y + 1;",
        "x[1] = y + 1",
        Some("#include <stdatomic.h>\natomic_store_explicit(&x[1], y + 1, memory_order_release);"),
    );
    check("x = 1;", "x = 1", None);
    check("(*p)++;", "(*p)++", None);
}

#[test]
fn what_is_not_edited_is_said_with_its_macros() {
    let text =
        "#define MB() \\\n  __sync_synchronize()\n# define BARRIER do { MB(); } while (0)\nBARRIER;\ng();";
    let why = |statement: &str| {
        let start = text.rfind(statement).expect("the statement");
        remove(text, &[Span::new(start, start + statement.len())]).expect_err("is refused").message
    };
    let trail = "the macro `BARRIER` (line 3), by the macro `MB` (line 1)";
    assert_eq!(why("BARRIER"), format!("it stands in {trail}; macros are not edited"));
    assert_eq!(why("g()"), "it is no statement of its own in this text; others are not edited");
}
