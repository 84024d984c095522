//! What C means: every row of the table of instructions, and what the rest of the language computes.

use crate::explore::{Explorer, Limits, Model, truth};
use frontend::{COptions, Diagnostic, FRONTENDS, Options, Overflow, Parsed};
use program::{Cond, Place, Program, PropertyKind, Source};
use std::io::Write;
use std::process::{Command, Stdio};

pub fn read_c(text: &str, c: COptions) -> Result<Parsed, Vec<Diagnostic>> {
    let frontend = FRONTENDS.iter().find(|f| f.name == "c").expect("registered");
    (frontend.read)(Source::new("t.c", text), &Options { c, ..Options::default() })
}

pub fn program(text: &str, c: COptions) -> Program {
    read_c(text, c).unwrap_or_else(|errors| panic!("{text}\n{errors:#?}")).program
}

/// Whether some run violates something.
pub fn violated(program: &Program, model: Model) -> bool {
    let explorer = Explorer::new(program, model, Limits { states: 200_000, queue: 8, eager: false });
    let mut bad = Vec::new();
    for id in program.thread_ids() {
        let thread = program.thread(id);
        bad.extend(thread.locs().filter(|l| thread.location(*l).failure.is_some()).map(|l| Cond::at(id, l)));
    }
    let failing = Cond::or(bad);
    let explored = explorer.run(&|state| truth(&failing, &|place: &Place| explorer.place(state, place)));
    assert!(!explored.out_of_budget && !explored.capped, "too large:\n{}", program::print(program));
    let wrong = |state: &crate::explore::State| {
        let claims = program.properties.iter().filter(|p| p.kind == PropertyKind::Finally);
        claims.into_iter().any(|p| !truth(&p.cond, &|place: &Place| explorer.place(state, place)))
    };
    explored.found || explored.finals.iter().any(wrong)
}

pub fn verdicts(text: &str, c: &COptions) -> [bool; 3] {
    let program = program(text, c.clone());
    Model::ALL.map(|model| violated(&program, model))
}

pub fn two_threads(declared: &str, first: &str, second: &str, claim: &str) -> String {
    format!(
        "#include <pthread.h>\n#include <stdatomic.h>\n#include <assert.h>\n#include <stdlib.h>\n{declared}\nint a, b;\n\
         void *one(void *u) {{ {first} return 0; }}\nvoid *two(void *u) {{ {second} return 0; }}\n\
         int main(void) {{ pthread_t s, t; pthread_create(&s, 0, one, 0); pthread_create(&t, 0, two, 0);\n\
         pthread_join(s, 0); pthread_join(t, 0); assert({claim}); return 0; }}\n"
    )
}

/// Store buffering with a store and what stands behind it; allowed under SC, TSO, PSO?
fn buffering(store: &str, expected: [bool; 3], c: &COptions) {
    let declared = "atomic_int x, y; int p, q; pthread_mutex_t m;";
    let side = |own: &str, other: &str, into: &str| {
        format!(
            "{} {into} = {};",
            store.replace('X', own),
            format_args!("atomic_load_explicit(&{other}, memory_order_relaxed)")
        )
    };
    let text = two_threads(declared, &side("x", "y", "a"), &side("y", "x", "b"), "a == 1 || b == 1");
    assert_eq!(verdicts(&text, c), expected, "{store}\n{text}");
}

/// A message and a flag; can the flag be seen without the message?
fn message(store: &str, expected: [bool; 3], c: &COptions) {
    let declared = "atomic_int f; int d;";
    let send = format!("d = 1; {store}");
    let receive = "a = atomic_load_explicit(&f, memory_order_acquire); b = d;";
    let text = two_threads(declared, &send, receive, "a == 0 || b == 1");
    assert_eq!(verdicts(&text, c), expected, "{store}\n{text}");
}

const WEAK: [bool; 3] = [false, true, true];
const NEVER: [bool; 3] = [false; 3];
const ONLY_PSO: [bool; 3] = [false, false, true];

