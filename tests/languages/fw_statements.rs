//! What statements become: each program against its printed automaton.

use crate::common::check;

#[test]
fn registers() {
    check(
        "let r; r = x; x = r + 1;",
        "let r;
         L0: r = x; goto L1;
         L1: x = r + 1; goto L2;
         L2: stop;",
    );
    check(
        "let r = 5; let q = r; q = 0;",
        "let r, q;
         L0: r = 5; goto L1;
         L1: q = r; goto L2;
         L2: q = 0; goto L3;
         L3: stop;",
    );
    check(
        "let r = x + x * 2;",
        "let r, t1, t2;
         L0: t1 = x; goto L1;
         L1: t2 = x; goto L2;
         L2: r = t1 + t2 * 2; goto L3;
         L3: stop;",
    );
    check(
        "x = y;",
        "let t1;
         L0: t1 = y; goto L1;
         L1: x = t1; goto L2;
         L2: stop;",
    );
    check(
        "x = any; a[1] = any in -1..2;",
        "let t1;
         L0: t1 = any; goto L1;
         L1: x = t1; goto L2;
         L2: t1 = any in -1..2; goto L3;
         L3: a[1] = t1; goto L4;
         L4: stop;",
    );
    check(
        "let r; r = 1 == 1; r = -r; r = - -3; r = 7 & 3 | 8 ^ 1;",
        "let r;
         L0: r = 1; goto L1;
         L1: r = 0 - r; goto L2;
         L2: r = 3; goto L3;
         L3: r = 11; goto L4;
         L4: stop;",
    );
}

#[test]
fn zero_is_assigned_only_where_the_register_may_hold_something_else() {
    check(
        "let r, q = 0; l: let s; loop { let t; }",
        "let r, q, s, t;
         l: s = 0; goto L1;
         L1: t = 0; goto L1;",
    );
    check(
        "let r; if (r == 0) { let q = 1; x = q; } else { let q = 2; y = q; }",
        "let r, q, q_2;
         L0: choose { assume r == 0; goto L1; } or { assume r != 0; goto L4; }
         L1: q = 1; goto L2;
         L2: x = q; goto L3;
         L3: stop;
         L4: q_2 = 2; goto L5;
         L5: y = q_2; goto L3;",
    );
    check(
        "for i in 0..2 { let r; r = r + x; }",
        "let r, t1;
         L0: t1 = x; goto L1;
         L1: r = r + t1; goto L2;
         L2: r = 0; goto L3;
         L3: t1 = x; goto L4;
         L4: r = r + t1; goto L5;
         L5: stop;",
    );
}

#[test]
fn arrays_become_case_splits() {
    check(
        "let r; r = a[r]; a[x] = y;",
        "let r, t1, t2;
         L0: choose { assume r == 0; goto L1; } or { assume r == 1; goto L9; } or { assume r < 0 || r >= 2; goto L10; }
         L1: r = a[0]; goto L2;
         L2: t1 = x; goto L3;
         L3: t2 = y; goto L4;
         L4: choose { assume t1 == 0; goto L5; } or { assume t1 == 1; goto L7; } or { assume t1 < 0 || t1 >= 2; goto L8; }
         L5: a[0] = t2; goto L6;
         L6: stop;
         L7: a[1] = t2; goto L6;
         L8: fail bounds a[2] at t1;
         L9: r = a[1]; goto L2;
         L10: fail bounds a[2] at r;",
    );
    check(
        "a[1 - 1] = a[1];",
        "let t1;
         L0: t1 = a[1]; goto L1;
         L1: a[0] = t1; goto L2;
         L2: stop;",
    );
}

#[test]
fn what_constants_rule_out_may_be_wrong() {
    check(
        "for i in 0..2 { if (i > 0) { a[i - 1] = 8 / i; } else if (i > 1) { a[9] = 1; } }",
        "L0: a[0] = 8; goto L1;
         L1: stop;",
    );
    check(
        "for i in 0..2 { if (i == 0 || a[i - 1] == 0) { skip; } }",
        "let t1;
         L0: skip; goto L1;
         L1: t1 = a[0]; goto L2;
         L2: choose { assume t1 == 0; goto L3; } or { assume t1 != 0; goto L4; }
         L3: skip; goto L4;
         L4: stop;",
    );
    check(
        "skip; while (1 > 2) { x = 1 / 0; }",
        "L0: skip; goto L1;
         L1: stop;",
    );
}

