//! States in files: where memory ends the search goes on, with the same answer and evidence, and leaves nothing behind.

use super::tool::{Folder, SB};

/// Large with three threads.
const LARGE: &str = include_str!("../../../corpus/bakery_bounded_fenced.fw");

#[test]
fn states_go_to_files_where_memory_ends() {
    let folder = Folder::new();
    folder.write("large.fw", LARGE).write("files/fencewright-1.states", "not ours");
    let ask = |more: &[&str]| {
        let ask = ["verify", "--engine", "explicit", "--reduce", "none", "-j", "1", "-D", "N=3", "large.fw"];
        folder.run(&[&ask, more].concat())
    };
    let whole = ask(&["--evidence", "whole"]).exits(0);
    let files = ["--memory", "6", "--spill", "files", "--evidence", "spilled", "--verbose"];
    let spilled = ask(&files).exits(0).complains("memory is scarce: states go to files");
    assert_eq!(spilled.out.lines().next(), whole.out.lines().next());
    assert!(folder.read("spilled/large.tso.closed.txt") == folder.read("whole/large.tso.closed.txt"));
    assert_eq!(folder.list("files"), ["fencewright-1.states"]);
    assert_eq!(folder.read("files/fencewright-1.states"), "not ours");
}

#[test]
fn states_go_nowhere_else() {
    let folder = Folder::new();
    folder.write("sb.fw", SB).write("hosts", "localhost:2101\n").write("file", "");
    let refused = |args: &[&str], why: &str| {
        folder.run(&[&["verify"], args, &["sb.fw"]].concat()).exits(2).complains(why);
    };
    refused(&["--spill", "nowhere"], "no files for states can be made here");
    refused(&["--spill", "file"], "no files for states can be made here");
    refused(&["--spill", ".", "--engine", "cegar"], "leave out --engine or --spill");
    refused(&["--spill", ".", "--hosts", "hosts", "--process", "0"], "cannot be used with");
    folder.run(&["verify", "--spill", ".", "sb.fw"]).exits(1);
    assert_eq!(folder.list("."), ["file", "hosts", "sb.fw"]);
}
