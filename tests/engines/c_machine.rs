//! Random C programs on this machine: whatever they are seen to do is something that we find possible.
//!
//! Each program is compiled by `cc` and run many times; every result is then claimed to be impossible, of the
//! same text, and the claim must be violated under TSO. (What happens rarely is not seen; there is
//! nothing to compare with on machines other than x86.)

use engine::{Explicit, Run, decide};
use evidence::Task;
use fastrand::Rng;
use frontend::{FRONTENDS, Options};
use machine::TSO;
use program::Source;
use std::collections::BTreeSet;
use std::io::Write;
use std::process::{Command, Stdio};

const PROGRAMS: u64 = 10;
const RUNS: usize = 400;
const RESULTS: [&str; 4] = ["a", "b", "c", "d"];

/// A statement of a thread whose results go to two of the names.
fn statement(random: &mut Rng, mine: [&str; 2]) -> String {
    let shared = ["x", "y"][random.usize(..2)];
    let result = mine[random.usize(..2)];
    let value = random.usize(1..3);
    match random.usize(..12) {
        0 | 1 => format!("atomic_store_explicit(&{shared}, {value}, memory_order_relaxed);"),
        2 => format!("atomic_store_explicit(&{shared}, {value}, memory_order_release);"),
        3 => format!("{shared} = {value};"),
        4 => format!("z = {result} + 1;"),
        5 => "atomic_thread_fence(memory_order_seq_cst);".to_string(),
        6 => format!("{result} = atomic_fetch_add(&{shared}, {value});"),
        7 => format!("{{ int e = 1; if (atomic_compare_exchange_strong(&{shared}, &e, 2)) {result} += 4; }}"),
        8 => format!("for (int i = 0; i < 2; i++) {result} = 2 * {result} + {shared};"),
        9 => format!("if ({result} == 1) {shared} = 0;"),
        10 => format!("{result} = z;"),
        _ => format!("{result} = atomic_load_explicit(&{shared}, memory_order_relaxed);"),
    }
}

/// Both threads, without a `main`.
fn threads(random: &mut Rng) -> String {
    let mut text = "#include <pthread.h>\n#include <stdatomic.h>\n#include <assert.h>\n#include <stdio.h>\n\
        atomic_int x, y; volatile int z, a, b, c, d;\n"
        .to_string();
    for (at, mine) in [[RESULTS[0], RESULTS[1]], [RESULTS[2], RESULTS[3]]].into_iter().enumerate() {
        let body: Vec<String> = (0..random.usize(2..5)).map(|_| statement(random, mine)).collect();
        text += &format!("void *t{at}(void *u) {{\n  {}\n  return 0;\n}}\n", body.join("\n  "));
    }
    text
}

const START: &str = "pthread_t s, t; pthread_create(&s, 0, t0, 0); pthread_create(&t, 0, t1, 0); \
    pthread_join(s, 0); pthread_join(t, 0);";

/// What the machine is seen to do; nothing if there is no compiler.
fn observed(threads: &str, number: u64) -> Option<BTreeSet<Vec<i32>>> {
    let text = format!(
        "{threads}int main(void) {{ for (int n = 0; n < {RUNS}; n++) {{ x = y = z = a = b = c = d = 0; {START} \
         printf(\"%d %d %d %d\\n\", a, b, c, d); }} return 0; }}\n"
    );
    let file = std::env::temp_dir().join(format!("fencewright-machine-{}-{number}", std::process::id()));
    let mut command = Command::new("cc");
    command.args(["-xc", "-w", "-pthread", "-", "-o"]).arg(&file).stdin(Stdio::piped());
    let mut child = command.spawn().ok()?;
    child.stdin.take()?.write_all(text.as_bytes()).expect("written");
    assert!(child.wait().expect("it ends").success(), "{text}");
    let output = Command::new(&file).output().expect("it runs");
    let _ = std::fs::remove_file(&file);
    let lines = String::from_utf8(output.stdout).expect("text");
    let numbers = |line: &str| line.split(' ').map(|number| number.parse().expect("a number")).collect();
    Some(lines.lines().map(numbers).collect())
}

#[test]
fn what_the_machine_does_is_possible() {
    if !cfg!(target_arch = "x86_64") {
        eprintln!("skipped: this is no x86");
        return;
    }
    let c = FRONTENDS.iter().find(|frontend| frontend.name == "c").expect("registered");
    let mut seen = 0;
    for number in 0..PROGRAMS {
        let threads = threads(&mut Rng::with_seed(number));
        let Some(results) = observed(&threads, number) else {
            eprintln!("skipped: there is no cc");
            return;
        };
        for result in results {
            let equal: Vec<String> =
                RESULTS.iter().zip(&result).map(|(r, v)| format!("{r} == {v}")).collect();
            let text = format!(
                "{threads}int main(void) {{ {START} assert(!({})); return 0; }}\n",
                equal.join(" && ")
            );
            let read = (c.read)(Source::new("t.c", text.as_str()), &Options::default());
            let program = read.unwrap_or_else(|errors| panic!("{errors:?}\n{text}")).program;
            let found =
                decide(&Task::safe(&program, TSO), &Explicit, &Run::default()).expect("evidence holds");
            assert_eq!(found.checked.holds(), Some(false), "the machine does it:\n{text}");
            seen += 1;
        }
    }
    assert!(seen >= PROGRAMS, "only {seen} results");
}
