//! What atomic operations, functions, families and properties become: each program against its
//! printed automaton.

use crate::common::{check, check_program};

#[test]
fn atomic_operations_are_one_step() {
    check(
        "let r; r = cas(x, r, r + 1);",
        "let r, t1;
         L0: choose { locked { t1 = x; assume t1 == r; x = r + 1; r = 1; }; goto L1; } or { locked { t1 = x; assume t1 != r; r = 0; }; goto L1; }
         L1: stop;",
    );
    check(
        "if (cas(x, 0, 1)) { skip; }",
        "let t1;
         L0: choose { locked { t1 = x; assume t1 == 0; x = 1; }; goto L1; } or { locked { t1 = x; assume t1 != 0; }; goto L2; }
         L1: skip; goto L2;
         L2: stop;",
    );
    check(
        "while (!cas(x, 0, 1)) { }",
        "let t1;
         L0: choose { locked { t1 = x; assume t1 == 0; x = 1; }; goto L1; } or { locked { t1 = x; assume t1 != 0; }; goto L0; }
         L1: stop;",
    );
    check(
        "await cas(x, y, 1);",
        "let t1, t2;
         L0: t1 = y; goto L1;
         L1: choose { locked { t2 = x; assume t2 == t1; x = 1; }; goto L2; } or { locked { t2 = x; assume t2 != t1; }; goto L0; }
         L2: stop;",
    );
    check(
        "cas(x, 0, 1); swap(x, 2); fetch_add(x, y);",
        "let t1, t2;
         L0: choose { locked { t1 = x; assume t1 == 0; x = 1; }; goto L1; } or { locked { t1 = x; assume t1 != 0; }; goto L1; }
         L1: locked { x = 2; }; goto L2;
         L2: t1 = y; goto L3;
         L3: locked { t2 = x; x = t2 + t1; }; goto L4;
         L4: stop;",
    );
    check(
        "let r; r = swap(x, r); r = swap(x, 1); r = fetch_add(x, r); r = fetch_add(x, 2);",
        "let r, t1;
         L0: locked { t1 = x; x = r; r = t1; }; goto L1;
         L1: locked { r = x; x = 1; }; goto L2;
         L2: locked { t1 = x; x = t1 + r; r = t1; }; goto L3;
         L3: locked { r = x; x = r + 2; }; goto L4;
         L4: stop;",
    );
    check(
        "let r; r = cas(a[r], 0, 1);",
        "let r, t1;
         L0: choose { assume r == 0; goto L1; } or { assume r == 1; goto L3; } or { assume r < 0 || r >= 2; goto L4; }
         L1: choose { locked { t1 = a[0]; assume t1 == 0; a[0] = 1; r = 1; }; goto L2; } or { locked { t1 = a[0]; assume t1 != 0; r = 0; }; goto L2; }
         L2: stop;
         L3: choose { locked { t1 = a[1]; assume t1 == 0; a[1] = 1; r = 1; }; goto L2; } or { locked { t1 = a[1]; assume t1 != 0; r = 0; }; goto L2; }
         L4: fail bounds a[2] at r;",
    );
    check(
        "if (swap(x, 1)) { skip; }",
        "let t1;
         L0: locked { t1 = x; x = 1; }; goto L1;
         L1: choose { assume t1 != 0; goto L2; } or { assume t1 == 0; goto L3; }
         L2: skip; goto L3;
         L3: stop;",
    );
    check(
        "arw(x, 0, y);",
        "let t1, t2;
         L0: t1 = y; goto L1;
         L1: locked { t2 = x; assume t2 == 0; x = t1; }; goto L2;
         L2: stop;",
    );
}

