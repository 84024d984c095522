//! Arrays with several indices, structs, arrays of registers, references, shifts and `switch`: what they become,
//! and what is wrong with wrong ones.

use crate::common::{check, check_errors, check_program, check_round_trip, program, read_with, rendered};
use frontend::Options;
use program::{Int, same};

/// Both texts mean the same program; they differ in words only.
fn means(short: &str, long: &str) {
    let (short, long) = (program(short), program(long));
    check_round_trip(&short);
    assert!(same(&short, &long), "{}\n{}", program::print(&short), program::print(&long));
}

#[test]
fn cells_of_two_indices_lie_in_rows() {
    let program =
        program("shared g[2][3] = {0, {1, 2, 3}}; thread P { g[1][2] = g[0][1]; } never g[1][0] == 7;");
    let names: Vec<&str> = program.variables.iter().map(|variable| variable.name.as_str()).collect();
    assert_eq!(names, ["g[0][0]", "g[0][1]", "g[0][2]", "g[1][0]", "g[1][1]", "g[1][2]"]);
    let initial: Vec<String> = program.variables.iter().map(|variable| variable.initial.text()).collect();
    assert_eq!(initial, ["0", "0", "0", "1", "2", "3"]);
    check_round_trip(&program);
}

#[test]
fn every_index_has_its_own_bounds() {
    // The first index that is wrong is told, and each with the length of its own.
    let text = "shared x, g[2][2]; thread P { let i = x, j = x; g[i][j] = 1; }";
    let printed = program::print(&program(text));
    let fails: Vec<&str> = printed.lines().filter(|line| line.contains("fail")).collect();
    assert_eq!(fails.len(), 2, "{printed}");
    assert!(printed.contains("assume i == 1 && j == 0; goto"), "{printed}");
    assert!(printed.contains("assume i < 0 || i >= 2; goto"), "{printed}");
    assert!(printed.contains("assume i >= 0 && i < 2 && (j < 0 || j >= 2); goto"), "{printed}");
}

#[test]
fn structs_are_their_fields() {
    means(
        "struct Node { value = -1, next, links[2] = {7, any} }
         shared Node head, pool[2] = {{1, 2, {3, 4}}, {5, 6, 0}};
         thread P { pool[1].links[0] = head.next; } never pool[0].value == 9;",
        "shared a = -1, b, c = 7, d = any, e = 1, f = 2, g = 3, h = 4, i = 5, j = 6, k = 0, l = 0;
         thread P { k = b; } never e == 9;",
    );
}

#[test]
fn registers_may_be_arrays_and_structs() {
    check(
        "let b[2] = {x, 3}; b[1] = b[0] + 1; y = b[1];",
        "let b_0, b_1;
         L0: b_0 = x; goto L1;
         L1: b_1 = 3; goto L2;
         L2: b_1 = b_0 + 1; goto L3;
         L3: y = b_1; goto L4;
         L4: stop;",
    );
    check(
        "let b[2]; let i; b[i] = 5; i = b[i];",
        "let b_0, b_1, i;
         L0: choose { assume i == 0; goto L1; } or { assume i == 1; goto L7; } or { assume i < 0 || i >= 2; goto L8; }
         L1: b_0 = 5; goto L2;
         L2: choose { assume i == 0; goto L3; } or { assume i == 1; goto L5; } or { assume i < 0 || i >= 2; goto L6; }
         L3: i = b_0; goto L4;
         L4: stop;
         L5: i = b_1; goto L4;
         L6: fail bounds b[2] at i;
         L7: b_1 = 5; goto L2;
         L8: fail bounds b[2] at i;",
    );
    means(
        "struct S { p = 4, q } shared x; thread P { let S s, t[2]; t[1].q = s.p; } never P.s.p + P.t[1].q == 8;",
        "shared x; thread P { let a, b, c, d, e, f; a = 4; c = 4; e = 4; f = a; } never P.a + P.f == 8;",
    );
}

#[test]
fn lists_follow_constants() {
    let text =
        "const N = 2; shared ring[N] = {for i in 0..N: (i + 1) % N}, m[N][2] = {for i in 0..N: {i, -i}};
        thread P { ring[0] = m[0][1]; }";
    for (n, expected) in [(2, vec!["1", "0", "0", "0", "1", "-1"]), (1, vec!["0", "0", "0"])] {
        let options = Options { defines: vec![("N".to_string(), Int::from(n))], ..Options::default() };
        let parsed = read_with(text, &options).unwrap_or_else(|errors| panic!("{}", rendered(text, &errors)));
        let initial: Vec<String> =
            parsed.program.variables.iter().map(|variable| variable.initial.text()).collect();
        assert_eq!(initial, expected);
    }
}

