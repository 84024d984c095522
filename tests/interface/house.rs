//! ARCHITECTURE.md: the files it names exist, and how large the trusted base is. The code: no two types
//! have the same name, and examples in comments are run.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// `a/{b,c}.rs` as `a/b.rs` and `a/c.rs`.
fn expanded(pattern: &str) -> Vec<String> {
    let Some((before, rest)) = pattern.split_once('{') else { return vec![pattern.to_string()] };
    let (names, after) = rest.split_once('}').expect("a closing brace");
    names.split(',').map(|name| format!("{before}{name}{after}")).collect()
}

/// All Rust files of a path: itself, or what is in the folder.
fn files(path: &Path) -> Vec<PathBuf> {
    if !path.is_dir() {
        return vec![path.to_path_buf()];
    }
    let entries = fs::read_dir(path).expect("a folder").map(|entry| entry.expect("an entry").path());
    entries
        .filter(|path| path.is_dir() || path.extension().is_some_and(|e| e == "rs"))
        .flat_map(|p| files(&p))
        .collect()
}

/// The folders with the sources of all crates.
fn sources() -> impl Iterator<Item = PathBuf> {
    let crates = fs::read_dir(root().join("crates")).expect("a folder");
    crates.map(|entry| entry.expect("an entry").path().join("src")).chain([root().join("src")])
}

/// The lines of a file before its tests.
fn lines(path: &Path) -> usize {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    code.lines().filter(|line| !line.trim().is_empty()).count()
}

/// What stands between backticks.
fn quoted(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

#[test]
fn the_trusted_base_is_there_and_this_large() {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).expect("it is there");
    let section = text.split("## The trusted base").nth(1).and_then(|rest| rest.split("\n## ").next());
    let rows: Vec<Vec<&str>> = section
        .expect("a section")
        .lines()
        .filter(|line| line.starts_with("| ") && line.contains('`'))
        .map(|line| line.trim_matches('|').split(" | ").collect())
        .collect();
    let mut all = BTreeSet::new();
    for row in &rows {
        let [about, base, tests] = row[..] else { panic!("three columns: {row:?}") };
        let named: Vec<String> = quoted(base).into_iter().flat_map(expanded).collect();
        let base: BTreeSet<PathBuf> = named.iter().flat_map(|name| files(&root().join(name))).collect();
        println!("{:>6} lines for {}", base.iter().map(|file| lines(file)).sum::<usize>(), about.trim());
        all.extend(base);
        let tested = quoted(tests);
        assert!(!tested.is_empty(), "{about}: by which test?");
        for test in tested {
            assert!(root().join(test).exists(), "{about}: there is no {test}");
        }
    }
    println!("{:>6} lines in all", all.iter().map(|file| lines(file)).sum::<usize>());
    let whole: usize = sources().flat_map(|folder| files(&folder)).map(|file| lines(&file)).sum();
    println!("{whole:>6} lines below src and crates/*/src, without tests");
    assert!(rows.len() > 5 && all.len() > 40, "{} rows, {} files", rows.len(), all.len());
}

#[test]
fn files_that_the_page_names_exist() {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).expect("it is there");
    let mut checked = 0;
    for name in quoted(&text).into_iter().filter(|name| name.contains('/') && !name.contains(' ')) {
        for name in expanded(name).iter().filter(|name| !name.contains('*')) {
            let places = [root().join(name), root().join("crates").join(name)];
            assert!(places.iter().any(|place| place.exists()), "there is no {name}");
            checked += 1;
        }
    }
    assert!(checked > 60, "{checked}");
}

/// Names that two types have: `logic` is a library of its own with the words of its field, and knows
/// nothing of programs.
const STILL_TWICE: &[&str] = &["Int", "Model", "Relation"];

/// The type that a line at the top level of a file defines.
fn defined(line: &str) -> Option<&str> {
    let visible = line.strip_prefix("pub").map_or(line, |rest| match rest.strip_prefix('(') {
        Some(scoped) => scoped.split_once(") ").map_or("", |(_, rest)| rest),
        None => rest.trim_start(),
    });
    let name = ["struct ", "enum ", "trait ", "type "].iter().find_map(|word| visible.strip_prefix(word))?;
    name.split(|c: char| !c.is_alphanumeric() && c != '_').next()
}

#[test]
fn type_names_are_distinct() {
    assert_eq!(defined("pub(super) enum Slot<'a> {"), Some("Slot"));
    assert_eq!(defined("    struct Inner;"), None);
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in sources().flat_map(|folder| files(&folder)) {
        let text = fs::read_to_string(&file).expect("a text");
        for name in text.lines().filter_map(defined) {
            let place = file.strip_prefix(root()).unwrap_or(&file).display().to_string();
            places.entry(name.to_string()).or_default().push(place);
        }
    }
    assert!(places.len() > 500, "{}", places.len());
    places.retain(|_, places| places.len() > 1);
    let (excepted, wrong): (Vec<_>, Vec<_>) =
        places.iter().partition(|(name, _)| STILL_TWICE.contains(&name.as_str()));
    assert!(wrong.is_empty(), "several types have these names: {wrong:#?}");
    assert_eq!(excepted.len(), STILL_TWICE.len(), "take out of the list what has one place now");
}

#[test]
fn crates_whose_examples_are_not_run_have_none() {
    let mut silent = 0;
    for entry in fs::read_dir(root().join("crates")).expect("a folder") {
        let folder = entry.expect("an entry").path();
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).expect("a manifest");
        if !manifest.contains("doctest = false") {
            continue;
        }
        silent += 1;
        for file in files(&folder.join("src")) {
            let text = fs::read_to_string(&file).expect("a text");
            let mut comments = text.lines().map(str::trim_start).filter(|line| line.starts_with("//"));
            assert!(
                !comments.any(|line| line.contains("```")),
                "an example in {} is not run",
                file.display()
            );
        }
    }
    assert!(silent > 0, "no crate says so any more");
}
