//! Progress on a terminal, and on nothing else. The terminal is one that `script` makes; where
//! there is none of that, only the other half is tested.

use super::tool::{ENDLESS, Folder, command};
use std::process::{Command, Stdio};

/// What a terminal of 60 columns gets to see.
fn on_a_terminal(folder: &Folder, options: &str) -> Option<String> {
    let tool = env!("CARGO_BIN_EXE_fencewright");
    let line = format!("stty cols 60 rows 20; '{tool}' verify --timeout 1 {options} endless.fw");
    let script = Command::new("script")
        .args(["-qec", &line, "/dev/null"])
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .output()
        .ok()?;
    Some(String::from_utf8_lossy(&script.stdout).into_owned())
}

#[test]
fn a_terminal_sees_a_line_that_is_wiped_in_the_end() {
    let folder = Folder::new();
    folder.write("endless.fw", ENDLESS);
    let Some(seen) = on_a_terminal(&folder, "--engine explicit") else { return };
    assert!(seen.contains("endless.fw (tso) explicit: exploring, k "), "{seen:?}");
    let (drawn, rest) = seen.rsplit_once("\x1b[J").unwrap_or_else(|| panic!("wiped: {seen:?}"));
    assert!(rest.contains("unknown") && !rest.contains("exploring,"), "{rest:?}");
    let frames = drawn.split("\x1b[J").flat_map(|frame| frame.split('\n'));
    let wide = frames.map(|line| line.trim_matches('\r')).find(|line| line.chars().count() > 59);
    assert_eq!(wide, None);
}

#[test]
fn quiet_and_pipes_see_none() {
    let folder = Folder::new();
    folder.write("endless.fw", ENDLESS);
    if let Some(seen) = on_a_terminal(&folder, "--quiet --engine explicit") {
        assert!(seen.contains("unknown") && !seen.contains("exploring,"), "{seen:?}");
    }
    let piped = command(folder.path())
        .args(["verify", "--engine", "explicit", "--timeout", "1", "endless.fw"])
        .output();
    let err = String::from_utf8_lossy(&piped.expect("the binary starts").stderr).into_owned();
    assert_eq!(err, "");
}