#[test]
fn shifts_by_constants_are_products_and_divisions() {
    check(
        "let r; r = r << 3; r = r >> 2; x = 1 << 2 + 1; y = -5 >> 1; r <<= 1;",
        "let r;
         L0: r = r * 8; goto L1;
         L1: r = (r - (r & 3)) / 4; goto L2;
         L2: x = 8; goto L3;
         L3: y = -3; goto L4;
         L4: r = r * 2; goto L5;
         L5: stop;",
    );
    check(
        "let r; if (r >> 1 == 1 && r << 1 > 2) { x = 1; }",
        "let r;
         L0: choose { assume (r - (r & 1)) / 2 == 1 && r * 2 > 2; goto L1; } or { assume (r - (r & 1)) / 2 != 1 || r * 2 <= 2; goto L2; }
         L1: x = 1; goto L2;
         L2: stop;",
    );
}

#[test]
fn shifts_round_down() {
    for value in -70i64..=70 {
        for places in 0..6u32 {
            let text =
                format!("shared x = {value} >> {places}, y = {value} << {places}; thread P {{ x = y; }}");
            let program = program(&text);
            let initial: Vec<String> =
                program.variables.iter().map(|variable| variable.initial.text()).collect();
            let power = 1i64 << places;
            assert_eq!(initial, [value.div_euclid(power).to_string(), (value * power).to_string()], "{text}");
        }
    }
}

#[test]
fn shifts_by_values_have_a_case_for_each() {
    let printed = program::print(&program("shared x; thread P { let r, s; x = r << s; } never x << 1 == 4;"));
    assert!(printed.contains("together { assume s == 0; t1 = r * 1; }; goto"), "{printed}");
    assert!(
        printed.contains("together { assume s == 63; t1 = r * 9223372036854775808; }; goto"),
        "{printed}"
    );
    assert!(printed.contains("assume s < 0 || s >= 64; goto"), "{printed}");
    assert!(printed.contains("never x * 2 == 4"), "{printed}");
}

#[test]
fn cases_fall_through_and_break() {
    check(
        "let r; switch (r) { case 0: x = 1; break; case 1: case 2: x = 2; default: y = 3; }",
        "let r;
         L0: choose { assume r == 0; goto L1; } or { assume r == 1 || r == 2; goto L3; } or { assume r != 0 && r != 1 && r != 2; goto L4; }
         L1: x = 1; goto L2;
         L2: stop;
         L3: x = 2; goto L4;
         L4: y = 3; goto L2;",
    );
    check_program(
        "thread P(i in 0..2) { switch (i) { case 0: x = 1; break; case 1: a[i] = 2; } }",
        "thread P0 {
         L0: x = 1; goto L1;
         L1: stop;
         }
         thread P1 {
         L0: a[1] = 2; goto L1;
         L1: stop;
         }",
    );
    check(
        "loop { switch (x) { case 5: continue; case 6: break; default: y = 1; } y = 2; }",
        "let t1;
         L0: t1 = x; goto L1;
         L1: choose { assume t1 == 5; goto L0; } or { assume t1 == 6; goto L2; } or { assume t1 != 5 && t1 != 6; goto L3; }
         L2: y = 2; goto L0;
         L3: y = 1; goto L2;",
    );
}

#[test]
fn references_are_the_places_they_stand_for() {
    check_program(
        "fn lock(&word) { while (!cas(word, 0, 1)) { } } fn put(&all, at, &last) { all[at] = 1; last = at; }
         thread P { let r = 1; lock(&x); put(&a, r, &r); put(&a, 0, &y); }",
        "thread P {
         let r, t1, at;
         L0: r = 1; goto L1;
         L1: choose { locked { t1 = x; assume t1 == 0; x = 1; }; goto L2; } or { locked { t1 = x; assume t1 != 0; }; goto L1; }
         L2: at = r; goto L3;
         L3: choose { assume at == 0; goto L4; } or { assume at == 1; goto L9; } or { assume at < 0 || at >= 2; goto L10; }
         L4: a[0] = 1; goto L5;
         L5: r = at; goto L6;
         L6: a[0] = 1; goto L7;
         L7: y = 0; goto L8;
         L8: stop;
         L9: a[1] = 1; goto L5;
         L10: fail bounds a[2] at at;
         }",
    );
    // The index is evaluated once, at the call.
    check_program(
        "fn twice(&cell) { cell = 1; cell = 2; } thread P { twice(&a[x]); }",
        "thread P {
         let t1, cell;
         L0: t1 = x; goto L1;
         L1: cell = t1; goto L2;
         L2: choose { assume cell == 0; goto L3; } or { assume cell == 1; goto L9; } or { assume cell < 0 || cell >= 2; goto L10; }
         L3: a[0] = 1; goto L4;
         L4: choose { assume cell == 0; goto L5; } or { assume cell == 1; goto L7; } or { assume cell < 0 || cell >= 2; goto L8; }
         L5: a[0] = 2; goto L6;
         L6: stop;
         L7: a[1] = 2; goto L6;
         L8: fail bounds a[2] at cell;
         L9: a[1] = 1; goto L4;
         L10: fail bounds a[2] at cell;
         }",
    );
}

