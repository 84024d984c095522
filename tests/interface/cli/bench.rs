//! `bench`: what its tables hold, whatever they measure.

use super::tool::{Folder, Ran};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Runs a table with limits that end every question at once.
fn at_once(args: &[&str]) -> Ran {
    Folder::new().run(&[&["bench", "--timeout", "0"], args].concat()).exits(0)
}

/// Other tools' programs: `../shared/corpora`, or `$FENCEWRIGHT_CORPORA`.
fn corpora() -> Option<PathBuf> {
    let near = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpora");
    let corpora = std::env::var_os("FENCEWRIGHT_CORPORA").map_or_else(near, PathBuf::from);
    Some(corpora).filter(|folder| folder.join("trencher").is_dir())
}

/// The rows of the table whose title starts like this.
fn rows(lines: &[Value], title: &str) -> Vec<Value> {
    let of = |line: &&Value| line["table"].as_str().is_some_and(|table| table.starts_with(title));
    lines.iter().filter(of).map(|line| line["row"].clone()).collect()
}

#[test]
fn the_names_of_before_still_work() {
    let lines = at_once(&["--corpora", "none", "--format", "json", "seed000"]).json();
    assert!(!lines.is_empty() && lines.iter().all(|line| line["bench"] == "fences"));
}

#[test]
fn published_figures_have_names_of_their_own() {
    let lines = at_once(&["--corpora", "none", "--format", "json", "fences"]).json();
    let rows = rows(&lines, "Table 1");
    let bakery = rows.iter().find(|row| row["program"] == "Lamport Bakery").expect("a row");
    assert_eq!(bakery["published_fences/process"], 2);
    assert_eq!(bakery["published_most_templates"], 17);
    assert_eq!(bakery["published_ms"], 154_000.0);
    for key in ["fences/process", "templates", "most_templates", "ms", "ms_least", "ms_most", "ms_runs"] {
        assert!(bakery.get(key).is_some(), "{key}: {bakery}");
    }
    assert_eq!(rows.len(), 8);
}

#[test]
fn as_many_runs_as_are_wanted() {
    let runs = |args: &[&str]| {
        let lines = at_once(&[&["--corpora", "none", "--format", "json", "robust"], args].concat()).json();
        rows(&lines, "Our own model").iter().map(|row| row["ms_runs"].clone()).collect::<Vec<Value>>()
    };
    assert_eq!(runs(&[]), [5, 5, 5, 5, 5].map(Value::from));
    assert_eq!(runs(&["--runs", "2"]), [2, 2, 2, 2, 2].map(Value::from));
    let refused = Folder::new().run(&["bench", "--runs", "0", "fences"]).exits(2);
    refused.complains("0 is not in 1..");
}

#[test]
fn tables_for_the_book_are_markdown() {
    let printed = at_once(&["--corpora", "none", "--markdown", "--runs", "1", "robust"]);
    let printed = printed.says("\n| N | verdict | ms |\n|---|---|---|\n| 2 | unknown | ");
    printed.says("\n* Times are of one run.\n");
    let refused = Folder::new().run(&["bench", "--markdown", "--format", "json", "fences"]).exits(2);
    refused.complains("cannot be used with");
}

/// A row is there only if threads, control states and transitions of the text are those of the figure.
#[test]
fn the_programs_are_those_of_the_figures() {
    let Some(corpora) = corpora() else { return };
    let corpora = corpora.to_str().expect("a readable name");
    let lines = at_once(&["--corpora", corpora, "--runs", "1", "--format", "json", "lazy"]).json();
    let figure = rows(&lines, "Fig. 5.1");
    let facts = |row: &Value| {
        json!([row["threads"], row["control_states"], row["transitions"], row["published_SC_queries"]])
    };
    assert_eq!(
        figure.iter().map(facts).collect::<Vec<Value>>(),
        [
            json!([2, 14, 18, 12]),
            json!([2, 24, 30, 30]),
            json!([3, 33, 36, 27]),
            json!([4, 52, 50, 30]),
            json!([3, 43, 41, 70]),
            json!([4, 46, 50, 14]),
        ]
    );
    let others = rows(&lines, "Trencher's programs, with questions");
    assert_eq!(others.len(), 3);
    assert!(others.iter().all(|row| row.get("published_ms").is_none()));
    let lamport = rows(&lines, "Fig. 5.6");
    assert_eq!(
        lamport.iter().map(|row| row["N"].clone()).collect::<Vec<_>>(),
        [2, 3, 4, 5, 6].map(Value::from)
    );
}

#[test]
fn the_right_use_of_cilk_is_robust_only_while_nobody_releases_the_lock() {
    let Some(corpora) = corpora() else { return };
    let corpora = corpora.to_str().expect("a readable name");
    let args = ["bench", "--corpora", corpora, "--runs", "1", "--format", "json", "robust"];
    let lines = Folder::new().run(&args).exits(0).json();
    let figure = rows(&lines, "Fig. 5.9");
    assert_eq!(figure.len(), 11);
    let facts = |row: &Value| (row["threads"].clone(), row["verdict"].clone(), row["fences"].clone());
    let right = figure.iter().find(|row| row["program"] == "Cilk WSQ, right use").expect("a row");
    assert_eq!(facts(right), (json!(3), json!("robust"), json!(0)));
    assert_eq!(right["published_dfs_ms"], 10);
    let released = rows(&lines, "What Fig. 5.9 does not ask");
    assert_eq!(released.iter().map(facts).collect::<Vec<_>>(), [(json!(4), json!("not robust"), json!(3))]);
    assert!(released[0].get("published_dfs_ms").is_none());
}
