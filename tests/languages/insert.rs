//! A fence written behind every store, one at a time and all at once: the text reads as the
//! program with the same fences put in, in all languages.

use frontend::{FRONTENDS, Frontend, Insertion, Options};
use program::{EdgeId, Fence, FenceSet, Op, Placement, Point, Program, Source, Span, Strength, same};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const FULL: Strength = Strength::Fence(Fence::Full);

fn read(frontend: &Frontend, text: &str) -> Option<Program> {
    (frontend.read)(Source::new("text", text), &Options::default()).ok().map(|parsed| parsed.program)
}

/// The edges of every statement that stores outside atomic sections.
fn stores(program: &Program, strength: Strength) -> BTreeMap<Span, Vec<Placement>> {
    let mut found: BTreeMap<Span, Vec<Placement>> = BTreeMap::new();
    for thread in program.thread_ids() {
        let automaton = program.thread(thread);
        for (at, edge) in automaton.edges().iter().enumerate() {
            if matches!(edge.op, Op::Store(..)) && !automaton.in_atomic(edge.from) {
                let placement = Placement { thread, point: Point::After(EdgeId::new(at)), strength };
                found.entry(edge.span).or_default().push(placement);
            }
        }
    }
    found
}

fn is_written_well(
    frontend: &Frontend,
    text: &str,
    program: &Program,
    fences: &[(&Span, &Vec<Placement>)],
    strength: Strength,
) -> bool {
    let insertion =
        |(span, _): &(&Span, &Vec<Placement>)| Insertion { span: **span, before: false, strength };
    let insertions: Vec<Insertion> = fences.iter().map(insertion).collect();
    let Ok(written) = (frontend.insert)(text, &insertions, &Options::default()) else { return false };
    let mut set = FenceSet::new();
    for placement in fences.iter().flat_map(|(_, placements)| placements.iter()) {
        set.insert(*placement);
    }
    let kept = written.len() > text.len() || fences.is_empty();
    kept && read(frontend, &written).is_some_and(|again| same(&set.apply(program), &again))
}

/// How many statements there are, and how many of them cannot be told in the text.
fn check(path: &Path, strength: Strength) -> Option<(usize, Vec<String>)> {
    let text = std::fs::read_to_string(path).ok()?;
    let name = path.file_name()?.to_str()?;
    let frontend = frontend::choose(None, name, &text)?;
    let program = read(frontend, &text)?;
    let stores = stores(&program, strength);
    let refused = |fence: &(&Span, &Vec<Placement>)| {
        let well = is_written_well(frontend, &text, &program, &[*fence], strength);
        (!well).then(|| format!("{name}: {}", program.source.snippet(*fence.0)))
    };
    let refused: Vec<String> = stores.iter().filter_map(|fence| refused(&fence)).collect();
    if refused.is_empty() {
        let all: Vec<_> = stores.iter().collect();
        assert!(is_written_well(frontend, &text, &program, &all, strength), "{name}: all at once");
    }
    Some((stores.len(), refused))
}

fn files(folder: &Path, endings: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
            if path.is_dir() {
                folders.push(path);
            } else if endings.contains(&ending) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Checks all programs of a folder, if it is there; those that cannot be told are listed.
fn folder(name: &str, endings: &[&str], strength: Strength, least: usize) -> Vec<String> {
    let folder = support::root().join(name);
    if !folder.is_dir() {
        eprintln!("skipped: there is no folder {name}");
        return Vec::new();
    }
    let checked: Vec<_> = files(&folder, endings).iter().filter_map(|path| check(path, strength)).collect();
    let statements: usize = checked.iter().map(|(count, _)| count).sum();
    let refused: Vec<String> = checked.into_iter().flat_map(|(_, refused)| refused).collect();
    eprintln!("{name}: {statements} statements, {} refused", refused.len());
    assert!(statements >= least, "{statements} statements in {name}");
    refused
}

const NONE: [&str; 0] = [];

#[test]
fn fences_behind_all_stores_of_the_corpus() {
    assert_eq!(folder("corpus", &["fw"], FULL, 200), NONE);
    assert_eq!(folder("corpus", &["fw"], Strength::Fence(Fence::Store), 200), NONE);
}

#[test]
fn exchanges_for_all_stores_of_the_corpus() {
    assert_eq!(folder("corpus", &["fw"], Strength::Exchange, 200), NONE);
}

#[test]
fn fences_behind_all_stores_of_other_languages() {
    assert_eq!(folder("../shared/corpora/memorax", &["rmm"], FULL, 80), NONE);
    // In these two a state can be met inside and outside a locked section; a fence in the text
    // would be in both.
    let mut refused = folder("../shared/corpora/trencher", &["txt"], FULL, 80);
    refused.retain(|name| !name.starts_with("cilk-the-wsq"));
    assert_eq!(refused, NONE);
    assert_eq!(folder("../shared/corpora/litmus-x86", &["litmus"], FULL, 5_000), NONE);
}

#[test]
fn every_language_is_known_to_these_tests() {
    let names: Vec<&str> = FRONTENDS.iter().map(|frontend| frontend.name).collect();
    // Fences in C are tried by `tests/engines/c_programs.rs`.
    assert_eq!(names, ["fw", "litmus", "rmm", "trencher", "c"]);
}