#[test]
fn every_row_of_the_table_buffers_as_it_says() {
    let c = COptions::default();
    for store in [
        "atomic_store_explicit(&X, 1, memory_order_relaxed);",
        "atomic_store_explicit(&X, 1, memory_order_release);",
        "__atomic_store_n(&X, 1, __ATOMIC_RELEASE);",
        "atomic_store_explicit(&X, 1, memory_order_relaxed); atomic_thread_fence(memory_order_acquire);",
        "atomic_store_explicit(&X, 1, memory_order_relaxed); atomic_thread_fence(memory_order_acq_rel);",
        "atomic_store_explicit(&X, 1, memory_order_relaxed); atomic_signal_fence(memory_order_seq_cst);",
        "atomic_store_explicit(&X, 1, memory_order_relaxed); __asm__ volatile (\"\" ::: \"memory\");",
        "atomic_init(&X, 1);",
    ] {
        buffering(store, WEAK, &c);
    }
    for store in [
        "X = 1;",
        "atomic_store(&X, 1);",
        "__atomic_store_n(&X, 1, __ATOMIC_SEQ_CST);",
        "X++;",
        "X |= 1;",
        "atomic_exchange(&X, 1);",
        "atomic_fetch_add_explicit(&X, 1, memory_order_relaxed);",
        "__sync_fetch_and_or(&X, 1);",
        "__sync_lock_test_and_set(&X, 1);",
        "__sync_val_compare_and_swap(&X, 0, 1);",
        "atomic_store_explicit(&X, 1, memory_order_relaxed); atomic_thread_fence(memory_order_seq_cst);",
        "atomic_store_explicit(&X, 1, memory_order_relaxed); __sync_synchronize();",
        "atomic_store_explicit(&X, 1, memory_order_relaxed); __asm__ volatile (\"mfence\" ::: \"memory\");",
        "atomic_store_explicit(&X, 1, memory_order_relaxed); __asm__ volatile (\"lock; addl $0,0(%%rsp)\" ::: \"memory\", \"cc\");",
        "atomic_store_explicit(&X, 1, memory_order_relaxed); { int e = 7; atomic_compare_exchange_strong(&X, &e, 9); }",
        "atomic_store_explicit(&X, 1, memory_order_relaxed); pthread_mutex_lock(&m); pthread_mutex_unlock(&m);",
    ] {
        buffering(store, NEVER, &c);
    }
    buffering("X = 1;", NEVER, &COptions { exchange_stores: false, ..c });
}

#[test]
fn releases_order_stores_under_pso_unless_told_otherwise() {
    let c = COptions::default();
    let plain = COptions { plain_release: true, ..c.clone() };
    for store in ["atomic_store_explicit(&f, 1, memory_order_release);", "__sync_lock_release(&f); f = 1;"] {
        message(store, NEVER, &c);
    }
    message(
        "atomic_thread_fence(memory_order_release); atomic_store_explicit(&f, 1, memory_order_relaxed);",
        NEVER,
        &c,
    );
    message("atomic_store_explicit(&f, 1, memory_order_release);", ONLY_PSO, &plain);
    message("atomic_store_explicit(&f, 1, memory_order_relaxed);", ONLY_PSO, &c);
    for store in ["f = 1;", "atomic_store(&f, 1);", "atomic_fetch_add(&f, 1);"] {
        message(store, NEVER, &c);
        message(store, NEVER, &plain);
    }
}

