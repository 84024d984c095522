//! `run --interactive` on a terminal: lines can be edited, and the arrows bring earlier ones back.
//!
//! The terminal is one that `script` of util-linux makes. Keys are typed when the prompt stands there, never after some
//! time. Without `script` the test says so, or fails if `FENCEWRIGHT_REQUIRE_SCRIPT` is set.

use super::tool::{Folder, SB, command};
use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

const UP: &str = "\x1b[A";
const LEFT: &str = "\x1b[D";
const BACKSPACE: &str = "\x7f";
const DELETE: &str = "\x1b[3~";
const HOME: &str = "\x01";
const END_OF_INPUT: &str = "\x04";

/// Only so that a test that waits for something which never comes does end.
const PATIENCE: Duration = Duration::from_secs(120);

/// The tool on a terminal.
struct Terminal {
    child: Child,
    keys: ChildStdin,
    shown: Receiver<Vec<u8>>,
    seen: String,
}

impl Terminal {
    fn of(folder: &Folder, line: &str) -> Terminal {
        let tool = command(folder.path());
        let line = format!("{} {line}", tool.get_program().to_str().expect("a path"));
        let mut child = Command::new("script")
            .args(["--quiet", "--flush", "--return", "--command", &line, "/dev/null"])
            .current_dir(folder.path())
            .env("TERM", "xterm")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("`script` starts");
        let keys = child.stdin.take().expect("it has a standard input");
        let mut out = child.stdout.take().expect("it has a standard output");
        let (sender, shown) = channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = out.read(&mut bytes) {
                if sender.send(bytes[..count].to_vec()).is_err() {
                    break;
                }
            }
        });
        Terminal { child, keys, shown, seen: String::new() }
    }

    /// Waits until these texts have been shown, one behind the other; what comes later is still to be seen.
    fn shows(&mut self, texts: &[&str]) {
        for text in texts {
            while !self.seen.contains(text) {
                let more = self.shown.recv_timeout(PATIENCE);
                let more = more.unwrap_or_else(|why| panic!("no `{text}` in {:?}: {why}", self.seen));
                self.seen.push_str(&String::from_utf8_lossy(&more));
            }
            let behind = self.seen.find(text).map_or(0, |at| at + text.len());
            self.seen.drain(..behind);
        }
    }

    fn types(&mut self, keys: &[&str]) {
        self.keys.write_all(keys.concat().as_bytes()).expect("the terminal takes keys");
        self.keys.flush().expect("the terminal takes keys");
    }

    fn ends(mut self) -> Option<i32> {
        drop(self.keys);
        self.child.wait().expect("it ends").code()
    }
}

#[test]
fn lines_can_be_edited_and_come_back() {
    let found = Command::new("script").arg("--version").stdout(Stdio::null()).status().is_ok();
    if !found {
        assert!(std::env::var_os("FENCEWRIGHT_REQUIRE_SCRIPT").is_none(), "there is no `script`");
        println!("there is no `script`, so nothing was tested");
        return;
    }
    let folder = Folder::new();
    folder.write("sb.fw", SB);
    let mut terminal = Terminal::of(&folder, "run --interactive sb.fw");
    terminal.shows(&["after 0 steps", "> "]);
    // A wrong digit is taken back.
    terminal.types(&["9", BACKSPACE, "1\r"]);
    terminal.shows(&["after 1 step", "> "]);
    // The line before comes back.
    terminal.types(&[UP, "\r"]);
    terminal.shows(&["after 2 steps", "> "]);
    // Something is put in front, and something is deleted there.
    terminal.types(&["xx", LEFT, DELETE, HOME, DELETE, "u\r"]);
    terminal.shows(&["after 1 step", "> "]);
    // The second last line comes back, at the second press.
    terminal.types(&[UP, UP, "\r"]);
    terminal.shows(&["after 2 steps", "> "]);
    terminal.types(&[END_OF_INPUT]);
    assert_eq!(terminal.ends(), Some(0));
}
