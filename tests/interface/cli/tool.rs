//! Running the binary, and folders to run it in.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// What a run printed, and its exit code.
#[derive(Debug, PartialEq, Eq)]
pub struct Ran {
    pub out: String,
    pub err: String,
    pub code: i32,
}

impl Ran {
    /// Fails unless the exit code is this one; returns itself for more questions.
    pub fn exits(self, code: i32) -> Ran {
        assert_eq!(self.code, code, "{self:?}");
        self
    }

    /// Fails unless standard error holds this text.
    pub fn complains(self, text: &str) -> Ran {
        assert!(self.err.contains(text), "`{text}` is missing: {self:?}");
        self
    }

    /// Fails unless standard output holds this text.
    pub fn says(self, text: &str) -> Ran {
        assert!(self.out.contains(text), "`{text}` is missing: {self:?}");
        self
    }

    /// Standard output as JSON values, one per line; fails if it holds anything else.
    pub fn json(&self) -> Vec<serde_json::Value> {
        let parse = |line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
        self.out.lines().map(parse).collect()
    }
}

/// The binary, to be run in a folder.
pub fn command(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fencewright"));
    command.current_dir(folder);
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS"] {
        command.env_remove(name);
    }
    command
}

/// Runs the binary in a folder with this on its standard input.
pub fn run(folder: &Path, args: &[&str], input: &[u8]) -> Ran {
    let mut child = command(folder)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut stdin = child.stdin.take().expect("it has a standard input");
    let input = input.to_vec();
    // Beside reading, for otherwise both sides may wait; it may end before reading everything.
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().expect("the binary ends");
    writer.join().expect("writing ends");
    Ran {
        out: String::from_utf8(output.stdout).expect("standard output is text"),
        err: String::from_utf8(output.stderr).expect("standard error is text"),
        code: output.status.code().expect("it ended by itself"),
    }
}

/// A folder for one test, gone afterwards.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Folder {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder can be made");
        Folder(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> &Folder {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().expect("it stands in the folder"))
            .expect("folders can be made");
        std::fs::write(path, content).expect("a file can be written");
        self
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    /// The names of all files in a folder of the folder, sorted.
    pub fn list(&self, name: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.join(name)).expect("the folder exists");
        let mut names: Vec<String> =
            entries.map(|e| e.expect("readable").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    pub fn run(&self, args: &[&str]) -> Ran {
        run(&self.0, args, b"")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Store buffering: safe under SC, unsafe under TSO and PSO.
pub const SB: &str = "\
shared x, y;
thread P0 { let a; x = 1; a = y; }
thread P1 { let b; y = 1; b = x; }
finally !(P0.a == 0 && P1.b == 0);
";

/// Message passing: safe under SC and TSO, unsafe under PSO.
pub const MP: &str = "\
shared data, flag;
thread W { data = 1; flag = 1; }
thread R { let f, d; f = flag; d = data; }
finally !(R.f == 1 && R.d == 0);
";

/// Counts for ever: no engine that lists states can decide it.
pub const ENDLESS: &str = "\
shared x;
thread P { loop { x = x + 1; } }
never x == 0 - 1;
";
