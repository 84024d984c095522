//! C programs: public ones with known verdicts, read from `../shared/corpora/c` (or
//! `$FENCEWRIGHT_CORPORA/c`) when there, and fences written into texts of our own.

use engine::{
    Costs, ENGINES, FenceAnswer, FenceOptions, RelaxedProgram, Run, decide, keep_fences, place_fences,
};
use evidence::{MostStates, Reason, Task};
use frontend::{COptions, FRONTENDS, Frontend, Insertion, Options, Parsed};
use machine::{TSO, model_named};
use program::{Op, Program, Source, Span, same, same_but_skips};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::Write;
use std::process::{Command, Stdio};

/// States per question: enough for most programs, and the same on every machine.
const STATES: usize = 10_000;

fn c() -> &'static Frontend {
    FRONTENDS.iter().find(|frontend| frontend.name == "c").expect("registered")
}

/// The verdicts on record for PSO are for release stores that order nothing.
fn options() -> Options {
    Options { c: COptions { plain_release: true, ..COptions::default() }, ..Options::default() }
}

#[test]
fn known_verdicts_are_not_contradicted() {
    let Some(folder) = support::corpora("c") else {
        eprintln!("skipped: there is no corpus of C programs");
        return;
    };
    let table = |name: &str| std::fs::read_to_string(folder.join(name)).expect("readable");
    let manifest = table("manifest.tsv");
    let stages: HashMap<&str, &str> = manifest
        .lines()
        .skip(1)
        .filter_map(|row| {
            let mut fields = row.split('\t');
            Some((fields.next()?, fields.next()?))
        })
        .collect();
    let mut rows: BTreeMap<String, Vec<(String, String, String)>> = BTreeMap::new();
    for row in table("expected.tsv").lines().skip(1) {
        let fields: Vec<&str> = row.split('\t').collect();
        if stages.get(fields[0]) == Some(&"S1") {
            let known = (fields[1].to_lowercase(), fields[2].to_string(), fields[3].to_string());
            rows.entry(fields[0].to_string()).or_default().push(known);
        }
    }
    let (mut all, mut answered) = (0, 0);
    for (file, known) in &rows {
        let text = std::fs::read_to_string(folder.join(file)).expect("readable");
        let parsed = (c().read)(Source::new(file.as_str(), text), &options());
        for (model, expected, strength) in known {
            all += 1;
            let Ok(Parsed { program, .. }) = &parsed else { continue };
            let task = Task::safe(program, model_named(model).expect("a model"));
            let limit = MostStates(STATES);
            let run = Run { monitor: &limit, ..Run::default() };
            let found = decide(&task, ENGINES[1], &run).expect("evidence holds");
            let Some(safe) = found.checked.holds() else { continue };
            answered += 1;
            let agrees = safe == (expected == "safe");
            assert!(
                agrees || strength.starts_with("bounded"),
                "{file} under {model}: {}",
                found.checked.verdict().word()
            );
        }
    }
    eprintln!("{answered} of {all} answered within {STATES} states");
    assert!(answered * 4 > all * 3, "only {answered} of {all} are answered");
}

const DEKKER: &str = "#include <pthread.h>
#include <assert.h>
int f, g, n;   // flags, and how many are inside
void *one(void *u) {
    f = 1;
    if (!g) { n++; assert(n == 1); n--; }
    return 0;
}
void *two(void *u) {
    int tries = 0;
    while (tries++ < 1) g = 1; /* no braces */
    if (!f) { n++; assert(n == 1); n--; }
    return 0;
}
int main(void) {
    pthread_t s, t;
    pthread_create(&s, 0, one, 0);
    pthread_create(&t, 0, two, 0);
    return 0;
}
";

#[test]
fn fences_are_written_into_c_and_nothing_else_changes() {
    let read = |text: &str, options: &Options| {
        (c().read)(Source::new("dekker.c", text), options).expect("read").program
    };
    let written = |options: &Options| {
        let program = read(DEKKER, options);
        let task = Task::safe(&program, TSO);
        let found =
            place_fences(&task, ENGINES[0], &FenceOptions::default(), &Run::default()).expect("checked");
        let FenceAnswer::Placed(placed) = found.answer else { panic!("two fences help") };
        let insertions: Vec<Insertion> = placed
            .fences
            .iter()
            .map(|fence| Insertion {
                span: fence.point.span,
                before: fence.point.before,
                strength: fence.point.strength,
            })
            .collect();
        let text = (c().insert)(DEKKER, &insertions, options).expect("written");
        assert!(same(&read(&text, options), &placed.program), "{text}");
        text
    };
    let expected = DEKKER
        .replace("f = 1;", "f = 1; __sync_synchronize();")
        .replace("g = 1;", "{ g = 1; __sync_synchronize(); }");
    assert_eq!(written(&Options::default()), expected);
    let own =
        COptions { fence_text: Some("__asm__ volatile (\"mfence\")".to_string()), ..COptions::default() };
    let expected = expected.replace("__sync_synchronize();", "__asm__ volatile (\"mfence\");");
    assert_eq!(written(&Options { c: own, ..Options::default() }), expected);
}