#[test]
fn atomic_sections() {
    check(
        "atomic { x = 1; atomic { y = 1; } }",
        "L0: lock; goto L1;
         L1: x = 1; goto L2;
         L2: y = 1; goto L3;
         L3: unlock; goto L4;
         L4: stop;",
    );
    check(
        "atomic { let r = cas(x, 0, 1); r = swap(x, r); fetch_add(y, 1); arw(x, 1, 0); if (cas(x, 2, 3)) { y = 7; } }",
        "let r, t1;
         L0: lock; goto L1;
         L1: t1 = x; goto L2;
         L2: choose { assume t1 == 0; goto L3; } or { assume t1 != 0; goto L19; }
         L3: x = 1; goto L4;
         L4: r = 1; goto L5;
         L5: t1 = x; goto L6;
         L6: x = r; goto L7;
         L7: r = t1; goto L8;
         L8: t1 = y; goto L9;
         L9: y = t1 + 1; goto L10;
         L10: t1 = x; goto L11;
         L11: assume t1 == 1; goto L12;
         L12: x = 0; goto L13;
         L13: t1 = x; goto L14;
         L14: choose { assume t1 == 2; goto L15; } or { assume t1 != 2; goto L17; }
         L15: x = 3; goto L16;
         L16: y = 7; goto L17;
         L17: unlock; goto L18;
         L18: stop;
         L19: r = 0; goto L5;",
    );
    check(
        "loop { atomic { if (x == 1) { break; } if (x == 2) { continue; } if (x == 3) { goto l; } if (x == 4) { stop; } } } l: skip;",
        "let t1;
         L0: lock; goto L1;
         L1: t1 = x; goto L2;
         L2: choose { assume t1 == 1; goto L3; } or { assume t1 != 1; goto L6; }
         L3: unlock; goto l;
         l: skip; goto L5;
         L5: stop;
         L6: t1 = x; goto L7;
         L7: choose { assume t1 == 2; goto L8; } or { assume t1 != 2; goto L9; }
         L8: unlock; goto L0;
         L9: t1 = x; goto L10;
         L10: choose { assume t1 == 3; goto L11; } or { assume t1 != 3; goto L12; }
         L11: unlock; goto l;
         L12: t1 = x; goto L13;
         L13: choose { assume t1 == 4; goto L14; } or { assume t1 != 4; goto L16; }
         L14: unlock; goto L15;
         L15: stop;
         L16: unlock; goto L0;",
    );
    check(
        "atomic { if (1 == 2) { dead: skip; } x = 1; }",
        "L0: lock; goto L1;
         L1: x = 1; goto L2;
         L2: unlock; goto L3;
         L3: stop;
         dead: skip; goto L1;",
    );
}

#[test]
fn divisions_are_guarded() {
    check(
        "let r; r = r / x; r = x % 2; x = r / r;",
        "let r, t1;
         L0: t1 = x; goto L1;
         L1: choose { assume t1 == 0; goto L2; } or { assume t1 != 0; goto L3; }
         L2: fail division;
         L3: unchecked r = r / t1; goto L4;
         L4: t1 = x; goto L5;
         L5: r = t1 % 2; goto L6;
         L6: choose { assume r == 0; goto L7; } or { assume r != 0; goto L8; }
         L7: fail division;
         L8: unchecked x = r / r; goto L9;
         L9: stop;",
    );
    check(
        "let r; if (r != 0 && 6 / r > 2) { skip; }",
        "let r;
         L0: choose { assume r != 0; goto L1; } or { assume r == 0; goto L5; }
         L1: choose { assume r == 0; goto L2; } or { assume r != 0; goto L3; }
         L2: fail division;
         L3: choose { unchecked assume 6 / r > 2; goto L4; } or { unchecked assume 6 / r <= 2; goto L5; }
         L4: skip; goto L5;
         L5: stop;",
    );
    check(
        "let r; unchecked r = 4 / r; unchecked assume 4 / r == 2; fail division;",
        "let r;
         L0: unchecked r = 4 / r; goto L1;
         L1: unchecked assume 4 / r == 2; goto L2;
         L2: fail division;",
    );
}

