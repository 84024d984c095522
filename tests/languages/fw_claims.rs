//! Words of claims about several threads, and names of claims.

use crate::common::{check_errors, program, read, rendered};
use program::same;

/// Both texts mean the same program; they differ in words only.
fn means(short: &str, long: &str) {
    let (short, long) = (program(short), program(long));
    assert!(same(&short, &long), "{short:?}\n{long:?}");
}

const FAMILY: &str =
    "const N = 3; shared x; thread P(i in 0..N) { a: x = i; cs: skip; z: } thread Q { cs: x = 5; }";

#[test]
fn count_adds_places_up_and_takes_families_whole() {
    for (claim, meant) in [
        ("never count(P@cs) > 1;", "never P0@cs + P1@cs + P2@cs > 1;"),
        ("never count(P[1]@cs, Q@cs) == 2;", "never P1@cs + Q@cs == 2;"),
        ("never count(P@a, P@cs) > 2;", "never P0@a + P1@a + P2@a + P0@cs + P1@cs + P2@cs > 2;"),
        ("never count(P@cs);", "never P0@cs || P1@cs || P2@cs;"),
        ("never count(ended(P), Q@cs) > 3;", "never P0@z + P1@z + P2@z + Q@cs > 3;"),
    ] {
        means(&format!("{FAMILY} {claim}"), &format!("{FAMILY} {meant}"));
    }
}

#[test]
fn a_thread_has_ended_where_nothing_follows() {
    let text = "shared x; thread P { x = 1; if (x == 1) { a: stop; } x = 2; b: } thread Q { x = 3; }";
    means(&format!("{text} never ended(P) && x == 0;"), &format!("{text} never (P@a || P@b) && x == 0;"));
    let family = format!("{FAMILY} for i in 0..N {{ never ended(P[i]) && x == 7; }}");
    means(&family, &format!("{FAMILY} never P0@z && x == 7; never P1@z && x == 7; never P2@z && x == 7;"));
    let endless = "shared x; thread P { loop { x = 1; } } never ended(P);";
    let warnings = read(endless).expect("it is a program").warnings;
    let shown = rendered(endless, &warnings);
    assert!(shown.contains("`P` has no end, so it never ends"), "{shown}");
}

#[test]
fn buffers_and_deadlocks_are_spoken_of() {
    let program = program(&format!("{FAMILY} never !empty(P) && empty(Q, P[1]); never deadlock;"));
    let names = program::Names::original(&program);
    let printed: Vec<String> = program.properties.iter().map(|claim| names.cond(&claim.cond)).collect();
    assert_eq!(printed[0], "(!empty(P0) || !empty(P1) || !empty(P2)) && empty(Q) && empty(P1)");
    // Nobody here waits for anything.
    assert_eq!(printed[1], "false");
    crate::common::check_round_trip(&program);
    let waits = crate::common::program(
        "shared x; thread P { l: await x == 1; z: } thread Q { x = 1; } never deadlock;",
    );
    crate::common::check_round_trip(&waits);
    // Nobody looks inside of sections, so what gets stuck there after a store would be overlooked.
    for inside in ["y = 1; r = x; assume r == 1;", "r = x; while (r == 0) { r = x; } y = 1;"] {
        let text = format!("shared x, y; thread P {{ let r; atomic {{ {inside} }} }} never deadlock;");
        let errors = read(&text).expect_err("it may get stuck");
        assert!(errors[0].message.contains("may get stuck"), "{errors:?}");
    }
    for inside in [
        "r = x; assume r == 1; y = 1;",
        "y = 1; if (x == 1) { y = 2; } else { x = 3; }",
        "while (r < 3) { r = r + 1; }",
    ] {
        crate::common::program(&format!(
            "shared x, y; thread P {{ let r; atomic {{ {inside} }} }} never deadlock;"
        ));
    }
    let named = "shared deadlock; thread P { deadlock = 1; } never deadlock;";
    means(named, "shared d; thread P { d = 1; } never d != 0;");
}

#[test]
fn claims_have_names() {
    let text = "shared x; thread P { x = 1; } never small: x > 1; finally one: x == 1;
        for i in 2..4 { never far: x == i; }";
    let program = program(text);
    let texts: Vec<&str> = program.properties.iter().filter_map(|claim| claim.text.as_deref()).collect();
    assert_eq!(
        texts,
        ["never small: x > 1", "finally one: x == 1", "never far: x == 2", "never far: x == 3"]
    );
    means(text, "shared x; thread P { x = 1; } never x > 1; finally x == 1; never x == 2; never x == 3;");
}

#[test]
fn what_cannot_be_counted_is_said() {
    check_errors(
        "shared x; thread P { x = 1; }
never count(x) > 1;
never count() > 1;
never ended(x);
never ended(P, P);
never f(1);
never count(P@cs) > 1;",
        "2: `x` only places of threads can be counted (count places, like `count(P@cs) <= 1` for all members of a family `P`, or `ended(P)`)
         3: `count()` `count` needs something to look at (write `ended(P)` for one thread, `count(P@cs, Q@cs)` for one place or more)
         4: `x` there is no thread `x` (the threads are `P`)
         5: `ended(P, P)` `ended` needs something to look at (write `ended(P)` for one thread, `count(P@cs, Q@cs)` for one place or more)
         6: `f(1)` a property only looks; it cannot call functions or change memory (write the condition out)
         7: `cs` the thread `P` has no label `cs` (the thread has no labels; write `name: statement` to make one)",
    );
}