/// Which fences of a text are needed, and the text without the others.
fn relaxed(text: &str) -> (Vec<String>, String) {
    let apart = COptions { exchange_stores: false, apart: true, ..COptions::default() };
    let options = Options { c: apart, ..Options::default() };
    let read = |text: &str| (c().read)(Source::new("t.c", text), &options).expect("read").program;
    let remove = c().remove.expect("fences can be taken out of C");
    let program = read(text);
    let places = program.written_fences().into_iter().filter(|place| remove(text, &[*place]).is_ok());
    let places: BTreeSet<Span> = places.collect();
    let relaxed = RelaxedProgram::of(&program, &places, TSO, &Costs::default());
    let task = Task::safe(&relaxed.program, TSO);
    let options = FenceOptions::default();
    let found = keep_fences(&task, relaxed.fences.clone(), ENGINES[0], &options, &Run::default());
    let FenceAnswer::Placed(placed) = found.expect("checked").answer else { panic!("it is safe as it is") };
    assert!(placed.fences.iter().all(|fence| fence.without.is_some()), "each has a run that needs it");
    let kept: BTreeSet<Span> = placed.fences.iter().map(|fence| fence.point.span).collect();
    let gone: Vec<Span> = relaxed.fences.iter().map(|f| f.span).filter(|span| !kept.contains(span)).collect();
    let written = remove(text, &gone).expect("written");
    let full = |op: &Op, span: Span| *op == Op::Fence(program::Fence::Full) && gone.contains(&span);
    assert!(same_but_skips(&read(&written), &program.without_steps(&full)), "{written}");
    (kept.into_iter().map(|span| program.source.snippet(span)).collect(), written)
}

#[test]
fn fences_that_are_not_needed_are_taken_out_of_c() {
    let text = "#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>
atomic_int x, y, z;
int a, b;
void *one(void *u) {
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst); // stays
    a = atomic_load_explicit(&y, memory_order_relaxed);
    atomic_store(&z, 1);
    z = 2;
    return 0;
}
void *two(void *u) {
    atomic_store(&y, 1);
    b = atomic_load_explicit(&x, memory_order_relaxed);
    __sync_synchronize();
    if (b) atomic_thread_fence(memory_order_seq_cst);
    return 0;
}
int main(void) {
    pthread_t s, t;
    pthread_create(&s, 0, one, 0);
    pthread_create(&t, 0, two, 0);
    pthread_join(s, 0);
    pthread_join(t, 0);
    assert(a == 1 || b == 1);
    return 0;
}
";
    let (kept, written) = relaxed(text);
    assert_eq!(kept, ["atomic_thread_fence(memory_order_seq_cst)", "atomic_store(&y, 1)"]);
    let expected = text
        .replace("atomic_store(&z, 1)", "atomic_store_explicit(&z, 1, memory_order_release)")
        .replace("z = 2", "atomic_store_explicit(&z, 2, memory_order_release)")
        .replace("    __sync_synchronize();\n", "")
        .replace("if (b) atomic_thread_fence(memory_order_seq_cst);", "if (b) ;");
    assert_eq!(written, expected);
}

/// What is said about a text under TSO, with the reasons if nothing is.
fn said(text: &str, options: &Options) -> (Option<bool>, Vec<Reason>) {
    let program = (c().read)(Source::new("t.c", text), options).expect("read").program;
    let limit = MostStates(STATES);
    let run = Run { monitor: &limit, ..Run::default() };
    let found = decide(&Task::safe(&program, TSO), ENGINES[0], &run).expect("evidence holds");
    (found.checked.holds(), found.checked.reasons().to_vec())
}