#[test]
fn conditions() {
    check(
        "let r; if (r == 0 && r < 2 || r > 7) { skip; } else { fence; }",
        "let r;
         L0: choose { assume (r == 0 && r < 2) || r > 7; goto L1; } or { assume (r != 0 || r >= 2) && r <= 7; goto L3; }
         L1: skip; goto L2;
         L2: stop;
         L3: fence; goto L2;",
    );
    check(
        "let r; if (r == 0 && x == 1 && r == 2 && r == 3) { skip; }",
        "let r, t1;
         L0: choose { assume r == 0; goto L1; } or { assume r != 0; goto L5; }
         L1: t1 = x; goto L2;
         L2: choose { assume t1 == 1; goto L3; } or { assume t1 != 1; goto L5; }
         L3: choose { assume r == 2 && r == 3; goto L4; } or { assume r != 2 || r != 3; goto L5; }
         L4: skip; goto L5;
         L5: stop;",
    );
    check(
        "if (x) { skip; } else if (!y) { fence store; }",
        "let t1;
         L0: t1 = x; goto L1;
         L1: choose { assume t1 != 0; goto L2; } or { assume t1 == 0; goto L4; }
         L2: skip; goto L3;
         L3: stop;
         L4: t1 = y; goto L5;
         L5: choose { assume t1 != 0; goto L3; } or { assume t1 == 0; goto L6; }
         L6: fence store; goto L3;",
    );
    check(
        "let r; if (r) { skip; }",
        "let r;
         L0: choose { assume r != 0; goto L1; } or { assume r == 0; goto L2; }
         L1: skip; goto L2;
         L2: stop;",
    );
    check(
        "let r; r = x == 1 && y == 2;",
        "let r, t1;
         L0: t1 = x; goto L1;
         L1: choose { assume t1 == 1; goto L2; } or { assume t1 != 1; goto L6; }
         L2: t1 = y; goto L3;
         L3: choose { assume t1 == 2; goto L4; } or { assume t1 != 2; goto L6; }
         L4: r = 1; goto L5;
         L5: stop;
         L6: r = 0; goto L5;",
    );
    check(
        "let r; r = (x == 1) + 1;",
        "let r, t1, t2;
         L0: t2 = x; goto L1;
         L1: choose { assume t2 == 1; goto L2; } or { assume t2 != 1; goto L5; }
         L2: t1 = 1; goto L3;
         L3: r = t1 + 1; goto L4;
         L4: stop;
         L5: t1 = 0; goto L3;",
    );
    check(
        "if (true) { x = 1; } else { y = 1; }",
        "L0: x = 1; goto L1;
         L1: stop;",
    );
}

#[test]
fn waiting_and_claiming() {
    check(
        "await x == 0 || y == 1;",
        "let t1;
         L0: t1 = x; goto L1;
         L1: choose { assume t1 == 0; goto L2; } or { assume t1 != 0; goto L3; }
         L2: stop;
         L3: t1 = y; goto L4;
         L4: choose { assume t1 == 1; goto L2; } or { assume t1 != 1; goto L0; }",
    );
    check(
        "let r; await r == 0;",
        "let r;
         L0: assume r == 0; goto L1;
         L1: stop;",
    );
    check(
        "assume x == 0 && y == 1;",
        "let t1;
         L0: t1 = x; goto L1;
         L1: assume t1 == 0; goto L2;
         L2: t1 = y; goto L3;
         L3: assume t1 == 1; goto L4;
         L4: stop;",
    );
    check(
        "assume x == 0 || y == 1;",
        "let t1;
         L0: t1 = x; goto L1;
         L1: choose { assume t1 == 0; goto L2; } or { assume t1 != 0; goto L3; }
         L2: stop;
         L3: t1 = y; goto L4;
         L4: assume t1 == 1; goto L2;",
    );
    check(
        "assume false;",
        "L0: assume false; goto L1;
         L1: stop;",
    );
    check(
        "assume x == 1 && false; skip;",
        "let t1;
         L0: t1 = x; goto L1;
         L1: assume t1 == 1; goto L2;
         L2: assume false; goto L2;",
    );
    check(
        "assert x == y;",
        "let t1, t2;
         L0: t1 = x; goto L1;
         L1: t2 = y; goto L2;
         L2: choose { assume t1 == t2; goto L3; } or { assume t1 != t2; goto L4; }
         L3: stop;
         L4: fail;",
    );
    check(
        "let r; assert r == 0;",
        "let r;
         L0: choose { assume r == 0; goto L1; } or { assume r != 0; goto L2; }
         L1: stop;
         L2: fail;",
    );
    check(
        "skip; assert false; skip;",
        "L0: skip; goto L1;
         L1: fail;",
    );
}