/// Programs whose assertions all hold; they say so themselves when compiled and run.
pub const HOLD: &[&str] = &[
    "int i, s = 0; for (i = 0; i < 5; i++) { if (i == 1) continue; if (i == 4) break; s += i; } assert(s == 5 && i == 4);",
    "int i = 0; do i += 2; while (i < 5); assert(i == 6); while (i --> 3) ; assert(i == 2);",
    "int r = 0; for (int k = 0; k < 5; k++) switch (k) { case 0: r += 1; case 1: r += 10; break; case 3 : r += 100; break; default: r += 1000; } assert(r == 2121);",
    "int a[4] = { 1, 2, [3] = 7 }; int *p = a + 1; assert(*p == 2 && p[2] == 7 && a[2] == 0 && &a[3] - p == 2); *p++ = 9; assert(a[1] == 9 && *p == 0);",
    "struct s { int x; struct { int y, z[2]; } in; } v = { 1, { 2, { 3, 4 } } }, w; w = v; w.in.z[1]++; struct s *p = &w; assert(p->in.z[1] == 5 && v.in.z[1] == 4 && p->x + p->in.y == 3);",
    "int m[2][3] = { { 1, 2, 3 }, { 4, 5, 6 } }; int s = 0; for (int i = 0; i < 2; i++) for (int j = 0; j < 3; j++) s += m[i][j] * (i + 1); assert(s == 36);",
    "unsigned char c = 250; c += 10; assert(c == 4); signed char d = (signed char)200; assert(d == -56);",
    "unsigned u = 0; u--; assert(u == 4294967295u); u = 1u << 31; assert(u >> 31 == 1 && (int)(u >> 30) == 2);",
    "int x = -7; assert(x / 2 == -3 && x % 2 == -1 && (x & 7) == 1 && (x | 1) == -7 && (x ^ 1) == -8 && ~x == 6 && x >> 1 == -4);",
    "int i = 3; int j = i++ + 10; assert(j == 13 && i == 4); j = ++i * 2; assert(j == 10); i -= 1; i += i; assert(i == 8);",
    "int i = 0; (void)(i && ++i); assert(i == 0); (void)(i || ++i); assert(i == 1); assert((i ? 5 : 6) == 5); assert((0 ?: 4) == 4);",
    "int i = 0; again: if (i < 3) { i++; goto again; } assert(i == 3);",
    "int v = ({ int t = 4; t * t; }); assert(v == 16); __typeof__(v) w = v + 1; assert(w == 17 && sizeof(w) == 4 && sizeof(long) == 8);",
    "assert(fact(5) == 120); assert(twice(square, 3) == 81); int x = 1, y = 2; swap(&x, &y); assert(x == 2 && y == 1);",
    "enum e { A, B = 5, C }; enum e v = C; assert(v == 6 && A == 0); _Bool b = 7; assert(b == 1); b = !b; assert(!b);",
    "const char *s = \"ab\\n\"; assert(s[0] == 'a' && s[2] == 10 && s[3] == 0); assert(sizeof(\"abc\") == 4);",
    "static int n = 3; n++; assert(n == 4); assert(next() == 1 && next() == 2);",
    "int *p = &g; *p = 5; assert(g == 5); int **q = &p; **q += 1; assert(g == 6); p = 0; assert(!p && p == NULL);",
    "int n = 0; for (short i = 0; i < 10; i++) n += i & 1 ? i : -i; assert(n == 5); int k = 3; k <<= 2; k ^= 5; assert(k == 9);",
    "struct s { int a, b; } x = { 1, 2 }, y; memcpy(&y, &x, sizeof y); memset(&x, 0, sizeof x); assert(y.b == 2 && x.b == 0);",
    "char s[8]; strcpy(s, \"abc\"); assert(strlen(s) == 3 && s[3] == 0 && strcmp(s, \"abd\") < 0);",
    "int *v[3]; for (int i = 0; i < 3; i++) { v[i] = malloc(sizeof(int)); *v[i] = i; } assert(*v[1] == 1 && v[0] != v[2]); for (int i = 0; i < 3; i++) free(v[i]);",
    "int n = 0; for (int i = 0; i < 5; i++) { if (i == 1) goto next; n += i; next: ; } assert(n == 9); do { n--; } while (n > 4); assert(n == 4);",
    "unsigned long p = (5UL << 32) | 7; int n = g; p += n; assert((p & 0xffffffff00000000UL) >> 32 == 5 && (0xffffffffUL & p) == 7);",
    "union u { int i; } v; v.i = 3; assert(v.i == 3); struct { unsigned b : 3; } f = { 5 }; f.b += 2; assert(f.b == 7);",
    "union { struct { int lo, hi; }; long all; } q; q.lo = -1; q.hi = 2; assert(q.all == 0x2ffffffffL); q.all = -2; assert(q.lo == -2 && q.hi == -1); q.lo = g; q.hi = g - 3; assert(q.all == -(3L << 32));",
    "union { unsigned u; int i; } w; w.u = 4000000000u; assert(w.i == -294967296); w.i = g - 1; assert(w.u == 4294967295u);",
    "union { unsigned char b[4]; unsigned word; struct { unsigned short a, c; } h; } x; x.word = 0x01020304 + g; assert(x.b[0] == 4 && x.b[3] == 1); x.b[1] = 0xff; assert(x.word == 0x0102ff04);",
    "static const char *names[] = { \"zero\", \"one\" }; assert(names[0] != names[1] && names[0] && names[1][0] == 'o' && names[1][3] == 0);",
    "struct item { int key; struct { int *next; } link; } v[2] = { { 10 }, { 20 } }; char *in = (char *)&v[1].link; struct item *it = (struct item *)(in - offsetof(struct item, link)); assert(it->key == 20 && it == &v[1]);",
    "int x = 1, y = 5, z = 0; __atomic_store(&x, &y, __ATOMIC_RELAXED); __atomic_load(&x, &z, __ATOMIC_SEQ_CST); assert(x == 5 && z == 5); y = 9; __atomic_exchange(&x, &y, &z, __ATOMIC_ACQ_REL); assert(x == 9 && z == 5 && y == 9);",
    "int x = 4, old = 3, new = 7; assert(!__atomic_compare_exchange(&x, &old, &new, 0, 5, 5) && old == 4); assert(__atomic_compare_exchange(&x, &old, &new, 0, 5, 5) && x == 7);",
    "struct in { int x, y; }; struct { struct in a, b; int v[3]; } o = { .b.y = 4, .v[1] = 9, .a = { .x = 1 } }; assert(o.b.y == 4 && o.v[1] == 9 && o.a.x == 1 && o.a.y + o.v[2] == 0); struct { struct in a; int x; } e = { 1, 2, .x = 3 }; assert(e.a.x == 1 && e.a.y == 2 && e.x == 3);",
    "int x = 4; asm volatile(\"\" : \"+r\"(x) : : \"memory\"); asm volatile(\"lock; addl $0,0(%%rsp)\" ::: \"memory\"); assert(x == 4);",
];

pub fn whole(body: &str) -> String {
    format!(
        "#include <assert.h>\n#include <stddef.h>\n#include <stdlib.h>\n#include <string.h>\nint g;\nstatic int fact(int n) {{ return n <= 1 ? 1 : n * fact(n - 1); }}\n\
         static int square(int n) {{ return n * n; }}\nstatic int twice(int (*f)(int), int n) {{ return f(f(n)); }}\n\
         static void swap(int *a, int *b) {{ int t = *a; *a = *b; *b = t; }}\n\
         static int next(void) {{ static int count; return ++count; }}\nint main(void) {{ {body} return 0; }}\n"
    )
}

