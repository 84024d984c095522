//! C programs: public ones with known verdicts, read from `../shared/corpora/c` (or
//! `$FENCEWRIGHT_CORPORA/c`) when there, and fences written into texts of our own.

use engine::{ENGINES, FenceAnswer, FenceOptions, Run, decide, place_fences};
use evidence::{MostStates, Task};
use frontend::{COptions, FRONTENDS, Frontend, Insertion, Options, Parsed};
use machine::{TSO, model_named};
use program::{Source, same};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

/// States per question: enough for most programs, and the same on every machine.
const STATES: usize = 10_000;

fn c() -> &'static Frontend {
    FRONTENDS.iter().find(|frontend| frontend.name == "c").expect("registered")
}

fn corpus() -> Option<PathBuf> {
    let near = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpora");
    let corpora = std::env::var_os("FENCEWRIGHT_CORPORA").map_or_else(near, PathBuf::from);
    Some(corpora.join("c")).filter(|folder| folder.is_dir())
}

/// The verdicts on record for PSO are for release stores that order nothing.
fn options() -> Options {
    Options { c: COptions { plain_release: true, ..COptions::default() }, ..Options::default() }
}

#[test]
fn known_verdicts_are_not_contradicted() {
    let Some(folder) = corpus() else {
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
