//! Runs what the pages show.

use super::markdown::{Block, Page};
use super::tool::Folder;
use super::{none, pages, root};
use regex::Regex;
use std::path::Path;
use std::process::Command;

/// A command of a page, and the lines in which its output is expected.
struct Shown {
    command: String,
    /// What stands before every line of the block, as in a list.
    indent: String,
    start: usize,
    end: usize,
    fails: bool,
}

#[test]
#[cfg(unix)]
fn pages_show_what_is_printed() {
    let bless = std::env::var_os("FENCEWRIGHT_BLESS").is_some();
    let pages = pages();
    let count: usize = pages.iter().map(|page| commands(page).len()).sum();
    assert!(count > 30, "commands were not found");
    let complaints = std::thread::scope(|scope| {
        let running: Vec<_> = pages.iter().map(|page| scope.spawn(move || check(page, bless))).collect();
        running.into_iter().flat_map(|one| one.join().expect("the page is run")).collect::<Vec<_>>()
    });
    assert!(
        complaints.is_empty(),
        "{}\n(FENCEWRIGHT_BLESS=1 accepts what is printed)",
        complaints.join("\n")
    );
}

#[test]
fn sessions_are_marked_as_such() {
    let mut complaints = Vec::new();
    for page in pages() {
        for block in page.blocks().iter().filter(|block| block.language() != "console") {
            let lines = &page.lines[block.start..block.end];
            if lines.iter().any(|line| line.trim_start().starts_with("$ ")) {
                complaints.push(format!("{}: a session in a block `{}`", page.name(), block.mark));
            }
        }
    }
    none(complaints);
}

/// The commands of a page, in order.
fn commands(page: &Page) -> Vec<Shown> {
    let mut all: Vec<Shown> = Vec::new();
    for block in page.blocks().iter().filter(|block| block.language() == "console") {
        let first = all.len();
        let closing = &page.lines[block.end];
        let indent = closing[..closing.len() - closing.trim_start().len()].to_string();
        for number in block.start..block.end {
            if let Some(command) = page.lines[number].trim_start().strip_prefix("$ ") {
                let (command, start, end) = (command.to_string(), number + 1, block.end);
                all[first..].iter_mut().last().into_iter().for_each(|before| before.end = number);
                all.push(Shown { command, indent: indent.clone(), start, end, fails: block.is("fails") });
            }
        }
        assert!(all.len() > first, "{}: a session without a command", page.name());
    }
    all
}

/// Runs a page; what differs is returned, or becomes the page.
fn check(page: &Page, bless: bool) -> Vec<String> {
    let shown = commands(page);
    if shown.is_empty() {
        return Vec::new();
    }
    let folder = folder_of(page);
    let mut complaints = Vec::new();
    let mut lines = page.lines.clone();
    // Backwards, so that the numbers of lines before stay right.
    let printed: Vec<Option<(Vec<String>, i32)>> =
        shown.iter().map(|one| ran(&one.command, folder.path())).collect();
    for (one, printed) in shown.iter().zip(printed).rev() {
        let Some((printed, code)) = printed else { continue };
        if !matches!(code, 0 | 1 | 3) && !one.fails {
            let text = printed.join("\n");
            complaints.push(format!("{}: $ {}\nends with {code}:\n{text}", page.name(), one.command));
            continue;
        }
        let expected = page.lines[one.start..one.end].iter();
        let expected: Vec<&str> =
            expected.map(|line| line.strip_prefix(&one.indent).unwrap_or(line)).collect();
        if !fits(&expected, &printed) {
            let text = printed.join("\n");
            complaints.push(format!("{}: $ {}\nprints\n{text}", page.name(), one.command));
            let indented = |line: &String| format!("{}{}", one.indent, masked(line)).trim_end().to_string();
            lines.splice(one.start..one.end, printed.iter().map(indented));
        }
    }
    if bless && lines != page.lines {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        std::fs::write(&page.path, text).expect("the page can be written");
        complaints.retain(|text| text.contains("\nends with "));
    }
    complaints
}