#[test]
fn what_c_computes_is_what_we_compute() {
    let wrap = COptions { overflow: Overflow::Wrap, ..COptions::default() };
    for body in HOLD {
        assert_eq!(verdicts(&whole(body), &wrap), NEVER, "{body}");
        let broken = body.replacen("assert(", "assert(!", 1).replacen("assert(!", "assert(0 && ", 1);
        assert_eq!(verdicts(&whole(&broken), &wrap), [true; 3], "{broken}");
    }
}

#[test]
fn the_machine_agrees() {
    for body in HOLD {
        let program =
            std::env::temp_dir().join(format!("fencewright-c-{}-{}", std::process::id(), body.len()));
        let mut command = Command::new("cc");
        command.args(["-xc", "-w", "-fwrapv", "-", "-o"]).arg(&program).stdin(Stdio::piped());
        let Ok(mut child) = command.spawn() else {
            eprintln!("skipped: there is no cc");
            return;
        };
        child.stdin.take().expect("piped").write_all(whole(body).as_bytes()).expect("written");
        assert!(child.wait().expect("it ends").success(), "{body} does not compile");
        assert!(Command::new(&program).status().expect("it runs").success(), "{body} does not hold");
        let _ = std::fs::remove_file(&program);
    }
}

fn wrapping() -> COptions {
    COptions { overflow: Overflow::Wrap, ..COptions::default() }
}

#[test]
fn results_that_may_not_fit_are_assumed_wrapped_or_violations() {
    let text = two_threads("unsigned n;", "n++;", "n += 4000000000u; n += 400000000u;", "1");
    let read = |overflow| program(&text, COptions { overflow, ..COptions::default() });
    let assumed = read(Overflow::Assume);
    assert!(!assumed.assumptions.is_empty());
    assert!(!violated(&assumed, Model::Sc));
    assert!(read(Overflow::Wrap).assumptions.is_empty());
    assert!(!violated(&read(Overflow::Wrap), Model::Sc));
    assert!(violated(&read(Overflow::Error), Model::Sc));
    // What wrapped around may be anything that its type holds.
    let sign =
        two_threads("unsigned n;", "n = -1;", "signed char c = n; a = 5u >= c; b = c != -1;", "a || !b");
    assert!(!violated(&program(&sign, wrapping()), Model::Sc));
    let wrapped = two_threads("unsigned n;", "n = -1;", "signed char c = n; a = 5u >= c;", "a");
    assert!(violated(&program(&wrapped, wrapping()), Model::Sc));
    let small = two_threads("", "for (int i = 0; i < 9; i++) ;", "int n = 3; n = n + a; b = n + 1;", "1");
    assert!(program(&small, COptions::default()).assumptions.is_empty(), "intervals show that these fit");
}

/// Nothing is assumed of conversions, nor of operations that never fit: runs go on behind them.
#[test]
fn conversions_and_what_never_fits_are_exact() {
    let check = |declared: &str, steps: &str, right: &str, wrong: &str| {
        for (claim, expected) in [(right, NEVER), (wrong, [true; 3])] {
            let text = two_threads(declared, steps, "", claim);
            assert_eq!(verdicts(&text, &COptions::default()), expected, "{text}");
            assert!(program(&text, COptions::default()).assumptions.is_empty(), "{text}");
        }
    };
    check("volatile unsigned char n = 254;", "n++; n++; n++;", "n == 1", "n != 1");
    check("struct { unsigned n : 3; int m : 2; } w = { 7, 1 };", "w.n++; w.m++;", "w.n == 0", "w.m == 2");
    check(
        "_Atomic unsigned long w = (7ul << 32) | 3;",
        "unsigned long v = w; a = (unsigned)v; b = (short)(v + 32765);",
        "a == 3 && b == -32768",
        "a == 7 || b > 0",
    );
    check("atomic_uchar n = 255;", "atomic_fetch_add(&n, 2);", "n == 1", "n > 1");
    check("unsigned h, t = 1;", "unsigned d = h - t; a = d > 8;", "a == 1", "a == 0");
    check("atomic_uint w = 256;", "atomic_fetch_add(&w, 1u - 256u);", "w == 1", "w != 1");
    check("int n = 5;", "a = (n ? -1 : 0u) > 7; b = (1 ? -1 : 0u) > 7;", "a && b", "!a || !b");
}

