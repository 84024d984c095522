//! Golden files: every folder in `tests/interface/cli/golden` is a case.
//!
//! `cmd` holds the arguments, `stdin` what is read from there, all else is input. Expected are
//! `stdout`, `stderr` and `code`. Times and memory are replaced by zeros on both sides. With
//! `FENCEWRIGHT_BLESS=1` what is printed becomes what is expected.

use super::tool::{Ran, run};
use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn every_case_prints_what_is_expected() {
    let bless = std::env::var_os("FENCEWRIGHT_BLESS").is_some();
    let cases = cases();
    assert!(cases.len() > 10, "the cases were not found");
    let failures: Vec<String> = cases.iter().filter_map(|case| check(case, bless).err()).collect();
    assert!(failures.is_empty(), "{}\n(FENCEWRIGHT_BLESS=1 accepts what is printed)", failures.join("\n"));
}

/// The folders of all cases.
pub fn cases() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/interface/cli/golden");
    let entries = fs::read_dir(root).expect("the folder of cases exists");
    let mut cases: Vec<PathBuf> = entries.map(|entry| entry.expect("readable").path()).collect();
    cases.sort();
    cases
}

fn check(case: &Path, bless: bool) -> Result<(), String> {
    let read = |name: &str| fs::read_to_string(case.join(name)).unwrap_or_default();
    let command = read("cmd");
    let args: Vec<&str> = command.split_whitespace().collect();
    let ran = run(case, &args, read("stdin").as_bytes());
    let ran = Ran { out: normal(&ran.out), err: normal(&ran.err), code: ran.code };
    if bless {
        for (name, text) in [("stdout", &ran.out), ("stderr", &ran.err), ("code", &format!("{}\n", ran.code))]
        {
            let path = case.join(name);
            let written =
                if text.is_empty() { fs::remove_file(path).or(Ok(())) } else { fs::write(path, text) };
            written.map_err(|error: std::io::Error| error.to_string())?;
        }
        return Ok(());
    }
    let wanted =
        Ran { out: read("stdout"), err: read("stderr"), code: read("code").trim().parse().unwrap_or(-1) };
    if ran == wanted {
        return Ok(());
    }
    let name = case.file_name().unwrap_or_default().to_string_lossy();
    Err(format!(
        "== {name}: fencewright {}\n-- exit {} instead of {}\n-- stdout\n{}-- expected\n{}-- stderr\n{}-- expected\n{}",
        command.trim(),
        ran.code,
        wanted.code,
        ran.out,
        wanted.out,
        ran.err,
        wanted.err
    ))
}

/// Numbers that differ from run to run become zeros.
pub fn normal(text: &str) -> String {
    let text = zero_after(text, "\"seconds\":");
    let text = zero_after(&text, "\"peak_mb\":");
    let text = zero_after(&text, " time=\"");
    zero_after(&text, " states in ")
}

fn zero_after(text: &str, mark: &str) -> String {
    let mut parts = text.split(mark);
    let first = parts.next().unwrap_or_default().to_string();
    let zeroed = |part: &str| {
        let rest = part.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.' || c == 'e' || c == '-');
        format!("{mark}0{rest}")
    };
    first + &parts.map(zeroed).collect::<String>()
}