#[test]
fn loops_and_jumps() {
    check(
        "while (x != 0) { y = 1; }",
        "let t1;
         L0: t1 = x; goto L1;
         L1: choose { assume t1 != 0; goto L2; } or { assume t1 == 0; goto L3; }
         L2: y = 1; goto L0;
         L3: stop;",
    );
    check("loop { }", "L0: skip; goto L0;");
    check(
        "let r; while (r < 3) { r = r + 1; if (r == 2) { continue; } if (x) { break; } y = 1; }",
        "let r, t1;
         L0: choose { assume r < 3; goto L1; } or { assume r >= 3; goto L5; }
         L1: r = r + 1; goto L2;
         L2: choose { assume r == 2; goto L0; } or { assume r != 2; goto L3; }
         L3: t1 = x; goto L4;
         L4: choose { assume t1 != 0; goto L5; } or { assume t1 == 0; goto L6; }
         L5: stop;
         L6: y = 1; goto L0;",
    );
    check(
        "for i in 0..2 { a[i] = i; if (x == i) { break; } }",
        "let t1;
         L0: a[0] = 0; goto L1;
         L1: t1 = x; goto L2;
         L2: choose { assume t1 == 0; goto L3; } or { assume t1 != 0; goto L4; }
         L3: stop;
         L4: a[1] = 1; goto L5;
         L5: t1 = x; goto L6;
         L6: choose { assume t1 == 1; goto L3; } or { assume t1 != 1; goto L3; }",
    );
    check(
        "for i in 0..2 { if (x == i) { continue; } y = i; }",
        "let t1;
         L0: t1 = x; goto L1;
         L1: choose { assume t1 == 0; goto L2; } or { assume t1 != 0; goto L6; }
         L2: t1 = x; goto L3;
         L3: choose { assume t1 == 1; goto L4; } or { assume t1 != 1; goto L5; }
         L4: stop;
         L5: y = 1; goto L4;
         L6: y = 0; goto L2;",
    );
    check(
        "skip; for i in 3..1 { x = i; }",
        "L0: skip; goto L1;
         L1: stop;",
    );
    check(
        "for i in 0..2 { l: x = i; goto l; }",
        "l: x = 0; goto l;
         l_2: x = 1; goto l_2;",
    );
    check("one: two: skip; goto two;", "one: skip; goto one;");
    check("goto end; skip; end:", "end: stop;");
    check(
        "skip; stop; x = 1;",
        "L0: skip; goto L1;
         L1: stop;",
    );
}

#[test]
fn choices_add_no_steps_of_their_own() {
    check(
        "choose { x = 1; } or { skip; y = 1; } or { }",
        "L0: choose { x = 1; goto L1; } or { skip; goto L2; } or { skip; goto L1; }
         L1: stop;
         L2: y = 1; goto L1;",
    );
    check(
        "choose { await x == 0; } or { l: skip; } or { goto l; }",
        "let t1;
         L0: choose { skip; goto L1; } or { skip; goto l; } or { skip; goto l; }
         L1: t1 = x; goto L2;
         L2: choose { assume t1 == 0; goto L3; } or { assume t1 != 0; goto L1; }
         L3: stop;
         l: skip; goto L3;",
    );
    check(
        "let r; choose { if (r == 0) { skip; } } or { choose { x = 1; } or { x = 2; } }",
        "let r;
         L0: choose { assume r == 0; goto L1; } or { assume r != 0; goto L2; } or { x = 1; goto L2; } or { x = 2; goto L2; }
         L1: skip; goto L2;
         L2: stop;",
    );
}

#[test]
fn short_forms_of_assignments() {
    check(
        "let r; r += 2; r--; x *= r + 1; a[1] |= 0x1F;",
        "let r, t1;
         L0: r = r + 2; goto L1;
         L1: r = r - 1; goto L2;
         L2: t1 = x; goto L3;
         L3: x = t1 * (r + 1); goto L4;
         L4: t1 = a[1]; goto L5;
         L5: a[1] = t1 | 31; goto L6;
         L6: stop;",
    );
}

#[test]
fn a_loop_with_its_test_at_the_end() {
    check(
        "let r; do { r = x; if (r == 1) { continue; } if (r == 2) { break; } y = 1; } while (r < 5); y = 2;",
        "let r;
         L0: r = x; goto L1;
         L1: choose { assume r == 1; goto L2; } or { assume r != 1; goto L5; }
         L2: choose { assume r < 5; goto L0; } or { assume r >= 5; goto L3; }
         L3: y = 2; goto L4;
         L4: stop;
         L5: choose { assume r == 2; goto L3; } or { assume r != 2; goto L6; }
         L6: y = 1; goto L2;",
    );
}

#[test]
fn one_value_or_another() {
    check(
        "let r; r = r > 0 ? x : r + 1; y = 1 + (r == 2 ? 3 : 4);",
        "let r, t1;
         L0: choose { assume r > 0; goto L1; } or { assume r <= 0; goto L7; }
         L1: r = x; goto L2;
         L2: choose { assume r == 2; goto L3; } or { assume r != 2; goto L6; }
         L3: t1 = 3; goto L4;
         L4: y = 1 + t1; goto L5;
         L5: stop;
         L6: t1 = 4; goto L4;
         L7: r = r + 1; goto L2;",
    );
}

#[test]
fn more_atomic_operations() {
    check(
        "let r; r = cmpxchg(x, 0, 1); r = cmpxchg(x, r, 2); r = fetch_or(x, 4); fetch_sub(y, r);",
        "let r, t1;
         L0: choose { locked { r = x; assume r == 0; x = 1; }; goto L1; } \
             or { locked { r = x; assume r != 0; }; goto L1; }
         L1: choose { locked { t1 = x; assume t1 == r; x = 2; }; goto L2; } \
             or { locked { t1 = x; assume t1 != r; }; goto L2; }
         L2: r = t1; goto L3;
         L3: locked { r = x; x = r | 4; }; goto L4;
         L4: locked { t1 = y; y = t1 - r; }; goto L5;
         L5: stop;",
    );
}