/// An input of another sign is one of its new type from the start, and only if nothing else is made of it.
#[test]
fn inputs_are_chosen_from_the_type_that_is_wanted() {
    let printed = |text: &str| program::print(&program(text, COptions::default()));
    let inputs =
        "#include <assert.h>\nunsigned __VERIFIER_nondet_uint(void); volatile int n; volatile unsigned u;\n";
    let text = printed(&format!("{inputs}int main(void) {{ n = __VERIFIER_nondet_uint(); assert(n); }}"));
    assert!(text.contains("any in -2147483648..2147483648") && !text.contains('&'), "{text}");
    let both = "int main(void) { n = u = __VERIFIER_nondet_uint(); assert(n >= 0 || u > 7); }";
    let text = printed(&format!("{inputs}{both}"));
    assert!(text.contains("any in 0..4294967296"), "{text}");
    let program = program(&format!("{inputs}{both}"), COptions::default());
    assert!(program.assumptions.is_empty());
}

#[test]
fn lists_of_initial_values_hold_structures() {
    let declared = "struct p { int x, y; }; struct l { struct p from, to; char name[4]; };\n\
        struct p first = { 1, 2 }; struct p few[] = { 1, 2, 3, 4 }; struct p mixed[] = { { 1, 2 }, 3, 4, { 5 } };\n\
        struct l fixed = { (struct p){ 6, 7 }, .to.y = 8 }; int rows[][2] = { 1, 2, 3 };\n\
        struct p twice(struct p q) { return (struct p){ 2 * q.x, 2 * q.y }; }";
    let steps = "struct p q = first; struct l m = { q, twice(q), \"ab\" }; struct l n = { .to = q, .from.x = 9 };\n\
        struct p ps[] = { q, twice(twice(q)), { 5 } }; int *v = (int[]){ [2] = 4, 5 };\n\
        a = m.from.y == 2 && m.to.y == 4 && m.name[1] == 'b' && m.name[2] == 0 && n.to.y == 2 && n.from.y == 0;\n\
        b = ps[1].x == 4 && ps[2].x == 5 && ps[2].y == 0 && sizeof ps == 24 && v[0] == 0 && v[3] == 5;";
    let claim = "a && b && sizeof few == 16 && few[1].y == 4 && sizeof mixed == 24 && mixed[1].x == 3 && mixed[2].x == 5 \
        && fixed.from.y == 7 && fixed.to.x == 0 && fixed.to.y == 8 && sizeof rows == 16 && rows[1][0] == 3";
    let text = two_threads(declared, steps, "", claim);
    assert_eq!(verdicts(&text, &COptions::default()), NEVER, "{text}");
}

#[test]
fn a_structure_is_no_number() {
    let read = |body: &str| {
        let text = format!(
            "struct s {{ int a, b; }}; struct t {{ int c; }} u; int main(void) {{ {body} return 0; }}"
        );
        read_c(&text, COptions::default()).map(|_| ()).map_err(|errors| errors[0].message.clone())
    };
    let refused = Err("a structure cannot be used as this type".to_string());
    assert_eq!(read("struct s z[2] = { u };"), refused);
    assert_eq!(read("int n; n = u;"), refused);
    assert_eq!(read("struct t z[2] = { u };"), Ok(()));
}

#[test]
fn main_knows_what_only_it_stores() {
    let text = |claim: &str| {
        format!(
            "#include <pthread.h>\n#include <assert.h>\nint seen[3]; void *t(void *p) {{ int i = *(int *)p; if (i < 3) \
             seen[i] = 1; return 0; }}\nint main(void) {{ pthread_t h[3]; int i; for (i = 0; i < 3; i++) \
             pthread_create(&h[i], 0, t, &i); for (int j = 0; j < 3; j++) pthread_join(h[j], 0); assert({claim}); }}"
        )
    };
    assert_eq!(verdicts(&text("seen[0] && seen[1] && seen[2]"), &COptions::default()), [true; 3]);
    assert_eq!(verdicts(&text("seen[2] <= 1"), &COptions::default()), NEVER);
    // What another thread stores main does not know.
    let changed = "#include <pthread.h>\n#include <assert.h>\nvoid *t(void *p) { *(int *)p = 2; return 0; }\n\
        int main(void) { pthread_t h; int i = 1; pthread_create(&h, 0, t, &i); pthread_join(h, 0); assert(i == 1); }";
    assert_eq!(verdicts(changed, &COptions::default()), [true; 3]);
}