/// A folder with our programs and the files that the page shows.
fn folder_of(page: &Page) -> Folder {
    let folder = Folder::new();
    for entry in std::fs::read_dir(root().join("corpus")).expect("the corpus is there") {
        let path = entry.expect("it can be read").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        folder.write(&format!("corpus/{name}"), std::fs::read(&path).expect("a program can be read"));
    }
    for block in page.blocks() {
        let Block { start, end, .. } = block;
        if let Some(name) = block.file() {
            folder.write(name, page.lines[start..end].join("\n") + "\n");
        }
    }
    folder
}

/// What a command prints, on both outputs, and its exit code; nothing if another program that it
/// asks for is not installed.
fn ran(command: &str, folder: &Path) -> Option<(Vec<String>, i32)> {
    let binary = Path::new(env!("CARGO_BIN_EXE_fencewright"));
    let mut search = vec![binary.parent().expect("it stands in a folder").to_path_buf()];
    search.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
    let program = command.split_whitespace().next().unwrap_or_default();
    if !search.iter().any(|place| place.join(program).is_file()) {
        let required = std::env::var_os("FENCEWRIGHT_REQUIRE_SOLVERS").is_some();
        assert!(!required, "{program} is not installed");
        return None;
    }
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("{{ {command}\n}} 2>&1")]).current_dir(folder);
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS"] {
        shell.env_remove(name);
    }
    shell.env("PATH", std::env::join_paths(search).expect("paths without colons"));
    let output = shell.output().expect("a shell");
    let text = String::from_utf8(output.stdout).expect("it prints text");
    let lines = text.trim_end().lines().map(|line| line.trim_end().to_string()).collect();
    Some((lines, output.status.code().expect("it ended by itself")))
}

/// Whether lines are as expected. Blank lines at the end do not count.
fn fits(expected: &[&str], lines: &[String]) -> bool {
    let trimmed = expected.iter().rposition(|line| !line.trim().is_empty()).map_or(0, |last| last + 1);
    fits_lines(&expected[..trimmed], lines)
}

fn fits_lines(expected: &[&str], lines: &[String]) -> bool {
    match (expected.split_first(), lines.split_first()) {
        (None, None) => true,
        (None, Some(_)) => false,
        (Some((first, rest)), _) if first.trim() == "…" => {
            (0..=lines.len()).any(|skipped| fits_lines(rest, &lines[skipped..]))
        }
        (Some((first, rest)), Some((line, others))) => fits_line(first, line) && fits_lines(rest, others),
        (Some(_), None) => false,
    }
}

fn fits_line(expected: &str, line: &str) -> bool {
    let parts: Vec<String> = expected.trim_end().split('…').map(regex::escape).collect();
    Regex::new(&format!("^{}$", parts.join(".*"))).expect("escaped text").is_match(line)
}

/// A line with wildcards for times and memory.
fn masked(line: &str) -> String {
    let measure = Regex::new(r"\b\d+(\.\d+)? (s|ms|MB|seconds)\b").expect("a regular expression");
    measure.replace_all(line, "… $2").into_owned()
}

#[test]
fn wildcards_stand_for_parts_of_lines_and_for_lines() {
    let lines = |text: &str| text.lines().map(str::to_string).collect::<Vec<_>>();
    let check = |expected: &str, text: &str, same: bool| {
        let expected: Vec<&str> = expected.lines().collect();
        assert_eq!(fits(&expected, &lines(text)), same, "{expected:?} {text:?}");
    };
    check("a\nb\n\n", "a\nb", true);
    check("took … s (x)", "took 1.5 s (x)", true);
    check("took … s (x)", "took 1.5 s (y)", false);
    check("a\n…\nd", "a\nb\nc\nd", true);
    check("a\n…\nd", "a\nd", true);
    check("a\n…\nd", "a\nb", false);
    check("a.c", "abc", false);
    check("", "a", false);
    assert_eq!(masked("2 threads, 0.03 s, 15 MB"), "2 threads, … s, … MB");
}