#[test]
fn low_level_statements() {
    check(
        "let r; choose { r = 1; goto l; } or { fail; } l: locked { r = x; assume r == 0; x = r + 1; r = 3; } together { r = a[1]; assume r != 0; } lock; x = 1; unlock; fail bounds a[2] at r + 1;",
        "let r;
         L0: choose { r = 1; goto l; } or { skip; goto L7; }
         l: locked { r = x; assume r == 0; x = r + 1; r = 3; }; goto L2;
         L2: together { r = a[1]; assume r != 0; }; goto L3;
         L3: lock; goto L4;
         L4: x = 1; goto L5;
         L5: unlock; goto L6;
         L6: fail bounds a[2] at r + 1;
         L7: fail;",
    );
    check(
        "let lock, stop = 2, fail, at; lock = stop; at = fail + lock; store: goto store;",
        "let lock, stop, fail, at;
         L0: stop = 2; goto L1;
         L1: lock = stop; goto L2;
         L2: at = fail + lock; goto store;
         store: skip; goto store;",
    );
}

#[test]
fn functions_are_inlined() {
    check_program(
        "fn two() { return 2; } thread P { let r = two(); x = two() + x; }",
        "thread P {
         let r, t1;
         L0: r = 2; goto L1;
         L1: t1 = x; goto L2;
         L2: x = 2 + t1; goto L3;
         L3: stop;
         }",
    );
    check_program(
        "fn f(n) { return n + 1; } thread P { let r; r = f(r); r = f(x); r = f(r + 1); r = f(f(3)); a[f(-1)] = f(0); }",
        "thread P {
         let r, n;
         L0: r = r + 1; goto L1;
         L1: n = x; goto L2;
         L2: r = n + 1; goto L3;
         L3: n = r + 1; goto L4;
         L4: r = n + 1; goto L5;
         L5: r = 5; goto L6;
         L6: a[0] = 1; goto L7;
         L7: stop;
         }",
    );
    check_program(
        "fn f(n) { for i in 0..n { a[i] = n; } } thread P { f(2); f(1); }",
        "thread P {
         L0: a[0] = 2; goto L1;
         L1: a[1] = 2; goto L2;
         L2: a[0] = 1; goto L3;
         L3: stop;
         }",
    );
    check_program(
        "fn f(n) { n = n + 1; x = n; } thread P { f(1); f(y); }",
        "thread P {
         let n;
         L0: n = 1; goto L1;
         L1: n = n + 1; goto L2;
         L2: x = n; goto L3;
         L3: n = y; goto L4;
         L4: n = n + 1; goto L5;
         L5: x = n; goto L6;
         L6: stop;
         }",
    );
    check_program(
        "fn f() { let r; r = r + 1; x = r; return; x = 9; } thread P { f(); f(); }",
        "thread P {
         let r;
         L0: r = r + 1; goto L1;
         L1: x = r; goto L2;
         L2: r = 0; goto L3;
         L3: r = r + 1; goto L4;
         L4: x = r; goto L5;
         L5: stop;
         }",
    );
    check_program(
        "fn f(p, q) { return p - q; } thread P { let r = f(x, f(y, x)); }",
        "thread P {
         let r, p, p_2, q, q_2;
         L0: p = x; goto L1;
         L1: p_2 = y; goto L2;
         L2: q = x; goto L3;
         L3: q_2 = p_2 - q; goto L4;
         L4: r = p - q_2; goto L5;
         L5: stop;
         }",
    );
    check_program(
        "fn max(p, q) { if (p > q) { return p; } return q; } thread P { let r = max(x, max(y, 3)); }",
        "thread P {
         let r, p, t1, p_2;
         L0: p = x; goto L1;
         L1: p_2 = y; goto L2;
         L2: choose { assume p_2 > 3; goto L3; } or { assume p_2 <= 3; goto L8; }
         L3: t1 = p_2; goto L4;
         L4: choose { assume p > t1; goto L5; } or { assume p <= t1; goto L7; }
         L5: r = p; goto L6;
         L6: stop;
         L7: r = t1; goto L6;
         L8: t1 = 3; goto L4;
         }",
    );
    check_program(
        "fn get() { if (x == 0) { return any in 0..3; } } thread P { let r = get(); get(); }",
        "thread P {
         let r, t1;
         L0: t1 = x; goto L1;
         L1: choose { assume t1 == 0; goto L2; } or { assume t1 != 0; goto L7; }
         L2: r = any in 0..3; goto L3;
         L3: t1 = x; goto L4;
         L4: choose { assume t1 == 0; goto L5; } or { assume t1 != 0; goto L6; }
         L5: t1 = any in 0..3; goto L6;
         L6: stop;
         L7: r = 0; goto L3;
         }",
    );
    check_program(
        "fn busy() { let n; n = x; return n == 0; } thread P { await busy(); }",
        "thread P {
         let t1, n;
         L0: n = 0; goto L1;
         L1: n = x; goto L2;
         L2: choose { assume n == 0; goto L3; } or { assume n != 0; goto L6; }
         L3: t1 = 1; goto L4;
         L4: choose { assume t1 != 0; goto L5; } or { assume t1 == 0; goto L0; }
         L5: stop;
         L6: t1 = 0; goto L4;
         }",
    );
    check_program(
        "fn busy(v) { return x == v || y == v; } thread P { await !busy(1); }",
        "thread P {
         let t1;
         L0: t1 = x; goto L1;
         L1: choose { assume t1 == 1; goto L0; } or { assume t1 != 1; goto L2; }
         L2: t1 = y; goto L3;
         L3: choose { assume t1 == 1; goto L0; } or { assume t1 != 1; goto L4; }
         L4: stop;
         }",
    );
    check_program(
        "fn section() { atomic { if (x == 1) { return; } x = 2; } } thread P { section(); atomic { section(); } }",
        "thread P {
         let t1;
         L0: lock; goto L1;
         L1: t1 = x; goto L2;
         L2: choose { assume t1 == 1; goto L3; } or { assume t1 != 1; goto L10; }
         L3: unlock; goto L4;
         L4: lock; goto L5;
         L5: t1 = x; goto L6;
         L6: choose { assume t1 == 1; goto L7; } or { assume t1 != 1; goto L9; }
         L7: unlock; goto L8;
         L8: stop;
         L9: x = 2; goto L7;
         L10: x = 2; goto L11;
         L11: unlock; goto L4;
         }",
    );
}