#[test]
fn threads_locks_and_conditions() {
    let c = COptions::default();
    let check = |declared: &str, first: &str, second: &str, claim: &str, expected: [bool; 3]| {
        let text = two_threads(declared, first, second, claim);
        assert_eq!(verdicts(&text, &c), expected, "{text}");
    };
    let locked = "pthread_mutex_lock(&m); n++; pthread_mutex_unlock(&m);";
    check("pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; int n;", locked, locked, "n == 2", NEVER);
    check("int n;", "n++;", "n++;", "n == 2", [true; 3]);
    check("atomic_int n;", "n++;", "n++;", "n == 2", NEVER);
    check("pthread_mutex_t m;", "pthread_mutex_unlock(&m);", "", "1", [true; 3]);
    let wait =
        "pthread_mutex_lock(&m); while (!n) pthread_cond_wait(&c, &m); a = n; pthread_mutex_unlock(&m);";
    let signal = "pthread_mutex_lock(&m); n = 1; pthread_cond_signal(&c); pthread_mutex_unlock(&m);";
    check("pthread_mutex_t m; pthread_cond_t c; int n;", wait, signal, "a == 1", NEVER);
    check(
        "int n;",
        "__VERIFIER_atomic_begin(); n++; __VERIFIER_atomic_end();",
        "n = 5;",
        "n == 5 || n == 6",
        NEVER,
    );
    check("int n;", "if (__VERIFIER_nondet_int()) abort(); n = 1;", "", "n == 1", NEVER);
    check("int v[2];", "int i = a; v[i + 2] = 1;", "", "1", [true; 3]);
    check("int *p;", "*p = 1;", "", "1", [true; 3]);
    check("_Thread_local int n;", "n = 1; a = n;", "b = n;", "a == 1 && b == 0", NEVER);
}

#[test]
fn barriers_once_and_attempts() {
    let check = |declared: &str, before: &str, thread: &str, claim: &str, expected: [bool; 3]| {
        let text = format!(
            "#include <pthread.h>\n#include <threads.h>\n#include <semaphore.h>\n#include <time.h>\n#include <assert.h>\n\
             int n, v[2]; {declared}\nvoid *f(void *p) {{ long me = (long)p; {thread} return 0; }}\n\
             int main(void) {{ pthread_t s, t; {before} pthread_create(&s, 0, f, (void *)0);\n\
             pthread_create(&t, 0, f, (void *)1); pthread_join(s, 0); pthread_join(t, 0); assert({claim}); }}\n"
        );
        assert_eq!(verdicts(&text, &COptions::default()), expected, "{text}");
    };
    let meet = |body: &str| format!("v[me] = 1; {body} assert(v[1 - me]);");
    let (barrier, init) = ("pthread_barrier_t bar;", "pthread_barrier_init(&bar, NULL, 2);");
    check(barrier, init, &meet("pthread_barrier_wait(&bar);"), "1", NEVER);
    check(barrier, init, &meet(""), "1", [true; 3]);
    let once = "static once_flag o = ONCE_FLAG_INIT; static void init(void) { n++; }";
    check(once, "", "call_once(&o, init); assert(n == 1);", "n == 1", NEVER);
    let held = |take: &str, give: &str| format!("if (!{take}) {{ n++; assert(n == 1); n--; {give}; }}");
    check("sem_t s1;", "sem_init(&s1, 0, 1);", &held("sem_trywait(&s1)", "sem_post(&s1)"), "1", NEVER);
    check("sem_t s1;", "sem_init(&s1, 0, 2);", &held("sem_trywait(&s1)", "sem_post(&s1)"), "1", [true; 3]);
    let lock = "pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;";
    check(lock, "", &held("pthread_rwlock_trywrlock(&l)", "pthread_rwlock_unlock(&l)"), "1", NEVER);
    check(lock, "", &held("pthread_rwlock_tryrdlock(&l)", "pthread_rwlock_unlock(&l)"), "1", [true; 3]);
    let timed = "struct timespec ts; clock_gettime(CLOCK_REALTIME, &ts); ts.tv_sec += 1;";
    let taken = held("pthread_mutex_timedlock(&m, &ts)", "pthread_mutex_unlock(&m)");
    check("pthread_mutex_t m;", "", &format!("{timed} {taken}"), "1", NEVER);
}

#[test]
fn bytes_are_counted_where_a_pointer_is_not_known() {
    let declared = "struct item { int key; struct item *link; } v[2] = { { 10 }, { 20 } }; struct item **p;";
    let publish = "p = a ? &v[0].link : &v[1].link;";
    let back = "char *in = (char *)p; if (in) { struct item *it = (struct item *)(in - 8); b = it->key; }";
    let found = |claim: &str| verdicts(&two_threads(declared, publish, back, claim), &COptions::default());
    assert_eq!(found("b == 0 || b == 20"), NEVER);
    assert_eq!(found("b == 0"), [true; 3]);
}

#[test]
fn main_may_start_threads_late_and_take_results() {
    let text = "#include <pthread.h>\n#include <assert.h>\n#include <stdlib.h>\nint n;\n\
        void *f(void *p) { int *q = p; *q += 1; return (void *)7; }\n\
        int main(void) { pthread_t t[2]; int v[2] = { 1, 2 }; void *r;\n\
        for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, f, &v[i]);\n\
        for (int i = 0; i < 2; i++) { pthread_join(t[i], &r); assert((long)r == 7); }\n\
        assert(v[0] == 2 && v[1] == 3);\n\
        int *h = malloc(sizeof(int)); *h = 4; pthread_create(&t[0], 0, f, h); pthread_join(t[0], 0);\n\
        assert(*h == 5); return 0; }\n";
    assert_eq!(verdicts(text, &COptions::default()), NEVER);
}