#[test]
fn a_parameter_that_is_lent_on_is_a_copy() {
    check_program(
        "fn set(&place) { place = 5; } fn f(value) { set(&value); } thread P { let r; f(r); assert r == 0; }",
        "thread P {
         let r, value;
         L0: value = r; goto L1;
         L1: value = 5; goto L2;
         L2: choose { assume r == 0; goto L3; } or { assume r != 0; goto L4; }
         L3: stop;
         L4: fail;
         }",
    );
}

#[test]
fn an_update_finds_its_place_once() {
    check(
        "a[x] += y;",
        "let t1, t2, t3;
         L0: t1 = x; goto L1;
         L1: choose { assume t1 == 0; goto L2; } or { assume t1 == 1; goto L9; } or { assume t1 < 0 || t1 >= 2; goto L10; }
         L2: t2 = a[0]; goto L3;
         L3: t3 = y; goto L4;
         L4: choose { assume t1 == 0; goto L5; } or { assume t1 == 1; goto L7; } or { assume t1 < 0 || t1 >= 2; goto L8; }
         L5: a[0] = t2 + t3; goto L6;
         L6: stop;
         L7: a[1] = t2 + t3; goto L6;
         L8: fail bounds a[2] at t1;
         L9: t2 = a[1]; goto L3;
         L10: fail bounds a[2] at t1;",
    );
    check(
        "let r; r = 1; locked { r += 2; r *= r; }",
        "let r;
         L0: r = 1; goto L1;
         L1: locked { r = r + 2; r = r * r; }; goto L2;
         L2: stop;",
    );
}

#[test]
fn failures_in_words_read_back() {
    let text =
        "shared x; thread P { choose { fail error \"a \\\"b\\\" \\\\ c\"; } or { fail limit \"d\"; } }";
    let read = program(text);
    check_round_trip(&read);
    assert!(
        program::print(&read).contains("fail error \"a \\\"b\\\" \\\\ c\";"),
        "{}",
        program::print(&read)
    );
    assert!(program::print(&read).contains("fail limit \"d\";"));
    check_errors(
        "shared x;\nthread P { fail error; }\nthread Q { fail limit \"d; }",
        "2: `;` expected words in quotes, found `;`
         3: `\"` these words do not end (close them with `\"` on the same line)",
    );
}

#[test]
fn what_is_wrong_is_said() {
    check_errors(
        "struct N { v, v }
struct E { }
struct S { p, q[2] }
shared T t;
shared g[2][3] = {1, 2, 3}, h[2] = {for i in 0..3: i}, n = {1};
thread P { skip; }",
        "1: `v` the field `v` stands twice (choose another name)
         2: `E` `E` has no fields (name what it holds: `struct Node { value, next }`)
         4: `T` there is no struct `T` (declare it before, like `struct Node { value, next }`)
         5: `{1, 2, 3}` the array has 2 cells, but 3 values are given (give one value per cell, one value without braces for all, or `{for i in 0..N: …}`)
         5: `{for i in 0..3: i}` the array has 2 cells, but 3 values are given (give one value per cell, one value without braces for all, or `{for i in 0..N: …}`)
         5: `{1}` `n` is not an array and starts with one value (leave out the braces)",
    );
    check_errors(
        "struct S { p, q[2] }
shared S s; shared g[2][3], n;
thread P { s = 1; s.z = 1; s.q = 2; g[1] = 2; g[2][0] = 1; n.v = 1; Q.r = 1; }",
        "3: `s` this is a struct `S`, not a number (name a field: `.p`, `.q`)
         3: `z` the struct `S` has no field `z` (its fields are `p`, `q`)
         3: `s.q` this part of `s` is an array (give all indices)
         3: `g[1]` this part of `g` is an array (give all indices)
         3: `2` the index 2 is outside the array `g`, which has 2 cells (its cells are 0 to 1)
         3: `n.v` `n` is no struct here, so it has no `v` (fields belong to variables declared like `shared Node n;`)
         3: `Q` places of threads can only be named in properties (use it in `never`, `finally` or `predicates`)",
    );
    check_errors(
        "shared x;\nthread P { switch (x) { skip; } x = 1; }",
        "2: `skip` expected `case`, found `skip` (a `switch` holds `case 1: …` and `default: …`)",
    );
    check_errors(
        "shared x; fn f(&r) { r = 1; return 2; } fn g(v) { x = v; }
thread P { let r, s; s = f(&r); f(x); g(&x); r = 1 << -1; switch (x) { case 1: skip; case 1: skip; } }",
        "2: `&r` only a call that is a statement can change a register of its caller (call it by itself, or `return` the value)
         2: `x` `r` stands for a place of the caller (write `&` in front of a variable, a cell or a register)
         2: `&x` `&` lends a place to a parameter that was declared with `&` (leave it out: a value is wanted here)
         2: `-1` a shift by -1 places has no meaning (`<<` multiplies by a power of two, `>>` divides by one)
         2: `1` there are two cases for 1 (remove one of them)",
    );
}