#[test]
fn a_limit_is_unknown_unless_no_run_gets_there() {
    let whole = |body: &str| {
        format!(
            "#include <assert.h>\n#include <stdlib.h>\n#include <pthread.h>\nint n;\n\
             int depth(int k) {{ return k <= 0 ? 0 : 1 + depth(k - 1); }}\n\
             void *f(void *u) {{ {body} return 0; }}\nvoid *g(void *u) {{ n = 3; return 0; }}\n\
             int main(void) {{ pthread_t t; pthread_create(&t, 0, f, 0); pthread_create(&t, 0, g, 0); return 0; }}\n"
        )
    };
    let check = |body: &str, expected: Option<bool>| {
        let (found, reasons) = said(&whole(body), &Options::default());
        assert_eq!(found, expected, "{body}: {reasons:?}");
        let limited = reasons.iter().any(|reason| matches!(reason, Reason::NotRead(_)));
        assert_eq!(limited, expected.is_none(), "{body}: {reasons:?}");
    };
    check("assert(depth(n) <= 3);", Some(true));
    check("assert(depth(n) < 3);", Some(false));
    check("depth(n + 20);", None);
    check("depth(n + 20); assert(n == 0);", None);
    check("int k = n; assert(n <= 3); depth(k + 20);", None);
    check("int k = n; depth(k * 5 + 4);", None);
    check("if (n) depth(20); else assert(n == 0);", Some(false));
    let allocating = "int k = n; while (k-- > 0) { int *p = malloc(sizeof(int)); *p = k; }";
    check(allocating, Some(true));
    let few = Options { c: COptions { heap: 2, ..COptions::default() }, ..Options::default() };
    assert_eq!(said(&whole(allocating), &few).0, None);
}

/// Whether the compiler of this machine takes a text; nothing if there is none.
pub fn compiles(text: &str) -> Option<bool> {
    let mut command = Command::new("cc");
    command
        .args(["-xc", "-w", "-fsyntax-only", "-std=gnu11", "-"])
        .stdin(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    child.stdin.take()?.write_all(text.as_bytes()).ok()?;
    child.wait().ok().map(|status| status.success())
}

#[test]
fn public_programs_are_repaired() {
    let Some(folder) = support::corpora("c") else {
        eprintln!("skipped: there is no corpus of C programs");
        return;
    };
    let table = std::fs::read_to_string(folder.join("expected.tsv")).expect("readable");
    let mut known: BTreeMap<&str, [&str; 2]> = BTreeMap::new();
    for row in table.lines().skip(1) {
        let fields: Vec<&str> = row.split('\t').collect();
        if let Some(at) = ["SC", "TSO"].iter().position(|model| *model == fields[1]) {
            known.entry(fields[0]).or_default()[at] = fields[2];
        }
    }
    let (mut all, mut repaired) = (0, 0);
    for (file, _) in known.iter().filter(|(_, verdicts)| **verdicts == ["safe", "unsafe"]) {
        all += 1;
        let text = std::fs::read_to_string(folder.join(file)).expect("readable");
        let read = |text: &str| (c().read)(Source::new(*file, text), &Options::default());
        let Ok(Parsed { program, .. }) = read(&text) else { continue };
        let limit = MostStates(STATES);
        let run = Run { monitor: &limit, ..Run::default() };
        let task = Task::safe(&program, TSO);
        let found = place_fences(&task, ENGINES[1], &FenceOptions::default(), &run).expect("checked");
        let FenceAnswer::Placed(placed) = found.answer else { continue };
        let insertions = placed.fences.iter().map(|fence| Insertion {
            span: fence.point.span,
            before: fence.point.before,
            strength: fence.point.strength,
        });
        let Ok(new) = (c().insert)(&text, &insertions.collect::<Vec<_>>(), &Options::default()) else {
            continue;
        };
        let written: Program = read(&new).expect("read again").program;
        assert!(same(&written, &placed.program), "{file}");
        if compiles(&text) == Some(true) {
            assert_eq!(compiles(&new), Some(true), "{file} with fences");
        }
        repaired += 1;
    }
    eprintln!("{repaired} of {all} repaired within {STATES} states");
    assert!(repaired * 2 > all, "only {repaired} of {all} are repaired");
}

#[test]
fn public_programs_cut_short_or_changed_are_read_or_refused() {
    let Some(folder) = support::corpora("c") else {
        eprintln!("skipped: there is no corpus of C programs");
        return;
    };
    let manifest = std::fs::read_to_string(folder.join("manifest.tsv")).expect("readable");
    let mut random = fastrand::Rng::with_seed(17);
    let pieces =
        ["(", ")", "{", "}", ";", "*", "&", "=", "#", "\"", "int ", "0", "[", "/*", "static ", "volatile "];
    let mut read = 0;
    for file in manifest.lines().skip(1).filter_map(|row| row.split('\t').next()) {
        let text = std::fs::read_to_string(folder.join(file)).expect("readable");
        // What is large takes long to read, and has the same statements in it.
        if text.len() > 4000 || !text.is_ascii() {
            continue;
        }
        let cut = text[..random.usize(..text.len())].to_string();
        let mut changed = text.clone();
        for _ in 0..2 {
            let at = random.usize(..changed.len());
            let end = (at + random.usize(..4)).min(changed.len());
            changed.replace_range(at..end, pieces[random.usize(..pieces.len())]);
        }
        for text in [cut, changed] {
            read += usize::from((c().read)(Source::new(file, text), &options()).is_ok());
        }
    }
    eprintln!("{read} of them are still programs");
}