#[test]
fn what_is_not_read_is_an_error_with_a_place() {
    let errors = |text: &str| read_c(text, COptions::default()).expect_err(text).remove(0);
    for (text, words) in [
        ("int main(void) { double d = 1.5; return 0; }", "floating"),
        ("int main(void) { int n = rand(); int a[n]; return 0; }", "length"),
        ("int main(void) { foo(); return 0; }", "`foo`"),
        ("int main(void) { asm(\"hlt\"); return 0; }", "asm"),
        ("int x; int main(void) { asm(\"lock; addl %1,%0\" : \"+m\"(x) : \"r\"(1)); return 0; }", "asm"),
        ("int x; int main(void) { asm(\"lock; addl $1,%0\" : \"+m\"(x)); return 0; }", "asm"),
        ("int main(void) { int x, y = 1; asm(\"\" : \"=r\"(x) : \"0\"(y)); return x; }", "asm"),
        ("union u { int i; char c; } v; int main(void) { v.i = 1; return v.c; }", "a part of `v`"),
        (
            "union { char c[8]; struct { int a, b, d; } s; } v; int main(void) { return v.s.d; }",
            "a part of `v`",
        ),
        ("int i[2]; int main(void) { return ((char *)i)[1]; }", "a part of `i`"),
        ("char c[8]; int main(void) { return *(int *)(c + 1); }", "a part of `c`"),
        ("_Atomic struct { int a, b; } s, t; int main(void) { s = t; return 0; }", "atomic structure"),
        ("#include <nothing.h>\n", "nothing.h"),
        ("#error stop\n", "stop"),
        ("int f(void) { return 1; }", "main"),
        ("int main(void) { return x; }", "`x`"),
        ("#define M(a) (a + )\nint main(void) { return M(1); }", "in the macro `M`"),
    ] {
        let error = errors(text);
        assert!(error.message.contains(words), "{text}: {error:?}");
    }
}

#[test]
fn pieces_of_a_word_are_seen_in_it() {
    let own = "union { struct { atomic_int lo, hi; }; atomic_long all; } w;";
    let relaxed = |to: &str| format!("atomic_store_explicit(&w.{to}, 1, memory_order_relaxed);");
    let all = "atomic_load_explicit(&w.all, memory_order_relaxed)";
    // A wide load sees the thread's own buffered piece, and memory for the other one.
    let (first, second) =
        (format!("{} a = {all} >> 32;", relaxed("lo")), format!("{} b = {all} & 1;", relaxed("hi")));
    let buffered = two_threads(own, &first, &second, "a == 1 || b == 1");
    assert_eq!(verdicts(&buffered, &COptions::default()), [false, true, true]);
    let forwarded = two_threads(own, &format!("{} a = {all} & 1;", relaxed("lo")), "", "a == 1");
    assert_eq!(verdicts(&forwarded, &COptions::default()), NEVER);
    // Whoever changes the whole changes all of it.
    let counting =
        "long old = w.all; while (!atomic_compare_exchange_strong(&w.all, &old, old + (1L << 32) + 1)) ;";
    let counted = two_threads(own, counting, counting, "w.lo == 2 && w.hi == 2");
    assert_eq!(verdicts(&counted, &COptions::default()), NEVER);
    let torn =
        two_threads(own, "w.all = (1L << 32) + 1;", "a = w.all != 0; b = w.lo + w.hi;", "!a || b == 2");
    assert_eq!(verdicts(&torn, &COptions::default()), NEVER);
    let plain = two_threads(own, "atomic_store_explicit(&w.all, 1, memory_order_relaxed);", "a = w.lo;", "1");
    let error = read_c(&plain, COptions::default()).expect_err("stores several cells").remove(0);
    assert!(error.message.contains("several cells at once"), "{error:?}");
}

#[test]
fn a_number_may_be_looked_at_as_a_structure() {
    let text = |claim: &str| {
        format!(
            "#include <assert.h>\ntypedef struct {{ int a, b; }} pair; long kept = 0x500000003;\n\
             int main(void) {{ long n = 7; ((pair *)&n)->b = 3; pair *p = (pair *)&kept; assert({claim}); }}"
        )
    };
    let verdicts = |claim: &str| verdicts(&text(claim), &COptions::default());
    assert_eq!(verdicts("n == 0x300000007L && p->a == 3 && p->b == 5"), NEVER);
    for wrong in ["n == 7", "p->a == 5", "p->b == 3"] {
        assert_eq!(verdicts(wrong), [true; 3], "{wrong}");
    }
}

