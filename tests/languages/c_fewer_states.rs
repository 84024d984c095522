//! What is done to have fewer states changes no verdict: random programs with mutexes, atomic sections, loops
//! and threads that get stuck, read with and without it; and what each part of it is for.

use crate::c_language::{program, read_c, two_threads, verdicts};
use fastrand::Rng;
use frontend::COptions;
use program::{Op, Program};

/// What a thread may do; its own result is `@`.
const PIECES: &[&str] = &[
    "pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m);",
    "pthread_mutex_lock(&m); { int t = x; y = t + 1; } pthread_mutex_unlock(&m);",
    "pthread_mutex_lock(&n); y++; pthread_mutex_unlock(&n);",
    "pthread_mutex_lock(&m); pthread_mutex_lock(&n); x = y; pthread_mutex_unlock(&n); pthread_mutex_unlock(&m);",
    "pthread_mutex_lock(&m); __VERIFIER_assume(x == 1); y = 5; pthread_mutex_unlock(&m);",
    "pthread_mutex_lock(&m); if (x) { x = 0; } else { x = 2; @ = 1; } pthread_mutex_unlock(&m);",
    "pthread_mutex_lock(&m); while (x > 1) x--; pthread_mutex_unlock(&m);",
    "if (!pthread_mutex_trylock(&m)) { x = 4; pthread_mutex_unlock(&m); }",
    "pthread_mutex_unlock(&n);",
    "x = 2;",
    "@ = y;",
    "y = 1; @ = x;",
    "__VERIFIER_atomic_begin(); if (x) y = 3; __VERIFIER_atomic_end();",
    "__VERIFIER_atomic_begin(); y = 4; __VERIFIER_assume(x == 2); __VERIFIER_atomic_end();",
    "if (__sync_fetch_and_add(&x, 1)) @ = y;",
    "__VERIFIER_assume(__sync_fetch_and_add(&y, 1) == 0);",
    "for (int i = 0; i < 2; i++) @ += x;",
    "{ int v[16] = { 0, 1, 2 }; int *p = &v[x & 15]; @ = *p + v[1]; }",
    "{ int t = x; int *p = &t; *p += 1; @ = t; }",
    "__atomic_store_n(&y, 2, __ATOMIC_SEQ_CST); @ = x;",
    "assert(x != 4);",
];

const CLAIMS: &[&str] = &["a == 0", "b <= 1", "x != 2", "y <= 4", "a + b != 3", "x <= y + 1", "1"];

#[test]
fn steps_put_together_change_no_verdict() {
    let mut random = Rng::with_seed(17);
    let (mut safe, mut violated) = (0, 0);
    for _ in 0..150 {
        let mut thread = |result: &str| {
            let pieces: Vec<&str> =
                (0..random.usize(1..4)).map(|_| PIECES[random.usize(..PIECES.len())]).collect();
            pieces.join(" ").replace('@', result)
        };
        let (first, second) = (thread("a"), thread("b"));
        let claim = CLAIMS[random.usize(..CLAIMS.len())];
        let declared = "int x, y; pthread_mutex_t m, n;";
        let text = two_threads(declared, &first, &second, claim);
        let apart = COptions { apart: true, exchange_stores: false, ..COptions::default() };
        let together = verdicts(&text, &COptions::default());
        assert_eq!(together, verdicts(&text, &apart), "{text}");
        *(if together[0] { &mut violated } else { &mut safe }) += 1;
    }
    assert!(safe > 20 && violated > 20, "{safe} safe and {violated} violated");
}

/// How many places all threads have.
fn places(program: &Program) -> usize {
    program.threads.iter().map(|thread| thread.locs().count()).sum()
}

#[test]
fn each_part_makes_programs_smaller() {
    let read = |declared: &str, first: &str, claim: &str| {
        program(&two_threads(declared, first, first, claim), COptions::default())
    };
    let locked = "pthread_mutex_lock(&m); x++; y = x; pthread_mutex_unlock(&m);";
    let protected = read("int x, y; pthread_mutex_t m;", locked, "x == y");
    assert_eq!(places(&protected), 4, "a critical section is one step:\n{}", program::print(&protected));
    assert_eq!(protected.variables.len(), 2, "and needs no mutex");
    let open = "pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m); z = x;";
    assert!(places(&read("int x, z; pthread_mutex_t m;", open, "x > 0")) > 8, "x is not protected");
    let own = read("int x;", "int t = 1; int *p = &t; *p += 1; x = t;", "x == 2");
    assert_eq!(own.variables.len(), 1, "what only one thread touches is its own");
    let counted = read("atomic_int x; int v[4096];", "int i = x++; v[i % 4096] = 1;", "x == 2");
    assert!(counted.variables.len() < 16, "only some cells can be meant");
    assert!(counted.assumptions.is_empty(), "two additions cannot overflow");
    let constant = read("int x, n = 3;", "for (int i = 0; i < n; i++) x = i;", "x == 2");
    let stores = constant.threads.iter().flat_map(|thread| thread.edges());
    assert_eq!(stores.filter(|edge| matches!(edge.op, Op::Store(..))).count(), 6, "loops are written out");
}

#[test]
fn main_goes_on_as_long_as_nobody_can_notice() {
    let text = "#include <pthread.h>\n#include <assert.h>\nint arg[3], sum[3];\n\
        void *f(void *p) { int i = *(int *)p; sum[i] = i + 1; return 0; }\n\
        int main(void) { pthread_t t[3]; for (int i = 0; i < 3; i++) { arg[i] = i; pthread_create(&t[i], 0, f, &arg[i]); }\n\
        for (int i = 0; i < 3; i++) pthread_join(t[i], 0); assert(sum[0] + sum[1] + sum[2] == 6); return 0; }\n";
    let read = program(text, COptions::default());
    assert_eq!(read.threads.len(), 3, "main is no thread:\n{}", program::print(&read));
    assert_eq!(verdicts(text, &COptions::default()), [false; 3]);
    // Here the argument is shared, and threads may see it change.
    let shared = text.replace("arg[i] = i", "arg[0] = i").replace("&arg[i]", "&arg[0]");
    assert_eq!(verdicts(&shared, &COptions::default()), [true; 3]);
}

#[test]
fn lengths_arguments_and_input() {
    let whole = |body: &str| {
        format!(
            "#include <assert.h>\n#include <stdio.h>\nint n = 2;\n\
             int main(int argc, char **argv) {{ {body} return 0; }}\n"
        )
    };
    let violated = |body: &str| verdicts(&whole(body), &COptions::default())[0];
    assert!(!violated("int v[n]; v[1] = 3; assert(v[1] == 3);"));
    assert!(violated("int v[n]; v[n] = 3;"), "an index outside");
    assert!(violated("unsigned char k; scanf(\"%hhu\", &k); assert(k != 5);"));
    assert!(program(&whole("if (argc > 1) n = argv[1][0];"), COptions::default()).has_limits());
    let unknown = whole("int k; scanf(\"%d\", &k); int v[k]; v[0] = 1;");
    assert!(read_c(&unknown, COptions::default()).is_err(), "the length is not known");
    let remark = |text: &str| read_c(text, COptions::default()).expect("read").remark.is_some();
    assert!(remark(&two_threads("int x;", "x = 1;", "a = x;", "a == 0")));
    assert!(!remark(&two_threads("atomic_int x;", "x = 1;", "a = x;", "a == 0")));
}