#[test]
fn families_and_properties() {
    check_program(
        "fn other(i) { return 1 - i; } thread P(i in 0..2) { a[other(i)] = other(other(i)); if (other(i) == 1) { skip; } }",
        "thread P0 {
         L0: a[1] = 0; goto L1;
         L1: skip; goto L2;
         L2: stop;
         }
         thread P1 {
         L0: a[0] = 1; goto L1;
         L1: stop;
         }",
    );
    check_program(
        "const N = 2; thread P(i in 0..N) { x = i; l: skip; } for i in 0..N { for j in i + 1..N { never P[i]@l && P[j]@l; } }",
        "thread P0 {
         L0: x = 0; goto l;
         l: skip; goto L2;
         L2: stop;
         }
         thread P1 {
         L0: x = 1; goto l;
         l: skip; goto L2;
         L2: stop;
         }
         never P0@l && P1@l;",
    );
    check_program(
        "fn f() { l: skip; } thread P { let r; f(); f(); } never P@l; never !P@l; never P@l + P.r == 2; finally a[1] * 2 - -x != 3 && (y || !x) && true; predicates { x < y; P.r == 0; }",
        "thread P {
         let r;
         l: skip; goto l_2;
         l_2: skip; goto L2;
         L2: stop;
         }
         never P@l || P@l_2;
         never !P@l && !P@l_2;
         never P@l + P@l_2 + P.r == 2;
         finally a[1] * 2 - (0 - x) != 3 && (y != 0 || x == 0);
         predicates {
         x < y;
         P.r == 0;
         }",
    );
    check_program(
        "thread P(i in 3..5) { let r; loop { r = any in 0..i; } } finally P3.r == P[4].r;",
        "thread P3 {
         let r;
         L0: r = any in 0..3; goto L0;
         }
         thread P4 {
         let r;
         L0: r = any in 0..4; goto L0;
         }
         finally P3.r == P4.r;",
    );
}