#[test]
fn what_is_read_only_so_far_ends_in_a_limit() {
    let has = |text: &str| program(text, COptions::default()).has_limits();
    assert!(has("int f(int n) { return f(n + 1); } int main(void) { return f(0); }"));
    assert!(has("int f(int n) { return n ? f(n - 1) : 0; } int main(void) { return f(rand()); }"));
    assert!(!has("int f(int n) { return n ? f(n - 1) : 0; } int main(void) { return f(5); }"));
    let threads =
        "#include <pthread.h>\nvoid *f(void *p) { return 0; } int main(void) { pthread_t t; int n = rand();";
    assert!(has(&format!("{threads} while (n < 3) {{ pthread_create(&t, 0, f, 0); n = rand(); }} }}")));
    assert!(!has(&format!("{threads} for (n = 0; n < 3; n++) pthread_create(&t, 0, f, 0); }}")));
    let pool =
        "#include <stdlib.h>\nint main(void) { int n = rand(); while (n--) { int *p = malloc(4); *p = n; } }";
    assert!(has(pool));
    let wide = two_threads("unsigned n;", "n++;", "n += 4000000000u; n += 400000000u;", "1");
    assert!(program(&wide, COptions { overflow: Overflow::Strict, ..COptions::default() }).has_limits());
}

#[test]
fn memory_is_used_while_it_is_allocated() {
    let check = |first: &str, expected: [bool; 3]| {
        let text = two_threads("int *p;", first, "", "1");
        assert_eq!(verdicts(&text, &COptions::default()), expected, "{text}");
    };
    check("int *q = malloc(sizeof(int)); *q = 1; free(q); free(0);", NEVER);
    check("p = malloc(sizeof(int)); *p = 1; free(p);", NEVER);
    check("p = malloc(sizeof(int)); free(p); *p = 2;", [true; 3]);
    check("int *q = malloc(sizeof(int)); free(q); a = *q;", [true; 3]);
    check("int *q = malloc(sizeof(int)); free(q); free(q);", [true; 3]);
    check("int v[2]; free(v);", [true; 3]);
    check("p = malloc(2 * sizeof(int)); free(p + 1);", [true; 3]);
    check("for (int i = 0; i < 2; i++) { p = malloc(sizeof(int)); *p = i; free(p); }", NEVER);
    check("int i = 0; while (i < 2) { p = malloc(sizeof(int)); *p = i; if (b) free(p); i++; }", NEVER);
    // Another thread frees what this one still uses.
    let shared =
        two_threads("int *p;", "p = malloc(sizeof(int));", "int *q = p; if (q) { free(q); a = *q; }", "1");
    assert_eq!(verdicts(&shared, &COptions::default()), [true; 3]);
}

#[test]
fn data_races_are_found_if_asked_for() {
    let races = |declared: &str, first: &str, second: &str| {
        let text = two_threads(declared, first, second, "1");
        let program = program(&text, COptions { races: true, ..COptions::default() });
        let explorer = Explorer::new(&program, Model::Sc, Limits { states: 200_000, queue: 8, eager: false });
        let never =
            program.properties.iter().filter(|p| p.kind == PropertyKind::Never).map(|p| p.cond.clone());
        let bad = Cond::or(never.collect::<Vec<_>>());
        explorer.run(&|state| truth(&bad, &|place: &Place| explorer.place(state, place))).found
    };
    assert!(races("int x;", "x = 1;", "x = 2;"));
    assert!(races("int x;", "x = 1;", "a = x;"));
    assert!(!races("int x;", "a = x;", "b = x;"));
    assert!(!races("atomic_int x;", "x = 1;", "a = x;"));
    assert!(!races("volatile int x;", "x = 1;", "a = x;"));
    assert!(!races("int x;", "__atomic_store_n(&x, 1, 0);", "a = __atomic_load_n(&x, 0);"));
    assert!(races("int x;", "__atomic_store_n(&x, 1, 0);", "a = x;"));
    let locked = "pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m);";
    assert!(!races("int x; pthread_mutex_t m;", locked, locked));
    assert!(races("int x; pthread_mutex_t m;", locked, "x++;"));
    let sent = "if (atomic_load_explicit(&f, memory_order_acquire)) a = x;";
    assert!(!races("int x; atomic_int f;", "x = 1; f = 1;", sent));
}

#[test]
fn values_per_thread_and_what_is_done_once() {
    let check = |declared: &str, first: &str, second: &str, claim: &str, expected: [bool; 3]| {
        let text = two_threads(declared, first, second, claim);
        assert_eq!(verdicts(&text, &COptions::default()), expected, "{text}");
    };
    let declared = "int b; pthread_key_t k; void last(void *v) { b = (long)v; }";
    let create =
        "pthread_key_create(&k, last); pthread_setspecific(k, (void *)5); a = (long)pthread_getspecific(k);";
    check(declared, create, "", "a == 5 && b == 5", NEVER);
    check(declared, create, "", "b == 0", [true; 3]);
    let once = "pthread_once_t o = PTHREAD_ONCE_INIT; int n; void init(void) { n++; }";
    check(
        once,
        "pthread_once(&o, init); a = n;",
        "pthread_once(&o, init); b = n;",
        "a == 1 && b == 1",
        NEVER,
    );
}
